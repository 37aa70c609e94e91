// SPDX-License-Identifier: Apache-2.0
#include "record/record.h"

#include <fnmatch.h>
#include <string.h>

const char *provenance_name(Provenance provenance) {
    static const char *const names[] = {
#define X(name, text) [PROVENANCE_##name] = text,
        PROVENANCE_TABLE(X)
#undef X
    };
    return (u32)provenance < PROVENANCE_COUNT ? names[provenance] : "unknown";
}

static const struct {
    const char *name;
    char scope;
} timeline_units[] = {
#define X(id, name, scope) [TIMELINE_##id] = {name, scope},
    TIMELINE_UNIT_TABLE(X)
#undef X
};

const char *timeline_unit_name(TimelineUnit unit) {
    return (u32)unit < TIMELINE_UNIT_COUNT ? timeline_units[unit].name : "unknown";
}

char timeline_unit_scope(TimelineUnit unit) {
    return (u32)unit < TIMELINE_UNIT_COUNT ? timeline_units[unit].scope : '?';
}

TimelineUnit timeline_unit_find(const char *name) {
    u32 unit = 0;
    while (unit < TIMELINE_UNIT_COUNT && strcmp(timeline_units[unit].name, name) != 0) unit++;
    return (TimelineUnit)unit;
}

size_t record_fixed_size(RecordKind kind) {
    static const size_t sizes[] = {
#define EVENT(id, type, tail) [RECORD_##id] = sizeof(type),
#include "record/events.def"
#undef EVENT
    };
    return (u32)kind < RECORD_KIND_COUNT ? sizes[kind] : 0;
}

const char *record_name(RecordKind kind) {
    static const char *const names[] = {
#define EVENT(id, type, tail) [RECORD_##id] = #id,
#include "record/events.def"
#undef EVENT
    };
    return (u32)kind < RECORD_KIND_COUNT ? names[kind] : "unknown";
}

bool record_is_system_file(const char *path) {
    static const char *const patterns[] = {
        "/usr/include/*",
        "/usr/lib/*",
        "*/targets/*/include/*",
        "*/cuda/include/*",
        "*/cuda-*/include/*",
        "*/nvidia/*/include/*",
        "cuda_runtime/*",
        "*/cuda_runtime/*",
        "*device_atomic_functions.h*",
        "*/sm_[0-9]*_*.h*",
        "*/device_functions.h*",
    };
    for (u32 i = 0; i < WL_COUNT(patterns); i++) {
        if (fnmatch(patterns[i], path, 0) == 0) return true;
    }
    return false;
}
