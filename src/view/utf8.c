// SPDX-License-Identifier: Apache-2.0
#include "view/utf8.h"

#include <string.h>

static bool is_continuation(u8 byte) { return (byte & 0xc0) == 0x80; }

// Bytes of the character at `text`, 0 when it is none (RFC 3629: no overlong forms, no surrogates, at most U+10FFFF).
static u32 character_size(const u8 *text, size_t left) {
    u32 size = text[0] < 0x80   ? 1
               : text[0] < 0xc2 ? 0
               : text[0] < 0xe0 ? 2
               : text[0] < 0xf0 ? 3
               : text[0] < 0xf5 ? 4
                                : 0;
    if (size > left) return 0;
    for (u32 i = 1; i < size; i++) {
        if (!is_continuation(text[i])) return 0;
    }
    bool wrong = size > 2 && ((text[0] == 0xe0 && text[1] < 0xa0) || (text[0] == 0xed && text[1] > 0x9f) ||
                              (text[0] == 0xf0 && text[1] < 0x90) || (text[0] == 0xf4 && text[1] > 0x8f));
    return wrong ? 0 : size;
}

// C0, DEL and C1: terminals act on all of them.
static bool is_control(const u8 *text, u32 size) {
    return (size == 1 && (text[0] < 0x20 || text[0] == 0x7f)) || (size == 2 && text[0] == 0xc2 && text[1] < 0xa0);
}

const char *utf8_clean(Arena *arena, Str text, bool one_line) {
    if (text.len > SIZE_MAX / 4) return NULL;
    char *clean = arena_alloc(arena, text.len * 3 + 1, 1), *out = clean;
    if (!clean) return NULL;
    const u8 *data = (const u8 *)text.data;
    for (size_t at = 0; at < text.len;) {
        u32 size = character_size(data + at, text.len - at);
        if (size == 0) {
            out = stpcpy(out, "\xef\xbf\xbd");
            at++;
        } else if (one_line && is_control(data + at, size)) {
            *out++ = data[at] == '\t' ? ' ' : '?';
            at += size;
        } else {
            memcpy(out, data + at, size);
            out += size;
            at += size;
        }
    }
    *out = '\0';
    return clean;
}

u32 utf8_width(const char *text) {
    u32 width = 0;
    for (; *text; text++) width += !is_continuation((u8)*text);
    return width;
}

size_t utf8_prefix(const char *text, u32 count) {
    size_t at = 0;
    while (text[at]) {
        if (!is_continuation((u8)text[at]) && count-- == 0) break;
        at++;
    }
    return at;
}
