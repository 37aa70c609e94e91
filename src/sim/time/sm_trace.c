// SPDX-License-Identifier: Apache-2.0
#include "sim/time/sm_trace.h"

#include "sim/time/sm_account.h"

// --- regions -------------------------------------------------------------------------------------------------------
typedef enum Match {
    MATCH_NONE,
    MATCH_OPEN,  // so far; the trace ends too early
    MATCH_WHOLE
} Match;

// Runs of the trace that are passes through a region.
typedef struct Passes {
    TimeWarp *w;
    const TimeBlock *first;  // of the region
    u32 words, insns;
    u64 thread_insns;
} Passes;

// A block that the trace may leave out.
static bool is_optional(const TimeBlock *block) { return block->predicated || block->speculated; }

static u32 next_required(const TimeBlock *first, u32 part) {
    while (part < first->parts && is_optional(&first[part])) part++;
    return part;
}

// Which block of the region begins at `pc`; WL_NONE.
static u32 part_at(const Passes *p, u32 pc) {
    const TimeCode *code = code_of(p->w);
    const TimeBlock *last = p->first + p->first->parts - 1;
    if (pc < p->first->pc || pc > last->pc) return WL_NONE;
    const TimeBlock *block = &code->blocks[code->block_of[pc]];
    return block->pc == pc ? (u32)(block - p->first) : WL_NONE;
}

// One pass: the blocks that must be, one after the other with the same lanes, and between them any of the others, both
// sides of a branch in any order. `parts`: of TimeWarp.part. `fewer`: some of the lanes may have left before it.
static Match match_pass(Passes *p, u32 *parts, u32 *of, bool fewer) {
    const Trace *t = &p->w->trace;
    const TimeBlock *first = p->first;
    u32 from = 0, required = next_required(first, 0), lanes = *of;
    for (u32 k = 0; k < first->parts; k++) parts[k] = NO_PART;
    while (from < first->parts) {
        if (t->begin + p->words >= t->complete)
            return required == first->parts && warp_done(p->w->front) ? MATCH_WHOLE : MATCH_OPEN;
        TraceRun run = trace_run(t->words + t->begin + p->words);
        u32 k = part_at(p, run.from);
        if (k == WL_NONE || k < from || k > required || parts[k] != NO_PART)
            return required == first->parts ? MATCH_WHOLE : MATCH_NONE;
        if (fewer && from == 0 && k == required && run.lanes < lanes) lanes = *of = run.lanes;
        if (run.to != first[k].pc_end || (k == required ? run.lanes != lanes : run.lanes > lanes)) return MATCH_NONE;
        parts[k] = p->words;
        p->words += TRACE_HEAD + run.words;
        p->insns += run.to - run.from;
        p->thread_insns += (u64)(run.to - run.from) * run.lanes;
        if (k == required) from = k + 1, required = next_required(first, from);
    }
    return MATCH_WHOLE;
}

static void take_passes(Sm *sm, const Passes *p, u32 ops, u32 op_count) {
    TimeWarp *w = p->w;
    w->from = p->first->pc;
    w->to = p->first[p->first->parts - 1].pc_end;
    w->run_words = p->words;
    w->op = ops;
    w->op_end = ops + op_count;
    sm->counters[SMC_INSTS] += p->insns;
    sm->counters[SMC_THREAD_INSTS] += p->thread_insns;
}

// Whether more of the trace is of use, and may come: it has grown since that was last wanted.
static bool may_ask(const TimeWarp *w) {
    return !warp_done(w->front) && (w->ask != ASK_TRIED || w->trace.complete - w->trace.begin > w->asked);
}

// Takes the next runs when they are a pass through the region that begins with `block`, or TimeBlock.turns or .left
// passes through an unrolled one. Where the number of turns is not known each lane has its own: those that leave before
// others have two turns at once and one left, as their numbers are, when the others are done (issue_left).
static Match take_region(Sm *sm, TimeWarp *w, const TimeBlock *block, u32 lanes) {
    Passes one = {.w = w, .first = block}, pair = {.w = NULL};
    Match match = match_pass(&one, w->part, &lanes, false);
    if (match != MATCH_WHOLE) return match;
    w->low_words = block->unrolled_count ? block->turns * one.words : one.words;
    Passes all = one;
    bool apart = block->entry_count && block->pair_count && block->turns == TIME_UNROLL;
    u8 left = 0, of_pair = 0;
    for (u32 k = 1; k < block->turns && block->unrolled_count && match == MATCH_WHOLE; k++) {
        u32 before = lanes;
        match = match_pass(&all, w->part + k * block->parts, &lanes, apart);
        if (match == MATCH_WHOLE && lanes < before) left |= (u8)k;
        if (k + 1 == block->left && match == MATCH_WHOLE) pair = all, of_pair = left;
    }
    if (match == MATCH_OPEN && may_ask(w)) return MATCH_OPEN;
    if (match == MATCH_WHOLE && block->unrolled_count) {
        take_passes(sm, &all, block->unrolled, block->unrolled_count);
        w->turns_left |= left;
    } else if (pair.w && block->pair_count) {
        take_passes(sm, &pair, block->pair, block->pair_count);
        w->turns_left = (u8)((w->turns_left | of_pair) & ~2u);
    } else {
        take_passes(sm, &one, block->ops, block->op_count);
        w->turns_left &= (u8)~1u;
    }
    return MATCH_WHOLE;
}

// --- blocks that are issued without effect ------------------------------------------------------------------------
// Operations [op, end) of the blocks of instructions [from, to) are the run.
static bool issue_ops(TimeWarp *w, u32 from, u32 to, u32 op, u32 end) {
    w->from = from;
    w->to = to;
    w->op = op;
    w->op_end = end;
    w->part[0] = NO_PART;
    w->joined = false;
    return next_op(w);
}

// Blocks of predicated or speculated code, [first, end), are the run.
static bool issue_blocks(TimeWarp *w, u32 first, u32 end) {
    const TimeBlock *begin = &code_of(w)->blocks[first], *last = &code_of(w)->blocks[end - 1];
    return issue_ops(w, begin->pc, last->pc_end, begin->ops, last->ops + last->op_count);
}

// Between the last run and one that begins at `pc`: blocks that the machine predicates, or computes in advance, are
// issued without effect.
static bool pass_predicated(TimeWarp *w, u32 pc) {
    const TimeCode *code = code_of(w);
    u32 from = w->to;
    if (from == pc || from >= code->program->insn_count || pc >= code->program->insn_count) return false;
    u32 first = code->block_of[from], end = first;
    if (code->blocks[first].pc != from) return false;
    while (end < code->block_count && code->blocks[end].speculated) end++;
    if (end > first) return issue_blocks(w, first, end);
    if (from >= pc) return false;
    end = code->block_of[pc];
    if (code->blocks[end].pc != pc) return false;
    for (u32 b = first; b < end; b++)
        if (!code->blocks[b].predicated) return false;
    return issue_blocks(w, first, end);
}

// Lanes that part arrive one group after the other where they meet again, and each executes the BSYNC there: the counts
// of an H200 show as many as groups. The next run has `lanes`; told by numbers alone: fewer have left a group behind,
// unless they are the other side of the same branch, whose lanes make up all.
static void count_groups(TimeWarp *w, u32 lanes) {
    u32 count = w->parted_count;
    w->arrivals = 0;
    if (lanes == w->lanes) return;
    bool other_side = count && lanes + w->lanes == w->parted[count - 1];
    if (lanes < w->lanes && !other_side && count < PARTED_KEPT) w->parted[w->parted_count++] = w->lanes;
    if (lanes <= w->lanes || other_side) return;
    while (w->parted_count && w->parted[w->parted_count - 1] <= lanes) w->parted_count--, w->arrivals++;
}

// The next run has `lanes`.
static void come_together(TimeWarp *w, u32 lanes) {
    count_groups(w, lanes);
    w->lanes = (u8)lanes;
    w->lane_counter = (u8)(SMC_LANES_1_4 + (lanes - 1) / 4);
}

// On the way into a loop: how many turns there are is asked once, and lanes meet that have parted before.
static bool issue_entry(TimeWarp *w, const TimeBlock *block, u32 lanes) {
    u32 loop = block->pc;
    if (w->loop == loop || !block->entry_count) return false;
    come_together(w, lanes);
    w->loop = loop;
    w->turns_left = 0;
    w->entering = true;
    return issue_ops(w, loop, block[block->parts - 1].pc_end, block->entry, block->entry + block->entry_count);
}

// Behind the loop: the turns of lanes that left it before others did, whose accesses were issued with theirs.
static bool issue_left(TimeWarp *w, u32 pc) {
    if (!w->turns_left || w->loop == WL_NONE) return false;
    const TimeCode *code = code_of(w);
    const TimeBlock *block = &code->blocks[code->block_of[w->loop]];
    u32 end = block[block->parts - 1].pc_end;
    if (pc >= block->pc && pc < end) return false;
    bool pair = w->turns_left & 2;
    w->turns_left &= (u8)(pair ? ~2u : ~1u);
    u32 op = pair ? block->pair : block->ops;
    return issue_ops(w, block->pc, end, op, op + (pair ? block->pair_count : block->op_count));
}

// --- runs ---------------------------------------------------------------------------------------------------------
// Whether a branch took the whole warp to `block`, the end: it was an EXIT with a predicate, and there is no other.
static bool has_left(const TimeWarp *w, const TimeBlock *block, u32 before, TraceRun run) {
    if (!block->exits || before == run.from || !run.words) return false;
    TraceAccess end = trace_access(w->trace.words[w->trace.begin + TRACE_HEAD]);
    return end.lanes + w->exited >= (u32)__builtin_popcount(w->front->lanes);
}

// One run of the trace.
static void take_run(Sm *sm, TimeWarp *w, const TimeBlock *block, TraceRun run) {
    w->run_words = TRACE_HEAD + run.words;
    w->low_words = 0;
    w->part[0] = 0;
    w->from = run.from;
    w->to = run.to;
    w->op = block->ops;
    w->op_end = block->ops + block->op_count;
    sm->counters[SMC_INSTS] += run.to - run.from;
    sm->counters[SMC_THREAD_INSTS] += (u64)(run.to - run.from) * run.lanes;
}

static bool begins_region(const TimeBlock *block, TraceRun run) {
    return (block->parts > 1 || block->unrolled_count) && block->part == 0 && run.from == block->pc;
}

bool sm_next_run(Sm *sm, TimeWarp *w) {
    const TimeCode *code = code_of(w);
    Trace *t = &w->trace;
    for (;;) {
        t->begin += w->run_words;
        w->sought_part = NO_PART;
        w->run_words = 0;
        if (trace_empty(t)) return false;
        TraceRun run = trace_run(t->words + t->begin);
        const TimeBlock *block = &code->blocks[code->block_of[run.from]];
        if (issue_left(w, run.from)) return true;
        if (!w->entering && pass_predicated(w, run.from)) return true;
        u32 before = w->to;
        bool region = begins_region(block, run);
        if (block->entry_count == 0)
            w->loop = WL_NONE;
        else if (block->part == 0 && run.from == block->pc && issue_entry(w, block, run.lanes))
            return true;
        w->entering = false;
        Match match = region ? take_region(sm, w, block, run.lanes) : MATCH_NONE;
        if (match == MATCH_OPEN && may_ask(w)) {
            w->ask = ASK_WANTED;
            w->asked = t->complete - t->begin;
            return false;
        }
        w->ask = ASK_NOTHING;
        w->joined = match == MATCH_WHOLE;
        if (!w->joined) take_run(sm, w, block, run);
        come_together(w, run.lanes);
        if (t->begin + w->run_words + w->low_words >= t->complete) (void)!vec_push(&sm->low, (u32)(w - sm->warps));
        if (has_left(w, block, before, run)) w->op = w->op_end;
        if (next_op(w)) return true;
    }
}

const u64 *next_access(const TimeWarp *w, OpRun *run, const TimeOp *op) {
    const u64 *words = w->trace.words + w->trace.begin;
    while (run->at < run->end) {
        TraceAccess a = trace_access(words[run->at]);
        const u64 *found = words + run->at;
        run->at += 1u + a.lines;
        if (a.insn == op->pc - run->from) return found;
        if (a.insn > op->pc - run->from) break;
    }
    return NULL;
}
