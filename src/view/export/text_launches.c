// SPDX-License-Identifier: Apache-2.0
// Every launch in the text report, in the order of the run or by the column that was asked for.
#include <math.h>
#include <stdlib.h>

#include "view/export/text.h"

enum { LEAST_NAME = 12 };

typedef struct Row {
    const ReportKernel *kernel;
    const ProfileLaunch *launch;
    f64 order;
} Row;

static int compare(const void *left, const void *right) {
    const Row *a = left, *b = right;
    if (a->order != b->order) return a->order < b->order ? 1 : -1;
    return (a->launch->index > b->launch->index) - (a->launch->index < b->launch->index);
}

static Row *gather(Text *text, u32 *count) {
    const Report *report = text->report;
    *count = 0;
    for (u32 i = 0; i < report->kernel_count; i++) *count += report->kernels[i].launch_count;
    Row *rows = ARENA_ARRAY(&text->arena, Row, *count + 1);
    u32 next = 0;
    for (u32 i = 0; i < report->kernel_count && rows; i++)
        for (u32 k = 0; k < report->kernels[i].launch_count; k++) {
            const ProfileLaunch *launch = &report->kernels[i].launches[k];
            f64 order = !report->options.sort              ? 0
                        : report_by_time(&report->options) ? profile_launch_ns(launch)
                                                           : formula_run(&report->line_order, launch->metrics);
            rows[next++] = (Row){&report->kernels[i], launch, isnan(order) ? -INFINITY : order};
        }
    if (rows) qsort(rows, *count, sizeof *rows, compare);
    return rows;
}

static const char *time_text(Text *text, const ProfileLaunch *launch) {
    f64 ns = profile_launch_ns(launch);
    const char *time = ns > 0 ? text_keep(text, number_time(ns)) : "-";
    return time && launch->time.estimated ? arena_printf(&text->arena, "~%s", time) : time;
}

// Which columns besides the figures there are.
typedef struct Columns {
    bool timed, streams;
    f64 begin_ns;  // of the first launch
} Columns;

// A time alone may be that of launches alike.
static bool has_start(const ProfileLaunch *launch) {
    return profile_launch_ns(launch) > 0 && (launch->begin_ns || launch->end_ns);
}

static Columns columns_of(const Row *rows, u32 count) {
    Columns c = {.begin_ns = INFINITY};
    for (u32 i = 0; i < count; i++) {
        const ProfileLaunch *launch = rows[i].launch;
        c.streams |= launch->stream != rows[0].launch->stream;
        c.timed |= profile_launch_ns(launch) > 0;
        if (has_start(launch)) c.begin_ns = fmin(c.begin_ns, launch->time.begin_ns);
    }
    return c;
}

static const char *start_text(Text *text, const ProfileLaunch *launch, f64 begin_ns) {
    return has_start(launch) ? text_keep(text, number_time(launch->time.begin_ns - begin_ns)) : "-";
}

static void write_row(Text *text, Table *table, const Row *row, Columns with, const TextColumns *set) {
    table_cell(table, arena_printf(&text->arena, "%u", row->launch->index));
    table_cell(table, text_kernel(text, row->kernel));
    table_cell(table, text_shape(text, row->launch->grid));
    table_cell(table, text_shape(text, row->launch->block));
    if (with.streams) table_cell(table, arena_printf(&text->arena, "%u", row->launch->stream));
    if (with.timed) table_cell(table, start_text(text, row->launch, with.begin_ns));
    if (with.timed) table_cell(table, time_text(text, row->launch));
    text_figure_cells(text, table, set, 'K', row->launch->metrics);
}

void text_launches(Text *text) {
    const Report *report = text->report;
    Table table = {0};
    TextColumns set = {0};
    u32 count;
    Row *rows = gather(text, &count);
    if (!rows) {
        text->out->status = STATUS_NO_MEMORY;
        return;
    }
    text_heading(text, "Launches");
    Columns with = columns_of(rows, count);
    for (u32 i = 0; i < report->kernel_count; i++) text_note_columns(text, &set, &report->kernels[i].metrics);
    table_column(&table, (TableColumn){.header = "#"});
    table_column(&table, (TableColumn){.header = "kernel", .align = TABLE_LEFT_NAME, .least = LEAST_NAME});
    table_column(&table, (TableColumn){.header = "grid", .importance = 12});
    table_column(&table, (TableColumn){.header = "block", .importance = 12});
    if (with.streams) table_column(&table, (TableColumn){.header = "stream", .importance = 13});
    if (with.timed) table_column(&table, (TableColumn){.header = "start", .importance = 13});
    if (with.timed) table_column(&table, (TableColumn){.header = "time"});
    text_figure_columns(&table, &set, 'K');
    for (u32 i = 0; i < count; i++) write_row(text, &table, &rows[i], with, &set);
    text->hidden += table_print(&table, text->out, text_width(text), report->options.color);
    table_free(&table);
}
