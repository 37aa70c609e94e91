// SPDX-License-Identifier: Apache-2.0
// Arithmetic over metrics, written as text ("100 * a.sum / (32 * b.sum)"), compiled to a few postfix steps.
// Used for the FORMULA rows of metrics.def and for the columns of reports. No heap memory; a compiled formula is
// immutable.
#ifndef WL_METRIC_FORMULA_H
#define WL_METRIC_FORMULA_H

#include "base/status.h"
#include "metric/metric.h"

enum { FORMULA_STEPS = 64, FORMULA_STACK = 16 };

typedef enum FormulaOp {
    FORMULA_NUMBER,
    FORMULA_METRIC,
    FORMULA_ADD,
    FORMULA_SUB,
    FORMULA_MUL,
    FORMULA_DIV,
    FORMULA_MIN,
    FORMULA_MAX,
    FORMULA_NEG,
} FormulaOp;

typedef struct FormulaStep {
    u32 op;      // FormulaOp
    u32 metric;  // of FORMULA_METRIC
    f64 number;  // of FORMULA_NUMBER
} FormulaStep;

typedef struct Formula {
    FormulaStep steps[FORMULA_STEPS];
    u32 count;
} Formula;

// Grammar: sum = term {(+|-) term}; term = factor {(*|/) factor}; factor = number | metric name | - factor | ( sum ) |
// min(sum, sum) | max(sum, sum). STATUS_INVALID on a mistake, STATUS_NOT_FOUND for an unknown metric, STATUS_LIMIT when
// it is too long; `error_at` (may be NULL) is then the byte offset of the trouble.
WL_MUST_USE Status formula_compile(const char *text, Formula *formula, u32 *error_at);

// The value for one row; NAN when it has none: no input present, a formula metric absent, or not finite.
// An absent counter counts as 0.
f64 formula_run(const Formula *formula, const MetricSet *set);

#endif
