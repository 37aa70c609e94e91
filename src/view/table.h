// SPDX-License-Identifier: Apache-2.0
// Text tables: cells first, layout when everything is known. Too wide a table first cuts its flexible columns, then
// drops the columns of least importance. Cells are clean one-line texts that outlive the table. A zeroed Table is empty
// and ready.
#ifndef WL_VIEW_TABLE_H
#define WL_VIEW_TABLE_H

#include "base/vec.h"
#include "view/output.h"

// When cut, a TAIL keeps its end, a NAME (of C++) what short_name() keeps. A WRAP, which must be the last column, is
// not cut but goes on in the next line.
typedef enum TableAlign { TABLE_RIGHT, TABLE_LEFT, TABLE_LEFT_TAIL, TABLE_LEFT_NAME, TABLE_LEFT_WRAP } TableAlign;

typedef struct TableColumn {
    const char *header;
    TableAlign align;
    u32 importance;  // 0 = never dropped; else higher goes first
    u32 least;       // may be cut down to this width; 0 = not cut
    bool optional;   // left out where it has nothing to say
    u32 width;       // computed
    bool dropped;    // computed
} TableColumn;

typedef struct Table {
    Vec(TableColumn) columns;
    Vec(const char *) cells;  // row by row
    Status status;            // sticky
} Table;

void table_column(Table *table, TableColumn column);
void table_cell(Table *table, const char *text);  // NULL: memory was out when it was made
// width 0 = no limit. Returns the number of columns dropped.
u32 table_print(Table *table, Output *out, u32 width, bool color);
void table_free(Table *table);

#endif
