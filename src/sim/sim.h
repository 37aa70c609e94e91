// SPDX-License-Identifier: Apache-2.0
// The simulated machine as its users see it: devices with memory, modules loaded from PTX, kernel launches.
// A Sim is driven from one thread at a time (src/cuda holds a lock); launches use worker threads inside.
// Library code: never prints, never exits; program faults come back as STATUS_FAULT with a text for people.
#ifndef WL_SIM_SIM_H
#define WL_SIM_SIM_H

#include "base/diag.h"
#include "base/log.h"
#include "base/vec.h"
#include "gpu/occupancy.h"
#include "ptx/ir.h"
#include "record/record.h"

typedef struct Sim Sim;
typedef struct SimModule SimModule;
typedef struct SimKernel SimKernel;  // an entry function of a loaded module
typedef struct Grid SimRun;          // a launch under way
typedef u64 DevicePtr;               // a generic address; 0 is never valid

// A change that a kernel makes to a kernel node of a graph (cudaGraphKernelNodeSet...).
typedef enum SimNodeChangeKind { NODE_CHANGE_ENABLED, NODE_CHANGE_PARAM, NODE_CHANGE_GRID } SimNodeChangeKind;
typedef struct SimNodeChange {
    u64 node;  // cudaGraphDeviceNode_t
    SimNodeChangeKind kind;
    bool enabled;
    u32 grid[3];
    u64 offset, size;  // of the parameter's bytes
    const void *value;
} SimNodeChange;

struct SimKernelInfo;
// What the functions that kernels call need from the runtime (src/cuda). Numbers are those of CUDA's enumerations,
// results cudaError_t.
typedef struct SimRuntime {
    int (*attribute)(void *context, u32 device, int attribute, int *value);
    int (*limit)(void *context, u32 device, int limit, u64 *value);
    int (*cache_config)(void *context, u32 device);
    const char *(*error_text)(int error, bool name);
    // Fills a struct cudaFuncAttributes in `to`; returns its size.
    u32 (*function)(void *context, u32 device, const struct SimKernelInfo *info, void *to, u32 room);
    void (*set_condition)(void *context, u64 handle, u32 value);
    int (*launch_graph)(void *context, u64 exec, u64 stream, u64 running);  // `running`: SimLaunch.graph_exec
    int (*change_node)(void *context, const SimNodeChange *change);
} SimRuntime;

// --- the checker (docs/checker.md) -----------------------------------------------------------------------------
typedef enum SimCheck {
    CHECK_MEMORY = 1,
    CHECK_RACE = 2,
    CHECK_INIT = 4,
    CHECK_SYNC = 8,
    CHECK_STRICT = 16,
    CHECK_ALL = 15
} SimCheck;
typedef enum SimSeverity { FINDING_WARNING, FINDING_ERROR } SimSeverity;

// Who called an API function, as SimConfig.origin says it.
#define ORIGIN_FRAMES 8
typedef struct SimOrigin {
    const char *api;  // "cudaMalloc"; NULL: not known. Lives as long as the Sim.
    u32 depth;
    uintptr_t frames[ORIGIN_FRAMES];  // return addresses, innermost first
} SimOrigin;

typedef struct SimPlace {
    const char *kernel, *function;  // mangled; NULL: not in a kernel
    const char *file;               // NULL: `line` is one of the PTX
    u32 line;
    const char *call_file;  // the code was inlined at this line, or NULL
    u32 call_line;
    u32 function_id, pc;  // of the records; 0 = not recorded
    u32 block[3], thread[3];
    bool has_thread;
} SimPlace;

#define FINDING_NOTES 10
typedef struct SimFinding {
    u32 id;            // from 1, in order
    const char *rule;  // "memory.out_of_bounds"
    SimSeverity severity;
    const char *headline;
    SimPlace place, other;
    const char *other_role;  // what the other party did: "written", ...; NULL: there is none
    const char *notes[FINDING_NOTES];
    u32 note_count;
    u64 address;   // 0 = none
    u32 launch;    // where it was found first, 0 = not in a launch
    u64 count;     // accesses by single threads, or calls
    bool dropped;  // another finding explains it
} SimFinding;

enum { SIM_PC_PERIOD = 1024 };  // cycles

typedef struct SimConfig {
    const GpuModel *gpu;  // of each device: `devices` of them
    u32 devices;          // 1 to 64
    u32 threads;          // host threads for one launch; results do not depend on it
    Sink *sink;           // where launches are recorded; NULL = nowhere
    u32 source;           // RecordSource id for what is recorded
    Log log;
    // Device printf: gets finished text. NULL: standard output of the process.
    void (*print)(void *context, const char *text, size_t size);
    void *print_context;
    // Progress of the running launch; called now and then from the thread that launched. NULL = none.
    void (*progress)(void *context, const char *kernel, u64 done_ctas, u64 total_ctas);
    void *progress_context;
    const SimRuntime *runtime;  // NULL: what needs it gives cudaErrorNotSupported
    void *runtime_context;
    u32 checks;    // SimCheck bits; 0 costs nothing
    bool timing;   // cycle-level: src/sim/time
    u64 interval;  // timing: cycles between two points over time; 0: totals only
    // timing: PC samples, for each bit n > 0 one every 2^n cycles; 0 = SIM_PC_PERIOD. All come pc_offset cycles
    // earlier.
    u32 pc_periods;
    u64 pc_offset;
    bool flush_caches;  // timing: caches are empty when a kernel begins, as Nsight Compute makes them
    u32 sample;         // timing: one wave of CTAs, or launch, of so many in detail; 0: all
    bool passes;        // timing: launches may be passed over (SimLaunch.pass)
    Str edits;          // timing: an experiment, edits of the timing model (record/edit.h); the caller's
    // Bytes of a page of device memory, a power of two: accesses beyond an allocation that stay in one of its pages go
    // on, as on a GPU, which checks no more than that; the first of a kernel is told. 0: they are faults.
    u64 page;
    // A finding, told when the launch ends that it was made in. Its count goes on rising.
    void (*finding)(void *context, const SimFinding *finding);
    void *finding_context;
    // Who is calling now, and what an address of SimOrigin is in words. NULL = not known.
    void (*origin)(void *context, SimOrigin *origin);
    bool (*frame_text)(void *context, uintptr_t frame, char *text, size_t size);
} SimConfig;

// Timing: the simulated clock of a device in ns; whether a launch is under way on it, whose cycles move it; and time
// that passes on it for what is not simulated cycle by cycle (copies), which only happens while no launch is under way.
u64 sim_clock_ns(const Sim *sim, u32 device);
bool sim_clock_runs(const Sim *sim, u32 device);
void sim_clock_pass(Sim *sim, u32 device, u64 ns);

WL_MUST_USE Status sim_create(const SimConfig *config, Sim **sim);
u32 sim_workers(const Sim *sim);  // threads of its own
void sim_destroy(Sim *sim);

// --- memory ---------------------------------------------------------------------------------------------------
typedef enum SimMemoryKind {
    MEMORY_DEVICE,   // host accesses fault, as on hardware
    MEMORY_MANAGED,  // same address on host and device
    MEMORY_PINNED,   // host memory made by the simulator, visible to the device at the same address
    MEMORY_HOST,     // the program's own memory, registered
    MEMORY_MODULE,   // .global and .const variables
    MEMORY_KIND_COUNT
} SimMemoryKind;

typedef struct SimAllocation {
    DevicePtr address;
    u64 size;
    u8 *host;  // where the bytes are in this process
    u32 device;
    u8 kind;            // SimMemoryKind
    bool read_only;     // .const, or mapped so
    bool mapped;        // made of reserved addresses (sim_expose): not to be freed
    const char *label;  // variable name, or NULL
    u64 serial;         // order of allocation, from 1
    bool pooled;        // `sharing` decides, not peer access
    u64 sharing;        // bit d: device d may touch it too
    u64 written_in;     // timing: Sim.period in which a kernel last wrote to it (of kernels that are `apart`)
    u8 *written;        // while checking: a bit for each byte that was written; NULL: all were, or it is not followed
} SimAllocation;

// `align` is a power of two, at least 256 is used. STATUS_NO_MEMORY when the device's capacity would be exceeded.
WL_MUST_USE Status sim_alloc(Sim *sim, u32 device, SimMemoryKind kind, u64 size, u64 align, DevicePtr *address);
WL_MUST_USE Status sim_register_host(Sim *sim, void *host, u64 size);  // MEMORY_HOST
WL_MUST_USE Status sim_free(Sim *sim, DevicePtr address);  // STATUS_NOT_FOUND when it is not the start of an allocation
const SimAllocation *sim_find(const Sim *sim, DevicePtr address);  // the allocation that contains it; NULL when none
// Names an allocation in messages; `label` must live as long as the allocation.
void sim_set_label(Sim *sim, DevicePtr address, const char *label);
// The allocation nearest to an address that hits none, for messages.
const SimAllocation *sim_nearest(const Sim *sim, DevicePtr address);
// Host view of [address, address+size): a device address inside one allocation is translated, any other address is
// taken as the program's own host memory and returned unchanged. NULL when it leaves the allocation it starts in.
void *sim_host_view(const Sim *sim, DevicePtr address, u64 size, const SimAllocation **allocation);
// Kernels on `device` may touch memory of `peer`, as cudaDeviceEnablePeerAccess says. Until then they fault.
void sim_set_peer(Sim *sim, u32 device, u32 peer, bool enabled);
// Which devices besides its own may touch an allocation, whatever sim_set_peer says: bit d for device d (memory pools).
void sim_set_sharing(Sim *sim, DevicePtr address, u64 devices);
// Bytes that device malloc may give out on a device.
void sim_set_heap_limit(Sim *sim, u32 device, u64 bytes);
void sim_memory_info(const Sim *sim, u32 device, u64 *free_bytes, u64 *total_bytes);

// Addresses apart from memory. All addresses and sizes are multiples of MAPPING_UNIT and inside one reservation; the
// caller keeps account of what is mapped where.
enum { MAPPING_UNIT = 2 << 20 };  // what cuMemGetAllocationGranularity gives on an H200
WL_MUST_USE Status sim_reserve(Sim *sim, u64 size, u64 align, DevicePtr *address);
void sim_unreserve(Sim *sim, DevicePtr address, u64 size);  // nothing may be mapped there any more
// Puts bytes of a file (memfd_create) behind addresses that have none. They cannot be accessed yet.
WL_MUST_USE Status sim_map(Sim *sim, DevicePtr address, u64 size, int file, u64 offset);
WL_MUST_USE Status sim_unmap(Sim *sim, DevicePtr address, u64 size);
// Lets mapped addresses, memory of `device`, be accessed by the devices of the mask `sharing` and by copies; and no
// more.
WL_MUST_USE Status sim_expose(Sim *sim, DevicePtr address, u64 size, u32 device, u64 sharing, bool read_only);
WL_MUST_USE Status sim_hide(Sim *sim, DevicePtr address, u64 size);
// Counts memory of a device as used. STATUS_NO_MEMORY: it has not so much.
WL_MUST_USE Status sim_claim(Sim *sim, u32 device, u64 size);
void sim_unclaim(Sim *sim, u32 device, u64 size);

// --- modules --------------------------------------------------------------------------------------------------
// Takes ownership of `module` when it succeeds. Lowers functions lazily; a kernel that uses an instruction that is not
// executable is refused by name at its first launch (sim_kernel_prepare), not here.
WL_MUST_USE Status sim_load_module(Sim *sim, u32 device, Module *module, SimModule **loaded, Diag *diag);
// Copies the text that the module was parsed from for the record of its first launch; nothing without a sink.
WL_MUST_USE Status sim_keep_text(SimModule *module, Str text);
void sim_unload_module(Sim *sim, SimModule *module);
const Module *sim_module_ptx(const SimModule *module);
WL_MUST_USE Status sim_find_kernel(Sim *sim, SimModule *module, const char *name, SimKernel **kernel);
// Module-scope variable: its address and size.
WL_MUST_USE Status sim_find_symbol(Sim *sim, SimModule *module, const char *name, DevicePtr *address, u64 *size);

typedef struct SimParam {
    u32 offset, size;  // bytes in the parameter block
} SimParam;

typedef struct SimKernelInfo {
    const char *name;  // mangled
    const SimParam *params;
    u32 param_count, param_bytes;
    u32 registers;  // estimate (or the cubin's figure when set with sim_kernel_set_code)
    u32 static_shared_bytes, local_bytes, const_bytes;
    u32 max_threads;          // per CTA: .maxntid or the device's limit
    u32 required_threads[3];  // .reqntid, 0 = none
    u32 target_sm;            // 75: the PTX target
    u32 cluster[3];           // .reqnctapercluster, 0 = none
    bool launches_graphs;     // calls cudaGraphLaunch
    u32 max_cluster;          // .maxclusterrank, 0 = none
    bool needs_cluster;       // .explicitcluster: refused when it is launched without
} SimKernelInfo;
// Prepares (lowers) the kernel. STATUS_UNSUPPORTED with a diag that names instruction and line when it cannot run.
WL_MUST_USE Status sim_kernel_prepare(Sim *sim, SimKernel *kernel, SimKernelInfo *info, Diag *diag);
// What the machine code beside the PTX says of a kernel.
typedef struct SimMachineCode {
    u32 registers;       // 0 = not known, neither is the rest
    u32 frame;           // bytes of local memory of a thread
    u32 local_accesses;  // instructions that load from it or store to it, if there is a frame; 0 = not known
} SimMachineCode;
void sim_kernel_set_code(SimKernel *kernel, SimMachineCode known);

// --- launches -------------------------------------------------------------------------------------------------
enum { SIM_MAX_CLUSTER = 16 };  // CTAs; 8 are portable

// With timing: a launch that nobody asked about (-k, --launch-skip, --launch-count) need not be simulated cycle by
// cycle.
typedef enum SimPass {
    PASS_NONE,  // it is asked about
    PASS_OVER,  // it is executed and the L2 knows what it touched; its time is estimated. Not beside one asked about
    PASS_REST,  // and nothing after it will be asked about: the L2 need not know
} SimPass;

typedef struct SimLaunch {
    SimKernel *kernel;
    u32 grid[3], block[3], cluster[3];  // cluster 0 = none
    u32 dynamic_shared_bytes;
    u32 carve_out;       // per cent of an SM's shared memory that are set apart from the L1 at least, used or not
    const void *params;  // param_bytes, laid out as SimKernelInfo.params says
    u32 stream;          // for the record
    bool child;          // a kernel launched it
    bool cooperative;    // grid sync may be used: all CTAs are made resident
    u64 graph_exec;      // of the device graph that it is part of (%current_graph_exec), 0 = none
    bool record;         // false: executed but not counted (-k, --launch-skip, --launch-count)
    SimPass pass;
} SimLaunch;

typedef struct SimLaunchResult {
    u64 warp_insts, thread_insts;
    u64 host_ns;  // spent on it
    u64 cycles;   // timing: of the SM clock, from launch to end
    // SimConfig.sample: `cycles` is an estimate, between these with 95 % confidence; the share of the warp instructions
    // that were simulated cycle by cycle, 1 when all were.
    u64 low_cycles, high_cycles;
    f64 detail;
} SimLaunchResult;

// A launch is begun, stepped until it is done, and ended. Any number may be under way at a time (one, when the checker
// is on: it follows one launch); each keeps the memory of its resident CTAs until it is ended.
// STATUS_INVALID: impossible configuration. The parameters are copied.
WL_MUST_USE Status sim_launch_begin(Sim *sim, const SimLaunch *launch, SimRun **run, Diag *diag);
typedef enum SimStepState {
    STEP_DONE,
    STEP_MORE,   // the budget is used up
    STEP_WAITS,  // it goes in a circle: only a change of memory from outside of the launch can let it go on
} SimStepState;
typedef struct SimStep {
    SimStepState state;
    bool moved;    // a CTA ended or something was written in this step
    bool polls;    // it has made loads that look as if they waited for another thread, in this step or before
    bool idle;     // of late it did nothing else
    bool any;      // in, with timing: another launch that is over ends the step, too,
    u64 until_ns;  // ... and so does this time of the device's clock, if it is not 0
    bool other;    // out: one of them did
} SimStep;
// Goes on for about `budget` warp instructions (UINT64_MAX: until it is done or waits). STATUS_FAULT, STATUS_DEADLOCK:
// `diag` has the full explanation (kernel, source line, thread, address, nearest allocation; who waits where), and
// sim_fault_code() the CUDA error number. With the checker, a launch that waits is a deadlock.
WL_MUST_USE Status sim_launch_step(Sim *sim, SimRun *run, u64 budget, SimStep *step, Diag *diag);
// Says who waits where in a launch that nothing will ever let go on. STATUS_DEADLOCK.
WL_MUST_USE Status sim_launch_deadlock(Sim *sim, SimRun *run, Diag *diag);
// Records what it counted and gives its memory back; `run` is gone then. `status`: STATUS_OK when it is done: then the
// launches that it made itself run, to completion. Otherwise how it failed, STATUS_CANCELLED when it was given up.
// `result` may be NULL. Gives `status`, or what went wrong with the launches it made.
WL_MUST_USE Status sim_launch_end(Sim *sim, SimRun *run, Status status, SimLaunchResult *result, Diag *diag);
// All of it at once. A launch that waits is a deadlock.
WL_MUST_USE Status sim_launch(Sim *sim, const SimLaunch *launch, SimLaunchResult *result, Diag *diag);
u32 sim_fault_code(const Sim *sim);  // cudaError_t of the last fault: 700 illegal address, 716 misaligned, 710 assert,
                                     // 719 launch failure, 715 illegal instruction

// --- textures and surfaces (objects are 64-bit handles that kernels receive as parameters) ---------------------
typedef enum SimFilter { FILTER_POINT, FILTER_LINEAR } SimFilter;
typedef enum SimAddressMode { ADDRESS_WRAP, ADDRESS_CLAMP, ADDRESS_MIRROR, ADDRESS_BORDER } SimAddressMode;
typedef enum SimChannelKind { CHANNEL_SIGNED, CHANNEL_UNSIGNED, CHANNEL_FLOAT } SimChannelKind;
#define SIM_TEXTURE_LEVELS 17
typedef struct SimTextureLevel {  // of a mipmap; all levels have the same number of layers
    DevicePtr data;
    u32 width, height, depth;
    u64 pitch, slice;
} SimTextureLevel;
typedef struct SimTexture {
    DevicePtr data;
    u32 width, height, depth, layers;  // elements; height, depth 0 when the dimension is absent
    u64 pitch, slice;                  // bytes between rows, between slices or layers
    u8 channels, channel_bits, channel_kind;
    u8 address[3], filter;
    bool linear_memory;  // 1D from plain memory: integer coordinates, no filtering
    bool tiled;          // a CUDA array: a GPU has its rows in tiles; counts only, here they lie one after the other
    bool normalized_coords, read_normalized, cubemap;
    bool srgb;  // unsigned 8-bit texels read as normalised floats: the first three channels are sRGB
    f32 border[4];
    // Mipmaps: levels 1 to level_count - 1 (0 and 1: there is one level, described above).
    u8 level_count, mip_filter;  // SimFilter between levels
    f32 level_bias, level_min, level_max;
    SimTextureLevel levels[SIM_TEXTURE_LEVELS];  // [0] is not used
} SimTexture;
WL_MUST_USE Status sim_texture_create(Sim *sim, const SimTexture *texture, u64 *handle);
WL_MUST_USE Status sim_texture_destroy(Sim *sim, u64 handle);
const SimTexture *sim_texture_get(const Sim *sim, u64 handle);
// Gives a module-scope .texref variable its texture (legacy texture references).

// --- what the checker is told from outside; nothing happens without it --------------------------------------------
bool sim_checks(const Sim *sim, SimCheck check);
// Written, or copied, by the host. Ranges inside one allocation.
void sim_check_written(Sim *sim, DevicePtr address, u64 size);
void sim_check_copied(Sim *sim, DevicePtr to, DevicePtr from, u64 size);
// A copy or fill, or a free, that `api` refused.
void sim_check_bad_range(Sim *sim, const char *api, DevicePtr address, u64 size, bool store);
void sim_check_bad_free(Sim *sim, const char *api, DevicePtr address);
// At the end of the program: what was never freed, as errors or as warnings; then the last counts go to the sink.
void sim_check_finish(Sim *sim, bool leaks_are_errors);
typedef struct SimCheckTotals {
    u64 errors, warnings;  // findings
    u64 occurrences;       // of the errors
    u64 leaks, leaked_bytes;
} SimCheckTotals;
SimCheckTotals sim_check_totals(const Sim *sim);
// The finding as lines of text, the way compute-sanitizer says it; returns the full length. `demangle` may be NULL.
size_t sim_finding_text(const SimFinding *finding, char *(*demangle)(const char *), bool color, char *text,
                        size_t size);
// "memory,race" -> SimCheck bits; 0 when a word is unknown.
u32 sim_checks_of(const char *list);

// Occupancy: CTAs of this kernel that fit on one SM (registers, shared memory, warps, CTA slots), as CUDA's API
// computes it.
u32 sim_occupancy(const GpuModel *gpu, const SimKernelInfo *info, u32 block_threads, u32 dynamic_shared_bytes);
GpuOccupancy sim_occupancy_limits(const GpuModel *gpu, const SimKernelInfo *info, u32 block_threads,
                                  u32 dynamic_shared_bytes);
// Clusters of `size` CTAs that fit on the GPU at a time.
u32 sim_cluster_occupancy(const GpuModel *gpu, const SimKernelInfo *info, u32 block_threads, u32 dynamic_shared_bytes,
                          u32 size);

#endif
