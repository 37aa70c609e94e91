// SPDX-License-Identifier: Apache-2.0
// How a test drives the mock of CUPTI (mock_cupti.c).
#ifndef WL_TESTS_COLLECT_MOCK_H
#define WL_TESTS_COLLECT_MOCK_H

#include "base/types.h"

typedef struct MockScript {
    int sampling_result;      // of configuring; 0 works
    int fetch_result;         // of fetching samples
    u32 fetch_ms;             // that it takes
    u64 samples;              // that the next fetch gives
    u64 last_samples;         // that ending gives
    u64 dropped_samples;      // told with each fetch that gives some
    u64 other_samples;        // of kernels that are not the program's, likewise
    bool slow_enable;         // sampling begins when the program launches, and launches before that are lost
    bool hang_flush;          // the forced flush never returns
    bool deep_queue;          // some launch is always under way: only full buffers are handed out
    void (*in_launch)(void);  // what happens between a launch's two callbacks
    bool slow_launch;         // two flushes of the collector pass before a launch ends
    bool hang_disable;        // ending sampling never returns
    bool failing_launches;    // the driver refuses to launch
    bool lost_launches;       // one of ten launches has no record
    u32 streams;              // launches are of so many streams in turn, and overlap; 0: of one
    bool launch_in_disable;  // another thread launches while sampling ends, where an H200's CUPTI hangs: aborts instead
} MockScript;
MockScript *mock_script(void);
void mock_context(u32 number);  // 1 to 7: of device number - 1
void mock_context_end(u32 number);
void mock_stream_end(void);  // of some stream: those made later have other numbers, and may have its address
void mock_module(const void *cubin, size_t size);
void mock_launch(const char *kernel);
void mock_launch_graph(u32 graph, u32 kernels);  // of `mock_kernel` and others like it
bool mock_records_launches(void);
bool mock_records_times(void);               // of launches
void mock_copy(void);                        // a copy, a memset and an allocation
void mock_wait_gpu(u32 cbid, void *stream);  // a call of CUPTI_WAIT_CBIDS; streams from 100 on are of another context
void mock_mark(const char *name, u32 flags, u32 id);  // CUPTI_MARKER_*
void mock_flush_samples(u32 context, u64 samples);    // into the buffer of the configuration
const void *mock_load(const void *code);              // what the driver then loads
void mock_wait_flushes(u32 count);                    // until the collector has flushed so many times more
bool mock_is_sampled(u32 context);
u32 mock_fetches(void);  // of samples, so far

// PM sampling (mock_pm.c).
typedef struct MockPmScript {
    const char *unknown;  // counters whose names contain this are not known; NULL: all are
    u32 fit;              // counters that fit one pass, 0: any number
    int config_result, decode_result;
    bool no_timer;  // as on Turing: intervals are cycles
} MockPmScript;
#pragma GCC visibility push(default)
MockPmScript *mock_pm_script(void);
void mock_pm_wait(u32 device);                           // until it is sampled
void mock_pm_samples(u32 device, u64 begin, u32 count);  // from there on, one after the other, until decoded
void mock_pm_overflow(u32 device);                       // the hardware's buffer is full, until sampling begins again
bool mock_pm_load(const char *path);                     // a recording (h200.samples): its counters are the GPU's
void mock_pm_play(u32 device);                           // its launches, and its samples until they are decoded
void mock_kernel(const char *name, u64 begin, u64 end);  // a launch with a time of its own
#pragma GCC visibility pop

#endif
