// SPDX-License-Identifier: Apache-2.0
// CTAs that are executed without time, between two moments of the machine. What they access is looked up in the L2, so
// that those simulated in detail after them find it as the skipped ones would have left it; the L1s are left to the
// wave in detail that comes before each measured one.
#include <string.h>

#include "sim/time/machine.h"
#include "sim/time/sample.h"

// PTX instructions of a warp at a time; instructions of a group of CTAs after which it is asked whether it waits for
// others; lines that one is remembered to have touched of late.
enum { TURN = 4096, PATIENCE = 1 << 20, FILTER = 4096 };

static Cta *places_of(const TimeRun *run) { return &run->grid->ctas[run->slot_groups * run->grid->cluster_size]; }

// --- the L2 ------------------------------------------------------------------------------------------------------
static bool was_touched(Sample *s, u64 word, bool store) {
    u64 key = ((word & (TRACE_LINE_MASK | 15ull << 48)) << 1 | store) + 1;
    u64 *at = &s->filter[hash_u64(word & TRACE_LINE_MASK) % FILTER];
    if (*at == key) return true;
    *at = key;
    return false;
}

static void touch(TimeRun *run, const TraceAccess *a, bool store, const u64 *lines) {
    if (a->space != TRACE_GLOBAL && a->space != TRACE_LOCAL && a->space != TRACE_TEXTURE && a->space != TRACE_BULK)
        return;
    for (u32 i = 0; i < a->lines; i++)
        if (!was_touched(run->sample, lines[i], store))
            memsys_warm(run->machine->memsys, trace_line_address(lines[i]), trace_line_sectors(lines[i]), store);
}

static bool writes(const TimeRun *run, u32 pc) {
    u32 flags = ptx_ops[run->grid->program->insns[pc].form_op].flags;
    return flags & (OPF_STORE | OPF_ATOMIC);
}

// Takes what a warp has left in the trace.
static void consume(TimeRun *run) {
    Trace *t = &run->sample->trace;
    trace_close(t);
    for (u32 at = t->begin; at < t->complete;) {
        TraceRun head = trace_run(t->words + at);
        u32 end = at + TRACE_HEAD + head.words;
        for (at += TRACE_HEAD; at < end;) {
            TraceAccess a = trace_access(t->words[at]);
            touch(run, &a, writes(run, head.from + a.insn), t->words + at + 1);
            at += 1 + a.lines;
        }
    }
    trace_reset(t);
}

// --- CTAs --------------------------------------------------------------------------------------------------------
static Status prepare(TimeRun *run) {
    Sample *s = run->sample;
    if (!s->filter) s->filter = mem_zero(FILTER, sizeof *s->filter);
    if (!s->filter) return STATUS_NO_MEMORY;
    s->trace.block_end = run->block_ends;
    s->trace.edits = run->code->edits;
    s->trace.half = (u32)run->machine->gpu->coalesce_lanes;
    s->trace.syncs = &s->syncs;
    trace_reset(&s->trace);
    return STATUS_OK;
}

// Starts the next cluster, or CTA.
static Status start(TimeRun *run) {
    Grid *g = run->grid;
    if (!run->sample->untraced) memset(run->sample->filter, 0, sizeof *run->sample->filter * FILTER);
    places_of(run)->members_left = g->cluster_size;
    for (u32 i = 0; i < g->cluster_size; i++) TRY(grid_cta_start(g, places_of(run) + i, run->next_linear++));
    return STATUS_OK;
}

static Status turn(TimeRun *run, Cta *cta, Warp *w, Diag *diag) {
    Sample *s = run->sample;
    Grid *g = run->grid;
    u64 executed = w->executed;
    u32 sms = run->machine->sm_count, sm = (u32)(cta->linear % sms), place = (u32)(cta->linear / sms % run->limit);
    if (!s->untraced) {
        machine_local(run->machine, run, sm, place, w->index, &s->trace);
        s->trace.clock = run->machine->now;
        w->trace = &s->trace;
    }
    g->exec.shared = cta->shared;
    g->exec.shared_size = cta->shared_size;
    WarpStop stop = warp_run(&g->exec, w, TURN);
    g->executed += w->executed - executed;
    grid_report(g, w->executed - executed, run->ended);
    if (stop == WARP_FAULT) return front_fault(g, diag);
    if (s->trace.failed) return STATUS_NO_MEMORY;
    if (!s->untraced) consume(run);
    return STATUS_OK;
}

// A turn for each warp. *left: warps that are not over. *executed grows.
static Status turns(TimeRun *run, u32 *left, u64 *executed, Diag *diag) {
    *left = 0;
    for (u32 c = 0; c < run->grid->cluster_size; c++) {
        Cta *cta = places_of(run) + c;
        for (u32 i = 0; i < cta->warp_count && cta->used; i++) {
            Warp *w = &cta->warps[i];
            u64 before = w->executed;
            if (!warp_done(w)) TRY(turn(run, cta, w, diag));
            *executed += w->executed - before;
            *left += !warp_done(w);
        }
    }
    return STATUS_OK;
}

// The CTAs under way to their end. *waits: they do not get there.
static Status finish(TimeRun *run, bool *waits, Diag *diag) {
    Sample *s = run->sample;
    u64 executed = 0, polls = run->grid->exec.polls, patience = s->off ? PATIENCE / 16 : PATIENCE;
    for (u32 left = 1; left;) {
        u64 before = executed;
        TRY(turns(run, &left, &executed, diag));
        *waits = left && (executed == before || (executed > patience && run->grid->exec.polls > polls));
        if (!*waits) continue;
        s->off = true;
        return STATUS_OK;
    }
    for (u32 c = 0; c < run->grid->cluster_size; c++) places_of(run)[c].used = false;
    places_of(run)->members_left = 0;
    run->ended += run->grid->cluster_size;
    return STATUS_OK;
}

Status fast_forward(TimeRun *run, bool *waits, Diag *diag) {
    u64 goal;
    TRY(prepare(run));
    TRY(machine_catch_up(run->machine));
    sample_skip_begin(run);
    *waits = false;
    while (!*waits && sample_due(run, &goal) && (places_of(run)->members_left || run->next_linear < goal)) {
        if (!places_of(run)->members_left) TRY(start(run));
        TRY(finish(run, waits, diag));
    }
    if (!*waits) sample_skip_end(run);
    return STATUS_OK;
}
