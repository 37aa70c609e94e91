// SPDX-License-Identifier: Apache-2.0
#include "sass/latency.h"

static const SassLatencies tables[] = {
#define SASS_LATENCIES(first, last, text, source, ...) {text, source, first, last, true, {__VA_ARGS__}},
#include "sass/latencies.def"
#undef SASS_LATENCIES
};

// The most of the rows above.
static const SassLatencies bounds = {"unknown architecture",
                                     "bounds of Volta to Hopper",
                                     0,
                                     UINT16_MAX,
                                     false,
                                     {6, 6, 6, 8, 64, 13, 13, 40, 40, 40, 40, 60, 300, 60, 120}};

const SassLatencies *sass_latencies(u32 sm) {
    for (u32 i = 0; i < WL_COUNT(tables); i++)
        if (sm >= tables[i].first_sm && sm <= tables[i].last_sm) return &tables[i];
    return &bounds;
}
