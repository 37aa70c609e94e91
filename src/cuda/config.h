// SPDX-License-Identifier: Apache-2.0
// What `warplens run` tells the library inside the program, through environment variables. This table is the one place
// for their names; the CLI includes this header and sets them.
#ifndef WL_CUDA_CONFIG_H
#define WL_CUDA_CONFIG_H

#include "base/status.h"

// field, variable, meaning
#define CONFIG_TABLE(X)                                                                                             \
    X(OUTPUT, "WARPLENS_OUTPUT", "profile file, may hold %p %h %i %q{NAME} %%; unset or empty: no profile")         \
    X(GPU, "WARPLENS_GPU", "GPU model: its name, or the path of a .gpu file; default h200")                         \
    X(GPU_DIR, "WARPLENS_GPU_DIR", "folder of the models; default: share/warplens/gpus beside the library")         \
    X(GPUS, "WARPLENS_GPUS", "number of devices, or their models separated by commas; at most 64; default 1")       \
    X(THREADS, "WARPLENS_THREADS", "host threads of a launch; default: the number of processors")                   \
    X(KERNEL_REGEX, "WARPLENS_KERNEL_REGEX", "extended regular expression: record only kernels it matches")         \
    X(LAUNCH_SKIP, "WARPLENS_LAUNCH_SKIP", "matching launches to run before recording begins; default 0")           \
    X(LAUNCH_COUNT, "WARPLENS_LAUNCH_COUNT", "matching launches to record; default: all")                           \
    X(OVERWRITE, "WARPLENS_OVERWRITE", "1: a profile from before this run may be replaced")                         \
    X(RUN, "WARPLENS_RUN", "when the run began, ns since 1970: tells this run's profiles from older ones")          \
    X(QUIET, "WARPLENS_QUIET", "1: only errors on stderr, no progress")                                             \
    X(CHECK, "WARPLENS_CHECK", "what to check for: memory,race,init,sync or all; unset or empty: nothing")          \
    X(LEAK_CHECK, "WARPLENS_LEAK_CHECK", "1: memory that was never freed is an error, each allocation told")        \
    X(CHECK_LIMIT, "WARPLENS_CHECK_LIMIT", "findings to print; the rest is counted; default 100")                   \
    X(CHECK_RESULT, "WARPLENS_CHECK_RESULT", "file to which a line is added for each error found")                  \
    X(TIMING, "WARPLENS_TIMING", "1: cycle-level timing of kernels; 0: what they compute and count only")           \
    X(INTERVAL, "WARPLENS_INTERVAL",                                                                                \
      "timed kernels: cycles between two points over time; 0: totals only; default 1000. On a GPU: ns between two " \
      "points, 0: as CUPTI can decode; unset: no counters over time")                                               \
    X(PC_PERIODS, "WARPLENS_PC_PERIODS",                                                                            \
      "timed kernels: cycles between PC samples, a power of two; a sum of several: samples of each; default 1024")  \
    X(PC_OFFSET, "WARPLENS_PC_OFFSET", "timed kernels: cycles by which all samples come earlier; default 0")        \
    X(CACHE_CONTROL, "WARPLENS_CACHE_CONTROL", "all: timed kernels begin with empty caches; default none")          \
    X(SAMPLE, "WARPLENS_SAMPLE",                                                                                    \
      "timed kernels: one wave of CTAs, or launch, of so many cycle by cycle, the others estimated; default all")   \
    X(EDITS, "WARPLENS_EDITS", "timed kernels: file that lists what of the timing model an experiment edits")       \
    X(LAZY, "WARPLENS_LAZY", "1: work is executed when the program waits for it, not when it is submitted")         \
    X(SAMPLING, "WARPLENS_SAMPLING", "on a GPU: off, continuous (the default) or serialized")                       \
    X(SAMPLING_PERIOD, "WARPLENS_SAMPLING_PERIOD",                                                                  \
      "on a GPU: log2 of the cycles between two samples of an SM, 5 to 31")                                         \
    X(PROFILES, "WARPLENS_PROFILES", "on a GPU: file to which each process adds the name of its profile")           \
    X(END_SECONDS, "WARPLENS_END_SECONDS",                                                                          \
      "on a GPU: how long the program's end waits for CUPTI's last records; default 60")                            \
    X(ALL_TIMES, "WARPLENS_ALL_TIMES", "on a GPU: 1: times of all launches, whatever they cost")                    \
    X(ARGUMENTS, "WARPLENS_ARGUMENTS", "on a GPU: 0: no arguments of launches")                                     \
    X(STACKS, "WARPLENS_STACKS", "on a GPU: 0: no call stacks of launches")                                         \
    X(ACTIVITIES, "WARPLENS_ACTIVITIES", "on a GPU: 0: no launches, copies and allocations, samples only")          \
    X(PROGRESS, "WARPLENS_PROGRESS", "1: progress on stderr even when it is no terminal; 0: never")

typedef enum ConfigVariable {
#define X(field, name, help) CONFIG_##field,
    CONFIG_TABLE(X)
#undef X
        CONFIG_COUNT
} ConfigVariable;

enum { CONFIG_DEFAULT_INTERVAL = 1000, CONFIG_MOST_INTERVAL = 1000000000 };
enum { CONFIG_LEAST_SAMPLE = 2, CONFIG_MOST_SAMPLE = 100000 };
#define CONFIG_DEFAULT_SAMPLE "20"

typedef struct CudaConfig {
    char output[4096];  // pattern, "" = no profile
    char gpu[1024];
    char gpu_dir[4096];
    char kernel_regex[1024];  // "" = every kernel
    char gpus[4096];          // models by device, separated by commas; "" = `gpu` for each
    u32 devices, threads;
    u64 launch_skip, launch_count;
    u64 run_ns;
    u32 checks;  // SimCheck bits
    u32 check_limit;
    char check_result[4096];  // "" = none
    bool overwrite, quiet, leak_check, lazy;
    bool blocking;  // CUDA_LAUNCH_BLOCKING: launches wait for their kernels
    bool progress;  // show it
    bool timing, flush_caches;
    u64 interval;
    u32 sample;        // 0: everything in detail
    char edits[4096];  // file, "" = none
    u32 pc_periods;
    u64 pc_offset;
} CudaConfig;

const char *config_name(ConfigVariable variable);
// Reads the environment. A value that cannot be used is replaced by its default and told in `problem` ("" = none).
void config_read(CudaConfig *config, char *problem, size_t problem_size);

// The number of devices that a value of GPUS asks for: a number, or models separated by commas. 0: neither.
u32 config_count_gpus(const char *text);
// The model of a device, copied to `model`.
void config_gpu_of(const CudaConfig *config, u32 device, char *model, size_t size);

// Replaces in a file name: %p process id, %h host name, %q{NAME} environment variable, %i the lowest number from 1 on
// that gives a file that does not exist yet, %% a percent sign. STATUS_INVALID: another letter or an unset variable
// (told in `problem`); STATUS_LIMIT: longer than `size`.
WL_MUST_USE Status config_expand_path(const char *pattern, char *path, size_t size, char *problem, size_t problem_size);
// "run.wlp" and 1234 -> "run.1234.wlp": the profile of another process of the same run.
WL_MUST_USE Status config_sibling_path(const char *path, u64 pid, char *sibling, size_t size);

#endif
