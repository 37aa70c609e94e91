// SPDX-License-Identifier: Apache-2.0
// Handles that programs hold (streams, events, graphs, ...). A handle is looked up before it is used, so that a stale
// or invented one gives cudaErrorInvalidResourceHandle instead of a crash. Under the context's lock.
#ifndef WL_CUDA_OBJECT_H
#define WL_CUDA_OBJECT_H

#include "base/map.h"

typedef enum ObjectKind {
    OBJECT_STREAM = 1,
    OBJECT_EVENT,
    OBJECT_GRAPH,
    OBJECT_NODE,
    OBJECT_EXEC,
    OBJECT_ARRAY,
    OBJECT_MIPMAP,
    OBJECT_POOL,
    OBJECT_FUNCTION,
    OBJECT_USER,
    OBJECT_MODULE,
    OBJECT_CONTEXT,
    OBJECT_LINK,
    OBJECT_PHYSICAL,
} ObjectKind;

typedef struct ObjectTable {
    Map kinds;  // address of the object -> ObjectKind
} ObjectTable;

// A zeroed object of `size` bytes, registered; NULL when memory is out.
void *object_new(ObjectTable *table, ObjectKind kind, size_t size);
// The object behind a handle; NULL when it is none of that kind.
void *object_get(const ObjectTable *table, const void *handle, ObjectKind kind);
void object_delete(ObjectTable *table, void *object);  // forgets and frees it
void object_retire(ObjectTable *table, void *object);  // forgets it only

#endif
