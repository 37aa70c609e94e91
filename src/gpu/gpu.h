// SPDX-License-Identifier: Apache-2.0
// GPU models: gpus/*.gpu files, `key = value [unit]` lines with comments (#) that name the source of each value, and
// `inherit = OTHER`. Unknown keys, wrong units and out-of-range values are errors with file and line.
// The keys are the rows of gpu_keys.def; a GpuModel is immutable after loading.
#ifndef WL_GPU_GPU_H
#define WL_GPU_GPU_H

#include "base/diag.h"

typedef struct GpuModel {
    char id[32];    // file name without .gpu: "h200"
    char name[64];  // device name that programs see: "NVIDIA H200"
#define GPU_KEY(field, text, unit, low, high, required, help) u64 field;
#include "gpu/gpu_keys.def"
#undef GPU_KEY
} GpuModel;

// Loads `folder`/`id`.gpu (or the file itself when `id` contains a '/' or ends in .gpu).
// What a file inherits is looked for beside it first, then in `folder`.
WL_MUST_USE Status gpu_load(const char *folder, const char *id, GpuModel *model, Diag *diag);
// Names of the models in a folder, sorted; freed with gpu_list_free.
WL_MUST_USE Status gpu_list(const char *folder, char ***ids, u32 *count, Diag *diag);
void gpu_list_free(char **ids, u32 count);

#endif
