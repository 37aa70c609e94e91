// SPDX-License-Identifier: Apache-2.0
// The six scoreboards of a warp, since Maxwell: instructions whose latency varies count one up until their results are
// there, readers wait for zero. Where more are under way than there are, loads share one, and whoever reads the first
// of them waits for all. As ptxas 13.0 gives them out for sm_90 (control words of 844 compiled kernels):
//   - what has the same first reader as a scoreboard shares it;
//   - otherwise the lowest one that is free: loads of global and local memory from 2 on (98 % of 18,000), others from 0
//     on;
//   - if there is none, the one that is waited for last.
// Here a reader gets the results that share the scoreboard of what it reads as further sources. Scoreboards of blocks
// before are not looked at, nor those that guard sources of stores from being overwritten.
#include "sim/time/time_lower.h"

#include <string.h>

enum { BOARDS = 6, FIRST_OF_LOADS = 2, SHARED_MAX = 64 };

typedef struct Boards {
    TimeFunc *f;
    u32 *writer;               // value -> operation whose result it is, if that has a scoreboard; WL_NONE
    u32 *reader;               // operation -> the first that reads its result, WL_NONE
    u32 *next;                 // ... -> the one before it on its scoreboard, WL_NONE
    u8 *board;                 // ... -> its scoreboard, BOARDS = none (any more)
    u32 pending[BOARDS];       // the newest operation on it, WL_NONE
    u32 first_reader[BOARDS];  // ... the first operation that waits for it
    u32 shared[SHARED_MAX];    // values
} Boards;

static MachineOp *op_at(const Boards *b, u32 i) { return &b->f->ops.data[i]; }

static bool has_board(const MachineOp *op) {
    bool varies = op->kind == TIME_LOAD || op->kind == TIME_ATOMIC || op->kind == TIME_CONST ||
                  op->kind == TIME_TEXTURE || op->kind == TIME_SPIN_LOAD || op->kind == TIME_SPIN_SWAP;
    return op->defs && !op->hidden && (varies || op->flags & TIME_SHORT);
}

static bool is_far(const MachineOp *op) {
    return op->kind == TIME_TEXTURE || (op->kind == TIME_LOAD && op->space != SPACE_SHARED);
}

static void set_writers(Boards *b, const MachineOp *op, u32 i) {
    const u32 *results = b->f->operands.data + op->operands;
    for (u32 k = 0; k < op->defs; k++) b->writer[results[k]] = i;
}

static void find_readers(Boards *b, u32 first, u32 end) {
    for (u32 i = first; i < end; i++) {
        const MachineOp *op = op_at(b, i);
        const u32 *sources = b->f->operands.data + op->operands + op->defs;
        for (u32 k = 0; k < op->uses; k++) {
            u32 writer = b->writer[sources[k]];
            if (writer != WL_NONE && b->reader[writer] == WL_NONE) b->reader[writer] = i;
        }
        set_writers(b, op, has_board(op) ? i : WL_NONE);
    }
    for (u32 i = first; i < end; i++) set_writers(b, op_at(b, i), WL_NONE);
}

static bool reads(const Boards *b, const MachineOp *op, u32 value) {
    const u32 *sources = b->f->operands.data + op->operands + op->defs;
    for (u32 k = 0; k < op->uses; k++)
        if (sources[k] == value) return true;
    return false;
}

// Operation `op` waits for a scoreboard, nobody any more behind it. What it does not read goes to `shared`.
static u32 clear_board(Boards *b, const MachineOp *op, u32 board, u32 count) {
    for (u32 i = b->pending[board]; i != WL_NONE; i = b->next[i]) {
        u32 result = b->f->operands.data[op_at(b, i)->operands];
        if (b->writer[result] == i && count < SHARED_MAX && !reads(b, op, result)) b->shared[count++] = result;
        b->board[i] = BOARDS;
    }
    b->pending[board] = WL_NONE;
    return count;
}

static Status add_sources(Boards *b, MachineOp *op, u32 count) {
    if (count == 0) return STATUS_OK;
    TimeWords *operands = &b->f->operands;
    u32 from = op->operands, kept = (u32)op->defs + op->uses;
    op->operands = operands->len;
    for (u32 k = 0; k < kept; k++) TRY(vec_push(operands, operands->data[from + k]));
    for (u32 k = 0; k < count; k++) TRY(vec_push(operands, b->shared[k]));
    op->uses = (u16)(op->uses + count);
    return STATUS_OK;
}

static Status wait_for_sources(Boards *b, MachineOp *op) {
    u32 count = 0;
    for (u32 k = 0; k < op->uses; k++) {
        u32 writer = b->writer[b->f->operands.data[op->operands + op->defs + k]];
        if (writer != WL_NONE && b->board[writer] < BOARDS) count = clear_board(b, op, b->board[writer], count);
    }
    return add_sources(b, op, count);
}

static u32 choose_board(const Boards *b, u32 i) {
    u32 first = is_far(op_at(b, i)) ? FIRST_OF_LOADS : 0, reader = b->reader[i], best = first;
    bool free = false;
    for (u32 k = BOARDS; k-- > first;) {
        if (b->pending[k] == WL_NONE) {
            free = true;
            best = k;
        } else if (reader != WL_NONE && b->first_reader[k] == reader) {
            return k;
        } else if (!free && (k == BOARDS - 1 || b->first_reader[k] > b->first_reader[best])) {
            best = k;
        }
    }
    return best;
}

static void put_on_board(Boards *b, u32 i, u32 board) {
    if (b->pending[board] == WL_NONE || b->reader[i] < b->first_reader[board]) b->first_reader[board] = b->reader[i];
    b->board[i] = (u8)board;
    b->next[i] = b->pending[board];
    b->pending[board] = i;
}

// The operations [first, end) are issued one behind the other.
static Status share_boards(Boards *b, u32 first, u32 end) {
    find_readers(b, first, end);
    memset(b->pending, 0xff, sizeof b->pending);
    for (u32 i = first; i < end; i++) {
        MachineOp *op = op_at(b, i);
        TRY(wait_for_sources(b, op));
        set_writers(b, op, WL_NONE);
        if (!has_board(op)) continue;
        put_on_board(b, i, choose_board(b, i));
        set_writers(b, op, i);
    }
    for (u32 i = first; i < end; i++) set_writers(b, op_at(b, i), WL_NONE);
    return STATUS_OK;
}

static Status boards_init(Boards *b, TimeFunc *f) {
    Arena *arena = &f->lower->scratch;
    u32 n = f->ops.len + 1;
    b->f = f;
    b->writer = ARENA_ARRAY(arena, u32, f->value_count + 1);
    b->reader = ARENA_ARRAY(arena, u32, n);
    b->next = ARENA_ARRAY(arena, u32, n);
    b->board = ARENA_ARRAY(arena, u8, n);
    if (!b->writer || !b->reader || !b->next || !b->board) return STATUS_NO_MEMORY;
    memset(b->writer, 0xff, sizeof(u32) * (f->value_count + 1));
    memset(b->reader, 0xff, sizeof(u32) * n);
    return STATUS_OK;
}

Status time_share_scoreboards(TimeFunc *f) {
    if (f->lower->gpu->sm_version < SM_MAXWELL) return STATUS_OK;
    Boards b;
    TRY(boards_init(&b, f));
    const TimeBlock *block = f->lower->blocks.data + f->blocks, *last = block + f->block_count;
    for (u32 op = 0; block < last; block += block->parts) {
        u32 end = time_region_end(f, block);
        while (op < f->ops.len && f->ops.data[op].pc < end) {
            u32 first = op;
            u32 version = f->ops.data[op].version;
            while (op < f->ops.len && f->ops.data[op].pc < end && f->ops.data[op].version == version) op++;
            TRY(share_boards(&b, first, op));
        }
    }
    return STATUS_OK;
}
