// SPDX-License-Identifier: Apache-2.0
#include "cuda/object.h"

#include "base/mem.h"

void *object_new(ObjectTable *table, ObjectKind kind, size_t size) {
    void *object = mem_zero(1, size);
    if (object && map_put(&table->kinds, (u64)(uintptr_t)object, kind) != STATUS_OK) {
        mem_free(object);
        return NULL;
    }
    return object;
}

void *object_get(const ObjectTable *table, const void *handle, ObjectKind kind) {
    const u64 *found = map_get(&table->kinds, (u64)(uintptr_t)handle);
    return found && *found == kind ? (void *)(uintptr_t)handle : NULL;
}

void object_delete(ObjectTable *table, void *object) {
    if (map_remove(&table->kinds, (u64)(uintptr_t)object)) mem_free(object);
}

void object_retire(ObjectTable *table, void *object) { map_remove(&table->kinds, (u64)(uintptr_t)object); }
