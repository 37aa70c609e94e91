// SPDX-License-Identifier: Apache-2.0
#include "collect/fetches.h"

// Of a processor. CUPTI adds up what it has: half as many fetches are half as much work.
enum { SHARE = 32, PAUSED_SHARE = 8 };

bool fetches_paused(Fetches *f, u64 calls, u64 now) {
    if (calls != f->calls) f->launched_ns = now;
    f->calls = calls;
    return calls != f->fetched_calls && now - f->launched_ns >= FETCH_PAUSED_NS;
}

bool fetches_due(const Fetches *f, bool paused, u64 now) {
    u64 apart = f->work_ns * (paused ? PAUSED_SHARE : SHARE), least = paused ? FETCH_PAUSED_NS : FETCH_NS;
    if (f->calls == f->fetched_calls) apart = 0;  // little will have come
    if (apart > FETCH_LATEST_NS) apart = FETCH_LATEST_NS;
    return now - f->fetched_ns >= (apart < least ? least : apart);
}

void fetches_done(Fetches *f, u64 now, u64 work_ns) {
    f->fetched_ns = now;
    f->work_ns = work_ns;
    f->fetched_calls = f->calls;
}
