// SPDX-License-Identifier: Apache-2.0
// One kernel as the rules see it: its function and the device functions that it calls, each with its stalls blamed.
#include "analyze/advice/rule.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/bitset.h"

enum { CASE_PARTS = 64 };  // functions of a kernel that are looked at

// --- parts ---------------------------------------------------------------------------------------------------------
static bool reaches(const CallGraph *calls, FuncRef from, FuncRef to, Bitset *seen) {
    const CallNode *node = &calls->nodes[from];
    for (u32 i = 0; i < node->callee_count; i++) {
        FuncRef callee = calls->edges[node->callees + i];
        if (callee == to) return true;
        if (bitset_has(seen, callee)) continue;
        bitset_add(seen, callee);
        if (reaches(calls, callee, to, seen)) return true;
    }
    return false;
}

static Status calls_it(const KernelView *kernel, FuncRef to, Arena *scratch, bool *does) {
    const FlowResults *flow = &kernel->flow;
    *does = false;
    if (!flow->code || !flow->code->module || !flow->calls) return STATUS_OK;
    Bitset seen;
    if (!bitset_init(&seen, scratch, flow->code->module->func_count)) return STATUS_NO_MEMORY;
    *does = reaches(flow->calls, flow->code->func, to, &seen);
    return STATUS_OK;
}

// The part of a device function's samples that belongs to this kernel: they do not say who called. By the samples of
// the kernels that reach it.
static Status weigh_part(const AdviceContext *x, const KernelView *kernel, FuncRef func, Arena *scratch, f64 *weight) {
    f64 all = 0;
    *weight = 0;
    for (u32 i = 0; i < x->kernel_count; i++) {
        const KernelView *k = x->kernels[i];
        bool does = k == kernel;
        if (k->function->module_id != kernel->function->module_id) continue;
        if (!does) TRY(calls_it(k, func, scratch, &does));
        if (does) all += (f64)k->total;
    }
    *weight = all > 0 ? (f64)kernel->total / all : 1;
    return STATUS_OK;
}

static const ProfileFunction *find_function(const AdviceContext *x, u32 module, const char *name) {
    for (u32 i = 0; i < x->function_count; i++)
        if (x->functions[i].module_id == module && !strcmp(x->functions[i].name, name)) return &x->functions[i];
    return NULL;
}

static Status add_part(const AdviceContext *x, AdviceCase *c, const KernelView *view, f64 weight) {
    CasePart *part = &c->parts[c->part_count];
    *part = (CasePart){.view = view, .weight = weight};
    Blame *blame;
    TRY(blame_kernel(view, &(BlameOptions){.known_causes = true}, x->arena, &blame));
    part->blame = blame;
    c->part_count++;
    return STATUS_OK;
}

static Status add_callees(const AdviceContext *x, AdviceCase *c) {
    const FlowResults *flow = &c->view->flow;
    if (!flow->code->module || !flow->calls || !flow->calls->nodes[flow->code->func].callee_count) return STATUS_OK;
    const Module *m = flow->code->module;
    Bitset seen;
    if (!bitset_init(&seen, c->scratch, m->func_count)) return STATUS_NO_MEMORY;
    for (FuncRef f = 0; f < m->func_count && c->part_count < CASE_PARTS; f++) {
        bitset_clear(&seen);
        if (m->funcs[f].is_entry || !m->funcs[f].has_body || !reaches(flow->calls, flow->code->func, f, &seen))
            continue;
        const ProfileFunction *function =
            find_function(x, c->view->function->module_id, module_text(m, m->funcs[f].name));
        const KernelView *view;
        f64 weight;
        if (!function) continue;
        TRY(kernel_views_get(x->views, function, &view, x->diag));
        if (!view->total || !view->flow.code) continue;
        TRY(weigh_part(x, c->view, f, c->scratch, &weight));
        TRY(add_part(x, c, view, weight));
    }
    return STATUS_OK;
}

// --- instructions --------------------------------------------------------------------------------------------------
static u64 sum(const u64 *values, u32 count) {
    u64 all = 0;
    for (u32 i = 0; i < count; i++) all += values[i];
    return all;
}

// Counts are exact where samples of issues are few: they are scaled to samples.
static void fill_issues(CasePart *part) {
    const KernelView *v = part->view;
    const u64 *issued = v->issued ? v->issued : v->executed;
    u64 all = issued ? sum(issued, v->insn_count) : 0;
    f64 scale = all ? part->weight * (f64)v->total_issued / (f64)all : 0;
    for (u32 pc = 0; pc < v->insn_count; pc++) {
        CaseInsn *in = &part->insns[pc];
        in->issued = all ? scale * (f64)issued[pc] : part->weight * (f64)v->samples[pc].all[STALL_SELECTED];
        in->executed = all && v->executed ? scale * (f64)v->executed[pc] : in->issued;
        for (u32 r = STALL_NOT_SELECTED + 1; r < STALL_COUNT; r++)
            in->stalled += part->weight * (f64)v->samples[pc].all[r];
    }
}

// Samples of a GPU give an issue behind a jump to the instruction that stands behind the jump, not to where it went:
// the first one of a block has those of jumps over it, and lacks its own. So does BSYNC, at which each group of lanes
// arrives, and what stands behind it (an H200: hologram, starlings and vortices of examples/advice).
static u32 wrongly_sampled(const CasePart *part, const FlowBlock *block) {
    const SassInsn *first = part->view->flow.code->sass && block->count ? insn_machine(part, block->first) : NULL;
    return !first ? 0 : first->op == SASS_OP_BSYNC ? 2 : 1;
}

// How often the block ran, by those of its samples that are its own.
static f64 sampled_runs(const CasePart *part, const FlowBlock *block) {
    u32 wrong = wrongly_sampled(part, block), first = block->count > wrong ? block->first + wrong : block->first;
    f64 issued = 0, waited = 0, count = block->first + block->count - first;
    for (u32 pc = first; pc < block->first + block->count; pc++) {
        issued += part->insns[pc].issued;
        waited += part->insns[pc].stalled;
    }
    return (issued > 0 ? issued : fmin(waited, 0.5)) / count;  // it ran, and was never caught issuing
}

// Samples at the first instruction of the block of those who jumped over it, or back, by the branch ahead of it.
static f64 of_jumps(const CasePart *part, const FlowBlock *block) {
    const FlowResults *flow = &part->view->flow;
    const FlowInsn *before = block->first ? case_insn(part, block->first - 1) : NULL;
    if (!before || before->kind != FLOW_BRANCH || before->target_count != 1) return 0;
    u32 to = flow->code->targets[before->targets];
    return to < flow->code->insn_count ? fmax(part->insns[to].executed - part->insns[to].issued, 0) : 0;
}

// Issues of the BSYNC that the block begins with.
static f64 meetings(const CasePart *part, const FlowBlock *block) {
    const CaseInsn *insns = &part->insns[block->first];
    f64 runs = insns[0].executed;
    return block->count > 2 ? fmax(insns[0].issued - of_jumps(part, block) + insns[1].issued - runs, runs) : runs;
}

// All instructions of a block run equally often; of each only a few samples may have caught it issuing, or none.
// Together they have issued as often as was sampled, also where blocks are added that ran and were never caught at it.
static Status even_out(AdviceCase *c, CasePart *part) {
    const Cfg *cfg = part->view->flow.cfg;
    f64 sampled = 0, all = 0, *first = ARENA_ARRAY(c->scratch, f64, cfg->block_count + 1);
    if (!first) return STATUS_NO_MEMORY;
    for (u32 b = 0; b < cfg->block_count; b++) {
        const FlowBlock *block = &cfg->blocks[b];
        f64 runs = sampled_runs(part, block);
        for (u32 pc = block->first; pc < block->first + block->count; pc++) part->insns[pc].executed = runs;
    }
    for (u32 b = 0; b < cfg->block_count; b++) {
        const FlowBlock *block = &cfg->blocks[b];
        first[b] = wrongly_sampled(part, block) == 2 ? meetings(part, block) : part->insns[block->first].executed;
    }
    for (u32 pc = 0; pc < part->view->insn_count; pc++) {
        u32 b = cfg->block_of[pc];
        sampled += part->insns[pc].issued;
        part->insns[pc].issued = pc == cfg->blocks[b].first ? first[b] : part->insns[pc].executed;
        all += part->insns[pc].issued;
    }
    for (u32 pc = 0; pc < part->view->insn_count && all > 0 && sampled > 0; pc++) {
        part->insns[pc].issued *= sampled / all;
        part->insns[pc].executed *= sampled / all;
    }
    return STATUS_OK;
}

static Status index_blame(AdviceCase *c, CasePart *part) {
    const Blame *b = part->blame;
    u32 count = part->view->insn_count;
    u32 *first = ARENA_ARRAY(c->scratch, u32, count + 2), *edges = ARENA_ARRAY(c->scratch, u32, b->edge_count + 1);
    u32 *next = ARENA_ARRAY(c->scratch, u32, count + 2);
    if (!first || !edges || !next) return STATUS_NO_MEMORY;
    for (u32 i = 0; i < b->edge_count; i++) first[b->edges[i].def + 1]++;
    for (u32 pc = 0; pc < count; pc++) next[pc + 1] = first[pc + 1] += first[pc];
    for (u32 i = 0; i < b->edge_count; i++) edges[next[b->edges[i].def]++] = i;
    part->first_blaming = first;
    part->blaming = edges;
    for (u32 i = 0; i < b->edge_count; i++)
        if (b->edges[i].reason != STALL_NOT_SELECTED)
            part->insns[b->edges[i].def].blamed += part->weight * b->edges[i].samples;
    return STATUS_OK;
}

static Status fill_part(AdviceCase *c, CasePart *part) {
    const KernelView *v = part->view;
    const FlowResults *flow = &v->flow;
    part->insns = ARENA_ARRAY(c->scratch, CaseInsn, v->insn_count + 1);
    if (!part->insns) return STATUS_NO_MEMORY;
    for (u32 pc = 0; pc < v->insn_count; pc++) {
        part->insns[pc].traits = insn_traits(v, pc);
        part->insns[pc].loop = flow->loops->loop_of[flow->cfg->block_of[pc]];
        part->insns[pc].access = WL_NONE;
    }
    fill_issues(part);
    if (!v->executed && !v->issued) TRY(even_out(c, part));
    TRY(index_blame(c, part));
    TRY(case_find_loops(c, part));
    TRY(case_find_accesses(c, part));
    case_find_spins(part);
    case_find_skips(part);
    return STATUS_OK;
}

// --- the case ------------------------------------------------------------------------------------------------------
static Status make(const AdviceContext *x, AdviceCase *c) {
    c->parts = ARENA_ARRAY(c->scratch, CasePart, CASE_PARTS);
    if (!c->parts) return STATUS_NO_MEMORY;
    TRY(add_part(x, c, c->view, 1));
    TRY(add_callees(x, c));
    for (u32 p = 0; p < c->part_count; p++) TRY(fill_part(c, &c->parts[p]));
    return case_find_load(c);
}

Status case_make(const AdviceContext *x, const KernelView *view, Arena *scratch, AdviceCase *c) {
    *c = (AdviceCase){.context = x, .view = view, .gpu = view->gpu, .arena = x->arena, .scratch = scratch};
    if (!view->total || !view->flow.code) return STATUS_OK;
    return make(x, c);
}

void case_free(AdviceCase *c) {
    for (u32 i = 0; i < c->hits.len; i++) {
        vec_free(&c->hits.data[i]->spots);
        vec_free(&c->hits.data[i]->facts);
        vec_free(&c->hits.data[i]->edits);
    }
    vec_free(&c->hits);
}

// --- words ---------------------------------------------------------------------------------------------------------
const char *case_vprintf(AdviceCase *c, const char *format, va_list args) {
    va_list again;
    va_copy(again, args);
    int size = vsnprintf(NULL, 0, format, args);
    char *text = size >= 0 ? arena_alloc(c->arena, (size_t)size + 1, 1) : NULL;
    if (text)
        vsnprintf(text, (size_t)size + 1, format, again);
    else
        c->status = STATUS_NO_MEMORY;
    va_end(again);
    return text ? text : "";
}

const char *case_printf(AdviceCase *c, const char *format, ...) {
    va_list args;
    va_start(args, format);
    const char *text = case_vprintf(c, format, args);
    va_end(args);
    return text;
}

const char *place_text(AdviceCase *c, const CasePart *part, u32 pc) {
    const ProfilePlace *p = &part->view->places[pc];
    const char *slash = p->file ? strrchr(p->file, '/') : NULL;
    if (p->file && p->line) return case_printf(c, "%s:%u", slash ? slash + 1 : p->file, p->line);
    if (p->line) return case_printf(c, "PTX line %u", p->line);
    return case_printf(c, "instruction %u of %s", pc, part->view->function->name);
}

bool same_line(const CasePart *part, u32 a, u32 b) {
    const ProfilePlace *x = &part->view->places[a], *y = &part->view->places[b];
    if (!x->line || !y->line) return a == b;
    return x->line == y->line && (x->file == y->file || (x->file && y->file && !strcmp(x->file, y->file)));
}

f64 case_stalls(const AdviceCase *c, u32 reasons) {
    f64 all = 0;
    for (u32 r = 0; r < STALL_COUNT; r++)
        if (reasons & 1u << r) all += c->stalls[r];
    return all;
}

// --- instructions, for rules ---------------------------------------------------------------------------------------
f64 block_runs(const CasePart *part, u32 block) {
    const FlowBlock *b = &part->view->flow.cfg->blocks[block];
    f64 most = 0;
    for (u32 pc = b->first; pc < b->first + b->count; pc++) most = fmax(most, part->insns[pc].executed);
    return most;
}

const char *insn_routine(const CasePart *part, u32 pc) {
    const FlowCode *code = part->view->flow.code;
    const char *name = NULL;
    if (!code->sass) return NULL;
    const SassFunction *f = &code->sass->functions.data[code->func];
    u32 offset = code->sass->insns.data[f->first + pc].offset;
    for (u32 i = 0; i < f->routine_count; i++) {
        const SassRoutine *r = &code->sass->routines.data[f->first_routine + i];
        if (r->offset <= offset) name = r->name;
    }
    return name;
}

bool insn_calls_outside(const CasePart *part, u32 pc) {
    const FlowCode *code = part->view->flow.code;
    const FlowInsn *in = case_insn(part, pc);
    if (!(part->insns[pc].traits & TRAIT_CALL) || in->kind != FLOW_CALL) return false;
    if (!code->sass) return in->callee == WL_NONE || !code->module->funcs[in->callee].has_body;
    const SassInsn *insn = &code->sass->insns.data[code->sass->functions.data[code->func].first + pc];
    const SassOperand *last = code->sass->operands.data + insn->operands + insn->operand_count;
    return !insn->operand_count || last[-1].kind == SASS_OPERAND_REG;
}

const char *callee_name(const CasePart *part, u32 pc) {
    static const struct {
        const char *begin, *name;
    } names[] = {
        {"vprintf", "printf"}, {"__cudaCDP2", "launches of kernels"}, {"cudaLaunchDevice", "launches of kernels"}};
    const Module *module = part->view->flow.code->module;
    const char *name = module_text(module, module->funcs[case_insn(part, pc)->callee].name);
    for (u32 i = 0; i < WL_COUNT(names); i++)
        if (!strncmp(name, names[i].begin, strlen(names[i].begin))) return names[i].name;
    return name;
}

f64 case_outside(const AdviceCase *c, const CasePart **where, u32 *at) {
    f64 all = 0, most = 0;
    for (u32 p = 0; p < c->part_count; p++) {
        const CasePart *part = &c->parts[p];
        if (part->view->flow.code->sass) continue;
        for (u32 pc = 0; pc < part->view->insn_count; pc++) {
            if (case_insn(part, pc)->callee == WL_NONE || !insn_calls_outside(part, pc)) continue;
            f64 samples = part->insns[pc].issued + part->insns[pc].blamed;
            all += samples;
            if (samples > most) most = samples, *where = part, *at = pc;
        }
    }
    return case_share(c, all);
}

bool insn_calls_itself(AdviceCase *c, const CasePart *part, u32 pc) {
    const FlowResults *flow = &part->view->flow;
    u32 callee = case_insn(part, pc)->callee;
    Bitset seen;
    if (case_insn(part, pc)->kind != FLOW_CALL || callee == WL_NONE || !flow->code->module || !flow->calls)
        return false;
    if (!bitset_init(&seen, c->scratch, flow->code->module->func_count)) return c->status = STATUS_NO_MEMORY, false;
    return reaches(flow->calls, callee, callee, &seen);
}

f64 insn_steps(const CasePart *part, u32 pc) {
    const CaseInsn *in = &part->insns[pc];
    return in->executed > 0 ? in->issued / in->executed : 1;
}

u32 insn_source(const CasePart *part, u32 pc, u32 use) {
    const FlowInsn *in = case_insn(part, pc);
    const Chains *chains = part->view->flow.chains;
    if (use >= in->uses) return WL_NONE;
    u32 node = chains->of_operand[in->operands + in->defs + use];
    return node == WL_NONE ? WL_NONE : chains->nodes[node].insn;
}

u32 insn_reads(const CasePart *part, u32 pc, const SassReg *reg) {
    const FlowCode *code = part->view->flow.code;
    const FlowInsn *in = &code->insns[pc];
    for (u32 u = 0; u < in->uses; u++) {
        u32 operand = in->operands + in->defs + u;
        if (code->operands[operand].kind != FLOW_VALUE) continue;
        const SassReg *read = &code->value_regs[code->operands[operand].id];
        if (read->file == reg->file && read->index == reg->index) return operand;
    }
    return WL_NONE;
}

bool insn_feeds(const CasePart *part, u32 pc, u32 depth, bool (*wanted)(const CasePart *part, u32 pc, u32 from)) {
    const FlowInsn *in = case_insn(part, pc);
    const Chains *chains = part->view->flow.chains;
    for (u32 d = 0; d < in->defs; d++) {
        u32 node = chains->of_operand[in->operands + d];
        if (node == WL_NONE) continue;
        for (u32 i = chains->first_user[node]; i < chains->first_user[node + 1]; i++) {
            u32 user = chains->users[i].insn;
            if (user == WL_NONE) continue;
            if (wanted(part, user, pc)) return true;
            bool guards = chains->users[i].operand == WL_NONE;  // says whether, not what
            bool passes = !guards && part->insns[user].traits & TRAIT_ARITHMETIC;
            if (passes && depth > 1 && insn_feeds(part, user, depth - 1, wanted)) return true;
        }
    }
    return false;
}
