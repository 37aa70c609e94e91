// SPDX-License-Identifier: Apache-2.0
// Listings of machine code, and every static analysis over what was read.
#include "base/mem.h"
#include "flow/flow_results.h"
#include "sass/control.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { INSNS_MAX = 2000 };  // of a function: the analyses are not what is looked for

// Control words come from the listing's own bytes: any are possible.
static void analyse(const SassModule *module, u32 function, const uint8_t *data, size_t size) {
    static const FlowParam params[] = {{0, 8}, {8, 8}, {16, 4}};
    static const FlowJump jumps[] = {{16, 0}, {16, 64}, {32, 1 << 30}};
    const SassFunction *f = &module->functions.data[function];
    FlowSassSource source = {.module = module,
                             .function = function,
                             .code = data,
                             .code_size = size,
                             .is_entry = function % 2,
                             .param_base = 0x210,
                             .params = params,
                             .param_count = WL_COUNT(params),
                             .jumps = jumps,
                             .jump_count = WL_COUNT(jumps)};
    Arena arena = {0};
    FlowCode *code;
    FlowResults results;
    if (f->count > INSNS_MAX) return;
    if (flow_from_sass(&source, &arena, &code) == STATUS_OK) {
        if (code->insn_count != f->count) __builtin_trap();
        for (u32 o = 0; o < code->operand_count; o++)
            if (code->operands[o].kind == FLOW_VALUE && code->operands[o].id >= code->value_count) __builtin_trap();
        Status status = flow_analyse(code, &arena, &results);
        (void)status;
    }
    arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    SassModule module;
    Diag diag = {0};
    if (sass_read(&module, (Str){(const char *)data, size}, "fuzz", &diag) == STATUS_OK) {
        for (u32 i = 0; i < module.functions.len; i++) analyse(&module, i, data, size);
        sass_free(&module);
    }
    diag_free(&diag);
    return 0;
}
