// SPDX-License-Identifier: Apache-2.0
// Inside of the simulator: the machine, its memory, loaded modules and lowered programs. Not for other modules.
#ifndef WL_SIM_MACHINE_H
#define WL_SIM_MACHINE_H

#include "base/map.h"
#include "base/pages.h"
#include "base/pool.h"
#include "sim/code.h"
#include "sim/exec.h"
#include "sim/places.h"
#include "sim/sim.h"

typedef Vec(SimAllocation) AllocationList;  // sorted by address, disjoint

typedef struct SimWindow {  // device addresses: [base, base+size) is reserved and inaccessible; the bytes are at +delta
    u8 *base, *backing;
    u64 size;
} SimWindow;

typedef struct SimDevice {
    u64 used;        // bytes allocated
    u64 peers;       // bit d: kernels may touch memory of device d
    u64 heap_bytes;  // device malloc: in use
    u64 heap_limit;  // ... and how much there may be; 0 = 8 MiB
    Vec(SimModule *) modules;
} SimDevice;

#define GONE_TEXTURES 1024u  // texture objects that kernels can use although they were destroyed

struct Sim {
    SimConfig config;
    Pages *pages;  // of warps and CTAs
    SimWindow window;
    u64 host_next;        // where the next managed or pinned memory would lie, as an offset
    WindowPlaces places;  // of the window
    AllocationList allocations;
    u64 serial;      // of the last allocation
    u64 generation;  // changes with every allocation and free: caches of allocations are then stale
    u64 period;      // of kernels under way at the same time: see SimAllocation.written_in
    SimDevice *devices;
    Map device_texts;  // error * 2 + name? -> device address of the text (cudaGetErrorString in kernels)
    Map textures;      // handle -> SimTexture *
    u64 next_texture;
    u64 gone[GONE_TEXTURES];  // handles that were destroyed last, a ring; 0 = none
    u32 gone_at;              // the next of them
    u32 next_module_id, next_function_id, next_file_id, launches;
    Map file_ids;  // hash of path -> RecordFileName id
    u32 fault_code;
    u64 unreported;                 // warp instructions since the last progress report
    u64 kept_ns;                    // when a launch last had the sink keep what came before (sim_launch)
    u64 time;                       // warp instructions of all launches so far: the base of %globaltimer
    u32 parents;                    // kernels that wait for those that they launched, their time held open
    struct Grid *free_grids;        // of launches that are over, kept for their memory; the last one first
    struct Check *check;            // NULL: nothing is checked
    struct TimeMachine **machines;  // by device, NULL until the first launch; NULL: nothing is timed
    u64 *early_ns;                  // by device: what had passed by then
    struct Timeline **timelines;
};

// One function of a program.
typedef struct SimFunc {
    FuncRef func;
    u32 entry;  // first instruction in SimProgram.insns
    u32 insn_count;
    u32 r32_bytes, r64_bytes, preds;  // size of a frame
    u32 local_bytes;                  // local variables and .param variables of a frame
    u32 param_bytes;                  // of these, at its begin: the function's own parameters and results
    u32 ret_offset, ret_size;         // first return parameter in the frame
    u32 stack_slot;  // of a function with alloca: where in the frame it keeps the caller's stack; WL_NONE
} SimFunc;

typedef struct SimArg {  // one argument or result of a call
    u32 caller;          // frame offset in the caller, or a SimOperand when is_reg
    u32 callee;          // frame offset in the callee
    u32 size;
    bool is_reg;
} SimArg;

typedef struct SimCall {  // aux data of a call instruction
    u32 args, arg_count;  // SimProgram.args
    u32 results, result_count;
    u32 builtin;  // BuiltinId + 1, 0 = none
} SimCall;

// A kernel with everything it can call, lowered into one instruction array.
typedef struct SimProgram {
    Arena arena;
    const Module *module;
    SimInsn *insns;
    u32 insn_count;
    SimFunc *funcs;  // funcs[0] is the kernel
    u32 func_count;
    u32 *func_of;  // FuncRef -> index in funcs, WL_NONE
    u32 *lists;    // SimOperands of vectors and branch tables
    SimCall *calls;
    SimArg *args;
    u8 *c32, *c64;  // constant areas
    u32 c32_bytes, c64_bytes;
    u32 shared_bytes;      // static shared memory
    u32 local_bytes;       // of one thread without recursion
    u32 registers;         // estimate
    bool launches_graphs;  // calls cudaGraphLaunch
    bool recursive;        // recursion, indirect calls or alloca: stack depth is not known
    bool apart;            // all that it writes to global memory, it writes with st, atom and red
    bool allocates;        // has alloca, stacksave or stackrestore: Warp.stack is kept
    u32 target_sm;
    struct CheckPc *check;  // by pc; NULL: not checked
} SimProgram;

struct SimModule {
    Sim *sim;
    u32 device;
    Module *ptx;
    u64 *var_address;     // VarRef -> device address of module-scope variables
    SimKernel **kernels;  // by FuncRef, NULL until asked for
    u32 record_id;        // RecordModule, 0 = not recorded yet
    char *text;           // sim_keep_text; NULL: not kept, or recorded
    size_t text_size;
    u32 *function_ids;  // FuncRef -> RecordFunction id, 0 = not recorded yet
};

struct SimKernel {
    SimModule *module;
    FuncRef func;
    SimProgram *program;
    SimKernelInfo info;
    SimParam *params;
    SimMachineCode known;
    struct TimeCode *time_code;  // NULL: not timed yet
    u32 time_code_id;
    bool overran;  // accesses beyond an allocation that went on have been told
};

static inline const GpuModel *sim_gpu(const Sim *sim, u32 device) { return &sim->config.gpu[device]; }

// memory.c
Status memory_init(Sim *sim);
void memory_destroy(Sim *sim);
SimAllocation *memory_lookup(const Sim *sim, u64 address);
// Where bytes that lie beyond all allocations, but in a page of one that the device may touch, are; NULL: nowhere.
u8 *memory_beyond(const Sim *sim, u32 device, u64 address, u32 bytes, bool store);
// Whether kernels on a device may touch an allocation: device memory of another one needs peer access.
bool memory_reaches(const Sim *sim, u32 device, const SimAllocation *allocation);
Status memory_insert(Sim *sim, SimAllocation allocation);
void memory_remove(Sim *sim, const SimAllocation *allocation);
// Addresses of the window, as offsets in it.
Status memory_take(Sim *sim, PlaceKind kind, u64 size, u64 align, u64 *offset);
void memory_give(Sim *sim, PlaceKind kind, u64 offset, u64 size);
void memory_reuse(Sim *sim, const SimAllocation *freed);  // its addresses may be given out again

// module.c
#define FUNCTION_HANDLE(func) ((0x84ull << WINDOW_SHIFT) + ((u64)(func) + 1) * 16)
FuncRef function_from_handle(const Module *module, u64 handle);  // WL_NONE

// lower.c
Status program_build(SimModule *module, FuncRef entry, SimProgram **program, Diag *diag);
void program_free(SimProgram *program);
const SimFunc *program_func_at(const SimProgram *program, u32 pc);

#endif
