// SPDX-License-Identifier: Apache-2.0
// Backward slices: which instructions made what an instruction waits for. One step back, not transitive (GPA, section
// 4), but through what the machine has no instruction for. A guarded definition does not end the search: it goes on
// until the guards met cover the use, that is, until P and !P were met, or the guard of the use itself. Guards are
// compared as SSA nodes, so P before and after it was set anew are different ones.
#include "analyze/blame_inside.h"

enum { DEPS_OF_USE = 256, COVERS = 1 << 16, SIDES = 4 };

typedef struct Cover {  // guards met on the way
    u32 node;
    bool negated;
    const struct Cover *before;
} Cover;

typedef struct Visit {
    u32 node, group;
    const Cover *cover;
} Visit;

typedef struct Slicer {
    Blamer *b;
    const Chains *chains;
    Arena covers;
    Vec(Visit) work;
    u32 *node_stamp;  // use + 1 for which the node was met: once, in the first of its groups
    u32 *def_stamp;   // ... for which the instruction was found
    u32 use, groups, first_dep;
} Slicer;

static Status visit(Slicer *s, u32 node, u32 group, const Cover *cover) {
    if (node == WL_NONE || s->node_stamp[node] == s->use + 1) return STATUS_OK;
    s->node_stamp[node] = s->use + 1;
    return vec_push(&s->work, ((Visit){node, group, cover}));
}

static Status add_dep(Slicer *s, u32 def, u32 group) {
    Blamer *b = s->b;
    if (s->def_stamp[def] == s->use + 1 || b->deps.len - s->first_dep >= DEPS_OF_USE) return STATUS_OK;
    s->def_stamp[def] = s->use + 1;
    return vec_push(&b->deps, ((BlameDep){.use = s->use, .def = def, .group = group, .next_reader = WL_NONE}));
}

static bool is_merged_into(const Blamer *b, u32 load, u32 other) {
    const FlowInsn *a = &b->flow->code->insns[load], *c = &b->flow->code->insns[other];
    return c->is_load && !b->insns[other].dropped && a->space == c->space && a->address_use != 0xff &&
           c->address_use != 0xff;
}

// Loads of neighbouring words become one wide load: the nearest one of its block that is issued.
static u32 wide_load(const Blamer *b, u32 load) {
    const FlowBlock *block = &b->flow->cfg->blocks[b->flow->cfg->block_of[load]];
    for (u32 away = 1; away < block->count; away++) {
        if (load >= block->first + away && is_merged_into(b, load, load - away)) return load - away;
        if (load + away < block->first + block->count && is_merged_into(b, load, load + away)) return load + away;
    }
    return WL_NONE;
}

// The sources of an instruction, each a group of its own when there are several.
static Status visit_sources(Slicer *s, u32 insn, u32 group, bool keep_group) {
    const FlowCode *code = s->b->flow->code;
    const FlowInsn *in = &code->insns[insn];
    u32 values = in->guard != WL_NONE;
    for (u32 k = 0; k < in->uses; k++) values += code->operands[in->operands + in->defs + k].kind == FLOW_VALUE;
    if (values > 1) keep_group = false;
    for (u32 k = 0; k < in->uses; k++) {
        u32 operand = in->operands + in->defs + k;
        if (code->operands[operand].kind != FLOW_VALUE) continue;
        TRY(visit(s, s->chains->of_operand[operand], keep_group ? group : ++s->groups, NULL));
    }
    if (in->guard == WL_NONE) return STATUS_OK;
    return visit(s, s->chains->of_guard[insn], keep_group ? group : ++s->groups, NULL);
}

static Status found(Slicer *s, u32 insn, u32 group) {
    Blamer *b = s->b;
    if (b->view->executed && !b->view->executed[insn]) return STATUS_OK;
    if (blame_by_barrier(b, insn)) return STATUS_OK;
    if (!b->insns[insn].dropped) return add_dep(s, insn, group);
    const FlowInsn *in = &b->flow->code->insns[insn];
    if (in->is_load && in->arith != FLOW_LOAD_PARAM) {
        u32 load = wide_load(b, insn);
        return load == WL_NONE ? STATUS_OK : add_dep(s, load, group);
    }
    return visit_sources(s, insn, group, true);
}

// Whether with the guard of `insn` everything that the use can see has been met.
static bool covers(const Slicer *s, u32 insn, const Cover *cover) {
    const FlowInsn *in = &s->b->flow->code->insns[insn], *use = &s->b->flow->code->insns[s->use];
    u32 node = s->chains->of_guard[insn];
    if (use->guard != WL_NONE && s->chains->of_guard[s->use] == node && use->guard_negated == in->guard_negated)
        return true;
    for (; cover; cover = cover->before)
        if (cover->node == node && cover->negated != in->guard_negated) return true;
    return false;
}

static Status visit_definition(Slicer *s, const ChainNode *node, Visit at) {
    TRY(found(s, node->insn, at.group));
    if (!node->arg_count || covers(s, node->insn, at.cover)) return STATUS_OK;
    const FlowInsn *in = &s->b->flow->code->insns[node->insn];
    Cover *cover = NULL;
    if (in->guard != WL_NONE) {
        cover = ARENA_NEW(&s->covers, Cover);
        if (!cover) return STATUS_NO_MEMORY;
        *cover = (Cover){s->chains->of_guard[node->insn], in->guard_negated, at.cover};
    }
    return visit(s, s->chains->args[node->args], at.group, cover);
}

// A conditional branch that the machine has no instruction for: what it decides about is predicated.
static bool is_predicated_away(const Blamer *b, u32 insn) {
    const FlowInsn *in = &b->flow->code->insns[insn];
    bool ran = b->view->executed && b->view->executed[insn];
    return in->kind == FLOW_BRANCH && in->guard != WL_NONE && ran && b->view->issued && !b->view->issued[insn];
}

// The predicates of the sides that the use stands in.
static Status visit_sides(Slicer *s) {
    const Cfg *cfg = s->b->flow->cfg;
    const FlowBlock *block = &cfg->blocks[cfg->block_of[s->use]];
    for (u32 sides = 0; sides < SIDES && block->pred_count == 1; sides++) {
        block = &cfg->blocks[cfg->edges[block->preds]];
        u32 last = block->first + block->count - 1;
        if (!block->count || !is_predicated_away(s->b, last)) break;
        TRY(visit(s, s->chains->of_guard[last], ++s->groups, NULL));
    }
    return STATUS_OK;
}

static Status slice(Slicer *s) {
    TRY(visit_sources(s, s->use, 0, false));
    if (s->b->view->kind == VIEW_PTX) TRY(visit_sides(s));
    while (s->work.len) {
        Visit at = s->work.data[--s->work.len];
        const ChainNode *node = &s->chains->nodes[at.node];
        if (node->insn != WL_NONE) {
            TRY(visit_definition(s, node, at));
            continue;
        }
        // What was met before a merge was met on one of the ways only: the search begins anew behind it.
        for (u32 a = 0; a < node->arg_count; a++) TRY(visit(s, s->chains->args[node->args + a], at.group, NULL));
    }
    return STATUS_OK;
}

static Status slice_all(Slicer *s) {
    Blamer *b = s->b;
    u32 count = b->flow->code->insn_count;
    for (u32 pc = 0; pc < count; pc++) {
        b->first_dep[pc] = s->first_dep = b->deps.len;
        s->use = pc;
        s->groups = 0;
        bool idle = b->view->executed && !b->view->executed[pc];
        if (idle || b->insns[pc].dropped || !b->flow->cfg->blocks[b->flow->cfg->block_of[pc]].reachable) continue;
        TRY(slice(s));
        TRY(blame_scoreboard(b, pc, s->groups));
        if (s->covers.used > COVERS) arena_reset(&s->covers);
    }
    b->first_dep[count] = b->deps.len;
    return STATUS_OK;
}

static void link_readers(Blamer *b) {
    for (u32 pc = 0; pc < b->flow->code->insn_count; pc++) b->first_reader[pc] = WL_NONE;
    for (u32 i = b->deps.len; i-- > 0;) {  // ascending lists
        BlameDep *dep = &b->deps.data[i];
        if (b->flow->code->insns[dep->use].guard != WL_NONE) continue;
        dep->next_reader = b->first_reader[dep->def];
        b->first_reader[dep->def] = i;
    }
}

Status blame_slice(Blamer *b) {
    u32 count = b->flow->code->insn_count;
    Slicer s = {.b = b, .chains = b->flow->chains};
    b->first_dep = ARENA_ARRAY(&b->scratch, u32, count + 1);
    b->first_reader = ARENA_ARRAY(&b->scratch, u32, count + 1);
    s.node_stamp = ARENA_ARRAY(&b->scratch, u32, s.chains->node_count + 1);
    s.def_stamp = ARENA_ARRAY(&b->scratch, u32, count + 1);
    if (!b->first_dep || !b->first_reader || !s.node_stamp || !s.def_stamp) return STATUS_NO_MEMORY;
    Status status = slice_all(&s);
    vec_free(&s.work);
    arena_free(&s.covers);
    if (status == STATUS_OK) status = blame_boards(b);
    if (status == STATUS_OK) link_readers(b);
    return status;
}
