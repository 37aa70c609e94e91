// SPDX-License-Identifier: Apache-2.0
// The sink of a profile. Records go into one open transaction, which is committed at flush() and every half second:
// what is committed is in the WAL, which the kernel keeps when the process is killed. What is added up over launches is
// written again whenever it has changed, so it is left to a later commit where it would take more than a small part of
// the time, unless a flush finds that nothing was added up since the last one: the program pauses, or ends. What that
// takes is not held against the first commits, as short programs often end in a way that nobody tells us of (abort).
// A failing disk or exhausted memory ends the writing, never the program: the status is returned once, the rest is
// swallowed and counted.
#include "store/writer.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <zstd.h>

#include "base/mem.h"
#include "store/file_limit.h"

enum { COMMIT_RECORDS = 20000, COMMIT_NS = 500000000 };
enum { TOTALS_SHARE = 64, PAUSED_SHARE = 8 };  // of the time, for writing totals; when what they add up has paused
enum { TOTALS_FREE_NS = 20000000 };            // of work for writing totals, however long ago the last time is

static const char *const statement_sql[STORE_STATEMENT_COUNT] = {
#define X(name, sql) [STORE_##name] = sql,
    STORE_STATEMENTS(X)
#undef X
};

static u64 clock_ns(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return (u64)time.tv_sec * 1000000000u + (u64)time.tv_nsec;
}

static u64 now_ns(void) { return clock_ns(CLOCK_MONOTONIC); }

// Of this thread: what others do on a busy machine is not in it.
static u64 worked_ns(void) { return clock_ns(CLOCK_THREAD_CPUTIME_ID); }

const char *writer_sql(StoreStatement statement) { return statement_sql[statement]; }

Status writer_run_now(StoreWriter *writer, StoreStatement statement, const DbValue *values, u32 count) {
    if (!writer->statements[statement]) {
        int code = sqlite3_prepare_v3(writer->db, statement_sql[statement], -1, SQLITE_PREPARE_PERSISTENT,
                                      &writer->statements[statement], NULL);
        if (code != SQLITE_OK) return db_status(code);
    }
    return db_run(writer->statements[statement], values, count);
}

Status writer_meta(StoreWriter *writer, const char *key, const char *value) {
    return WRITER_RUN(writer, STORE_META, db_text((Str){key, strlen(key)}), db_text((Str){value, strlen(value)}));
}

static Status begin(StoreWriter *writer, u64 now) {
    if (writer->pending) return STATUS_OK;
    TRY(writer_run(writer, STORE_BEGIN, NULL, 0));
    writer->pending = true;
    writer->records = 0;
    writer->begin_ns = now;
    return STATUS_OK;
}

static Status write_total(void *context, const PcTable *table, u32 pc, MetricId metric, f64 value) {
    return WRITER_RUN(context, STORE_PC_METRIC, db_int(table->function), db_int(table->source), db_int(pc),
                      db_int(metric + 1u), db_real(value));
}

static Status note_dropped(StoreWriter *writer, const char *what, u64 *count, u64 now) {
    if (!*count) return STATUS_OK;
    TRY(WRITER_RUN(writer, STORE_DROPPED, db_text((Str){what, strlen(what)}), db_int(*count), db_int(now)));
    *count = 0;
    return STATUS_OK;
}

// So much time since totals were last written that this took one part of `share`.
static bool has_passed(const StoreWriter *writer, u64 now, u32 share) {
    return (now - writer->totals_end_ns) / share >= writer->totals_ns;
}

static bool totals_due(const StoreWriter *writer, u64 now) {
    return writer->totals_work_ns < TOTALS_FREE_NS || has_passed(writer, now, TOTALS_SHARE);
}

static bool sums_paused(const StoreWriter *writer) {
    return writer->summed == writer->flushed_sums && writer->summed && !writer->sums_are_in;
}

static Status put_in_totals(StoreWriter *writer, u64 now) {
    u64 before = worked_ns();
    writer->sums_are_in = true;
    TRY(pc_totals_write(&writer->totals, write_total, writer));
    TRY(writer_put_in_sums(writer));
    TRY(writer_put_in_rows(writer));
    writer->totals_end_ns = now_ns();
    writer->totals_ns = writer->totals_end_ns - now;
    writer->totals_work_ns += worked_ns() - before;
    return STATUS_OK;
}

static Status commit(StoreWriter *writer, u64 now, bool totals) {
    if (!writer->pending) return STATUS_OK;
    char wall[24];
    snprintf(wall, sizeof wall, "%llu", (unsigned long long)(now - writer->start_ns));
    TRY(totals ? put_in_totals(writer, now) : writer_put_in_rows(writer));
    TRY(note_dropped(writer, "malformed records", &writer->invalid, now));
    if (!writer->appends) TRY(writer_meta(writer, "wall_ns", wall));
    TRY(writer_run(writer, STORE_COMMIT, NULL, 0));
    writer->pending = false;
    return STATUS_OK;
}

// Saves what can be saved: after exhausted memory the disk is usually fine. SQLite may have rolled back by itself.
static Status fail(StoreWriter *writer, Status status) {
    writer->failed = status;
    bool open = !sqlite3_get_autocommit(writer->db);
    if (open && commit(writer, now_ns(), true) != STATUS_OK) sqlite3_exec(writer->db, "ROLLBACK", NULL, NULL, NULL);
    writer->pending = false;
    return status;
}

static Status take(StoreWriter *writer, RecordKind kind, const void *fixed, const void *tail, size_t size) {
    u64 now = now_ns();
    Status status = begin(writer, now);
    if (status == STATUS_OK) {
        status = writer_record(writer, kind, fixed, tail, size);
        writer->invalid += status == STATUS_INVALID;
        if (status == STATUS_INVALID) return status;
    }
    writer->swallowed += status != STATUS_OK;
    if (status == STATUS_OK && (++writer->records >= COMMIT_RECORDS || now - writer->begin_ns >= COMMIT_NS)) {
        status = commit(writer, now, totals_due(writer, now));
    }
    return status == STATUS_OK ? STATUS_OK : fail(writer, status);
}

static Status sink_take(Sink *sink, RecordKind kind, const void *fixed, const void *tail, size_t size) {
    StoreWriter *writer = (StoreWriter *)sink;
    if (writer->failed) {
        writer->swallowed++;
        return STATUS_OK;
    }
    FileLimit limit = file_limit_hold();
    Status status = take(writer, kind, fixed, tail, size);
    file_limit_release(&limit);
    return status;
}

static Status sink_commit(Sink *sink) {
    StoreWriter *writer = (StoreWriter *)sink;
    u64 now = now_ns();
    bool paused = sums_paused(writer) && has_passed(writer, now, PAUSED_SHARE);
    writer->flushed_sums = writer->summed;
    if (writer->failed || !(writer->pending || paused)) return STATUS_OK;
    FileLimit limit = file_limit_hold();
    Status status = begin(writer, now);
    if (status == STATUS_OK) status = commit(writer, now, paused || totals_due(writer, now));
    if (status != STATUS_OK) fail(writer, status);
    file_limit_release(&limit);
    return status;
}

Sink *store_sink(StoreWriter *writer) {
    writer->sink = (Sink){.write = sink_take, .flush = sink_commit};
    writer->start_ns = writer->start_ns ? writer->start_ns : now_ns();
    return &writer->sink;
}

static Status finish(StoreWriter *writer) {
    TRY(begin(writer, now_ns()));
    if (!writer->appends) TRY(writer_meta(writer, "complete", "1"));
    return commit(writer, now_ns(), true);
}

// After a failure the file keeps what was committed, and says how much is missing if there is room for that.
static void finish_failed(StoreWriter *writer) {
    u64 lost = writer->swallowed ? writer->swallowed : 1;
    Status ignored = note_dropped(writer, "records after a write error", &lost, now_ns());
    (void)ignored;
}

static void free_memory(StoreWriter *writer) {
    pc_totals_free(&writer->totals);
    writer_free_sums(writer);
    vec_free(&writer->scratch);
    ZSTD_freeCCtx(writer->zstd);
    vec_free(&writer->ids);
    vec_free(&writer->points);
    vec_free(&writer->packed);
    mem_free(writer);
}

Status store_close(StoreWriter *writer) {
    if (!writer) return STATUS_OK;
    FileLimit limit = file_limit_hold();
    if (!writer->failed) {
        Status status = finish(writer);
        if (status != STATUS_OK) fail(writer, status);
    }
    if (writer->failed) finish_failed(writer);
    for (u32 i = 0; i < STORE_STATEMENT_COUNT; i++) sqlite3_finalize(writer->statements[i]);
    writer_free_rows(writer, true);
    // An ordinary database again, without companions, readable also where nothing can be created beside it. Fails
    // harmlessly while somebody reads: the file then stays a WAL database.
    sqlite3_busy_timeout(writer->db, 0);
    sqlite3_exec(writer->db, "PRAGMA journal_mode=DELETE", NULL, NULL, NULL);
    sqlite3_close(writer->db);
    file_limit_release(&limit);
    Status status = writer->failed;
    free_memory(writer);
    return status;
}

// The database handle stays open on purpose: closing it in a child would fold the parent's WAL under its feet.
// https://www.sqlite.org/howtocorrupt.html section 2.6
void store_abandon(StoreWriter *writer) {
    if (!writer) return;
    writer_free_rows(writer, false);
    free_memory(writer);
}
