// SPDX-License-Identifier: Apache-2.0
#include "flow/divergence.h"

#include "flow/flow_util.h"

typedef struct BlockMerges {
    u32 first, count;  // nodes
} BlockMerges;

typedef struct DivergenceFinder {
    const Cfg *cfg;
    const FlowCode *code;
    const Chains *chains;
    const Loops *loops;
    const DomTree *postdom;
    DivergenceInfo *out;
    BlockMerges *merges;             // per block
    Bitset joins;                    // blocks where lanes that parted meet
    FlowNumbers nodes;               // work list: nodes that became divergent
    FlowNumbers branches;            // work list: instructions
    u32 *label;                      // per block, in one walk from a branch: block + 1, 0 = not reached
    FlowNumbers labelled;            // blocks with a label
    Bitset pending;                  // positions in rpo
    u32 pending_low, pending_count;  // none below low
} DivergenceFinder;

// --- what an instruction sees -------------------------------------------------------------------------------------

// Made in a loop that lanes leave at different times, and used outside of it.
static bool escapes(const DivergenceInfo *info, u32 from, u32 to) {
    for (u32 l = info->loops->loop_of[from]; l != WL_NONE; l = info->loops->loops[l].parent) {
        if (flow_loop_has(info->loops, l, to)) return false;
        if (bitset_has(&info->temporal, l)) return true;
    }
    return false;
}

bool divergence_of_node(const DivergenceInfo *info, u32 node, u32 block) {
    if (node == WL_NONE) return false;
    return bitset_has(&info->nodes, node) || escapes(info, info->chains->nodes[node].block, block);
}

// With a block shape that is known, whole rows of tid.x make a warp, and its y and z are the same in all lanes.
static bool sreg_differs(const FlowCode *code, const FlowOperand *operand) {
    if (ptx_sregs[operand->id].divergence != DIV_DIVERGENT) return false;
    if (operand->id != SREG_TID || operand->component == 0 || !code->module) return true;
    const u32 *shape = code->module->funcs[code->func].required_threads;
    u32 row = shape[0] * (operand->component >= 2 ? (shape[1] ? shape[1] : 1) : 1);
    return row == 0 || row % 32 != 0;
}

bool divergence_of_use(const DivergenceInfo *info, u32 insn, u32 index) {
    const FlowCode *code = info->chains->cfg->code;
    const FlowOperand *operand = &code->operands[index];
    switch (operand->kind) {
    case FLOW_VALUE:
        return divergence_of_node(info, info->chains->of_operand[index], info->chains->cfg->block_of[insn]);
    case FLOW_SREG: return sreg_differs(code, operand);
    case FLOW_PARAMETER:
    case FLOW_PARAMETER_VALUE: return !code->is_entry;
    default: return false;
    }
}

bool divergence_of_guard(const DivergenceInfo *info, u32 insn) {
    return divergence_of_node(info, info->chains->of_guard[insn], info->chains->cfg->block_of[insn]);
}

bool divergence_of_result(const DivergenceInfo *info, u32 index) {
    const FlowInsn *insn = &info->chains->cfg->code->insns[index];
    for (u32 d = 0; d < insn->defs; d++) {
        u32 node = info->chains->of_operand[insn->operands + d];
        if (node != WL_NONE && bitset_has(&info->nodes, node)) return true;
    }
    return false;
}

bool divergence_of_address(const DivergenceInfo *info, u32 index) {
    const FlowInsn *insn = &info->chains->cfg->code->insns[index];
    u32 first = insn->operands + insn->defs;
    if (insn->address_index && divergence_of_use(info, index, first + insn->address_index - 1u)) return true;
    return insn->address_use != 0xff && divergence_of_use(info, index, first + insn->address_use);
}

static bool any_source_differs(const DivergenceInfo *info, u32 index) {
    const FlowInsn *insn = &info->chains->cfg->code->insns[index];
    for (u32 u = 0; u < insn->uses; u++)
        if (divergence_of_use(info, index, insn->operands + insn->defs + u)) return true;
    return false;
}

// Loads whose address may name memory of each lane's own.
static bool loads_private(const FlowCode *code, const FlowInsn *insn) {
    if (insn->space != SPACE_PARAM) return insn->space == SPACE_NONE || insn->space == SPACE_LOCAL;
    bool own = insn->address_use != 0xff && flow_uses(code, insn)[insn->address_use].kind == FLOW_PARAMETER;
    return !own && !(code->is_entry && insn->address_use != 0xff &&
                     flow_uses(code, insn)[insn->address_use].kind == FLOW_VALUE);
}

static bool makes_difference(const DivergenceInfo *info, u32 index) {
    const FlowCode *code = info->chains->cfg->code;
    const FlowInsn *insn = &code->insns[index];
    if (divergence_of_guard(info, index)) return true;
    switch (insn->divergence) {
    case DIV_UNIFORM: return false;
    case DIV_DIVERGENT: return true;
    case DIV_MEMORY: return loads_private(code, insn) || any_source_differs(info, index);
    default: return any_source_differs(info, index);
    }
}

static bool branch_differs(const DivergenceInfo *info, u32 index) {
    const FlowInsn *insn = &info->chains->cfg->code->insns[index];
    if (insn->kind == FLOW_PLAIN || (insn->kind == FLOW_CALL && !insn->noreturn)) return false;
    if (insn->divergence == DIV_UNIFORM && insn->kind != FLOW_TRAP) return false;
    return divergence_of_guard(info, index) || (insn->kind == FLOW_SWITCH && any_source_differs(info, index));
}

// --- data dependence ----------------------------------------------------------------------------------------------

static Status mark_node(DivergenceFinder *f, u32 node) {
    if (bitset_has(&f->out->nodes, node)) return STATUS_OK;
    bitset_add(&f->out->nodes, node);
    return vec_push(&f->nodes, node);
}

static Status visit_insn(DivergenceFinder *f, u32 index) {
    const FlowInsn *insn = &f->code->insns[index];
    if (!bitset_has(&f->out->branches, index) && branch_differs(f->out, index)) {
        bitset_add(&f->out->branches, index);
        TRY(vec_push(&f->branches, index));
    }
    if (!insn->defs || !makes_difference(f->out, index)) return STATUS_OK;
    for (u32 d = 0; d < insn->defs; d++) {
        u32 node = f->chains->of_operand[insn->operands + d];
        if (node != WL_NONE) TRY(mark_node(f, node));
    }
    return STATUS_OK;
}

// A merge, or a guarded definition that keeps a divergent value.
static Status visit_node(DivergenceFinder *f, u32 index) {
    const ChainNode *node = &f->chains->nodes[index];
    bool differs = node->insn == WL_NONE && bitset_has(&f->joins, node->block);
    for (u32 a = 0; a < node->arg_count && !differs; a++)
        differs = divergence_of_node(f->out, f->chains->args[node->args + a], node->block);
    return differs ? mark_node(f, index) : STATUS_OK;
}

static Status visit_users(DivergenceFinder *f, u32 node) {
    for (u32 u = f->chains->first_user[node]; u < f->chains->first_user[node + 1]; u++) {
        const ChainUser *user = &f->chains->users[u];
        TRY(user->insn == WL_NONE ? visit_node(f, user->operand) : visit_insn(f, user->insn));
    }
    return STATUS_OK;
}

// --- loops left in different iterations ---------------------------------------------------------------------------

static Status visit_users_of_block(DivergenceFinder *f, u32 b) {
    const FlowBlock *block = &f->cfg->blocks[b];
    for (u32 i = block->first; i < block->first + block->count; i++) {
        const FlowInsn *insn = &f->code->insns[i];
        for (u32 d = 0; d < insn->defs; d++) {
            u32 node = f->chains->of_operand[insn->operands + d];
            if (node != WL_NONE) TRY(visit_users(f, node));
        }
    }
    for (u32 m = 0; m < f->merges[b].count; m++) TRY(visit_users(f, f->merges[b].first + m));
    return STATUS_OK;
}

// The loops around the branch that its lanes may leave before they meet again; returns the outermost one.
static Status mark_temporal(DivergenceFinder *f, u32 block, u32 meet, u32 *outermost) {
    *outermost = WL_NONE;
    for (u32 l = f->loops->loop_of[block]; l != WL_NONE; l = f->loops->loops[l].parent) {
        if (meet != WL_NONE && flow_loop_has(f->loops, l, meet)) break;
        *outermost = l;
        if (bitset_has(&f->out->temporal, l)) continue;
        bitset_add(&f->out->temporal, l);
        const FlowLoop *loop = &f->loops->loops[l];
        for (u32 i = 0; i < loop->block_count; i++) TRY(visit_users_of_block(f, f->loops->members[loop->blocks + i]));
    }
    return STATUS_OK;
}

// --- sync dependence ----------------------------------------------------------------------------------------------

typedef struct BranchWalk {
    u32 block;      // of the branch
    u32 meet;       // its immediate post-dominator, WL_NONE = the exit
    u32 outermost;  // loop that lanes may leave in different iterations, WL_NONE = none
    bool leaves;    // ret, exit, trap
} BranchWalk;

static bool leaves_loop(const DivergenceFinder *f, const BranchWalk *walk, u32 from, u32 to) {
    if (walk->outermost == WL_NONE) return false;
    for (u32 l = f->loops->loop_of[walk->block];; l = f->loops->loops[l].parent) {
        if (flow_loop_has(f->loops, l, from)) return !flow_loop_has(f->loops, l, to);
        if (l == walk->outermost) return false;
    }
}

static Status mark_join(DivergenceFinder *f, u32 block) {
    if (bitset_has(&f->joins, block)) return STATUS_OK;
    bitset_add(&f->joins, block);
    for (u32 m = 0; m < f->merges[block].count; m++) TRY(visit_node(f, f->merges[block].first + m));
    return STATUS_OK;
}

static void add_pending(DivergenceFinder *f, u32 at) {
    if (bitset_has(&f->pending, at)) return;
    bitset_add(&f->pending, at);
    f->pending_count++;
    if (at < f->pending_low) f->pending_low = at;
}

// In reverse post-order, so that a label is final before it is passed on, as far as cycles allow.
static Status spread(DivergenceFinder *f, u32 to, u32 label, bool joins) {
    u32 *old = &f->label[to];
    if (*old == label && !joins) return STATUS_OK;
    if (*old == 0)
        TRY(vec_push(&f->labelled, to));
    else
        joins |= *old != label;
    if (joins) {
        TRY(mark_join(f, to));
        label = to + 1;
        if (*old == label) return STATUS_OK;
    }
    *old = label;
    add_pending(f, f->cfg->rpo_index[to]);
    return STATUS_OK;
}

static Status spread_from(DivergenceFinder *f, const BranchWalk *walk, u32 b) {
    if (b == walk->meet || b == walk->block) return STATUS_OK;
    const FlowBlock *block = &f->cfg->blocks[b];
    for (u32 s = 0; s < block->succ_count; s++) {
        u32 to = f->cfg->edges[block->succs + s];
        bool leaves = leaves_loop(f, walk, b, to);
        TRY(spread(f, to, leaves ? to + 1 : f->label[b], leaves));
    }
    return STATUS_OK;
}

// Whether lanes can begin another round before they meet, other than of loops whose values are taken to differ outside
// of them: around a loop that has the meeting point inside, or an irreducible one.
static bool mixes_rounds(const DivergenceFinder *f, const BranchWalk *walk) {
    for (u32 l = f->loops->loop_of[walk->block]; l != WL_NONE && !walk->leaves; l = f->loops->loops[l].parent) {
        const FlowLoop *loop = &f->loops->loops[l];
        bool meets_inside = walk->meet != WL_NONE && flow_loop_has(f->loops, l, walk->meet);
        if (loop->irreducible || (meets_inside && loop->header != walk->meet && f->label[loop->header])) return true;
    }
    return false;
}

// Then some lanes wait at the meeting point while others run parts of the region once more: all made there differs.
static Status mark_region(DivergenceFinder *f, const BranchWalk *walk) {
    for (u32 i = 0; i < f->labelled.len; i++) {
        u32 b = f->labelled.data[i];
        TRY(mark_join(f, b));
        const FlowBlock *block = &f->cfg->blocks[b];
        for (u32 at = block->first; at < block->first + block->count && b != walk->meet; at++) {
            const FlowInsn *insn = &f->code->insns[at];
            for (u32 d = insn->operands; d < insn->operands + insn->defs; d++)
                if (f->chains->of_operand[d] != WL_NONE) TRY(mark_node(f, f->chains->of_operand[d]));
        }
    }
    return STATUS_OK;
}

static Status walk_region(DivergenceFinder *f, const BranchWalk *walk) {
    const FlowBlock *block = &f->cfg->blocks[walk->block];
    for (u32 s = 0; s < block->succ_count; s++) {
        u32 to = f->cfg->edges[block->succs + s];
        TRY(spread(f, to, to + 1, leaves_loop(f, walk, walk->block, to)));
    }
    while (f->pending_count > 0) {
        u32 at = bitset_next(&f->pending, f->pending_low);
        bitset_remove(&f->pending, at);
        f->pending_low = at;
        f->pending_count--;
        TRY(spread_from(f, walk, f->cfg->rpo[at]));
    }
    if (mixes_rounds(f, walk)) TRY(mark_region(f, walk));
    for (u32 i = 0; i < f->labelled.len; i++) {
        u32 b = f->labelled.data[i];
        f->label[b] = 0;
        if (b != walk->meet) bitset_add(&f->out->partial, b);
    }
    f->labelled.len = 0;
    return STATUS_OK;
}

// Lanes that leave the function do not come back: nothing joins and no value is seen late.
static Status visit_branch(DivergenceFinder *f, u32 index) {
    const FlowInsn *insn = &f->code->insns[index];
    BranchWalk walk = {.block = f->cfg->block_of[index], .outermost = WL_NONE};
    walk.meet = f->postdom->parent[walk.block];
    walk.leaves = insn->kind != FLOW_BRANCH && insn->kind != FLOW_SWITCH;
    if (!walk.leaves) TRY(mark_temporal(f, walk.block, walk.meet, &walk.outermost));
    return walk_region(f, &walk);
}

// --- all together -------------------------------------------------------------------------------------------------

static Status find_all(DivergenceFinder *f) {
    for (u32 i = 0; i < f->code->insn_count; i++)
        if (f->cfg->blocks[f->cfg->block_of[i]].reachable) TRY(visit_insn(f, i));
    while (f->nodes.len || f->branches.len) {
        if (f->nodes.len)
            TRY(visit_users(f, f->nodes.data[--f->nodes.len]));
        else
            TRY(visit_branch(f, f->branches.data[--f->branches.len]));
    }
    return STATUS_OK;
}

static Status build(DivergenceFinder *f, Arena *arena, Arena *scratch) {
    u32 blocks = f->cfg->block_count;
    f->merges = ARENA_ARRAY(scratch, BlockMerges, blocks);
    f->label = ARENA_ARRAY(scratch, u32, blocks);
    bool made =
        f->merges && f->label && bitset_init(&f->joins, scratch, blocks) && bitset_init(&f->pending, scratch, blocks) &&
        bitset_init(&f->out->nodes, arena, f->chains->node_count + 1) &&
        bitset_init(&f->out->branches, arena, f->code->insn_count + 1) &&
        bitset_init(&f->out->partial, arena, blocks) && bitset_init(&f->out->temporal, arena, f->loops->loop_count + 1);
    if (!made) return STATUS_NO_MEMORY;
    for (u32 n = f->chains->def_count; n < f->chains->node_count; n++) {
        BlockMerges *merges = &f->merges[f->chains->nodes[n].block];
        if (merges->count++ == 0) merges->first = n;
    }
    return find_all(f);
}

Status flow_divergence(const Chains *chains, const Loops *loops, const DomTree *postdominators, Arena *arena,
                       DivergenceInfo **info) {
    *info = NULL;
    DivergenceInfo *result = ARENA_NEW(arena, DivergenceInfo);
    if (!result) return STATUS_NO_MEMORY;
    result->chains = chains;
    result->loops = loops;
    DivergenceFinder finder = {.cfg = chains->cfg,
                               .code = chains->cfg->code,
                               .chains = chains,
                               .loops = loops,
                               .postdom = postdominators,
                               .out = result};
    Arena scratch = {0};
    Status status = build(&finder, arena, &scratch);
    vec_free(&finder.nodes);
    vec_free(&finder.branches);
    vec_free(&finder.labelled);
    arena_free(&scratch);
    if (status == STATUS_OK) *info = result;
    return status;
}
