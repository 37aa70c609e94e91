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

static void check_gpu(void) {
    puts("With a GPU (collection comes in a later version and will need these; the simulator does not):");
    void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
    say(driver != NULL, "CUDA driver", driver ? "libcuda.so.1" : "libcuda.so.1 is not here", NULL);
    if (driver) dlclose(driver);
    say(access("/dev/nvidia0", F_OK) == 0, "GPU device", "/dev/nvidia0", NULL);
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
