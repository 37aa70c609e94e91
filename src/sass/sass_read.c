// SPDX-License-Identifier: Apache-2.0
// The listing: [metadata, [function, ...]], a function having "function-name", "start", "length" and
// "sass-instructions", each with "predicate", "opcode" and "operands".
#include <jansson.h>
#include <string.h>

#include "sass/control.h"
#include "sass/sass_inside.h"

enum { INSNS_MAX = 1 << 24 };

typedef struct ListReader {
    SassModule *module;
    const char *name;
    Diag *diag;
} ListReader;

static Str text_of(const json_t *object, const char *key) {
    const json_t *value = json_object_get(object, key);
    return json_is_string(value) ? (Str){json_string_value(value), json_string_length(value)} : (Str){"", 0};
}

static u32 number_of(const json_t *object, const char *key) {
    const json_t *value = json_object_get(object, key);
    json_int_t number = json_is_integer(value) ? json_integer_value(value) : 0;
    return number > 0 && number < UINT32_MAX ? (u32)number : 0;
}

// Places in code are printed as offsets in the section.
static void set_target(SassModule *module, const SassInsn *insn, const SassFunction *function) {
    static const u16 with_target[] = {SASS_OP_BRA, SASS_OP_JMP,  SASS_OP_CALL, SASS_OP_BSSY, SASS_OP_RET,
                                      SASS_OP_BRX, SASS_OP_BRXU, SASS_OP_JMX,  SASS_OP_JMXU, SASS_OP_WARPSYNC};
    bool has_target = false;
    for (u32 i = 0; i < WL_COUNT(with_target); i++) has_target |= insn->op == with_target[i];
    if (!has_target || !insn->operand_count) return;
    SassOperand *last = &module->operands.data[insn->operands + insn->operand_count - 1];
    if (last->kind != SASS_OPERAND_IMMEDIATE || last->is_float) return;
    last->kind = SASS_OPERAND_TARGET;
    last->value -= function->start;
}

static Status read_insn(ListReader *r, const json_t *source, SassFunction *function) {
    SassModule *module = r->module;
    Str opcode = text_of(source, "opcode"), guard = text_of(source, "predicate");
    SassInsn insn = {.offset = function->count * SASS_INSN_BYTES, .op = (u16)sass_find_op(opcode)};
    insn.name = arena_copy_str(&module->arena, opcode);
    if (!insn.name) return STATUS_NO_MEMORY;
    if (guard.len && !sass_parse_guard(guard, &insn))
        diag_text(r->diag, DIAG_WARNING, r->name, 0, 0, "%s+0x%x: a predicate that is not understood", function->name,
                  insn.offset);
    TRY(sass_parse_operands(module, &insn, text_of(source, "operands")));
    sass_set_roles(module, &insn);
    set_target(module, &insn, function);
    function->unknown += insn.op == SASS_OP_UNKNOWN;
    function->count++;
    return vec_push(&module->insns, insn);
}

// A call of a routine names it.
static void resolve_calls(SassModule *module, const SassFunction *function) {
    for (u32 i = 0; i < function->count; i++) {
        const SassInsn *insn = &module->insns.data[function->first + i];
        if (insn->op != SASS_OP_CALL || !insn->operand_count) continue;
        SassOperand *callee = &module->operands.data[insn->operands + insn->operand_count - 1];
        if (callee->kind != SASS_OPERAND_OTHER) continue;
        for (u32 k = 0; k < function->routine_count; k++) {
            const SassRoutine *routine = &module->routines.data[function->first_routine + k];
            if (strcmp(routine->name, callee->text) != 0) continue;
            callee->kind = SASS_OPERAND_TARGET;
            callee->value = routine->offset;
        }
    }
}

static Status read_insns(ListReader *r, const json_t *insns, SassFunction *function) {
    if (!json_is_array(insns)) return STATUS_OK;
    if (json_array_size(insns) > INSNS_MAX - r->module->insns.len) return STATUS_LIMIT;
    u32 unknown = function->unknown;
    for (size_t i = 0; i < json_array_size(insns); i++) TRY(read_insn(r, json_array_get(insns, i), function));
    r->module->unknown += function->unknown - unknown;
    return STATUS_OK;
}

// What begins where the function before it ends, and not at 0, is a routine of that.
static SassFunction *host_of(SassModule *module, u32 start) {
    SassFunction *last = module->functions.len ? &module->functions.data[module->functions.len - 1] : NULL;
    return last && start > last->start && start == last->start + last->count * SASS_INSN_BYTES ? last : NULL;
}

static Status read_function(ListReader *r, const json_t *source) {
    SassModule *module = r->module;
    const json_t *insns = json_object_get(source, "sass-instructions");
    u32 start = number_of(source, "start");
    const char *name = arena_copy_str(&module->arena, text_of(source, "function-name"));
    if (!name) return STATUS_NO_MEMORY;
    SassFunction *host = host_of(module, start);
    if (!host) {
        SassFunction function = {
            .name = name, .start = start, .first = module->insns.len, .first_routine = module->routines.len};
        TRY(vec_push(&module->functions, function));
        return read_insns(r, insns, &module->functions.data[module->functions.len - 1]);
    }
    TRY(vec_push(&module->routines, ((SassRoutine){name, host->count * SASS_INSN_BYTES})));
    host->routine_count++;
    return read_insns(r, insns, host);
}

static Status read_all(ListReader *r, const json_t *root) {
    const json_t *head = json_array_get(root, 0), *functions = json_array_get(root, 1);
    if (!json_is_object(head) || !json_is_array(functions)) {
        diag_text(r->diag, DIAG_ERROR, r->name, 0, 0, "not a listing of nvdisasm -json");
        return STATUS_FORMAT;
    }
    const json_t *version = json_object_get(json_object_get(head, "SM"), "version");
    r->module->sm = number_of(version, "major") * 10 + number_of(version, "minor");
    for (size_t i = 0; i < json_array_size(functions); i++) TRY(read_function(r, json_array_get(functions, i)));
    for (u32 i = 0; i < r->module->functions.len; i++) resolve_calls(r->module, &r->module->functions.data[i]);
    return STATUS_OK;
}

Status sass_read(SassModule *module, Str json, const char *name, Diag *diag) {
    json_error_t error;
    json_t *root = json_loadb(json.data, json.len, 0, &error);
    *module = (SassModule){0};
    if (!root) {
        diag_text(diag, DIAG_ERROR, name, 0, 0, "not a listing of nvdisasm -json: %s", error.text);
        return STATUS_FORMAT;
    }
    Status status = read_all(&(ListReader){module, name, diag}, root);
    json_decref(root);
    if (status != STATUS_OK) sass_free(module);
    return status;
}

void sass_free(SassModule *module) {
    vec_free(&module->functions);
    vec_free(&module->insns);
    vec_free(&module->operands);
    vec_free(&module->routines);
    arena_free(&module->arena);
    *module = (SassModule){0};
}

const SassFunction *sass_find_function(const SassModule *module, Str name) {
    for (u32 i = 0; i < module->functions.len; i++) {
        const SassFunction *function = &module->functions.data[i];
        if (strlen(function->name) == name.len && memcmp(function->name, name.data, name.len) == 0) return function;
    }
    return NULL;
}
