// SPDX-License-Identifier: Apache-2.0
// Texts as a POSIX shell takes them, to be copied from a message or a report.
#ifndef WL_BASE_SHELL_H
#define WL_BASE_SHELL_H

#include "base/arena.h"

// `text` as one word, in quotes where it needs them. NULL when memory is out.
const char *shell_word(Arena *arena, const char *text);

// The command line of this process; what does not fit ends in " ...". Empty when it cannot be had.
void shell_command(char *text, size_t size);

#endif
