// SPDX-License-Identifier: Apache-2.0
#include "base/near.h"

#include <string.h>

enum { LONGEST = 64, LEAST_PART = 3 };

// Letters to insert, delete or exchange (Wagner and Fischer, 1974).
static u32 distance(const char *a, const char *b) {
    u32 row[LONGEST], length = (u32)strnlen(b, LONGEST);
    if (length == LONGEST || strnlen(a, LONGEST) == LONGEST) return LONGEST;
    for (u32 j = 0; j <= length; j++) row[j] = j;
    for (u32 i = 0; a[i]; i++) {
        u32 diagonal = row[0];
        row[0] = i + 1;
        for (u32 j = 0; j < length; j++) {
            u32 change = diagonal + (a[i] != b[j]);
            diagonal = row[j + 1];
            u32 gap = (row[j] < row[j + 1] ? row[j] : row[j + 1]) + 1;
            row[j + 1] = change < gap ? change : gap;
        }
    }
    return row[length];
}

void near_try(Near *near, const char *name) {
    u32 wrong = distance(near->word, name);
    if (!near->nearest || wrong < near->wrong) near->wrong = wrong, near->nearest = name;
    if (!near->part && strnlen(near->word, LEAST_PART) == LEAST_PART && strstr(name, near->word)) near->part = name;
}

const char *near_result(const Near *near) {
    return near->nearest && 3 * near->wrong <= strlen(near->nearest) ? near->nearest : near->part;
}
