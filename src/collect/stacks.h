// SPDX-License-Identifier: Apache-2.0
// Host call stacks of launches, at the cost of a few loads per launch. A stack is unwound once; with it are kept the
// places on the stack where its return addresses lay. A later launch of the same kernel with the same stack pointer has
// the same stack if the same return addresses lie in the same places - which is looked up in place, below the top of
// the thread's stack: of callers whose frames differ in size another stack may end sooner. Unwinding itself is bounded
// to a share of the run time. stacks_find and stacks_set are called on any thread, take no lock and allocate nothing.
#ifndef WL_COLLECT_STACKS_H
#define WL_COLLECT_STACKS_H

#include <stdatomic.h>

#include "base/types.h"

enum { STACK_FRAMES = 48, STACK_LIMIT = 8192, STACK_SLOTS = 1 << 15, STACK_LAUNCHES = 1 << 20 };

typedef struct StackFrame {
    u64 place;    // of the return address on the stack
    u64 address;  // the return address
} StackFrame;
typedef struct Stack {
    u64 pointer;  // of the stack
    const void *kernel;
    u32 count;
    StackFrame frames[STACK_FRAMES];  // innermost first
} Stack;

typedef struct Stacks {
    Stack *entries;           // from index 1 on
    atomic_uint *slots;       // hash table of indices in entries
    atomic_ullong *launches;  // correlation << 32 | stack, by the correlation's low bits
    atomic_uint used;
    u64 begin_ns;
    u64 span;  // bytes of a thread's stack, if it does not ask for more
    atomic_ullong spent_ns;
    atomic_ullong missed;  // launches without a stack: no time or no room left for it
} Stacks;

bool stacks_make(Stacks *stacks);
// The stack of the caller, an index in entries; 0 when there is no time or room.
u32 stacks_find(Stacks *stacks, const void *kernel);
void stacks_set(Stacks *stacks, u32 correlation, u32 stack);
u32 stacks_get(const Stacks *stacks, u32 correlation);  // 0: none

#endif
