// SPDX-License-Identifier: Apache-2.0
#include "store/pc_totals.h"

#include <string.h>

static Status find_table(PcTotals *totals, u32 function, u32 source, PcTable **table) {
    if (totals->last < totals->tables.len) {
        *table = &totals->tables.data[totals->last];
        if ((*table)->function == function && (*table)->source == source) return STATUS_OK;
    }
    u64 key = (u64)source << 32 | function;
    u64 *known = map_get(&totals->index, key);
    if (known) {
        totals->last = (u32)*known;
    } else {
        TRY(vec_reserve(&totals->tables, 1));
        TRY(map_put(&totals->index, key, totals->tables.len));
        totals->last = totals->tables.len;
        totals->tables.data[totals->tables.len++] = (PcTable){.function = function, .source = source};
    }
    *table = &totals->tables.data[totals->last];
    return STATUS_OK;
}

static Status find_row(PcTotals *totals, PcTable *table, u32 pc, PcRow **row) {
    if (pc >= table->rows.len) {
        u32 extra = pc + 1 - table->rows.len;
        TRY(vec_reserve(&table->rows, extra));
        memset(table->rows.data + table->rows.len, 0, extra * sizeof *table->rows.data);
        table->rows.len = pc + 1;
    }
    if (!totals->row_bytes) totals->row_bytes = (u32)(sizeof(PcRow) + metric_pc_limit() * sizeof(f64));
    *row = table->rows.data[pc];
    if (*row) return STATUS_OK;
    *row = table->rows.data[pc] = arena_alloc(&totals->arena, totals->row_bytes, sizeof(f64));
    if (!*row) return STATUS_NO_MEMORY;
    memset(*row, 0, totals->row_bytes);
    return STATUS_OK;
}

Status pc_totals_add(PcTotals *totals, u32 function, u32 source, u32 pc, MetricId metric, f64 value) {
    PcTable *table;
    PcRow *row;
    if (pc >= PC_LIMIT || !metric_has_scope(metric, 'P')) return STATUS_INVALID;
    TRY(find_table(totals, function, source, &table));
    TRY(find_row(totals, table, pc, &row));
    row->value[metric] += value;
    row->dirty[metric / 64] |= 1ull << (metric % 64);
    table->dirty = true;
    return STATUS_OK;
}

static Status write_row(const PcTable *table, u32 pc, PcRow *row, PcWrite write, void *context) {
    for (u32 word = 0; word < WL_COUNT(row->dirty); word++) {
        for (; row->dirty[word]; row->dirty[word] &= row->dirty[word] - 1) {
            u32 metric = word * 64 + (u32)__builtin_ctzll(row->dirty[word]);
            TRY(write(context, table, pc, (MetricId)metric, row->value[metric]));
        }
    }
    return STATUS_OK;
}

Status pc_totals_write(PcTotals *totals, PcWrite write, void *context) {
    for (u32 i = 0; i < totals->tables.len; i++) {
        PcTable *table = &totals->tables.data[i];
        if (!table->dirty) continue;
        for (u32 pc = 0; pc < table->rows.len; pc++) {
            if (table->rows.data[pc]) TRY(write_row(table, pc, table->rows.data[pc], write, context));
        }
        table->dirty = false;
    }
    return STATUS_OK;
}

void pc_totals_free(PcTotals *totals) {
    for (u32 i = 0; i < totals->tables.len; i++) vec_free(&totals->tables.data[i].rows);
    vec_free(&totals->tables);
    map_free(&totals->index);
    arena_free(&totals->arena);
    *totals = (PcTotals){0};
}
