// SPDX-License-Identifier: Apache-2.0
// The meeting place of collectors and stores: packed records and the one sink interface. A record is a fixed struct
// followed by a tail of bytes (events.def); it holds no pointers, so it can be handed over, spooled or sent as it is.
// Ids (module, function, launch, ...) are chosen by the collector, from 1, unique within one profile of one process.
// Times are nanoseconds on the host's monotonic clock. A sink is called from one thread at a time.
#ifndef WL_RECORD_RECORD_H
#define WL_RECORD_RECORD_H

#include "base/status.h"

typedef enum RecordKind {
#define EVENT(id, type, tail) RECORD_##id,
#include "record/events.def"
#undef EVENT
    RECORD_KIND_COUNT
} RecordKind;

// Where a figure comes from. Figures of different provenance are never added up.
#define PROVENANCE_TABLE(X) \
    X(SIMULATED, "simulated") X(INSTRUMENTED, "instrumented") X(SAMPLED, "sampled") X(COUNTED, "counted")
typedef enum Provenance {
#define X(name, text) PROVENANCE_##name,
    PROVENANCE_TABLE(X)
#undef X
        PROVENANCE_COUNT
} Provenance;
const char *provenance_name(Provenance provenance);

typedef struct RecordMeta {
    u32 reserved;
} RecordMeta;
typedef struct RecordSource {
    u32 source;
    u32 provenance;
} RecordSource;
typedef struct RecordModule {
    u32 module;
    u32 kind;
    u64 hash;
    u64 text_size;
} RecordModule;                 // kind: 0 PTX, 1 cubin
typedef struct RecordListing {  // of a module of kind 1
    u32 module;
    u32 reserved;
    u64 text_size;
} RecordListing;
typedef struct RecordFunction {
    u32 function;
    u32 module;
    u32 is_entry;
    u32 insn_count;
    u32 registers;
    u32 shared_bytes;
    u32 local_bytes;
    u32 const_bytes;
} RecordFunction;
typedef struct RecordFileName {
    u32 file;
} RecordFileName;
// One row per instruction of a function, in order of `pc` (its index). `inlined` > 0: the position is inside a function
// inlined at (call_file, call_line) - the outermost call site, which is a line of the function itself.
typedef struct RecordInsns {
    u32 function;
    u32 first;
    u32 count;
} RecordInsns;
typedef struct RecordInsn {
    u32 file, line, column;
    u32 call_file, call_line;
    u32 inlined;
    u32 text_line;
    u32 op_class;  // UnitClass; above it what memory it reads, if it does: 1 + PtxSpace from bit 8 on, and whether it
                   // is an atomic: bit 15
} RecordInsn;
enum { INSN_UNIT = 0xff, INSN_SPACE_BIT = 8, INSN_SPACE = 0x7f, INSN_ATOMIC = 1 << 15 };
typedef struct RecordLaunch {
    u32 launch, function, source, device;
    u32 stream, reserved;
    u32 grid[3], block[3], cluster[3];
    u32 dynamic_shared_bytes;
    u64 begin_ns;
} RecordLaunch;
typedef struct RecordLaunchEnd {
    u32 launch;
    u32 status;
    u64 end_ns;
} RecordLaunchEnd;  // status: 0 complete, else cudaError_t
// A launch that is known only when it has ended, with its time on the GPU; `begin_ns` and `end_ns` 0: without.
typedef struct RecordLaunchDone {
    u32 launch, function, source, device;
    u32 stream, stack;  // RecordStack, 0 = not known
    u32 grid[3], block[3], cluster[3];
    u32 dynamic_shared_bytes;
    u32 registers;  // of a thread, as the machine allocates them
    u32 reserved;
    u64 begin_ns, end_ns;
} RecordLaunchDone;
// The parameters of the launched kernel as they lie in its memory, padding 0. Follows the launch; not of every one.
enum { RECORD_ARGUMENT_BYTES = 1024 };  // of more the first ones
typedef struct RecordLaunchArguments {
    u32 launch, size;
} RecordLaunchArguments;
typedef struct RecordLaunchCounts {
    u32 launch;
    u32 count;
} RecordLaunchCounts;
typedef struct RecordCount {
    u32 metric;
    u32 reserved;
    f64 value;
} RecordCount;  // metric: MetricId
typedef struct RecordPcCounts {
    u32 function, source;
    u32 count;
} RecordPcCounts;
typedef struct RecordPcCount {
    u32 pc;
    u32 metric;
    f64 value;
} RecordPcCount;
typedef struct RecordCopy {
    u32 source, device, stream, kind;
    u64 bytes;
    u64 begin_ns, end_ns;
} RecordCopy;  // kind: RecordCopyKind
typedef enum RecordCopyKind {
    COPY_HOST_TO_HOST,
    COPY_HOST_TO_DEVICE,
    COPY_DEVICE_TO_HOST,
    COPY_DEVICE_TO_DEVICE,
    COPY_PEER,
    COPY_MEMSET
} RecordCopyKind;
typedef struct RecordAlloc {
    u32 device, kind;
    u64 address, bytes;
    u64 time_ns;
    u32 freed;
    u32 reserved;
} RecordAlloc;  // kind: 0 device 1 managed 2 pinned 3 module 4 pool
typedef struct RecordMessage {
    u32 severity;
    u32 reserved;
    u64 time_ns;
} RecordMessage;  // severity: LogLevel
// When a launch ran, on a clock of its own: that of the simulated machine, or of the GPU.
typedef struct RecordLaunchTime {
    u32 launch, source;
    u64 begin_cycle, end_cycle;           // of the SM clock; launch overhead included
    u64 first_cta_cycle, last_cta_cycle;  // the first CTA started, the last one ended
    f64 begin_ns, end_ns;                 // of that clock
    u32 registers;                        // of a thread, as the machine allocates them
    u32 ctas_per_sm;                      // that fit
    u32 overlapped;                       // 1: other launches ran at the same time, machine counters are of all
    u32 reserved;
} RecordLaunchTime;
// Partial simulation: the time of a launch was estimated. Follows its RecordLaunchTime.
typedef struct RecordLaunchEstimate {
    u32 launch, source;
    u64 low_cycles, high_cycles;  // between which the launch's cycles are, with 95 % confidence
    f64 detail;                   // share of its warp instructions that were simulated cycle by cycle: 0 to 1
} RecordLaunchEstimate;
typedef struct RecordLatencies {
    u32 launch, source;
    u32 count;
    u32 reserved;
} RecordLatencies;
typedef struct RecordLatency {
    u32 low, high;  // cycles: low <= latency < high
    u64 count;
} RecordLatency;
typedef struct RecordStallName {
    u32 source, stall;
} RecordStallName;
typedef struct RecordStallCauses {
    u32 function, source;
    u32 count;
    u32 reserved;
} RecordStallCauses;
typedef struct RecordStallCause {
    u32 pc, stall;                 // the instruction that waited, and why
    u32 cause_function, cause_pc;  // the one it waited for
    u64 cycles, times;             // of warps
} RecordStallCause;
// Units whose counters are watched over time: id, name in files, scope letter of metrics.def.
#define TIMELINE_UNIT_TABLE(X) \
    X(GPU, "gpu", 'T')         \
    X(SM, "sm", 'S')           \
    X(PORT, "port", 'N') X(SLICE, "slice", 'C') X(CHANNEL, "channel", 'D') X(BANK, "bank", 'B') X(PC, "pc", 'H')
typedef enum TimelineUnit {
#define X(id, name, scope) TIMELINE_##id,
    TIMELINE_UNIT_TABLE(X)
#undef X
        TIMELINE_UNIT_COUNT
} TimelineUnit;
// Point p of a metric is what the ticks [first + p * step, first + (p + 1) * step) added to it; the last point may be
// of a shorter time. `max_bytes`: a store joins neighbouring points, and then leaves out the last metrics, until it
// needs no more; 0 = no limit.
typedef struct RecordTimeline {
    u32 launch, source;
    u32 unit;      // TimelineUnit
    u32 function;  // of TIMELINE_PC, whose units are its instructions; else 0
    u32 units, metrics, points;
    u32 max_bytes;
    u64 first, step;  // ticks
    f64 tick_ns;      // length of a tick
} RecordTimeline;
typedef struct RecordSamples {
    u32 launch, function, source;
    u32 count;
    u64 period;
} RecordSamples;
typedef struct RecordSample {
    u32 pc;
    u32 stall;
    u64 samples, not_issued;
} RecordSample;  // stall: RecordStallName of the source
typedef struct RecordSeries {
    u32 launch, source;
    u32 unit_kind, unit_index;
    u64 first_ns, step_ns;
    u32 count;
    u32 reserved;
} RecordSeries;
typedef struct RecordThreadCategories {
    u32 launch, source;
    u64 first;
    u32 count;
    u32 reserved;
} RecordThreadCategories;
typedef struct RecordAccessCounts {
    u32 launch, source;
    u64 first;
    u32 count;
    u32 word_bytes;
} RecordAccessCounts;
typedef struct RecordFinding {
    u32 finding;
    u32 function, pc;  // function 0: not in a kernel
    u32 line;
    u32 severity;
    u32 reserved;
} RecordFinding;  // severity: LogLevel
// A run once more with some of the timing edited: the time of all launches of a kernel with and without.
typedef struct RecordExperiment {
    u32 function, source;
    f64 before_ns, after_ns;
} RecordExperiment;
// Something of the host that took time.
#define SPAN_KIND_TABLE(X) X(RANGE, "range") X(MARK, "mark") X(SYNC, "sync")
typedef enum RecordSpanKind {
#define X(id, name) SPAN_##id,
    SPAN_KIND_TABLE(X)
#undef X
        SPAN_KIND_COUNT
} RecordSpanKind;
typedef struct RecordSpan {
    u32 kind;
    u32 thread;  // of the system, 0 = not known
    u32 stream, reserved;
    u64 begin_ns, end_ns;
} RecordSpan;
// Host call stacks: files that code was loaded from, places in them, and stacks of these.
typedef struct RecordObject {
    u32 object;
} RecordObject;
typedef struct RecordFrame {
    u32 frame, object;  // object 0: code that is in no file, `offset` is its address
    u64 offset;         // in the file, of the return address
    u32 line, reserved;
} RecordFrame;
typedef struct RecordStack {
    u32 stack, count;
} RecordStack;
typedef struct RecordDropped {
    u64 count;
    u64 time_ns;
} RecordDropped;

typedef struct Sink Sink;
struct Sink {
    // Takes one record. The memory is the caller's and valid during the call only. A failing sink returns its Status
    // once and from then on swallows everything: a collector goes on, the program must not suffer.
    Status (*write)(Sink *sink, RecordKind kind, const void *fixed, const void *tail, size_t tail_size);
    // Makes what was written so far durable, but for what is added up over launches, which may follow with a later one
    // where it would take long. Cheap when nothing is pending.
    Status (*flush)(Sink *sink);
};

static inline Status sink_write(Sink *sink, RecordKind kind, const void *fixed, const void *tail, size_t tail_size) {
    return sink ? sink->write(sink, kind, fixed, tail, tail_size) : STATUS_OK;
}
static inline Status sink_flush(Sink *sink) { return sink ? sink->flush(sink) : STATUS_OK; }

// Headers of the CUDA toolkit and the system: nobody wants to find his atomicAdd in sm_60_atomic_functions.hpp.
bool record_is_system_file(const char *path);
const char *timeline_unit_name(TimelineUnit unit);
char timeline_unit_scope(TimelineUnit unit);
TimelineUnit timeline_unit_find(const char *name);  // TIMELINE_UNIT_COUNT when unknown
size_t record_fixed_size(RecordKind kind);
const char *record_name(RecordKind kind);

#endif
