// SPDX-License-Identifier: Apache-2.0
// Configuration from the environment.
#include "cuda/config.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "sim/sim.h"

static const char *get(ConfigVariable variable) {
    const char *value = getenv(config_name(variable));
    return value ? value : "";
}

static void get_text(ConfigVariable variable, char *to, size_t size, const char *otherwise) {
    const char *value = get(variable);
    snprintf(to, size, "%s", *value ? value : otherwise);
}

typedef struct Problem {
    char *text;
    size_t size;
} Problem;

static u64 get_number(ConfigVariable variable, u64 low, u64 high, u64 otherwise, Problem problem) {
    const char *value = get(variable);
    if (!*value) return otherwise;
    char *end;
    errno = 0;
    u64 number = strtoull(value, &end, 10);
    if (*end == 0 && !errno && *value != '-' && number >= low && number <= high) return number;
    snprintf(problem.text, problem.size, "%s=%s is not a number from %llu to %llu", config_name(variable), value,
             (unsigned long long)low, (unsigned long long)high);
    return otherwise;
}

enum { MOST_DEVICES = 64 };

u32 config_count_gpus(const char *text) {
    char *end;
    errno = 0;
    unsigned long number = strtoul(text, &end, 10);
    if (*text >= '0' && *text <= '9' && *end == 0) return !errno && number <= MOST_DEVICES ? (u32)number : 0;
    u32 count = 0;
    for (const char *at = text;; at++) {
        size_t length = strcspn(at, ",");
        if (!length || ++count > MOST_DEVICES) return 0;
        at += length;
        if (!*at) return count;
    }
}

void config_gpu_of(const CudaConfig *config, u32 device, char *model, size_t size) {
    const char *at = config->gpus;
    if (!*at) {
        snprintf(model, size, "%s", config->gpu);
        return;
    }
    for (; device; device--) at += strcspn(at, ",") + 1;
    snprintf(model, size, "%.*s", (int)strcspn(at, ","), at);
}

static void read_gpus(CudaConfig *config, Problem problem) {
    const char *value = get(CONFIG_GPUS);
    config->devices = *value ? config_count_gpus(value) : 1;
    bool models = config->devices && (*value < '0' || *value > '9' || strchr(value, ','));
    if (models) snprintf(config->gpus, sizeof config->gpus, "%s", value);
    if (config->devices && strlen(value) < sizeof config->gpus) return;
    snprintf(problem.text, problem.size,
             "%s=%.200s is neither a number from 1 to %d nor GPU models separated by commas", config_name(CONFIG_GPUS),
             value, MOST_DEVICES);
    config->devices = 1;
    config->gpus[0] = 0;
}

// share/warplens/gpus of the installation (or build folder) that holds this code.
static void default_gpu_dir(char *to, size_t size) {
    static const char *const places[] = {"../share/warplens/gpus", "../../share/warplens/gpus", "../../../gpus"};
    Dl_info info;
    *to = 0;
    if (!dladdr((void *)(uintptr_t)config_name, &info) || !info.dli_fname) return;
    char file[4096];
    if (!realpath(info.dli_fname, file)) return;
    char *slash = strrchr(file, '/');
    if (slash) *slash = 0;
    for (u32 i = 0; i < WL_COUNT(places); i++) {
        int length = snprintf(to, size, "%s/%s", file, places[i]);
        if (length > 0 && (size_t)length < size && access(to, R_OK) == 0) return;
    }
}

static u64 now_realtime(void) {
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (u64)t.tv_sec * 1000000000ull + (u64)t.tv_nsec;
}

void config_read(CudaConfig *config, char *problem_text, size_t problem_size) {
    Problem problem = {problem_text, problem_size};
    *config = (CudaConfig){0};
    *problem_text = 0;
    get_text(CONFIG_OUTPUT, config->output, sizeof config->output, "");
    get_text(CONFIG_GPU, config->gpu, sizeof config->gpu, "h200");
    get_text(CONFIG_GPU_DIR, config->gpu_dir, sizeof config->gpu_dir, "");
    if (!config->gpu_dir[0]) default_gpu_dir(config->gpu_dir, sizeof config->gpu_dir);
    get_text(CONFIG_KERNEL_REGEX, config->kernel_regex, sizeof config->kernel_regex, "");
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    read_gpus(config, problem);
    config->threads = (u32)get_number(CONFIG_THREADS, 1, 1024, processors > 0 ? (u64)processors : 1, problem);
    config->launch_skip = get_number(CONFIG_LAUNCH_SKIP, 0, UINT64_MAX, 0, problem);
    config->launch_count = get_number(CONFIG_LAUNCH_COUNT, 0, UINT64_MAX, UINT64_MAX, problem);
    config->overwrite = get_number(CONFIG_OVERWRITE, 0, 1, 0, problem) == 1;
    // When it is not known, a file that exists is taken for one of this run, unless it may be replaced anyway.
    config->run_ns = get_number(CONFIG_RUN, 0, UINT64_MAX, config->overwrite ? now_realtime() : 0, problem);
    const char *checks = get(CONFIG_CHECK);
    config->checks = sim_checks_of(checks);
    if (*checks && !config->checks)
        snprintf(problem_text, problem_size, "%s=%s: memory, race, init, sync or all, separated by commas",
                 config_name(CONFIG_CHECK), checks);
    config->check_limit = (u32)get_number(CONFIG_CHECK_LIMIT, 0, UINT32_MAX, 100, problem);
    config->leak_check = get_number(CONFIG_LEAK_CHECK, 0, 1, 0, problem) == 1;
    get_text(CONFIG_CHECK_RESULT, config->check_result, sizeof config->check_result, "");
    config->timing = get_number(CONFIG_TIMING, 0, 1, 0, problem) == 1;
    config->interval = get_number(CONFIG_INTERVAL, 0, CONFIG_MOST_INTERVAL, CONFIG_DEFAULT_INTERVAL, problem);
    config->sample = (u32)get_number(CONFIG_SAMPLE, CONFIG_LEAST_SAMPLE, CONFIG_MOST_SAMPLE, 0, problem);
    config->pc_periods = (u32)get_number(CONFIG_PC_PERIODS, 2, UINT32_MAX, SIM_PC_PERIOD, problem);
    config->pc_offset = get_number(CONFIG_PC_OFFSET, 0, UINT32_MAX, 0, problem);
    const char *caches = get(CONFIG_CACHE_CONTROL);
    config->flush_caches = strcmp(caches, "all") == 0;
    if (*caches && !config->flush_caches && strcmp(caches, "none") != 0)
        snprintf(problem_text, problem_size, "%s=%s: all or none", config_name(CONFIG_CACHE_CONTROL), caches);
    get_text(CONFIG_EDITS, config->edits, sizeof config->edits, "");
    config->lazy = get_number(CONFIG_LAZY, 0, 1, 0, problem) == 1;
    const char *blocking = getenv("CUDA_LAUNCH_BLOCKING");
    config->blocking = blocking && atoi(blocking);
    config->quiet = get_number(CONFIG_QUIET, 0, 1, 0, problem) == 1;
    config->progress = get_number(CONFIG_PROGRESS, 0, 1, isatty(2) ? 1 : 0, problem) == 1 && !config->quiet;
}
