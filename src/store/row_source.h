// SPDX-License-Identifier: Apache-2.0
// Rows in memory as an SQL table of the connection's own, ROW_SOURCE, whose columns are c0, c1, ...: one statement
// inserts any number of them. Not part of the schema: nobody else sees it.
#ifndef WL_STORE_ROW_SOURCE_H
#define WL_STORE_ROW_SOURCE_H

#include "store/db.h"

#define ROW_SOURCE "warplens_rows"
enum { ROW_SOURCE_COLUMNS = 20 };

typedef struct RowSource {
    const DbValue *values;  // count * columns
    u32 columns, count;
} RowSource;

// From then on `source`, which outlives the connection, says what the table has.
WL_MUST_USE Status row_source_add(sqlite3 *db, const RowSource *source);

#endif
