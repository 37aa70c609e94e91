// SPDX-License-Identifier: Apache-2.0
#include "view/source_text.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum { MAX_FILE = 64 << 20 };

static bool is_readable_text(const char *path) {
    struct stat info;
    return path[0] && strcmp(path, "-") != 0 && stat(path, &info) == 0 && S_ISREG(info.st_mode) &&
           info.st_size <= MAX_FILE;
}

// "/build/app/src/k.cu", then "build/app/src/k.cu", "app/src/k.cu", "src/k.cu", "k.cu".
const char *source_find(const char *path) {
    if (is_readable_text(path)) return path;
    for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
        if (is_readable_text(slash + 1)) return slash + 1;
    }
    return NULL;
}

static void find_lines(SourceText *source) {
    const char *data = source->text.data;
    for (size_t at = 0; at < source->text.len;) {
        if (vec_push(&source->starts, (u32)at) != STATUS_OK) return;
        const char *end = memchr(data + at, '\n', source->text.len - at);
        at = end ? (size_t)(end - data) + 1 : source->text.len;
    }
}

// The entry of that name; `fresh` when it was just made.
static SourceText *find_entry(SourceTexts *sources, const char *name, bool *fresh) {
    u32 id;
    *fresh = false;
    if (vec_reserve(&sources->texts, 1) != STATUS_OK) return NULL;
    if (intern_add(&sources->names, (Str){name, strlen(name)}, &id) != STATUS_OK) return NULL;
    *fresh = id == sources->texts.len;
    if (*fresh) sources->texts.data[sources->texts.len++] = (SourceText){0};
    return &sources->texts.data[id];
}

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

static Str line_of(const SourceText *source, u32 line) {
    if (!source || line == 0 || line > source->starts.len) return (Str){"", 0};
    size_t start = source->starts.data[line - 1];
    size_t end = line < source->starts.len ? source->starts.data[line] : source->text.len;
    while (end > start && is_blank(source->text.data[end - 1])) end--;
    while (end > start && is_blank(source->text.data[start])) start++;
    return (Str){source->text.data + start, end - start};
}

i64 source_run_at(const char *created) {
    struct tm utc = {0};
    const char *end = strptime(created, "%Y-%m-%dT%H:%M:%SZ", &utc);
    return end && !*end ? (i64)timegm(&utc) : 0;
}

static void note_changed(SourceTexts *sources, const char *path, const char *found) {
    struct stat info;
    if (!sources->run_at || sources->changed || stat(found, &info) != 0) return;
    if ((i64)info.st_mtime > sources->run_at) sources->changed = path;
}

Str source_line(SourceTexts *sources, const char *path, u32 line) {
    char name[4200];
    bool fresh;
    if (snprintf(name, sizeof name, "file %s", path) >= (int)sizeof name) return (Str){"", 0};
    SourceText *source = find_entry(sources, name, &fresh);
    const char *found = fresh ? source_find(path) : NULL;
    if (found && file_read(found, &source->file, NULL) == STATUS_OK) {
        source->text = (Str){(const char *)source->file.data, source->file.size};
        find_lines(source);
        sources->any = true;
        note_changed(sources, path, found);
    } else if (fresh && *path && !sources->missing) {
        sources->missing = path;
    }
    return line_of(source, line);
}

const char *source_missing(const SourceTexts *sources) { return sources->any ? NULL : sources->missing; }

Str source_module_line(SourceTexts *sources, Profile *profile, u32 module, u32 line) {
    char name[32];
    bool fresh;
    snprintf(name, sizeof name, "module %u", module);
    SourceText *source = find_entry(sources, name, &fresh);
    if (fresh && profile_module_text(profile, module, &source->text, NULL) == STATUS_OK) find_lines(source);
    return line_of(source, line);
}

void source_free(SourceTexts *sources) {
    for (u32 i = 0; i < sources->texts.len; i++) {
        file_release(&sources->texts.data[i].file);
        vec_free(&sources->texts.data[i].starts);
    }
    vec_free(&sources->texts);
    intern_free(&sources->names);
}
