// SPDX-License-Identifier: Apache-2.0
// Where the host launched a kernel: call stacks as a reader wants them, without what is the CUDA runtime's, the
// driver's, the profiler's and the C library's.
#ifndef WL_VIEW_ADVICE_STACK_H
#define WL_VIEW_ADVICE_STACK_H

#include "view/advice/advice_data.h"

typedef struct AdviceFrame {
    const char *name;  // readable; "" = not known
    const char *file;  // as advice_path() has it; NULL: not known
    u32 line;
    const char *object;  // base name of the program or library
} AdviceFrame;

typedef struct AdviceStack {
    const AdviceFrame *frames;  // innermost first
    u32 count;                  // 0: the profile holds no call stacks of this kernel
    u32 launches;               // that have it
} AdviceStack;

// The stack that most of the kernel's launches have.
WL_MUST_USE Status advice_stack(const AdviceReport *report, const KernelView *view, Arena *arena, AdviceStack *stack);

// "run (app.cu:40) < main (app.cu:88)", at most `most` frames; "" without any. NULL when memory is out.
const char *advice_stack_text(const AdviceStack *stack, u32 most, Arena *arena);

#endif
