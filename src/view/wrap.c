// SPDX-License-Identifier: Apache-2.0
#include "view/wrap.h"

#include <string.h>

enum { LEAST = 20 };  // columns for text, however deep it is indented

// Of the word at `text`. "14 %" is one.
static size_t word_size(const char *text) {
    size_t size = strcspn(text, " ");
    while (text[size] && text[size + 1] == '%') size += 1 + strcspn(text + size + 1, " ");
    return size;
}

void wrap_text(Output *out, const char *text, u32 indent, u32 width) {
    u32 room = !width ? UINT32_MAX : width >= indent + LEAST ? width - indent : LEAST, used = 0;
    while (*text) {
        size_t size = word_size(text);
        u32 columns = 0;
        for (size_t i = 0; i < size; i++) columns += ((u8)text[i] & 0xC0) != 0x80;  // as utf8_width counts
        if (used && used + 1 + columns > room) {
            output_text(out, "\n");
            output_repeat(out, ' ', indent);
            used = 0;
        }
        if (used) output_text(out, " ");
        output_bytes(out, text, size);
        used += columns + (used > 0);
        text += size + strspn(text + size, " ");
    }
    output_text(out, "\n");
}
