// SPDX-License-Identifier: Apache-2.0
// What the functions in exec/ see. They know values, never cycles: semantics only. Each file there is compiled twice,
// for the baseline x86-64 and for x86-64-v3 (AVX2, FMA, F16C), and exports only its selectors, named with
// EXEC_SELECT(name).
#ifndef WL_SIM_EXEC_H
#define WL_SIM_EXEC_H

#include "base/status.h"
#include "sim/code.h"
#include "sim/sim.h"

#define LANES 32
#define FULL_MASK 0xffffffffu

// Lanes in a mask, without the call that popcount is on baseline x86-64 ("Hacker's Delight", 5-1).
static inline u32 lanes_in(u32 mask) {
    if (mask == FULL_MASK) return LANES;
    mask -= mask >> 1 & 0x55555555;
    mask = (mask & 0x33333333) + (mask >> 2 & 0x33333333);
    return ((mask + (mask >> 4)) & 0x0f0f0f0f) * 0x01010101 >> 24;
}

// Virtual windows of the generic address space (above every user-space address of the host).
#define WINDOW_SHIFT 40
#define WINDOW_SHARED (0x81ull << WINDOW_SHIFT)  // + address in shared memory
#define WINDOW_LOCAL (0x82ull << WINDOW_SHIFT)   // + offset in the thread's local memory
#define WINDOW_PARAM (0x83ull << WINDOW_SHIFT)   // + offset in the kernel's parameter block

// An address in shared memory is the offset in that of the own CTA, or names another CTA of the cluster: its rank + 1
// lies above the offset. So 32-bit addresses, generic ones and those of plain pointers are made the same way.
#define SHARED_RANK_SHIFT 24
#define SHARED_OFFSET_MASK ((1u << SHARED_RANK_SHIFT) - 1)

typedef enum FaultKind {
    FAULT_NONE,
    FAULT_OUT_OF_BOUNDS,
    FAULT_MISALIGNED,
    FAULT_READ_ONLY,
    FAULT_PEER,         // memory of another device, without peer access
    FAULT_WRONG_SPACE,  // e.g. an address outside the shared window given to ld.shared
    FAULT_ASSERT,       // text in Exec.message
    FAULT_TRAP,
    FAULT_BAD_CALL,     // call through something that is not a function
    FAULT_STACK,        // local memory or call depth used up
    FAULT_UNSUPPORTED,  // found out only when executed; text in Exec.message
    FAULT_BARRIER,      // inconsistent barrier use
    FAULT_BAD_HANDLE,   // texture or surface
    FAULT_MBARRIER,     // misuse of an mbarrier object; text in Exec.message
    FAULT_BAD_TENSOR,   // tensor map or a copy with it; text in Exec.message
    FAULT_BAD_COPY,     // bulk copy of an impossible size or place; text in Exec.message
    FAULT_NO_CTA,       // shared memory of a CTA that is not in the cluster, or has exited
    FAULT_LATER,        // none: the instruction cannot be executed now (Exec.ahead, Exec.alone), and has not been
} FaultKind;

typedef struct Fault {
    u8 kind;  // FaultKind
    u8 lane;
    u8 space;  // PtxSpace
    bool is_store;
    u32 width;  // bytes of the access
    u64 address;
} Fault;

// Counters of one instruction, added up over a launch by one worker (count.c turns them into metrics).
typedef struct PcCounters {
    u64 warps, threads, threads_on;
    u64 divergent;                      // branches
    u64 requests, sectors, bytes;       // global or local accesses as the address turned out; texture, ...
    u64 shared, wavefronts, conflicts;  // shared accesses
    u64 local_requests, local_sectors;  // generic accesses that went to local memory
} PcCounters;

struct Exec {
    u8 *base[AREA_COUNT];    // register areas of the current frame, constant areas of the current function
    u32 *pred;               // predicate slots of the current frame
    u32 active;              // lanes of the split, guard not applied
    u64 address[LANES];      // scratch for memory handlers
    Fault fault;             // set by a handler: the launch ends
    const char *message;     // text of ASSERT and UNSUPPORTED
    PcCounters *count;       // row of the current instruction
    struct PcState *states;  // by pc, of this Exec
    struct Warp *warp;
    struct Cta *cta;
    struct Grid *grid;
    u8 *local;  // local memory of lane 0 of the warp; lane l at + l * local_stride
    u64 local_stride;
    u32 frame_local;  // offset of the current frame in local memory
    u8 *shared;       // of the CTA
    u32 shared_size;
    const u8 *params;  // kernel parameters
    u32 param_size;
    u64 now;     // warp instructions that the CTA has executed: its clock
    u64 stores;  // stores and atomics that other warps can see
    u64 polls;   // loads and atomics that look as if they waited for another thread
    bool retry;  // SIM_WAIT: nothing happened, try again after the others ran; wgmma.wait_group: wait for the others

    // Grid.apart: SMs execute ahead of the front's order, at the same time, what is their own affair.
    bool ahead;  // this one does: from global memory it loads only what nobody has written to in this period
    bool alone;  // nobody else executes now: what was only read so far may be written to

    const struct GpuModel *banks;  // whose banks shared memory has; NULL: 32 of 4 bytes for 32 lanes, as since Fermi
    struct Check *check;           // NULL: nothing is checked
    struct Trace *trace;           // of the warp; NULL: nothing is timed
};

#define SIM_CAT_(a, b) a##_##b
#define SIM_CAT(a, b) SIM_CAT_(a, b)
#define SIM_ISA_NAME(name) SIM_CAT(name, SIM_ISA)
// Defines the selector of the `exec` column of ops.def:  EXEC_SELECT(add_int) { ... return function; }
#define EXEC_SELECT(name)                                                  \
    ExecFn SIM_ISA_NAME(exec_##name)(const ExecShape *shape, SimInsn *in); \
    ExecFn SIM_ISA_NAME(exec_##name)(const ExecShape *shape, SimInsn *in)

static inline void *exec_operand(const Exec *x, SimOperand operand) {
    return x->base[operand >> 30] + (operand & 0x3fffffff);
}

// One lane of an operand of 32 or 64 bits.
static inline u64 exec_get_lane(const Exec *x, SimOperand operand, u32 lane) {
    const void *lanes = exec_operand(x, operand);
    return operand >> 30 & 1 ? ((const u64 *)lanes)[lane] : ((const u32 *)lanes)[lane];
}
static inline void exec_set_lane(const Exec *x, SimOperand operand, u32 lane, u64 value) {
    void *lanes = exec_operand(x, operand);
    if (operand >> 30 & 1)
        ((u64 *)lanes)[lane] = value;
    else
        ((u32 *)lanes)[lane] = (u32)value;
}

const SimOperand *exec_program_list(const Exec *x, u32 list);  // warp.c
// The operands of vectors, destination first: in->list_count of them.
static inline const SimOperand *exec_list(const Exec *x, const SimInsn *in) { return exec_program_list(x, in->list); }

// Merges a lane mask into predicate slot `slot`: lanes outside `mask` keep their value.
static inline void exec_set_pred(Exec *x, u32 slot, u32 value, u32 mask) {
    if (slot != WL_NONE) x->pred[slot] = (x->pred[slot] & ~mask) | (value & mask);
}
// The lanes whose predicate source holds.
static inline u32 exec_get_pred(const Exec *x, const SimInsn *in) {
    u32 value = x->pred[in->pred_src];
    return in->flags & SIM_PRED_NEGATED ? ~value : value;
}

#if defined(__clang__)
#define SIM_VECTORIZE _Pragma("clang loop vectorize(assume_safety)")
#else
#define SIM_VECTORIZE _Pragma("GCC ivdep")
#endif

// Runs `statement` for each lane l of `mask`: without a test when all 32 are active. Sources and destination may be the
// same register.
#define FOR_LANES(mask, statement)                                       \
    do {                                                                 \
        if (WL_LIKELY((mask) == FULL_MASK)) {                            \
            SIM_VECTORIZE for (u32 l = 0; l < LANES; l++) { statement; } \
        } else {                                                         \
            for (u32 l = 0; l < LANES; l++)                              \
                if ((mask) >> l & 1) {                                   \
                    statement;                                           \
                }                                                        \
        }                                                                \
    } while (0)

#endif
