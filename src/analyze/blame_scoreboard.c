// SPDX-License-Identifier: Apache-2.0
// Machine code says itself what is waited for: an instruction of variable latency raises one of six barriers, and what
// needs its result, or overwrites its sources, waits for that barrier (sass/control.h). So behind a scoreboard stall
// are those that raised the barriers of the wait mask since they were last waited for, whatever registers they have;
// and a register dependence on one of them was over where its barrier was waited for. What has a fixed latency is found
// by its registers (blame_slice.c).
#include "analyze/blame_inside.h"
#include "sass/control.h"
#include "sass/latency.h"

enum { STEPS_BACK = 4096, DEPS_OF_BARRIER = 64 };  // instructions looked at, and found, for one barrier

// --- facts -------------------------------------------------------------------------------------------------------
enum { LONG = REASON_BIT(STALL_LONG_SCOREBOARD), SHORT = REASON_BIT(STALL_SHORT_SCOREBOARD) };
enum { MEMORY_UPPER = 4000, QUEUE_UPPER = 500, FIXED_SLACK = 9 };  // cycles, as in blame_facts.c

static const struct {
    u32 reasons, upper;
    u8 class;
} of_time[SASS_TIME_COUNT] = {
    [SASS_TIME_ALU] = {SHORT, QUEUE_UPPER, BLAME_ARITHMETIC},
    [SASS_TIME_IMAD] = {SHORT, QUEUE_UPPER, BLAME_ARITHMETIC},
    [SASS_TIME_FMA] = {SHORT, QUEUE_UPPER, BLAME_ARITHMETIC},
    [SASS_TIME_HALF] = {SHORT, QUEUE_UPPER, BLAME_ARITHMETIC},
    [SASS_TIME_DOUBLE] = {SHORT, QUEUE_UPPER, BLAME_ARITHMETIC},
    [SASS_TIME_PREDICATE] = {SHORT, QUEUE_UPPER, BLAME_ARITHMETIC},
    [SASS_TIME_UNIFORM] = {SHORT, QUEUE_UPPER, BLAME_ARITHMETIC},
    [SASS_TIME_XU] = {SHORT, QUEUE_UPPER, BLAME_SPECIAL},
    [SASS_TIME_TENSOR] = {SHORT, QUEUE_UPPER, BLAME_TENSOR},
    [SASS_TIME_SPECIAL] = {SHORT, QUEUE_UPPER, BLAME_SREG},
    [SASS_TIME_SHARED] = {SHORT, QUEUE_UPPER, BLAME_SHARED},
    [SASS_TIME_CONSTANT] = {SHORT | REASON_BIT(STALL_IMC_MISS), MEMORY_UPPER, BLAME_CONSTANT},
    [SASS_TIME_GLOBAL] = {LONG, MEMORY_UPPER, BLAME_GLOBAL},
    [SASS_TIME_LOCAL] = {LONG, MEMORY_UPPER, BLAME_LOCAL},
    [SASS_TIME_TEXTURE] = {LONG, MEMORY_UPPER, BLAME_TEXTURE},
    [SASS_TIME_SYNC] = {SHORT, QUEUE_UPPER, BLAME_FENCE},
    [SASS_TIME_BRANCH] = {SHORT, QUEUE_UPPER, BLAME_CONTROL},
};

static const SassInsn *source_of(const Blamer *b, u32 pc) {
    const SassModule *sass = b->flow->code->sass;
    return &sass->insns.data[sass->functions.data[b->flow->code->func].first + pc];
}

static bool raises(const FlowIssue *issue, u32 barrier) {
    return issue->write_barrier == barrier || issue->read_barrier == barrier;
}
static bool is_fixed(const FlowIssue *issue) {
    return issue->write_barrier >= SASS_BARRIERS && issue->read_barrier >= SASS_BARRIERS;
}

static bool has_fixed_latency(u8 time) { return time <= SASS_TIME_UNIFORM || time == SASS_TIME_TENSOR; }

void blame_sass_facts(Blamer *b, u32 pc, BlameInsn *insn) {
    const FlowCode *code = b->flow->code;
    const SassInsn *source = source_of(b, pc);
    const SassOpInfo *op = sass_op(source);
    insn->reasons = of_time[op->time].reasons;
    insn->upper = of_time[op->time].upper;
    insn->class = of_time[op->time].class;
    insn->latency = sass_latencies(code->sass->sm)->cycles[op->time];
    if (insn->class == BLAME_SHARED && op->access & SASS_WARP) insn->class = BLAME_SHUFFLE;
    bool async = op->access & SASS_ASYNC || source->op == SASS_OP_LDGSTS || source->op == SASS_OP_LDGDEPBAR;
    if (op->access & SASS_ATOMIC) insn->class = BLAME_ATOMIC;
    if (async) insn->class = BLAME_ASYNC;
    if (code->insns[pc].is_load && code->insns[pc].space == SPACE_NONE) insn->reasons |= SHORT;  // generic
    bool fixed = code->issue ? is_fixed(&code->issue[pc]) : has_fixed_latency(op->time);
    if (!fixed) return;
    insn->reasons |= REASON_BIT(STALL_WAIT);
    if (has_fixed_latency(op->time)) {
        insn->reasons = REASON_BIT(STALL_WAIT);
        insn->upper = insn->latency + FIXED_SLACK;
    }
}

// --- barriers ----------------------------------------------------------------------------------------------------
typedef struct Way {
    u32 block, row;
} Way;

// What raised the barrier in a row is all waited for: the last one of them, each a group of its own. What raised it on
// different ways as the last one, the last but one ... are alternatives, one group.
typedef struct BarrierSearch {
    Blamer *b;
    u32 use, barrier, group, steps, found;
    u32 row;        // how many have been found between here and the use
    Vec(Way) work;  // blocks whose end is to be looked at
} BarrierSearch;

static Status add(BarrierSearch *s, u32 def) {
    Blamer *b = s->b;
    s->found++;
    u8 barrier = (u8)(1u << s->barrier);
    for (u32 i = b->first_dep[s->use]; i < b->deps.len; i++) {
        BlameDep *dep = &b->deps.data[i];
        if (dep->def != def) continue;
        if (dep->barriers) dep->barriers |= barrier;
        return STATUS_OK;
    }
    BlameDep dep = {.use = s->use, .def = def, .group = s->group + s->row, .next_reader = WL_NONE, .barriers = barrier};
    return vec_push(&b->deps, dep);
}

// A group of asynchronous copies is waited for by its mark: what takes long are the copies before it.
static Status add_copies(BarrierSearch *s, u32 mark) {
    const Blamer *b = s->b;
    const FlowBlock *block = &b->flow->cfg->blocks[b->flow->cfg->block_of[mark]];
    u32 before = s->found;
    for (u32 pc = mark; pc-- > block->first && source_of(b, pc)->op != SASS_OP_LDGDEPBAR;)
        if (source_of(b, pc)->op == SASS_OP_LDGSTS) TRY(add(s, pc));
    return s->found > before ? STATUS_OK : add(s, mark);
}

// Back from before `end`; *ended: the barrier was waited for, what lies before is over.
static Status search_block(BarrierSearch *s, u32 first, u32 end, bool *ended) {
    const KernelView *view = s->b->view;
    const FlowIssue *issue = s->b->flow->code->issue;
    *ended = false;
    for (u32 pc = end; pc-- > first && !*ended;) {
        if (++s->steps > STEPS_BACK || s->found >= DEPS_OF_BARRIER) return *ended = true, STATUS_OK;
        bool idle = view->executed && !view->executed[pc];
        if (!idle && raises(&issue[pc], s->barrier)) {
            TRY(source_of(s->b, pc)->op == SASS_OP_LDGDEPBAR ? add_copies(s, pc) : add(s, pc));
            s->row++;
        }
        *ended = issue[pc].wait_mask >> s->barrier & 1 && pc != s->use;
        if (pc == s->use) *ended = true;
    }
    return STATUS_OK;
}

static Status push_preds(BarrierSearch *s, u32 block) {
    Blamer *b = s->b;
    const Cfg *cfg = b->flow->cfg;
    for (u32 p = 0; p < cfg->blocks[block].pred_count; p++) {
        u32 pred = cfg->edges[cfg->blocks[block].preds + p];
        if (!cfg->blocks[pred].reachable || b->block_stamp[pred] == b->region_round) continue;
        b->block_stamp[pred] = b->region_round;
        TRY(vec_push(&s->work, ((Way){pred, s->row})));
    }
    return STATUS_OK;
}

static Status search(BarrierSearch *s) {
    const Cfg *cfg = s->b->flow->cfg;
    u32 own = cfg->block_of[s->use];
    bool ended;
    s->b->region_round++;
    s->work.len = 0;
    TRY(search_block(s, cfg->blocks[own].first, s->use, &ended));
    if (!ended) TRY(push_preds(s, own));
    while (s->work.len) {
        Way way = s->work.data[--s->work.len];
        u32 block = way.block;
        s->row = way.row;
        TRY(search_block(s, cfg->blocks[block].first, cfg->blocks[block].first + cfg->blocks[block].count, &ended));
        if (!ended) TRY(push_preds(s, block));
    }
    return STATUS_OK;
}

Status blame_scoreboard(Blamer *b, u32 use, u32 group) {
    BarrierSearch s = {.b = b, .use = use, .group = group + 1};
    Status status = STATUS_OK;
    u32 mask = b->flow->code->issue ? b->flow->code->issue[use].wait_mask : 0;
    for (s.barrier = 0; s.barrier < SASS_BARRIERS && status == STATUS_OK; s.barrier++) {
        if (!(mask >> s.barrier & 1)) continue;
        s.steps = s.found = s.row = 0;
        status = search(&s);
        s.group += DEPS_OF_BARRIER;
    }
    vec_free(&s.work);
    return status;
}

// Of loads that come back in order only the last one raises a barrier.
bool blame_by_barrier(const Blamer *b, u32 def) {
    const FlowIssue *issue = b->flow->code->issue;
    return issue && (issue[def].write_barrier < SASS_BARRIERS || !has_fixed_latency(sass_op(source_of(b, def))->time));
}

bool blame_stall_cycles(const Blamer *b, u32 def, u32 use, f64 *cycles) {
    const FlowIssue *issue = b->flow->code->issue;
    *cycles = 0;
    if (!issue || def >= use || b->flow->cfg->block_of[def] != b->flow->cfg->block_of[use]) return false;
    for (u32 pc = def; pc < use; pc++) *cycles += issue[pc].stall ? issue[pc].stall : 1;
    return true;
}

bool blame_reads_constant(const Blamer *b, u32 pc) {
    if (b->view->kind != VIEW_SASS) return false;
    const SassInsn *insn = source_of(b, pc);
    for (u32 i = 0; i < insn->operand_count; i++)
        if (b->flow->code->sass->operands.data[insn->operands + i].kind == SASS_OPERAND_CONSTANT) return true;
    return false;
}

bool blame_is_war(const Blamer *b, u32 use, u32 def) {
    const FlowIssue *issue = b->flow ? b->flow->code->issue : NULL;
    if (!issue || def == use) return false;
    u32 write = issue[def].write_barrier, read = issue[def].read_barrier;
    bool waits_write = write < SASS_BARRIERS && issue[use].wait_mask >> write & 1;
    return !waits_write && read < SASS_BARRIERS && issue[use].wait_mask >> read & 1;
}
