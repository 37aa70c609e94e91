// SPDX-License-Identifier: Apache-2.0
// Reads GPU models. A file is read line by line; `inherit` first loads the other model, whose values the lines below it
// replace. What a file gives twice, or gives wrong, is an error with its line.
#include "gpu/gpu.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "gpu/address_map.h"

#define MAX_DEPTH 8  // of inherit

typedef enum KeyKind { KEY_NUMBER, KEY_WORD, KEY_TEXT } KeyKind;

typedef struct KeyInfo {
    const char *text;
    const char *unit;  // of a number; the possible words
    size_t offset;
    u64 low, high;  // of a number; high: bytes for a text, its end included
    bool required;
    KeyKind kind;
} KeyInfo;

// The keys of gpu_keys.def, then those of timing_keys.def.
static const KeyInfo keys[] = {
#define GPU_KEY(field, text, unit, low, high, required, help) \
    {text, unit, offsetof(GpuModel, field), low, high, required, KEY_NUMBER},
#define GPU_WORD(field, text, words, help) {text, words, offsetof(GpuModel, field), 0, 0, false, KEY_WORD},
#define GPU_TEXT(field, text, size, help) {text, NULL, offsetof(GpuModel, field), 1, size, false, KEY_TEXT},
#include "gpu/gpu_keys.def"
#include "gpu/timing_keys.def"
#undef GPU_KEY
#undef GPU_WORD
#undef GPU_TEXT
};
static const KeyInfo name_key = {"name", NULL,    offsetof(GpuModel, name), 1, sizeof((GpuModel *)0)->name,
                                 true,   KEY_TEXT};
enum { TIMING_KEYS = WL_COUNT(keys) - GPU_TIMING_KEY_COUNT };  // where they begin

static const struct {
    const char *text;
    u64 factor;
} byte_units[] = {{"", 1},
                  {"B", 1},
                  {"bytes", 1},
                  {"kB", 1000},
                  {"MB", 1000000},
                  {"GB", 1000000000},
                  {"KiB", 1ull << 10},
                  {"MiB", 1ull << 20},
                  {"GiB", 1ull << 30}};

typedef struct Loader {
    const char *folder;      // of the models
    const char *own_folder;  // of the file asked for by path, looked into first; NULL = none
    GpuModel *model;
    Diag *diag;
    bool given[WL_COUNT(keys)];  // by this file or one it inherits
    u32 depth;
} Loader;

typedef struct Line {
    const char *path;
    u32 number;
} Line;

#define LINE_ERROR(loader, at, ...) diag_text((loader)->diag, DIAG_ERROR, (at)->path, (at)->number, 0, __VA_ARGS__)

static char *trim(char *text) {
    while (isspace((unsigned char)*text)) text++;
    char *end = text + strlen(text);
    while (end > text && isspace((unsigned char)end[-1])) end--;
    *end = 0;
    return text;
}

// The factor of a unit that the key accepts; 0 when it does not accept it.
static u64 unit_factor(const KeyInfo *key, const char *unit) {
    if (strcmp(key->unit, "bytes") == 0) {
        for (u32 i = 0; i < WL_COUNT(byte_units); i++)
            if (strcmp(unit, byte_units[i].text) == 0) return byte_units[i].factor;
        return 0;
    }
    if (strcmp(key->unit, "percent") == 0 && strcmp(unit, "%") == 0) return 1;
    return *unit == 0 || strcmp(unit, key->unit) == 0;
}

static Status read_number(Loader *loader, const KeyInfo *key, char *value, const Line *at) {
    char *unit = value;
    errno = 0;
    u64 number = strtoull(value, &unit, 10);
    if (!isdigit((unsigned char)*value) || errno) {
        LINE_ERROR(loader, at, "%s: '%s' is not a whole number", key->text, value);
        return STATUS_INVALID;
    }
    unit = trim(unit);
    u64 factor = unit_factor(key, unit);
    if (!factor) {
        const char *others = strcmp(key->unit, "bytes") == 0 ? ", kB, MB, GB, KiB, MiB or GiB" : "";
        LINE_ERROR(loader, at, "%s: unit '%s' does not fit, it is measured in %s%s", key->text, unit, key->unit,
                   others);
        return STATUS_INVALID;
    }
    if (number > UINT64_MAX / factor || number * factor < key->low || number * factor > key->high) {
        LINE_ERROR(loader, at, "%s: %s is out of range, %llu to %llu are possible", key->text, value,
                   (unsigned long long)key->low, (unsigned long long)key->high);
        return STATUS_INVALID;
    }
    memcpy((u8 *)loader->model + key->offset, &(u64){number * factor}, sizeof(u64));
    return STATUS_OK;
}

static Status read_word(Loader *loader, const KeyInfo *key, const char *value, const Line *at) {
    size_t length = strlen(value), word_length;
    u64 index = 0;
    for (const char *word = key->unit; *word; word += word_length + (word[word_length] == ' '), index++) {
        word_length = strcspn(word, " ");
        if (length != word_length || memcmp(word, value, length) != 0) continue;
        memcpy((u8 *)loader->model + key->offset, &index, sizeof index);
        return STATUS_OK;
    }
    LINE_ERROR(loader, at, "%s: '%s' is none of: %s", key->text, value, key->unit);
    return STATUS_INVALID;
}

static Status read_text(Loader *loader, const KeyInfo *key, const char *value, const Line *at) {
    if (!*value || strlen(value) >= key->high) {
        LINE_ERROR(loader, at, "%s: 1 to %llu characters are possible", key->text, (unsigned long long)key->high - 1);
        return STATUS_INVALID;
    }
    strcpy((char *)loader->model + key->offset, value);
    return STATUS_OK;
}

static Status read_value(Loader *loader, const KeyInfo *key, char *value, const Line *at) {
    switch (key->kind) {
    case KEY_NUMBER: return read_number(loader, key, value, at);
    case KEY_WORD: return read_word(loader, key, value, at);
    case KEY_TEXT: return read_text(loader, key, value, at);
    }
    return STATUS_INVALID;
}

static Status load_file(Loader *loader, const char *id, const Line *from);

// What one file has given so far.
typedef struct Seen {
    bool keys[WL_COUNT(keys)], inherit;
} Seen;

static Status read_pair(Loader *loader, char *name, char *value, Seen *seen, const Line *at) {
    if (strcmp(name, "inherit") == 0) {
        if (!seen->inherit) return seen->inherit = true, load_file(loader, value, at);
        LINE_ERROR(loader, at, "inherit is given twice");
        return STATUS_INVALID;
    }
    if (strcmp(name, "name") == 0) return read_text(loader, &name_key, value, at);
    for (u32 i = 0; i < WL_COUNT(keys); i++) {
        if (strcmp(name, keys[i].text) != 0) continue;
        if (seen->keys[i]) {
            LINE_ERROR(loader, at, "%s is given twice", name);
            return STATUS_INVALID;
        }
        seen->keys[i] = loader->given[i] = true;
        return read_value(loader, &keys[i], value, at);
    }
    LINE_ERROR(loader, at, "unknown key '%s'", name);
    return STATUS_INVALID;
}

static Status read_lines(Loader *loader, const char *path, char *text) {
    Seen seen = {0};
    Status result = STATUS_OK;
    Line at = {.path = path};
    for (char *next = text; next;) {
        char *line = next;
        next = strchr(line, '\n');
        if (next) *next++ = 0;
        at.number++;
        line[strcspn(line, "#")] = 0;
        line = trim(line);
        if (!*line) continue;
        char *equals = strchr(line, '=');
        Status status = STATUS_INVALID;
        if (equals) {
            *equals = 0;
            status = read_pair(loader, trim(line), trim(equals + 1), &seen, &at);
        } else {
            LINE_ERROR(loader, &at, "expected `key = value`");
        }
        if (status != STATUS_OK) result = status;
    }
    return result;
}

static bool is_path(const char *id) {
    size_t length = strlen(id);
    return strchr(id, '/') || (length > 4 && strcmp(id + length - 4, ".gpu") == 0);
}

// Reads `folder`/`id`.gpu; `path` becomes its name.
static Status read_from(const char *folder, const char *id, char *path, size_t size, FileData *file) {
    int length = snprintf(path, size, "%s/%s.gpu", folder ? folder : ".", id);
    return length > 0 && (size_t)length < size ? file_read(path, file, NULL) : STATUS_LIMIT;
}

static Status read_model(const Loader *loader, const char *id, bool by_path, char *path, size_t size, FileData *file) {
    if (by_path) {
        snprintf(path, size, "%s", id);
        return file_read(path, file, NULL);
    }
    if (loader->own_folder && read_from(loader->own_folder, id, path, size, file) == STATUS_OK) return STATUS_OK;
    return read_from(loader->folder, id, path, size, file);
}

// `from` is the line that inherits it, NULL for the model asked for.
static Status load_file(Loader *loader, const char *id, const Line *from) {
    char path[4096];
    FileData file;
    if (loader->depth == MAX_DEPTH) {
        LINE_ERROR(loader, from, "inherit: more than %d models deep, is this a circle?", MAX_DEPTH);
        return STATUS_INVALID;
    }
    Status status = read_model(loader, id, is_path(id) && !from, path, sizeof path, &file);
    if (status != STATUS_OK) {
        diag_text(loader->diag, DIAG_ERROR, from ? from->path : NULL, from ? from->number : 0, 0,
                  "cannot read GPU model %s: %s", path, status_text(status));
        return status;
    }
    char *text = mem_copy_str((Str){(const char *)file.data, file.size});
    file_release(&file);
    if (!text) return STATUS_NO_MEMORY;
    loader->depth++;
    status = read_lines(loader, path, text);
    loader->depth--;
    mem_free(text);
    return status;
}

static Status check_complete(const Loader *loader, const char *id) {
    Status result = STATUS_OK;
    for (u32 i = 0; i < WL_COUNT(keys); i++) {
        if (!keys[i].required || loader->given[i]) continue;
        diag_text(loader->diag, DIAG_ERROR, id, 0, 0, "%s is missing", keys[i].text);
        result = STATUS_INVALID;
    }
    const GpuModel *m = loader->model;
    if (!m->name[0]) {
        diag_text(loader->diag, DIAG_ERROR, id, 0, 0, "name is missing");
        result = STATUS_INVALID;
    }
    return result;
}

// Of two; also 0.
static bool is_power(u64 value) { return !(value & (value - 1)); }

enum { REPLACES_RRIP = 2 };  // the third word of l1_replacement

static Status check_relations(const GpuModel *m, const char *id, Diag *diag) {
    Status result = STATUS_OK;
#define GPU_RELATION(holds, text)                          \
    if (!(holds)) {                                        \
        diag_text(diag, DIAG_ERROR, id, 0, 0, "%s", text); \
        result = STATUS_INVALID;                           \
    }
#include "gpu/relations.def"
#undef GPU_RELATION
    return result;
}

Status gpu_load(const char *folder, const char *id, GpuModel *model, Diag *diag) {
    char own_folder[4096] = ".";
    const char *base = strrchr(id, '/');
    *model = (GpuModel){0};
    if (base) snprintf(own_folder, sizeof own_folder, "%.*s", (int)(base - id), id);
    base = base ? base + 1 : id;
    size_t length = strlen(base);
    if (length > 4 && strcmp(base + length - 4, ".gpu") == 0) length -= 4;
    snprintf(model->id, sizeof model->id, "%.*s", (int)length, base);
    Loader loader = {.folder = folder, .own_folder = is_path(id) ? own_folder : NULL, .model = model, .diag = diag};
    TRY(load_file(&loader, id, NULL));
    memcpy(model->timing_given, loader.given + TIMING_KEYS, sizeof model->timing_given);
    TRY(check_complete(&loader, id));
    TRY(check_relations(model, id, diag));
    AddressMap map;
    return model->timing_given[GPU_TIMING_address_map] ? address_map_parse(model, id, &map, diag) : STATUS_OK;
}

bool gpu_has_timing(const GpuModel *model, const char **missing) {
    for (u32 i = 0; i < GPU_TIMING_KEY_COUNT; i++) {
        if (model->timing_given[i]) continue;
        *missing = keys[TIMING_KEYS + i].text;
        return false;
    }
    return true;
}

Status gpu_need_timing(const GpuModel *model, const char *id, Diag *diag) {
    const char *missing;
    if (gpu_has_timing(model, &missing)) return STATUS_OK;
    diag_text(
        diag, DIAG_ERROR, id, 0, 0,
        "%s is missing: time needs all keys of the timing model (docs/gpu-keys.md); give it, `inherit` a model that "
        "has it, or go without --timing",
        missing);
    return STATUS_INVALID;
}

static int compare_texts(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

Status gpu_list(const char *folder, char ***ids, u32 *count, Diag *diag) {
    Vec(char *) names = {0};
    *ids = NULL;
    *count = 0;
    DIR *dir = opendir(folder);
    if (!dir) {
        diag_text(diag, DIAG_ERROR, folder, 0, 0, "cannot list GPU models: %s", strerror(errno));
        return STATUS_NOT_FOUND;
    }
    Status status = STATUS_OK;
    for (struct dirent *entry; status == STATUS_OK && (entry = readdir(dir));) {
        size_t length = strlen(entry->d_name);
        if (length <= 4 || strcmp(entry->d_name + length - 4, ".gpu") != 0) continue;
        char *name = mem_copy_str((Str){entry->d_name, length - 4});
        status = name ? vec_push(&names, name) : STATUS_NO_MEMORY;
        if (status != STATUS_OK) mem_free(name);
    }
    closedir(dir);
    if (status != STATUS_OK) {
        gpu_list_free(names.data, names.len);
        return status;
    }
    if (names.len) qsort(names.data, names.len, sizeof *names.data, compare_texts);
    *ids = names.data;
    *count = names.len;
    return STATUS_OK;
}

void gpu_list_free(char **ids, u32 count) {
    for (u32 i = 0; i < count; i++) mem_free(ids[i]);
    mem_free(ids);
}

Status gpu_find(const char *folder, const char *device, GpuModel *model, Diag *diag) {
    char **ids;
    u32 count;
    TRY(gpu_list(folder, &ids, &count, diag));
    Status status = STATUS_NOT_FOUND;
    for (u32 i = 0; i < count && status == STATUS_NOT_FOUND; i++)
        if (gpu_load(folder, ids[i], model, NULL) == STATUS_OK && strcmp(model->name, device) == 0) status = STATUS_OK;
    gpu_list_free(ids, count);
    return status;
}
