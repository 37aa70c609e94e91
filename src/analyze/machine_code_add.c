// SPDX-License-Identifier: Apache-2.0
// What a collector has no time for while the program runs: the listing of each cubin, the source line of each
// instruction, the resources of each function.
#include <stdlib.h>
#include <string.h>

#include "analyze/machine_code.h"
#include "base/map.h"
#include "sass/control.h"

typedef struct Adder {
    Profile *profile;
    Sink *sink;
    Diag *diag;
    Map files;  // hash of the path -> file id
    u32 file_count;
    u32 left_ms;  // for nvdisasm
} Adder;

typedef struct RecordText {  // a fixed part, and texts behind it
    Vec(char) bytes;
} RecordText;

static Status add_text(RecordText *text, const char *data, size_t len) {
    TRY(vec_reserve(&text->bytes, (u32)len));
    if (len) memcpy(text->bytes.data + text->bytes.len, data, len);
    text->bytes.len += (u32)len;
    return STATUS_OK;
}

static Status write_listing(Adder *a, u32 module, const SassText *listing) {
    static const char format[] = "nvdisasm-json";
    RecordListing record = {.module = module, .text_size = listing->len};
    RecordText text = {0};
    Status status = add_text(&text, format, sizeof format);
    if (status == STATUS_OK) status = add_text(&text, listing->data, listing->len);
    if (status == STATUS_OK) status = sink_write(a->sink, RECORD_LISTING, &record, text.bytes.data, text.bytes.len);
    vec_free(&text.bytes);
    return status;
}

// --- lines -------------------------------------------------------------------------------------------------------
// Ids of files are given from 1 on; a profile with machine code has none of its own before.
static Status file_id(Adder *a, const char *path, u32 *id) {
    u64 hash = hash_bytes(path, strlen(path));
    const u64 *known = map_get(&a->files, hash);
    *id = known ? (u32)*known : a->file_count + 1;
    if (known) return STATUS_OK;
    RecordFileName record = {.file = ++a->file_count};
    TRY(map_put(&a->files, hash, *id));
    return sink_write(a->sink, RECORD_FILE_NAME, &record, path, strlen(path) + 1);
}

static Status write_lines(Adder *a, const MachineCode *code, const CubinFunction *function, u32 id) {
    u32 count = (u32)(function->code_size / SASS_INSN_BYTES);
    if (!function->line_count || !count) return STATUS_OK;
    RecordInsn *insns = mem_zero(count, sizeof *insns);
    if (!insns) return STATUS_NO_MEMORY;
    Status status = STATUS_OK;
    for (u32 i = 0; i < count && status == STATUS_OK; i++) {
        const CubinLine *line = cubin_find_line(&code->cubin, function, (u64)i * SASS_INSN_BYTES);
        if (!line || line->file == WL_NONE) continue;
        status = file_id(a, code->cubin.files.data[line->file], &insns[i].file);
        insns[i].line = line->line;
        insns[i].column = line->column;
        if (!line->inlined || line->call_file == WL_NONE || status != STATUS_OK) continue;
        status = file_id(a, code->cubin.files.data[line->call_file], &insns[i].call_file);
        insns[i].call_line = line->call_line;
        insns[i].inlined = line->inlined;
    }
    RecordInsns record = {.function = id, .count = count};
    if (status == STATUS_OK) status = sink_write(a->sink, RECORD_INSN, &record, insns, (size_t)count * sizeof *insns);
    mem_free(insns);
    return status;
}

static Status write_function(Adder *a, const MachineCode *code, const ProfileFunction *known) {
    const CubinFunction *function = cubin_find_function(&code->cubin, (Str){known->name, strlen(known->name)});
    if (!function || known->insn_count) return STATUS_OK;  // not here, or the collector has said it
    RecordFunction record = {.function = known->id,
                             .module = known->module_id,
                             .is_entry = function->is_entry,
                             .insn_count = (u32)(function->code_size / SASS_INSN_BYTES),
                             .registers = function->registers,
                             .shared_bytes = function->shared_size,
                             .local_bytes = function->local_size,
                             .const_bytes = function->constant_size};
    TRY(sink_write(a->sink, RECORD_FUNCTION, &record, known->name, strlen(known->name) + 1));
    return write_lines(a, code, function, known->id);
}

// --- modules -----------------------------------------------------------------------------------------------------
static Status add_module(Adder *a, const ProfileFunction *functions, u32 count) {
    Str bytes;
    MachineCode code;
    u32 module = functions[0].module_id;
    TRY(profile_module_text(a->profile, module, &bytes, a->diag));
    if (!machine_code_is(bytes)) return STATUS_OK;
    Status status = machine_code_open(a->profile, module, bytes, &a->left_ms, &code, a->diag);
    if (status == STATUS_OK && code.why)
        diag_text(a->diag, DIAG_NOTE, NULL, 0, 0, "%s: %s", functions[0].name, code.why);
    if (status == STATUS_OK && code.made.len && !code.why) status = write_listing(a, module, &code.made);
    for (u32 i = 0; i < count && status == STATUS_OK; i++)
        if (functions[i].module_id == module) status = write_function(a, &code, &functions[i]);
    machine_code_free(&code);
    return status;
}

// Those with the most samples come first: nvdisasm may not have time for all.
typedef struct ModuleUse {
    u32 module, first;  // of its functions, in the profile's list
    u64 samples;
} ModuleUse;
typedef Vec(ModuleUse) ModuleUses;

static int by_samples(const void *left, const void *right) {
    const ModuleUse *a = left, *b = right;
    if (a->samples != b->samples) return a->samples < b->samples ? 1 : -1;
    return (a->first > b->first) - (a->first < b->first);
}

// Of all sources: launches are counted by one and samples taken by another.
static Status count_samples(Adder *a, const ProfileFunction *function, u64 *sum) {
    const ProfileSource *sources;
    u32 source_count, count;
    TRY(profile_sources(a->profile, &sources, &source_count, a->diag));
    for (u32 s = 0; s < source_count; s++) {
        const ProfileSample *samples;
        ProfileFunction asked = *function;
        asked.source = sources[s].id;
        TRY(profile_samples(a->profile, &asked, &samples, &count, a->diag));
        for (u32 i = 0; i < count; i++) *sum += samples[i].samples;
    }
    return STATUS_OK;
}

static Status find_uses(Adder *a, const ProfileFunction *functions, u32 count, ModuleUses *uses) {
    Map known = {0};  // module -> index in uses
    Status status = STATUS_OK;
    for (u32 i = 0; i < count && status == STATUS_OK; i++) {
        u32 module = functions[i].module_id;
        const u64 *at = map_get(&known, module);
        u32 use = at ? (u32)*at : uses->len;
        if (!at) status = map_put(&known, module, use);
        if (!at && status == STATUS_OK) status = vec_push(uses, (ModuleUse){module, i, 0});
        if (status == STATUS_OK) status = count_samples(a, &functions[i], &uses->data[use].samples);
    }
    map_free(&known);
    return status;
}

static Status add_modules(Adder *a) {
    const ProfileFunction *functions;
    u32 count;
    ModuleUses uses = {0};
    TRY(profile_functions(a->profile, &functions, &count, a->diag));
    Status status = find_uses(a, functions, count, &uses);
    if (uses.len) qsort(uses.data, uses.len, sizeof *uses.data, by_samples);
    for (u32 i = 0; i < uses.len && status == STATUS_OK; i++)
        status = add_module(a, functions + uses.data[i].first, count - uses.data[i].first);
    vec_free(&uses);
    return status;
}

static Status has_machine_code(const char *path, bool *has, Diag *diag) {
    Profile *profile;
    const ProfileFunction *functions;
    u32 count = 0;
    *has = false;
    TRY(profile_open(path, &profile, diag));
    Status status = profile_functions(profile, &functions, &count, diag);
    for (u32 i = 0; i < count && status == STATUS_OK && !*has; i++) {
        Str bytes;
        bool seen = i > 0 && functions[i].module_id == functions[i - 1].module_id;
        if (!seen) status = profile_module_text(profile, functions[i].module_id, &bytes, diag);
        *has = !seen && status == STATUS_OK && machine_code_is(bytes);
    }
    profile_close(profile);
    return status;
}

Status profile_add_machine_code(const char *path, Diag *diag) {
    StoreWriter *writer;
    bool has;
    TRY(has_machine_code(path, &has, diag));
    if (!has) return STATUS_OK;
    TRY(store_append(path, &writer, diag));
    Adder adder = {.sink = store_sink(writer), .diag = diag, .left_ms = MACHINE_CODE_MS};
    Status status = profile_open(path, &adder.profile, diag);
    if (status == STATUS_OK) status = add_modules(&adder);
    profile_close(adder.profile);
    Status closed = store_close(writer);
    map_free(&adder.files);
    return status == STATUS_OK ? closed : status;
}
