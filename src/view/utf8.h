// SPDX-License-Identifier: Apache-2.0
// Texts from profiles may hold any byte; what we write is valid UTF-8.
#ifndef WL_VIEW_UTF8_H
#define WL_VIEW_UTF8_H

#include "base/arena.h"

// A valid copy in the arena: bytes that are not UTF-8 become U+FFFD. With `one_line`, control characters become spaces
// (tab) or "?". NULL when memory is out.
const char *utf8_clean(Arena *arena, Str text, bool one_line);
u32 utf8_width(const char *text);                 // characters, each taken as one column
size_t utf8_prefix(const char *text, u32 count);  // bytes of the first `count` characters

#endif
