// SPDX-License-Identifier: Apache-2.0
#include "view/sparkline.h"

#include <math.h>
#include <string.h>

static const char *const blocks[] = {"\u2581", "\u2582", "\u2583", "\u2584", "\u2585", "\u2586", "\u2587", "\u2588"};
static const char *const ascii[] = {"_", ".", ":", "-", "=", "+", "*", "#"};

static f64 mean(const f64 *values, u32 from, u32 to) {
    f64 sum = 0;
    u32 count = 0;
    for (u32 i = from; i < to; i++) {
        if (isnan(values[i])) continue;
        sum += values[i];
        count++;
    }
    return count ? sum / count : (f64)NAN;
}

static const char *level(f64 value, f64 top, bool unicode) {
    if (isnan(value)) return " ";
    u32 count = WL_COUNT(blocks);
    f64 at = top > 0 ? value / top * count : 0;
    u32 step = at >= count ? count - 1 : at > 0 ? (u32)at : 0;
    return unicode ? blocks[step] : ascii[step];
}

const char *sparkline(Arena *arena, const f64 *values, u32 count, f64 top, u32 width, bool unicode) {
    u32 shown = count < width ? count : width;
    char *text = arena_alloc(arena, (size_t)shown * 4 + 1, 1), *to = text;
    if (!text) return NULL;
    *to = 0;
    for (u32 i = 0; i < shown; i++) {
        u32 from = (u32)((u64)i * count / shown), end = (u32)((u64)(i + 1) * count / shown);
        to = stpcpy(to, level(mean(values, from, end), top, unicode));
    }
    return text;
}
