// SPDX-License-Identifier: Apache-2.0
#include "collect/fetches.h"

// Of records: of a processor's time; SIGKILL is to lose no more than a second. Of samples: of the time that launches
// wait for. CUPTI adds up what it has: half as many fetches are half as much work. With samples fetched every half a
// second PyTorch's launches waited for 3 % of the time (docs/collect.md).
const FetchPace fetches_of_records = {32, 8, 500000000}, fetches_of_samples = {512, 64, 10000000000};

bool fetches_paused(Fetches *f, u64 calls, u64 now) {
    if (calls != f->calls) f->launched_ns = now;
    f->calls = calls;
    return calls != f->fetched_calls && now - f->launched_ns >= FETCH_PAUSED_NS;
}

bool fetches_due(const Fetches *f, const FetchPace *pace, bool paused, u64 now) {
    u64 apart = f->work_ns * (paused ? pace->paused_share : pace->share), least = paused ? FETCH_PAUSED_NS : FETCH_NS;
    if (f->calls == f->fetched_calls) apart = 0;  // little will have come
    if (apart > pace->latest_ns) apart = pace->latest_ns;
    return now - f->fetched_ns >= (apart < least ? least : apart);
}

void fetches_done(Fetches *f, u64 now, u64 work_ns) {
    f->fetched_ns = now;
    f->work_ns = work_ns;
    f->fetched_calls = f->calls;
}
