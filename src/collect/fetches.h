// SPDX-License-Identifier: Apache-2.0
// When the writer fetches records and samples and commits them. What it takes depends on how many instructions were
// sampled, which may be many (PyTorch: 50,000, 20 ms), and the program is slower while other processors are at work.
#ifndef WL_COLLECT_FETCHES_H
#define WL_COLLECT_FETCHES_H

#include "base/types.h"

// SIGKILL is to lose no more than a second.
enum { FETCH_NS = 200000000, FETCH_LATEST_NS = 500000000, FETCH_PAUSED_NS = 50000000 };

typedef struct Fetches {
    u64 fetched_ns, work_ns;  // the last one: when it had ended, what it took of the processor
    u64 calls, launched_ns;   // launches of the program so far; when they were last seen to have become more
    u64 fetched_calls;        // ... at the last fetch
} Fetches;

// The program has launched nothing for a moment, but something since the last fetch: it waits for long, works on the
// host or is about to end, which then need not wait for what is written now. Asked once a turn.
bool fetches_paused(Fetches *fetches, u64 calls, u64 now);
// Every FETCH_NS, at once in a pause; later where a fetch takes much.
bool fetches_due(const Fetches *fetches, bool paused, u64 now);
void fetches_done(Fetches *fetches, u64 now, u64 work_ns);

#endif
