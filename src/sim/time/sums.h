// SPDX-License-Identifier: Apache-2.0
// Rows of counters, as many at a time as the host can.
#ifndef WL_SIM_SUMS_H
#define WL_SIM_SUMS_H

#include "base/types.h"

void sums_add(u64 *restrict to, const u64 *restrict from, u32 count);
u64 sums_all(const u64 *values, u32 count);
// The bits that any of them has.
u64 sums_bits(const u64 *values, u32 count);
// What was added since the last time, `base`, which becomes `now`.
void sums_note(u64 *restrict to, const u64 *restrict now, u64 *restrict base, u32 count);
// All `rows` of `count` values into `to`.
void sums_rows(u64 *restrict to, const u64 *const *rows, u32 row_count, u32 count);

#endif
