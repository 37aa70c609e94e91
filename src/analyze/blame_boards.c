// SPDX-License-Identifier: Apache-2.0
// PTX: which results share a scoreboard. A warp has six; where more are under way loads share one, and whoever reads
// the first of them waits for all. Machine code says which (blame_scoreboard.c); of PTX it is what ptxas would do with
// the instructions in the machine's order, by the rules that hold for its sm_90 code (control words of 844 kernels):
//   - what has the same first reader as a scoreboard shares it;
//   - otherwise the lowest one that is free: loads of global and local memory from 2 on, others from 0 on;
//   - if there is none, the one that is waited for last.
// A reader gets what shares the scoreboard with its sources as further sources, each to be waited for. Unrolled loops
// are taken as one turn.
#include <stdlib.h>
#include <string.h>

#include "analyze/blame_inside.h"

enum {
    SM_MAXWELL = 50,
    BOARDS = 6,
    FIRST_OF_LOADS = 2,
    FAR_CLASSES = 1u << BLAME_GLOBAL | 1u << BLAME_LOCAL | 1u << BLAME_TEXTURE
};

typedef struct Boards {
    Blamer *b;
    u32 *order;                // instructions of a region as the machine has them
    u32 *turn;                 // by pc: its place there, from 0
    u32 *reader;               // by pc: turn of the first that reads its result, WL_NONE
    u32 *next;                 // by pc: the one before it on its scoreboard, WL_NONE
    u8 *board;                 // by pc: its scoreboard, BOARDS = none (any more)
    u32 pending[BOARDS];       // the newest instruction on it, WL_NONE
    u32 first_reader[BOARDS];  // turn of the first that waits for it
    Vec(BlameDep) mates;       // of no group yet
} Boards;

// Its latency is not fixed. Steps of long sequences have scoreboards of their own, not their result.
static bool has_board(const Blamer *b, u32 pc) {
    const u32 varies = REASON_BIT(STALL_LONG_SCOREBOARD) | REASON_BIT(STALL_SHORT_SCOREBOARD);
    const FlowInsn *in = &b->flow->code->insns[pc];
    const BlameInsn *insn = &b->insns[pc];
    if (!in->defs || !(insn->reasons & varies)) return false;
    if (in->arith == FLOW_LOAD_PARAM) return in->access_bytes > 4;  // others come through uniform registers
    return insn->steps < 1.5f || !(insn->reasons & REASON_BIT(STALL_WAIT));
}

static u32 choose_board(const Boards *s, u32 pc) {
    u32 first = FAR_CLASSES >> s->b->insns[pc].class & 1 ? FIRST_OF_LOADS : 0, best = first;
    bool free = false;
    for (u32 k = BOARDS; k-- > first;) {
        if (s->pending[k] == WL_NONE) {
            free = true;
            best = k;
        } else if (s->reader[pc] != WL_NONE && s->first_reader[k] == s->reader[pc]) {
            return k;
        } else if (!free && (k == BOARDS - 1 || s->first_reader[k] > s->first_reader[best])) {
            best = k;
        }
    }
    return best;
}

static bool reads(const Blamer *b, u32 use, u32 def) {
    for (u32 i = b->first_dep[use]; i < b->first_dep[use + 1]; i++)
        if (b->deps.data[i].def == def) return true;
    return false;
}

static Status wait_for(Boards *s, u32 use, u32 board) {
    for (u32 i = s->pending[board]; i != WL_NONE; i = s->next[i]) {
        s->board[i] = BOARDS;
        if (!reads(s->b, use, i))
            TRY(vec_push(&s->mates, ((BlameDep){.use = use, .def = i, .next_reader = WL_NONE, .mate = true})));
    }
    s->pending[board] = WL_NONE;
    return STATUS_OK;
}

static Status issue(Boards *s, u32 pc) {
    const Blamer *b = s->b;
    for (u32 i = b->first_dep[pc]; i < b->first_dep[pc + 1]; i++)
        if (s->board[b->deps.data[i].def] < BOARDS) TRY(wait_for(s, pc, s->board[b->deps.data[i].def]));
    if (!has_board(b, pc)) return STATUS_OK;
    u32 board = choose_board(s, pc);
    if (s->pending[board] == WL_NONE || s->reader[pc] < s->first_reader[board]) s->first_reader[board] = s->reader[pc];
    s->board[pc] = (u8)board;
    s->next[pc] = s->pending[board];
    s->pending[board] = pc;
    return STATUS_OK;
}

// The instructions order[0] to order[count - 1] are issued one behind the other.
static Status share_boards(Boards *s, u32 count) {
    const Blamer *b = s->b;
    memset(s->pending, 0xff, sizeof s->pending);
    for (u32 i = 0; i < count; i++) s->turn[s->order[i]] = i, s->reader[s->order[i]] = WL_NONE;
    for (u32 i = 0; i < count; i++) {
        u32 use = s->order[i];
        for (u32 k = b->first_dep[use]; k < b->first_dep[use + 1]; k++) {
            u32 def = b->deps.data[k].def;
            bool before = s->turn[def] < i && s->order[s->turn[def]] == def;
            if (before && s->reader[def] == WL_NONE) s->reader[def] = i;
        }
    }
    Status status = STATUS_OK;
    for (u32 i = 0; i < count && status == STATUS_OK; i++) status = issue(s, s->order[i]);
    for (u32 i = 0; i < count; i++) s->board[s->order[i]] = BOARDS;
    return status;
}

static Status share_block(Boards *s, u32 block) {
    const FlowBlock *at = &s->b->flow->cfg->blocks[block];
    u32 count = 0, last = WL_NONE;
    for (u32 pc = at->first; pc < at->first + at->count; pc++) {
        bool follows = s->b->insns[pc].steps > 0 && s->b->earlier[pc] == WL_NONE;
        if (follows) last = pc;
        s->order[count] = pc;
        count += s->b->insns[pc].steps > 0;
    }
    if (last == WL_NONE) return STATUS_OK;
    // By how many stand before: `earlier` is a list from the last one back.
    for (u32 i = 0; i < count; i++) s->next[s->order[i]] = WL_NONE;
    for (u32 i = 0; i < count; i++)
        if (s->b->earlier[s->order[i]] != WL_NONE) s->next[s->b->earlier[s->order[i]]] = s->order[i];
    count = 0;
    for (u32 pc = last; pc != WL_NONE; pc = s->next[pc]) s->order[count++] = pc;
    return share_boards(s, count);
}

static int by_use(const void *left, const void *right) {
    const BlameDep *a = left, *c = right;
    if (a->use != c->use) return a->use < c->use ? -1 : 1;
    return (a->def > c->def) - (a->def < c->def);
}

// The sources of each use with those that it does not read behind them, each a group of its own.
static Status add_mates(Blamer *b, const BlameDep *mates, u32 count) {
    u32 insns = b->flow->code->insn_count, at = 0;
    BlameDep *all = ARENA_ARRAY(&b->scratch, BlameDep, b->deps.len + count + 1);
    if (!all) return STATUS_NO_MEMORY;
    u32 kept = 0;
    for (u32 use = 0; use < insns; use++) {
        u32 first = b->first_dep[use], group = 0;
        b->first_dep[use] = kept;
        for (u32 i = first; i < b->first_dep[use + 1]; i++) {
            all[kept++] = b->deps.data[i];
            if (b->deps.data[i].group >= group) group = b->deps.data[i].group + 1;
        }
        for (; at < count && mates[at].use == use; at++) all[kept] = mates[at], all[kept++].group = group++;
    }
    b->first_dep[insns] = kept;
    b->deps.len = 0;
    for (u32 i = 0; i < kept; i++) TRY(vec_push(&b->deps, all[i]));
    return STATUS_OK;
}

Status blame_boards(Blamer *b) {
    u32 count = b->flow->code->insn_count + 1;
    if (!b->earlier || b->view->gpu->sm_version < SM_MAXWELL || b->options.no_boards) return STATUS_OK;
    Boards s = {.b = b};
    u32 **arrays[] = {&s.order, &s.turn, &s.reader, &s.next};
    for (u32 i = 0; i < WL_COUNT(arrays); i++)
        if (!(*arrays[i] = ARENA_ARRAY(&b->scratch, u32, count))) return STATUS_NO_MEMORY;
    if (!(s.board = ARENA_ARRAY(&b->scratch, u8, count))) return STATUS_NO_MEMORY;
    memset(s.board, BOARDS, count);
    Status status = STATUS_OK;
    for (u32 i = 0; i < b->flow->cfg->block_count && status == STATUS_OK; i++) status = share_block(&s, i);
    if (status == STATUS_OK && s.mates.len) {
        qsort(s.mates.data, s.mates.len, sizeof *s.mates.data, by_use);
        status = add_mates(b, s.mates.data, s.mates.len);
    }
    vec_free(&s.mates);
    return status;
}
