// SPDX-License-Identifier: Apache-2.0
#include "record/edit.h"

#include <string.h>

#include "base/near.h"

static const char *const names[] = {
#define EDIT(id, name, help) name,
#include "record/edits.def"
#undef EDIT
};

const char *edit_name(EditKind kind) { return (u32)kind < EDIT_KIND_COUNT ? names[kind] : ""; }

static Str take_line(Str *text) {
    const char *end = text->len ? memchr(text->data, '\n', text->len) : NULL;
    Str line = {text->data, end ? (size_t)(end - text->data) : text->len};
    size_t used = end ? line.len + 1 : line.len;
    *text = (Str){text->data + used, text->len - used};
    return line;
}

static Str take_word(Str *line) {
    while (line->len && *line->data == ' ') line->data++, line->len--;
    const char *end = line->len ? memchr(line->data, ' ', line->len) : NULL;
    Str word = {line->data, end ? (size_t)(end - line->data) : line->len};
    *line = (Str){word.data + word.len, line->len - word.len};
    return word;
}

static bool read_number(Str word, u32 most, u32 *number) {
    u64 value = 0;
    for (size_t i = 0; i < word.len; i++) {
        if (word.data[i] < '0' || word.data[i] > '9') return false;
        value = value * 10 + (u64)(word.data[i] - '0');
        if (value > most) return false;
    }
    *number = (u32)value;
    return word.len > 0;
}

static bool read_kind(Str word, u8 *kind) {
    for (u32 i = 0; i < EDIT_KIND_COUNT; i++)
        if (strlen(names[i]) == word.len && memcmp(names[i], word.data, word.len) == 0) return *kind = (u8)i, true;
    return false;
}

static Status unknown_kind(Str word, const char *name, u32 line, Diag *diag) {
    char text[64];
    size_t length = word.len < sizeof text - 1 ? word.len : sizeof text - 1;
    memcpy(text, word.data, length);
    text[length] = 0;
    Near near = {.word = text};
    for (u32 i = 0; i < EDIT_KIND_COUNT; i++) near_try(&near, names[i]);
    const char *meant = near_result(&near);
    diag_text(diag, DIAG_ERROR, name, line, 0, "no edit is called `%s`%s%s%s docs/advice.md names them all", text,
              meant ? "; did you mean `" : ";", meant ? meant : "", meant ? "`?" : "");
    return STATUS_INVALID;
}

static Status read_edit(Str words, const char *name, u32 line, Edit *edit, Diag *diag) {
    u32 percent = 0;
    *edit = (Edit){0};
    Str kind = take_word(&words);
    if (!read_kind(kind, &edit->kind)) return unknown_kind(kind, name, line, diag);
    bool good = read_number(take_word(&words), 100, &percent) && percent;
    good = good && read_number(take_word(&words), UINT32_MAX - 1, &edit->pc);
    edit->percent = (u8)percent;
    edit->function = take_word(&words);
    edit->kernel = take_word(&words);
    if (good && edit->kernel.len && !take_word(&words).len) return STATUS_OK;
    diag_text(diag, DIAG_ERROR, name, line, 0, "an edit is EDIT PERCENT PC FUNCTION KERNEL: `%s 100 12 f k`",
              names[edit->kind]);
    return STATUS_INVALID;
}

Status edit_next(Str *text, const char *name, u32 *line, Edit *edit, bool *more, Diag *diag) {
    *more = false;
    while (text->len) {
        Str words = take_line(text), look = words;
        ++*line;
        Str first = take_word(&look);
        if (!first.len || *first.data == '#') continue;
        *more = true;
        return read_edit(words, name, *line, edit, diag);
    }
    return STATUS_OK;
}

Status edit_check(Str text, const char *name, Diag *diag) {
    u32 line = 0;
    for (bool more = true; more;) {
        Edit edit;
        TRY(edit_next(&text, name, &line, &edit, &more, diag));
    }
    return STATUS_OK;
}
