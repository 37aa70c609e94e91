// SPDX-License-Identifier: Apache-2.0
// Stands in for libFuzzer in ordinary builds: gives every file of the folders (or files) named as arguments to the
// fuzzer's entry point once, in order of name.
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay_file(const char *path, size_t size) {
    FILE *file = fopen(path, "rb");
    uint8_t *data = malloc(size ? size : 1);
    if (!file || !data || fread(data, 1, size, file) != size) {
        fprintf(stderr, "cannot read %s\n", path);
        if (file) fclose(file);
        free(data);
        return -1;
    }
    fclose(file);
    fprintf(stderr, "%s\n", path);  // the last line names the culprit after a crash
    LLVMFuzzerTestOneInput(data, size);
    free(data);
    return 1;
}

// The number of files replayed, -1 when something could not be read.
static int replay(const char *path) {
    struct stat info;
    if (stat(path, &info) != 0) {
        fprintf(stderr, "cannot find %s\n", path);
        return -1;
    }
    if (!S_ISDIR(info.st_mode)) return replay_file(path, (size_t)info.st_size);

    struct dirent **entries;
    int count = scandir(path, &entries, NULL, alphasort);
    int total = count < 0 ? -1 : 0;
    for (int i = 0; i < count; i++) {
        char child[4096];
        snprintf(child, sizeof child, "%s/%s", path, entries[i]->d_name);
        if (entries[i]->d_name[0] != '.' && total >= 0) {
            int done = replay(child);
            total = done < 0 ? -1 : total + done;
        }
        free(entries[i]);
    }
    if (count >= 0) free(entries);
    return total;
}

int main(int argc, char **argv) {
    int total = 0;
    for (int i = 1; i < argc; i++) {
        int done = replay(argv[i]);
        if (done < 0) return 1;
        total += done;
    }
    printf("%d inputs replayed\n", total);
    return total > 0 ? 0 : 1;
}
