// SPDX-License-Identifier: Apache-2.0
#include "view/table.h"

#include <string.h>

#include "view/short_name.h"
#include "view/utf8.h"
#include "view/wrap.h"

enum { GAP = 2, INDENT = 2 };

void table_column(Table *table, TableColumn column) {
    if (table->status == STATUS_OK) table->status = vec_push(&table->columns, column);
}

void table_cell(Table *table, const char *text) {
    if (!text) table->status = STATUS_NO_MEMORY;
    if (table->status == STATUS_OK) table->status = vec_push(&table->cells, text);
}

static void measure(Table *table) {
    for (u32 c = 0; c < table->columns.len; c++) {
        table->columns.data[c].width = utf8_width(table->columns.data[c].header);
    }
    for (u32 i = 0; i < table->cells.len; i++) {
        TableColumn *column = &table->columns.data[i % table->columns.len];
        u32 width = utf8_width(table->cells.data[i]);
        if (width > column->width) column->width = width;
    }
}

static bool is_empty(const Table *table, u32 column) {
    for (u32 i = column; i < table->cells.len; i += table->columns.len)
        if (table->cells.data[i][0]) return false;
    return true;
}

static void leave_out_empty(Table *table) {
    for (u32 c = 0; c < table->columns.len; c++)
        table->columns.data[c].dropped = table->columns.data[c].optional && is_empty(table, c);
}

static u32 total_width(const Table *table) {
    u32 total = INDENT;
    for (u32 c = 0; c < table->columns.len; c++) {
        if (!table->columns.data[c].dropped) total += table->columns.data[c].width + GAP;
    }
    return total - GAP;
}

// Cuts flexible columns, always the widest, until the table fits or nothing can be cut.
static void shrink(Table *table, u32 width) {
    TableColumn *best = NULL;
    for (u32 total = total_width(table); total > width; total--, best->width--) {
        best = NULL;
        for (u32 c = 0; c < table->columns.len; c++) {
            TableColumn *column = &table->columns.data[c];
            bool can = !column->dropped && column->least && column->width > column->least;
            if (can && (!best || column->width > best->width)) best = column;
        }
        if (!best) return;
    }
}

static u32 drop(Table *table, u32 width) {
    u32 dropped = 0;
    while (total_width(table) > width) {
        TableColumn *worst = NULL;
        for (u32 c = 0; c < table->columns.len; c++) {
            TableColumn *column = &table->columns.data[c];
            if (!column->dropped && column->importance && (!worst || column->importance >= worst->importance))
                worst = column;
        }
        if (!worst) break;
        worst->dropped = true;
        dropped++;
    }
    return dropped;
}

static void print_cut(Output *out, const char *text, const TableColumn *column) {
    u32 width = utf8_width(text), keep = column->width - 2;
    if (column->align == TABLE_LEFT_NAME) {
        Arena arena = {0};
        const char *name = short_name(&arena, text, column->width);
        output_text(out, name ? name : "");
        if (name) output_repeat(out, ' ', column->width - utf8_width(name));
        if (!name) out->status = STATUS_NO_MEMORY;
        arena_free(&arena);
    } else if (column->align == TABLE_LEFT_TAIL) {
        output_text(out, "..");
        output_text(out, text + utf8_prefix(text, width - keep));
    } else {
        output_bytes(out, text, utf8_prefix(text, keep));
        output_text(out, "..");
    }
}

static void print_cell(Output *out, const char *text, const TableColumn *column, bool last) {
    u32 width = utf8_width(text);
    if (width > column->width) {
        print_cut(out, text, column);
        width = column->width;
    } else {
        if (column->align == TABLE_RIGHT) output_repeat(out, ' ', column->width - width);
        output_text(out, text);
    }
    if (!last && column->align != TABLE_RIGHT) output_repeat(out, ' ', column->width - width);
}

// `cells` NULL = the headers.
static void print_row(const Table *table, Output *out, const char *const *cells, const char *end) {
    u32 last = 0;
    for (u32 c = 0; c < table->columns.len; c++) {
        const TableColumn *column = &table->columns.data[c];
        if (!column->dropped && (cells ? cells[c] : column->header)[0]) last = c;  // no blanks at the end of a line
    }
    u32 at = 0;
    for (u32 c = 0; c <= last; c++) {
        const TableColumn *column = &table->columns.data[c];
        const char *text = cells ? cells[c] : column->header;
        if (column->dropped) continue;
        u32 gap = at ? GAP : INDENT;
        output_repeat(out, ' ', gap);
        at += gap;
        if (cells && column->align == TABLE_LEFT_WRAP) {
            wrap_text(out, text, at, at + column->width);
            return;
        }
        print_cell(out, text, column, c == last);
        at += column->width;
    }
    output_text(out, end);
}

u32 table_print(Table *table, Output *out, u32 width, bool color) {
    if (table->status != STATUS_OK) out->status = table->status;
    if (table->status != STATUS_OK || table->columns.len == 0) return 0;
    measure(table);
    leave_out_empty(table);
    if (width) shrink(table, width);
    u32 dropped = width ? drop(table, width) : 0;
    if (dropped) {  // there is room again for what was cut
        measure(table);
        shrink(table, width);
    }
    output_text(out, color ? "\033[1m" : "");
    print_row(table, out, NULL, color ? "\033[0m\n" : "\n");
    for (u32 i = 0; i + table->columns.len <= table->cells.len; i += table->columns.len)
        print_row(table, out, table->cells.data + i, "\n");
    return dropped;
}

void table_free(Table *table) {
    vec_free(&table->columns);
    vec_free(&table->cells);
}
