// SPDX-License-Identifier: Apache-2.0
// The inside of a StoreWriter, for the files of store only.
#ifndef WL_STORE_WRITER_H
#define WL_STORE_WRITER_H

#include "store/db.h"
#include "store/pc_totals.h"
#include "store/row_source.h"
#include "store/store.h"
#include "store/timeline_code.h"

// Every statement of the writer: name, SQL. Prepared at first use.
#define STORE_STATEMENTS(X)                                                                                          \
    X(BEGIN, "BEGIN IMMEDIATE")                                                                                      \
    X(COMMIT, "COMMIT")                                                                                              \
    X(META, "INSERT OR REPLACE INTO meta VALUES(?,?)")                                                               \
    X(SOURCE, "INSERT OR REPLACE INTO source VALUES(?,?,?,?,?)")                                                     \
    X(MODULE, "INSERT OR REPLACE INTO module VALUES(?,?,?,?,?,?)")                                                   \
    X(LISTING, "INSERT OR REPLACE INTO listing VALUES(?,?,?,?)")                                                     \
    X(FUNCTION, "INSERT OR REPLACE INTO function VALUES(?,?,?,?,?,?,?,?,?)")                                         \
    X(FILE, "INSERT OR REPLACE INTO file VALUES(?,?,?)")                                                             \
    X(INSN, "INSERT OR REPLACE INTO insn VALUES(?,?,?,?,?,?,?,?,?,?)")                                               \
    X(LAUNCH, "INSERT OR REPLACE INTO launch VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,0,0,NULL)")                    \
    X(LAUNCH_DONE, "INSERT OR REPLACE INTO launch VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,0,?)")                  \
    X(LAUNCH_END, "UPDATE launch SET end_ns=?2, status=?3 WHERE id=?1")                                              \
    X(LAUNCH_ARGUMENT, "INSERT OR REPLACE INTO launch_argument VALUES(?,?)")                                         \
    X(LAUNCH_METRIC, "INSERT INTO launch_metric VALUES(?,?,?) ON CONFLICT DO UPDATE SET value=value+excluded.value") \
    X(PC_METRIC, "INSERT OR REPLACE INTO pc_metric VALUES(?,?,?,?,?)")                                               \
    X(COPY, "INSERT INTO copy VALUES(NULL,?,?,?,?,?,?,?)")                                                           \
    X(ALLOC, "INSERT INTO alloc VALUES(NULL,?,?,?,?,?,?,?)")                                                         \
    X(MESSAGE, "INSERT INTO message VALUES(NULL,?,?,?)")                                                             \
    X(LAUNCH_TIME, "INSERT OR REPLACE INTO launch_time VALUES(?,?,?,?,?,?,?,?,?,?,?)")                               \
    X(LAUNCH_ESTIMATE, "INSERT OR REPLACE INTO launch_estimate VALUES(?,?,?,?,?)")                                   \
    X(LATENCY, "INSERT INTO load_latency VALUES(?,?,?,?) ON CONFLICT DO UPDATE SET count=count+excluded.count")      \
    X(STALL, "INSERT OR REPLACE INTO stall VALUES(?,?,?,?)")                                                         \
    X(STALL_CAUSE, "INSERT INTO stall_cause VALUES(?,?,?,?,?,?,?,?) ON CONFLICT DO UPDATE SET "                      \
                   "cycles=cycles+excluded.cycles, times=times+excluded.times")                                      \
    X(TIMELINE, "INSERT OR REPLACE INTO timeline VALUES(?,?,?,?,?,?,?,?,?,?,?)")                                     \
    X(SAMPLE, "INSERT INTO sample VALUES(?,?,?,?,?,?,?,?) ON CONFLICT DO UPDATE SET "                                \
              "samples=samples+excluded.samples, not_issued=not_issued+excluded.not_issued")                         \
    X(SERIES, "INSERT INTO series VALUES(NULL,?,?,?,?,?,?,?,?,?,?)")                                                 \
    X(THREAD_CATEGORY, "INSERT INTO thread_category VALUES(NULL,?,?,?,?,?,?)")                                       \
    X(ACCESS_COUNT, "INSERT INTO access_count VALUES(NULL,?,?,?,?,?,?,?)")                                           \
    X(FINDING, "INSERT OR REPLACE INTO finding VALUES(?,?,?,?,?,?,?,?,?,NULL,NULL,NULL,NULL)")                       \
    X(EXPERIMENT, "INSERT OR REPLACE INTO experiment VALUES(?,?,?,?,?,?)")                                           \
    X(SPAN, "INSERT INTO span VALUES(NULL,?,?,?,?,?,?)")                                                             \
    X(OBJECT, "INSERT OR REPLACE INTO object VALUES(?,?)")                                                           \
    X(FRAME, "INSERT OR REPLACE INTO frame VALUES(?,?,?,?,?,?)")                                                     \
    X(STACK_FRAME, "INSERT OR REPLACE INTO stack_frame VALUES(?,?,?)")                                               \
    X(DROPPED, "INSERT INTO dropped VALUES(?,?,?) ON CONFLICT DO UPDATE SET count=count+excluded.count, "            \
               "time_ns=max(time_ns,excluded.time_ns)")

typedef enum StoreStatement {
#define X(name, sql) STORE_##name,
    STORE_STATEMENTS(X)
#undef X
        STORE_STATEMENT_COUNT
} StoreStatement;

typedef struct WriterRows WriterRows;
typedef struct WriterSums WriterSums;
// The timeline of one kind of unit that was compressed last: values that changed, and bytes.
enum { TIMELINE_TRIED = 11 };  // by the logarithm of its points
typedef struct TimelineTried {
    u64 changes, bytes;
} TimelineTried;

struct StoreWriter {
    Sink sink;  // first: a Sink * is the writer
    sqlite3 *db;
    sqlite3_stmt *statements[STORE_STATEMENT_COUNT];
    WriterRows *rows[STORE_STATEMENT_COUNT];  // not yet in the database
    WriterSums *sums[STORE_STATEMENT_COUNT];  // ... nor among the rows
    RowSource source;                         // rows that are being put in
    bool has_source;                          // ... which the connection knows
    PcTotals totals;
    Vec(u8) scratch;  // compressed blobs
    struct ZSTD_CCtx_s *zstd;
    Vec(u32) ids;      // of the metrics of a timeline
    u32 spare_launch;  // whose timelines so far left
    u64 spare_bytes;   // ... so much of their shares of the file
    TimelineTried tried[TIMELINE_UNIT_COUNT][TIMELINE_TRIED];
    Vec(u64) points;               // its values
    ByteVec packed;                // ... before compression
    Status failed;                 // not OK: everything is swallowed
    bool pending;                  // a transaction is open
    bool appends;                  // to a profile that another writer made: says nothing of the run
    u32 records;                   // in this transaction
    u64 begin_ns;                  // of this transaction
    u64 totals_end_ns, totals_ns;  // when totals were last written; how long that took
    u64 totals_work_ns;            // of the processor, all of them
    u64 summed, flushed_sums;      // rows added up in memory since the beginning; at the last flush
    bool sums_are_in;              // all of them are in the database
    u64 start_ns;                  // of the writer
    u32 launches;
    u64 invalid;    // records that were refused, not yet noted in the file
    u64 swallowed;  // records lost after the failure
};

// Runs one statement with its values; rows of numbers some time before the transaction is committed (writer_rows.c).
WL_MUST_USE Status writer_run(StoreWriter *writer, StoreStatement statement, const DbValue *values, u32 count);
#define WRITER_RUN(writer, statement, ...) \
    writer_run((writer), (statement), (const DbValue[]){__VA_ARGS__}, (u32)WL_COUNT(((const DbValue[]){__VA_ARGS__})))
WL_MUST_USE Status writer_run_now(StoreWriter *writer, StoreStatement statement, const DbValue *values, u32 count);
const char *writer_sql(StoreStatement statement);
WL_MUST_USE Status writer_put_in_rows(StoreWriter *writer);  // those that wait
void writer_free_rows(StoreWriter *writer, bool finalize);   // finalize: their statements, too
WL_MUST_USE Status writer_gather(StoreWriter *writer, StoreStatement statement, const DbValue *values, u32 count);

// writer_sums.c: statements of integers of which rows with the same key are added up before.
bool writer_is_summed(StoreStatement statement);
WL_MUST_USE Status writer_sum(StoreWriter *writer, StoreStatement statement, const DbValue *values);
WL_MUST_USE Status writer_put_in_sums(StoreWriter *writer);
void writer_free_sums(StoreWriter *writer);

WL_MUST_USE Status writer_meta(StoreWriter *writer, const char *key, const char *value);

// Puts one record into the open transaction. STATUS_INVALID: the record is malformed.
WL_MUST_USE Status writer_record(StoreWriter *writer, RecordKind kind, const void *fixed, const void *tail,
                                 size_t size);

// One zstd frame in writer->scratch.
WL_MUST_USE Status writer_compress(StoreWriter *writer, Str data, int level, DbValue *blob);

// writer_timeline.c
WL_MUST_USE Status writer_timeline(StoreWriter *writer, const RecordTimeline *record, Str tail);

#endif
