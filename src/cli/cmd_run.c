// SPDX-License-Identifier: Apache-2.0
// warplens run: starts the program with the simulated runtime preloaded, waits, and passes its exit code on.
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <regex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "binary/binary.h"
#include "cli/advise.h"
#include "cli/cli.h"
#include "cuda/config.h"
#include "sim/sim.h"

// What is preloaded: the library, and the names under which programs look for the driver API.
static const char *const libraries[] = {"lib/libcudart.so.13", "lib/libcuda.so.1", "lib/libcuda.so"};

typedef struct RunOptions {
    const char *on, *gpu, *gpus, *threads, *regex, *skip, *count, *output, *check, *check_limit, *error_exit, *caches,
        *interval, *sample;
    bool overwrite, quiet, progress, leak_check, timing;
} RunOptions;

enum {
    OPT_ON = 256,
    OPT_GPU,
    OPT_GPUS,
    OPT_THREADS,
    OPT_SKIP,
    OPT_COUNT,
    OPT_PROGRESS,
    OPT_CHECK,
    OPT_LEAKS,
    OPT_LIMIT,
    OPT_ERROR_EXIT,
    OPT_TIMING,
    OPT_CACHES,
    OPT_INTERVAL,
    OPT_SAMPLE
};

static const struct argp_option options[] = {
    {"on", OPT_ON, "auto|gpu|sim", 0, "where the kernels run (auto: the simulator, in this version)", 0},
    {"gpu", OPT_GPU, "MODEL", 0, "GPU model to simulate: h200, a100, v100, ... or a .gpu file (default h200)", 0},
    {"gpus", OPT_GPUS, "N|MODEL,...", 0, "number of simulated devices, or the model of each (default 1)", 0},
    {"threads", OPT_THREADS, "N", 0,
     "host threads for a launch (this version uses one; results will never depend on it)", 0},
    {"kernel", 'k', "REGEX", 0, "profile only kernels whose name matches (regex:EXPR is accepted too)", 0},
    {"launch-skip", OPT_SKIP, "N", 0, "matching launches to pass over before profiling begins", 0},
    {"launch-count", OPT_COUNT, "N", 0, "matching launches to profile", 0},
    {"output", 'o', "FILE", 0, "profile to write; %p pid, %h host, %i counter, %q{ENV}, %% (default APP.%i.wlp)", 0},
    {"force", 'f', NULL, 0, "replace an existing profile", 0},
    {"check", OPT_CHECK, "memory,race,init,sync,strict|all", 0, "look for errors in kernels (docs/checker.md)", 0},
    {"leak-check", OPT_LEAKS, NULL, 0, "memory that is never freed is an error; tell each allocation", 0},
    {"check-limit", OPT_LIMIT, "N", 0, "findings to print; the rest is only counted (default 100)", 0},
    {"error-exitcode", OPT_ERROR_EXIT, "N", 0,
     "exit code when errors were found and the program itself ended with 0 (default: the program's own)", 0},
    {"timing", OPT_TIMING, NULL, 0, "also how long kernels take, cycle by cycle (docs/simulator-model.md)", 0},
    {"cache-control", OPT_CACHES, "none|all", 0, "all: timed kernels begin with empty caches (default none)", 0},
    {"interval", OPT_INTERVAL, "N", 0, "cycles between two points of counters over time; 0: totals only (default 1000)",
     0},
    {"sample", OPT_SAMPLE, "N", OPTION_ARG_OPTIONAL,
     "large launches, and launches alike, in part: about one wave of blocks, or launch, of N (default 20) cycle by "
     "cycle, the others only executed and their time estimated, with an interval",
     0},
    {"quiet", 'q', NULL, 0, "only errors on stderr", 0},
    {"progress", OPT_PROGRESS, NULL, 0, "show progress on stderr even when it is not a terminal", 0},
    {0}};

static error_t parse(int key, char *arg, struct argp_state *state) {
    RunOptions *o = state->input;
    switch (key) {
    case OPT_ON: o->on = arg; break;
    case OPT_GPU: o->gpu = arg; break;
    case OPT_GPUS: o->gpus = arg; break;
    case OPT_THREADS: o->threads = arg; break;
    case 'k': o->regex = strncmp(arg, "regex:", 6) ? arg : arg + 6; break;
    case OPT_SKIP: o->skip = arg; break;
    case OPT_COUNT: o->count = arg; break;
    case 'o': o->output = arg; break;
    case 'f': o->overwrite = true; break;
    case 'q': o->quiet = true; break;
    case OPT_PROGRESS: o->progress = true; break;
    case OPT_CHECK: o->check = arg; break;
    case OPT_LEAKS: o->leak_check = true; break;
    case OPT_LIMIT: o->check_limit = arg; break;
    case OPT_ERROR_EXIT: o->error_exit = arg; break;
    case OPT_TIMING: o->timing = true; break;
    case OPT_CACHES: o->caches = arg; break;
    case OPT_INTERVAL: o->interval = arg; break;
    case OPT_SAMPLE: o->sample = arg ? arg : CONFIG_DEFAULT_SAMPLE; break;
    default: return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static int check_regex(const char *text) {
    regex_t regex;
    char why[256];
    int error = regcomp(&regex, text, REG_EXTENDED | REG_NOSUB);
    if (!error) return regfree(&regex), EXIT_OK;
    regerror(error, &regex, why, sizeof why);
    return cli_fail(EXIT_USAGE, "-k `%s`: %s", text, why);
}

static int check(const RunOptions *o) {
    const struct {
        const char *name, *value;
        u64 least, most;
    } numbers[] = {{"--threads", o->threads, 1, 4096},
                   {"--launch-skip", o->skip, 0, UINT64_MAX},
                   {"--launch-count", o->count, 0, UINT64_MAX},
                   {"--check-limit", o->check_limit, 0, UINT32_MAX},
                   {"--error-exitcode", o->error_exit, 0, 255},
                   {"--interval", o->interval, 0, CONFIG_MOST_INTERVAL},
                   {"--sample", o->sample, CONFIG_LEAST_SAMPLE, CONFIG_MOST_SAMPLE}};
    for (size_t i = 0; i < WL_COUNT(numbers); i++)
        if (numbers[i].value && !cli_number(numbers[i].name, numbers[i].value, numbers[i].least, numbers[i].most, NULL))
            return EXIT_USAGE;
    if (o->gpus && !config_count_gpus(o->gpus))
        return cli_fail(EXIT_USAGE, "--gpus takes a number from 1 to 64 or models separated by commas, not `%s`",
                        o->gpus);
    if (o->on && strcmp(o->on, "auto") && strcmp(o->on, "sim") && strcmp(o->on, "gpu"))
        return cli_fail(EXIT_USAGE, "--on takes auto, gpu or sim, not `%s`", o->on);
    if (o->on && !strcmp(o->on, "gpu"))
        return cli_fail(EXIT_TOOL,
                        "collection on a GPU is not in this version yet; --on sim runs the program on the simulator");
    if (o->check && !sim_checks_of(o->check))
        return cli_fail(EXIT_USAGE,
                        "--check takes memory, race, init, sync, strict or all, separated by commas, not `%s`",
                        o->check);
    if ((o->leak_check || o->check_limit || o->error_exit) && !o->check)
        return cli_fail(EXIT_USAGE, "--leak-check, --check-limit and --error-exitcode need --check");
    if ((o->caches || o->interval || o->sample) && !o->timing)
        return cli_fail(EXIT_USAGE, "--cache-control, --interval and --sample need --timing");
    if (o->caches && strcmp(o->caches, "none") && strcmp(o->caches, "all"))
        return cli_fail(EXIT_USAGE, "--cache-control takes none or all, not `%s`", o->caches);
    return o->regex ? check_regex(o->regex) : EXIT_OK;
}

static int check_models(const RunOptions *o, Diag *diag) {
    CudaConfig config = {0};
    snprintf(config.gpu, sizeof config.gpu, "%s", o->gpu ? o->gpu : "h200");
    bool models = o->gpus && (*o->gpus < '0' || *o->gpus > '9' || strchr(o->gpus, ','));
    if (models) snprintf(config.gpus, sizeof config.gpus, "%s", o->gpus);
    for (u32 d = 0; d < (models ? config_count_gpus(o->gpus) : 1); d++) {
        char model[1024];
        GpuModel gpu;
        config_gpu_of(&config, d, model, sizeof model);
        if (cli_load_gpu(model, &gpu, diag) != STATUS_OK) return cli_diag(diag), diag_free(diag), EXIT_USAGE;
    }
    diag_free(diag);
    return EXIT_OK;
}

static int check_folder(const char *path) {
    char folder[PATH_MAX];
    snprintf(folder, sizeof folder, "%s", path);
    if (access(dirname(folder), W_OK | X_OK) == 0) return EXIT_OK;
    return cli_fail(EXIT_TOOL, "%s cannot be written: %s; -o names another file", path, strerror(errno));
}

// Says before the program runs why the profile could not be written afterwards.
static int check_output(const RunOptions *o, const char *pattern, char *path) {
    char problem[512];
    struct stat st;
    if (config_expand_path(pattern, path, PATH_MAX, problem, sizeof problem) != STATUS_OK)
        return cli_fail(EXIT_TOOL, "-o %s", problem);
    int code = check_folder(path);
    if (code != EXIT_OK) return code;
    if (stat(path, &st) != 0) return EXIT_OK;
    if (!S_ISREG(st.st_mode))
        return cli_fail(EXIT_TOOL, "%s is a directory or no regular file; -o names the profile", path);
    return o->overwrite ? EXIT_OK : cli_fail(EXIT_TOOL, "%s exists; -f replaces it, -o names another file", path);
}

// The name is settled here, so that all processes of the run know it.
static int choose_output(const RunOptions *o, const char *app, char path[PATH_MAX]) {
    if (o->output) return check_output(o, o->output, path);
    const char *base = strrchr(app, '/') ? strrchr(app, '/') + 1 : app;
    for (u32 i = 1;; i++) {
        snprintf(path, PATH_MAX, "%.200s.%u.wlp", base, i);
        if (access(path, F_OK) != 0) return check_folder(path);
    }
}

static void set(ConfigVariable variable, const char *value) {
    if (value)
        setenv(config_name(variable), value, 1);
    else
        unsetenv(config_name(variable));
}

// False, after a message: one is missing.
static bool find_libraries(char *list, size_t size) {
    size_t used = 0;
    *list = 0;
    for (size_t i = 0; i < WL_COUNT(libraries); i++) {
        char path[PATH_MAX];
        if (!cli_find_file(libraries[i], path, sizeof path))
            return cli_fail(EXIT_TOOL, "%s is missing from this installation", libraries[i]), false;
        int length = snprintf(list + used, size - used, "%s%s", i ? ":" : "", path);
        if (length < 0 || (size_t)length >= size - used)
            return cli_fail(EXIT_TOOL, "the path of this installation is too long"), false;
        used += (size_t)length;
    }
    return true;
}

static void set_environment(const RunOptions *o, const char *output, const char *preloaded, const char *gpu_dir) {
    char run[32], preload[PATH_MAX * 5];
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    snprintf(run, sizeof run, "%llu", (unsigned long long)now.tv_sec * 1000000000ull + (unsigned long long)now.tv_nsec);
    char pattern[PATH_MAX * 2], *to = pattern;
    for (const char *from = output; *from; from++) {  // what is expanded already stays as it is
        if (*from == '%') *to++ = '%';
        *to++ = *from;
    }
    *to = 0;
    bool per_process = o->output && strstr(o->output, "%p");
    set(CONFIG_OUTPUT, per_process ? o->output : pattern);
    set(CONFIG_GPU, o->gpu);
    set(CONFIG_GPU_DIR, gpu_dir);
    set(CONFIG_GPUS, o->gpus);
    set(CONFIG_THREADS, o->threads);
    set(CONFIG_KERNEL_REGEX, o->regex);
    set(CONFIG_LAUNCH_SKIP, o->skip);
    set(CONFIG_LAUNCH_COUNT, o->count);
    set(CONFIG_OVERWRITE, o->overwrite ? "1" : NULL);
    set(CONFIG_RUN, run);
    set(CONFIG_QUIET, o->quiet ? "1" : NULL);
    set(CONFIG_PROGRESS, o->progress ? "1" : NULL);
    set(CONFIG_TIMING, o->timing ? "1" : NULL);
    set(CONFIG_CACHE_CONTROL, o->caches);
    set(CONFIG_INTERVAL, o->interval);
    set(CONFIG_SAMPLE, o->sample);
    set(CONFIG_CHECK, o->check);
    set(CONFIG_LEAK_CHECK, o->leak_check ? "1" : NULL);
    set(CONFIG_CHECK_LIMIT, o->check_limit);
    const char *others = getenv("LD_PRELOAD");
    snprintf(preload, sizeof preload, "%s%s%s", preloaded, others && *others ? ":" : "", others ? others : "");
    setenv("LD_PRELOAD", preload, 1);
}

// The file that execvp will run, to look at it first. False when it is not to be found.
static bool find_program(const char *name, char *path, size_t size) {
    if (strchr(name, '/')) {
        snprintf(path, size, "%s", name);
        return access(path, F_OK) == 0;
    }
    char folders[PATH_MAX * 4];
    snprintf(folders, sizeof folders, "%s", getenv("PATH") ? getenv("PATH") : "");
    char *save = NULL;
    for (char *folder = strtok_r(folders, ":", &save); folder; folder = strtok_r(NULL, ":", &save)) {
        snprintf(path, size, "%s/%s", folder, name);
        if (access(path, X_OK) == 0) return true;
    }
    return false;
}

// Says before the program starts what cannot work: a program whose runtime cannot be reached.
static int look_at_program(const char *path) {
    struct stat st;
    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
        return cli_fail(EXIT_NOT_EXECUTABLE, "cannot run `%s`: it is a directory", path);
    Diag diag = {0};
    BinaryReport report;
    int code = EXIT_OK;
    bool known = binary_inspect_file(path, &report, &diag) == STATUS_OK;
    if (known && (report.runtime == RUNTIME_STATIC_HIDDEN || report.runtime == RUNTIME_OTHER_VERSION))
        code = cli_fail(EXIT_TOOL, "%s cannot be run without a GPU: %s", path, report.remedy);
    diag_free(&diag);
    return code;
}

// --- errors that the checker found ---
// The library inside the program adds a line to this file for each error, also when the program is killed later.
static bool make_result_file(char *path, size_t size) {
    const char *folder = getenv("TMPDIR");
    snprintf(path, size, "%s/warplens-check.XXXXXX", folder && *folder ? folder : "/tmp");
    int file = mkstemp(path);
    if (file < 0) return *path = 0, false;
    close(file);
    set(CONFIG_CHECK_RESULT, path);
    return true;
}

static int with_result(const RunOptions *o, const char *path, int code) {
    struct stat st;
    bool errors = *path && stat(path, &st) == 0 && st.st_size > 0;
    if (*path) unlink(path);
    return code == EXIT_OK && errors && o->error_exit ? (int)strtoul(o->error_exit, NULL, 10) : code;
}

static int wait_for(pid_t child) {
    int status;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR) return cli_fail(EXIT_TOOL, "waiting for the program failed: %s", strerror(errno));
    if (WIFEXITED(status)) return WEXITSTATUS(status);
    return 128 + WTERMSIG(status);
}

// *started: the program was executed.
static int start(char **argv, bool *started) {
    int report[2];
    if (pipe(report) != 0) return cli_fail(EXIT_TOOL, "cannot make a pipe: %s", strerror(errno));
    pid_t child = fork();
    if (child < 0) return cli_fail(EXIT_TOOL, "cannot start a process: %s", strerror(errno));
    if (child == 0) {
        close(report[0]);
        // Closed by a successful exec: then the parent reads nothing.
        if (dup3(report[1], 200, O_CLOEXEC) >= 0) close(report[1]), report[1] = 200;
        execvp(argv[0], argv);
        int error = errno;
        ssize_t written = write(report[1], &error, sizeof error);
        _exit(written > 0 ? EXIT_NOT_FOUND : EXIT_TOOL);
    }
    close(report[1]);
    // Interrupts from the terminal reach the program too; we outlive it to pass its code on.
    signal(SIGINT, SIG_IGN);
    signal(SIGQUIT, SIG_IGN);
    int error = 0;
    ssize_t got = read(report[0], &error, sizeof error);
    close(report[0]);
    int code = wait_for(child);
    *started = got != sizeof error;
    if (*started) return code;
    return cli_fail(error == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE, "cannot run `%s`: %s", argv[0],
                    strerror(error));
}

static void say_where(const RunOptions *o, const char *output) {
    if (access(output, R_OK) == 0) {
        fprintf(stderr, "warplens: profile in %s; `warplens report %s` shows it\n", output, output);
        advise_briefly(output);
    } else if (!o->output || !strstr(o->output, "%p")) {
        fprintf(stderr,
                "warplens: no profile was written: a program has one when it calls the CUDA runtime or driver\n");
    }
}

int cmd_run(int argc, char **argv) {
    static const struct argp argp = {
        options,
        parse,
        "[--] APP [ARGS...]",
        "Runs APP, built by nvcc as usual, on the simulated GPU and writes a profile. The program's output and exit "
        "code are its own; 125, 126 and 127 are failures of warplens itself.",
        NULL,
        NULL,
        NULL};
    RunOptions o = {0};
    int first = argc;
    int code = cli_parse(&argp, argc, argv, ARGP_IN_ORDER, &first, &o);
    if (code == EXIT_OK) code = check(&o);
    if (code != EXIT_OK) return code;
    if (first >= argc) return cli_fail(EXIT_USAGE, "run needs a program: warplens run [options] ./app [args...]");
    char output[PATH_MAX], preloaded[PATH_MAX * 3], gpu_dir[PATH_MAX], program[PATH_MAX];
    if (!find_libraries(preloaded, sizeof preloaded)) return EXIT_TOOL;
    if (!cli_find_file("share/warplens/gpus", gpu_dir, sizeof gpu_dir))
        return cli_fail(EXIT_TOOL, "share/warplens/gpus is missing from this installation");
    if (!find_program(argv[first], program, sizeof program))
        return cli_fail(EXIT_NOT_FOUND, "cannot run `%s`: no such program", argv[first]);
    if ((code = look_at_program(program)) != EXIT_OK) return code;
    Diag diag = {0};
    if ((code = check_models(&o, &diag)) != EXIT_OK) return code;
    if ((code = choose_output(&o, argv[first], output)) != EXIT_OK) return code;
    set_environment(&o, output, preloaded, gpu_dir);
    char result[PATH_MAX] = "";
    set(CONFIG_CHECK_RESULT, NULL);
    if (o.error_exit && !make_result_file(result, sizeof result))
        return cli_fail(EXIT_TOOL, "cannot make a temporary file for --error-exitcode: %s", strerror(errno));
    bool started = false;
    code = with_result(&o, result, start(argv + first, &started));
    if (started && !o.quiet) say_where(&o, output);
    return code;
}
