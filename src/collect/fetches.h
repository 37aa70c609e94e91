// SPDX-License-Identifier: Apache-2.0
// When the writer fetches records and commits them, and when it fetches samples. What that takes depends on how many
// instructions were sampled, which may be many (PyTorch: 50,000, 11 ms in CUPTI). The program is slower while other
// processors are at work; and CUPTI holds a lock that it takes in each launch while it hands out samples.
#ifndef WL_COLLECT_FETCHES_H
#define WL_COLLECT_FETCHES_H

#include "base/types.h"

enum { FETCH_NS = 200000000, FETCH_PAUSED_NS = 50000000 };

typedef struct FetchPace {
    u32 share, paused_share;  // a fetch may take one of so many parts of the time; when the program launches nothing
    u64 latest_ns;
} FetchPace;
extern const FetchPace fetches_of_records, fetches_of_samples;

typedef struct Fetches {
    u64 fetched_ns, work_ns;  // the last one: when it had ended, what it took
    u64 calls, launched_ns;   // launches of the program so far; when they were last seen to have become more
    u64 fetched_calls;        // ... at the last fetch
} Fetches;

// The program has launched nothing for a moment, but something since the last fetch: it waits for long, works on the
// host or is about to end, which then need not wait for what is written now. Asked once a turn.
bool fetches_paused(Fetches *fetches, u64 calls, u64 now);
// Every FETCH_NS, at once in a pause; later where a fetch takes much.
bool fetches_due(const Fetches *fetches, const FetchPace *pace, bool paused, u64 now);
void fetches_done(Fetches *fetches, u64 now, u64 work_ns);

#endif
