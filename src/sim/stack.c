// SPDX-License-Identifier: Apache-2.0
// The part of local memory that alloca gives out: each lane's grows down from the end of its local memory, towards the
// frames, which grow up.
#include <string.h>

#include "sim/warp.h"

void stack_update(Warp *w) {
    w->stack_limit = w->stack[0];
    for (u32 l = 1; l < LANES; l++)
        if (w->stack[l] < w->stack_limit) w->stack_limit = w->stack[l];
}

void stack_reset(Warp *w) {
    for (u32 l = 0; l < LANES; l++) w->stack[l] = (u32)w->local_stride;
    stack_update(w);
}

void stack_enter(Warp *w, u32 slot, u32 mask) {
    for (u32 left = mask; left; left &= left - 1) {
        u32 l = (u32)__builtin_ctz(left);
        memcpy(w->local + l * w->local_stride + slot, &w->stack[l], sizeof w->stack[l]);
    }
}

void stack_leave(Warp *w, u32 slot, u32 mask) {
    for (u32 left = mask; left; left &= left - 1) {
        u32 l = (u32)__builtin_ctz(left);
        memcpy(&w->stack[l], w->local + l * w->local_stride + slot, sizeof w->stack[l]);
    }
    stack_update(w);
}
