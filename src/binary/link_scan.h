// SPDX-License-Identifier: Apache-2.0
// For link.c: PTX text cut into tokens and module-scope declarations. Texts are borrowed from the objects.
#ifndef WL_BINARY_LINK_SCAN_H
#define WL_BINARY_LINK_SCAN_H

#include "base/intern.h"
#include "binary/link.h"

typedef enum LinkTokenKind {
    LINK_END,
    LINK_WORD,       // name, %register, $label, opcode
    LINK_DIRECTIVE,  // .version, and the .u32 of mov.u32
    LINK_NUMBER,
    LINK_STRING,
    LINK_PUNCT,  // one character
    LINK_BAD,    // an open string or comment
} LinkTokenKind;

typedef struct LinkToken {
    LinkTokenKind kind;
    Str text;
    u32 line;
} LinkToken;

typedef struct LinkLexer {
    const char *at, *end;
    u32 line;  // from 1
} LinkLexer;

LinkToken link_next(LinkLexer *lexer);
LinkToken link_peek(const LinkLexer *lexer);
bool link_is(const LinkToken *token, const char *text);
u32 link_number(const LinkToken *token);  // decimal; 0 when it is not one

typedef enum DeclKind {
    DECL_FUNC,
    DECL_ENTRY,
    DECL_VAR,
    DECL_ALIAS,    // name = the alias, rest = the target
    DECL_LABEL,    // a label of .debug_str
    DECL_FILE,     // number, rest = path and what follows it
    DECL_STRINGS,  // .debug_str: rest = text between the braces
    DECL_OTHER,    // .pragma and the like: head = the whole statement
} DeclKind;

typedef enum DeclLinkage { DECL_STATIC, DECL_VISIBLE, DECL_EXTERN, DECL_WEAK, DECL_COMMON } DeclLinkage;
extern const char *const decl_linkage_words[];  // ".visible ", with a blank; "" for DECL_STATIC

typedef struct LinkDecl {
    DeclKind kind;
    DeclLinkage linkage;
    bool body;      // FUNC, ENTRY: has one
    bool noreturn;  // FUNC
    u32 object, line;
    u32 name;    // interned
    u32 number;  // FILE: its number; VAR: its .align
    Str head;    // VAR: ".global .align 4 .u32"; FUNC, ENTRY: the prototype, without linkage
    Str rest;    // VAR: "name[3] = {1, 2, 3}"; FUNC, ENTRY: what follows the prototype
} LinkDecl;

typedef struct LinkScan {  // of all objects
    Intern names;
    Vec(LinkDecl) decls;
    PtxHeader header;     // the highest of all
    Vec(u32) options;     // interned, of .target, without `debug`
    Vec(u32) references;  // pairs (object, name) that initialisers mention
} LinkScan;

WL_MUST_USE Status link_scan(LinkScan *scan, const PtxObject *object, u32 index, Diag *diag);
void link_scan_free(LinkScan *scan);

#endif
