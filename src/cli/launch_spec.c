// SPDX-License-Identifier: Apache-2.0
#include "cli/launch_spec.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"

#define MAX_BUFFER_BYTES (1ull << 34)

static const struct {
    const char *name;
    u32 size;
} types[] = {
#define X(id, name, c) {name, sizeof(c)},
    SPEC_TYPES(X)
#undef X
};

typedef struct Reader {
    LaunchSpec *spec;
    const char *path;
    Diag *diag;
    u32 line;
    char *rest;  // of the line
    SpecLaunch current;
    bool any;  // something of a launch was given since the last `launch`
    bool explicit_launch;
    Status status;
} Reader;

static void complain(Reader *r, const char *what, const char *about) {
    diag_text(r->diag, DIAG_ERROR, r->path, r->line, 0, what, about ? about : "");
    r->status = STATUS_INVALID;
}

static char *word(Reader *r) {
    char *save = r->rest + strspn(r->rest, " \t\r");
    if (!*save) return NULL;
    size_t n = strcspn(save, " \t\r");
    r->rest = save + n;
    if (*r->rest) *r->rest++ = 0;
    return save;
}

static bool fits(u8 type, const char *text, u64 bits) {
    u32 width = types[type].size * 8;
    if (width == 64) return true;
    bool negative = *text == '-', is_signed = types[type].name[0] == 's';
    i64 value = (i64)bits;
    if (negative) return is_signed && value >= -(1ll << (width - 1));
    return bits < 1ull << (is_signed ? width - 1 : width);
}

// A number as the bytes of a type; false when it is none, or too large. Integers keep all 64 bits.
static bool to_bits(u8 type, const char *text, u64 *bits) {
    char *end;
    *bits = 0;
    errno = 0;
    if (spec_is_float(type)) {
        *bits = spec_float_bits(type, strtod(text, &end));
        return end != text && *end == 0;
    }
    *bits = *text == '-' ? (u64)strtoll(text, &end, 0) : strtoull(text, &end, 0);
    return end != text && *end == 0 && errno == 0 && fits(type, text, *bits);
}

static bool number(Reader *r, const char *what, u64 *value) {
    char *text = word(r);
    if (text && to_bits(SPEC_U64, text, value)) return true;
    complain(r, "%s needs a whole number", what);
    return false;
}

static bool type_word(Reader *r, u8 *type) {
    char *name = word(r);
    for (u8 i = 0; name && i < SPEC_TYPE_COUNT; i++)
        if (!strcmp(name, types[i].name)) return *type = i, true;
    complain(r, "`%s` is no type; u8 s8 u16 s16 u32 s32 u64 s64 f16 f32 f64 are", name);
    return false;
}

static u32 find_buffer(const Reader *r, const char *name) {
    for (u32 i = 0; name && i < r->spec->buffers.len; i++)
        if (!strcmp(r->spec->buffers.data[i].name, name)) return i;
    return WL_NONE;
}

static char *keep(Reader *r, const char *text) { return arena_copy_str(&r->spec->arena, (Str){text, strlen(text)}); }

// --- initial contents ------------------------------------------------------------------------------------------
static void init_fill(Reader *r, SpecBuffer *b) {
    char *text = word(r);
    if (!text) return complain(r, "fill needs a value%s", "");
    if (!to_bits(b->type, text, &b->bits)) return complain(r, "`%s` is no value of the buffer's type", text);
    b->init = SPEC_FILL;
}

// The next word as a number; without one `value` stays as it is.
static bool optional_number(Reader *r, f64 *value) {
    char *end, *text = word(r);
    if (!text) return true;
    *value = strtod(text, &end);
    if (end != text && !*end) return true;
    complain(r, "`%s` is no number", text);
    return false;
}

static void init_iota(Reader *r, SpecBuffer *b) {
    b->init = SPEC_IOTA;
    b->add = 1;
    if (optional_number(r, &b->first)) optional_number(r, &b->add);
}

static void init_lcg(Reader *r, SpecBuffer *b) {
    u64 seed;
    if (!number(r, "lcg", &seed)) return;
    char *mod = word(r);
    b->init = SPEC_LCG;
    b->seed = (u32)seed;
    b->modulus = 1u << 24;
    if (mod && (!to_bits(SPEC_U64, mod, &b->modulus) || b->modulus == 0)) complain(r, "`%s` is no modulus", mod);
}

static bool make_content(Reader *r, SpecBuffer *b) {
    b->init = SPEC_CONTENT;
    b->content = mem_zero(b->count, types[b->type].size);
    if (!b->content) r->status = STATUS_NO_MEMORY;
    return b->content;
}

static void init_values(Reader *r, SpecBuffer *b) {
    u64 i = 0, bits;
    u32 size = types[b->type].size;
    if (!make_content(r, b)) return;
    for (char *text = word(r); text; text = word(r), i++) {
        if (!to_bits(b->type, text, &bits)) return complain(r, "`%s` is no value of the buffer's type", text);
        if (i < b->count) memcpy(b->content + i * size, &bits, size);
    }
    if (i != b->count) complain(r, "the buffer and its list of values differ in length%s", "");
}

// Path beside the launch file.
static bool read_beside(Reader *r, const char *name, FileData *file) {
    const char *slash = strrchr(r->path, '/');
    int folder = name[0] == '/' || !slash ? 0 : (int)(slash - r->path + 1);
    char *path = arena_printf(&r->spec->arena, "%.*s%s", folder, r->path, name);
    if (!path || file_read(path, file, r->diag) != STATUS_OK) return r->status = STATUS_INVALID, false;
    return true;
}

static void init_file(Reader *r, SpecBuffer *b) {
    char *name = word(r);
    FileData file;
    if (!name) return complain(r, "file needs a path%s", "");
    if (!read_beside(r, name, &file)) return;
    u64 bytes = b->count * types[b->type].size;
    if (file.size < bytes)
        complain(r, "%s is shorter than the buffer", name);
    else if (make_content(r, b))
        memcpy(b->content, file.data, bytes);
    file_release(&file);
}

// Never written, as after cudaMalloc: for the checker. The bytes are zero all the same.
static void init_uninit(Reader *r, SpecBuffer *b) { (void)r, b->written = 0; }

static void init_zero(Reader *r, SpecBuffer *b) { (void)r, (void)b; }

static const struct {
    const char *name;
    void (*init)(Reader *, SpecBuffer *);
} inits[] = {{"zero", init_zero}, {"fill", init_fill},     {"iota", init_iota},    {"lcg", init_lcg},
             {"file", init_file}, {"values", init_values}, {"uninit", init_uninit}};

// --- directives ------------------------------------------------------------------------------------------------
static void read_buffer(Reader *r) {
    SpecBuffer b = {0};
    char *name = word(r);
    if (!name) return complain(r, "buffer needs: NAME TYPE COUNT INIT%s", "");
    if (find_buffer(r, name) != WL_NONE) return complain(r, "there is a buffer `%s` already", name);
    if (!type_word(r, &b.type) || !number(r, "buffer", &b.count)) return;
    if (b.count == 0 || b.count > MAX_BUFFER_BYTES / types[b.type].size)
        return complain(r, "`%s`: the size is not possible", name);
    b.name = keep(r, name);
    b.written = b.count;
    if (vec_push(&r->spec->buffers, b) != STATUS_OK) {
        r->status = STATUS_NO_MEMORY;
        return;
    }
    char *kind = word(r);
    for (u32 i = 0; i < WL_COUNT(inits); i++)
        if (!strcmp(kind ? kind : "zero", inits[i].name))
            return inits[i].init(r, &r->spec->buffers.data[r->spec->buffers.len - 1]);
    complain(r, "`%s` is no way to fill a buffer; zero, fill, iota, lcg, file, values, uninit are", kind);
}

static void read_dims(Reader *r, u32 *dims, const char *what) {
    u64 value;
    for (u32 i = 0; i < 3; i++) {
        char *text = word(r);
        if (!text && i > 0) break;
        if (!text || !to_bits(SPEC_U64, text, &value) || value == 0 || value > 0x7fffffff)
            return complain(r, "%s needs 1 to 3 positive numbers", what);
        dims[i] = (u32)value;
    }
    r->any = true;
}

static void read_grid(Reader *r) { read_dims(r, r->current.grid, "grid"); }
static void read_block(Reader *r) { read_dims(r, r->current.block, "block"); }
static void read_cluster(Reader *r) {
    for (u32 i = 0; i < 3; i++) r->current.cluster[i] = 1;
    read_dims(r, r->current.cluster, "cluster");
}

static void read_kernel(Reader *r) {
    char *name = word(r);
    if (!name) return complain(r, "kernel needs a name%s", "");
    r->current.kernel = keep(r, name);
    r->current.line = r->line;
    r->any = true;
}

static void read_shared(Reader *r) {
    u64 value;
    if (!number(r, "shared", &value)) return;
    if (value > 0xffffffff) return complain(r, "shared: too large%s", "");
    r->current.shared = (u32)value;
}

static void read_cooperative(Reader *r) { r->current.cooperative = true; }

static void read_param(Reader *r) {
    SpecParam p = {.buffer = WL_NONE};
    char *first = word(r);
    if (!first) return complain(r, "param needs a buffer's name, or a type and a value%s", "");
    p.buffer = find_buffer(r, first);
    if (p.buffer == WL_NONE) {
        char *value = word(r);
        u8 type = 0;
        while (type < SPEC_TYPE_COUNT && strcmp(first, types[type].name)) type++;
        if (type == SPEC_TYPE_COUNT) return complain(r, "`%s` is neither a buffer nor a type", first);
        if (!value || !to_bits(type, value, &p.bits)) return complain(r, "`%s` is no value", value);
        p.type = type;
    }
    if (vec_push(&r->spec->params, p) != STATUS_OK) r->status = STATUS_NO_MEMORY;
    r->current.param_count++;
    r->any = true;
}

static void end_launch(Reader *r) {
    SpecLaunch *l = &r->current;
    if (!l->kernel) return complain(r, "a launch needs a kernel%s", "");
    if (!l->grid[0] || !l->block[0]) return complain(r, "the launch of `%s` needs grid and block", l->kernel);
    for (u32 i = 0; i < 3; i++) {
        if (!l->grid[i]) l->grid[i] = 1;
        if (!l->block[i]) l->block[i] = 1;
    }
    if (vec_push(&r->spec->launches, *l) != STATUS_OK) r->status = STATUS_NO_MEMORY;
    r->current = (SpecLaunch){.params = r->spec->params.len};
    r->any = false;
}

static void read_launch(Reader *r) {
    r->explicit_launch = true;
    end_launch(r);
}

// values V V ... [tol T]   file PATH [tol T]   or   INDEX VALUE [TOL]
static bool expect_list(Reader *r, SpecExpect *e, u8 type) {
    u64 *bits = ARENA_ARRAY(&r->spec->arena, u64, r->spec->buffers.data[e->buffer].count);
    if (!bits) return r->status = STATUS_NO_MEMORY, false;
    for (char *text = word(r); text; text = word(r)) {
        if (!strcmp(text, "tol")) {
            char *tol = word(r);
            e->tolerance = tol ? strtod(tol, NULL) : 0;
            break;
        }
        if (e->count >= r->spec->buffers.data[e->buffer].count)
            return complain(r, "more values than the buffer has%s", ""), false;
        if (!to_bits(type, text, &bits[e->count++]))
            return complain(r, "`%s` is no value of the buffer's type", text), false;
    }
    e->bits = bits;
    return true;
}

static bool expect_file(Reader *r, SpecExpect *e, u8 type) {
    char *name = word(r), *tol = word(r), *value = word(r);
    FileData file;
    SpecBuffer *b = &r->spec->buffers.data[e->buffer];
    if (!name) return complain(r, "file needs a path%s", ""), false;
    if (tol && !strcmp(tol, "tol") && value) e->tolerance = strtod(value, NULL);
    u64 *bits = ARENA_ARRAY(&r->spec->arena, u64, b->count);
    if (!bits || !read_beside(r, name, &file)) return false;
    e->count = file.size / types[type].size < b->count ? file.size / types[type].size : b->count;
    for (u64 i = 0; i < e->count; i++) memcpy(&bits[i], file.data + i * types[type].size, types[type].size);
    file_release(&file);
    e->bits = bits;
    return true;
}

static bool expect_one(Reader *r, SpecExpect *e, u8 type, char *index) {
    char *value = word(r), *tol = word(r);
    u64 *bits = ARENA_NEW(&r->spec->arena, u64);
    if (!bits) return r->status = STATUS_NO_MEMORY, false;
    if (!to_bits(SPEC_U64, index, &e->first) || e->first >= r->spec->buffers.data[e->buffer].count)
        return complain(r, "`%s` is no index of the buffer", index), false;
    if (!value || !to_bits(type, value, bits))
        return complain(r, "`%s` is no value of the buffer's type", value), false;
    if (tol) e->tolerance = strtod(tol, NULL);
    e->count = 1;
    e->bits = bits;
    return true;
}

static void read_expect(Reader *r) {
    char *name = word(r), *kind = word(r);
    SpecExpect e = {.line = r->line, .buffer = find_buffer(r, name)};
    if (e.buffer == WL_NONE) return complain(r, "there is no buffer `%s`", name);
    if (!kind) return complain(r, "expect needs: NAME INDEX VALUE, NAME values ..., or NAME file PATH%s", "");
    u8 type = r->spec->buffers.data[e.buffer].type;
    bool good = !strcmp(kind, "values") ? expect_list(r, &e, type)
                : !strcmp(kind, "file") ? expect_file(r, &e, type)
                                        : expect_one(r, &e, type, kind);
    if (good && vec_push(&r->spec->expects, e) != STATUS_OK) r->status = STATUS_NO_MEMORY;
}

static const struct {
    const char *name;
    void (*read)(Reader *);
} directives[] = {{"kernel", read_kernel},          {"grid", read_grid},     {"block", read_block},
                  {"shared", read_shared},          {"buffer", read_buffer}, {"param", read_param},
                  {"expect", read_expect},          {"launch", read_launch}, {"cluster", read_cluster},
                  {"cooperative", read_cooperative}};

static void read_line(Reader *r) {
    char *hash = strchr(r->rest, '#');
    if (hash) *hash = 0;
    char *name = word(r);
    if (!name) return;
    for (u32 i = 0; i < WL_COUNT(directives); i++) {
        if (strcmp(name, directives[i].name)) continue;
        directives[i].read(r);
        char *more = r->status == STATUS_OK ? word(r) : NULL;
        if (more) complain(r, "`%s` is more than the line needs", more);
        return;
    }
    char what[256] = "`%s` is no directive; ";
    for (u32 i = 0; i < WL_COUNT(directives); i++)
        snprintf(what + strlen(what), sizeof what - strlen(what), "%s%s", directives[i].name,
                 i + 1 < WL_COUNT(directives) ? ", " : " are");
    complain(r, what, name);
}

Status launch_spec_parse(const char *path, Str content, LaunchSpec *spec, Diag *diag) {
    *spec = (LaunchSpec){0};
    Reader r = {.spec = spec, .path = path, .diag = diag};
    char *text = arena_copy_str(&spec->arena, content);
    if (!text) return STATUS_NO_MEMORY;
    for (char *line = text; line && r.status != STATUS_NO_MEMORY;) {
        char *end = strchr(line, '\n');
        if (end) *end = 0;
        r.line++;
        r.rest = line;
        read_line(&r);
        line = end ? end + 1 : NULL;
    }
    if (r.status == STATUS_OK && (r.any || !r.explicit_launch)) end_launch(&r);
    if (r.status != STATUS_OK) launch_spec_free(spec);
    return r.status;
}

Status launch_spec_read(const char *path, LaunchSpec *spec, Diag *diag) {
    FileData file;
    TRY(file_read(path, &file, diag));
    Status status = launch_spec_parse(path, (Str){(const char *)file.data, file.size}, spec, diag);
    file_release(&file);
    return status;
}

void launch_spec_free(LaunchSpec *spec) {
    for (u32 i = 0; i < spec->buffers.len; i++) mem_free(spec->buffers.data[i].content);
    vec_free(&spec->buffers);
    vec_free(&spec->params);
    vec_free(&spec->launches);
    vec_free(&spec->expects);
    arena_free(&spec->arena);
}
