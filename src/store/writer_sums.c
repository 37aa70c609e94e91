// SPDX-License-Identifier: Apache-2.0
// Rows that add to those with the same key are added up in memory first: what every launch says of the same
// instructions becomes a row once a transaction. They are put in sorted, as their table is, which costs SQLite least.
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "store/writer.h"

// A third of a second of PyTorch's samples are 200,000 additions to 110,000 rows: with room for fewer these are put in
// again and again, which took half a processor (docs/collect.md). 8 MiB a table.
enum { MOST_ROWS = 1 << 17, MOST_COLUMNS = 8, FIRST_SLOTS = 1 << 10 };

struct WriterSums {
    u32 columns, summed;  // summed: bit c: column c is added up; the others are the key, all are integers
    Vec(i64) values;      // `columns` of each row
    u32 *slots;           // open addressing: row + 1 or 0
    u32 slot_count, rows;
    u32 last;  // row that was found last: the next one is often asked for next
};

static const struct {
    StoreStatement statement;
    u32 columns, summed;
} tables[] = {{STORE_SAMPLE, 8, 1 << 5 | 1 << 6}, {STORE_STALL_CAUSE, 8, 1 << 6 | 1 << 7}};

bool writer_is_summed(StoreStatement statement) {
    for (u32 i = 0; i < WL_COUNT(tables); i++)
        if (tables[i].statement == statement) return true;
    return false;
}

static Status make(StoreWriter *writer, StoreStatement statement) {
    WriterSums *sums = mem_zero(1, sizeof *sums);
    if (sums) sums->slots = mem_zero(FIRST_SLOTS, sizeof *sums->slots);
    if (!sums || !sums->slots) return mem_free(sums), STATUS_NO_MEMORY;
    sums->slot_count = FIRST_SLOTS;
    for (u32 i = 0; i < WL_COUNT(tables); i++)
        if (tables[i].statement == statement) sums->columns = tables[i].columns, sums->summed = tables[i].summed;
    writer->sums[statement] = sums;
    return STATUS_OK;
}

static bool is_sum(const WriterSums *sums, u32 column) { return sums->summed >> column & 1; }

static i64 *row_at(const WriterSums *sums, u32 at) { return sums->values.data + (size_t)at * sums->columns; }

static bool is_same(const WriterSums *sums, u32 at, const i64 *row) {
    const i64 *there = row_at(sums, at);
    for (u32 c = 0; c < sums->columns; c++)
        if (there[c] != row[c] && !is_sum(sums, c)) return false;
    return true;
}

static u32 *find(const WriterSums *sums, const i64 *row) {
    u64 hash = 0;
    for (u32 c = 0; c < sums->columns; c++)
        if (!is_sum(sums, c)) hash = (hash ^ (u64)row[c]) * 0x9e3779b97f4a7c15u;
    u32 slot = (u32)(hash >> 32) & (sums->slot_count - 1);
    while (sums->slots[slot] && !is_same(sums, sums->slots[slot] - 1, row)) slot = (slot + 1) & (sums->slot_count - 1);
    return &sums->slots[slot];
}

static void add(WriterSums *sums, u32 at, const i64 *row) {
    i64 *there = row_at(sums, at);
    for (u32 c = 0; c < sums->columns; c++)
        if (is_sum(sums, c)) there[c] = (i64)((u64)there[c] + (u64)row[c]);
    sums->last = at;
}

static Status grow(WriterSums *sums) {
    u32 *bigger = mem_zero(sums->slot_count * 2, sizeof *bigger);
    if (!bigger) return STATUS_NO_MEMORY;
    mem_free(sums->slots);
    sums->slots = bigger;
    sums->slot_count *= 2;
    for (u32 i = 0; i < sums->rows; i++) *find(sums, row_at(sums, i)) = i + 1;
    return STATUS_OK;
}

static int compare(const void *a, const void *b, void *columns) {
    const i64 *x = a, *y = b;
    for (u32 c = 0; c < *(const u32 *)columns; c++)
        if (x[c] != y[c]) return x[c] < y[c] ? -1 : 1;
    return 0;
}

static Status put_in(StoreWriter *writer, StoreStatement statement) {
    WriterSums *sums = writer->sums[statement];
    u32 rows = sums->rows, columns = sums->columns;
    sums->rows = sums->values.len = sums->last = 0;  // also after a failure
    memset(sums->slots, 0, sizeof *sums->slots * sums->slot_count);
    if (rows) qsort_r(sums->values.data, rows, sizeof(i64) * columns, compare, &columns);
    for (u32 i = 0; i < rows; i++) {
        DbValue row[MOST_COLUMNS];
        for (u32 c = 0; c < columns; c++) row[c] = db_int((u64)sums->values.data[i * columns + c]);
        TRY(writer_gather(writer, statement, row, columns));
    }
    return STATUS_OK;
}

Status writer_sum(StoreWriter *writer, StoreStatement statement, const DbValue *values) {
    if (!writer->sums[statement]) TRY(make(writer, statement));
    WriterSums *sums = writer->sums[statement];
    writer->summed++;
    writer->sums_are_in = false;
    i64 row[MOST_COLUMNS] = {0};
    for (u32 c = 0; c < sums->columns; c++) row[c] = values[c].integer;
    if (sums->last + 1 < sums->rows && is_same(sums, sums->last + 1, row)) {
        add(sums, sums->last + 1, row);
        return STATUS_OK;
    }
    u32 *slot = find(sums, row);
    if (*slot) {
        add(sums, *slot - 1, row);
        return STATUS_OK;
    }
    TRY(vec_reserve(&sums->values, sums->columns));
    memcpy(sums->values.data + sums->values.len, row, sizeof *row * sums->columns);
    sums->values.len += sums->columns;
    sums->last = sums->rows;
    *slot = ++sums->rows;
    if (sums->rows == MOST_ROWS) return put_in(writer, statement);
    return sums->rows > sums->slot_count / 2 ? grow(sums) : STATUS_OK;
}

Status writer_put_in_sums(StoreWriter *writer) {
    for (u32 i = 0; i < WL_COUNT(tables); i++)
        if (writer->sums[tables[i].statement]) TRY(put_in(writer, tables[i].statement));
    return STATUS_OK;
}

void writer_free_sums(StoreWriter *writer) {
    for (u32 i = 0; i < STORE_STATEMENT_COUNT; i++) {
        if (!writer->sums[i]) continue;
        vec_free(&writer->sums[i]->values);
        mem_free(writer->sums[i]->slots);
        mem_free(writer->sums[i]);
        writer->sums[i] = NULL;
    }
}
