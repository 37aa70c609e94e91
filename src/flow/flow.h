// SPDX-License-Identifier: Apache-2.0
// The abstract instruction view on which every static analysis works, so that each is written once for PTX and SASS.
// A FlowCode is one function: instructions in program order with their definitions, uses, guard, memory space, branch
// targets and a small arithmetic vocabulary. Built by an adapter (flow_from_ptx, flow_from_sass).
// All memory of a FlowCode and of the analyses over it belongs to the arena given. Immutable once built.
#ifndef WL_FLOW_FLOW_H
#define WL_FLOW_FLOW_H

#include "base/arena.h"
#include "base/status.h"
#include "ptx/ir.h"
#include "sass/sass.h"

typedef enum FlowKind {
    FLOW_PLAIN,
    FLOW_BRANCH,  // direct; falls through as well when guarded
    FLOW_SWITCH,  // indirect branch to any of the targets (brx.idx)
    FLOW_CALL,    // returns to the next instruction (unless noreturn: then like EXIT)
    FLOW_RET,     // leaves the function
    FLOW_EXIT,    // ends the thread
    FLOW_TRAP,    // ends the grid
} FlowKind;

typedef enum FlowArith {  // what the affine analysis understands; everything else is FLOW_OPAQUE
    FLOW_OPAQUE,
    FLOW_MOVE,  // definition k is use k
    FLOW_CONVERT /* integers of 32 and 64 bits */,
    FLOW_ADD,
    FLOW_SUB,
    FLOW_MUL /* low part or wide */,
    FLOW_MULADD,
    FLOW_SHIFT_LEFT,
    FLOW_NEGATE,
    FLOW_AND,
    FLOW_OR,
    FLOW_SELECT,
    FLOW_COMPARE,
    FLOW_LOAD_PARAM,
    FLOW_MIN,
    FLOW_MAX,
    FLOW_SHIFT_RIGHT,
    FLOW_ADD3,
} FlowArith;

typedef enum FlowCompare {  // of a FLOW_COMPARE; signedness is the operands'
    FLOW_COMPARE_NONE,      // unordered, floating-point, combined with another predicate, ...
    FLOW_EQUAL,
    FLOW_NOT_EQUAL,
    FLOW_LESS,
    FLOW_LESS_EQUAL,
    FLOW_GREATER,
    FLOW_GREATER_EQUAL,
} FlowCompare;

typedef enum FlowOperandKind {
    FLOW_VALUE,
    FLOW_IMMEDIATE,
    FLOW_SREG,
    FLOW_SYMBOL,
    FLOW_PARAMETER,
    FLOW_OTHER,
    FLOW_PARAMETER_VALUE  // SASS: what lies at byte `value` of parameter `id`
} FlowOperandKind;

typedef struct FlowOperand {
    u8 kind;       // FlowOperandKind
    u8 component;  // SREG: 0..3
    u8 width;      // bits
    bool is_signed;
    u32 id;  // VALUE: 0..value_count-1; SREG: PtxSreg; SYMBOL: VarRef; PARAMETER: VarRef of the function's parameter;
             // PARAMETER_VALUE: its position
    i64 value;  // IMMEDIATE; SYMBOL and PARAMETER: byte offset (0 where the operand is an address base: the offset is
                // FlowInsn.address_offset); OTHER: bits of a floating-point literal
} FlowOperand;

// SASS: how the compiler told the hardware when the instruction may be issued (sass/control.h).
typedef struct FlowIssue {
    u8 stall;          // cycles until the next instruction of the warp may be issued
    u8 write_barrier;  // raised until its result is there: 0..5, SASS_NO_BARRIER
    u8 read_barrier;   // raised until its sources were read
    u8 wait_mask;      // bit b: not issued while barrier b is up
    u8 reuse;          // operand slots kept for the next instruction
    bool yield;
} FlowIssue;

typedef struct FlowInsn {
    u32 operands;  // first in FlowCode.operands: defs first, then uses (guard not included); what `arith` computes with
                   // are the first uses
    u16 defs, uses;
    u32 guard;  // value id, WL_NONE when unguarded
    bool guard_negated;
    u8 kind;        // FlowKind
    u8 arith;       // FlowArith
    u8 compare;     // FlowCompare
    u8 divergence;  // Divergence (ptx/ops.h); UNIFORM for a branch that is promised not to diverge (.uni)
    u8 space;       // PtxSpace of the memory access, SPACE_NONE: generic or no access
    u8 space2;      // ... at the second address (the source of cp.async, both sides of bulk copies)
    bool noreturn;  // CALL: the callee is known not to come back
    bool is_load, is_store, is_atomic, is_barrier, has_effects;
    bool polls;        // what it loads may be awaited: volatile, relaxed, acquire, and atomics
    u8 unit;           // UnitClass
    u8 access_bytes;   // per lane, of the whole vector; 0 = not known
    u8 address_use;    // which use is the base address, 0xff = none
    u8 address2_use;   // the same of a second address
    u8 address_index;  // SASS: 1 + the use that is added to the first address, 0 = none
    u8 address_shift;  // SASS: the base of the first address is shifted left by so much
    i64 address_offset, address2_offset;
    u32 targets, target_count;  // FlowCode.targets: instruction indices; insn_count: past the end, leaves the function
    u32 callee;                 // FuncRef of a direct call, WL_NONE otherwise
    u32 loc;                    // LocRef
} FlowInsn;

typedef struct FlowParam {
    u32 offset, size;  // bytes, among the kernel's parameters
} FlowParam;

typedef struct FlowCode {
    const Module *module;     // NULL for SASS
    const SassModule *sass;   // NULL for PTX
    u32 func;                 // FuncRef; SASS: position in sass->functions
    bool is_entry;            // a kernel: its parameters are the same for all threads
    const FlowParam *params;  // ... by position
    u32 param_count;
    u32 first_param;  // FlowOperand.id of the first one
    u32 param_base;   // SASS: where they begin in constant bank 0; 0: not known
    const FlowInsn *insns;
    u32 insn_count;
    const FlowOperand *operands;
    u32 operand_count;
    const u32 *targets;
    u32 value_count;        // virtual registers: for PTX, value id = RegRef - func.regs, then the carry flag; for SASS
                            // the registers that occur, see value_regs
    const u16 *value_bits;  // width of each value; 1 = predicate
    const SassReg *value_regs;  // SASS: the register of each value
    const FlowIssue *issue;     // SASS: by instruction; NULL: not known
    u32 carry;                  // value id of the carry flag CC.CF, WL_NONE when the target has none
    bool its;                   // target has independent thread scheduling (sm_70 and later)
} FlowCode;

// Definitions come from the access column of the forms; a write to one component of a vector register also uses it.
// STATUS_INVALID for a function without a body.
WL_MUST_USE Status flow_from_ptx(const Module *module, FuncRef func, Arena *arena, FlowCode **code);

// A function of machine code. A value is a register of 32 bits, or a predicate. Of a pair of registers that holds 64
// bits the lower one stands for the whole in arithmetic and addresses; the upper one is opaque. What lies in constant
// bank 0 from `param_base` on are the kernel's parameters. Calls inside the function (to routines that the compiler put
// behind it) are branches that may as well go on; what a call of another function writes is not known, and not defined.
// An indirect branch without jumps is taken to go to the blocks behind it that nothing else leads to.
typedef struct FlowJump {
    u32 from, to;  // a case of an indirect branch: bytes from the function's begin
} FlowJump;
typedef struct FlowSassSource {
    const SassModule *module;
    u32 function;    // in module->functions
    const u8 *code;  // its bytes, for control words; NULL: not known
    u64 code_size;
    bool is_entry;
    u32 param_base;  // 0: not known
    const FlowParam *params;
    u32 param_count;
    const FlowJump *jumps;
    u32 jump_count;
} FlowSassSource;
WL_MUST_USE Status flow_from_sass(const FlowSassSource *source, Arena *arena, FlowCode **code);

// --- control flow ---------------------------------------------------------------------------------------------
typedef struct FlowBlock {
    u32 first, count;       // instructions
    u32 succs, succ_count;  // Cfg.edges: branch targets in order, the fall-through last, none twice
    u32 preds, pred_count;  // Cfg.edges
    bool reachable;
    bool leaves;  // ret, exit, trap, noreturn call or end of the code: has the virtual exit as a
                  // successor (not in succs); a guarded one falls through as well
} FlowBlock;

typedef struct Cfg {
    const FlowCode *code;
    FlowBlock *blocks;  // block 0 is the entry
    u32 block_count;
    u32 *edges;
    u32 *block_of;  // instruction -> block
    u32 *rpo;       // reachable blocks in reverse post-order
    u32 rpo_count;
    u32 *rpo_index;  // block -> position in rpo, WL_NONE when unreachable
} Cfg;

// Always at least one block. Calls do not end a block unless they do not return.
WL_MUST_USE Status flow_cfg(const FlowCode *code, Arena *arena, Cfg **cfg);

typedef struct DomTree {
    u32 *parent;         // immediate (post-)dominator of each block; WL_NONE for the root, unreachable blocks, and
                         // (post) for blocks whose only common post-dominator is the virtual exit
    u32 *depth;          // 0 for roots
    u32 *enter, *leave;  // preorder interval of the subtree: a dominates b when enter[a] <= enter[b] < leave[a];
                         // enter is WL_NONE for unreachable blocks
} DomTree;

// Cooper, Harvey, Kennedy: "A Simple, Fast Dominance Algorithm" (2001). Post-dominators are dominators of the reversed
// graph from the virtual exit. A region that cannot reach the exit (an infinite loop) is given one edge to it, from a
// block of its last strongly connected component, so that every reachable block has a place in the tree.
WL_MUST_USE Status flow_dominators(const Cfg *cfg, Arena *arena, DomTree **tree);
WL_MUST_USE Status flow_postdominators(const Cfg *cfg, Arena *arena, DomTree **tree);
bool dom_dominates(const DomTree *tree, u32 a, u32 b);  // a (post-)dominates b; reflexive

typedef struct FlowLoop {
    u32 header;                // block
    u32 parent;                // enclosing loop, WL_NONE
    u32 depth;                 // 1 = outermost
    u32 enter, leave;          // preorder interval of the loop and its nested ones in the tree of loops
    u32 blocks, block_count;   // Loops.members, nested loops' too: the header first, each nested loop in one piece
    u32 latches, latch_count;  // Loops.members
    u32 exits, exit_count;     // Loops.members: blocks outside reached from inside
    bool irreducible;          // entered at more than one block
    bool leaves;               // a block inside ends the function (FlowBlock.leaves)
    i64 trip_count;            // times the header runs per entry of the loop when constant, -1 otherwise; filled in by
                               // flow_trip_counts (affine.h)
    i64 launch_trips;          // the same where known arguments of the launch make it so (flow_take_arguments)
} FlowLoop;

typedef struct Loops {
    FlowLoop *loops;
    u32 loop_count;
    u32 *members;
    u32 *loop_of;  // innermost loop of each block, WL_NONE
} Loops;

// Havlak: "Nesting of Reducible and Irreducible Loops" (TOPLAS 1997). Loops are sorted: parents before children, then
// by header position in reverse post-order. The header of an irreducible loop is its first block in depth-first order.
WL_MUST_USE Status flow_loops(const Cfg *cfg, const DomTree *dominators, Arena *arena, Loops **loops);

// Whether no other loop is inside.
static inline bool flow_loop_is_innermost(const Loops *loops, u32 loop) {
    return loops->loops[loop].leave == loops->loops[loop].enter + 1;
}
bool flow_loop_has(const Loops *loops, u32 loop, u32 block);  // block inside the loop or a nested one; WL_NONE has none
// Turns that are known, be it of the launch's arguments; -1: they are not.
static inline i64 flow_loop_turns(const FlowLoop *loop) {
    return loop->trip_count > 0 ? loop->trip_count : loop->launch_trips;
}
bool flow_loop_left_from(const Cfg *cfg, const Loops *loops, u32 loop, u32 block);  // an edge of the block leads out

// Lanes that part at `from`, or behind it, and come to block `at` meet there, though others go past it: as it does not
// post-dominate `from`, they leave the join behind (BREAK).
typedef struct Join {
    u32 from, at;
} Join;

// Where lanes meet again that branches part.
typedef struct Meets {
    u32 *at;  // by block: where all of them meet that its branch parts, WL_NONE: nowhere. The immediate post-dominator;
              // but lanes that leave a kernel (a branch to a lone `ret`, or to a block that only this branch leads to
              // and that ends there) are waited for by nobody, so that the others may meet before.
    Join *joins;
    u32 join_count;
    u32 *first, *around;  // block b between `from` and `at` of joins: around[first[b]] up to around[first[b + 1]] are
                          // the blocks where its lanes meet, joins and others, from the last to the first
    const Loops *loops;
    bool *yields;            // by loop: see flow_leaves_apart()
    u32 *left_first, *left;  // at the begin of b, lanes leave the joins at left[left_first[b]] up to
                             // left[left_first[b + 1]] behind
} Meets;

// `loops` has to live as long as `meets`.
WL_MUST_USE Status flow_meets(const Cfg *cfg, const DomTree *dominators, const Loops *loops, Arena *arena,
                              Meets *meets);

// Whether lanes that part at block `b` and come to `at`, where they would meet, have left a loop on the way that lanes
// leave apart: one whose exit is decided by what it loads that another thread may have written, or by an atomic. ptxas
// has a YIELD at its end, behind which nobody waits for these lanes, and none of those that wait for them goes on doing
// so, until the warp is synchronized (bench/hwref/h200-yields.tsv).
bool flow_leaves_apart(const Meets *meets, u32 b, u32 at);
// Whether block `b` ends with the YIELD of such a loop.
bool flow_yields_at(const Meets *meets, u32 b);

#endif
