// SPDX-License-Identifier: Apache-2.0
// How long results take, by architecture and class of instruction (times.def). What has a fixed latency is waited for
// by stall counts, the rest by barriers (control.h); of that the latency here is the usual one of an idle machine.
#ifndef WL_SASS_LATENCY_H
#define WL_SASS_LATENCY_H

#include "sass/sass.h"

typedef struct SassLatencies {
    const char *text;    // "Hopper"
    const char *source;  // who measured it
    u16 first_sm, last_sm;
    bool known;  // false: no one published it; the figures are bounds that hold for all since Volta
    u16 cycles[SASS_TIME_COUNT];
} SassLatencies;

// Never NULL.
const SassLatencies *sass_latencies(u32 sm);

#endif
