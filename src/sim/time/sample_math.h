// SPDX-License-Identifier: Apache-2.0
// The arithmetic of partial simulation: what was executed as a vector, how far two of them are apart, means with
// intervals, and which waves of a launch are looked at. Knows no machine.
#ifndef WL_SIM_SAMPLE_MATH_H
#define WL_SIM_SAMPLE_MATH_H

#include "base/types.h"
#include "base/vec.h"
#include "sim/warp.h"

// Warp instructions by program counter, modulo MIX_PARTS, and what decides how long they take.
enum { MIX_PARTS = 64 };
typedef struct Mix {
    f64 part[MIX_PARTS];
    f64 insts, threads, sectors, wavefronts;
} Mix;

Mix mix_read(const Grid *grid);  // so far
Mix mix_difference(const Mix *to, const Mix *from);
// 0: the same shares of everything; 1 and more: nothing in common.
f64 mix_distance(const Mix *a, const Mix *b);

typedef struct SampleTally {  // values with weights (Welford)
    u32 count;
    f64 weight, mean, spread;  // spread: sum of weighted squares of differences from the mean
} SampleTally;
void sample_add(SampleTally *tally, f64 value, f64 weight);
// Standard deviation of a value, relative to the mean.
f64 sample_deviation(const SampleTally *tally);
// Half of the interval that holds 95 % of Student's t with `count` - 1 degrees of freedom, in standard deviations.
f64 sample_student(u32 count);

typedef struct SampleEstimate {
    f64 value, half;  // the interval is value - half to value + half
} SampleEstimate;

typedef struct SampleChunk {  // waves in detail, of which the last ones are measured
    u64 first, count;
} SampleChunk;
typedef Vec(SampleChunk) SampleChunks;
enum { SAMPLE_FIRST = 2, SAMPLE_CHUNKS = 4 };  // waves that are never measured; chunks at least behind the first one
// Which of `waves` waves are simulated in detail, to measure `*measured` of them in each chunk: the last of the first
// ones (two more, or a share of 1 / period, up to 64), and in each of equal strata one chunk with a wave to warm up, at
// a place that a hash of `seed` chooses (systematic places would follow the rows of the grid). The last wave is in
// detail too, and never measured. *measured is lowered when the launch is short; no chunks when it is too short for
// sampling to save anything.
WL_MUST_USE Status sample_plan(u64 waves, u32 period, u64 seed, u64 *measured, SampleChunks *chunks);
static inline bool sample_worth(u64 waves) { return waves >= SAMPLE_FIRST + 2 + SAMPLE_CHUNKS * 4; }

#endif
