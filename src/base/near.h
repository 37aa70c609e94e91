// SPDX-License-Identifier: Apache-2.0
// For messages: which name was probably meant.
#ifndef WL_BASE_NEAR_H
#define WL_BASE_NEAR_H

#include "base/types.h"

// Begin with {.word = what was given}, near_try() each name, then near_result(): the name that was probably meant, or
// NULL. At most a third of its letters are wrong, or else the word, of three letters or more, is a part of it.
typedef struct Near {
    const char *word;
    const char *nearest, *part;  // of the names tried
    u32 wrong;                   // letters of `nearest`
} Near;

void near_try(Near *near, const char *name);
const char *near_result(const Near *near);

#endif
