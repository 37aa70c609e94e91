// SPDX-License-Identifier: Apache-2.0
// Timelines on their way to the file: checked, packed, and made as coarse as their share of the profile demands.
#include <math.h>
#include <string.h>

#include "store/writer.h"

// Of zstd; bytes of a row and its index entry beside the data, and of the shortest frame; most changes that a byte
// holds.
enum { TIMELINE_LEVEL = 3, ROW_BYTES = 64, FRAME_BYTES = 12, CHANGES = 4 };

static bool is_counter(u32 metric) { return metric < METRIC_COUNT && !metric_table[metric].formula; }

// Copies the tail to aligned memory: ids of the file's own in writer->ids, values in writer->points.
static Status take_tail(StoreWriter *writer, TimelineShape shape, Str tail) {
    u64 values = (u64)shape.metrics * shape.units * shape.points;
    if (tail.len != shape.metrics * sizeof(u32) + values * sizeof(u64)) return STATUS_INVALID;
    writer->ids.len = writer->points.len = 0;
    TRY(vec_reserve(&writer->ids, shape.metrics));
    TRY(vec_reserve(&writer->points, values));
    memcpy(writer->ids.data, tail.data, shape.metrics * sizeof(u32));
    memcpy(writer->points.data, tail.data + shape.metrics * sizeof(u32), values * sizeof(u64));
    for (u32 m = 0; m < shape.metrics; m++) {
        if (!is_counter(writer->ids.data[m])) return STATUS_INVALID;
        writer->ids.data[m]++;
    }
    return STATUS_OK;
}

// Coarser in time first; at one point, the metrics named last go. False: nothing is left.
static bool shrink(StoreWriter *writer, TimelineShape *shape, u64 *step) {
    if (shape->points > 1) {
        *shape = timeline_join(*shape, writer->points.data);
        *step *= 2;
        return true;
    }
    shape->metrics -= (shape->metrics + 7) / 8;
    return shape->metrics > 0;
}

// ... until `bytes` are likely to be no more than `allowed`, as each try costs as much as the last one: half the points
// take three quarters of the bytes (measured: 0.5 to 1), and metrics their share of them.
static bool shrink_to(StoreWriter *writer, TimelineShape *shape, u64 *step, u64 bytes, u64 allowed) {
    do {
        u32 points = shape->points, metrics = shape->metrics;
        if (!shrink(writer, shape, step)) return false;
        bytes = points > 1 ? bytes / 4 * 3 : bytes * shape->metrics / metrics;
    } while (bytes > allowed);
    return true;
}

// The last timeline of this kind of unit and of about as many points that was compressed.
static TimelineTried *last_tried(StoreWriter *writer, const RecordTimeline *record, TimelineShape shape) {
    u32 log = 31 - (u32)__builtin_clz(shape.points);
    return &writer->tried[record->unit][log < TIMELINE_TRIED ? log : TIMELINE_TRIED - 1];
}

// Launches of a program are alike: bytes that a timeline is likely to take, from what that one took; 0: there is none.
// Of more changes, the others take three quarters of the bytes of the first (measured: 0.7 to 0.8). Each time that it
// is believed it counts for less, so that what has become different is tried again.
static u64 likely_bytes(TimelineTried *last, u64 changes, u64 allowed) {
    if (!last->changes) return 0;
    u64 more = changes > last->changes ? changes - last->changes : 0;
    u64 bytes = ROW_BYTES + last->bytes * ((changes - more) * 4 + more * 3) / (last->changes * 4);
    if (bytes <= allowed) return 0;
    last->bytes -= last->bytes / 8;
    return bytes;
}

static Status write(StoreWriter *writer, const RecordTimeline *record, TimelineShape shape, u64 step, DbValue data) {
    const char *unit = timeline_unit_name((TimelineUnit)record->unit);
    return WRITER_RUN(writer, STORE_TIMELINE, db_int(record->launch), db_int(record->source),
                      db_text((Str){unit, strlen(unit)}), db_int(record->function), db_int(shape.units),
                      db_int(shape.metrics), db_int(shape.points), db_int(record->first), db_int(step),
                      db_real(record->tick_ns), data);
}

// What a timeline may take: its share, and what those of its launch before it have left. 0: anything.
static u64 allowance(StoreWriter *writer, const RecordTimeline *record) {
    if (writer->spare_launch != record->launch) writer->spare_bytes = 0;
    writer->spare_launch = record->launch;
    return record->max_bytes ? record->max_bytes + writer->spare_bytes : 0;
}

// Compresses what was packed and writes it, if it takes what is allowed, or anything is. *bytes: 0, it is written; else
// what it takes, or is likely to.
static Status try_to_write(StoreWriter *writer, const RecordTimeline *record, TimelineShape shape, u64 step,
                           const TimelinePacked *packed, u64 allowed, u64 *bytes) {
    TimelineTried *last = last_tried(writer, record, shape);
    *bytes = allowed ? likely_bytes(last, packed->changes, allowed) : 0;
    if (*bytes) return STATUS_OK;
    Str text = {(const char *)writer->packed.data, writer->packed.len};
    DbValue data;
    TRY(writer_compress(writer, text, TIMELINE_LEVEL, &data));
    *last = (TimelineTried){packed->changes, data.bytes.len};
    *bytes = data.bytes.len + ROW_BYTES;
    if (allowed && *bytes > allowed) return STATUS_OK;
    if (allowed) writer->spare_bytes = allowed - *bytes;
    *bytes = 0;
    return write(writer, record, (TimelineShape){packed->metrics, shape.units, shape.points}, step, data);
}

Status writer_timeline(StoreWriter *writer, const RecordTimeline *record, Str tail) {
    TimelineShape shape = {record->metrics, record->units, record->points};
    u64 step = record->step;
    bool good = timeline_possible(shape) && record->unit < TIMELINE_UNIT_COUNT && step &&
                step <= INT64_MAX / TIMELINE_VALUES && isfinite(record->tick_ns);
    if (!good) return STATUS_INVALID;
    TRY(take_tail(writer, shape, tail));
    u64 allowed = allowance(writer, record);
    while (!allowed || allowed > ROW_BYTES + FRAME_BYTES) {
        TimelinePacked packed;
        u64 bytes, too_many = allowed ? (allowed + 1) * CHANGES : UINT64_MAX;
        TRY(timeline_pack(shape, writer->ids.data, writer->points.data, too_many, &writer->packed, &packed));
        bool hopeless = packed.changes >= too_many;
        if (hopeless && !shrink(writer, &shape, &step)) return STATUS_OK;
        if (hopeless) continue;
        if (packed.metrics == 0) return writer->spare_bytes = allowed, STATUS_OK;  // nothing happened: nothing to say
        TRY(try_to_write(writer, record, shape, step, &packed, allowed, &bytes));
        if (!bytes || !shrink_to(writer, &shape, &step, bytes, allowed)) return STATUS_OK;
    }
    return STATUS_OK;
}
