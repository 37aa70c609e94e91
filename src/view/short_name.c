// SPDX-License-Identifier: Apache-2.0
#include "view/short_name.h"

#include <string.h>

#include "view/utf8.h"

enum { MOST_PARTS = 16, LEAST_ARGUMENTS = 20, LEAST_NAME = 12, MOST_WORD = 24 };

// "Kernel<int>" of "cub::Kernel<int>".
typedef struct Part {
    const char *text;
    size_t length;
    size_t plain;  // without its template arguments
} Part;

static size_t depth_after(size_t depth, char c) {
    if (c == '<' || c == '(' || c == '{') return depth + 1;
    return depth && (c == '>' || c == ')' || c == '}') ? depth - 1 : depth;
}

// Between "::" that are in no brackets; 0 when there are too many parts.
static u32 split(const char *name, Part *parts) {
    u32 count = 1;
    size_t depth = 0;
    parts[0] = (Part){.text = name};
    for (const char *at = name; *at; at++) {
        Part *part = &parts[count - 1];
        if (depth == 0 && at[0] == ':' && at[1] == ':') {
            if (count == MOST_PARTS) return 0;
            parts[count++] = (Part){.text = at + 2};
            at++;
            continue;
        }
        if (depth == 0 && *at == '<' && !part->plain) part->plain = part->length;
        depth = depth_after(depth, *at);
        part->length++;
    }
    for (u32 i = 0; i < count; i++)
        if (!parts[i].plain) parts[i].plain = parts[i].length;
    return count;
}

// Part `first` and those behind it, with the outermost part before them if `outer`; no template arguments.
static const char *join(Arena *arena, const Part *parts, u32 count, u32 first, bool outer) {
    const char *text = "";
    for (u32 i = 0; i < count && text; i++) {
        if (i < first && !(i == 0 && outer)) continue;
        text = arena_printf(arena, "%s%s%.*s%s", text, *text ? "::" : "", (int)parts[i].plain, parts[i].text,
                            parts[i].plain < parts[i].length ? "<..>" : "");
        if (i == 0 && first > 1 && outer && text) text = arena_printf(arena, "%s::..", text);
    }
    return text;
}

// In the middle: names often begin alike, or end in "Kernel".
static const char *cut(Arena *arena, const char *name, u32 most) {
    static const char arguments[] = "<..>";
    size_t length = strlen(name), end = sizeof arguments - 1;
    const char *rest = length > end && !strcmp(name + length - end, arguments) ? arguments : "";
    u32 width = utf8_width(name) - (u32)strlen(rest), room = most - (u32)strlen(rest), tail = room / 2;
    size_t from = utf8_prefix(name, width - tail), to = length - strlen(rest);
    return arena_printf(arena, "%.*s..%.*s%s", (int)utf8_prefix(name, room - 2 - tail), name, (int)(to - from),
                        name + from, rest);
}

// "Kernel<..>" with as much of its template arguments as there is room for: they may be all that tells two kernels
// apart.
static const char *fill(Arena *arena, const char *text, const Part *last, u32 most) {
    u32 width = utf8_width(text);
    if (last->plain == last->length || width + LEAST_ARGUMENTS > most) return text;
    return arena_printf(arena, "%.*s%.*s..>", (int)(strlen(text) - 3), text,
                        (int)utf8_prefix(last->text + last->plain + 1, most - width), last->text + last->plain + 1);
}

const char *short_name(Arena *arena, const char *name, u32 most) {
    Part parts[MOST_PARTS];
    if (utf8_width(name) <= most) return name;
    u32 count = split(name, parts);
    const char *text = name;
    for (u32 first = 1; count && (first < count || first == 1); first++) {
        text = join(arena, parts, count, first, true);
        if (!text) return NULL;
        if (utf8_width(text) <= most) return fill(arena, text, &parts[count - 1], most);
    }
    if (count > 1) text = join(arena, parts, count, count - 1, false);
    if (!text) return NULL;
    return utf8_width(text) <= most ? fill(arena, text, &parts[count - 1], most) : cut(arena, text, most);
}

static bool is_word_char(char c) {
    return c == '_' || c == '#' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

const char *short_name_apart(Arena *arena, const char *name, const char *other, u32 most) {
    size_t at = 0, size = 0;
    while (name[at] && name[at] == other[at]) at++;
    const char *arguments = strchr(name, '<');
    if (!arguments || name + at <= arguments) return short_name(arena, name, most);
    while (is_word_char(name[at - 1])) at--;
    while (size < MOST_WORD && is_word_char(name[at + size])) size++;
    if (!size || most < LEAST_NAME + 2 + size) return short_name(arena, name, most);
    const char *text = short_name(arena, name, most - 2 - (u32)size), *end = text ? strrchr(text, '<') : NULL;
    if (!text || !end || strcmp(end, "<..>")) return text;
    return arena_printf(arena, "%.*s<..%.*s..>", (int)(end - text), text, (int)size, name + at);
}
