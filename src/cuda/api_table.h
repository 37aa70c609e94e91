// SPDX-License-Identifier: Apache-2.0
// api.def as data: the name and the address of every function of the runtime API.
#ifndef WL_CUDA_API_TABLE_H
#define WL_CUDA_API_TABLE_H

#include "base/types.h"

typedef struct ApiEntry {
    const char *name;
    void (*function)(void);
    bool implemented;
} ApiEntry;

extern const ApiEntry api_table[];
extern const u32 api_table_count;
const ApiEntry *api_find(const char *name);  // NULL when there is no such function

#endif
