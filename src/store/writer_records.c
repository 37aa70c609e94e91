// SPDX-License-Identifier: Apache-2.0
// One function per kind of record: checks it and writes its rows. Nothing in a record is trusted: counts and texts must
// fit the tail, and elements may be unaligned.
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <zstd.h>

#include "base/log.h"
#include "store/writer.h"

// Of zstd. Machine code becomes 1 % larger at level 1 than at 3, in half the time, for which the end of a program may
// have to wait (42 MB of cubins: 7.4 MB at 576 MB/s, 7.3 MB at 294 MB/s).
enum { TEXT_LEVEL = 3, CODE_LEVEL = 1, COLUMN_LEVEL = 1 };

typedef Str Tail;

// Takes a NUL-terminated text off the front.
static bool take_text(Tail *tail, Str *text) {
    const char *end = tail->len ? memchr(tail->data, '\0', tail->len) : NULL;
    if (!end) return false;
    *text = (Str){tail->data, (size_t)(end - tail->data)};
    tail->len -= text->len + 1;
    tail->data = end + 1;
    return true;
}

static bool holds(Tail tail, u32 count, size_t element_size) { return tail.len == (size_t)count * element_size; }

static Str str(const char *text) { return (Str){text, strlen(text)}; }

static DbValue or_null(bool known, DbValue value) { return known ? value : db_null(); }

// The name of an enum value, for people who read the file by hand.
static DbValue named(const char *const *names, u32 count, u32 value) {
    return db_text(str(value < count ? names[value] : "unknown"));
}

Status writer_compress(StoreWriter *writer, Str data, int level, DbValue *blob) {
    size_t bound = ZSTD_compressBound(data.len);
    if (ZSTD_isError(bound) || bound > UINT32_MAX / 2) return STATUS_LIMIT;
    writer->scratch.len = 0;
    TRY(vec_reserve(&writer->scratch, bound));
    if (!writer->zstd) writer->zstd = ZSTD_createCCtx();
    if (!writer->zstd) return STATUS_NO_MEMORY;
    size_t size = ZSTD_compressCCtx(writer->zstd, writer->scratch.data, bound, data.data, data.len, level);
    if (ZSTD_isError(size)) return STATUS_NO_MEMORY;
    *blob = db_blob(writer->scratch.data, size);
    return STATUS_OK;
}

static Status take_column(StoreWriter *writer, Tail tail, u32 count, size_t element_size, DbValue *blob) {
    return holds(tail, count, element_size) ? writer_compress(writer, tail, COLUMN_LEVEL, blob) : STATUS_INVALID;
}

// Keys that only the writer sets; see docs/profile-format.md.
static bool is_reserved(Str key) {
    static const char *const keys[] = {"complete", "created", "wall_ns", "warplens_version"};
    for (u32 i = 0; i < WL_COUNT(keys); i++) {
        if (strlen(keys[i]) == key.len && memcmp(keys[i], key.data, key.len) == 0) return true;
    }
    return false;
}

static Status write_meta(StoreWriter *writer, const void *fixed, Tail tail) {
    (void)fixed;
    Str key, value;
    if (!take_text(&tail, &key) || !take_text(&tail, &value)) return STATUS_INVALID;
    if (is_reserved(key)) return STATUS_OK;
    return WRITER_RUN(writer, STORE_META, db_text(key), db_text(value));
}

static Status write_source(StoreWriter *writer, const void *fixed, Tail tail) {
    const RecordSource *record = fixed;
    Str tool, device, detail;
    if (!take_text(&tail, &tool) || !take_text(&tail, &device) || !take_text(&tail, &detail)) return STATUS_INVALID;
    return WRITER_RUN(writer, STORE_SOURCE, db_int(record->source),
                      db_text(str(provenance_name((Provenance)record->provenance))), db_text(tool), db_text(device),
                      db_text(detail));
}

static Status write_module(StoreWriter *writer, const void *fixed, Tail tail) {
    enum { PTX, CUBIN };
    static const char *const kinds[] = {[PTX] = "ptx", [CUBIN] = "cubin"};
    const RecordModule *record = fixed;
    Str path;
    if (!take_text(&tail, &path) || tail.len != record->text_size) return STATUS_INVALID;
    char hash[17];
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)record->hash);
    DbValue blob;
    TRY(writer_compress(writer, tail, record->kind == CUBIN ? CODE_LEVEL : TEXT_LEVEL, &blob));
    return WRITER_RUN(writer, STORE_MODULE, db_int(record->module), named(kinds, WL_COUNT(kinds), record->kind),
                      db_text(str(hash)), db_text(path), db_int(record->text_size), blob);
}

static Status write_listing(StoreWriter *writer, const void *fixed, Tail tail) {
    const RecordListing *record = fixed;
    Str format;
    if (!take_text(&tail, &format) || tail.len != record->text_size) return STATUS_INVALID;
    DbValue blob;
    TRY(writer_compress(writer, tail, TEXT_LEVEL, &blob));
    return WRITER_RUN(writer, STORE_LISTING, db_int(record->module), db_text(format), db_int(record->text_size), blob);
}

static Status write_function(StoreWriter *writer, const void *fixed, Tail tail) {
    const RecordFunction *record = fixed;
    Str name;
    if (!take_text(&tail, &name)) return STATUS_INVALID;
    return WRITER_RUN(writer, STORE_FUNCTION, db_int(record->function), db_int(record->module), db_text(name),
                      db_int(record->is_entry), db_int(record->insn_count), db_int(record->registers),
                      db_int(record->shared_bytes), db_int(record->local_bytes), db_int(record->const_bytes));
}

static Status write_file_name(StoreWriter *writer, const void *fixed, Tail tail) {
    const RecordFileName *record = fixed;
    Str path;
    if (!take_text(&tail, &path)) return STATUS_INVALID;
    return WRITER_RUN(writer, STORE_FILE, db_int(record->file), db_text(path),
                      db_int(record_is_system_file(path.data)));
}

static Status write_insns(StoreWriter *writer, const void *fixed, Tail tail) {
    const RecordInsns *record = fixed;
    if (!holds(tail, record->count, sizeof(RecordInsn))) return STATUS_INVALID;
    for (u32 i = 0; i < record->count; i++) {
        RecordInsn insn;
        memcpy(&insn, tail.data + i * sizeof insn, sizeof insn);
        TRY(WRITER_RUN(writer, STORE_INSN, db_int(record->function), db_int((u64)record->first + i), db_int(insn.file),
                       db_int(insn.line), db_int(insn.column), db_int(insn.call_file), db_int(insn.call_line),
                       db_int(insn.inlined), db_int(insn.text_line), db_int(insn.op_class)));
    }
    return STATUS_OK;
}

static Status write_launch(StoreWriter *writer, const void *fixed, Tail tail) {
    (void)tail;
    const RecordLaunch *record = fixed;
    const u32 *grid = record->grid, *block = record->block, *cluster = record->cluster;
    TRY(WRITER_RUN(writer, STORE_LAUNCH, db_int(record->launch), db_int(writer->launches), db_int(record->function),
                   db_int(record->source), db_int(record->device), db_int(record->stream), db_int(grid[0]),
                   db_int(grid[1]), db_int(grid[2]), db_int(block[0]), db_int(block[1]), db_int(block[2]),
                   db_int(cluster[0]), db_int(cluster[1]), db_int(cluster[2]), db_int(record->dynamic_shared_bytes),
                   db_int(record->begin_ns)));
    writer->launches++;
    return STATUS_OK;
}

static Status write_launch_done(StoreWriter *writer, const void *fixed, Tail tail) {
    (void)tail;
    const RecordLaunchDone *record = fixed;
    const u32 *grid = record->grid, *block = record->block, *cluster = record->cluster;
    TRY(WRITER_RUN(writer, STORE_LAUNCH_DONE, db_int(record->launch), db_int(writer->launches),
                   db_int(record->function), db_int(record->source), db_int(record->device), db_int(record->stream),
                   db_int(grid[0]), db_int(grid[1]), db_int(grid[2]), db_int(block[0]), db_int(block[1]),
                   db_int(block[2]), db_int(cluster[0]), db_int(cluster[1]), db_int(cluster[2]),
                   db_int(record->dynamic_shared_bytes), db_int(record->begin_ns), db_int(record->end_ns),
                   or_null(record->stack, db_int(record->stack))));
    writer->launches++;
    if (!record->end_ns) return STATUS_OK;
    // Cycles are not known: the GPU tells times only.
    return WRITER_RUN(writer, STORE_LAUNCH_TIME, db_int(record->launch), db_int(record->source), db_int(0), db_int(0),
                      db_int(0), db_int(0), db_real((f64)record->begin_ns), db_real((f64)record->end_ns),
                      db_int(record->registers), db_int(0), db_int(0));
}

static Status write_launch_arguments(StoreWriter *writer, const void *fixed, Tail tail) {
    const RecordLaunchArguments *record = fixed;
    if (!record->size || record->size > RECORD_ARGUMENT_BYTES || !holds(tail, record->size, 1)) return STATUS_INVALID;
    return WRITER_RUN(writer, STORE_LAUNCH_ARGUMENT, db_int(record->launch), db_blob(tail.data, record->size));
}

static Status write_launch_end(StoreWriter *writer, const void *fixed, Tail tail) {
    (void)tail;
    const RecordLaunchEnd *record = fixed;
    if (record->status) writer->totals_ns = 0;  // it may be the program's last one
    return WRITER_RUN(writer, STORE_LAUNCH_END, db_int(record->launch), db_int(record->end_ns), db_int(record->status));
}

// Only counters with a value that a file can hold: formulas are computed when read.
static bool is_storable(u32 metric, f64 value) {
    return metric < METRIC_COUNT && !metric_table[metric].formula && isfinite(value);
}

static Status write_launch_counts(StoreWriter *writer, const void *fixed, Tail tail) {
    const RecordLaunchCounts *record = fixed;
    if (!holds(tail, record->count, sizeof(RecordCount))) return STATUS_INVALID;
    Status result = STATUS_OK;
    for (u32 i = 0; i < record->count; i++) {
        RecordCount count;
        memcpy(&count, tail.data + i * sizeof count, sizeof count);
        if (!is_storable(count.metric, count.value)) {
            result = STATUS_INVALID;
            continue;
        }
        TRY(WRITER_RUN(writer, STORE_LAUNCH_METRIC, db_int(record->launch), db_int(count.metric + 1u),
                       db_real(count.value)));
    }
    return result;
}

static Status write_pc_counts(StoreWriter *writer, const void *fixed, Tail tail) {
    const RecordPcCounts *record = fixed;
    if (!holds(tail, record->count, sizeof(RecordPcCount))) return STATUS_INVALID;
    Status result = STATUS_OK;
    for (u32 i = 0; i < record->count; i++) {
        RecordPcCount count;
        memcpy(&count, tail.data + i * sizeof count, sizeof count);
        if (!is_storable(count.metric, count.value) || count.pc >= PC_LIMIT) {
            result = STATUS_INVALID;
            continue;
        }
        TRY(pc_totals_add(&writer->totals, record->function, record->source, count.pc, (MetricId)count.metric,
                          count.value));
    }
    return result;
}

static Status write_copy(StoreWriter *writer, const void *fixed, Tail tail) {
    static const char *const kinds[] = {[COPY_HOST_TO_HOST] = "host_to_host",
                                        [COPY_HOST_TO_DEVICE] = "host_to_device",
                                        [COPY_DEVICE_TO_HOST] = "device_to_host",
                                        [COPY_DEVICE_TO_DEVICE] = "device_to_device",
                                        [COPY_PEER] = "peer",
                                        [COPY_MEMSET] = "memset"};
    (void)tail;
    const RecordCopy *record = fixed;
    return WRITER_RUN(writer, STORE_COPY, db_int(record->source), db_int(record->device), db_int(record->stream),
                      named(kinds, WL_COUNT(kinds), record->kind), db_int(record->bytes), db_int(record->begin_ns),
                      db_int(record->end_ns));
}

static Status write_alloc(StoreWriter *writer, const void *fixed, Tail tail) {
    static const char *const kinds[] = {"device", "managed", "pinned", "module", "pool"};
    const RecordAlloc *record = fixed;
    Str label;
    if (!take_text(&tail, &label)) return STATUS_INVALID;
    return WRITER_RUN(writer, STORE_ALLOC, db_int(record->device), named(kinds, WL_COUNT(kinds), record->kind),
                      db_int(record->address), db_int(record->bytes), db_int(record->time_ns), db_int(record->freed),
                      db_text(label));
}

static Status write_message(StoreWriter *writer, const void *fixed, Tail tail) {
    static const char *const levels[] = {
        [LOG_ERROR] = "error", [LOG_WARNING] = "warning", [LOG_INFO] = "info", [LOG_DEBUG] = "debug"};
    const RecordMessage *record = fixed;
    Str text;
    if (!take_text(&tail, &text)) return STATUS_INVALID;
    return WRITER_RUN(writer, STORE_MESSAGE, named(levels, WL_COUNT(levels), record->severity), db_int(record->time_ns),
                      db_text(text));
}

static Status write_samples(StoreWriter *writer, const void *fixed, Tail tail) {
    const RecordSamples *record = fixed;
    if (!holds(tail, record->count, sizeof(RecordSample))) return STATUS_INVALID;
    for (u32 i = 0; i < record->count; i++) {
        RecordSample sample;
        memcpy(&sample, tail.data + i * sizeof sample, sizeof sample);
        TRY(WRITER_RUN(writer, STORE_SAMPLE, db_int(record->launch), db_int(record->function), db_int(record->source),
                       db_int(sample.pc), db_int(sample.stall), db_int(sample.samples), db_int(sample.not_issued),
                       db_int(record->period)));
    }
    return STATUS_OK;
}

static Status write_launch_time(StoreWriter *writer, const void *fixed, Tail tail) {
    (void)tail;
    const RecordLaunchTime *record = fixed;
    if (!isfinite(record->begin_ns) || !isfinite(record->end_ns)) return STATUS_INVALID;
    return WRITER_RUN(writer, STORE_LAUNCH_TIME, db_int(record->launch), db_int(record->source),
                      db_int(record->begin_cycle), db_int(record->end_cycle), db_int(record->first_cta_cycle),
                      db_int(record->last_cta_cycle), db_real(record->begin_ns), db_real(record->end_ns),
                      db_int(record->registers), db_int(record->ctas_per_sm), db_int(record->overlapped));
}

static Status write_launch_estimate(StoreWriter *writer, const void *fixed, Tail tail) {
    (void)tail;
    const RecordLaunchEstimate *record = fixed;
    if (!(record->detail >= 0 && record->detail <= 1) || record->low_cycles > record->high_cycles)
        return STATUS_INVALID;
    return WRITER_RUN(writer, STORE_LAUNCH_ESTIMATE, db_int(record->launch), db_int(record->source),
                      db_int(record->low_cycles), db_int(record->high_cycles), db_real(record->detail));
}

static Status write_latencies(StoreWriter *writer, const void *fixed, Tail tail) {
    const RecordLatencies *record = fixed;
    if (!holds(tail, record->count, sizeof(RecordLatency))) return STATUS_INVALID;
    for (u32 i = 0; i < record->count; i++) {
        RecordLatency bucket;
        memcpy(&bucket, tail.data + i * sizeof bucket, sizeof bucket);
        TRY(WRITER_RUN(writer, STORE_LATENCY, db_int(record->launch), db_int(bucket.low), db_int(bucket.high),
                       db_int(bucket.count)));
    }
    return STATUS_OK;
}

static Status write_stall_name(StoreWriter *writer, const void *fixed, Tail tail) {
    const RecordStallName *record = fixed;
    Str name, text;
    if (!take_text(&tail, &name) || !take_text(&tail, &text)) return STATUS_INVALID;
    return WRITER_RUN(writer, STORE_STALL, db_int(record->source), db_int(record->stall), db_text(name), db_text(text));
}

static Status write_stall_causes(StoreWriter *writer, const void *fixed, Tail tail) {
    const RecordStallCauses *record = fixed;
    if (!holds(tail, record->count, sizeof(RecordStallCause))) return STATUS_INVALID;
    for (u32 i = 0; i < record->count; i++) {
        RecordStallCause cause;
        memcpy(&cause, tail.data + i * sizeof cause, sizeof cause);
        TRY(WRITER_RUN(writer, STORE_STALL_CAUSE, db_int(record->function), db_int(record->source), db_int(cause.pc),
                       db_int(cause.stall), db_int(cause.cause_function), db_int(cause.cause_pc), db_int(cause.cycles),
                       db_int(cause.times)));
    }
    return STATUS_OK;
}

static Status write_timeline(StoreWriter *writer, const void *fixed, Tail tail) {
    return writer_timeline(writer, fixed, tail);
}

static Status write_series(StoreWriter *writer, const void *fixed, Tail tail) {
    const RecordSeries *record = fixed;
    Str name, unit;
    DbValue blob;
    if (!take_text(&tail, &name) || !take_text(&tail, &unit)) return STATUS_INVALID;
    TRY(take_column(writer, tail, record->count, sizeof(f64), &blob));
    return WRITER_RUN(writer, STORE_SERIES, db_int(record->launch), db_int(record->source), db_text(name),
                      db_text(unit), db_int(record->unit_kind), db_int(record->unit_index), db_int(record->first_ns),
                      db_int(record->step_ns), db_int(record->count), blob);
}

static Status write_thread_categories(StoreWriter *writer, const void *fixed, Tail tail) {
    const RecordThreadCategories *record = fixed;
    Str category;
    DbValue blob;
    if (!take_text(&tail, &category)) return STATUS_INVALID;
    TRY(take_column(writer, tail, record->count, sizeof(u64), &blob));
    return WRITER_RUN(writer, STORE_THREAD_CATEGORY, db_int(record->launch), db_int(record->source), db_text(category),
                      db_int(record->first), db_int(record->count), blob);
}

static Status write_access_counts(StoreWriter *writer, const void *fixed, Tail tail) {
    const RecordAccessCounts *record = fixed;
    Str object;
    DbValue blob;
    if (!take_text(&tail, &object)) return STATUS_INVALID;
    TRY(take_column(writer, tail, record->count, sizeof(u64), &blob));
    return WRITER_RUN(writer, STORE_ACCESS_COUNT, db_int(record->launch), db_int(record->source), db_text(object),
                      db_int(record->word_bytes), db_int(record->first), db_int(record->count), blob);
}

static Status write_finding(StoreWriter *writer, const void *fixed, Tail tail) {
    const RecordFinding *record = fixed;
    Str rule, text, file, evidence;
    if (!take_text(&tail, &rule) || !take_text(&tail, &text) || !take_text(&tail, &file) ||
        !take_text(&tail, &evidence))
        return STATUS_INVALID;
    bool in_kernel = record->function != 0;
    return WRITER_RUN(writer, STORE_FINDING, db_int(record->finding), db_text(rule),
                      or_null(in_kernel, db_int(record->function)), or_null(in_kernel, db_int(record->pc)),
                      or_null(file.len, db_text(file)), or_null(record->line, db_int(record->line)),
                      db_text(str(record->severity == LOG_ERROR ? "error" : "warning")), db_text(text),
                      db_text(evidence));
}

static Status write_experiment(StoreWriter *writer, const void *fixed, Tail tail) {
    const RecordExperiment *record = fixed;
    Str rule, edits;
    if (!take_text(&tail, &rule) || !take_text(&tail, &edits)) return STATUS_INVALID;
    if (!(record->before_ns > 0 && record->after_ns > 0)) return STATUS_INVALID;
    if (!isfinite(record->before_ns) || !isfinite(record->after_ns)) return STATUS_INVALID;
    return WRITER_RUN(writer, STORE_EXPERIMENT, db_int(record->function), db_int(record->source), db_text(rule),
                      db_text(edits), db_real(record->before_ns), db_real(record->after_ns));
}

static Status write_span(StoreWriter *writer, const void *fixed, Tail tail) {
    static const char *const kinds[] = {
#define X(id, name) name,
        SPAN_KIND_TABLE(X)
#undef X
    };
    const RecordSpan *record = fixed;
    Str name;
    if (!take_text(&tail, &name)) return STATUS_INVALID;
    return WRITER_RUN(writer, STORE_SPAN, named(kinds, WL_COUNT(kinds), record->kind), db_text(name),
                      db_int(record->thread), db_int(record->stream), db_int(record->begin_ns), db_int(record->end_ns));
}

static Status write_object(StoreWriter *writer, const void *fixed, Tail tail) {
    const RecordObject *record = fixed;
    Str path;
    if (!take_text(&tail, &path)) return STATUS_INVALID;
    return WRITER_RUN(writer, STORE_OBJECT, db_int(record->object), db_text(path));
}

static Status write_frame(StoreWriter *writer, const void *fixed, Tail tail) {
    const RecordFrame *record = fixed;
    Str symbol, file;
    if (!take_text(&tail, &symbol) || !take_text(&tail, &file)) return STATUS_INVALID;
    return WRITER_RUN(writer, STORE_FRAME, db_int(record->frame), db_int(record->object), db_int(record->offset),
                      or_null(symbol.len, db_text(symbol)), or_null(file.len, db_text(file)),
                      or_null(record->line, db_int(record->line)));
}

static Status write_stack(StoreWriter *writer, const void *fixed, Tail tail) {
    const RecordStack *record = fixed;
    if (!holds(tail, record->count, sizeof(u32))) return STATUS_INVALID;
    for (u32 i = 0; i < record->count; i++) {
        u32 frame;
        memcpy(&frame, tail.data + i * sizeof frame, sizeof frame);
        TRY(WRITER_RUN(writer, STORE_STACK_FRAME, db_int(record->stack), db_int(i), db_int(frame)));
    }
    return STATUS_OK;
}

static Status write_dropped(StoreWriter *writer, const void *fixed, Tail tail) {
    const RecordDropped *record = fixed;
    Str what;
    if (!take_text(&tail, &what)) return STATUS_INVALID;
    return WRITER_RUN(writer, STORE_DROPPED, db_text(what), db_int(record->count), db_int(record->time_ns));
}

typedef Status (*RecordWriter)(StoreWriter *writer, const void *fixed, Tail tail);

static const RecordWriter record_writers[RECORD_KIND_COUNT] = {
    [RECORD_META] = write_meta,
    [RECORD_SOURCE] = write_source,
    [RECORD_MODULE] = write_module,
    [RECORD_LISTING] = write_listing,
    [RECORD_FUNCTION] = write_function,
    [RECORD_FILE_NAME] = write_file_name,
    [RECORD_INSN] = write_insns,
    [RECORD_LAUNCH] = write_launch,
    [RECORD_LAUNCH_END] = write_launch_end,
    [RECORD_LAUNCH_DONE] = write_launch_done,
    [RECORD_LAUNCH_ARGUMENTS] = write_launch_arguments,
    [RECORD_LAUNCH_COUNTS] = write_launch_counts,
    [RECORD_PC_COUNTS] = write_pc_counts,
    [RECORD_COPY] = write_copy,
    [RECORD_ALLOC] = write_alloc,
    [RECORD_MESSAGE] = write_message,
    [RECORD_SAMPLES] = write_samples,
    [RECORD_LAUNCH_TIME] = write_launch_time,
    [RECORD_LAUNCH_ESTIMATE] = write_launch_estimate,
    [RECORD_LATENCIES] = write_latencies,
    [RECORD_STALL_NAME] = write_stall_name,
    [RECORD_STALL_CAUSES] = write_stall_causes,
    [RECORD_TIMELINE] = write_timeline,
    [RECORD_SERIES] = write_series,
    [RECORD_THREAD_CATEGORIES] = write_thread_categories,
    [RECORD_ACCESS_COUNTS] = write_access_counts,
    [RECORD_FINDING] = write_finding,
    [RECORD_EXPERIMENT] = write_experiment,
    [RECORD_DROPPED] = write_dropped,
    [RECORD_SPAN] = write_span,
    [RECORD_OBJECT] = write_object,
    [RECORD_FRAME] = write_frame,
    [RECORD_STACK] = write_stack,
};

Status writer_record(StoreWriter *writer, RecordKind kind, const void *fixed, const void *tail, size_t size) {
    if ((u32)kind >= RECORD_KIND_COUNT || !record_writers[kind]) return STATUS_INVALID;
    return record_writers[kind](writer, fixed, (Tail){tail, tail ? size : 0});
}
