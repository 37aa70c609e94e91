// SPDX-License-Identifier: Apache-2.0
#include "ptx/lex.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_FLOAT_TEXT = 400 };  // characters of a decimal fraction

#define NAME (LEX_NAME | LEX_FIRST)
#define DIGIT (LEX_NAME | LEX_DIGIT)
const u8 lex_class[256] = {
    ['\t'] = LEX_SPACE,    ['\n'] = LEX_SPACE,   ['\v'] = LEX_SPACE,   ['\f'] = LEX_SPACE, ['\r'] = LEX_SPACE,
    [' '] = LEX_SPACE,     ['/'] = LEX_SPACE,    ['#'] = LEX_SPACE,  // may start a comment or a preprocessor line
    ['0' ... '9'] = DIGIT, ['A' ... 'Z'] = NAME, ['a' ... 'z'] = NAME, ['_'] = NAME,       ['$'] = NAME,
    ['%'] = LEX_FIRST,
};

static void skip_block_comment(Lexer *lex) {
    lex->at += 2;
    while (lex->at < lex->end && !(lex->at[0] == '*' && lex->at[1] == '/')) {
        if (*lex->at == '\n') lex->line++, lex->line_start = lex->at + 1;
        lex->at++;
    }
    if (lex->at < lex->end) lex->at += 2;
}

static void skip_line(Lexer *lex) {
    const char *newline = memchr(lex->at, '\n', (size_t)(lex->end - lex->at));
    lex->at = newline ? newline : lex->end;
}

static bool first_on_line(const Lexer *lex) {
    for (const char *at = lex->at; at > lex->line_start; at--) {
        if (at[-1] != ' ' && at[-1] != '\t') return false;
    }
    return true;
}

void lex_skip_slow(Lexer *lex) {
    for (;;) {
        char c = *lex->at;
        if (c == '\n') {
            lex->line++;
            lex->line_start = ++lex->at;
        } else if (c == '/') {
            if (lex->at[1] == '/')
                skip_line(lex);
            else if (lex->at[1] == '*')
                skip_block_comment(lex);
            else
                return;
        } else if (c == '#') {
            if (!first_on_line(lex)) return;
            skip_line(lex);
        } else if (lex_class[(u8)c] & LEX_SPACE) {
            lex->at++;
        } else {
            return;
        }
    }
}

static const char *skip_name(const char *at) {
    while (lex_class[(u8)*at] & LEX_NAME) at++;
    return at;
}

Str lex_dotted(Lexer *lex) {
    const char *from = lex->at;
    if (*from != '.' || !(lex_class[(u8)from[1]] & LEX_NAME)) return (Str){from, 0};
    const char *at = skip_name(from + 1);
    while (at[0] == ':' && at[1] == ':' && lex_class[(u8)at[2]] & LEX_NAME) at = skip_name(at + 2);
    lex->at = at;
    return (Str){from, (size_t)(at - from)};
}

Str lex_mnemonic(Lexer *lex) {
    const char *from = lex->at, *at = from;
    for (;;) {
        at = skip_name(at);
        if (at[0] == '.' && lex_class[(u8)at[1]] & LEX_NAME)
            at++;
        else if (at[0] == ':' && at[1] == ':' && lex_class[(u8)at[2]] & LEX_NAME)
            at += 2;
        else
            break;
    }
    lex->at = at;
    return (Str){from, (size_t)(at - from)};
}

static int digit_value(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return 99;
}

// Digits of `base`; false when there are none or they need more than 64 bits.
static bool digits(const char **at, int base, u64 *value) {
    const char *from = *at;
    *value = 0;
    bool fits = true;
    for (int digit; (digit = digit_value(**at)) < base; (*at)++) {
        u64 wider;
        fits &= !__builtin_mul_overflow(*value, (u64)base, &wider);
        fits &= !__builtin_add_overflow(wider, (u64)digit, value);
    }
    return fits && *at > from;
}

static Literal float_bits(Lexer *lex, u32 count, u8 kind) {
    const char *at = lex->at + 2, *from = at;
    u64 bits;
    bool good = digits(&at, 16, &bits) && at - from == (ptrdiff_t)count;
    lex->at = at;
    return (Literal){.kind = good ? kind : LITERAL_BAD, .bits = bits};
}

// strtod in the C locale, whatever the program has set.
static f64 decimal(const char *text) {
    locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!c_locale) return strtod(text, NULL);
    locale_t old = uselocale(c_locale);
    f64 value = strtod(text, NULL);
    uselocale(old);
    freelocale(c_locale);
    return value;
}

static Literal fraction(Lexer *lex, const char *from) {
    const char *at = from;
    while (digit_value(*at) < 10) at++;
    if (*at == '.') {
        at++;
        while (digit_value(*at) < 10) at++;
    }
    if (*at == 'e' || *at == 'E') {
        at++;
        if (*at == '+' || *at == '-') at++;
        while (digit_value(*at) < 10) at++;
    }
    lex->at = at;
    char text[MAX_FLOAT_TEXT];
    size_t len = (size_t)(at - from);
    if (len >= sizeof text || lex_class[(u8)*at] & LEX_NAME) return (Literal){.kind = LITERAL_BAD};
    memcpy(text, from, len);
    text[len] = 0;
    f64 value = decimal(text);
    Literal literal = {.kind = LITERAL_F64};
    memcpy(&literal.bits, &value, sizeof value);
    return literal;
}

static Literal integer(Lexer *lex, const char *at, int base) {
    Literal literal = {.kind = LITERAL_INT};
    bool good = digits(&at, base, &literal.bits);
    if (*at == 'U' || *at == 'u') literal.suffix = true, at++;
    literal.is_unsigned = literal.suffix || literal.bits >> 63;
    lex->at = at;
    if (!good || lex_class[(u8)*at] & LEX_NAME) literal.kind = LITERAL_BAD;
    return literal;
}

Literal lex_number(Lexer *lex) {
    const char *at = lex->at;
    if (at[0] == '0') {
        switch (at[1]) {
        case 'x':
        case 'X': return integer(lex, at + 2, 16);
        case 'b':
        case 'B': return integer(lex, at + 2, 2);
        case 'f':
        case 'F': return float_bits(lex, 8, LITERAL_F32);
        case 'd':
        case 'D': return float_bits(lex, 16, LITERAL_F64);
        default: break;
        }
    }
    const char *behind = at;
    while (digit_value(*behind) < 10) behind++;
    bool point = *behind == '.' && !(lex_class[(u8)behind[1]] & LEX_FIRST);
    if (point || *behind == 'e' || *behind == 'E') return fraction(lex, at);
    bool octal = at[0] == '0' && digit_value(at[1]) < 10;
    return octal ? integer(lex, at + 1, 8) : integer(lex, at, 10);
}

Str lex_string(Lexer *lex) {
    const char *from = ++lex->at;
    const char *at = from;
    while (at < lex->end && *at != '"' && *at != '\n')
        at += at[0] == '\\' && at + 1 < lex->end && at[1] != '\n' ? 2 : 1;
    if (at >= lex->end || *at != '"') return (Str){NULL, 0};
    lex->at = at + 1;
    return (Str){from, (size_t)(at - from)};
}

// To the next ; { or } outside strings and comments, or to the end: NUL.
static char next_mark(Lexer *lex) {
    for (;; lex->at++) {
        lex_skip(lex);
        char c = lex->at < lex->end ? *lex->at : '\0';
        if (c == '\0' || c == ';' || c == '{' || c == '}') return c;
        if (c == '"' && lex_string(lex).data) lex->at--;
    }
}

void lex_resync(Lexer *lex) {
    for (u32 depth = 0;; lex->at++) {
        switch (next_mark(lex)) {
        case '\0': return;
        case ';': lex->at++; return;
        case '{': depth++; break;
        default:
            if (depth-- == 0) return;
        }
    }
}

void lex_resync_module(Lexer *lex) {
    for (u32 depth = 0;; lex->at++) {
        switch (next_mark(lex)) {
        case '\0': return;
        case '{': depth++; break;
        case '}': depth -= depth > 0; break;
        default: break;
        }
        if (depth == 0 && *lex->at != '{') {
            lex->at++;
            return;
        }
    }
}
