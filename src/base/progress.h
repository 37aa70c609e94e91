// SPDX-License-Identifier: Apache-2.0
// A progress line: what, how far, rate, time left. Knows no clock and no terminal: the owner passes the time and writes
// the text. Used on stderr only, so the program's stdout stays its own.
#ifndef WL_BASE_PROGRESS_H
#define WL_BASE_PROGRESS_H

#include "base/types.h"

typedef struct Progress {
    f64 interval;     // seconds between two lines
    f64 start;        // time of the first call
    f64 last;         // time of the last line shown
    u64 done, total;  // total 0 = unknown
    bool started;
} Progress;

// Notes that `done` of `total` steps are finished at time `now` (seconds, monotonic). True when a new line is due.
bool progress_update(Progress *progress, f64 now, u64 done, u64 total);
// "matmul: 1,024 of 4,096 CTAs (25 %), 812 CTAs/s, 3.8 s left"; returns the full length.
size_t progress_format(const Progress *progress, f64 now, const char *what, const char *unit, char *buffer,
                       size_t size);

#endif
