// SPDX-License-Identifier: Apache-2.0
// Machine code (SASS) of Volta and later as instructions with typed operands, read from what `nvdisasm -json` prints
// (CUDA 12.8 and later; "CUDA Binary Utilities", appendix "JSON Format"). What an opcode does is a row of sass_ops.def.
// A SassModule owns everything and is immutable once read.
#ifndef WL_SASS_SASS_H
#define WL_SASS_SASS_H

#include "base/arena.h"
#include "base/diag.h"
#include "base/vec.h"

typedef enum SassOp {
#define OP(name, kind, unit, space, access, defs, width, time) SASS_OP_##name,
#include "sass/sass_ops.def"
#undef OP
    SASS_OP_UNKNOWN,
    SASS_OP_COUNT = SASS_OP_UNKNOWN
} SassOp;

typedef enum SassAccess {
    SASS_LOAD = 1 << 0,
    SASS_STORE = 1 << 1,
    SASS_ATOMIC = 1 << 2,
    SASS_BARRIER = 1 << 3,  // of a CTA or cluster
    SASS_FENCE = 1 << 4,
    SASS_WARP = 1 << 5,    // exchanges values between lanes
    SASS_ASYNC = 1 << 6,   // copies while the warp goes on
    SASS_EFFECT = 1 << 7,  // has effects beyond its registers
    SASS_TEXTURE = 1 << 8,
    SASS_MATRIX = 1 << 9,
} SassAccess;

typedef enum SassWidth {
    SASS_WIDTH_ONE,            // 32 bits each
    SASS_WIDTH_TWO,            // 64 bits each: doubles, packed pairs of floats
    SASS_WIDTH_BY64,           // TWO with .64, else ONE
    SASS_WIDTH_PAIR,           // 64 bits unless .32: clocks, program counters
    SASS_WIDTH_MEMORY,         // data by .64 .128 .256, addresses by .E or .64
    SASS_WIDTH_WIDE,           // .WIDE: result and last source of 64 bits; .HI: the last source
    SASS_WIDTH_CONVERT,        // by the types: .F64 .S64 .U64 first for the result, then for the source
    SASS_WIDTH_TARGET,         // addresses of code: 64 bits
    SASS_WIDTH_MMA,            // fragments by shape and types
    SASS_WIDTH_GMMA,           // fragments of a warpgroup
    SASS_WIDTH_MATRIX,         // .2 .4 matrices
    SASS_WIDTH_TEXTURE,        // coordinates and results of up to 4 registers
    SASS_WIDTH_TENSOR_MEMORY,  // .xN
} SassWidth;

typedef enum SassTime {  // classes of latency.h
#define SASS_TIME(id, text) SASS_TIME_##id,
#include "sass/times.def"
#undef SASS_TIME
    SASS_TIME_COUNT
} SassTime;

typedef struct SassOpInfo {
    const char *name;
    const char *defs;
    u16 access;  // SassAccess
    u8 width;    // SassWidth
    u8 time;     // SassTime
} SassOpInfo;
extern const SassOpInfo sass_ops[SASS_OP_COUNT + 1];  // the last one stands for unknown opcodes

// The opcode of a mnemonic, by what stands before its first dot; SASS_OP_UNKNOWN.
SassOp sass_find_op(Str mnemonic);

typedef enum SassFile { SASS_NO_FILE, SASS_R, SASS_UR, SASS_P, SASS_UP, SASS_B, SASS_FILE_COUNT } SassFile;
enum { SASS_ZERO = 255, SASS_TRUE = 7 };  // RZ and URZ, PT and UPT: no register; in `index` both are SASS_ZERO

typedef struct SassReg {
    u8 file;   // SassFile; SASS_NO_FILE: none
    u8 index;  // SASS_ZERO: reads as 0 (predicates: as true), writes are dropped
    u8 count;  // registers from `index` on
} SassReg;

typedef enum SassOperandKind {
    SASS_OPERAND_OTHER,      // PR, 2D, ARRAY_1D, SB0, gsb0, ...: `text`
    SASS_OPERAND_REG,        // register or predicate
    SASS_OPERAND_IMMEDIATE,  // `value`; of a floating-point literal its bits: of a half in H instructions, a double in
                             // D instructions, else a float
    SASS_OPERAND_SPECIAL,    // SR_TID.X: `text`
    SASS_OPERAND_CONSTANT,   // c[bank][value], c[bank][reg + value]
    SASS_OPERAND_ADDRESS,    // [reg + index + value], desc[descriptor][...]
    SASS_OPERAND_TARGET,     // `value`: offset in the function's section, -1 = not known
} SassOperandKind;

typedef struct SassOperand {
    u8 kind;  // SassOperandKind
    bool is_def;
    bool negated;    // -R1, !P0
    bool inverted;   // ~R1
    bool absolute;   // |R1|
    bool is_float;   // IMMEDIATE
    u8 words;        // of 32 bits, of a value (REG, IMMEDIATE, CONSTANT)
    u8 bank;         // CONSTANT; 0xff: named by a register (`index`)
    u8 scale;        // ADDRESS: reg is multiplied with 1 << scale
    SassReg reg;     // REG; ADDRESS: the base; CONSTANT: the index
    SassReg index;   // ADDRESS: the second register
    SassReg handle;  // ADDRESS: the descriptor
    i64 value;
    const char *text;  // as printed
} SassOperand;

typedef struct SassInsn {
    u16 op;          // SassOp
    SassReg guard;   // file SASS_NO_FILE: none
    bool guard_not;  // @!P0
    u8 operand_count;
    u32 operands;      // SassModule.operands
    u32 offset;        // bytes from the function's begin
    const char *name;  // the mnemonic with its modifiers
} SassInsn;

// Routines that the compiler put behind a function (divisions, roots, device functions that were not inlined) are part
// of it, as they are for the hardware and for CUPTI: places count from the function's begin.
typedef struct SassRoutine {
    const char *name;
    u32 offset;  // bytes from the function's begin
} SassRoutine;

typedef struct SassFunction {
    const char *name;                  // mangled
    u32 start;                         // in its section: what is subtracted from targets
    u32 first, count;                  // SassModule.insns, those of its routines included
    u32 first_routine, routine_count;  // SassModule.routines
    u32 unknown;                       // instructions whose opcode is not known
} SassFunction;

typedef struct SassModule {
    u32 sm;  // 90
    Vec(SassFunction) functions;
    Vec(SassInsn) insns;
    Vec(SassOperand) operands;
    Vec(SassRoutine) routines;
    u32 unknown;
    Arena arena;
} SassModule;

// `name` is for messages. STATUS_FORMAT: no listing, or one of another shape. Zero the module first; on failure it is
// empty. Free with sass_free.
WL_MUST_USE Status sass_read(SassModule *module, Str json, const char *name, Diag *diag);
void sass_free(SassModule *module);
const SassFunction *sass_find_function(const SassModule *module, Str name);  // NULL when absent

static inline const SassOpInfo *sass_op(const SassInsn *insn) { return &sass_ops[insn->op]; }
// Guarded by !PT: issued, and without any effect.
static inline bool sass_is_never(const SassInsn *insn) { return insn->guard.index == SASS_ZERO && insn->guard_not; }
// Whether the mnemonic has the modifier (without its dot): "WIDE" of "IMAD.WIDE.U32".
bool sass_has(const SassInsn *insn, const char *modifier);
// Bytes that an access of this instruction moves per lane, 0 = not known or no access.
u32 sass_access_bytes(const SassInsn *insn);

#endif
