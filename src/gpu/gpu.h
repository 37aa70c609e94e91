// SPDX-License-Identifier: Apache-2.0
// GPU models: gpus/*.gpu files, `key = value [unit]` lines with comments (#) that name the source of each value, and
// `inherit = OTHER`. Unknown keys, wrong units and out-of-range values are errors with file and line.
// The keys are the rows of gpu_keys.def and, for the timing model, timing_keys.def; a GpuModel is immutable after
// loading.
#ifndef WL_GPU_GPU_H
#define WL_GPU_GPU_H

#include "base/diag.h"

#define GPU_TIMING_KEY(field) GPU_TIMING_##field,
typedef enum GpuTimingKey {
#define GPU_KEY(field, text, unit, low, high, required, help) GPU_TIMING_KEY(field)
#define GPU_WORD(field, text, words, help) GPU_TIMING_KEY(field)
#define GPU_TEXT(field, text, size, help) GPU_TIMING_KEY(field)
#include "gpu/timing_keys.def"
#undef GPU_KEY
#undef GPU_WORD
#undef GPU_TEXT
    GPU_TIMING_KEY_COUNT
} GpuTimingKey;

typedef struct GpuModel {
    char id[32];    // file name without .gpu: "h200"
    char name[64];  // device name that programs see: "NVIDIA H200"
#define GPU_KEY(field, text, unit, low, high, required, help) u64 field;
#define GPU_WORD(field, text, words, help) u64 field;
#define GPU_TEXT(field, text, size, help) char field[size];
#include "gpu/gpu_keys.def"
#include "gpu/timing_keys.def"
#undef GPU_KEY
#undef GPU_WORD
#undef GPU_TEXT
    bool timing_given[GPU_TIMING_KEY_COUNT];  // 0 is a value, too
} GpuModel;

// Loads `folder`/`id`.gpu (or the file itself when `id` contains a '/' or ends in .gpu).
// What a file inherits is looked for beside it first, then in `folder`.
WL_MUST_USE Status gpu_load(const char *folder, const char *id, GpuModel *model, Diag *diag);
// The model of the device that programs see under this name ("NVIDIA H200"). STATUS_NOT_FOUND: the folder has none.
WL_MUST_USE Status gpu_find(const char *folder, const char *device, GpuModel *model, Diag *diag);
// Whether the model has all that the timing model needs; else the first key that it lacks.
bool gpu_has_timing(const GpuModel *model, const char **missing);
// STATUS_INVALID, with a message about model `id`, when it has not: time from a model with gaps would be any number.
WL_MUST_USE Status gpu_need_timing(const GpuModel *model, const char *id, Diag *diag);
// Names of the models in a folder, sorted; freed with gpu_list_free.
WL_MUST_USE Status gpu_list(const char *folder, char ***ids, u32 *count, Diag *diag);
void gpu_list_free(char **ids, u32 count);

#endif
