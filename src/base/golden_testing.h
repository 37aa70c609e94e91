// SPDX-License-Identifier: Apache-2.0
// For golden tests: text against the .expect file beside its input. A test run with --update rewrites those; look at
// the difference before committing it.
#ifndef WL_BASE_GOLDEN_TESTING_H
#define WL_BASE_GOLDEN_TESTING_H

#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/testing.h"

static bool golden_update;

static inline void golden_arguments(int argc, char **argv) {
    golden_update = argc > 1 && strcmp(argv[1], "--update") == 0;
}

// `input` ends in `suffix` (".ptx"); the expected text is in the file with .expect in its place.
static inline void golden_compare(const char *input, const char *suffix, const char *text, size_t size) {
    char path[512];
    snprintf(path, sizeof path, "%.*s.expect", (int)(strlen(input) - strlen(suffix)), input);
    if (golden_update) {
        FILE *file = fopen(path, "wb");
        assert_non_null(file);
        assert_int_equal(fwrite(text, 1, size, file), size);
        assert_int_equal(fclose(file), 0);
        return;
    }
    FileData expected;
    Diag diag = {0};
    assert_int_equal(file_read(path, &expected, &diag), STATUS_OK);
    u32 line = 1;
    size_t at = 0;
    while (at < size && at < expected.size && (u8)text[at] == expected.data[at]) line += text[at++] == '\n';
    if (at < size || at < expected.size) fail_msg("%s:%u: differs; run with --update to see how", path, line);
    file_release(&expected);
    diag_free(&diag);
}

#endif
