// SPDX-License-Identifier: Apache-2.0
// What is added up while SMs run: per instruction and per cause. One per worker thread and kernel, so that nobody
// waits; all are sums, so that who added does not matter.
#ifndef WL_SIM_TALLY_H
#define WL_SIM_TALLY_H

#include "sim/time/time.h"

enum { SAMPLE_SETS = 12 };
typedef struct SamplePlan {  // sets of PC samples
    u32 count;
    u8 shift[SAMPLE_SETS];  // one every 2^shift cycles, ascending; without sets [0] is one that never comes
    u64 offset;             // cycles by which they come earlier
    u64 mask, ahead;        // of the first set: 2^shift - 1, and with the offset
} SamplePlan;

// Samples of a set that come before `cycle`.
static inline u64 sample_number(const SamplePlan *plan, u32 set, u64 cycle) {
    u32 shift = plan->shift[set];
    return (cycle + (1ull << shift) - 1 + plan->offset) >> shift;
}
// Whether [from, to) has samples of any set: the first set has those of all others.
static inline bool sample_any(const SamplePlan *plan, u64 from, u64 to) {
    return ((from + plan->ahead) ^ (to + plan->ahead)) > plan->mask;
}

// What stalls of one reason at one pc, with one cause, add up to, until another cause comes there. Nothing else is
// written for a stall: this is the hottest part of accounting.
typedef struct TallyCell {
    u64 cycles, issued;  // cycles of warps; ... in which their scheduler issued others
    u64 times;
    u32 cause;  // WL_NONE: it has none
} TallyCell;

typedef struct Tally {
    u64 *issued;       // by pc
    TallyCell *cells;  // [pc][StallReason]
    TimePc *pcs;       // what was settled of cells, as tally_settle() does for all
    u32 pc_count;
    TimeEdge *edges;  // ... open addressing; cycles == 0: free
    u32 edge_cap, edge_count;
    u32 sets;      // of samples
    u32 *samples;  // [set][pc][reason][all, in cycles without issue]
    u64 slot_stalls[STALL_COUNT];
    u64 load_latency[LATENCY_BUCKETS];
    bool failed;   // out of memory: some edges are missing
    u8 apart[64];  // from the next worker's, in the host's caches
} Tally;

WL_MUST_USE Status tally_init(Tally *tally, u32 pc_count, u32 sample_sets);
void tally_free(Tally *tally);
// Adds to an edge what is not charged, or has been without its cause.
void tally_edge(Tally *tally, u32 pc, u32 cause, u8 reason, u64 cycles, u64 times);
// A cell has `cause` now; what it had is settled.
void tally_turn(Tally *tally, TallyCell *cell, u32 cause);
void tally_settle(Tally *tally);  // nothing is left in cells
// Both are settled.
void tally_merge(Tally *to, const Tally *from);

// The cells of a pc, by reason.
static inline TallyCell *tally_row(const Tally *t, u32 pc) { return t->cells + (u64)pc * STALL_COUNT; }

// Not selected has never a cause.
static inline void tally_not_selected(TallyCell *row, u64 cycles, u64 issued) {
    row[STALL_NOT_SELECTED].cycles += cycles;
    row[STALL_NOT_SELECTED].issued += issued;
}

// The same as below of a cell that has the cause.
static inline void tally_add(TallyCell *cell, u64 cycles, u64 issued) {
    cell->cycles += cycles;
    cell->issued += issued;
    cell->times++;
}

// A stall of `cycles` > 0, in `issued` of which its scheduler issued others.
static inline void tally_charge(Tally *t, TallyCell *row, u32 reason, u32 cause, u64 cycles, u64 issued) {
    TallyCell *cell = &row[reason];
    if (WL_UNLIKELY(cell->cause != cause)) tally_turn(t, cell, cause);
    tally_add(cell, cycles, issued);
}

static inline u32 *tally_sample(const Tally *t, u32 set, u32 pc, u32 reason) {
    return t->samples + (((u64)set * t->pc_count + pc) * STALL_COUNT + reason) * 2;
}
// Bucket of a latency: two for each power of two.
static inline u32 tally_bucket(u64 cycles) {
    if (cycles < 2) return 0;
    u32 log = 63 - (u32)__builtin_clzll(cycles), half = (u32)(cycles >> (log - 1) & 1);
    return log * 2 + half < LATENCY_BUCKETS ? log * 2 + half : LATENCY_BUCKETS - 1;
}

#endif
