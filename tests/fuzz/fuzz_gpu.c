// SPDX-License-Identifier: Apache-2.0
// Any bytes as a GPU model: loaded with every value in its range, or refused with a message.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gpu/gpu.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_ranges(const GpuModel *model) {
    if (memchr(model->name, 0, sizeof model->name) == NULL) abort();
#define GPU_KEY(field, text, unit, low, high, required, help) \
    if ((required || model->field) && model->field - (u64)(low) > (u64)(high) - (u64)(low)) abort();
#include "gpu/gpu_keys.def"
#undef GPU_KEY
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
