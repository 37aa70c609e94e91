// SPDX-License-Identifier: Apache-2.0
// Any bytes as a GPU model: loaded with every value in its range, or refused with a message.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gpu/gpu.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static u64 count_spaces(const char *words) {
    u64 count = 0;
    for (; *words; words++) count += *words == ' ';
    return count;
}

static void check_ranges(const GpuModel *model) {
    if (memchr(model->name, 0, sizeof model->name) == NULL) abort();
#define GPU_KEY(field, text, unit, low, high, required, help) \
    if ((required || model->field) && model->field - (u64)(low) > (u64)(high) - (u64)(low)) abort();
#include "gpu/gpu_keys.def"
#undef GPU_KEY
#define GIVEN(field) model->timing_given[GPU_TIMING_##field]
#define GPU_KEY(field, text, unit, low, high, required, help) \
    if (GIVEN(field) && model->field - (u64)(low) > (u64)(high) - (u64)(low)) abort();
#define GPU_WORD(field, text, words, help) \
    if (model->field > count_spaces(words)) abort();
#define GPU_TEXT(field, text, size, help) \
    if (memchr(model->field, 0, sizeof model->field) == NULL || GIVEN(field) != (model->field[0] != 0)) abort();
#include "gpu/timing_keys.def"
#undef GPU_KEY
#undef GPU_WORD
#undef GPU_TEXT
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char path[] = "/tmp/wl_fuzz_model_XXXXXX.gpu";
    int file = mkstemps(path, 4);
    if (file < 0 || write(file, data, size) != (ssize_t)size) abort();
    close(file);
    GpuModel model;
    Diag diag = {0};
    Status status = gpu_load("gpus", path, &model, &diag);
    if (status == STATUS_OK) check_ranges(&model);
    if (status != STATUS_OK && diag.errors == 0) abort();
    diag_free(&diag);
    unlink(path);
    return 0;
}
