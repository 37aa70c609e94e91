// SPDX-License-Identifier: Apache-2.0
// The metric catalogue (metrics.def) and the evaluation of its formulas. Immutable tables; any thread may read.
#ifndef WL_METRIC_METRIC_H
#define WL_METRIC_METRIC_H

#include "base/status.h"

typedef enum MetricId {
#define COUNTER(id, name, unit, scopes, text) METRIC_##id,
#define LEVEL(id, name, unit, scopes, text) METRIC_##id,
#define FORMULA(id, name, unit, scopes, formula, text) METRIC_##id,
#include "metric/metrics.def"
#undef COUNTER
#undef LEVEL
#undef FORMULA
    METRIC_COUNT
} MetricId;

typedef struct MetricInfo {
    const char *name;
    const char *unit;
    const char *scopes;
    const char *formula;  // NULL for a counter or level
    const char *text;
    bool level;  // of several launches the largest
} MetricInfo;

extern const MetricInfo metric_table[METRIC_COUNT];

MetricId metric_find(const char *name);  // METRIC_COUNT when unknown

// One row's values, by MetricId; `present` tells which are known.
typedef struct MetricSet {
    f64 value[METRIC_COUNT];
    bool present[METRIC_COUNT];
} MetricSet;

// Adds one more launch, instruction, ...
static inline void metric_add(MetricSet *set, MetricId metric, f64 value) {
    f64 before = set->present[metric] ? set->value[metric] : 0;
    bool level = metric_table[metric].level;
    set->value[metric] = !level ? before + value : value > before ? value : before;
    set->present[metric] = true;
}
void metric_merge(MetricSet *into, const MetricSet *from);  // adds the counters; forgets the formulas of `into`

// Computes every formula that has an input present (an absent counter counts as 0 then).
// A division by zero leaves the metric absent.
void metric_evaluate(MetricSet *set);

// The same for many rows: the catalogue's formulas, compiled once. Freed with mem_free; immutable, any thread may use
// it.
typedef struct MetricProgram MetricProgram;
WL_MUST_USE Status metric_compile(MetricProgram **program);
void metric_run(const MetricProgram *program, MetricSet *set);
// ... but only formulas of which every input is present: for rows of which some counters were not taken, as on a GPU,
// whose counters do not all fit one pass.
void metric_run_complete(const MetricProgram *program, MetricSet *set);

// Metrics of instructions and lines are among the first so many.
u32 metric_pc_limit(void);

static inline bool metric_has_scope(MetricId metric, char scope) {  // a letter of metrics.def
    for (const char *at = metric_table[metric].scopes; *at; at++) {
        if (*at == scope) return true;
    }
    return false;
}

// Checks the catalogue: names unique, units known, every formula well-formed and over rows above it that have its
// scopes. On a mistake returns STATUS_INVALID and names the row. For tests.
WL_MUST_USE Status metric_check(const char **bad_name);

#endif
