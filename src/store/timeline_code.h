// SPDX-License-Identifier: Apache-2.0
// The bytes inside timeline.data (docs/profile-format.md): metric after metric its id, then unit after unit the points,
// each as the difference from the one before, all as varints. Internal to store.
#ifndef WL_STORE_TIMELINE_CODE_H
#define WL_STORE_TIMELINE_CODE_H

#include "base/vec.h"

typedef Vec(u8) ByteVec;
typedef struct TimelineShape {
    u32 metrics, units, points;
} TimelineShape;

// Values of one timeline at most: a damaged file may claim any number.
enum { TIMELINE_VALUES = 1 << 26 };
static inline bool timeline_possible(TimelineShape s) {
    return s.metrics && s.units && s.points && (u64)s.metrics * s.units <= TIMELINE_VALUES &&
           (u64)s.metrics * s.units * s.points <= TIMELINE_VALUES;
}

typedef struct TimelinePacked {
    u32 metrics;
    u64 changes;  // values that differ from what they are compared with: those that take space
} TimelinePacked;

// values: [metrics][units][points]. Metrics that are zero throughout are left out. It stops where there are `enough`
// changes: then the bytes are of no use.
WL_MUST_USE Status timeline_pack(TimelineShape shape, const u32 *ids, const u64 *values, u64 enough, ByteVec *out,
                                 TimelinePacked *packed);
// The counterpart. STATUS_FORMAT when the bytes are not as many values as the shape says.
WL_MUST_USE Status timeline_unpack(TimelineShape shape, const u8 *bytes, size_t size, u64 *ids, u64 *values);

// Adds each second point to the one before it, in place. Returns the new shape.
TimelineShape timeline_join(TimelineShape shape, u64 *values);

#endif
