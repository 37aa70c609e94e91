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
// Whether [from, to) has samples of any set, and whether a cycle is one: the first set has those of all others.
static inline bool sample_any(const SamplePlan *plan, u64 from, u64 to) {
    return ((from + plan->ahead) ^ (to + plan->ahead)) > plan->mask;
}
static inline bool sample_at(const SamplePlan *plan, u64 cycle) { return !((cycle + plan->offset) & plan->mask); }

// Of a pc and the reasons that have the same last bits: what comes by turns there has several reasons.
enum { LAST_EDGES = 8 };
typedef struct LastEdge {
    u64 key;  // tally_key; 0: none
    u32 at;   // in Tally.edges
} LastEdge;

typedef struct Tally {
    TimePc *pcs;
    u32 pc_count;
    TimeEdge *edges;  // open addressing; times == 0: free
    u32 edge_cap, edge_count;
    LastEdge *last_edge;  // [pc][LAST_EDGES]
    u32 sets;             // of samples
    u32 *samples;         // [set][pc][reason][all, in cycles without issue]
    u64 slot_stalls[STALL_COUNT];
    u64 load_latency[LATENCY_BUCKETS];
    bool failed;   // out of memory: some edges are missing
    u8 apart[64];  // from the next worker's, in the host's caches
} Tally;

WL_MUST_USE Status tally_init(Tally *tally, u32 pc_count, u32 sample_sets);
void tally_free(Tally *tally);
TimeEdge *tally_find_edge(Tally *tally, u32 pc, u32 cause, u8 reason);  // NULL: memory ran out
void tally_merge(Tally *to, const Tally *from);

static inline u64 tally_key(u32 cause, u8 reason) { return ((u64)cause << 8 | reason) + 1; }

static inline LastEdge *tally_last(const Tally *t, u32 pc, u8 reason) {
    return &t->last_edge[(u64)pc * LAST_EDGES + reason % LAST_EDGES];
}

static inline void tally_edge(Tally *t, u32 pc, u32 cause, u8 reason, u64 cycles, u64 times) {
    const LastEdge *last = tally_last(t, pc, reason);
    TimeEdge *e = &t->edges[last->at];
    if (WL_UNLIKELY(last->key != tally_key(cause, reason)) && !(e = tally_find_edge(t, pc, cause, reason))) return;
    e->cycles += cycles;
    e->times += times;
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
