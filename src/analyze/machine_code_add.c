// SPDX-License-Identifier: Apache-2.0
// What a collector has no time for while the program runs: the listing of each cubin, the source line of each
// instruction, the resources of each function.
#include <string.h>

#include "analyze/machine_code.h"
#include "base/map.h"
#include "sass/control.h"

typedef struct Adder {
    Sink *sink;
    Map files;  // hash of the path -> file id
    u32 file_count;
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
    if (status == STATUS_OK) status = a->sink->write(a->sink, RECORD_LISTING, &record, text.bytes.data, text.bytes.len);
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
    return a->sink->write(a->sink, RECORD_FILE_NAME, &record, path, strlen(path) + 1);
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
    }
    RecordInsns record = {.function = id, .count = count};
    if (status == STATUS_OK)
        status = a->sink->write(a->sink, RECORD_INSN, &record, insns, (size_t)count * sizeof *insns);
    mem_free(insns);
    return status;
}

static Status write_function(Adder *a, const MachineCode *code, const ProfileFunction *known) {
    const CubinFunction *function = cubin_find_function(&code->cubin, (Str){known->name, strlen(known->name)});
    if (!function) return STATUS_OK;
    RecordFunction record = {.function = known->id,
                             .module = known->module_id,
                             .is_entry = function->is_entry,
                             .insn_count = (u32)(function->code_size / SASS_INSN_BYTES),
                             .registers = function->registers,
                             .shared_bytes = function->shared_size,
                             .local_bytes = function->local_size,
                             .const_bytes = function->constant_size};
    TRY(a->sink->write(a->sink, RECORD_FUNCTION, &record, known->name, strlen(known->name) + 1));
    return write_lines(a, code, function, known->id);
}

// --- modules -----------------------------------------------------------------------------------------------------
// Everything is read before anything is written: the profile is open as a file that does not change.
typedef struct AddedModule {
    u32 module;
    MachineCode code;
} AddedModule;
typedef Vec(AddedModule) AddedModules;

static Status read_module(Profile *profile, const ProfileFunction *function, AddedModules *modules, Diag *diag) {
    Str bytes;
    AddedModule added = {.module = function->module_id};
    TRY(profile_module_text(profile, function->module_id, &bytes, diag));
    if (!machine_code_is(bytes)) return STATUS_OK;
    Status status = machine_code_open(profile, added.module, bytes, &added.code, diag);
    if (status == STATUS_OK) status = vec_push(modules, added);
    if (status != STATUS_OK) machine_code_free(&added.code);
    if (status == STATUS_OK && added.code.why)
        diag_text(diag, DIAG_NOTE, NULL, 0, 0, "%s: %s", function->name, added.code.why);
    return status;
}

static Status read_modules(Profile *profile, const ProfileFunction *functions, u32 count, AddedModules *modules,
                           Diag *diag) {
    Map done = {0};
    Status status = STATUS_OK;
    for (u32 i = 0; i < count && status == STATUS_OK; i++) {
        if (map_get(&done, functions[i].module_id)) continue;
        status = map_put(&done, functions[i].module_id, 1);
        if (status == STATUS_OK) status = read_module(profile, &functions[i], modules, diag);
    }
    map_free(&done);
    return status;
}

static Status write_modules(Adder *a, const AddedModules *modules, const ProfileFunction *functions, u32 count) {
    for (u32 m = 0; m < modules->len; m++) {
        const AddedModule *added = &modules->data[m];
        if (added->code.made.len && !added->code.why) TRY(write_listing(a, added->module, &added->code.made));
        for (u32 i = 0; i < count; i++)
            if (functions[i].module_id == added->module) TRY(write_function(a, &added->code, &functions[i]));
    }
    return STATUS_OK;
}

static Status append(const char *path, const AddedModules *modules, const ProfileFunction *functions, u32 count,
                     Diag *diag) {
    StoreWriter *writer;
    TRY(store_append(path, &writer, diag));
    Adder adder = {.sink = store_sink(writer)};
    Status status = write_modules(&adder, modules, functions, count), closed = store_close(writer);
    map_free(&adder.files);
    return status == STATUS_OK ? closed : status;
}

Status profile_add_machine_code(const char *path, Diag *diag) {
    Profile *profile;
    const ProfileFunction *functions;
    u32 count;
    AddedModules modules = {0};
    TRY(profile_open(path, &profile, diag));
    Status status = profile_functions(profile, &functions, &count, diag);
    if (status == STATUS_OK) status = read_modules(profile, functions, count, &modules, diag);
    if (status == STATUS_OK && modules.len) status = append(path, &modules, functions, count, diag);
    for (u32 m = 0; m < modules.len; m++) machine_code_free(&modules.data[m].code);
    vec_free(&modules);
    profile_close(profile);
    return status;
}
