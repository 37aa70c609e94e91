// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "analyze/advice/rule.h"

static const struct {
    const char *prefix, *name;
} libraries[] = {
#define LIBRARY(prefix, name) {prefix, name},
#include "analyze/advice/libraries.def"
#undef LIBRARY
};

const char *kernel_library(const KernelView *view) {
    for (u32 i = 0; i < WL_COUNT(libraries); i++)
        if (!strncmp(view->function->name, libraries[i].prefix, strlen(libraries[i].prefix))) return libraries[i].name;
    return NULL;
}
