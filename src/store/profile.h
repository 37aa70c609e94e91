// SPDX-License-Identifier: Apache-2.0
// The inside of a Profile, for the files of store only.
#ifndef WL_STORE_PROFILE_H
#define WL_STORE_PROFILE_H

#include "base/intern.h"
#include "base/map.h"
#include "base/vec.h"
#include "store/db.h"
#include "store/store.h"

// A launch's call stack, and where launches are read from. The column is younger than the first profiles: where the
// table lacks it, `stack` is that of the query around.
#define LAUNCH_STACK                                          \
    "(SELECT stack FROM launch AS same WHERE same.id = l.id)" \
    " FROM (SELECT NULL AS stack) CROSS JOIN launch AS l "

// Every statement of the reader: name, SQL. Prepared at first use. Views are not used: a profile comes from anywhere,
// and the connection trusts nothing in its schema but plain tables.
#define PROFILE_STATEMENTS(X)                                                                                          \
    X(META, "SELECT key, value FROM meta")                                                                             \
    X(COUNTS, "SELECT (SELECT count(*) FROM function), (SELECT count(*) FROM launch), (SELECT count(*) FROM module), " \
              "(SELECT count(*) FROM message), (SELECT count(*) FROM copy), (SELECT total(bytes) FROM copy), "         \
              "(SELECT total(end_ns - begin_ns) FROM copy WHERE kind <> 'host_to_host' AND end_ns > begin_ns), "       \
              "(SELECT total(count) FROM dropped)")                                                                    \
    X(SOURCES, "SELECT id, provenance, tool, device, detail FROM source ORDER BY id")                                  \
    X(METRICS, "SELECT id, name FROM metric")                                                                          \
    X(FILES, "SELECT id, path, system FROM file")                                                                      \
    X(FUNCTIONS, "SELECT f.id, f.name, coalesce(nullif(m.path, ''), m.hash, ''), f.module, f.insn_count, f.is_entry, " \
                 "f.registers, f.shared_bytes, f.local_bytes, f.const_bytes, "                                         \
                 "(SELECT count(*) FROM launch WHERE function = f.id AND (?1 = 0 OR source = ?1)), "                   \
                 "coalesce(nullif(?1, 0), (SELECT min(source) FROM launch WHERE function = f.id), "                    \
                 "(SELECT min(source) FROM pc_metric WHERE function = f.id), 0) "                                      \
                 "FROM function f LEFT JOIN module m ON m.id = f.module ORDER BY f.id")                                \
    X(LAUNCHES_ALL,                                                                                                    \
      "SELECT id, position, function, source, grid_x, grid_y, grid_z, block_x, block_y, block_z, "                     \
      "cluster_x, cluster_y, cluster_z, dynamic_shared_bytes, begin_ns, end_ns, status, device, stream, " LAUNCH_STACK \
      "WHERE ?1 = ?1 AND (?2 = 0 OR source = ?2) ORDER BY position, id")                                               \
    X(LAUNCHES,                                                                                                        \
      "SELECT id, position, function, source, grid_x, grid_y, grid_z, block_x, block_y, block_z, "                     \
      "cluster_x, cluster_y, cluster_z, dynamic_shared_bytes, begin_ns, end_ns, status, device, stream, " LAUNCH_STACK \
      "WHERE function = ?1 AND (?2 = 0 OR source = ?2) ORDER BY position, id")                                         \
    X(LAUNCH_ARGUMENTS, "SELECT a.launch, a.data FROM launch l CROSS JOIN launch_argument a ON a.launch = l.id "       \
                        "WHERE l.function = ?1 ORDER BY l.position, l.id")                                             \
    X(ALLOCS, "SELECT address, bytes FROM alloc WHERE freed = 0 ORDER BY id")                                          \
    X(LAUNCH_METRICS_ALL, "SELECT launch, metric, value FROM launch_metric WHERE ?1 = ?1 ORDER BY launch, metric")     \
    X(LAUNCH_METRICS, "SELECT v.launch, v.metric, v.value FROM launch l CROSS JOIN launch_metric v "                   \
                      "ON v.launch = l.id WHERE l.function = ?1")                                                      \
    X(TOTALS, "SELECT l.function, l.source, v.metric, v.value FROM launch_metric v CROSS JOIN launch l "               \
              "ON l.id = v.launch ORDER BY v.launch, v.metric")                                                        \
    X(INSNS,                                                                                                           \
      "SELECT pc, file, line, call_file, call_line, inlined, text_line, op_class FROM insn WHERE function = ?1 "       \
      "ORDER BY pc")                                                                                                   \
    X(PC_METRICS, "SELECT pc, metric, value FROM pc_metric WHERE function = ?1 AND source = ?2 ORDER BY pc, metric")   \
    X(MESSAGES, "SELECT text FROM message ORDER BY id")                                                                \
    X(LOSSES, "SELECT what, count FROM dropped ORDER BY count DESC, what")                                             \
    X(FINDINGS,                                                                                                        \
      "SELECT id, rule, severity, text, evidence, coalesce(file, ''), line, function FROM finding ORDER BY id")        \
    X(EXPERIMENTS, "SELECT function, rule, edits, before_ns, after_ns FROM experiment ORDER BY function, rule, edits") \
    X(LAUNCH_TIMES_ALL, "SELECT launch, begin_cycle, end_cycle, first_cta_cycle, last_cta_cycle, begin_ns, end_ns, "   \
                        "registers, ctas_per_sm, overlapped FROM launch_time WHERE ?1 = ?1 ORDER BY launch")           \
    X(LAUNCH_TIMES, "SELECT t.launch, t.begin_cycle, t.end_cycle, t.first_cta_cycle, t.last_cta_cycle, t.begin_ns, "   \
                    "t.end_ns, t.registers, t.ctas_per_sm, t.overlapped FROM launch l CROSS JOIN launch_time t "       \
                    "ON t.launch = l.id WHERE l.function = ?1")                                                        \
    X(LAUNCH_ESTIMATES, "SELECT launch, low_cycles, high_cycles, detail FROM launch_estimate")                         \
    X(LATENCIES, "SELECT v.low, v.high, v.count FROM launch l CROSS JOIN load_latency v ON v.launch = l.id "           \
                 "WHERE l.function = ?1 AND l.source = ?2 ORDER BY v.low, v.high")                                     \
    X(STALLS, "SELECT id, name, text FROM stall WHERE source = ?1 ORDER BY id")                                        \
    X(STALL_CAUSES, "SELECT pc, stall, cause_function, cause_pc, cycles, times FROM stall_cause WHERE function = ?1 "  \
                    "AND source = ?2 ORDER BY pc, stall, cause_function, cause_pc")                                    \
    X(SAMPLES, "SELECT function, source, launch, pc, stall, samples, not_issued, period FROM sample")                  \
    X(TIMELINES, "SELECT t.source, unit, function, units, metrics, points, first, step, tick_ns, s.provenance "        \
                 "FROM timeline t LEFT JOIN source s ON s.id = t.source WHERE launch = ?1 "                            \
                 "ORDER BY t.source, unit, function")                                                                  \
    X(TIMELINE_DATA, "SELECT source, unit, function, data FROM timeline WHERE launch = ?1 AND source = ?2 "            \
                     "ORDER BY unit, function")                                                                        \
    X(FRAMES, "SELECT f.id, o.path, f.offset, f.symbol, f.file, f.line, f.object FROM frame f LEFT JOIN object o "     \
              "ON o.id = f.object ORDER BY f.id")                                                                      \
    X(STACK, "SELECT f.id, o.path, f.offset, f.symbol, f.file, f.line, f.object FROM stack_frame s JOIN frame f "      \
             "ON f.id = s.frame LEFT JOIN object o ON o.id = f.object WHERE s.stack = ?1 ORDER BY s.depth")            \
    X(MODULE_TEXT, "SELECT text_size, text FROM module WHERE id = ?1")                                                 \
    X(MODULE_LISTING, "SELECT text_size, text FROM listing WHERE module = ?1 AND format = 'nvdisasm-json'")

typedef enum ProfileStatement {
#define X(name, sql) PROFILE_##name,
    PROFILE_STATEMENTS(X)
#undef X
        PROFILE_STATEMENT_COUNT
} ProfileStatement;

typedef struct ProfileFile {
    const char *path;
    bool system;
} ProfileFile;

typedef struct ProfileList {  // a cached answer
    const void *rows;
    u32 count;
} ProfileList;

struct Profile {
    sqlite3 *db;
    sqlite3_stmt *statements[PROFILE_STATEMENT_COUNT];
    const char *path;
    u32 schema_version;
    u32 source;  // 0 = the first of each function
    Arena arena;
    Intern texts;
    MetricProgram *program;
    Map metrics;  // id in the file -> MetricId
    Map files;    // id -> position in file_rows
    Vec(ProfileFile) file_rows;
    bool has_files, has_functions, has_totals, has_samples;
    ProfileFunction *functions;
    u32 function_count;
    Map function_index;   // id -> position in functions
    MetricSet *totals;    // by position in functions
    Map lines, launches;  // function id -> position in lists
    Map places;           // ... of its instructions
    Map samples;          // source << 32 | function id
    Vec(ProfileList) lists;
};

// A query in progress. Always ends with query_end, also after a failure.
// A table that an older writer did not know has no rows.
typedef struct Query {
    Profile *profile;
    sqlite3_stmt *statement;
    int code;
    bool absent;
} Query;
Query query_begin(Profile *profile, ProfileStatement statement, u64 first,
                  u64 second);  // binds ?1 and ?2 where they are
bool query_row(Query *query);   // steps; false at the end
WL_MUST_USE Status query_end(Query *query, Diag *diag);
static inline u64 query_u64(const Query *query, int column) {
    return (u64)sqlite3_column_int64(query->statement, column);
}
u32 query_u32(const Query *query, int column);  // 0 when it is none
static inline f64 query_f64(const Query *query, int column) { return sqlite3_column_double(query->statement, column); }
// A text that lives as long as the profile; "" for NULL. NULL when memory is out: the query then fails.
const char *query_text(Query *query, int column);

// Puts SQLite's reason into `diag` and returns `status`.
Status profile_tell(Profile *profile, Diag *diag, Status status);
MetricId profile_metric(const Profile *profile, u64 id);  // METRIC_COUNT for a metric that this version does not know
WL_MUST_USE Status profile_load_functions(Profile *profile, Diag *diag);

// A copy of a vector's rows in the profile's arena; NULL when memory is out.
void *profile_keep(Profile *profile, const void *rows, u32 count, size_t size);
// Ends a query; `status`: what went wrong while its rows were taken. Tells either.
WL_MUST_USE Status query_finish(Query *query, Status status, Diag *diag);
// Answers that stay, by function.
WL_MUST_USE Status profile_remember(Profile *profile, Map *map, u32 function, ProfileList list);
ProfileList *profile_recall(Profile *profile, const Map *map, u32 function);

#endif
