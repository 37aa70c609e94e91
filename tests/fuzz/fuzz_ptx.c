// SPDX-License-Identifier: Apache-2.0
// Any bytes: the parser neither crashes nor hangs; what it accepts prints and reads back as the same module.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "ptx/ptx.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_round_trip(const Module *m) {
    TextBuffer text = {0};
    Diag diag = {0};
    Module *again = NULL;
    char why[200] = "";
    if (ptx_print(m, &text) != STATUS_OK) abort();
    Status status = ptx_parse((Str){text.data, text.len}, "printed", &again, &diag);
    if (status != STATUS_OK || !module_equal(m, again, why, sizeof why)) {
        fprintf(stderr, "not the same: %s\n%.*s\n", why, (int)text.len, text.data);
        for (u32 i = 0; i < diag.entries.len; i++)
            fprintf(stderr, "%u: %s\n", diag.entries.data[i].line, diag.entries.data[i].text);
        abort();
    }
    module_free(again);
    diag_free(&diag);
    vec_free(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    Diag diag = {0};
    Module *m = NULL;
    Status status = ptx_parse((Str){(const char *)data, size}, "input", &m, &diag);
    if (status == STATUS_OK) {
        if (ptx_verify(m, &diag) == STATUS_OK) check_round_trip(m);
        module_free(m);
    } else if (status == STATUS_INVALID && diag.errors == 0) {
        abort();  // refused without a word
    }
    diag_free(&diag);
    return 0;
}
