// SPDX-License-Identifier: Apache-2.0
// Operands as nvdisasm prints them.
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/floats.h"
#include "sass/sass_inside.h"

// --- characters --------------------------------------------------------------------------------------------------
static Str trim(Str text) {
    while (text.len && isspace((unsigned char)text.data[0])) text.data++, text.len--;
    while (text.len && isspace((unsigned char)text.data[text.len - 1])) text.len--;
    return text;
}

static bool take(Str *text, const char *prefix) {
    size_t len = strlen(prefix);
    if (text->len < len || memcmp(text->data, prefix, len) != 0) return false;
    text->data += len;
    text->len -= len;
    return true;
}

static bool take_end(Str *text, const char *suffix) {
    size_t len = strlen(suffix);
    if (text->len < len || memcmp(text->data + text->len - len, suffix, len) != 0) return false;
    text->len -= len;
    return true;
}

// Up to the first of `stops`, which stays.
static Str take_until(Str *text, const char *stops) {
    Str taken = {text->data, 0};
    while (taken.len < text->len && !strchr(stops, text->data[taken.len])) taken.len++;
    text->data += taken.len;
    text->len -= taken.len;
    return taken;
}

// A whole text as a hexadecimal number, "0x210" or "-0x10".
static bool read_hex(Str text, i64 *value) {
    bool negative = take(&text, "-");
    if (!take(&text, "0x") || !text.len || text.len > 16) return false;
    u64 number = 0;
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.data[i];
        if (!isxdigit(c)) return false;
        number = number << 4 | (u64)(isdigit(c) ? c - '0' : tolower(c) - 'a' + 10);
    }
    *value = (i64)(negative ? 0 - number : number);
    return true;
}

// --- registers ---------------------------------------------------------------------------------------------------
static const struct {
    const char *prefix, *zero;
    u8 file;
    u8 limit;
} files[] = {
    {"UR", "Z", SASS_UR, 254}, {"UP", "T", SASS_UP, 7}, {"R", "Z", SASS_R, 254},
    {"P", "T", SASS_P, 7},     {"B", "", SASS_B, 16},
};

// The name without suffixes: "R12", "UPT".
static bool read_name(Str name, SassReg *reg) {
    for (u32 i = 0; i < WL_COUNT(files); i++) {
        Str rest = name;
        if (!take(&rest, files[i].prefix)) continue;
        *reg = (SassReg){files[i].file, SASS_ZERO, 1};
        if (files[i].zero[0] && rest.len == 1 && rest.data[0] == files[i].zero[0]) return true;
        u32 index = 0;
        for (size_t k = 0; k < rest.len; k++) {
            if (!isdigit((unsigned char)rest.data[k]) || index > 99) return false;
            index = index * 10 + (u32)(rest.data[k] - '0');
        }
        reg->index = (u8)index;
        return rest.len > 0 && index < files[i].limit;
    }
    return false;
}

// "R2.64", "R4.X8", "UR6"; suffixes that select halves or say how a fragment lies change nothing here.
static bool read_reg(Str text, SassReg *reg, u8 *scale) {
    static const struct {
        const char *text;
        u8 scale;
    } scales[] = {{"X2", 1}, {"X4", 2}, {"X8", 3}, {"X16", 4}};
    if (!read_name(take_until(&text, "."), reg)) return false;
    while (take(&text, ".")) {
        Str suffix = take_until(&text, ".");
        if (suffix.len == 2 && memcmp(suffix.data, "64", 2) == 0) reg->count = 2;
        for (u32 i = 0; scale && i < WL_COUNT(scales); i++)
            if (suffix.len == strlen(scales[i].text) && !memcmp(suffix.data, scales[i].text, suffix.len))
                *scale = scales[i].scale;
    }
    return true;
}

static void read_signs(Str *text, SassOperand *operand) {
    while (text->len) {
        if (take(text, "-") || take(text, "!"))
            operand->negated = true;
        else if (take(text, "~"))
            operand->inverted = true;
        else if (take(text, "|"))
            operand->absolute = true;
        else if (!take(text, "+"))
            break;
    }
    if (operand->absolute) *text = take_until(text, "|");  // "|R4|.H0_H0"
    take_end(text, ".reuse");
}

bool sass_parse_reg(Str text, SassOperand *operand) {
    read_signs(&text, operand);
    if (!read_reg(text, &operand->reg, NULL)) return false;
    operand->kind = SASS_OPERAND_REG;
    operand->words = operand->reg.count;
    return true;
}

bool sass_parse_guard(Str text, SassInsn *insn) {
    SassOperand operand = {0};
    if (!take(&text, "@") || !sass_parse_reg(text, &operand)) return false;
    if (operand.reg.file != SASS_P && operand.reg.file != SASS_UP) return false;
    insn->guard = operand.reg;
    insn->guard_not = operand.negated;
    return true;
}

// --- brackets ----------------------------------------------------------------------------------------------------
// "R2.64+UR4+0x10", "R2+-0x4", "0x30"; false: something else in it.
static bool read_sum(Str text, SassOperand *operand) {
    while (text.len) {
        Str part = trim(take_until(&text, "+"));
        bool more = take(&text, "+");
        i64 number;
        SassReg reg;
        u8 scale = 0;
        if (read_hex(part, &number)) {
            operand->value += number;
        } else if (!read_reg(part, &reg, &scale)) {
            return false;
        } else if (operand->reg.file == SASS_NO_FILE) {
            operand->reg = reg;
            operand->scale = scale;
        } else {
            operand->index = reg;
        }
        if (more && !text.len) return false;
    }
    return true;
}

// What is in the next pair of brackets; false: there is none.
static bool take_brackets(Str *text, Str *inside) {
    if (!take(text, "[")) return false;
    *inside = take_until(text, "]");
    return take(text, "]");
}

static bool read_constant(Str text, SassOperand *operand) {
    Str bank, place;
    i64 number;
    operand->bank = 0xff;
    bool named = take(&text, "cx");
    if (!named && !take(&text, "c")) return false;
    if (!take_brackets(&text, &bank) || !take_brackets(&text, &place)) return false;
    if (!read_hex(bank, &number))
        named = read_reg(bank, &operand->index, NULL);
    else
        operand->bank = (u8)number;
    if (operand->bank == 0xff && !named) return false;
    operand->kind = SASS_OPERAND_CONSTANT;
    operand->words = 1;
    return read_sum(place, operand);
}

// "desc[UR4][R2.64]", "gdesc[UR8]", "tmem[UR4]", "[R2]".
static bool read_address(Str text, SassOperand *operand) {
    Str first, second;
    bool has_handle = take(&text, "desc"), gdesc = !has_handle && take(&text, "gdesc");
    if (!has_handle && !gdesc) take_until(&text, "[");
    if (!take_brackets(&text, &first)) return false;
    operand->kind = SASS_OPERAND_ADDRESS;
    if (!has_handle) return read_sum(first, operand);
    if (!read_reg(first, &operand->handle, NULL) || !take_brackets(&text, &second)) return false;
    return read_sum(second, operand);
}

// --- operands ----------------------------------------------------------------------------------------------------
static bool is_number(Str text) {
    take(&text, "-");
    take(&text, "+");
    return text.len &&
           (isdigit((unsigned char)text.data[0]) || take(&text, "INF") || take(&text, "QNAN") || take(&text, "SNAN"));
}

// Of a half, from a number that is one.
static u32 half_bits(f64 number) {
    enum { SUBNORMAL_SCALE = 1 << 24, MANTISSA = 10, BIAS = 15 };
    u32 sign = signbit(number) ? 0x8000 : 0;
    f64 size = fabs(number);
    if (isnan(number)) return sign | 0x7fff;
    if (size >= 65536) return sign | 0x7c00;
    if (size < 1.0 / 16384) return sign | (u32)(size * SUBNORMAL_SCALE);
    int exponent;
    f64 fraction = frexp(size, &exponent) * 2 - 1;
    return sign | (u32)(exponent - 1 + BIAS) << MANTISSA | (u32)(fraction * (1 << MANTISSA));
}

static u64 literal_bits(const SassInsn *insn, Str text) {
    char copy[64];
    bool negative = take(&text, "-");
    take(&text, "+");
    size_t len = text.len < sizeof copy ? text.len : sizeof copy - 1;
    memcpy(copy, text.data, len);
    copy[len] = '\0';
    f64 number = strstr(copy, "NAN") ? (f64)NAN : strtod(copy, NULL);
    if (negative) number = -number;
    const char *name = sass_op(insn)->name;
    if (name[0] == 'H' && sass_has(insn, "BF16_V2")) return bits_of_f32((f32)number) >> 16;
    if (name[0] == 'H') return half_bits(number);
    if (name[0] != 'D') return bits_of_f32((f32)number);
    return bits_of_f64(number);
}

// "`(.L_x_1)", "R2 `(.L_x_1)": the register is a use.
static bool read_label(Str text, SassOperand *operand) {
    Str reg = take_until(&text, "`");
    if (!text.len) return false;
    operand->kind = SASS_OPERAND_TARGET;
    operand->value = -1;
    SassOperand used = {0};
    if (trim(reg).len && sass_parse_reg(trim(reg), &used)) operand->reg = used.reg;
    return true;
}

static SassOperand parse(const SassInsn *insn, Str text) {
    SassOperand operand = {0};
    i64 number;
    if (read_hex(text, &number)) return (SassOperand){.kind = SASS_OPERAND_IMMEDIATE, .words = 1, .value = number};
    if (is_number(text))
        return (SassOperand){
            .kind = SASS_OPERAND_IMMEDIATE, .words = 1, .is_float = true, .value = (i64)literal_bits(insn, text)};
    if (sass_parse_reg(text, &operand)) return operand;
    operand = (SassOperand){0};
    if (read_label(text, &operand)) return operand;
    Str rest = text;
    read_signs(&rest, &operand);
    SassOperand signs = operand;
    if (rest.len && rest.data[0] == 'S' && rest.len > 1 && rest.data[1] == 'R')
        return (SassOperand){.kind = SASS_OPERAND_SPECIAL, .words = 1};
    if (read_constant(rest, &operand)) return operand;
    operand = signs;
    if (memchr(rest.data, '[', rest.len) && read_address(rest, &operand)) return operand;
    return (SassOperand){.kind = SASS_OPERAND_OTHER};
}

// The text up to the next comma outside of brackets. A register right before a bracket is an operand of its own: the
// JSON of nvdisasm has "R26[R14]" where its text has "R26, [R14]".
static Str next_operand(Str *text) {
    Str operand = {text->data, 0};
    SassReg reg;
    bool comma = false;
    for (int depth = 0; operand.len < text->len; operand.len++) {
        char c = text->data[operand.len];
        if (c == '[' && depth == 0 && read_name(operand, &reg)) break;
        depth += (c == '[' || c == '(') - (c == ']' || c == ')');
        comma = c == ',' && depth <= 0;
        if (comma) break;
    }
    text->data += operand.len + comma;
    text->len -= operand.len + comma;
    return trim(operand);
}

Status sass_parse_operands(SassModule *module, SassInsn *insn, Str text) {
    insn->operands = module->operands.len;
    while (text.len && insn->operand_count < UINT8_MAX) {
        Str one = next_operand(&text);
        SassOperand operand = parse(insn, one);
        operand.text = arena_copy_str(&module->arena, one);
        if (!operand.text) return STATUS_NO_MEMORY;
        TRY(vec_push(&module->operands, operand));
        insn->operand_count++;
    }
    return STATUS_OK;
}
