// SPDX-License-Identifier: Apache-2.0
// Collection on a real GPU through CUPTI. One Collector per process, begun when the driver is initialised and ended at
// the program's exit. Callbacks of CUPTI run on the program's threads: they take no lock that the program can hold,
// parse nothing and wait for nothing; what they have goes through lock-free queues to one thread of the collector's
// own, which alone writes to the sink. Whatever goes wrong is told once, and the program runs on.
#ifndef WL_COLLECT_COLLECT_H
#define WL_COLLECT_COLLECT_H

#include "base/log.h"
#include "record/record.h"

typedef enum CollectSampling {
    COLLECT_SAMPLING_OFF,
    COLLECT_SAMPLING_CONTINUOUS,
    COLLECT_SAMPLING_SERIALIZED
} CollectSampling;
enum { COLLECT_LEAST_PERIOD = 5, COLLECT_MOST_PERIOD = 31 };  // log2 of cycles
// Of counters over time, ns: CUPTI takes a tenth of a millisecond for a sample.
enum { COLLECT_LEAST_INTERVAL = 200000, COLLECT_MOST_INTERVAL = 1000000000 };

typedef struct CollectOptions {
    CollectSampling sampling;
    u32 period;  // log2 of the cycles between two samples of an SM; 0: as many samples as CUPTI can decode
    bool activities, stacks, allocations;
    bool arguments;                 // of launches
    bool all_times;                 // of launches, also where CUPTI slows the program down for them
    u64 launch_skip, launch_count;  // of the launches wanted
    u32 end_seconds;                // that collect_end waits at most
    // Counters over time. A GPU takes either them or samples of instructions (an H200 with CUDA 13.0 gave neither when
    // it was asked for both): `sampling` is off then.
    bool counters;
    u64 interval_ns;  // between two points; 0: one that CUPTI can decode beside the program
} CollectOptions;

typedef struct CollectHost {
    CollectOptions options;
    // Asked by collect_begin: where the records go, which may be opened beside what CUPTI needs until then. NULL:
    // nothing can be collected, and why has been told.
    Sink *(*sink)(void *context);
    Log log;
    bool (*wants)(void *context, const char *kernel);  // NULL: every kernel; asked once for each name
    // NULL: modules are loaded as they are. Otherwise called, on the program's thread, with what it is about to load (a
    // fat binary's wrapper, a cubin or PTX text) and gives what the driver is to load instead, or NULL to leave it.
    // What it gives must stay for the life of the process.
    const void *(*replace)(void *context, const void *code);
    // Called when CUPTI has loaded libraries of its own, by threads of the collector; may be NULL. What these do at the
    // program's exit() must come after collect_end, which uses them: a handler of exit() that calls it is to be
    // registered again.
    void (*loaded)(void);
    void *context;
} CollectHost;

// The file of the CUPTI that would be used; false when there is none: `looked` then says where it was looked for.
bool collect_find_cupti(char *path, size_t size, char *looked, size_t looked_size);
// That CUPTI has PM sampling, for counters over time.
bool collect_knows_counters(void);

// STATUS_OK: something is being collected. Otherwise nothing was switched on, and the log was told why.
WL_MUST_USE Status collect_begin(const CollectHost *host);
// Takes what is left, within bounded time, and switches everything off. False: CUPTI did not come back; the sink may
// still be in use and must not be closed. Does nothing in a process that did not begin.
bool collect_end(int exit_code);
// CUPTI hears of NVTX ranges when this has been called from the program's InitializeInjectionNvtx2, with its argument.
int collect_nvtx(void *table);
// In the child of a fork(): the GPU and the profile are the parent's.
void collect_forget(void);

#endif
