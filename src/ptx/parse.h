// SPDX-License-Identifier: Apache-2.0
// What the parts of the parser share. Functions that parse return false after they have reported an error (or run out
// of memory: Parser.status); the caller then resynchronises. One Parser per text, on one thread.
#ifndef WL_PTX_PARSE_H
#define WL_PTX_PARSE_H

#include "ptx/form.h"
#include "ptx/lex.h"
#include "ptx/ptx.h"

typedef enum BindKind { BIND_NONE, BIND_REG, BIND_RANGE, BIND_VAR, BIND_FUNC } BindKind;

typedef struct Binding {  // a name and what it means, from here to the end of its scope
    u8 kind;              // BindKind
    u32 text;
    u32 ref;
    u32 count;  // RANGE: registers
    u32 depth;  // of the scope, 0 = module
    u32 outer;  // the binding of the same text that this one hides, + 1
} Binding;

typedef enum PendingKind { PENDING_OPERAND, PENDING_RELOC, PENDING_LABEL_REF, PENDING_FUNC_REF } PendingKind;

typedef struct Pending {  // a name used before its declaration: label, function, module variable
    u32 text;
    u32 at;  // index in Module.operands, relocs or refs; WL_NONE until the operand has its place
    u32 line, column;
    u8 kind;  // PendingKind
} Pending;

typedef struct OpenScope {
    u32 scope;     // Module.scopes
    u32 bindings;  // to cut back to
    u32 pendings;  // the first made in this scope
    u32 labels;    // likewise
} OpenScope;

typedef struct PrefixSlot {  // "%r" to its text, so that registers need no hashing
    u64 key;
    u32 text;
} PrefixSlot;

typedef struct LocKey {  // all locs of one (file, line, column)
    LocRef first;        // chained through Parser.loc_next
    LocRef latest;       // the last one met
} LocKey;

enum { MAX_DEPTH = 200, PREFIX_SLOTS = 64, MAX_ERRORS = 1000, MAX_REGS = 1 << 23 };

typedef struct Parser {
    Lexer lex;
    Module *m;
    Diag *diag;
    Status status;  // STATUS_NO_MEMORY ends the parse
    u32 errors;

    Vec(Form) forms;
    Vec(Insn) insns;
    Vec(Operand) operands;
    Vec(Reg) regs;
    Vec(RegDecl) reg_decls;
    Vec(Var) vars;
    Vec(u32) global_vars;
    Vec(u32) global_directives;
    Vec(Function) funcs;
    Vec(Label) labels;
    Vec(Scope) scopes;
    Vec(Loc) locs;
    Vec(File) files;
    Vec(Directive) directives;
    Vec(Section) sections;
    Vec(VarReloc) relocs;
    Vec(u32) dims;
    Vec(u32) refs;
    Vec(u8) init_bytes;

    FormCache cache;
    Vec(Binding) bindings;
    Vec(u32) heads;  // by TextRef: newest binding + 1
    PrefixSlot prefixes[PREFIX_SLOTS];
    u32 numbered_names[256];  // by first character: plain names in scope that end in a digit, like %r1
    Vec(Pending) pendings;
    Vec(u32) label_of;     // scratch by TextRef: label + 1, used while a scope closes
    Vec(Operand) scratch;  // operands of unfinished instructions and groups

    Map loc_index;  // hash of the triple to loc_keys
    Vec(LocKey) loc_keys;
    Vec(u32) loc_next;  // by LocRef
    LocRef loc;         // current .loc

    u32 order;                       // next Function.order, Label.order, ...
    FuncRef func;                    // WL_NONE at module scope
    Vec(OpenScope) open;             // scopes around the cursor
    Vec(Directive) func_directives;  // of the function being parsed
    Vec(Var) proto_vars;             // parameters of its .callprototypes
    Vec(u32) protos;                 // their FuncRefs
} Parser;

// parse.c
bool parse_error(Parser *p, const char *at, const char *format, ...) WL_PRINTF(3, 4);  // always false
bool parse_no_memory(Parser *p);                                                       // always false
bool parse_expect(Parser *p, char c);              // skips space before and after it
bool parse_expected(Parser *p, const char *what);  // says "expected `what` before" what stands there; false
bool parse_accept(Parser *p, char c);
bool parse_intern(Parser *p, Str text, u32 *id);
bool parse_name(Parser *p, const char *what, Str *name);
bool parse_directive_values(Parser *p, Str name, Directive *directive);  // ints or strings up to what cannot follow
static inline bool parse_is(Str text, const char *other) {
    return __builtin_strlen(other) == text.len && __builtin_memcmp(text.data, other, text.len) == 0;
}

// PUSH(p, &p->vec, value): false when memory is out
#define PUSH(p, vec, ...) (vec_push(vec, __VA_ARGS__) == STATUS_OK || parse_no_memory(p))

static inline u32 parse_insn_index(const Parser *p) {
    return p->func == WL_NONE ? WL_NONE : p->insns.len - p->funcs.data[p->func].insns;
}

// symbols.c
bool symbol_bind(Parser *p, const char *at, u8 kind, u32 text, u32 ref, u32 count);
Binding symbol_find(Parser *p, Str name, u32 *number);  // number: index in a RANGE
bool symbol_pend(Parser *p, Str name, u8 kind, u32 at);
bool scope_open(Parser *p);
bool scope_close(Parser *p);
bool symbols_finish(Parser *p);  // what no scope knew: functions and module variables declared later

// parse_expr.c
bool parse_constant(Parser *p, Literal *value);       // a whole constant expression
bool parse_constant_rest(Parser *p, Literal *value);  // ... whose first literal was read
bool parse_integer(Parser *p, const char *what, u64 *value);
bool parse_u32(Parser *p, const char *what, u32 *value);

// parse_operand.c
bool parse_operand(Parser *p, bool call, Operand *operand);
bool parse_flush_operands(Parser *p, u32 from, u32 *first);  // scratch[from..] to Module.operands

// parse_insn.c
bool parse_insn(Parser *p);

// parse_decl.c
bool parse_reg_decl(Parser *p);
bool parse_variables(Parser *p, u8 space, u8 linkage);   // behind the state space, up to and with ';'
bool parse_parameter(Parser *p, Var *var, bool *named);  // one in a list, `.param` or `.reg`
bool parse_space(Str dotted, u8 *space);
bool parse_attributes(Parser *p, u32 *first, u32 *count);  // ( .managed, .unified(..) )

// parse_func.c
bool parse_function(Parser *p, bool is_entry, u8 linkage);

// parse_init.c
bool parse_initializer(Parser *p, Var *var);  // behind the '='

// parse_debug.c
bool parse_loc(Parser *p);
bool parse_file(Parser *p);
bool parse_section(Parser *p);
bool debug_finish(Parser *p);  // names of inlined functions

#endif
