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

// Creates `path`. An existing file is STATUS_EXISTS unless `overwrite`, and then only a Warplens profile (or an empty
// file) is replaced - never another file. Problems are told in `diag`.
WL_MUST_USE Status store_create(const char *path, bool overwrite, StoreWriter **writer, Diag *diag);
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

typedef struct ProfileLaunch {
    u32 id, index;  // index: position in the run, from 0
    u32 function, source;
    u32 grid[3], block[3], cluster[3];
    u32 dynamic_shared_bytes;
    u64 begin_ns, end_ns;  // end 0: not finished when the profile ended
    u32 status;
    u32 device, stream;
    MetricSet metrics;  // evaluated
} ProfileLaunch;

// Instructions inlined from a header of the toolkit or the system belong to the line that called it; other inlined ones
// to the line where they are written.
typedef struct ProfileLine {
    const char *file;   // NULL: no source information, `line` is a line of the PTX text
    u32 line;           // 0: not known
    MetricSet metrics;  // evaluated; provenance of the source asked for
} ProfileLine;

// What the checker found (docs/checker.md).
typedef struct ProfileFinding {
    u32 id;
    const char *rule, *severity, *text;
    const char *evidence;  // JSON: count, place, other, notes, ... (docs/profile-format.md)
    const char *file;      // "" = not known, `line` is then one of the PTX text
    u32 line;
    u32 function;  // 0 = not in a kernel
} ProfileFinding;

typedef struct ProfileSummary {
    const char *tool_version, *command, *device, *created;
    u32 schema_version;
    bool complete;  // false: the writer was killed
    u32 functions, launches, modules;
    u64 copies, copy_bytes, dropped;
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
WL_MUST_USE Status profile_lines(Profile *profile, u32 function, const ProfileLine **lines, u32 *count, Diag *diag);
WL_MUST_USE Status profile_messages(Profile *profile, const char *const **texts, u32 *count, Diag *diag);
WL_MUST_USE Status profile_findings(Profile *profile, const ProfileFinding **findings, u32 *count, Diag *diag);
WL_MUST_USE Status profile_function_metrics(Profile *profile, u32 function, MetricSet *metrics,
                                            Diag *diag);  // over all launches
// The PTX or SASS text of a module; empty when the profile holds none.
WL_MUST_USE Status profile_module_text(Profile *profile, u32 module, Str *text, Diag *diag);

#endif
