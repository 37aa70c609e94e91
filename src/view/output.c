// SPDX-License-Identifier: Apache-2.0
#include "view/output.h"

#include <stdarg.h>
#include <string.h>

#include "base/mem.h"

static Status write_file(void *context, const char *data, size_t size) {
    return fwrite(data, 1, size, context) == size ? STATUS_OK : STATUS_IO;
}

Output output_file(FILE *file) { return (Output){.write = write_file, .context = file}; }

void output_bytes(Output *out, const char *data, size_t size) {
    if (out->status == STATUS_OK && size) out->status = out->write(out->context, data, size);
}

void output_text(Output *out, const char *text) { output_bytes(out, text, strlen(text)); }

void output_repeat(Output *out, char c, u32 count) {
    char block[64];
    memset(block, c, sizeof block);
    for (; count > sizeof block; count -= sizeof block) output_bytes(out, block, sizeof block);
    output_bytes(out, block, count);
}

static void print_long(Output *out, size_t size, const char *format, va_list args) {
    char *text = mem_alloc(size + 1);
    if (!text) {
        out->status = STATUS_NO_MEMORY;
        return;
    }
    vsnprintf(text, size + 1, format, args);
    output_bytes(out, text, size);
    mem_free(text);
}

void output_printf(Output *out, const char *format, ...) {
    char text[512];
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int size = vsnprintf(text, sizeof text, format, args);
    if (size >= (int)sizeof text) {
        print_long(out, (size_t)size, format, again);
    } else if (size > 0) {
        output_bytes(out, text, (size_t)size);
    }
    va_end(again);
    va_end(args);
}
