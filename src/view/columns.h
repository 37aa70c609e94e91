// SPDX-License-Identifier: Apache-2.0
// The figure columns of text tables: one row of columns.def each.
#ifndef WL_VIEW_COLUMNS_H
#define WL_VIEW_COLUMNS_H

#include "metric/formula.h"

typedef enum ColumnKind { COLUMN_COUNT, COLUMN_RATIO } ColumnKind;

typedef struct Column {
    const char *field, *tables;
    ColumnKind kind;
    u32 importance;
    const char *header, *formula, *text;
} Column;

extern const Column column_table[];
extern const u32 column_count;

// The formula of the column or metric named, or `name` itself as a formula over metrics.
WL_MUST_USE Status column_formula(const char *name, Formula *formula);

#endif
