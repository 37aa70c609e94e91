// SPDX-License-Identifier: Apache-2.0
#include "view/columns.h"

#include <string.h>

const Column column_table[] = {
#define COLUMN(field, tables, kind, importance, header, formula, text) \
    {field, tables, COLUMN_##kind, importance, header, formula, text},
#include "view/columns.def"
#undef COLUMN
};
const u32 column_count = WL_COUNT(column_table);

Status column_formula(const char *name, Formula *formula) {
    for (u32 i = 0; i < column_count; i++) {
        const Column *c = &column_table[i];
        if (!strcmp(c->field, name) || !strcmp(c->header, name)) return formula_compile(c->formula, formula, NULL);
    }
    return formula_compile(name, formula, NULL);
}
