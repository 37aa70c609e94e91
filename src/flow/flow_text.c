// SPDX-License-Identifier: Apache-2.0
#include "flow/flow_text.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void flow_print(FlowText *text, const char *format, ...) {
    if (text->status != STATUS_OK) return;
    char small[256];
    va_list args;
    va_start(args, format);
    int len = vsnprintf(small, sizeof small, format, args);
    va_end(args);
    if (len < 0) {
        text->status = STATUS_INVALID;
        return;
    }
    text->status = vec_reserve(text->out, (u32)len + 1);
    if (text->status != STATUS_OK) return;
    char *to = text->out->data + text->out->len;
    if ((size_t)len < sizeof small) {
        memcpy(to, small, (size_t)len);
    } else {
        va_start(args, format);
        vsnprintf(to, (size_t)len + 1, format, args);
        va_end(args);
    }
    text->out->len += (u32)len;
}

static const char *const sass_files[SASS_FILE_COUNT] = {"", "R", "UR", "P", "UP", "B"};

void flow_print_value(FlowText *text, const FlowCode *code, u32 value) {
    if (value == code->carry) {
        flow_print(text, "CC.CF");
    } else if (code->value_regs) {
        flow_print(text, "%s%u", sass_files[code->value_regs[value].file], code->value_regs[value].index);
    } else if (!code->module) {
        flow_print(text, "v%u", value);
    } else {
        const Reg *reg = &code->module->regs[code->module->funcs[code->func].regs + value];
        flow_print(text, "%s", module_text(code->module, reg->prefix));
        if (reg->number != WL_NONE) flow_print(text, "%u", reg->number);
    }
}

void flow_print_variable(FlowText *text, const FlowCode *code, u32 var) {
    if (!code->module)
        flow_print(text, "var%u", var);
    else
        flow_print(text, "%s", module_text(code->module, code->module->vars[var].name));
}

// What was appended since `begin`, with every run of blanks as one space and without a semicolon at the end.
static void make_one_line(TextBuffer *out, u32 begin) {
    u32 to = begin;
    for (u32 at = begin; at < out->len; at++) {
        bool blank = isspace((unsigned char)out->data[at]);
        if (blank && (to == begin || out->data[to - 1] == ' ')) continue;
        out->data[to++] = blank ? ' ' : out->data[at];
    }
    while (to > begin && (out->data[to - 1] == ' ' || out->data[to - 1] == ';')) to--;
    out->len = to;
}

static void print_sass(FlowText *text, const FlowCode *code, u32 insn) {
    const SassInsn *source = &code->sass->insns.data[code->sass->functions.data[code->func].first + insn];
    if (source->guard.file != SASS_NO_FILE && source->guard.index != SASS_ZERO)
        flow_print(text, "@%s%s%u ", source->guard_not ? "!" : "", sass_files[source->guard.file], source->guard.index);
    flow_print(text, "%s", source->name);
    for (u32 i = 0; i < source->operand_count; i++)
        flow_print(text, "%s%s", i ? ", " : " ", code->sass->operands.data[source->operands + i].text);
}

void flow_print_insn(FlowText *text, const FlowCode *code, u32 insn) {
    if (text->status != STATUS_OK) return;
    if (code->sass) {
        print_sass(text, code, insn);
        return;
    }
    if (!code->module) {
        flow_print(text, "insn");
        return;
    }
    const Function *function = &code->module->funcs[code->func];
    u32 begin = text->out->len;
    text->status = ptx_print_insn(code->module, function, &code->module->insns[function->insns + insn], text->out);
    if (text->status == STATUS_OK) make_one_line(text->out, begin);
}

const char *flow_function_name(const FlowCode *code) {
    if (code->sass) return code->sass->functions.data[code->func].name;
    return code->module ? module_text(code->module, code->module->funcs[code->func].name) : "code";
}
