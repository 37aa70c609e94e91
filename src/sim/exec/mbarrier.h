// SPDX-License-Identifier: Apache-2.0
// The mbarrier object (PTX ISA 9.0, 9.7.13.15), for the instructions on it and for asynchronous copies that complete on
// it.
#ifndef WL_SIM_EXEC_MBARRIER_H
#define WL_SIM_EXEC_MBARRIER_H

#include "sim/exec/access.h"
#include "sim/time/trace.h"

// The object in shared memory; the layout is ours, the ISA calls it opaque. A state is the object as it was before the
// arrive.
typedef struct Mbarrier {
    u64 pending : 20;   // arrivals that this phase still waits for
    u64 expected : 20;  // ... that the next phase will wait for
    u64 tx : 21;        // bytes expected and not yet complete, two's complement
    u64 phase : 1;
    u64 live : 2;  // MBARRIER_LIVE
} Mbarrier;

_Static_assert(sizeof(Mbarrier) == 8, "an mbarrier is 64 bits");
enum { MBARRIER_LIVE = 2, MBARRIER_MAX = (1 << 20) - 1 };

static inline void mbarrier_misuse(Exec *x, u32 lane, const char *what) {
    x->message = what;
    x->fault = (Fault){.kind = FAULT_MBARRIER, .lane = (u8)lane};
}

static inline void mbarrier_end_phase(Mbarrier *b) {
    if (b->pending || b->tx) return;
    b->phase ^= 1;
    b->pending = b->expected;
}

static inline void mbarrier_arrive_count(Exec *x, u32 lane, Mbarrier *b, u64 count) {
    if (count > b->pending) return mbarrier_misuse(x, lane, "more arrivals at an mbarrier than its phase expects");
    b->pending -= count;
    mbarrier_end_phase(b);
}

// The object at `address`, as a copy in *b. NULL: fault set.
static inline u8 *mbarrier_at(Exec *x, u32 lane, u64 address, u8 space, Mbarrier *b) {
    u8 found;
    u8 *at = access_resolve(x, lane, address, 8, space, true, &found);
    if (!at) return NULL;
    if (found != SPACE_SHARED) {
        x->fault = (Fault){.kind = FAULT_WRONG_SPACE, .lane = (u8)lane, .space = found, .width = 8, .address = address};
        x->message = "mbarrier object outside of shared memory";
        return NULL;
    }
    memcpy(b, at, sizeof *b);
    return at;
}

// Whether an address in shared memory is in the CTA's own, also if it names the CTA by its rank; *offset: where.
static inline bool mbarrier_is_own(const Exec *x, u64 address, u32 *offset) {
    u32 rank = (u32)address >> SHARED_RANK_SHIFT;
    *offset = (u32)address & SHARED_OFFSET_MASK;
    return rank == 0 || rank == x->cta->rank + 1;
}

// An asynchronous copy of `bytes` is complete. False: fault set.
static inline bool mbarrier_complete(Exec *x, u32 lane, u64 address, u8 space, u32 bytes) {
    Mbarrier b;
    u8 *at = mbarrier_at(x, lane, address, space, &b);
    if (!at) return false;
    if (b.live != MBARRIER_LIVE) return mbarrier_misuse(x, lane, "mbarrier object that was not initialised"), false;
    b.tx -= bytes;
    u32 offset;
    if (WL_UNLIKELY(x->trace) && mbarrier_is_own(x, address, &offset)) trace_sync(x->trace, SYNC_BULK, offset);
    mbarrier_end_phase(&b);
    memcpy(at, &b, sizeof b);
    x->stores++;
    return true;
}

#endif
