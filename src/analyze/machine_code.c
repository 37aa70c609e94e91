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

static Status find_wanted(Profile *profile, u32 module, const Cubin *cubin, ListingPlan *plan, Diag *diag) {
    const ProfileFunction *functions;
    u32 count;
    TRY(profile_functions(profile, &functions, &count, diag));
    plan->symbols = ARENA_ARRAY(&plan->arena, u32, count + 1);
    if (!plan->symbols) return STATUS_NO_MEMORY;
    for (u32 i = 0; i < count; i++) {
        Str name = {functions[i].name, strlen(functions[i].name)};
        const CubinFunction *function = functions[i].module_id == module ? cubin_find_function(cubin, name) : NULL;
        if (function && function->symbol) plan->symbols[plan->count++] = function->symbol;
    }
    return STATUS_OK;
}

Status machine_code_plan(Profile *profile, u32 module, Str bytes, ListingPlan *plan, MachineCode *code, Diag *diag) {
    *code = (MachineCode){0};
    *plan = (ListingPlan){.bytes = bytes};
    Status status = cubin_open(&code->cubin, (const u8 *)bytes.data, bytes.len, "cubin", NULL);
    if (status != STATUS_OK) code->why = "its machine code in the profile is damaged";
    if (status != STATUS_OK) return status == STATUS_NO_MEMORY ? status : STATUS_OK;
    TRY(profile_module_listing(profile, module, &code->json, diag));
    if (code->json.len) return STATUS_OK;
    plan->tool = sass_find_tool(&plan->arena);
    if (!plan->tool)
        code->why =
            "the profile holds its machine code only, and this machine has no nvdisasm (CUDA toolkit) to read it";
    if (!plan->tool || bytes.len <= LARGE) return STATUS_OK;
    return find_wanted(profile, module, &code->cubin, plan, diag);
}

Status machine_code_list(const ListingPlan *plan, u32 timeout_ms, MachineCode *code, Diag *diag) {
    const u8 *bytes = (const u8 *)plan->bytes.data;
    size_t size = plan->bytes.len;
    Status status = STATUS_UNSUPPORTED;  // an nvdisasm that does not take single functions may take all
    if (!plan->tool) return STATUS_OK;
    if (plan->count)
        status =
            sass_disassemble_some(plan->tool, bytes, size, plan->symbols, plan->count, timeout_ms, &code->made, NULL);
    if (status == STATUS_UNSUPPORTED) status = sass_disassemble(plan->tool, bytes, size, timeout_ms, &code->made, diag);
    if (status == STATUS_CANCELLED)
        code->why = "nvdisasm was not ready with its machine code in time";
    else if (status != STATUS_OK)
        code->why = "nvdisasm of this machine does not read its machine code";
    code->json = (Str){code->made.data, code->made.len};
    return status == STATUS_NO_MEMORY ? status : STATUS_OK;
}

void listing_plan_free(ListingPlan *plan) { arena_free(&plan->arena); }

static Status open_code(Profile *profile, u32 module, Str bytes, u32 *left_ms, MachineCode *code, Diag *diag) {
    ListingPlan plan;
    u64 begin = now_ms();
    Status status = machine_code_plan(profile, module, bytes, &plan, code, diag);
    if (status == STATUS_OK) status = machine_code_list(&plan, *left_ms / 2, code, diag);
    u64 taken = plan.tool ? now_ms() - begin : 0;
    *left_ms = taken < *left_ms ? *left_ms - (u32)taken : 0;
    listing_plan_free(&plan);
    return status;
}

Status machine_code_read(Profile *profile, u32 module, Str bytes, u32 *left_ms, MachineCode *code, Diag *diag) {
    TRY(open_code(profile, module, bytes, left_ms, code, diag));
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
