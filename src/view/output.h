// SPDX-License-Identifier: Apache-2.0
// Where a report goes: a callback, with a sticky status so that writers need not look at every line.
#ifndef WL_VIEW_OUTPUT_H
#define WL_VIEW_OUTPUT_H

#include <stdio.h>

#include "base/status.h"

typedef struct Output {
    // Takes `size` bytes; anything but STATUS_OK ends the output.
    Status (*write)(void *context, const char *data, size_t size);
    void *context;
    Status status;  // of the first write that failed; what follows is not written
} Output;

Output output_file(FILE *file);  // not closed, not flushed
void output_bytes(Output *out, const char *data, size_t size);
void output_text(Output *out, const char *text);
void output_repeat(Output *out, char c, u32 count);
void output_printf(Output *out, const char *format, ...) WL_PRINTF(2, 3);

#endif
