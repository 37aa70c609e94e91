// SPDX-License-Identifier: Apache-2.0
// Rows of what abi_dump.c and driver_abi_dump.c print: sizes of types, places of fields, numbers of names.
#ifndef ABI_ROWS_H
#define ABI_ROWS_H

#include <stddef.h>
#include <stdio.h>

typedef struct AbiRow {
    const char *name;
    long long number;  // size of a type, value of a name
    long long offset;  // of a field in its type; NO_OFFSET
} AbiRow;

enum { NO_OFFSET = -1 };

#define VALUE(name) {#name, (long long)(name), NO_OFFSET},
#define SIZE(type) {#type, sizeof(type), NO_OFFSET},
#define FIELD(type, field) {#type "." #field, sizeof(((type *)0)->field), offsetof(type, field)},

static void abi_print(const AbiRow *rows, size_t count) {
    for (const AbiRow *r = rows; r < rows + count; r++)
        if (r->offset == NO_OFFSET)
            printf("%s %lld\n", r->name, r->number);
        else
            printf("%s %lld %lld\n", r->name, r->offset, r->number);
}

#endif
