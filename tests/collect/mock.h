// SPDX-License-Identifier: Apache-2.0
// How a test drives the mock of CUPTI (mock_cupti.c).
#ifndef WL_TESTS_COLLECT_MOCK_H
#define WL_TESTS_COLLECT_MOCK_H

#include "base/types.h"

typedef struct MockScript {
    int sampling_result;  // of configuring; 0 works
    int fetch_result;     // of fetching samples
    u64 samples;          // that the next fetch gives
    u64 last_samples;     // that ending gives
    u64 dropped_samples;  // told with each fetch that gives some
    bool slow_enable;     // sampling begins when the program launches, and launches before that are lost
    bool hang_flush;      // the forced flush never returns
    bool deep_queue;      // some launch is always under way: only full buffers are handed out
    bool exit_in_launch;  // the program ends between a launch's two callbacks
} MockScript;
MockScript *mock_script(void);
void mock_context(u32 number);  // 1 to 7: of device number - 1
void mock_context_end(u32 number);
void mock_module(const void *cubin, size_t size);
void mock_launch(const char *kernel);
void mock_copy(void);                                 // a copy, a memset, a wait and an allocation
void mock_mark(const char *name, u32 flags, u32 id);  // CUPTI_MARKER_*
void mock_flush_samples(u32 context, u64 samples);    // into the buffer of the configuration
const void *mock_load(const void *code);              // what the driver then loads
void mock_wait_flushes(u32 count);                    // until the collector has flushed so many times more

#endif
