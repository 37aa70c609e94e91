// SPDX-License-Identifier: Apache-2.0
// warplens run: starts the program with the simulated runtime preloaded, or with the collector for the driver to load,
// waits, and passes its exit code on.
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/shell.h"
#include "binary/binary.h"
#include "binary/kernel_name.h"
#include "cli/advise.h"
#include "cli/cli.h"
#include "cli/run.h"
#include "cuda/config.h"
#include "sim/sim.h"
#include "store/store.h"

// What is preloaded: the library, and the names under which programs look for the driver API.
static const char *const libraries[] = {"lib/libcudart.so.13", "lib/libcuda.so.1", "lib/libcuda.so"};

enum { FILE_TIME_NS = 100000000 };

typedef struct RunOptions {
    const char *on, *gpu, *gpus, *threads, *regex, *skip, *count, *output, *check, *check_limit, *error_exit, *caches,
        *interval, *sample, *sampling, *period, *what_if;
    bool overwrite, quiet, progress, leak_check, timing, all_times, no_stacks, no_arguments, no_activities;
    bool on_gpu;     // settled by choose_place
    bool discarded;  // -o /dev/null: no profile is left
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
    OPT_SAMPLE,
    OPT_WHAT_IF,
    OPT_SAMPLING,
    OPT_PERIOD,
    OPT_ALL_TIMES,
    OPT_NO_STACKS,
    OPT_NO_ARGUMENTS,
    OPT_NO_ACTIVITIES
};

// In groups, as a GPU and the simulator have options of their own.
enum { IN_ALL = 1, IN_SIMULATOR, IN_CHECKER, ON_GPU };

static const struct argp_option options[] = {
    {NULL, 0, NULL, 0, "What is run, and what is recorded:", IN_ALL},
    {"on", OPT_ON, "auto|gpu|sim", 0,
     "where the kernels run (auto: on the GPU if there is one and no option of the simulator is given)", IN_ALL},
    {"output", 'o', "FILE", 0,
     "profile to write; %p pid, %h host, %i counter, %q{ENV}, %% (default APP.%i.wlp); /dev/null: none", IN_ALL},
    {"force", 'f', NULL, 0, "replace an existing profile", IN_ALL},
    {"kernel", 'k', "REGEX", 0, "profile only kernels whose name matches (regex:EXPR is accepted too)", IN_ALL},
    {"launch-skip", OPT_SKIP, "N", 0, "matching launches to pass over before profiling begins", IN_ALL},
    {"launch-count", OPT_COUNT, "N", 0, "matching launches to profile", IN_ALL},
    {"interval", OPT_INTERVAL, "N|TIME|auto", 0,
     "counters over time. With --timing: cycles between two points, 0: totals only (default 1000). On a GPU, where "
     "there are none without it: 200us to 1s, or auto; instead of samples of instructions, as a GPU takes one of the "
     "two",
     IN_ALL},
    {"quiet", 'q', NULL, 0, "only errors on stderr", IN_ALL},
    {"progress", OPT_PROGRESS, NULL, 0, "show progress on stderr even when it is not a terminal", IN_ALL},

    {NULL, 0, NULL, 0, "On the simulator:", IN_SIMULATOR},
    {"timing", OPT_TIMING, NULL, 0, "also how long kernels take, cycle by cycle (docs/simulator-model.md)",
     IN_SIMULATOR},
    {"gpu", OPT_GPU, "MODEL", 0, "GPU model to simulate: h200, a100, v100, ... or a .gpu file (default h200)",
     IN_SIMULATOR},
    {"gpus", OPT_GPUS, "N|MODEL,...", 0, "number of simulated devices, or the model of each (default 1)", IN_SIMULATOR},
    {"cache-control", OPT_CACHES, "none|all", 0, "all: timed kernels begin with empty caches (default none)",
     IN_SIMULATOR},
    {"sample", OPT_SAMPLE, "N", OPTION_ARG_OPTIONAL,
     "large launches, and launches alike, in part: about one wave of blocks, or launch, of N (default 20) cycle by "
     "cycle, the others only executed and their time estimated, with an interval",
     IN_SIMULATOR},
    {"what-if", OPT_WHAT_IF, "N", OPTION_ARG_OPTIONAL,
     "with --timing: try the N best pieces of advice (default 3): run the program again for each, its kernel timed as "
     "if "
     "the advice had been followed",
     IN_SIMULATOR},
    {"threads", OPT_THREADS, "N", 0,
     "host threads for a launch with --timing (default: one per processor); results do not depend on it", IN_SIMULATOR},

    {NULL, 0, NULL, 0, "Errors in kernels, on the simulator:", IN_CHECKER},
    {"check", OPT_CHECK, "memory,race,init,sync,strict|all", 0, "look for errors in kernels (docs/checker.md)",
     IN_CHECKER},
    {"leak-check", OPT_LEAKS, NULL, 0, "memory that is never freed is an error; tell each allocation", IN_CHECKER},
    {"check-limit", OPT_LIMIT, "N", 0, "findings to print; the rest is only counted (default 100)", IN_CHECKER},
    {"error-exitcode", OPT_ERROR_EXIT, "N", 0,
     "exit code when errors were found and the program itself ended with 0 (default: the program's own)", IN_CHECKER},

    {NULL, 0, NULL, 0, "On a GPU:", ON_GPU},
    {"sampling", OPT_SAMPLING, "off|continuous|serialized", 0,
     "samples of the kernels' instructions; serialized: one kernel at a time (default continuous)", ON_GPU},
    {"sampling-period", OPT_PERIOD, "2^N", 0,
     "cycles between two samples of an SM, 2^5 to 2^31 (default: about 4 million samples a second)", ON_GPU},
    {"all-times", OPT_ALL_TIMES, NULL, 0,
     "times of all launches, also where taking them slows the program down by more than 1 %", ON_GPU},
    {"no-stacks", OPT_NO_STACKS, NULL, 0, "no host call stacks of launches", ON_GPU},
    {"no-arguments", OPT_NO_ARGUMENTS, NULL, 0, "no arguments of launches", ON_GPU},
    {"no-activities", OPT_NO_ACTIVITIES, NULL, 0, "samples only, no launches, copies and allocations", ON_GPU},
    {0}};

static error_t parse(int key, char *arg, struct argp_state *state) {
    RunOptions *o = state->input;
    switch (key) {
    case OPT_ON: o->on = arg; break;
    case OPT_GPU: o->gpu = arg; break;
    case OPT_GPUS: o->gpus = arg; break;
    case OPT_THREADS: o->threads = arg; break;
    case 'k': o->regex = arg; break;
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
    case OPT_WHAT_IF: o->what_if = arg ? arg : "3"; break;
    case OPT_SAMPLING: o->sampling = arg; break;
    case OPT_PERIOD: o->period = arg; break;
    case OPT_ALL_TIMES: o->all_times = true; break;
    case OPT_NO_STACKS: o->no_stacks = true; break;
    case OPT_NO_ARGUMENTS: o->no_arguments = true; break;
    case OPT_NO_ACTIVITIES: o->no_activities = true; break;
    default: return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static int check_regex(const char *text) {
    regex_t regex;
    char why[256];
    if (kernel_filter_compile(&regex, text, why, sizeof why)) return regfree(&regex), EXIT_OK;
    return cli_fail(EXIT_USAGE, "-k `%.200s`: %s", text, why);
}

static int check(const RunOptions *o) {
    const struct {
        const char *name, *value;
        u64 least, most;
    } numbers[] = {
        {"--threads", o->threads, 1, 4096},           {"--launch-skip", o->skip, 0, UINT64_MAX},
        {"--launch-count", o->count, 0, UINT64_MAX},  {"--check-limit", o->check_limit, 0, UINT32_MAX},
        {"--error-exitcode", o->error_exit, 0, 255},  {"--sample", o->sample, CONFIG_LEAST_SAMPLE, CONFIG_MOST_SAMPLE},
        {"--what-if", o->what_if, 1, RUN_MOST_TRIALS}};
    for (size_t i = 0; i < WL_COUNT(numbers); i++)
        if (numbers[i].value && !cli_number(numbers[i].name, numbers[i].value, numbers[i].least, numbers[i].most, NULL))
            return EXIT_USAGE;
    if (o->output && !*o->output) return cli_fail(EXIT_USAGE, "-o needs the name of a file");
    if (o->gpus && (*o->gpus == '-' || !config_count_gpus(o->gpus)))
        return cli_fail(EXIT_USAGE, "--gpus takes a number from 1 to 64 or models separated by commas, not `%s`",
                        o->gpus);
    if (o->on && strcmp(o->on, "auto") && strcmp(o->on, "sim") && strcmp(o->on, "gpu"))
        return cli_fail(EXIT_USAGE, "--on takes auto, gpu or sim, not `%s`", o->on);
    if (o->check && !sim_checks_of(o->check))
        return cli_fail(EXIT_USAGE,
                        "--check takes memory, race, init, sync, strict or all, separated by commas, not `%s`",
                        o->check);
    if ((o->leak_check || o->check_limit || o->error_exit) && !o->check)
        return cli_fail(EXIT_USAGE, "--leak-check, --check-limit and --error-exitcode need --check");
    if ((o->caches || o->sample || o->what_if) && !o->timing)
        return cli_fail(EXIT_USAGE, "--cache-control, --sample and --what-if need --timing");
    if (o->what_if && o->output && strstr(o->output, "%p"))
        return cli_fail(EXIT_USAGE, "--what-if tries the advice of one process: -o must not hold %%p");
    if (o->caches && strcmp(o->caches, "none") && strcmp(o->caches, "all"))
        return cli_fail(EXIT_USAGE, "--cache-control takes none or all, not `%s`", o->caches);
    if (o->sampling && strcmp(o->sampling, "off") && strcmp(o->sampling, "continuous") &&
        strcmp(o->sampling, "serialized"))
        return cli_fail(EXIT_USAGE, "--sampling takes off, continuous or serialized, not `%s`", o->sampling);
    if (o->period && !run_period(o->period))
        return cli_fail(EXIT_USAGE, "--sampling-period takes 2^5 to 2^31, not `%s`", o->period);
    return o->regex ? check_regex(o->regex) : EXIT_OK;
}

// What --interval takes depends on the place.
static int check_interval(RunOptions *o) {
    u64 ns;
    bool automatic = o->interval && strcmp(o->interval, "auto") == 0;
    if (!o->interval) return EXIT_OK;
    if (o->on_gpu && o->sampling && strcmp(o->sampling, "off") != 0)
        return cli_fail(EXIT_USAGE,
                        "a GPU takes either counters over time (--interval) or samples of instructions "
                        "(--sampling %s), not both in one run",
                        o->sampling);
    if (o->on_gpu)
        return run_interval(o->interval, &ns)
                   ? EXIT_OK
                   : cli_fail(EXIT_USAGE, "--interval takes auto or a time from 200us to 1s on a GPU, not `%s`",
                              o->interval);
    if (!o->timing) return cli_fail(EXIT_USAGE, "--interval needs --timing, or a GPU");
    if (automatic) o->interval = NULL;
    return automatic || cli_number("--interval", o->interval, 0, CONFIG_MOST_INTERVAL, NULL) ? EXIT_OK : EXIT_USAGE;
}

// Decides between GPU and simulator; says which options belong to the other one.
static int choose_place(RunOptions *o) {
    const char *sim = o->timing    ? "--timing"
                      : o->sample  ? "--sample"
                      : o->check   ? "--check"
                      : o->gpu     ? "--gpu"
                      : o->gpus    ? "--gpus"
                      : o->threads ? "--threads"
                                   : NULL;
    const char *gpu = o->sampling        ? "--sampling"
                      : o->period        ? "--sampling-period"
                      : o->all_times     ? "--all-times"
                      : o->no_stacks     ? "--no-stacks"
                      : o->no_arguments  ? "--no-arguments"
                      : o->no_activities ? "--no-activities"
                                         : NULL;
    const char *on = o->on ? o->on : "auto";
    o->on_gpu = !strcmp(on, "gpu") || (!strcmp(on, "auto") && !sim && run_gpu_present());
    if (o->on_gpu && sim) return cli_fail(EXIT_USAGE, "%s is an option of the simulator (--on sim)", sim);
    if (!o->on_gpu && gpu) return cli_fail(EXIT_USAGE, "%s is an option of collection on a GPU (--on gpu)", gpu);
    return check_interval(o);
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
        Status status = cli_load_gpu(model, &gpu, diag);
        if (status == STATUS_OK && o->timing) status = gpu_need_timing(&gpu, model, diag);
        if (status != STATUS_OK) return cli_diag(diag), diag_free(diag), EXIT_USAGE;
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

// Done here and not by the program's processes: a file's time, by which they would tell an old profile from that of
// another process of this run, is coarser than the time between them.
static int remove_old_profile(const RunOptions *o, const char *path) {
    Diag diag = {0};
    bool done = strstr(o->output, "%p") || store_remove(path, &diag) == STATUS_OK;
    cli_diag(&diag);
    diag_free(&diag);
    return done ? EXIT_OK : EXIT_TOOL;
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
    return o->overwrite ? remove_old_profile(o, path)
                        : cli_fail(EXIT_TOOL, "%s exists; -f replaces it, -o names another file", path);
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

// What both places need to know.
static void set_common(const RunOptions *o, const char *output) {
    char run[32], pattern[PATH_MAX * 2], *to = pattern;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    // A file's time may be a clock tick behind: no profile of this run must look older than the run.
    snprintf(run, sizeof run, "%llu",
             (unsigned long long)now.tv_sec * 1000000000ull + (unsigned long long)now.tv_nsec - FILE_TIME_NS);
    for (const char *from = output; *from; from++) {  // what is expanded already stays as it is
        if (*from == '%') *to++ = '%';
        *to++ = *from;
    }
    *to = 0;
    bool per_process = o->output && strstr(o->output, "%p");
    set(CONFIG_OUTPUT, per_process ? o->output : pattern);
    set(CONFIG_KERNEL_REGEX, o->regex);
    set(CONFIG_LAUNCH_SKIP, o->skip);
    set(CONFIG_LAUNCH_COUNT, o->count);
    set(CONFIG_OVERWRITE, o->overwrite ? "1" : NULL);
    set(CONFIG_RUN, run);
    set(CONFIG_QUIET, o->quiet ? "1" : NULL);
}

static void set_simulator(const RunOptions *o, const char *preloaded, const char *gpu_dir) {
    char preload[PATH_MAX * 5];
    set(CONFIG_GPU, o->gpu);
    set(CONFIG_GPU_DIR, gpu_dir);
    set(CONFIG_GPUS, o->gpus);
    set(CONFIG_THREADS, o->threads);
    set(CONFIG_PROGRESS, o->progress ? "1" : NULL);
    set(CONFIG_TIMING, o->timing ? "1" : NULL);
    set(CONFIG_CACHE_CONTROL, o->caches);
    set(CONFIG_INTERVAL, o->interval);
    set(CONFIG_SAMPLE, o->sample);
    set(CONFIG_EDITS, NULL);
    set(CONFIG_CHECK, o->check);
    set(CONFIG_LEAK_CHECK, o->leak_check ? "1" : NULL);
    set(CONFIG_CHECK_LIMIT, o->check_limit);
    const char *others = getenv("LD_PRELOAD");
    snprintf(preload, sizeof preload, "%s%s%s", preloaded, others && *others ? ":" : "", others ? others : "");
    setenv("LD_PRELOAD", preload, 1);
}

static void set_collector(const RunOptions *o, const char *library) {
    char period[16], interval[32];
    u64 ns = 0;
    bool counters = o->interval && run_interval(o->interval, &ns);
    snprintf(interval, sizeof interval, "%llu", (unsigned long long)ns);
    if (o->period) snprintf(period, sizeof period, "%u", run_period(o->period));
    set(CONFIG_INTERVAL, counters ? interval : NULL);
    set(CONFIG_SAMPLING, counters ? "off" : o->sampling);
    set(CONFIG_SAMPLING_PERIOD, o->period ? period : NULL);
    set(CONFIG_ALL_TIMES, o->all_times ? "1" : NULL);
    set(CONFIG_STACKS, o->no_stacks ? "0" : NULL);
    set(CONFIG_ARGUMENTS, o->no_arguments ? "0" : NULL);
    set(CONFIG_ACTIVITIES, o->no_activities ? "0" : NULL);
    setenv("CUDA_INJECTION64_PATH", library, 1);  // read by the driver; child processes inherit it
    setenv("NVTX_INJECTION64_PATH", library, 1);
}

// The file that execvp will run, to look at it first. False when it is not to be found.
static bool find_program(const char *name, char *path, size_t size) {
    struct stat st;
    if (strchr(name, '/')) {
        snprintf(path, size, "%s", name);
        return access(path, F_OK) == 0;
    }
    char folders[PATH_MAX * 4];
    snprintf(folders, sizeof folders, "%s", getenv("PATH") ? getenv("PATH") : "");
    char *save = NULL;
    for (char *folder = strtok_r(folders, ":", &save); folder; folder = strtok_r(NULL, ":", &save)) {
        snprintf(path, size, "%s/%s", folder, name);
        if (*name && access(path, X_OK) == 0 && stat(path, &st) == 0 && S_ISREG(st.st_mode)) return true;
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

static void say_profile(const RunOptions *o, const char *path) {
    Arena arena = {0};
    const char *word = shell_word(&arena, path);
    bool counts_only = !o->on_gpu && !o->timing && !o->check && !o->leak_check;
    fprintf(stderr, "warplens: profile in %s; `warplens report %s` shows it%s\n", path, word ? word : path,
            counts_only ? " (--timing: how long kernels take, and what to change)" : "");
    arena_free(&arena);
}

static bool has_launches(const char *path) {
    Profile *profile;
    ProfileSummary summary;
    if (profile_open(path, &profile, NULL) != STATUS_OK) return true;  // nobody knows
    bool has = profile_summary(profile, &summary, NULL) != STATUS_OK || summary.launches > 0;
    profile_close(profile);
    return has;
}

// A choice of launches that leaves none is more often a slip than a wish.
static void say_if_empty(const RunOptions *o, const char *path) {
    bool chosen = o->regex || o->skip || o->count;
    if (!chosen || o->no_activities || has_launches(path)) return;
    if (!o->regex && !o->skip)  // a count alone leaves the first launch
        fprintf(stderr, "warplens: no launch was profiled: no kernel of the program ran\n");
    else if (o->regex && !o->skip && !o->count)
        fprintf(stderr, "warplens: no launch was profiled: -k `%s` matches no kernel that was launched\n", o->regex);
    else
        fprintf(stderr, "warplens: no launch was profiled: %s--launch-skip and --launch-count leave none\n",
                o->regex ? "-k, " : "");
}

// `code`: what the program ended with.
static void say_where(const RunOptions *o, const char *output, int code) {
    if (access(output, R_OK) == 0) {
        if (!o->discarded) say_profile(o, output);
        say_if_empty(o, output);
        advise_briefly(output, !o->discarded);
    } else if (!o->output || !strstr(o->output, "%p")) {
        fprintf(stderr, "warplens: no profile was written: %s\n",
                code > EXIT_SIGNAL ? "the program was ended before it called the CUDA runtime or driver"
                                   : "a program has one when it calls the CUDA runtime or driver");
    }
}

static int run_on_simulator(const RunOptions *o, char **argv, const char *program, char output[PATH_MAX]) {
    char preloaded[PATH_MAX * 3], gpu_dir[PATH_MAX], result[PATH_MAX] = "";
    int code;
    if (!find_libraries(preloaded, sizeof preloaded)) return EXIT_TOOL;
    if (!cli_find_file("share/warplens/gpus", gpu_dir, sizeof gpu_dir))
        return cli_fail(EXIT_TOOL, "share/warplens/gpus is missing from this installation");
    if ((code = look_at_program(program)) != EXIT_OK) return code;
    Diag diag = {0};
    if ((code = check_models(o, &diag)) != EXIT_OK) return code;
    if ((code = choose_output(o, argv[0], output)) != EXIT_OK) return code;
    set_common(o, output);
    set_simulator(o, preloaded, gpu_dir);
    set(CONFIG_CHECK_RESULT, NULL);
    if (o->error_exit && !make_result_file(result, sizeof result))
        return cli_fail(EXIT_TOOL, "cannot make a temporary file for --error-exitcode: %s", strerror(errno));
    bool started = false;
    code = with_result(o, result, run_start(argv, &started));
    if (started && o->what_if && access(output, R_OK) == 0)
        run_try(&(RunTry){output, argv, (u32)strtoul(o->what_if, NULL, 10), o->quiet});
    if (started && !o->quiet) say_where(o, output, code);
    return code;
}

// Each process of the run adds the name of its profile to this file.
static FILE *make_list(char *path, size_t size) {
    const char *folder = getenv("TMPDIR");
    snprintf(path, size, "%s/warplens-run.XXXXXX", folder && *folder ? folder : "/tmp");
    int file = mkostemp(path, O_CLOEXEC);
    return file < 0 ? NULL : fdopen(file, "r");
}

static void finish_profiles(const RunOptions *o, FILE *list) {
    char path[PATH_MAX], here[PATH_MAX];
    size_t length = getcwd(here, sizeof here) ? strlen(here) : 0;
    u32 count = 0;
    for (; fgets(path, sizeof path, list); count++) {
        path[strcspn(path, "\n")] = 0;
        if (access(path, F_OK) != 0) {
            fprintf(stderr, "warplens: there is no profile: %s was removed or renamed while the program ran\n", path);
            continue;
        }
        Diag diag = {0};
        if (run_finish(path, &diag) != STATUS_OK) cli_diag(&diag);
        diag_free(&diag);
        bool below = length && strncmp(path, here, length) == 0 && path[length] == '/';
        const char *name = below ? path + length + 1 : path;
        if (!o->quiet && !o->discarded) say_profile(o, name);
        if (!o->quiet) say_if_empty(o, path);
        if (!o->quiet && !count) advise_briefly(path, !o->discarded);
    }
    if (!count && !o->quiet)
        fprintf(stderr, "warplens: no profile was written: a program has one when it uses the GPU\n");
}

static int run_on_gpu(const RunOptions *o, char **argv, char output[PATH_MAX]) {
    char library[PATH_MAX], list_path[PATH_MAX];
    int code;
    if (!cli_find_file("lib/libwarplens-collect.so.0", library, sizeof library))
        return cli_fail(EXIT_TOOL, "lib/libwarplens-collect.so.0 is missing from this installation");
    if ((code = choose_output(o, argv[0], output)) != EXIT_OK) return code;
    FILE *list = make_list(list_path, sizeof list_path);
    if (!list)
        return cli_fail(EXIT_TOOL, "cannot make a temporary file: %s; TMPDIR names another folder", strerror(errno));
    set_common(o, output);
    set_collector(o, library);
    set(CONFIG_PROFILES, list_path);
    if (!run_gpu_present() && !o->quiet)
        fprintf(stderr, "warplens: there is no NVIDIA GPU here, or no right to use it; `--on sim` simulates one\n");
    if (o->interval && !o->quiet)
        fprintf(stderr, "warplens: counters over time, and no samples of instructions: a GPU takes one of the two\n");
    bool started = false;
    code = run_start(argv, &started);
    if (started) finish_profiles(o, list);
    fclose(list);
    unlink(list_path);
    return code;
}

static bool is_null_device(const char *path) {
    struct stat st, null;
    return stat(path, &st) == 0 && S_ISCHR(st.st_mode) && stat("/dev/null", &null) == 0 && st.st_rdev == null.st_rdev;
}

// Without a profile to be left it is written to a folder of its own, which goes when all has been said.
static int run_and_discard(RunOptions *o, char **argv, const char *program) {
    char folder[PATH_MAX - 32], path[PATH_MAX], output[PATH_MAX];
    if (!cli_make_scratch(folder, sizeof folder))
        return cli_fail(EXIT_TOOL, "cannot make a temporary folder: %s; TMPDIR names another", strerror(errno));
    snprintf(path, sizeof path, "%s/profile.wlp", folder);
    o->output = path;
    o->discarded = true;
    int code = o->on_gpu ? run_on_gpu(o, argv, output) : run_on_simulator(o, argv, program, output);
    cli_remove_scratch(folder);
    return code;
}

int cmd_run(int argc, char **argv) {
    static const struct argp argp = {options,
                                     parse,
                                     "[--] APP [ARGS...]",
                                     "Runs APP, built by nvcc as usual, on a GPU or the simulated one and writes a "
                                     "profile. The program's output and exit "
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
    if ((code = choose_place(&o)) != EXIT_OK) return code;
    char output[PATH_MAX], program[PATH_MAX];
    if (!find_program(argv[first], program, sizeof program))
        return cli_fail(EXIT_NOT_FOUND, "cannot run `%s`: no such program", argv[first]);
    if (o.output && is_null_device(o.output)) return run_and_discard(&o, argv + first, program);
    return o.on_gpu ? run_on_gpu(&o, argv + first, output) : run_on_simulator(&o, argv + first, program, output);
}
