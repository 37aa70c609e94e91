// SPDX-License-Identifier: Apache-2.0
// Totals per instruction, kept in memory so that many small launches cost a few additions each and not a row each: what
// changed is written at the next commit. Internal to store.
#ifndef WL_STORE_PC_TOTALS_H
#define WL_STORE_PC_TOTALS_H

#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"
#include "metric/metric.h"

enum { PC_LIMIT = 1 << 22 };  // instructions of one function

typedef struct PcRow {
    u64 dirty[(METRIC_COUNT + 63) / 64];  // metrics changed since the last pc_totals_write
    f64 value[];                          // metric_pc_limit() of them
} PcRow;

typedef struct PcTable {
    u32 function, source;
    bool dirty;
    Vec(PcRow *) rows;  // by pc; NULL where nothing was counted
} PcTable;

// A zeroed PcTotals is empty and ready.
typedef struct PcTotals {
    Arena arena;
    Map index;  // function and source -> position in tables
    Vec(PcTable) tables;
    u32 last;       // table used last
    u32 row_bytes;  // of a PcRow; 0: not known yet
} PcTotals;

WL_MUST_USE Status pc_totals_add(PcTotals *totals, u32 function, u32 source, u32 pc, MetricId metric, f64 value);

// Hands every changed total to `write`, then takes them as written. Stops at the first failure.
typedef Status (*PcWrite)(void *context, const PcTable *table, u32 pc, MetricId metric, f64 value);
WL_MUST_USE Status pc_totals_write(PcTotals *totals, PcWrite write, void *context);
void pc_totals_free(PcTotals *totals);

#endif
