// SPDX-License-Identifier: Apache-2.0
// How far from an estimate the truth may be on a program that nobody had in view: split conformal prediction (Lei et
// al., "Distribution-free predictive inference for regression", JASA 2018). The pairs whose estimates were scored
// before anybody had learnt from them (bench/advice/*-first.tsv) each have a score: how far what was achieved is from
// what was expected, in units of the interval's own shape. The next program's score is below the ceil(0.95 (n + 1))-th
// of n with a probability of 95 %, however errors are distributed, as far as it is drawn like the others
// (tools/calibrate_advice.py). Pure functions; every result is finite.
#ifndef WL_ANALYZE_ADVICE_INTERVAL_H
#define WL_ANALYZE_ADVICE_INTERVAL_H

#include "base/types.h"

// The quantiles of 351 first looks of eighteen sets, 328 of which gained 2 % or more: 0.97 below; above, 0.95 would be
// 1.21, which covers 7 more of the 328 and makes the intervals a seventh wider. With these they cover 296, 90 %.
#define INTERVAL_ABOVE 1.00
#define INTERVAL_BELOW 0.89
// The shape, in logarithms x of the expected speedup. What a change brings beyond x comes from what else it changes, in
// the code and behind a limit: its variance grows with x, and is not zero where nothing is expected. What is missing is
// a part of what was promised.
#define INTERVAL_FLOOR_ABOVE 0.10
#define INTERVAL_FLOOR_BELOW 0.02

typedef struct Interval {
    f64 low, high;
} Interval;

// 90 % of changes that help at all lie in it. `speedup` >= 1; `width`: that of the rule's record, 1 for all rules
// together; `error`: standard deviation of ln(speedup - 1) from sampling, which widens it. 1 <= low <= speedup <= high.
Interval interval_around(f64 speedup, f64 width, f64 error);

#endif
