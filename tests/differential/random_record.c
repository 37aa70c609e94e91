// SPDX-License-Identifier: Apache-2.0
#include "random_record.h"

#include <stdio.h>
#include <stdlib.h>

u32 *random_recorded(const char *path, u32 *count) {
    FILE *f = fopen(path ? path : "tests/differential/random.hashes", "rb");
    u32 *hashes = NULL, n = 0, cap = 0;
    u8 b[4];
    *count = 0;
    while (f && fread(b, 1, sizeof b, f) == sizeof b) {
        if (n == cap) {
            cap = cap ? cap * 2 : 4096;
            u32 *more = realloc(hashes, cap * sizeof *hashes);
            if (!more) break;
            hashes = more;
        }
        hashes[n++] = b[0] | (u32)b[1] << 8 | (u32)b[2] << 16 | (u32)b[3] << 24;
    }
    if (f) fclose(f);
    *count = n;
    return hashes;
}
