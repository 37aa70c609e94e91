// SPDX-License-Identifier: Apache-2.0
// warplens doctor: what works on this machine, what is missing, and what to do about it.
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "binary/binary.h"
#include "cli/cli.h"
#include "collect/collect.h"

static error_t parse(int key, char *arg, struct argp_state *state) {
    const char **program = state->input;
    if (key == ARGP_KEY_ARG && !*program) return *program = arg, 0;
    return ARGP_ERR_UNKNOWN;
}

static bool say(bool good, const char *what, const char *detail, const char *remedy) {
    printf("  %-5s %-26s %s\n", good ? "yes" : "no", what, detail);
    if (!good && remedy) printf("        -> %s\n", remedy);
    return good;
}

static bool check_simulator(void) {
    char path[PATH_MAX], detail[PATH_MAX + 64];
    puts("Without a GPU (simulator):");
    bool good = say(cli_find_file("lib/libcudart.so.13", path, sizeof path), "runtime for programs", path,
                    "install again: the simulated libcudart.so.13 is missing");
    good &= say(cli_find_file("lib/libcuda.so.1", path, sizeof path), "driver for programs", path,
                "install again: the simulated libcuda.so.1 is missing");
    Diag diag = {0};
    GpuModel gpu;
    if (cli_load_gpu("h200", &gpu, &diag) == STATUS_OK)
        snprintf(detail, sizeof detail, "default model %s: %s, %d SMs", gpu.id, gpu.name, (int)gpu.sms);
    else
        snprintf(detail, sizeof detail, "share/warplens/gpus");
    good &= say(diag.errors == 0, "GPU models", detail, "install again: the models are missing or damaged");
    cli_diag(&diag);
    diag_free(&diag);
    struct utsname u;
    uname(&u);
    bool x86 = !strcmp(u.machine, "x86_64");
    good &=
        say(x86, "processor", u.machine, "programs can be run on x86-64 Linux only; `warplens sim` works everywhere");
#if defined(__x86_64__)
    bool fast = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    say(fast, "AVX2 and FMA", fast ? "fast paths in use" : "baseline paths in use: correct, slower", NULL);
#endif
    return good;
}

// --- collection on a GPU ---

typedef struct Driver {
    int (*cuInit)(unsigned flags);
    int (*cuDriverGetVersion)(int *version);
    int (*cuDeviceGetCount)(int *count);
    int (*cuDeviceGetName)(char *name, int size, int device);
} Driver;

static bool bind_driver(Driver *driver) {
    void *library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
    if (!library) return false;
#define BIND(name) (*(void **)&driver->name = dlsym(library, #name))
    return BIND(cuInit) && BIND(cuDriverGetVersion) && BIND(cuDeviceGetCount) && BIND(cuDeviceGetName);
#undef BIND
}

// Sets `major` of the CUDA version that the driver is made for; false: there is no GPU that can be used.
static bool check_driver(int *major) {
    Driver driver = {0};
    char name[256] = "", detail[512];
    int version = 0, count = 0;
    if (!say(bind_driver(&driver), "CUDA driver", "libcuda.so.1", "install NVIDIA's driver; the simulator needs none"))
        return false;
    int error = driver.cuInit(0);
    if (!error) error = driver.cuDeviceGetCount(&count);
    if (!error && count) driver.cuDeviceGetName(name, sizeof name, 0);
    driver.cuDriverGetVersion(&version);
    *major = version / 1000;
    snprintf(detail, sizeof detail, "%d, the first %s; driver for CUDA %d.%d", count, name, version / 1000,
             version % 1000 / 10);
    if (!error && count) return say(true, "GPUs", detail, NULL);
    snprintf(detail, sizeof detail, "none (the driver says error %d)", error);
    return say(false, "GPUs", detail, "check with nvidia-smi; in a container, give it the GPU (--gpus all)");
}

static void check_cupti(int major) {
    char path[PATH_MAX] = "", looked[256] = "";
    bool found = collect_find_cupti(path, sizeof path, looked, sizeof looked);
    char remedy[512];
    snprintf(remedy, sizeof remedy, "install the CUDA toolkit, or set CUDA_HOME; looked in %s", looked);
    say(found, "CUPTI", found ? path : "libcupti.so is not here", remedy);
    if (found)
        say(collect_knows_counters(), "counters over time", "`run --interval`: PM sampling",
            "a CUPTI of CUDA 12.6 or newer has it");
    if (major && major < 12)
        say(false, "driver new enough", "for CUDA 12", "update the driver: collection needs one for CUDA 12 or newer");
}

// The driver's own rule: with RmProfilingAdminOnly only the administrator may read performance counters.
static void check_permission(void) {
    char line[256];
    bool restricted = false, known = false;
    FILE *file = fopen("/proc/driver/nvidia/params", "re");
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, "RmProfilingAdminOnly:", 21) == 0) known = true, restricted = strchr(line, '1') != NULL;
    if (file) fclose(file);
    bool good = !restricted || geteuid() == 0;
    say(good, "instructions can be sampled",
        !known       ? "not known before a program is run"
        : restricted ? "for the administrator only (RmProfilingAdminOnly)"
                     : "for everybody",
        "run as root, or load the nvidia module with NVreg_RestrictProfilingToAdminUsers=0; launches and copies are "
        "recorded all the same, counters over time are not");
}

static void check_gpu(void) {
    char path[PATH_MAX];
    int major = 0;
    puts("With a GPU (collection, run --on gpu):");
    if (!check_driver(&major)) return;
    check_cupti(major);
    check_permission();
    say(cli_find_file("lib/libwarplens-collect.so.0", path, sizeof path), "collector", path,
        "install again: libwarplens-collect.so.0 is missing");
}

static int check_program(const char *path) {
    BinaryReport r;
    Diag diag = {0};
    Status status = binary_inspect_file(path, &r, &diag);
    cli_diag(&diag);
    diag_free(&diag);
    if (status != STATUS_OK) return EXIT_INPUT;
    static const char *const how[] = {
        [RUNTIME_NONE] = "no CUDA in it",      [RUNTIME_SHARED] = "shared libcudart",
        [RUNTIME_STATIC] = "static libcudart", [RUNTIME_STATIC_HIDDEN] = "static libcudart, stripped",
        [RUNTIME_DRIVER] = "driver API only",  [RUNTIME_OTHER_VERSION] = "libcudart of another version"};
    printf("%s:\n", path);
    bool driver = r.runtime == RUNTIME_DRIVER;  // it may have its PTX elsewhere: in files, or made at run time
    bool caught = r.runtime == RUNTIME_SHARED || r.runtime == RUNTIME_STATIC || driver;
    say(caught, "can be run here", how[r.runtime], r.remedy[0] ? r.remedy : NULL);
    if (r.ptx_entries || !(driver || r.runtime == RUNTIME_NONE))
        say(r.ptx_entries > 0, "has PTX", r.targets,
            r.remedy[0] ? r.remedy : "compile with -gencode arch=compute_XX,code=compute_XX");
    return caught && (r.ptx_entries || driver) ? EXIT_OK : EXIT_INPUT;
}

int cmd_doctor(int argc, char **argv) {
    static const struct argp argp = {
        NULL, parse, "[PROGRAM]", "Says what is possible on this machine, and whether PROGRAM can be run.",
        NULL, NULL,  NULL};
    const char *program = NULL;
    int code = cli_parse(&argp, argc, argv, 0, NULL, &program);
    if (code != EXIT_OK) return code;
    printf("warplens %s\n", WARPLENS_VERSION);
    bool good = check_simulator();
    check_gpu();
    int result = program ? check_program(program) : EXIT_OK;
    return good ? result : EXIT_INPUT;
}
