// SPDX-License-Identifier: Apache-2.0
// A program lowered for timing: what the machine would issue for it. PTX is not what a GPU runs, so copies are
// propagated, addresses folded, dead code dropped, macro instructions expanded into the machine's steps, blocks
// scheduled for latency and registers placed. No values: only units, cycles and registers.
// Immutable once built; shared by all threads; owned by whoever built it.
#ifndef WL_SIM_TIME_CODE_H
#define WL_SIM_TIME_CODE_H

#include "gpu/gpu.h"
#include "sim/machine.h"
#include "sim/time/memsys.h"

typedef enum TimeKind {
    TIME_MATH,  // fixed or known latency, no memory
    TIME_LOAD,  // what the trace's access says decides where: global, local, shared, generic, ...
    TIME_STORE,
    TIME_ATOMIC,          // with a result
    TIME_REDUCE,          // without
    TIME_CONST,           // constant bank with a register address
    TIME_FIXED,           // ... with a fixed one, through the same cache (LDC)
    TIME_IMMEDIATE,       // ... through that of immediate constants (ULDC)
    TIME_TEXTURE,         // and surface loads
    TIME_BRANCH,          // ends a run: branches, calls, returns
    TIME_BARRIER,         // CTA barrier that may wait (bar.sync, bar.red, barrier.cluster.wait: see the instruction)
    TIME_ARRIVE,          // ... that does not wait
    TIME_CLUSTER_ARRIVE,  // barrier of a cluster: its CTAs keep together by what the front executes
    TIME_CLUSTER_WAIT,
    TIME_FENCE,       // TimeOp.extra: TimeFence
    TIME_INVALIDATE,  // nothing that the L1 has is valid any more: behind what acquires (CCTL.IVALL)
    TIME_ASYNC,       // cp.async: a load into shared memory, nobody waits for its registers
    TIME_ASYNC_WAIT,  // cp.async.wait_group N (TimeOp.extra = N), wait_all (0)
    TIME_ASYNC_COMMIT,
    TIME_BULK,      // cp.async.bulk, tensor copies
    TIME_MBARRIER,  // operations on an mbarrier that do not wait
    TIME_MBARRIER_WAIT,
    TIME_GMMA,       // wgmma.mma_async
    TIME_GMMA_WAIT,  // wgmma.wait_group N
    TIME_GMMA_COMMIT,
    TIME_CLOCK,  // reads a clock: the front must not run ahead
    TIME_SLEEP,
    TIME_EXIT,
    TIME_SYNC,     // diverged lanes meet again
    TIME_RUNTIME,  // a call of the device's runtime (TimeOp.extra: RuntimeCall): one instruction that takes its time
    TIME_PRINT,    // printf: likewise, and warps that print wait for each other
    // A loop around a compare-and-swap in shared memory: its load; the swap, where every word of the warp has one lane
    // less to go; the branch back, with all of them while another warp was quicker; BSYNC, where lanes that are done
    // wait while the others go round.
    TIME_SPIN_LOAD,
    TIME_SPIN_SWAP,
    TIME_SPIN_BRANCH,
    TIME_SPIN_SYNC,
    TIME_SLOW,  // the branch around the call of the subroutine of a division or root: taken where no lane needs it,
                // else all of it
    TIME_MEET,  // ... and the BSYNC behind it
} TimeKind;

typedef enum TimeFence {
    FENCE_STORES,  // waits until the warp's stores are done, and for nothing else: cp.async.bulk.wait_group
    FENCE_CTA,
    FENCE_GPU,
    FENCE_SYSTEM,
    FENCE_PROXY
} TimeFence;

typedef enum RuntimeCall { CALL_MALLOC, CALL_FREE, CALL_LAUNCH, CALL_COUNT } RuntimeCall;

enum {
    TIME_FIRST = 1,         // first machine instruction of its PTX instruction
    TIME_SHORT = 2,         // its result is awaited as short_scoreboard (XU, shuffles, ...), else as wait
    TIME_MIO = 4,           // goes through the SM-wide queue of slow units (MIO) instead of a unit of the scheduler
    TIME_INDEXED = 8,       // TIME_IMMEDIATE with a register in its address: GpuModel.indexed_lines
    TIME_BYPASS = 32,       // loads that the L1 does not keep: .cg, .cv, volatile, relaxed, acquire
    TIME_JOINED = 16,       // reductions: the warp joins its lanes' operands first, one lane asks: degree 1
    TIME_INDIRECT = 16,     // branches: a register says where to
    TIME_CARRY = 16,        // sums: with a carry to or from the other word
    TIME_PLACED = 16,       // of TIME_INDEXED: its loop is unrolled altogether, each turn's has a fixed address
    TIME_ATOMIC_SHIFT = 6,  // the upper two bits, of atomics: MemAtomic
};

typedef enum TimePath {  // how an instruction leaves the scheduler
    TIME_BY_UNIT,        // to one of its units, when that is free
    TIME_BY_TENSOR,      // wgmma: the tensor unit's turn comes later
    TIME_BY_QUEUE        // to memory, or the units of the SM, when their queue has room
} TimePath;

typedef enum TimeSpaced {  // of what a warp issues so many cycles apart at least
    SPACED_NOT,
    SPACED_CONSTANT,  // GpuModel.constant_interval
    SPACED_SPECIAL,   // S2R: constants come one cycle less behind it, it waits for none
    SPACED_ACCESS,    // GpuModel.access_interval
    SPACED_SHARED     // ... to shared memory, and shuffles: waits for the queue are mio_throttle
} TimeSpaced;

typedef struct TimeOp {
    u32 pc;    // index in SimProgram.insns of the PTX instruction that it is (part) of
    u32 regs;  // TimeCode.regs: dst_count results, then src_count sources (guards and address registers included)
    u8 dst_count, src_count;
    u8 kind;      // TimeKind
    u8 unit;      // UnitClass
    u8 interval;  // cycles that it takes its unit, of the scheduler's own or the SM's
    u8 flags;
    u16 latency;    // cycles from issue until a result can be read; loads: on top of what memory takes
    u16 extra;      // of the kind
    u8 guard;       // the source that is its guard, from 1; 0 = none
    u8 path;        // TimePath
    u8 spaced;      // TimeSpaced
    u8 gap;         // cycles until the next instruction of the block may issue, as the control word would say
    u8 reads;       // registers of 32 bits that it asks its scheduler's register file for (GpuModel.register_reads), or
                    // that this could hand out while it holds the dispatcher, if that is longer
    u16 constant;   // TIME_FIXED, TIME_IMMEDIATE: place in TimeCode.constants, from 1; 0 = always at hand. TIME_LOAD,
                    // TIME_STORE: where a value is spilled to (time_spilled); 0 = the trace has the access
    u32 waits_for;  // pc that the stall count before it is for: whose result of fixed latency it needs, who has its
                    // unit or its turn; WL_NONE: there is none
} TimeOp;
_Static_assert(sizeof(TimeOp) == 32, "where one lies is found with a shift");

// TimeOp.constant of an access to `words` words of TimeCode.frame from `word` on: 1 to 4, and less than SPILL_WORDS.
enum { SPILL_SHIFT = 14, SPILL_WORDS = (1 << SPILL_SHIFT) - 1 };
static inline u16 time_spilled(u32 word, u32 words) { return (u16)((word + 1) | (words - 1) << SPILL_SHIFT); }
static inline u32 time_spilled_word(u16 constant) { return (constant & SPILL_WORDS) - 1u; }
static inline u32 time_spilled_words(u16 constant) { return (constant >> SPILL_SHIFT) + 1u; }

#define CONSTANT_BANK (1ull << 63)
enum { TIME_UNROLL = 4, TIME_PAIR = 2, TIME_PARTS = 128 };

typedef struct TimeBlock {
    u32 pc, pc_end;   // the PTX instructions [pc, pc_end)
    u16 part, parts;  // It is block `part` of a region of `parts` blocks that the machine has as one: their operations
                      // are in one order, the same for each of them here. A warp whose trace is a pass through the
                      // region issues them at once. TimeOp.extra of regions of several parts: whose it is.
    u32 ops, op_count;  // of the region
    // Loops that ptxas unrolls: what `turns` passes through the region with the same lanes become, issued as one.
    // TimeOp.extra: pass * parts + part, less than TIME_PARTS.
    u32 unrolled, unrolled_count;  // unrolled_count 0: not unrolled
    u8 turns;                      // TIME_UNROLL, or as many as are at once where all of them are known
    u8 left;                       // ... of `pair`
    // Where the number of turns is not known: what is issued once, on the way in, and TIME_PAIR turns at once, for what
    // is left when fewer than TIME_UNROLL are; the last one is the region itself. Where it is known, those that are
    // left.
    u32 entry, entry_count;
    u32 pair, pair_count;
    // The branch around it is none on the machine, its instructions are predicated: a warp whose trace jumps over the
    // block (and only over such blocks) issues them all the same, without effect.
    bool predicated;
    // The same for a second condition, which one branch, the one behind it, asks together with the first: a warp that
    // jumps from the end of the block before, wherever to, issues it.
    bool speculated;
    // A lone exit. Branches to it are conditional exits: a warp that one of them took altogether issues nothing more.
    bool exits;
} TimeBlock;

typedef struct TimeCode {
    const SimProgram *program;
    TimeOp *ops;  // blocks behind each other, each in the order in which it is issued
    u32 op_count;
    u16 *regs;
    u8 *late;  // for each of `regs`: cycles that the instruction waits for it beyond the time when it is there
    u32 reg_count;
    u64 *constants;  // addresses; CONSTANT_BANK and more: of the bank of parameters, which each launch has for itself
    TimeBlock *blocks;  // cover all instructions of the program, in order of pc
    u32 block_count;
    u32 *block_of;   // by pc
    u32 slots;       // registers and predicates that `regs` names: 0 to slots - 1
    u32 registers;   // 32-bit registers of a thread, as the machine would allocate them: known, or estimated
    u32 frame;       // words of local memory of a thread, behind those of the PTX, for values that were spilled
    u32 insn_bytes;  // of one machine instruction: 16 since Volta, 8 before
    bool meets;      // it has barriers of CTAs
    u32 resident;    // CTAs that an experiment lets an SM have; 0: as many as fit
    u8 *edits;       // by pc: TraceEdit, what an experiment changes in how it accesses memory; NULL: nothing
} TimeCode;

// Blocks end behind every instruction that may leave the straight line or wait (SimKind above SIM_MEMORY), begin at
// every branch target, and have at most TIME_BLOCK_MAX instructions.
enum { TIME_BLOCK_MAX = 4096 };

WL_MUST_USE Status time_code_build(const SimProgram *program, const GpuModel *gpu, SimMachineCode known,
                                   TimeCode **code);
// ... with what an experiment changes: the edits of record/edit.h that are of this kernel. STATUS_INVALID: no such
// list.
WL_MUST_USE Status time_code_build_edited(const SimProgram *program, const GpuModel *gpu, SimMachineCode known,
                                          Str edits, TimeCode **code);
void time_code_free(TimeCode *code);

#endif
