// SPDX-License-Identifier: Apache-2.0
#include "base/shell.h"

#include <stdio.h>
#include <string.h>

static bool is_plain(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c & 0x80) ||
           (c && strchr("_./-+:=,@%", c));
}

const char *shell_word(Arena *arena, const char *text) {
    size_t length = strlen(text), plain = 0, quotes = 0;
    for (size_t i = 0; i < length; i++) {
        plain += is_plain(text[i]);
        quotes += text[i] == '\'';
    }
    if (length && plain == length) return text;
    char *word = arena_alloc(arena, length + 3 * quotes + 3, 1), *to = word;
    if (!word) return NULL;
    *to++ = '\'';
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '\'')
            to = stpcpy(to, "'\\''");
        else
            *to++ = text[i];
    }
    memcpy(to, "'", 2);
    return word;
}

// One argument; false: it does not fit, and a mark that some are missing is there instead.
static bool add_word(char *text, size_t size, size_t *used, const char *argument) {
    static const char more[] = " ...";
    Arena arena = {0};
    const char *word = shell_word(&arena, argument);
    size_t length = word ? strlen(word) : size, gap = *used > 0;
    bool fits = *used + gap + length + sizeof more <= size;
    if (fits && gap) text[(*used)++] = ' ';
    memcpy(text + *used, fits ? word : more, fits ? length + 1 : sizeof more);
    *used += fits ? length : sizeof more - 1;
    arena_free(&arena);
    return fits;
}

void shell_command(char *text, size_t size) {
    enum { MOST = 4096 };
    char argument[MOST];
    size_t used = 0, length = 0;
    FILE *file = fopen("/proc/self/cmdline", "re");
    text[0] = 0;
    for (int c; file && size > 8 && (c = getc_unlocked(file)) != EOF;) {
        if (c && length + 1 < sizeof argument) argument[length++] = (char)c;
        if (c) continue;
        argument[length] = 0;
        length = 0;
        if (!add_word(text, size, &used, argument)) break;
    }
    if (file) fclose(file);
}
