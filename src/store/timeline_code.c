// SPDX-License-Identifier: Apache-2.0
#include "store/timeline_code.h"

#include <string.h>

enum { VARINT_BYTES = 10 };

static inline u8 *put(u8 *to, u64 value) {
    if (WL_LIKELY(value < 0x80)) return *to = (u8)value, to + 1;
    for (; value >= 0x80; value >>= 7) *to++ = (u8)(value | 0x80);
    *to++ = (u8)value;
    return to;
}

static u64 zigzag(u64 difference) { return difference << 1 ^ (u64)((i64)difference >> 63); }
static u64 unzigzag(u64 value) { return value >> 1 ^ (0 - (value & 1)); }

static bool is_zero(const u64 *values, u64 count) {
    return !values[0] && !memcmp(values, values + 1, (count - 1) * sizeof *values);
}

// How many of the values, from the first one on, are `value`.
static u64 count_same(const u64 *values, u64 count, u64 value) {
    enum { AT_ONCE = 4 };
    u64 same = 0;
    for (; same + AT_ONCE <= count; same += AT_ONCE) {
        const u64 *some = values + same;
        if (some[0] != value) return same;
        if (some[1] != value) return same + 1;
        if (some[2] != value) return same + 2;
        if (some[3] != value) return same + 3;
    }
    while (same < count && values[same] == value) same++;
    return same;
}

// Most runs of them are a few points of one unit: stores of a fixed size, some of them too many, behind which there is
// room for ZEROS bytes.
enum { ZEROS = 16 };
static u8 *put_zeros(u8 *to, u64 count) {
    for (u64 i = 0; i < count; i += ZEROS) memset(to + i, 0, ZEROS);
    return to + count;
}

// The first point of a unit is compared with the first of the unit before it; most units do what that one does, or
// nothing. *changes grows by the values that differ from what they are compared with.
static u8 *pack_metric(TimelineShape shape, const u64 *values, u8 *to, u64 *changes) {
    u64 first = 0, left = (u64)shape.units * shape.points, changed = 0, same;
    for (; left; left -= same, values += same) {
        same = count_same(values, left, first);
        if (same >= shape.points) {
            same -= same % shape.points;
            to = put_zeros(to, same);
            continue;
        }
        u64 before = first;
        to = put_zeros(to, same);
        for (; same < shape.points; same++) {
            u64 difference = values[same] - before;
            if (!difference) {
                *to++ = 0;
                continue;
            }
            changed++;
            to = put(to, zigzag(difference));
            before = values[same];
        }
        first = values[0];
    }
    *changes += changed;
    return to;
}

Status timeline_pack(TimelineShape shape, const u32 *ids, const u64 *values, u64 enough, ByteVec *out,
                     TimelinePacked *packed) {
    u64 each = (u64)shape.units * shape.points;
    out->len = 0;
    *packed = (TimelinePacked){0};
    for (u32 m = 0; m < shape.metrics && packed->changes < enough; m++, values += each) {
        if (is_zero(values, each)) continue;
        TRY(vec_reserve(out, (each + 1) * VARINT_BYTES + ZEROS));
        u8 *end = pack_metric(shape, values, put(out->data + out->len, ids[m]), &packed->changes);
        out->len = (u32)(end - out->data);
        packed->metrics++;
    }
    return STATUS_OK;
}

typedef struct Bytes {
    const u8 *at, *end;
    bool bad;
} Bytes;

static u64 take(Bytes *bytes) {
    u64 value = 0;
    for (u32 shift = 0; shift < 64 && bytes->at < bytes->end; shift += 7) {
        u8 byte = *bytes->at++;
        value |= (u64)(byte & 0x7f) << shift;
        if (byte < 0x80) return value;
    }
    bytes->bad = true;
    return 0;
}

Status timeline_unpack(TimelineShape shape, const u8 *data, size_t size, u64 *ids, u64 *values) {
    Bytes bytes = {.at = data, .end = data + size};
    for (u32 m = 0; m < shape.metrics; m++) {
        ids[m] = take(&bytes);
        u64 first = 0;
        for (u32 u = 0; u < shape.units; u++, values += shape.points) {
            u64 before = first;
            for (u32 p = 0; p < shape.points && !bytes.bad; p++) values[p] = before += unzigzag(take(&bytes));
            first = values[0];
            if (bytes.bad) return STATUS_FORMAT;
        }
    }
    return bytes.at == bytes.end ? STATUS_OK : STATUS_FORMAT;
}

TimelineShape timeline_join(TimelineShape shape, u64 *values) {
    u64 rows = (u64)shape.metrics * shape.units;
    u32 points = (shape.points + 1) / 2;
    if (shape.points % 2 == 0) {  // no pair lies in two rows
        for (u64 i = 0; i < rows * points; i++) values[i] = values[2 * i] + values[2 * i + 1];
        shape.points = points;
        return shape;
    }
    for (u64 r = 0; r < rows; r++) {
        const u64 *from = values + r * shape.points;
        u64 *to = values + r * points;
        for (u32 p = 0; p < shape.points / 2; p++) to[p] = from[2 * p] + from[2 * p + 1];
        to[points - 1] = from[shape.points - 1];
    }
    shape.points = points;
    return shape;
}
