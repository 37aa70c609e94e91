// SPDX-License-Identifier: Apache-2.0
// Running text in a column of a terminal.
#ifndef WL_VIEW_WRAP_H
#define WL_VIEW_WRAP_H

#include "view/output.h"

// Writes one-line `text` and ends the line. The cursor is at column `indent`; lines that follow are indented by as
// much. Breaks at spaces, but not before "%", so that no line is longer than `width` (0 = no limit); a longer word
// stands on a line of its own.
void wrap_text(Output *out, const char *text, u32 indent, u32 width);

#endif
