// SPDX-License-Identifier: Apache-2.0
// ptx_roundtrip FILE [OUT]: parses, verifies, prints, parses again and compares; writes the printed text to OUT.
// ptx_roundtrip -t FILE: CPU time and memory of parsing alone. Exit code 0: all good. Used by tools/ptx_corpus.sh.
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/file.h"
#include "ptx/ptx.h"

static void show(const Diag *diag) {
    for (u32 i = 0; i < diag->entries.len; i++) {
        char line[400];
        diag_format(&diag->entries.data[i], line, sizeof line);
        fprintf(stderr, "%s\n", line);
    }
}

static f64 seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (f64)now.tv_sec + (f64)now.tv_nsec * 1e-9;
}

static int report_speed(Str text, const char *path, Diag *diag) {
    Module *m;
    f64 best = 1e9;
    size_t memory = 0;
    for (int i = 0; i < 5; i++) {
        f64 start = seconds();
        if (ptx_parse(text, path, &m, diag) != STATUS_OK) return 1;
        f64 time = seconds() - start;
        if (time < best) best = time;
        memory = module_memory(m);
        module_free(m);
    }
    printf("%s: %.1f MB, %.1f MB/s, memory %.2f times the text\n", path, (f64)text.len * 1e-6,
           (f64)text.len * 1e-6 / best, (f64)memory / (f64)text.len);
    return 0;
}

static int round_trip(Str text, const char *path, const char *out, Diag *diag) {
    Module *m, *again;
    TextBuffer printed = {0};
    char why[200] = "";
    if (ptx_load(text, path, &m, diag) != STATUS_OK) return 1;
    if (ptx_print(m, &printed) != STATUS_OK) return 2;
    FILE *file = out ? fopen(out, "wb") : NULL;
    if (file) {
        fwrite(printed.data, 1, printed.len, file);
        fclose(file);
    }
    if (ptx_load((Str){printed.data, printed.len}, "printed", &again, diag) != STATUS_OK) return 3;
    bool equal = module_equal(m, again, why, sizeof why);
    if (!equal) fprintf(stderr, "%s: printed and read again it differs: %s\n", path, why);
    module_free(m);
    module_free(again);
    vec_free(&printed);
    return equal ? 0 : 4;
}

int main(int argc, char **argv) {
    bool timed = argc == 3 && strcmp(argv[1], "-t") == 0;
    if (argc < 2) return fprintf(stderr, "usage: ptx_roundtrip FILE [OUT] | -t FILE\n"), 64;
    const char *path = argv[timed ? 2 : 1];
    Diag diag = {0};
    FileData data;
    int code = 65;
    if (file_read(path, &data, &diag) == STATUS_OK) {
        Str text = {(const char *)data.data, data.size};
        code = timed ? report_speed(text, path, &diag) : round_trip(text, path, argc > 2 ? argv[2] : NULL, &diag);
        file_release(&data);
    }
    show(&diag);
    diag_free(&diag);
    return code;
}
