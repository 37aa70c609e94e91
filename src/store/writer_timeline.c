// SPDX-License-Identifier: Apache-2.0
// Timelines on their way to the file: checked, packed, and made as coarse as their share of the profile demands.
#include <math.h>
#include <string.h>

#include "store/writer.h"

// Of zstd; bytes of a row and its index entry beside the data; most changes that a byte holds.
enum { TIMELINE_LEVEL = 3, ROW_BYTES = 64, CHANGES = 4 };

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

Status writer_timeline(StoreWriter *writer, const RecordTimeline *record, Str tail) {
    TimelineShape shape = {record->metrics, record->units, record->points};
    u64 step = record->step;
    bool good = timeline_possible(shape) && record->unit < TIMELINE_UNIT_COUNT && step &&
                step <= INT64_MAX / TIMELINE_VALUES && isfinite(record->tick_ns);
    if (!good) return STATUS_INVALID;
    TRY(take_tail(writer, shape, tail));
    u64 allowed = allowance(writer, record);
    for (;;) {
        TimelinePacked packed;
        u64 too_many = allowed ? (allowed + 1) * CHANGES : UINT64_MAX;
        TRY(timeline_pack(shape, writer->ids.data, writer->points.data, too_many, &writer->packed, &packed));
        bool hopeless = packed.changes >= too_many;
        if (hopeless && !shrink(writer, &shape, &step)) return STATUS_OK;
        if (hopeless) continue;
        if (packed.metrics == 0) return writer->spare_bytes = allowed, STATUS_OK;  // nothing happened: nothing to say
        Str text = {(const char *)writer->packed.data, writer->packed.len};
        DbValue data;
        TRY(writer_compress(writer, text, TIMELINE_LEVEL, &data));
        u64 bytes = data.bytes.len + ROW_BYTES;
        bool fits = !allowed || bytes <= allowed;
        TimelineShape written = {packed.metrics, shape.units, shape.points};
        if (fits && allowed) writer->spare_bytes = allowed - bytes;
        if (fits) return write(writer, record, written, step, data);
        if (!shrink_to(writer, &shape, &step, bytes, allowed)) return STATUS_OK;
    }
}
