// SPDX-License-Identifier: Apache-2.0
// The profile file: one SQLite database, schema in schema.sql, described in docs/profile-format.md.
// Writing is incremental (WAL; one transaction per interval), so that what was flushed survives SIGKILL.
#ifndef WL_STORE_STORE_H
#define WL_STORE_STORE_H

#include "base/diag.h"
#include "metric/metric.h"
#include "record/record.h"

#define PROFILE_SCHEMA_VERSION 1

typedef struct StoreWriter StoreWriter;

// The process is ours alone: SQLite need not add up what memory it has, which takes a lock each time. Before anything
// else of it is used.
void store_own_process(void);

// Creates `path`. An existing file is STATUS_EXISTS unless `overwrite`, and then only a Warplens profile (or an empty
// file) is replaced - never another file. Problems are told in `diag`.
WL_MUST_USE Status store_create(const char *path, bool overwrite, StoreWriter **writer, Diag *diag);
// Removes a profile that is to be replaced, by store_create's rules; STATUS_OK when there is none.
WL_MUST_USE Status store_remove(const char *path, Diag *diag);
// Opens a profile that its writer has closed, to complete what it says of code: records LISTING, FUNCTION, FILE_NAME,
// INSN, FRAME and EXPERIMENT. It may be read meanwhile, by those who open it after this; they close it before the
// writer does. Closing says nothing of the run. STATUS_INVALID: not a Warplens profile.
WL_MUST_USE Status store_append(const char *path, StoreWriter **writer, Diag *diag);
Sink *store_sink(StoreWriter *writer);
// Commits, marks the profile complete, folds the WAL into the file and frees the writer. NULL is allowed.
WL_MUST_USE Status store_close(StoreWriter *writer);
// After fork(): the child must not touch the parent's database; drops everything without writing.
void store_abandon(StoreWriter *writer);

typedef struct Profile Profile;

// Opens for reading. Distinguishes: no such file, not a Warplens profile, damaged, written by a newer version
// (STATUS_VERSION). Never writes to the file's content; works on a profile whose writer was killed or is still running.
WL_MUST_USE Status profile_open(const char *path, Profile **profile, Diag *diag);
void profile_close(Profile *profile);

typedef struct ProfileSource {
    u32 id;
    const char *provenance;  // as provenance_name() says it
    const char *tool, *device, *detail;
} ProfileSource;

typedef struct ProfileFunction {
    u32 id;
    const char *name;    // mangled
    const char *module;  // path or hash
    u32 module_id;
    u32 launches;
    u32 insn_count;
    u32 registers, shared_bytes, local_bytes, const_bytes;
    bool is_entry;
    u32 source;  // whose figures are returned: profile_use_source's, else the first that has any; 0 = there are none
} ProfileFunction;

// On the clock of the machine that ran the launch: of the simulated GPU, or of the real one.
typedef struct ProfileTime {
    bool known;
    bool overlapped;  // other launches ran meanwhile
    u64 begin_cycle, end_cycle, first_cta_cycle, last_cta_cycle;
    f64 begin_ns, end_ns;
    u32 registers, ctas_per_sm;
    // Partial simulation: the cycles are an estimate, between `low` and `high` with 95 % confidence; `detail` is the
    // share of the warp instructions that were simulated cycle by cycle. Otherwise 1, and low and high are the cycles.
    // On a GPU: this launch was recorded without its time, and `begin_ns` (0) to `end_ns` is what others of the
    // function took, give or take `error_ns` (95 % confidence; the errors of launches add up).
    bool estimated;
    u64 low_cycles, high_cycles;
    f64 detail;
    f64 error_ns;
} ProfileTime;

typedef struct ProfileLaunch {
    u32 id, index;  // index: position in the run, from 0
    u32 function, source;
    u32 grid[3], block[3], cluster[3];
    u32 dynamic_shared_bytes;
    u64 begin_ns, end_ns;  // end 0: not finished when the profile ended; both 0: ended, but when is not known
    u32 status;
    u32 device, stream;
    u32 stack;  // of the host, for profile_stack; 0: not known
    ProfileTime time;
    const MetricSet *metrics;  // evaluated; never NULL: launches of which nothing was counted share an empty one
} ProfileLaunch;

// How long it took on the clock of the machine that ran it; 0: not known. A real GPU's times are the launch's, whole ns
// that `time` may have rounded.
static inline f64 profile_launch_ns(const ProfileLaunch *launch) {
    const ProfileTime *time = &launch->time;
    bool same = time->begin_ns == (f64)launch->begin_ns && time->end_ns == (f64)launch->end_ns;
    f64 ns = !time->known ? 0 : same ? (f64)(i64)(launch->end_ns - launch->begin_ns) : time->end_ns - time->begin_ns;
    return ns > 0 ? ns : 0;
}

// Instructions inlined from a header of the toolkit or the system belong to the line that called it if that is the
// program's own; other inlined ones, and all of a library's kernels, to the line where they are written.
typedef struct ProfileLine {
    const char *file;   // NULL: no source information, `line` is a line of the PTX text
    u32 line;           // 0: not known
    MetricSet metrics;  // evaluated; provenance of the source asked for
} ProfileLine;

// Where an instruction is shown, by the rule of ProfileLine. A zeroed one: not known.
typedef struct ProfilePlace {
    const char *file;
    u32 line;
    const char *header;  // of the toolkit or the system, that the instruction is written in; NULL: in none
    u8 op_class;         // UnitClass of the PTX instruction
    u8 space;            // 1 + PtxSpace of the memory that it reads; 0: none, or not known
    bool atomic;
} ProfilePlace;

typedef struct ProfileStall {
    u32 id;
    const char *name, *text;
} ProfileStall;
typedef struct ProfileStallCause {  // over all launches
    u32 pc, stall;
    u32 cause_function, cause_pc;
    u64 cycles, times;
} ProfileStallCause;
typedef struct ProfileSample {
    u32 launch;  // 0: of all launches
    u32 pc, stall;
    u64 samples, not_issued, period;
} ProfileSample;
typedef struct ProfilePcMetric {
    u32 pc;
    MetricId metric;  // a counter
    f64 value;        // over all launches
} ProfilePcMetric;
typedef struct ProfileLatency {  // low <= cycles < high
    u32 low, high;
    u64 count;
} ProfileLatency;

// Where the host's code was in a call stack: the return address at `offset` of a file.
typedef struct ProfileFrame {
    u32 id, object_id;
    const char *object;  // path; "" = in no file, `offset` is an address
    u64 offset;
    const char *symbol;  // as in the symbol table (mangled); "" = not known
    const char *file;    // "" = not known
    u32 line;
} ProfileFrame;

// Counters over time of all units of one kind.
typedef struct ProfileTimeline {
    u32 launch, source;  // launch 0: of the whole run
    bool on_gpu;         // counted by a GPU: not all counters are known, ticks are ns
    TimelineUnit unit;
    u32 function;  // of TIMELINE_PC
    u32 units, metrics, points;
    u64 first, step;  // ticks
    f64 tick_ns;
} ProfileTimeline;
typedef struct TimelineData {
    MetricId *metrics;  // METRIC_COUNT: one that this version does not know
    u64 *values;        // [metrics][units][points]
} TimelineData;

// What the checker found (docs/checker.md).
typedef struct ProfileFinding {
    u32 id;
    const char *rule, *severity, *text;
    const char *evidence;  // JSON: count, place, other, notes, ... (docs/profile-format.md)
    const char *file;      // "" = not known, `line` is then one of the PTX text
    u32 line;
    u32 function;  // 0 = not in a kernel
} ProfileFinding;

// What became of a kernel's time with some of the timing edited (record/edit.h), as advice has it.
typedef struct ProfileExperiment {
    u32 function;
    const char *rule, *edits;
    f64 before_ns, after_ns;  // of all its launches
} ProfileExperiment;

typedef struct ProfileSummary {
    const char *tool_version, *command, *device, *created;
    u32 schema_version;
    bool complete;  // false: the writer was killed
    u32 functions, launches, modules;
    u64 copies, copy_bytes, dropped;
    u64 copy_ns;  // of copies and fills, added up, but for those within the host; on the clock of the launches
    u64 wall_ns;
    int exit_code;  // of the program; -1 = not known
    u32 messages;
} ProfileSummary;

// Everything returned lives until profile_close. Order is deterministic.
WL_MUST_USE Status profile_summary(Profile *profile, ProfileSummary *summary, Diag *diag);
WL_MUST_USE Status profile_sources(Profile *profile, const ProfileSource **sources, u32 *count, Diag *diag);
// From now on only figures of this source; 0 = for each function the first source that has some. Call it before the
// others.
void profile_use_source(Profile *profile, u32 source);
WL_MUST_USE Status profile_functions(Profile *profile, const ProfileFunction **functions, u32 *count, Diag *diag);
WL_MUST_USE Status profile_launches(Profile *profile, u32 function, const ProfileLaunch **launches, u32 *count,
                                    Diag *diag);  // 0 = all
// Of those launches of the function whose arguments were recorded, in order of the launches.
typedef struct ProfileArguments {
    u32 launch;
    Str data;  // the first RECORD_ARGUMENT_BYTES of the kernel's parameters
} ProfileArguments;
WL_MUST_USE Status profile_launch_arguments(Profile *profile, u32 function, const ProfileArguments **rows, u32 *count,
                                            Diag *diag);
// Every allocation that the program made, in order; later ones may lie where earlier ones were freed.
typedef struct ProfileAlloc {
    u64 address, bytes;
} ProfileAlloc;
WL_MUST_USE Status profile_allocs(Profile *profile, const ProfileAlloc **rows, u32 *count, Diag *diag);
WL_MUST_USE Status profile_lines(Profile *profile, u32 function, const ProfileLine **lines, u32 *count, Diag *diag);
WL_MUST_USE Status profile_messages(Profile *profile, const char *const **texts, u32 *count, Diag *diag);
// What was lost of the run, most first: `count` of all are ProfileSummary.dropped. No rows in a good profile.
typedef struct ProfileLoss {
    const char *what;
    u64 count;
} ProfileLoss;
WL_MUST_USE Status profile_losses(Profile *profile, const ProfileLoss **losses, u32 *count, Diag *diag);
WL_MUST_USE Status profile_findings(Profile *profile, const ProfileFinding **findings, u32 *count, Diag *diag);
WL_MUST_USE Status profile_experiments(Profile *profile, const ProfileExperiment **experiments, u32 *count, Diag *diag);
WL_MUST_USE Status profile_function_metrics(Profile *profile, u32 function, MetricSet *metrics,
                                            Diag *diag);  // over all launches
WL_MUST_USE Status profile_places(Profile *profile, u32 function, const ProfilePlace **places, u32 *count,
                                  Diag *diag);  // by pc
// What was counted at each instruction, of the function's source, sorted by pc.
WL_MUST_USE Status profile_pc_metrics(Profile *profile, const ProfileFunction *function, const ProfilePcMetric **counts,
                                      u32 *count, Diag *diag);
// Formulas over counters, as for everything else of the profile.
void profile_evaluate(const Profile *profile, MetricSet *metrics);
WL_MUST_USE Status profile_stalls(Profile *profile, u32 source, const ProfileStall **stalls, u32 *count, Diag *diag);
// Of the function's source.
WL_MUST_USE Status profile_stall_causes(Profile *profile, const ProfileFunction *function,
                                        const ProfileStallCause **causes, u32 *count, Diag *diag);
// The first call reads those of all functions, in one pass.
WL_MUST_USE Status profile_samples(Profile *profile, const ProfileFunction *function, const ProfileSample **samples,
                                   u32 *count, Diag *diag);
// How long global loads took, over all launches.
WL_MUST_USE Status profile_latencies(Profile *profile, const ProfileFunction *function,
                                     const ProfileLatency **latencies, u32 *count, Diag *diag);
WL_MUST_USE Status profile_timelines(Profile *profile, u32 launch, const ProfileTimeline **timelines, u32 *count,
                                     Diag *diag);
// Decodes one; to be given back with timeline_free. STATUS_FORMAT with a diag when it is damaged.
WL_MUST_USE Status timeline_read(Profile *profile, const ProfileTimeline *timeline, TimelineData *data, Diag *diag);
void timeline_free(TimelineData *data);
enum { TIMELINE_ALL = -1 };  // for `unit`: counters added up over all of them
// All metrics of one unit at one point, evaluated.
void timeline_point_metrics(Profile *profile, const ProfileTimeline *timeline, const TimelineData *data, i64 unit,
                            u32 point, MetricSet *set);
// A counter or formula at each point; NAN where it has no value.
void timeline_figure(Profile *profile, const ProfileTimeline *timeline, const TimelineData *data, MetricId metric,
                     i64 unit, f64 *values);
// All frames, by id; and a stack's, innermost first.
WL_MUST_USE Status profile_frames(Profile *profile, const ProfileFrame **frames, u32 *count, Diag *diag);
WL_MUST_USE Status profile_stack(Profile *profile, u32 stack, const ProfileFrame **frames, u32 *count, Diag *diag);
// The PTX text of a module, or its machine code (a cubin: an ELF file); empty when the profile holds none.
WL_MUST_USE Status profile_module_text(Profile *profile, u32 module, Str *text, Diag *diag);
// What nvdisasm -json says of a module of machine code; empty when the profile holds none.
WL_MUST_USE Status profile_module_listing(Profile *profile, u32 module, Str *json, Diag *diag);

#endif
