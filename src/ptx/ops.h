// SPDX-License-Identifier: Apache-2.0
// The instruction set as data: one row of ops.def per instruction, one row of mods.def per modifier.
// Everything that any module wants to know about an opcode is a column there.
#ifndef WL_PTX_OPS_H
#define WL_PTX_OPS_H

#include "base/types.h"

typedef enum PtxType {
    TYPE_NONE,
#define TYPE(name, text, bits, class, elements) TYPE_##name,
#include "ptx/types.def"
#undef TYPE
    TYPE_COUNT
} PtxType;

typedef enum TypeClass {
    TYPE_CLASS_NONE,
    TYPE_CLASS_UINT,
    TYPE_CLASS_SINT,
    TYPE_CLASS_BITS,
    TYPE_CLASS_FLOAT,
    TYPE_CLASS_PRED,
    TYPE_CLASS_OPAQUE
} TypeClass;

typedef struct TypeInfo {
    const char *text;  // without the dot
    u16 bits;
    u8 class;  // TypeClass
    u8 elements;
} TypeInfo;

extern const TypeInfo ptx_types[TYPE_COUNT];

typedef enum PtxSreg {
#define SREG(name, text, type, vector, divergence, isa) SREG_##name,
#include "ptx/sregs.def"
#undef SREG
    SREG_COUNT
} PtxSreg;

typedef struct SregInfo {
    const char *text;  // with the %, e.g. "%tid"
    u8 type;           // PtxType of a component
    u8 vector;         // components: 1 or 4
    u8 divergence;     // Divergence of the value
    u16 isa;           // first PTX version, major * 10 + minor
} SregInfo;

extern const SregInfo ptx_sregs[SREG_COUNT];

// How the results of an instruction differ between the lanes of a warp.
typedef enum Divergence {
    DIV_OF_SOURCES,  // uniform when all sources are
    DIV_UNIFORM,     // always the same in all active lanes (vote.ballot, ld.param with a uniform address, ...)
    DIV_DIVERGENT,   // may always differ (atom, shfl, tid)
    DIV_MEMORY,      // a load: uniform when the address is and the memory is the same for all lanes (not .local)
} Divergence;

// The execution unit class: which pipe the hardware would use. Timing per class is in the GPU model.
typedef enum UnitClass {
    UNIT_NONE,      // directives in disguise, nothing issued
    UNIT_ALU,       // integer and logic
    UNIT_FMA,       // f32 add, mul, fma
    UNIT_FMAHEAVY,  // integer multiply-add
    UNIT_FP64,
    UNIT_FP16,
    UNIT_XU,   // transcendental, conversions
    UNIT_LSU,  // load, store, atomics, shuffles
    UNIT_TEX,
    UNIT_TENSOR,
    UNIT_ADU,      // barriers, address divergence
    UNIT_CBU,      // branches, calls
    UNIT_UNIFORM,  // warp-wide uniform
    UNIT_TMA,      // bulk copies
    UNIT_COUNT
} UnitClass;

typedef enum OpFlag {
    OPF_BRANCH = 1 << 0,    // may set the pc: bra, brx
    OPF_INDIRECT = 1 << 1,  // target comes from a register (brx.idx, call through a register)
    OPF_CALL = 1 << 2,
    OPF_RET = 1 << 3,
    OPF_EXIT = 1 << 4,
    OPF_TRAP = 1 << 5,
    OPF_LOAD = 1 << 6,     // reads memory
    OPF_STORE = 1 << 7,    // writes memory
    OPF_ATOMIC = 1 << 8,   // atom, red
    OPF_BARRIER = 1 << 9,  // CTA or cluster barrier
    OPF_FENCE = 1 << 10,
    OPF_WARP_SYNC = 1 << 11,   // waits for the lanes of its membermask
    OPF_ASYNC = 1 << 12,       // completes later (cp.async, wgmma, ...)
    OPF_CONVERGENT = 1 << 13,  // must not be duplicated or moved over divergence
    OPF_VOLATILE = 1 << 14,    // has effects beyond its defs: never dead (clock, nanosleep, ...)
    OPF_CARRY_IN = 1 << 15,    // reads CC.CF
    OPF_CARRY_OUT = 1 << 16,   // writes CC.CF (with .cc)
    OPF_TEXTURE = 1 << 17,
    OPF_SURFACE = 1 << 18,
    OPF_MATRIX = 1 << 19,  // wmma, mma, wgmma, tcgen05: fragments over the whole warp
} OpFlag;

typedef enum PtxOp {
#define OP(id, name, mods, sig, flags, unit, div, exec, isa, sm) OP_##id,
#include "ptx/ops.def"
#undef OP
    OP_COUNT
} PtxOp;

typedef struct OpInfo {
    const char *name;  // mnemonic without modifiers; may contain dots ("cp.async.bulk")
    const char *mods;  // modifier grammar, see ops.def
    const char *sig;   // operand signature, see ops.def
    u32 flags;         // OpFlag
    u8 unit;           // UnitClass
    u8 divergence;     // Divergence
    u8 isa;            // PTX version that introduced it, major * 10 + minor
    u8 sm;             // lowest target
    bool executable;   // exec column is not `none`
} OpInfo;

extern const OpInfo ptx_ops[OP_COUNT];

// Modifier classes and tokens: mods.def
typedef enum ModClass {
#define MOD_CLASS(name) MOD_##name,
#define MOD(class, token, text)
#include "ptx/mods.def"
#undef MOD_CLASS
#undef MOD
    MOD_CLASS_COUNT
} ModClass;

// Values of all classes in one enum, in the order of mods.def: e.g. RND_RN, CMP_EQ, SEM_ACQUIRE.
typedef enum ModToken {
    MOD_TOKEN_NONE,
#define MOD_CLASS(name)
#define MOD(class, token, text) class##_##token,
#include "ptx/mods.def"
#undef MOD_CLASS
#undef MOD
    MOD_TOKEN_COUNT
} ModToken;

typedef struct ModInfo {
    const char *text;  // with the dot
    u8 class;          // ModClass
} ModInfo;

extern const ModInfo ptx_mods[MOD_TOKEN_COUNT];

// What an operand of a form is.
typedef enum OperandAccess {
    ACCESS_READ,
    ACCESS_WRITE,
    ACCESS_READ_WRITE,
    ACCESS_ADDRESS,  // base registers are read; memory is touched as the op's flags say
    ACCESS_TARGET,   // label or function, or the register (read) that holds the function's address
} OperandAccess;

typedef struct OperandSpec {
    u8 access;  // OperandAccess
    u8 type;    // PtxType of the register or literal expected; TYPE_NONE = any
    u8 kinds;   // OperandMask
    u8 vector;  // elements wanted: 1, 2, 4, 8, ...; 0 = any
    bool optional;
    bool wide;  // a register wider than the type is allowed (ld/st/cvt, PTX ISA 9.4)
} OperandSpec;

enum OperandMask {
    TAKES_REG = 1,
    TAKES_IMM = 2,
    TAKES_PRED = 4,
    TAKES_ADDRESS = 8,
    TAKES_LABEL = 16,
    TAKES_VECTOR = 32,
    TAKES_PAIR = 64,
    TAKES_SYMBOL = 128,
};

#define FORM_MAX_OPERANDS 10
#define FORM_MAX_TYPES 6

// An opcode with all its modifiers, decoded once per distinct spelling and operand shapes in a module: specs[i]
// describes operand i of every instruction of this form.
typedef struct Form {
    u32 text;                  // TextRef of the mnemonic as written: "ld.global.nc.v4.f32"
    u16 op;                    // PtxOp
    u8 types[FORM_MAX_TYPES];  // in order of appearance; types[0] is the first one written
    u8 type_count;
    u8 space, space2;  // PtxSpace written (second: cvta.to, cp source), SPACE_NONE when none
    u8 vector;         // 1, 2, 4, 8
    u8 spec_count;
    u8 spec_required;           // specs up to here may not be left out
    u16 mods[MOD_CLASS_COUNT];  // ModToken by class, MOD_TOKEN_NONE when absent
    OperandSpec specs[FORM_MAX_OPERANDS];
} Form;

static inline const OpInfo *form_op(const Form *form) { return &ptx_ops[form->op]; }
static inline u32 type_bytes(u8 type) { return (u32)(ptx_types[type].bits + 7) / 8; }

#endif
