// SPDX-License-Identifier: Apache-2.0
// Recursive descent to postfix. Numbers are read by hand: strtod depends on the locale of the host program.
#include "metric/formula.h"

#include <math.h>
#include <string.h>

enum { MAX_DEPTH = 32, MAX_NAME = 128 };

typedef struct Parser {
    const char *text;
    u32 at;
    u32 depth;  // of nesting in the text
    u32 stack;  // values on the stack when the steps so far have run
    Formula *out;
} Parser;

static Status parse_sum(Parser *parser);

static char peek(Parser *parser) {
    while (parser->text[parser->at] == ' ') parser->at++;
    return parser->text[parser->at];
}

static bool take(Parser *parser, char wanted) {
    if (peek(parser) != wanted) return false;
    parser->at++;
    return true;
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_name(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_' || c == '.';
}

static Status emit(Parser *parser, FormulaStep step, int stack_change) {
    parser->stack += (u32)stack_change;
    if (parser->out->count == FORMULA_STEPS || parser->stack > FORMULA_STACK) return STATUS_LIMIT;
    parser->out->steps[parser->out->count++] = step;
    return STATUS_OK;
}

static Status parse_number(Parser *parser) {
    f64 value = 0, unit = 1;
    const char *text = parser->text;
    while (is_digit(text[parser->at])) value = value * 10 + (text[parser->at++] - '0');
    if (text[parser->at] == '.') {
        parser->at++;
        while (is_digit(text[parser->at])) {
            value = value * 10 + (text[parser->at++] - '0');
            unit *= 10;
        }
    }
    if (is_name(text[parser->at])) return STATUS_INVALID;
    return emit(parser, (FormulaStep){.op = FORMULA_NUMBER, .number = value / unit}, 1);
}

static Status parse_call(Parser *parser, FormulaOp op) {
    TRY(parse_sum(parser));
    if (!take(parser, ',')) return STATUS_INVALID;
    TRY(parse_sum(parser));
    if (!take(parser, ')')) return STATUS_INVALID;
    return emit(parser, (FormulaStep){.op = op}, -1);
}

static Status parse_name(Parser *parser) {
    char name[MAX_NAME];
    u32 start = parser->at, len = 0;
    while (is_name(parser->text[start + len])) len++;
    if (len >= sizeof name) return STATUS_INVALID;
    memcpy(name, parser->text + start, len);
    name[len] = '\0';
    parser->at += len;
    bool min = strcmp(name, "min") == 0, max = strcmp(name, "max") == 0;
    if ((min || max) && take(parser, '(')) return parse_call(parser, min ? FORMULA_MIN : FORMULA_MAX);
    MetricId metric = metric_find(name);
    if (metric == METRIC_COUNT) {
        parser->at = start;
        return STATUS_NOT_FOUND;
    }
    return emit(parser, (FormulaStep){.op = FORMULA_METRIC, .metric = metric}, 1);
}

static Status parse_factor_inside(Parser *parser) {
    char c = peek(parser);
    if (is_digit(c)) return parse_number(parser);
    if (is_name(c) && c != '.') return parse_name(parser);
    if (take(parser, '-')) {
        TRY(parse_factor_inside(parser));
        return emit(parser, (FormulaStep){.op = FORMULA_NEG}, 0);
    }
    if (!take(parser, '(')) return STATUS_INVALID;
    TRY(parse_sum(parser));
    return take(parser, ')') ? STATUS_OK : STATUS_INVALID;
}

static Status parse_factor(Parser *parser) {
    if (++parser->depth > MAX_DEPTH) return STATUS_LIMIT;
    Status status = parse_factor_inside(parser);
    parser->depth--;
    return status;
}

static Status parse_term(Parser *parser) {
    TRY(parse_factor(parser));
    for (;;) {
        FormulaOp op = take(parser, '*') ? FORMULA_MUL : take(parser, '/') ? FORMULA_DIV : FORMULA_NUMBER;
        if (op == FORMULA_NUMBER) return STATUS_OK;
        TRY(parse_factor(parser));
        TRY(emit(parser, (FormulaStep){.op = op}, -1));
    }
}

static Status parse_sum(Parser *parser) {
    TRY(parse_term(parser));
    for (;;) {
        FormulaOp op = take(parser, '+') ? FORMULA_ADD : take(parser, '-') ? FORMULA_SUB : FORMULA_NUMBER;
        if (op == FORMULA_NUMBER) return STATUS_OK;
        TRY(parse_term(parser));
        TRY(emit(parser, (FormulaStep){.op = op}, -1));
    }
}

Status formula_compile(const char *text, Formula *formula, u32 *error_at) {
    formula->count = 0;
    Parser parser = {.text = text, .out = formula};
    Status status = parse_sum(&parser);
    if (status == STATUS_OK && peek(&parser) != '\0') status = STATUS_INVALID;
    if (error_at) *error_at = parser.at;
    if (status != STATUS_OK) formula->count = 0;
    return status;
}

static f64 input(const MetricSet *set, u32 metric, bool *any) {
    if (set->present[metric]) {
        *any = true;
        return set->value[metric];
    }
    return metric_table[metric].formula ? NAN : 0;
}

static f64 apply(u32 op, f64 a, f64 b) {
    switch (op) {
    case FORMULA_ADD: return a + b;
    case FORMULA_SUB: return a - b;
    case FORMULA_MUL: return a * b;
    case FORMULA_DIV: return b == 0 ? NAN : a / b;
    case FORMULA_MIN: return isnan(a) || isnan(b) ? NAN : a < b ? a : b;
    case FORMULA_MAX: return isnan(a) || isnan(b) ? NAN : a > b ? a : b;
    default: return NAN;
    }
}

f64 formula_run(const Formula *formula, const MetricSet *set) {
    f64 stack[FORMULA_STACK + 1];
    u32 top = 0;
    bool any = false, reads = false;
    for (u32 i = 0; i < formula->count; i++) {
        const FormulaStep *step = &formula->steps[i];
        if (step->op == FORMULA_NUMBER) {
            stack[top++] = step->number;
        } else if (step->op == FORMULA_METRIC) {
            reads = true;
            stack[top++] = input(set, step->metric, &any);
        } else if (step->op == FORMULA_NEG) {
            stack[top - 1] = -stack[top - 1];
        } else {
            top--;
            stack[top - 1] = apply(step->op, stack[top - 1], stack[top]);
        }
    }
    bool known = top == 1 && isfinite(stack[0]) && (any || !reads);
    return known ? stack[0] : NAN;
}
