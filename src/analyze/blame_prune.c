// SPDX-License-Identifier: Apache-2.0
// Which of the instructions behind a use can have caused a stall of this reason: GPA's three rules (section 4, "Prune
// cold edges"). A rule that would leave nothing does not apply: the samples have a cause, so the rule was wrong there.
#include <math.h>
#include <stdlib.h>

#include "analyze/blame_inside.h"

typedef bool (*Rule)(Blamer *b, u32 use, StallReason reason, const BlameSource *source);

// 1. Only what is waited for under this name.
static bool other_opcode(Blamer *b, u32 use, StallReason reason, const BlameSource *source) {
    (void)use;
    return !(b->insns[source->def].reasons & REASON_BIT(reason));
}

// What overwrites the sources of a load waits until they have been read, which is another barrier than that of the
// data.
static bool waits_for_other(const BlameDep *reader, const BlameSource *source) {
    return reader->barriers && source->barriers && !(reader->barriers & source->barriers);
}

// 2. Another instruction, not under a guard, reads the same result on every way: the stall would have been seen there.
static bool seen_before(Blamer *b, u32 use, StallReason reason, const BlameSource *source) {
    (void)reason;
    if (source->mate) return false;  // of the first that waits for it
    for (u32 i = b->first_reader[source->def]; i != WL_NONE; i = b->deps.data[i].next_reader) {
        const BlameDep *reader = &b->deps.data[i];
        if (!waits_for_other(reader, source) && blame_on_every_path(b, source->def, reader->use, use)) return true;
    }
    return false;
}

// 3. More instructions lie between on every way than the result can take cycles.
static bool too_far(Blamer *b, u32 use, StallReason reason, const BlameSource *source) {
    (void)use;
    (void)reason;
    return source->path.found && source->path.least > (f32)b->insns[source->def].upper;
}

// Cycles until an access has read its registers, on an idle SM: a store's way to the L1 (store_drain, measured) without
// the end of its warp.
static f64 until_read(const Blamer *b) {
    const GpuModel *g = b->view->gpu;
    return g ? (f64)g->store_drain - (f64)g->exit_latency : 0;
}

// When a result is there; when registers that the use overwrites have been read, long before what is loaded arrives.
static f64 ready_of(const Blamer *b, u32 use, const BlameSource *source) {
    const BlameInsn *def = &b->insns[source->def];
    f64 cycles, takes = (f64)def->latency + (f64)def->later, read = until_read(b);
    if (!blame_stall_cycles(b, source->def, use, &cycles)) cycles = source->path.found ? (f64)source->path.least : 0;
    if (read > 0 && blame_is_war(b, use, source->def)) takes = fmin(takes, read);
    return takes - cycles;
}

// 4. In the machine's order: of what takes a fixed time, only what comes last is waited for.
static void keep_last(Blamer *b, BlameSources *sources) {
    const f64 slack = 0.5;  // places are those of an instruction's middle step
    f64 last = -INFINITY;
    u32 kept = 0;
    if (!b->earlier || b->options.no_turns) return;
    for (u32 i = 0; i < sources->list.len; i++) last = fmax(last, sources->list.data[i].ready);
    for (u32 i = 0; i < sources->list.len; i++)
        if (sources->list.data[i].ready >= last - slack) sources->list.data[kept++] = sources->list.data[i];
    sources->list.len = kept;
}

// Machine code: the stall counts between the two are longer than the result takes. Then it was not waited for, even
// when nothing else is known: what is left is the instruction before (blame_region.c).
static bool was_ready(Blamer *b, u32 use, StallReason reason, const BlameSource *source) {
    enum { SLACK = 2 };  // by which a latency may be longer than that of its class
    f64 cycles;
    bool fixed = reason == STALL_WAIT && b->insns[source->def].reasons == REASON_BIT(STALL_WAIT);
    return fixed && blame_stall_cycles(b, source->def, use, &cycles) &&
           cycles > (f64)b->insns[source->def].latency + SLACK;
}

static u32 keep(Blamer *b, u32 use, StallReason reason, BlameSources *sources, Rule rule) {
    u32 kept = 0;
    for (u32 i = 0; i < sources->list.len; i++) {
        BlameSource source = sources->list.data[i];
        if (rule(b, use, reason, &source)) continue;
        sources->list.data[i] = sources->list.data[kept];
        sources->list.data[kept++] = source;
    }
    return kept;
}

static void apply(Blamer *b, u32 use, StallReason reason, BlameSources *sources, Rule rule) {
    u32 kept = keep(b, use, reason, sources, rule);
    if (kept) sources->list.len = kept;
}

// Whether a source other than constants is left: those are read by the steps themselves, as far as is known.
static bool has_result(const Blamer *b, const BlameSources *sources) {
    for (u32 i = 0; i < sources->list.len; i++)
        if (b->insns[sources->list.data[i].def].class != BLAME_CONSTANT) return true;
    return false;
}

// A use of several steps has waited for one of its own where no source is waited for under that name: an address that
// is a constant and a sum waits for the constant.
static void prune_names(Blamer *b, u32 use, StallReason reason, BlameSources *sources, bool steps) {
    u32 kept = keep(b, use, reason, sources, other_opcode);
    bool inner = steps && (reason == STALL_WAIT || reason == STALL_SHORT_SCOREBOARD);
    if (kept || inner) sources->list.len = kept;
    if (!inner || (kept && (reason == STALL_WAIT || has_result(b, sources)))) return;
    sources->own = true;
    sources->list.len = 0;
}

static int by_group(const void *left, const void *right) {
    const BlameSource *a = left, *b = right;
    if (a->group != b->group) return a->group < b->group ? -1 : 1;
    return (a->def > b->def) - (a->def < b->def);
}

Status blame_sources(Blamer *b, u32 use, StallReason reason, BlameSources *sources) {
    sources->list.len = 0;
    const BlameInsn *insn = &b->insns[use];
    bool branch = b->flow->code->insns[use].kind != FLOW_PLAIN;  // whose steps do not wait for each other
    bool steps = !b->options.no_own_steps && b->view->kind == VIEW_PTX && insn->steps > 1.5f && !branch;
    sources->own = steps && insn->reasons & REASON_BIT(reason);
    if (reason == STALL_IMC_MISS && blame_reads_constant(b, use)) return sources->own = true, STATUS_OK;
    for (u32 i = b->first_dep[use]; i < b->first_dep[use + 1]; i++) {
        const BlameDep *dep = &b->deps.data[i];
        if (steps && dep->def == use) continue;
        BlameSource source = {.def = dep->def, .group = dep->group, .mate = dep->mate, .barriers = dep->barriers};
        TRY(vec_push(&sources->list, source));
    }
    sources->before = sources->list.len;
    // Pruned before lengths are looked up: most sources go here.
    if (!b->options.no_opcode_pruning && sources->list.len) prune_names(b, use, reason, sources, steps);
    for (u32 i = 0; i < sources->list.len; i++) {
        BlameSource *source = &sources->list.data[i];
        source->path = source->mate ? blame_path_in_block(b, source->def, use) : blame_path(b, source->def, use);
    }
    if (!b->options.no_dominator_pruning && sources->list.len > 1) apply(b, use, reason, sources, seen_before);
    if (!b->options.no_latency_pruning && sources->list.len > 1) apply(b, use, reason, sources, too_far);
    if (!b->options.no_latency_pruning) sources->list.len = keep(b, use, reason, sources, was_ready);
    for (u32 i = 0; i < sources->list.len; i++) sources->list.data[i].ready = ready_of(b, use, &sources->list.data[i]);
    if (reason == STALL_WAIT) TRY(blame_turns(b, use, sources));
    if (reason == STALL_WAIT) keep_last(b, sources);
    if (sources->list.len) qsort(sources->list.data, sources->list.len, sizeof *sources->list.data, by_group);
    return STATUS_OK;
}
