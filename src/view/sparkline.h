// SPDX-License-Identifier: Apache-2.0
// A curve in one line of text.
#ifndef WL_VIEW_SPARKLINE_H
#define WL_VIEW_SPARKLINE_H

#include "base/arena.h"

// `width` characters at most for `count` values from 0 (empty or "_") to `top`; values that are not numbers leave a
// space. More values than characters: each shows the mean of its share. Without `unicode`, ASCII. NULL: memory was out.
const char *sparkline(Arena *arena, const f64 *values, u32 count, f64 top, u32 width, bool unicode);

#endif
