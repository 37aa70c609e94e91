// SPDX-License-Identifier: Apache-2.0
#include "record/record.h"

#include <fnmatch.h>

const char *provenance_name(Provenance provenance) {
    static const char *const names[] = {
#define X(name, text) [PROVENANCE_##name] = text,
        PROVENANCE_TABLE(X)
#undef X
    };
    return (u32)provenance < PROVENANCE_COUNT ? names[provenance] : "unknown";
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
