// SPDX-License-Identifier: Apache-2.0
// The character level of the PTX parser: white space, comments, names, literals. There is no token list: the parser
// looks at the next character and asks for what it expects.
#ifndef WL_PTX_LEX_H
#define WL_PTX_LEX_H

#include "base/types.h"

enum { LEX_SPACE = 1, LEX_NAME = 2, LEX_DIGIT = 4, LEX_FIRST = 8 };  // bits of lex_class

extern const u8 lex_class[256];

typedef struct Lexer {
    const char *at;   // next character
    const char *end;  // the NUL behind the text; more NULs follow
    const char *line_start;
    u32 line;  // from 1
} Lexer;

typedef enum LiteralKind { LITERAL_BAD, LITERAL_INT, LITERAL_F32, LITERAL_F64 } LiteralKind;

typedef struct Literal {
    u8 kind;           // LiteralKind
    bool is_unsigned;  // type .u64: a U suffix, or too large for .s64
    bool suffix;       // a U suffix
    u64 bits;
} Literal;

void lex_skip_slow(Lexer *lex);

// Skips white space, comments and preprocessor lines.
static inline void lex_skip(Lexer *lex) {
    while (*lex->at == ' ' || *lex->at == '\t') lex->at++;
    if (lex_class[(u8)*lex->at] & LEX_SPACE) lex_skip_slow(lex);
}

static inline u32 lex_column(const Lexer *lex, const char *at) { return (u32)(at - lex->line_start) + 1; }

// A name or word at the cursor; empty when there is none. Names start with a letter, _, $ or %.
static inline Str lex_name(Lexer *lex) {
    const char *from = lex->at;
    if (!(lex_class[(u8)*from] & LEX_FIRST)) return (Str){from, 0};
    const char *at = from + 1;
    while (lex_class[(u8)*at] & LEX_NAME) at++;
    lex->at = at;
    return (Str){from, (size_t)(at - from)};
}

// ".name", or ".name::part::part"; empty when the cursor is not at a dot followed by a name.
Str lex_dotted(Lexer *lex);

// A mnemonic with all its modifiers. The cursor is at its first character.
Str lex_mnemonic(Lexer *lex);

// A number: decimal, 0x, 0b, octal, U suffix, 0f, 0d, or a decimal fraction. No sign.
Literal lex_number(Lexer *lex);

// Moves behind the closing quote; the content is returned. data is NULL when there is no closing quote on the line.
Str lex_string(Lexer *lex);

// After an error in a body: on to behind the next ';', or to the '}' that closes the enclosing block, or to the end.
void lex_resync(Lexer *lex);

// After an error at module scope: on to behind the next ';' outside braces, or behind the next { } block.
void lex_resync_module(Lexer *lex);

#endif
