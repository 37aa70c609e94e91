// SPDX-License-Identifier: Apache-2.0
// Any bytes as a launch file: read, or refused with a message; what was read is whole.
#include <ctype.h>
#include <stdlib.h>

#include "cli/launch_spec.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// Buffers of gigabytes are allowed, but would only slow the search down: numbers of more than 5 digits are left out.
static bool has_large_number(const uint8_t *data, size_t size) {
    size_t digits = 0;
    for (size_t i = 0; i < size; i++) {
        digits = isxdigit(data[i]) || data[i] == 'x' ? digits + 1 : 0;
        if (digits > 5) return true;
    }
    return false;
}

static void look_at_all(const LaunchSpec *spec) {
    f64 sum = 0;
    for (u32 i = 0; i < spec->buffers.len; i++) {
        const SpecBuffer *b = &spec->buffers.data[i];
        u8 first[8] = {0}, last[8] = {0};
        spec_fill(b, 0, 1, first);
        spec_fill(b, b->count - 1, 1, last);
        sum += spec_element(b->type, first, 0) + spec_element(b->type, last, 0);
    }
    for (u32 i = 0; i < spec->launches.len; i++) {
        const SpecLaunch *l = &spec->launches.data[i];
        if (!l->kernel || l->params + l->param_count > spec->params.len) abort();
        for (u32 p = 0; p < l->param_count; p++) {
            const SpecParam *param = &spec->params.data[l->params + p];
            if (param->buffer != WL_NONE && param->buffer >= spec->buffers.len) abort();
        }
    }
    for (u32 i = 0; i < spec->expects.len; i++) {
        const SpecExpect *e = &spec->expects.data[i];
        if (e->buffer >= spec->buffers.len || e->first + e->count > spec->buffers.data[e->buffer].count) abort();
        for (u64 k = 0; k < e->count; k++) sum += (f64)e->bits[k];
    }
    volatile f64 used = sum;
    (void)used;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    LaunchSpec spec;
    Diag diag = {0};
    if (has_large_number(data, size)) return 0;
    Status status = launch_spec_parse("fuzz.launch", (Str){(const char *)data, size}, &spec, &diag);
    if (status == STATUS_OK) {
        look_at_all(&spec);
        launch_spec_free(&spec);
    } else if (diag.errors == 0) {
        abort();
    }
    diag_free(&diag);
    return 0;
}
