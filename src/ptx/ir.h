// SPDX-License-Identifier: Apache-2.0
// The PTX module in memory: immutable after ptx_parse, owned by its Module, addressed by 32-bit references.
// All arrays live in the module's memory; nothing points outside. Any number of threads may read it.
//
// Shape: a Module has Functions, Variables (globals, params, locals), Registers, Forms, Insns and Operands in flat
// arrays. An instruction names a Form: the opcode with all its modifiers, decoded once per distinct spelling.
// The stable key of an instruction is (module hash, function, index within the function).
// `order` counts everything but instructions through the text, so that the printer can put it back where it stood.
#ifndef WL_PTX_IR_H
#define WL_PTX_IR_H

#include "base/intern.h"
#include "base/types.h"
#include "ptx/ops.h"

typedef u32 TextRef;   // id in Module.texts
typedef u32 RegRef;    // index in Module.regs
typedef u32 VarRef;    // index in Module.vars
typedef u32 FuncRef;   // index in Module.funcs
typedef u32 LabelRef;  // index in Module.labels
typedef u32 LocRef;    // index in Module.locs

typedef enum PtxSpace {  // state spaces, PTX ISA 5.1; also Form.space
    SPACE_NONE,          // on ld/st/atom: generic addressing
    SPACE_REG,
    SPACE_SREG,
    SPACE_CONST,
    SPACE_GLOBAL,
    SPACE_LOCAL,
    SPACE_PARAM,   // .param, .param::entry, .param::func
    SPACE_SHARED,  // .shared, .shared::cta
    SPACE_SHARED_CLUSTER,
    SPACE_TEX,
    SPACE_TENSOR,  // .tmem of tcgen05
    SPACE_COUNT
} PtxSpace;

typedef enum OperandKind {
    OPERAND_NONE,
    OPERAND_REG,      // ref: RegRef
    OPERAND_INT,      // value: the 64-bit pattern of an integer literal
    OPERAND_F32,      // value: bits in the low half (0f3F800000)
    OPERAND_F64,      // value: bits (0d..., and decimal literals)
    OPERAND_SREG,     // ref: PtxSreg (sregs.def), component: 0..3 for .x .y .z .w, else 0xff
    OPERAND_VAR,      // ref: VarRef, value: byte offset (a variable's address: mov.u64 %rd1, buf+4)
    OPERAND_LABEL,    // ref: LabelRef
    OPERAND_FUNC,     // ref: FuncRef (call targets, function addresses)
    OPERAND_ADDRESS,  // [base+value]: kind of the base in `base`, the base itself in `ref`
    OPERAND_VECTOR,   // {a,b,..}: ref: first element in Module.operands, count elements
    OPERAND_GROUP,  // ( a, b ) of call lists and [a, {..}] of tex and tensor addresses: like VECTOR. The first element
                    // of a bracket group is a plain REG or VAR, or an ADDRESS for reg+offset
    OPERAND_PAIR,   // d|p: like VECTOR with count 2
    OPERAND_SINK,   // _
} OperandKind;

enum {
    OPERAND_NEGATED = 1,    // !p, or -x of a register where the ISA allows it
    OPERAND_PAREN = 2,      // GROUP printed with ( ), else with [ ]
    OPERAND_UNSIGNED = 4,   // integer literal carried a U suffix
    OPERAND_NEGATIVE = 8,   // integer literal was written with a minus sign
    OPERAND_UNIFIED = 16,   // ADDRESS written [a].unified
    OPERAND_MINUS = 32,     // with NEGATED: -x rather than !x
    OPERAND_PENDING = 128,  // inside the parser only: the name is not resolved yet
};

// Operand.component of a REG.
enum {
    COMPONENT_X = 1,
    COMPONENT_Y,
    COMPONENT_Z,
    COMPONENT_W,  // also .r .g .b .a
    COMPONENT_B0,
    COMPONENT_B1,
    COMPONENT_B2,
    COMPONENT_B3,
    COMPONENT_H0,
    COMPONENT_H1,
    COMPONENT_BYTES,   // .b3210 of SIMD video: `value` holds the digits as nibbles, the last digit lowest, and their
    COMPONENT_HALVES,  // .h32                  number in bits 32..35
};

typedef struct Operand {
    u8 kind;  // OperandKind
    u8 flags;
    u8 base;       // ADDRESS: OperandKind of the base: REG, VAR or INT (absolute address, then ref is WL_NONE)
    u8 component;  // SREG: vector component; REG: .x/.y/.z/.w/.b0.. selector + 1 of video instructions, 0 = none
    u32 ref;
    union {
        u64 value;  // literal bits, or the byte offset of VAR and ADDRESS (two's complement)
        u32 count;  // elements of VECTOR, GROUP, PAIR
    };
} Operand;

typedef struct Insn {
    u32 form;     // index in Module.forms
    u32 operand;  // first operand in Module.operands
    u32 guard;    // RegRef of the guarding predicate, WL_NONE when unguarded
    LocRef loc;   // source position, 0 = none
    u32 line;     // line of the PTX text
    u8 operands;  // number of top-level operands
    bool guard_negated;
    u16 spare;
} Insn;

typedef struct Reg {
    TextRef prefix;  // "%r" of "%r12"; the whole name when number is WL_NONE
    u32 number;
    u32 scope;  // Module.scopes
    u8 type;    // PtxType
    u8 vector;  // 1, 2 or 4 (.v2/.v4 registers)
    u16 spare;
} Reg;

typedef struct RegDecl {  // one declarator: .reg .b32 %r<10>;
    RegRef first;
    u32 count;  // registers declared
    TextRef prefix;
    u32 scope;
    u8 type, vector;
    bool ranged;      // written with <count>
    u32 insn, order;  // position: before this instruction of the function
} RegDecl;

typedef enum PtxLinkage { LINKAGE_NONE, LINKAGE_VISIBLE, LINKAGE_EXTERN, LINKAGE_WEAK, LINKAGE_COMMON } PtxLinkage;

typedef struct VarReloc {  // an initialiser element that is an address
    u32 offset;            // byte offset in the variable
    u8 size;               // 8, 4; with a mask() operator: 1, 2
    u8 shift;              // bits to shift right: 8 * byte index of the mask
    bool generic;          // generic(symbol)
    bool is_func;
    u32 target;  // VarRef or FuncRef
    i64 addend;
} VarReloc;

typedef struct Var {
    TextRef name;
    u8 space;                         // PtxSpace
    u8 type;                          // PtxType of an element
    u8 vector;                        // 1, 2, 4
    u8 linkage;                       // PtxLinkage
    u32 align;                        // bytes, at least the natural alignment
    u64 size;                         // bytes; 0 for extern arrays of unknown size
    FuncRef func;                     // owner of params and locals, WL_NONE for module scope
    u32 scope;                        // Module.scopes, for variables declared in a body
    u32 dims, dim_count;              // Module.dims: array extents; an extent 0 is []
    u32 init, init_size;              // Module.init_bytes: initial bytes (the rest is zero); init_size 0: none
    u32 reloc, reloc_count;           // Module.relocs
    u32 attributes, attribute_count;  // Module.directives, e.g. .attribute(.managed)
    u8 ptr_space;                     // .param .u64 .ptr .global .align 16: space + 1, 0 = no .ptr
    bool managed;
    bool unsized;  // declared with [] and no initialiser (dynamic shared memory)
    u32 ptr_align;
    u32 line;
    u32 insn, order;  // position of a variable declared in a body; order alone at module scope
    RegRef reg;       // SPACE_REG parameters of .func: the register, WL_NONE otherwise
} Var;

typedef struct Label {
    TextRef name;
    FuncRef func;
    u32 insn;  // index within the function; insns count at the end of the body
    u32 scope;
    u32 targets, target_count;  // .branchtargets / .calltargets list: Module.refs; else count 0
    u32 proto;                  // .callprototype: a FuncRef without body, else WL_NONE
    u8 kind;                    // LabelKind
    u32 line;
    u32 order;
} Label;

typedef enum LabelKind { LABEL_CODE, LABEL_BRANCH_TARGETS, LABEL_CALL_TARGETS, LABEL_PROTOTYPE } LabelKind;

typedef struct Scope {  // { ... } in a body; scope 0 of a function is the body itself
    u32 parent;         // WL_NONE for the body
    FuncRef func;
    u32 begin, end;  // instruction indices within the function
    u32 order, order_end;
} Scope;

typedef struct Loc {  // .loc
    u32 file;         // index in Module.files
    u32 line, column;
    TextRef function;        // function_name of an inlined frame, WL_NONE otherwise
    LocRef inlined_at;       // the call site's Loc, 0 = not inlined
    TextRef function_label;  // as written, for the printer; WL_NONE when there is none
    u32 function_offset;
} Loc;

typedef struct File {  // .file
    u32 index;         // number used by .loc
    TextRef path;
    u64 timestamp, size;
    bool has_timestamp;
} File;

typedef struct Directive {    // .maxntid 256,1,1  .pragma "nounroll"  .version 8.0 ... kept for analysis and printing
    TextRef name;             // without the dot
    u32 values, value_count;  // Module.refs: integers; or TextRefs when is_text (.pragma strings, the names of .alias)
    u32 insn;                 // .pragma in a body: position
    u32 scope;
    bool is_text;
    u32 order;
} Directive;

typedef struct Function {
    TextRef name;
    bool is_entry;
    bool has_body;              // false: a declaration
    bool is_prototype;          // a .callprototype inside another function
    u8 linkage;                 // PtxLinkage
    u32 returns, return_count;  // Module.vars
    u32 params, param_count;    // Module.vars
    RegRef regs;
    u32 reg_count;  // registers of the function are contiguous
    u32 reg_decls, reg_decl_count;
    u32 vars, var_count;    // variables declared in the body, contiguous in Module.vars
    u32 insns, insn_count;  // contiguous in Module.insns
    u32 labels, label_count;
    u32 scopes, scope_count;
    u32 directives, directive_count;
    u32 max_threads[3];       // .maxntid, 0 = not given
    u32 required_cluster[3];  // .reqnctapercluster, 0 = not given
    u32 max_cluster;          // .maxclusterrank, 0 = not given
    u32 required_threads[3];  // .reqntid
    u32 min_ctas, max_regs;   // .minnctapersm, .maxnreg; 0 = not given
    bool noreturn;
    bool explicit_cluster;  // .explicitcluster
    u32 line;
    u32 order;
} Function;

typedef struct Section {  // .section .debug_str { ... }: kept as text for the printer, strings are looked up for
                          // Loc.function
    TextRef name;
    TextRef body;  // between the braces
} Section;

typedef struct Module {
    Intern texts;
    const char *path;        // as given to the parser, owned
    u64 hash;                // hash_bytes of the PTX text
    u32 version;             // major * 10 + minor
    TextRef target;          // "sm_75" (first of the list)
    u32 target_sm;           // 75
    TextRef target_options;  // the rest of the list, e.g. "debug", WL_NONE
    u32 address_size;        // 64 or 32
    bool relocatable;        // set by who loads it: ptxas did not know where its variables would lie (-rdc=true)
    Form *forms;
    u32 form_count;
    Insn *insns;
    u32 insn_count;
    Operand *operands;
    u32 operand_count;
    Reg *regs;
    u32 reg_count;
    RegDecl *reg_decls;
    u32 reg_decl_count;
    Var *vars;
    u32 var_count;
    u32 *global_vars;
    u32 global_var_count;  // module-scope variables in order of declaration
    u32 *global_directives;
    u32 global_directive_count;  // in directives: module-scope .pragma, .alias, ...
    Function *funcs;
    u32 func_count;
    Label *labels;
    u32 label_count;
    Scope *scopes;
    u32 scope_count;
    Loc *locs;
    u32 loc_count;  // locs[0] is "none"
    File *files;
    u32 file_count;
    Directive *directives;
    u32 directive_count;
    Section *sections;
    u32 section_count;
    VarReloc *relocs;
    u32 reloc_count;
    u32 *dims;
    u32 dims_count;
    u32 *refs;
    u32 refs_count;
    u8 *init_bytes;
    u32 init_bytes_count;
} Module;

static inline const Form *insn_form(const Module *m, const Insn *insn) { return &m->forms[insn->form]; }
static inline const Operand *insn_operand(const Module *m, const Insn *insn, u32 i) {
    return &m->operands[insn->operand + i];
}
static inline const char *module_text(const Module *m, TextRef ref) { return intern_text(&m->texts, ref); }

FuncRef module_find_function(const Module *m, Str name);  // WL_NONE when absent; a definition wins over a declaration
VarRef module_find_global(const Module *m, Str name);     // module-scope variable
const File *module_file(const Module *m, u32 index);      // by .file number; NULL when absent

#endif
