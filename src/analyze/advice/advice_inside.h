// SPDX-License-Identifier: Apache-2.0
// The inside of the driver, for advice.c and advice_rank.c only.
#ifndef WL_ANALYZE_ADVICE_ADVICE_INSIDE_H
#define WL_ANALYZE_ADVICE_ADVICE_INSIDE_H

#include "analyze/advice/rule.h"

typedef struct LeftOut {  // kernels that were not looked at for the same reason
    const char *why;
    const KernelView *first;
    u32 count;
} LeftOut;

typedef struct AdviceMaker {
    AdviceContext context;
    const AdviceOptions *options;
    f64 least;      // gain of the program
    Arena scratch;  // of the kernel that is looked at
    Vec(Advice) rows;
    Vec(AdviceKernel) kernels;
    Vec(const char *) notes;
    Vec(LeftOut) left_out;
    u32 groups;
    AdviceList *list;
} AdviceMaker;

typedef struct AdviceTimes {
    f64 kernel_ns;  // of all kernels of the profile, also of those that are not wanted; 0 = not known
    f64 copy_ns;
    u64 copies;
} AdviceTimes;

WL_MUST_USE Status time_of_all(const AdviceMaker *m, AdviceTimes *times);

// The hits of one kernel become rows, in groups of those that would remove the same stalls.
WL_MUST_USE Status rank_kernel(AdviceMaker *m, AdviceCase *c);
WL_MUST_USE Status rank_all(AdviceMaker *m);

#endif
