// SPDX-License-Identifier: Apache-2.0
// Inside of time_code_build, shared by the time_code_*.c files. One function goes through these passes:
//   select    which PTX instructions cost anything, and what they fold into (time_code_select.c)
//   repeat    loads of what is known already (time_code_repeat.c)
//   share     divisions by the same divisor (time_code_share.c)
//   control   predicated sides (time_code_sides.c), BSSY and BSYNC (time_code_control.c)
//   join      blocks that the machine has as one (time_code_region.c), loops that are unrolled (time_code_loops.c,
//             time_code_apart.c)
//   merge     neighbouring loads, halves of products (time_code_merge.c)
//   hoist     what does not change in a loop (time_code_hoist.c)
//   sink      where parameters are loaded (time_code_sink.c)
//   emit      machine instructions in program order (time_code_emit.c), literals in registers (time_code_literals.c)
//   coalesce  copies that no machine instruction is needed for (time_code_place.c)
//   predicate sides that are predicated get their guards (time_code_predicate.c)
//   schedule  each region for latency (time_code_schedule.c)
//   spill     values that the registers have no room for (time_code_spill.c)
//   boards    which results share a scoreboard (time_code_scoreboard.c)
//   place     values on slots, estimate of registers (time_code_place.c)
// What an experiment edits (time_code_edit.c) is looked up in select, merge and emit.
#ifndef WL_SIM_TIME_LOWER_H
#define WL_SIM_TIME_LOWER_H

#include "base/vec.h"
#include "flow/divergence.h"
#include "flow/liveness.h"
#include "record/edit.h"
#include "sim/builtin.h"
#include "sim/time/time_code.h"

// Compute capability from which on compilers, not the SM, keep track of what is under way.
enum { SM_MAXWELL = 50, SM_TURING = 75 };

// One machine instruction of a PTX instruction's row in timing.def, with the figures of the GPU.
typedef struct TimeStep {
    u8 unit;  // UnitClass
    u8 interval;
    u8 flags;       // TimeOp.flags
    bool parallel;  // does not wait for the step before it
    bool memory;    // the one that accesses memory: what the form's kind says
    bool branch;    // nothing moves across it
    bool meets;     // likewise: behind a branch that some lanes may have taken
    bool balanced;  // on the ALU or the FMAHEAVY unit, by turns
    u16 latency;
} TimeStep;

// What the form alone does not tell of the row that an instruction has.
typedef enum TimeVariant {
    VARIANT_PLAIN,
    VARIANT_EARLIER,     // on a GPU before Volta, where lanes that part meet by themselves: VARIANT_PLAIN asks for it
    VARIANT_LITERAL,     // the last source is one
    VARIANT_DIVISOR,     // a division of 32 bits by what another one before it divides by, a sine of what there is a
                         // cosine of ...
    VARIANT_DIVISION,    // ... of the same dividend
    VARIANT_DIVIDED,     // ... in a loop, by what does not change there ...
    VARIANT_RECIPROCAL,  // ... and what it has before the loop
    VARIANT_BYTES,       // a field of bits that PRMT takes, or that begins at the lowest bit; a number made of one
    VARIANT_NARROW,      // of 64 bits, but what is known of the upper words spares instructions
    VARIANT_WORD,        // a product of 64 bits, one factor of which has no upper word
    VARIANT_SPECIAL,     // reads a special register ...
    VARIANT_CLOCK,       // ... a clock
    VARIANT_CONSTANT,    // ... or a parameter: in the constant bank
    VARIANT_UNIFORM,     // atomic without result, all lanes at one address: the operands are joined, one lane asks ...
    VARIANT_ALIKE,       // ... with the same operand
    VARIANT_SCANNED,  // a sum with result, all lanes at one address: what each gets is its own part of a prefix sum ...
    VARIANT_COUNTED,  // ... with the same operand: a product
    VARIANT_SPIN,     // atomic on shared memory that is a loop (spins_in_shared) ...
    VARIANT_SPIN_UNIFORM,  // ... of f32 or f64, all lanes at one address, which it moves in each turn
    VARIANT_COUNT
} TimeVariant;

typedef struct TimeSteps {
    u32 first, count;  // TimeLower.steps
} TimeSteps;

typedef enum MachineOrder {
    ORDER_FREE,
    ORDER_LOAD,   // not across a store that may touch the same bytes
    ORDER_STORE,  // not across stores, nor loads that may touch the same bytes
    ORDER_FENCE,  // not across any access
    ORDER_ALL,    // nothing moves across
} MachineOrder;

typedef enum UnrollMark { UNROLL_NONE, UNROLL_BEGIN, UNROLL_END } UnrollMark;

// Which of the versions of an unrolled loop: the region itself, what is issued on the way in, TimeBlock.turns turns at
// once, TimeBlock.left at once.
typedef enum LoopVersion { VERSION_PLAIN, VERSION_ENTRY, VERSION_TURNS, VERSION_PAIR, VERSION_COUNT } LoopVersion;

typedef struct MachineOp {
    u32 pc;        // within the function
    u32 operands;  // TimeFunc.operands: results, then sources
    u16 defs, uses;
    u8 kind, unit, interval, flags;  // as in TimeOp
    u16 latency, extra;
    u8 order;       // MachineOrder
    bool hidden;    // not issued: control flow and values that cost nothing
    bool copy;      // (part of) a register move: one result, one source
    bool balanced;  // see TimeStep
    bool special;   // reads a special register in turns with constants (GpuModel.special_latency)
    u8 mark;        // UnrollMark
    u8 version;     // LoopVersion
    u8 iteration;   // of an unrolled loop, from 1; 0 = not of one
    u8 flow;        // FlowKind of the last one of an instruction
    u8 guard_use;   // of the uses, the one that guards it, from 1; 0 = none
    u8 space;       // PtxSpace of an access
    u8 bytes;       // 0 = not known
    u16 constant;   // as in TimeOp
    u32 guard;      // value, WL_NONE
    u32 base;       // value that the address starts from, WL_NONE
    u32 symbol;     // variable that it starts from besides, WL_NONE
    i64 offset;
} MachineOp;

typedef Vec(MachineOp) MachineOps;
typedef Vec(u32) TimeWords;

// What became of a PTX instruction.
typedef struct Picked {
    u32 leaves, leaf_count;  // TimeFunc.leaves: values that it reads
    u32 steps;               // the instruction whose row it is issued as: its own, or that of what it absorbed
    bool alone;              // a sum that only the ALU can do, with another sum or a rotation: IADD3, LEA.HI
    bool needed;
    u32 guard;    // WL_NONE
    u32 base;     // of its address, WL_NONE
    u32 symbol;   // variable that is part of the address, WL_NONE
    bool window;  // it needs the address of a variable in shared memory
    i64 offset;
} Picked;

typedef struct TimeLower {
    const SimProgram *program;
    const Module *module;
    const GpuModel *gpu;
    Arena arena;    // of the program
    Arena scratch;  // of the function
    Vec(TimeStep) steps;
    TimeSteps *rows;  // by form and TimeVariant; count WL_NONE = not looked up yet
    u32 *block_of;    // TimeCode.block_of
    Vec(TimeBlock) blocks;
    Vec(TimeOp) ops;
    Vec(u16) regs;
    Vec(u8) late;   // TimeCode.late
    Vec(u8) words;  // for each of `regs`: registers of 32 bits that it is in the register file, 0 = elsewhere
    Vec(u64) constants;
    u32 slots, registers;
    SimMachineCode known;
    u32 frame;                    // words of local memory that are spilled to
    u32 resident;                 // TimeCode.resident
    u8 *edited[EDIT_KIND_COUNT];  // by pc of the program: per cent of the instruction that is edited; NULL: none
} TimeLower;

// What kernels need once, besides their parameters.
typedef enum SunkConstant {
    SUNK_DESCRIPTOR,  // of global memory (since Ampere)
    SUNK_WINDOW,      // the begin of shared memory (since Hopper)
    SUNK_LEADER,      // the lane that asks for the warp: VOTEU, UFLO, POPC, S2R, ISETP
    SUNK_COUNT
} SunkConstant;

typedef struct SunkPlace {
    u32 constant;     // instruction, or behind those SunkConstant
    u32 block, insn;  // it is issued before this one
    u32 loop;         // that of the block, WL_NONE
    u32 other;        // the next place of the constant, WL_NONE
    u32 next;         // ... before the same instruction
    u32 beside;       // the constant of the next word, loaded with this one; WL_NONE
    bool reciprocal;  // of a division, nothing else of it
} SunkPlace;

// A literal that an instruction reads from a register.
typedef struct TimeLiteral {
    u32 value;  // of its first word, the others follow
    u8 words;
    bool uniform;  // it lies in uniform registers
    bool moved;    // there, before this instruction
} TimeLiteral;

typedef struct TimeLiterals {
    TimeLiteral each[3];
    u32 count;
} TimeLiterals;

// A word of an array that is not in memory.
typedef struct ArrayWord {
    u32 value;     // that was stored
    u32 constant;  // the instruction that loads it from the constant bank, WL_NONE
} ArrayWord;

// What loads of one block have asked already of where they load.
typedef struct ArrayCompare {
    u32 insn;
    u32 base;   // of its address,
    i64 place;  // which was compared with this;
    u32 value;  // the condition
} ArrayCompare;
enum { ARRAY_COMPARES = 128 };

typedef struct TimeFunc {
    TimeLower *lower;
    const SimFunc *func;
    const Function *function;
    FlowCode *code;
    Cfg *cfg;
    u32 *sole_def;  // value -> its only, unguarded definition, WL_NONE
    u32 *first_def,
        *defs_of;       // value v: defs_of[first_def[v]] up to defs_of[first_def[v + 1]]: its definitions, ascending
    u32 *use_count;     // value -> instructions that read it
    u32 *resolved_for;  // time_code_select.c: value -> 1 + the instruction that it was taken apart for last
    u32 *stands_for;    // time_code_repeat.c: value -> one that is the same, WL_NONE
    DomTree *dominators, *postdominators;
    Loops *loops;
    DivergenceInfo *divergence;
    struct Affine *affine;  // NULL: there are no loops
    Picked *picked;
    TimeWords leaves, work;
    Bitset lower_only;                   // time_code_bits.c: values of 64 bits of which the lower word is asked for
    Bitset same_divisor, same_division;  // time_code_share.c, by instruction
    // time_code_control.c, time_code_loops.c, by block of cfg:
    bool *predicated;  // issued by warps that jump over it, too
    bool *exits;       // nothing but the end of the kernel: see TimeBlock
    bool *jumps_back;  // nothing but a jump back that is not issued, at the end of such a loop (time_rotate)
    bool *speculated;  // issued whether or not the branch before it is taken, which is not issued
    u32 *opens;        // block + 1 where the diverging region that begins at its end is closed (BSSY), 0 = none
    bool *closes;      // lanes are joined at its begin (BSYNC)
    u8 *entry_opens;   // BSSYs on the way into a block that turns by itself
    u8 *joins_opened;  // BSSYs of joins at its end
    u8 *joins_left;    // BREAKs at its begin
    Meets meets;
    u8 *unrolled;  // part of an unrolled loop, so many turns of which are one: see time_code_unroll.c; 0: not
    u8 *left;      // ... and behind those so many, 0: none
    bool *whole;   // ... altogether
    bool *rest;    // ... whose number of turns is not known
    // ... by instruction:
    bool *no_branch;  // a branch that is not issued
    bool *gone;       // time_code_apart.c: what counts the turns of a loop, where these stand behind each other
    bool *placed;     // ... constants whose address each of these turns knows
    bool *chosen;     // time_code_arrays.c: loads that choose one of the words of `array`
    ArrayWord *array;
    u32 array_words;
    ArrayCompare *compares;
    u32 compare_count;
    bool *loop_control;  // increments, comparison and branch of an unrolled loop
    Bitset counted;      // scratch
    u32 *merged;         // time_code_merge.c: by instruction, the one that it is issued with (may be itself), WL_NONE
    u32 *hoisted;        // time_code_hoist.c: by instruction, the block at whose end it is issued instead, WL_NONE
    u32 *divided;        // ... of a division, the block at whose end the reciprocal is computed, WL_NONE,
    u32 *reciprocals;    // and the value that is
    // time_code_sink.c, by instruction, and behind those SunkConstant:
    bool *sunk;    // it is issued at places of its own
    u32 *sunk_at;  // before an instruction: the first in `sunk_places`, WL_NONE
    SunkPlace *sunk_places;
    TimeLiterals *literals;  // time_code_literals.c, by instruction
    bool again;              // time_code_unroll.c: a turn is emitted whose literals another one has moved
    bool serial_products;    // time_code_emit.c: its asynchronous products are waited for one by one
    MachineOps ops;
    TimeWords operands;
    u32 value_count;          // values of the code and temporaries
    Vec(u16) value_bits;      // 0 = in a uniform register
    u32 blocks, block_count;  // TimeLower.blocks of the function
} TimeFunc;

// Units between whose kinds results take longer than within one.
typedef enum TimePipe { PIPE_OTHER, PIPE_ALU, PIPE_FMA, PIPE_HALF, PIPE_FP64, PIPE_XU, PIPE_MEMORY } TimePipe;

static inline TimePipe time_pipe(u32 unit) {
    static const u8 pipes[UNIT_COUNT] = {
        [UNIT_ALU] = PIPE_ALU,   [UNIT_FMA] = PIPE_FMA,    [UNIT_FMAHEAVY] = PIPE_FMA, [UNIT_FP16] = PIPE_HALF,
        [UNIT_FP64] = PIPE_FP64, [UNIT_LSU] = PIPE_MEMORY, [UNIT_XU] = PIPE_XU,        [UNIT_TEX] = PIPE_MEMORY};
    return (TimePipe)pipes[unit];
}

// Cycles by which what `from` computed comes later to `to` (GpuModel.cross_latency).
static inline u32 time_late(const GpuModel *gpu, TimePipe from, TimePipe to) {
    if (from == PIPE_OTHER || from == PIPE_MEMORY || to == PIPE_OTHER || from == to) return 0;
    if (to == PIPE_XU || (from == PIPE_FP64 && to == PIPE_MEMORY)) return 0;
    return (u32)gpu->cross_latency * (from == PIPE_FP64 || to == PIPE_FP64 || from == PIPE_XU ? 2 : 1);
}

// time_code_gap.c: TimeOp.gap of all operations, whose paths are known
WL_MUST_USE Status time_gaps(TimeLower *lower);

// time_code_edit.c
WL_MUST_USE Status time_read_edits(TimeLower *lower, Str text);
WL_MUST_USE Status time_trace_edits(const TimeLower *lower, u8 **edits);  // TimeCode.edits
static inline u32 time_edited(const TimeFunc *f, u32 insn, EditKind kind) {
    const u8 *edited = f->lower->edited[kind];
    return edited ? edited[f->func->entry + insn] : 0;
}
// Not issued at all: what it reads nobody asks for.
bool time_is_free(const TimeFunc *f, u32 insn);
// Of so many machine instructions of a PTX instruction, those at the begin that are not issued.
u32 time_free_steps(const TimeFunc *f, u32 insn, u32 steps);
void time_as_float(const TimeFunc *f, MachineOp *op);

// time_code_rows.c
WL_MUST_USE Status time_steps(TimeLower *lower, u32 form, TimeVariant variant, TimeSteps *steps);
TimeKind time_kind(const TimeFunc *f, u32 insn);
u32 time_step_count(const TimeFunc *f, u32 insn);    // machine instructions that it is
u32 time_runtime_call(const TimeFunc *f, u32 insn);  // RuntimeCall whose time is known, WL_NONE
u32 time_builtin(const TimeFunc *f, u32 insn);       // that it calls: BuiltinId + 1; 0 = none
TimeVariant time_variant(const TimeFunc *f, u32 insn);
// r = r op number, whatever else is done to r; `number`: how the number is written.
static inline bool time_steps_by(const TimeFunc *f, u32 insn, FlowOperandKind number) {
    const FlowInsn *in = &f->code->insns[insn];
    const FlowOperand *o = f->code->operands + in->operands;
    return in->guard == WL_NONE && o[1].kind == FLOW_VALUE && o[1].id == o[0].id && o[2].kind == number;
}
static inline bool time_adds_number(const TimeFunc *f, u32 insn) {
    return f->code->insns[insn].arith == FLOW_ADD && time_steps_by(f, insn, FLOW_IMMEDIATE);
}

// Whether it may call: a function, or the subroutine of a division or root. Few registers are kept across that.
bool time_calls(const TimeFunc *f, u32 insn);
// ... whether one of the instructions [first, end) may.
bool time_calls_between(const TimeFunc *f, u32 first, u32 end);
static inline bool is_joined(TimeVariant variant) { return variant >= VARIANT_UNIFORM && variant <= VARIANT_COUNTED; }

// time_code_calls.c: registers moved for a call, besides what its row has, by it, an argument's store or a return.
u32 time_call_moves(const TimeFunc *f, u32 insn);
WL_MUST_USE Status time_save(TimeFunc *f);  // what a function stores at its begin and loads at its end

// time_code_bits.c
WL_MUST_USE Status time_find_lower(TimeFunc *f);
bool time_makes_lower(const TimeFunc *f, u32 insn);  // 64 bits of which only the lower word is asked for
bool time_is_narrow(const TimeFunc *f, u32 insn);    // VARIANT_NARROW
bool time_has_word(const TimeFunc *f, u32 insn);     // VARIANT_WORD

// time_code_absorb.c: what instruction `insn` swallows of the definition `def` of its source `value`; its steps are
// then those of *steps.
bool time_absorbs(const TimeFunc *f, u32 insn, u32 def, u32 value, u32 *steps);
// Whether `insn` is a comparison of single bits, `value`, that the logic `def` makes: part of that.
bool time_tests_bits(const TimeFunc *f, u32 insn, u32 def, u32 value);
// Whether an f32 is made of some bytes of a register, which `def` takes out.
bool time_takes_bytes(const TimeFunc *f, u32 insn, u32 def);

// time_code_select.c
bool time_is_part(const TimeFunc *f, const FlowOperand *value);  // a half or byte of a register with others
WL_MUST_USE Status time_select(TimeFunc *f);
// The value that `value` is a name of as instruction `at` sees it; WL_NONE: a constant, *number (of a variable: the
// offset from its begin).
u32 time_look_through(const TimeFunc *f, u32 value, u32 at, i64 *number);
// Whether `value` as instruction `from` read it is what instruction `to`, behind it, would read.
bool time_is_same(const TimeFunc *f, u32 value, u32 from, u32 to);
// The only instruction that reads what this one makes, where it is behind it in its block, and which of its uses that
// is. WL_NONE: there are several, or it is elsewhere or far.
u32 time_only_reader(const TimeFunc *f, u32 insn, u32 *use);

// time_code_repeat.c
WL_MUST_USE Status time_repeat(TimeFunc *f);

// time_code_share.c
WL_MUST_USE Status time_share(TimeFunc *f);

// time_code_control.c
WL_MUST_USE Status time_control(TimeFunc *f);
// Whether the block lies between BSSY and BSYNC. Lanes that have left the kernel part nobody.
bool time_lanes_parted(const TimeFunc *f, u32 block);

// time_code_region.c
// Joins the blocks of the function to regions (TimeBlock.parts), which control flow of the machine neither enters nor
// leaves in the middle.
void time_join(TimeFunc *f);
// Of a loop that is entered at instruction `top`, behind `first`, and left at `branch`, with at most a jump behind it:
// the blocks of the code that it is, if they can be one region nevertheless; else 0.
u32 time_rotated_parts(const TimeFunc *f, u32 first, u32 top, u32 branch);
// Makes it one, [first, last]: a warp that enters it issues what is behind `top` by itself.
void time_rotate(TimeFunc *f, u32 first, u32 last);

// time_code_loops.c
// A loop whose turns are known is unrolled altogether while turns * instructions^2 are no more: of bodies of 17 to 51
// instructions (multiply-adds, and 3 for the loop) compiled with 8 to 1,000 turns the last have 25 to 31 thousand. Each
// constant whose place in a turn is known then, and so is none of these instructions, adds TIME_PLACED_MORE: with 1, 2,
// 4, 8, 13 and 20 of them beside as many multiply-adds, and 8, 20, 64 and 200 turns, the last have 70 to 80, 119 to
// 125, 204 to 245, 415 to 480, 692 to 769 and 1,107 to 1,149 thousand.
enum { TIME_WHOLE_MAX = 28000, TIME_PLACED_MORE = 50000 };
void time_choose_unrolled(TimeFunc *f);
bool time_forbids_unrolling(const TimeFunc *f, u32 first);  // a loop that begins there

// time_code_apart.c
void time_choose_apart(TimeFunc *f);

// time_code_arrays.c
WL_MUST_USE Status time_take_arrays_apart(TimeFunc *f);

// time_code_merge.c
// Whether two conversions of f32 to 16 bits that nobody else reads are one F2FP.
bool time_rounds_pair(const TimeFunc *f, u32 a, u32 b);
WL_MUST_USE Status time_merge(TimeFunc *f);

// time_code_hoist.c
WL_MUST_USE Status time_hoist(TimeFunc *f);

// time_code_sink.c
WL_MUST_USE Status time_sink(TimeFunc *f);
// Whether every turn of a loop comes through a block of it.
bool time_is_always_run(const TimeFunc *f, u32 loop, u32 block);

// time_code_constants.c
// Whether the load is of a constant at a register whose place is known in each turn of the innermost loop around it.
bool time_has_known_place(const TimeFunc *f, u32 insn);
// Whether the load is of a constant that uniform registers index (TIME_INDEXED).
bool time_is_indexed(const TimeFunc *f, u32 insn);

// time_code_uniform.c
// Sets by value whether it lies in a uniform register; the others are left alone.
void time_find_uniform(const TimeFunc *f, bool *uniform);

// time_code_emit.c
WL_MUST_USE Status time_emit(TimeFunc *f);
bool time_is_emitted(const TimeFunc *f, u32 insn);  // at its own place
WL_MUST_USE Status time_emit_insn(TimeFunc *f, u32 insn);
u64 time_constant_address(const TimeFunc *f, u32 insn);
WL_MUST_USE Status time_emit_sunk(TimeFunc *f, u32 insn);  // the constants that are loaded before it

// time_code_literals.c
WL_MUST_USE Status time_keep_literals(TimeFunc *f);  // TimeFunc.literals, whose values follow the others

// time_code_moves.c
u32 time_moves(const TimeFunc *f, u32 insn, u32 steps);  // that an instruction of so many steps needs before it
u32 time_pointer_moves(const TimeFunc *f, u32 insn);     // time_code_pointers.c: the first access of a turn through one
bool time_is_literal(const TimeFunc *f, const FlowOperand *use, u64 *bits);  // a number, or a copy of one

// time_code_unroll.c
WL_MUST_USE Status time_emit_unrolled(TimeFunc *f, u32 header);

// time_code_entry.c
// What is issued on the way into the unrolled loop of the instructions [begin, end).
WL_MUST_USE Status time_emit_entry(TimeFunc *f, u32 begin, u32 end);

// time_code_overwrite.c: of selections between registers one side is made under the condition, over the other.
WL_MUST_USE Status time_overwrite(TimeFunc *f);

// time_code_predicate.c: regions become straight code, operations of predicated sides are guarded where they must be.
WL_MUST_USE Status time_predicate(TimeFunc *f);
// Operation `at` gets a guard. `keeps`: what it writes stays as it was where the guard is false, and somebody reads it
// then.
WL_MUST_USE Status time_guard_op(TimeFunc *f, u32 at, u32 guard, bool keeps);

// time_code_schedule.c: reorders the operations of each region.
WL_MUST_USE Status time_schedule(TimeFunc *f);

// time_code_scoreboard.c: readers of results that share a scoreboard with others wait for those, too.
WL_MUST_USE Status time_share_scoreboards(TimeFunc *f);

// time_code_spill.c: values that the registers have no room for are stored and loaded.
WL_MUST_USE Status time_spill(TimeFunc *f);

// time_code_place.c
// The machine instructions as a flow graph: instruction i is operation i.
WL_MUST_USE Status time_flow(TimeFunc *f, Cfg **cfg, Liveness **liveness);
WL_MUST_USE Status time_coalesce(TimeFunc *f);
WL_MUST_USE Status time_place(TimeFunc *f);
// The registers of a kernel that spills; 0: it does not.
u32 time_spill_limit(const TimeFunc *f, u32 pressure);
u32 time_spilled_bytes(const TimeFunc *f);  // of its frame, where machine code says so; 0: not known, or none
u32 time_free_registers(const TimeFunc *f,
                        u32 pressure);  // pressure: most 32-bit registers alive in the order of the PTX

static inline const Form *time_form(const TimeFunc *f, u32 insn) {
    const Module *m = f->lower->module;
    return insn_form(m, &m->insns[f->function->insns + insn]);
}
static inline const SimInsn *time_insn(const TimeFunc *f, u32 insn) {
    return &f->lower->program->insns[f->func->entry + insn];
}
// Where the instructions lie that are issued with this one: in its block.
static inline u32 time_merged_first(const TimeFunc *f, u32 insn) {
    return f->merged[insn] == insn ? f->cfg->blocks[f->cfg->block_of[insn]].first : insn;
}
static inline u32 time_merged_end(const TimeFunc *f, u32 insn) {
    const FlowBlock *block = &f->cfg->blocks[f->cfg->block_of[insn]];
    return f->merged[insn] == insn ? block->first + block->count : insn + 1;
}

// The block that an instruction is issued in: its own, or that before the loop which it has left.
static inline u32 time_home(const TimeFunc *f, u32 insn) {
    return f->hoisted[insn] != WL_NONE ? f->hoisted[insn] : f->cfg->block_of[insn];
}

static inline const FlowOperand *time_uses(const TimeFunc *f, u32 insn) {
    const FlowInsn *in = &f->code->insns[insn];
    return f->code->operands + in->operands + in->defs;
}

// Whether a block is a loop by itself.
static inline bool time_is_loop(const TimeFunc *f, u32 b) {
    const FlowBlock *block = &f->cfg->blocks[b];
    for (u32 k = 0; k < block->succ_count; k++)
        if (f->cfg->edges[block->succs + k] == b) return true;
    return false;
}

// The block of the code that an instruction of the function is in, and the PTX instruction behind its region.
static inline TimeBlock *time_block(const TimeFunc *f, u32 insn) {
    return &f->lower->blocks.data[f->lower->block_of[f->func->entry + insn]];
}
static inline u32 time_region_end(const TimeFunc *f, const TimeBlock *block) {
    return block[block->parts - block->part - 1].pc_end - f->func->entry;
}

static inline u32 time_op(const TimeFunc *f, u32 insn) { return time_form(f, insn)->op; }
// x = x + number, or x - number, of floating point.
static inline bool time_adds_real(const TimeFunc *f, u32 insn) {
    u32 op = time_op(f, insn);
    bool adds = op == OP_ADD_F || op == OP_ADD_F64 || op == OP_SUB_F || op == OP_SUB_F64;
    return adds && time_steps_by(f, insn, FLOW_OTHER);
}
// A comparison of two values, of whatever type.
static inline bool time_compares(const TimeFunc *f, u32 insn) {
    u32 op = time_op(f, insn);
    bool reals = (op == OP_SETP_F || op == OP_SETP_F64) && f->code->insns[insn].uses == 2;
    return reals || f->code->insns[insn].arith == FLOW_COMPARE;
}
static inline u32 time_bits(const TimeFunc *f, u32 insn, u32 which) {  // of a type of the form
    const Form *form = time_form(f, insn);
    return which < form->type_count ? ptx_types[form->types[which]].bits : 0;
}
// p ? number : 0
static inline bool time_selects_number(const TimeFunc *f, u32 insn) {
    const FlowOperand *use = time_uses(f, insn);
    return time_op(f, insn) == OP_SELP && use[0].kind == FLOW_IMMEDIATE && use[1].kind == FLOW_IMMEDIATE &&
           use[1].value == 0;
}
// Whether the value is one of the operation's results, or else one of its sources.
static inline bool time_names(const TimeFunc *f, const MachineOp *op, u32 value, bool result) {
    const u32 *operands = f->operands.data + op->operands + (result ? 0 : op->defs);
    for (u32 k = 0; k < (result ? op->defs : op->uses); k++)
        if (operands[k] == value) return true;
    return false;
}

static inline bool time_is_single(const TimeFunc *f, u32 value) { return f->use_count[value] == 1; }
static inline bool time_is_logic(u32 op) { return op == OP_AND || op == OP_OR || op == OP_XOR || op == OP_NOT; }

#endif
