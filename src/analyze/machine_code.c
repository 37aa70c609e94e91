// SPDX-License-Identifier: Apache-2.0
#include "analyze/machine_code.h"

#include <string.h>
#include <time.h>

bool machine_code_is(Str bytes) { return bytes.len > 4 && memcmp(bytes.data, "\177ELF", 4) == 0; }

// --- listings ----------------------------------------------------------------------------------------------------
static u64 now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (u64)t.tv_sec * 1000 + (u64)t.tv_nsec / 1000000;
}

enum { LARGE = 1 << 20 };  // a cubin of which only the functions that the profile has are disassembled

typedef struct Wanted {
    const char *tool;
    Str bytes;
    u32 *symbols;  // none: all functions
    u32 count;
} Wanted;

static Status find_wanted(Profile *profile, u32 module, const Cubin *cubin, Arena *arena, Wanted *wanted, Diag *diag) {
    const ProfileFunction *functions;
    u32 count;
    TRY(profile_functions(profile, &functions, &count, diag));
    wanted->symbols = ARENA_ARRAY(arena, u32, count + 1);
    if (!wanted->symbols) return STATUS_NO_MEMORY;
    for (u32 i = 0; i < count; i++) {
        Str name = {functions[i].name, strlen(functions[i].name)};
        const CubinFunction *function = functions[i].module_id == module ? cubin_find_function(cubin, name) : NULL;
        if (function && function->symbol) wanted->symbols[wanted->count++] = function->symbol;
    }
    return STATUS_OK;
}

static Status run_tool(const Wanted *w, u32 *left_ms, MachineCode *code, Diag *diag) {
    u64 begin = now_ms();
    const u8 *bytes = (const u8 *)w->bytes.data;
    Status status = STATUS_UNSUPPORTED;  // an nvdisasm that does not take single functions may take all
    if (w->count)
        status =
            sass_disassemble_some(w->tool, bytes, w->bytes.len, w->symbols, w->count, *left_ms / 2, &code->made, NULL);
    if (status == STATUS_UNSUPPORTED)
        status = sass_disassemble(w->tool, bytes, w->bytes.len, *left_ms / 2, &code->made, diag);
    u64 taken = now_ms() - begin;
    *left_ms = taken < *left_ms ? *left_ms - (u32)taken : 0;
    if (status == STATUS_CANCELLED)
        code->why = "nvdisasm was not ready with its machine code in time";
    else
        code->why = status == STATUS_OK ? NULL : "nvdisasm of this machine does not read its machine code";
    return status;
}

static Status disassemble(Profile *profile, u32 module, Str bytes, u32 *left_ms, MachineCode *code, Diag *diag) {
    Arena arena = {0};
    Wanted wanted = {.tool = sass_find_tool(&arena), .bytes = bytes};
    code->why = "the profile holds its machine code only, and this machine has no nvdisasm (CUDA toolkit) to read it";
    Status status = STATUS_OK;
    if (wanted.tool && bytes.len > LARGE) status = find_wanted(profile, module, &code->cubin, &arena, &wanted, diag);
    if (wanted.tool && status == STATUS_OK) {
        status = run_tool(&wanted, left_ms, code, diag);
        code->json = (Str){code->made.data, code->made.len};
    }
    arena_free(&arena);
    return status == STATUS_NO_MEMORY ? status : STATUS_OK;
}

Status machine_code_open(Profile *profile, u32 module, Str bytes, u32 *left_ms, MachineCode *code, Diag *diag) {
    *code = (MachineCode){0};
    Status status = cubin_open(&code->cubin, (const u8 *)bytes.data, bytes.len, "cubin", NULL);
    if (status != STATUS_OK) code->why = "its machine code in the profile is damaged";
    if (status != STATUS_OK) return status == STATUS_NO_MEMORY ? status : STATUS_OK;
    TRY(profile_module_listing(profile, module, &code->json, diag));
    return code->json.len ? STATUS_OK : disassemble(profile, module, bytes, left_ms, code, diag);
}

Status machine_code_read(Profile *profile, u32 module, Str bytes, u32 *left_ms, MachineCode *code, Diag *diag) {
    TRY(machine_code_open(profile, module, bytes, left_ms, code, diag));
    if (code->why) return STATUS_OK;
    Status status = sass_read(&code->sass, code->json, "listing", diag);
    if (status != STATUS_OK) code->why = "what nvdisasm says of its machine code is not understood";
    return status == STATUS_NO_MEMORY ? status : STATUS_OK;
}

void machine_code_free(MachineCode *code) {
    cubin_close(&code->cubin);
    sass_free(&code->sass);
    vec_free(&code->made);
}

// --- flow --------------------------------------------------------------------------------------------------------
Status machine_code_flow(const MachineCode *code, const char *name, Arena *arena, FlowCode **flow) {
    Str text = {name, strlen(name)};
    const SassFunction *listed = sass_find_function(&code->sass, text);
    const CubinFunction *function = cubin_find_function(&code->cubin, text);
    *flow = NULL;
    if (!listed || !function) return STATUS_NOT_FOUND;
    FlowParam *params = ARENA_ARRAY(arena, FlowParam, function->param_count + 1);
    if (!params) return STATUS_NO_MEMORY;
    for (u32 i = 0; i < function->param_count; i++) {
        const CubinParam *param = &code->cubin.params.data[function->first_param + i];
        params[i] = (FlowParam){param->offset, param->size};
    }
    FlowJump *jumps = ARENA_ARRAY(arena, FlowJump, function->jump_count + 1);
    if (!jumps) return STATUS_NO_MEMORY;
    for (u32 i = 0; i < function->jump_count; i++) {
        const CubinJump *jump = &code->cubin.jumps.data[function->first_jump + i];
        jumps[i] = (FlowJump){jump->from, jump->to};
    }
    FlowSassSource source = {.module = &code->sass,
                             .function = (u32)(listed - code->sass.functions.data),
                             .code = function->code,
                             .code_size = function->code_size,
                             .is_entry = function->is_entry,
                             .param_base = function->param_base,
                             .params = params,
                             .param_count = function->param_count,
                             .jumps = jumps,
                             .jump_count = function->jump_count};
    return flow_from_sass(&source, arena, flow);
}
