// SPDX-License-Identifier: Apache-2.0
// A function lowered for execution: SimInsns that hold function pointers and byte offsets instead of names and types.
// Owned by its SimModule; immutable once lowered; shared by all worker threads.
//
// Registers are structure-of-arrays, 32 lanes wide. A call frame has three areas: r32 (128 bytes a register: every type
// up to 32 bits, one u32 per lane, upper bits of narrower types undefined), r64 (256 bytes a register; b128 takes two
// neighbours), and predicates (one u32 mask each). Predicate slots 0 and 1 of each frame hold false and true. Literals,
// module-scope addresses and other values known when lowering sit in the function's constant areas c32 and c64, already
// broadcast, so that a source operand is always an array of 32 lanes.
#ifndef WL_SIM_CODE_H
#define WL_SIM_CODE_H

#include "ptx/ir.h"

typedef struct Exec Exec;
typedef struct SimInsn SimInsn;

// Executes one warp instruction for the lanes in `mask` (never 0). Writes only lanes in `mask`.
typedef void (*ExecFn)(Exec *x, const SimInsn *in, u32 mask);

// An operand: area in the top 2 bits, byte offset from the area's base below.
typedef u32 SimOperand;
enum { AREA_R32, AREA_R64, AREA_C32, AREA_C64, AREA_COUNT };
#define SIM_OPERAND(area, offset) ((SimOperand)(area) << 30 | (SimOperand)(offset))
#define SIM_NO_OPERAND UINT32_MAX  // `_`, or an operand left out

typedef enum SimKind {  // what the warp loop has to do besides, or instead of, calling exec
    SIM_PLAIN,          // exec only
    SIM_MEMORY,         // exec touches memory: may fault
    SIM_WARP_SYNC,      // wait until the lanes of the membermask (src[SYNC_MASK]) are here, then exec
    SIM_BRANCH,
    SIM_SWITCH,
    SIM_CALL,
    SIM_RET,
    SIM_EXIT,
    SIM_TRAP,
    SIM_BARRIER,  // CTA barrier; exec is called on release of bar.red (or NULL)
    SIM_WAIT,     // may ask to be tried again: exec sets x->retry (mbarrier.try_wait with suspension, nanosleep)
} SimKind;

enum {
    SIM_RECONVERGE = 1,  // lanes may wait here: check the convergence barrier before executing
    SIM_GUARD_NEGATED = 2,
    SIM_CLOCK = 4,         // reads a clock
    SIM_PRED_NEGATED = 8,  // the predicate source in pred_src is negated
    SIM_FRAME = 16,        // local address relative to the current frame
    SIM_UNCOUNTED = 32,    // access to a parameter of a call: a register on hardware
    SIM_LONG = 64,         // waits for global memory: other warps get to run meanwhile
    SIM_POLL = 128,        // a load that may wait for another thread: volatile, relaxed, acquire
    SIM_IN_TIME = 256,     // what it does depends on when: it is not executed ahead of the timing
    SIM_IN_ORDER = 512,    // other CTAs could notice when it is executed; all else is the CTA's own affair, but for
                           // loads from global memory, which are as long as nobody writes there
    SIM_SLOW_PATH = 1024,  // a division or root that has a subroutine for some values (slow_path.h)
    SIM_SPINS = 2048,      // an atomic that is a loop around a compare-and-swap in shared memory (slow_path.h)
    SIM_BREAK = 4096,      // lanes leave joins behind here, see SimInsn.meets
    SIM_YIELD = 8192,      // a branch at the end of a loop that lanes leave apart (flow_leaves_apart)
    SIM_APART = 16384,     // a branch whose lanes do not wait at `reconverge`, since they leave such a loop
};

struct SimInsn {
    ExecFn exec;
    SimOperand dst;  // r|p: the predicate is in pred_dst
    SimOperand src[4];
    u32 guard;                // predicate slot, WL_NONE
    u32 pred_dst, pred_dst2;  // predicate slots written; WL_NONE
    u32 pred_src;             // predicate slot read (selp, setp with a combiner, vote, addc's carry, ...); WL_NONE
    i64 offset;               // memory operands: byte offset; immediate of lop3, ...
    u32 list;                 // SimCode.lists: operands of vectors; call arguments; branch tables
    u32 target;               // branch target pc; callee index in SimModule for calls
    u16 list_count;
    u16 flags;
    u8 kind;         // SimKind
    u8 space;        // PtxSpace of a memory operand; SPACE_NONE = generic
    u8 width;        // bytes per element of a memory access
    u8 count;        // elements per lane of a memory access
    u16 form_op;     // PtxOp
    u16 mods;        // packed small choices of the handler's own, set by its selector
    u32 insn;        // instruction index in the PTX function: the pc of all records
    u32 reconverge;  // pc where the lanes that a branch parts meet (flow_meets); WL_NONE: at the end of the function
    u32 meets;       // SimCode.lists, of a branch: how many pcs there are where lanes meet, from the last one to the
                     // first, and these (Meets.around). Behind them, with SIM_BREAK: the same of joins that are left
                     // behind (Meets.left). WL_NONE: there are none of both
    const Form *form;
};

// What a selector may look at to choose the function.
typedef struct ExecShape {
    const Form *form;
    const Insn *insn;
    const Module *module;
    u8 dst_bits;          // size of the destination register: 1, 16, 32, 64, 128; 0 = none
    u8 src_bits[4];       // size of the source registers or of the literals; 0 = none
    const Form *product;  // of a sum that takes a product: its form; signs are in in->mods (lower_contract.c)
} ExecShape;

enum { NEGATED_PRODUCT = 1, NEGATED_ADDEND = 2 };  // SimInsn.mods of a contracted sum

// Chooses the function that executes a form, and may set in->mods, in->width, in->count. NULL: this combination is not
// executable.
typedef ExecFn (*ExecSelect)(const ExecShape *shape, SimInsn *in);

// Indexed by PtxOp; NULL entries are ops with exec `none`. One table per instruction set of the host.
extern const ExecSelect exec_table_base[OP_COUNT];
#if SIM_HAS_V3
extern const ExecSelect exec_table_v3[OP_COUNT];
#endif

#endif
