// SPDX-License-Identifier: Apache-2.0
#include "flow/chains.h"

#include <stdlib.h>
#include <string.h>

#include "flow/flow_util.h"

// While building, a reference is a definition (below def_count), a candidate merge (def_count + its position in
// Liveness.values), UNDEFINED, or UNKNOWN: not resolved yet.
enum { UNDEFINED = WL_NONE, UNKNOWN = WL_NONE - 1, MAX_CHANGES = 16 };

typedef struct Candidate {
    u32 pair;  // position in Liveness.values
    u32 block;
    u32 args, arg_count;  // ChainBuilder.args
} Candidate;

typedef struct ChainBuilder {
    const Liveness *live;
    const Cfg *cfg;
    const FlowCode *code;
    Chains *out;
    u32 *only_def;              // value: its single definition when that one dominates all uses, WL_NONE otherwise
    u32 *def_total;             // value: definitions in reachable code
    FlowGroups last_defs;       // block: definitions at its end, ascending by value
    Vec(Candidate) candidates;  // in reverse post-order of blocks
    FlowNumbers args;           // references
    u32 *resolved;              // pair: reference
    u8 *changes;                // pair: how often `resolved` changed
    u32 *merge_of;              // pair: node, for those that stay merges
    u32 *current;               // value: node at the point of the walk, when stamp[value] says so
    u32 *stamp;                 // value: block + 1
} ChainBuilder;

static Status count_definitions(ChainBuilder *c, Arena *arena) {
    u32 defs = 0;
    for (u32 i = 0; i < c->code->insn_count; i++) {
        const FlowInsn *insn = &c->code->insns[i];
        for (u32 d = 0; d < insn->defs; d++) defs += flow_defs(c->code, insn)[d].kind == FLOW_VALUE;
    }
    c->out->def_count = defs;
    c->out->of_operand = ARENA_ARRAY(arena, u32, (size_t)c->code->operand_count + 1);
    c->out->of_guard = ARENA_ARRAY(arena, u32, (size_t)c->code->insn_count + 1);
    if (!c->out->of_operand || !c->out->of_guard) return STATUS_NO_MEMORY;
    memset(c->out->of_operand, 0xff, sizeof(u32) * c->code->operand_count);
    memset(c->out->of_guard, 0xff, sizeof(u32) * c->code->insn_count);
    return (u64)defs + c->live->first[c->cfg->block_count] < UNKNOWN ? STATUS_OK : STATUS_LIMIT;
}

static void number_definitions(ChainBuilder *c) {
    u32 node = 0;
    for (u32 i = 0; i < c->code->insn_count; i++) {
        const FlowInsn *insn = &c->code->insns[i];
        u32 block = c->cfg->block_of[i];
        bool reachable = c->cfg->blocks[block].reachable;
        for (u32 d = 0; d < insn->defs; d++) {
            u32 operand = insn->operands + d;
            if (c->code->operands[operand].kind != FLOW_VALUE) continue;
            u32 value = c->code->operands[operand].id;
            c->out->nodes[node] = (ChainNode){.value = value, .block = block, .insn = i, .operand = operand};
            c->out->of_operand[operand] = node;
            if (reachable) {
                bool only = c->def_total[value]++ == 0 && insn->guard == WL_NONE && !liveness_has_in(c->live, 0, value);
                c->only_def[value] = only ? node : WL_NONE;
            }
            node++;
        }
    }
}

// --- what each block defines for those after it -------------------------------------------------------------------

static int by_value(const void *a, const void *b) {
    const FlowPair *x = a, *y = b;
    return (x->key > y->key) - (x->key < y->key);
}

static Status list_block_definitions(ChainBuilder *c, u32 b, FlowPairs *sorted, FlowPairs *all) {
    const FlowBlock *block = &c->cfg->blocks[b];
    sorted->len = 0;
    for (u32 i = block->first + block->count; i-- > block->first;) {
        const FlowInsn *insn = &c->code->insns[i];
        for (u32 d = insn->defs; d-- > 0;) {
            const FlowOperand *operand = &flow_defs(c->code, insn)[d];
            if (operand->kind != FLOW_VALUE || c->only_def[operand->id] != WL_NONE) continue;
            if (c->stamp[operand->id] == b + 1) continue;
            c->stamp[operand->id] = b + 1;
            TRY(vec_push(sorted, (FlowPair){operand->id, c->out->of_operand[insn->operands + d]}));
        }
    }
    if (sorted->len) qsort(sorted->data, sorted->len, sizeof *sorted->data, by_value);
    for (u32 i = 0; i < sorted->len; i++) TRY(vec_push(all, (FlowPair){b, sorted->data[i].item}));
    return STATUS_OK;
}

static Status list_last_definitions(ChainBuilder *c, Arena *scratch) {
    FlowPairs sorted = {0}, all = {0};
    Status status = STATUS_OK;
    for (u32 b = 0; b < c->cfg->block_count && status == STATUS_OK; b++)
        if (c->cfg->blocks[b].reachable) status = list_block_definitions(c, b, &sorted, &all);
    if (status == STATUS_OK) status = flow_group(&all, c->cfg->block_count, scratch, &c->last_defs);
    vec_free(&sorted);
    vec_free(&all);
    return status;
}

static u32 reference_in(const ChainBuilder *c, u32 block, u32 value) {
    if (c->only_def[value] != WL_NONE) return c->only_def[value];
    u32 pair = c->def_total[value] ? liveness_find_in(c->live, block, value) : WL_NONE;
    return pair == WL_NONE ? UNDEFINED : c->out->def_count + pair;
}

static u32 reference_out(const ChainBuilder *c, u32 block, u32 value) {
    u32 low = c->last_defs.first[block], end = c->last_defs.first[block + 1], high = end;
    while (low < high) {
        u32 middle = low + (high - low) / 2;
        if (c->out->nodes[c->last_defs.items[middle]].value < value)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < end && c->out->nodes[c->last_defs.items[low]].value == value) return c->last_defs.items[low];
    return reference_in(c, block, value);
}

// --- merges -------------------------------------------------------------------------------------------------------

static Status add_candidate(ChainBuilder *c, u32 b, u32 pair) {
    const FlowBlock *block = &c->cfg->blocks[b];
    u32 value = c->live->values[pair];
    Candidate candidate = {.pair = pair, .block = b, .args = c->args.len, .arg_count = block->pred_count + (b == 0)};
    for (u32 p = 0; p < block->pred_count; p++) {
        u32 pred = c->cfg->edges[block->preds + p];
        TRY(vec_push(&c->args, c->cfg->blocks[pred].reachable ? reference_out(c, pred, value) : UNKNOWN));
    }
    if (b == 0) TRY(vec_push(&c->args, UNDEFINED));
    return vec_push(&c->candidates, candidate);
}

static Status list_candidates(ChainBuilder *c) {
    for (u32 i = 0; i < c->cfg->rpo_count; i++) {
        u32 b = c->cfg->rpo[i];
        for (u32 pair = c->live->first[b]; pair < c->live->first[b + 1]; pair++) {
            u32 value = c->live->values[pair];
            if (c->only_def[value] == WL_NONE && c->def_total[value]) TRY(add_candidate(c, b, pair));
        }
    }
    return STATUS_OK;
}

static u32 resolve(const ChainBuilder *c, u32 reference) {
    return reference >= c->out->def_count && reference < UNKNOWN ? c->resolved[reference - c->out->def_count]
                                                                 : reference;
}

// What all arguments agree on, leaving out the candidate itself and what is not known yet; else the candidate.
static u32 meet(const ChainBuilder *c, const Candidate *candidate) {
    u32 self = c->out->def_count + candidate->pair, result = UNKNOWN;
    for (u32 i = 0; i < candidate->arg_count; i++) {
        u32 reference = resolve(c, c->args.data[candidate->args + i]);
        if (reference == UNKNOWN || reference == self || reference == result) continue;
        if (result != UNKNOWN) return self;
        result = reference;
    }
    return result;
}

// A candidate that became a merge stays one, and so does one that keeps changing: always correct, at worst not minimal.
static void resolve_candidates(ChainBuilder *c) {
    for (bool changed = true; changed;) {
        changed = false;
        for (u32 i = 0; i < c->candidates.len; i++) {
            const Candidate *candidate = &c->candidates.data[i];
            u32 self = c->out->def_count + candidate->pair, *resolved = &c->resolved[candidate->pair];
            if (*resolved == self) continue;
            u32 found = meet(c, candidate);
            if (found == *resolved) continue;
            *resolved = ++c->changes[candidate->pair] == MAX_CHANGES ? self : found;
            changed = true;
        }
    }
}

static u32 node_of(const ChainBuilder *c, u32 reference) {
    reference = resolve(c, reference);
    if (reference == UNDEFINED || reference == UNKNOWN) return WL_NONE;
    return reference < c->out->def_count ? reference : c->merge_of[reference - c->out->def_count];
}

static bool is_merge(const ChainBuilder *c, const Candidate *candidate) {
    return c->resolved[candidate->pair] == c->out->def_count + candidate->pair;
}

static u32 count_merges(const ChainBuilder *c, u32 *args) {
    u32 merges = 0;
    for (u32 i = 0; i < c->candidates.len; i++) {
        if (!is_merge(c, &c->candidates.data[i])) continue;
        merges++;
        *args += c->candidates.data[i].arg_count;
    }
    return merges;
}

static void make_merges(ChainBuilder *c) {
    u32 node = c->out->def_count, args = 0;
    for (u32 i = 0; i < c->candidates.len; i++) {
        const Candidate *candidate = &c->candidates.data[i];
        if (!is_merge(c, candidate)) continue;
        c->merge_of[candidate->pair] = node;
        c->out->nodes[node++] = (ChainNode){.value = c->live->values[candidate->pair],
                                            .block = candidate->block,
                                            .insn = WL_NONE,
                                            .operand = WL_NONE,
                                            .args = args,
                                            .arg_count = candidate->arg_count};
        args += candidate->arg_count;
    }
    for (u32 i = 0; i < c->candidates.len; i++) {
        const Candidate *candidate = &c->candidates.data[i];
        if (!is_merge(c, candidate)) continue;
        const ChainNode *merge = &c->out->nodes[c->merge_of[candidate->pair]];
        for (u32 a = 0; a < candidate->arg_count; a++)
            c->out->args[merge->args + a] = node_of(c, c->args.data[candidate->args + a]);
    }
}

// --- uses ---------------------------------------------------------------------------------------------------------

static u32 current_node(ChainBuilder *c, u32 block, u32 value) {
    if (c->stamp[value] != block + 1) {
        c->stamp[value] = block + 1;
        c->current[value] = node_of(c, reference_in(c, block, value));
    }
    return c->current[value];
}

static void link_insn(ChainBuilder *c, u32 block, u32 index, u32 *next_arg) {
    const FlowInsn *insn = &c->code->insns[index];
    if (insn->guard != WL_NONE) c->out->of_guard[index] = current_node(c, block, insn->guard);
    for (u32 u = insn->operands + insn->defs; u < insn->operands + insn->defs + insn->uses; u++)
        if (c->code->operands[u].kind == FLOW_VALUE)
            c->out->of_operand[u] = current_node(c, block, c->code->operands[u].id);
    for (u32 d = insn->operands; d < insn->operands + insn->defs; d++) {
        if (c->code->operands[d].kind != FLOW_VALUE) continue;
        u32 value = c->code->operands[d].id, node = c->out->of_operand[d];
        if (insn->guard != WL_NONE) {
            c->out->nodes[node].args = *next_arg;
            c->out->nodes[node].arg_count = 1;
            c->out->args[(*next_arg)++] = current_node(c, block, value);
        }
        c->stamp[value] = block + 1;
        c->current[value] = node;
    }
}

static void link_uses(ChainBuilder *c, u32 next_arg) {
    memset(c->stamp, 0, sizeof(u32) * c->code->value_count);
    for (u32 b = 0; b < c->cfg->block_count; b++) {
        const FlowBlock *block = &c->cfg->blocks[b];
        for (u32 i = 0; i < block->count && block->reachable; i++) link_insn(c, b, block->first + i, &next_arg);
    }
}

static u32 count_guarded(const FlowCode *code) {
    u32 count = 0;
    for (u32 i = 0; i < code->insn_count; i++)
        if (code->insns[i].guard != WL_NONE) count += code->insns[i].defs;
    return count;
}

// The users in two passes: counted, then filled in, as flow_group does.
static void add_user(Chains *chains, u32 *next, u32 node, ChainUser user) {
    if (node == WL_NONE) return;
    if (chains->users)
        chains->users[next[node]++] = user;
    else
        next[node + 1]++;
}

static void add_users(Chains *chains, u32 *next) {
    const FlowCode *code = chains->cfg->code;
    for (u32 i = 0; i < code->insn_count; i++) {
        const FlowInsn *insn = &code->insns[i];
        add_user(chains, next, chains->of_guard[i], (ChainUser){i, WL_NONE});
        for (u32 u = insn->operands + insn->defs; u < insn->operands + insn->defs + insn->uses; u++)
            add_user(chains, next, chains->of_operand[u], (ChainUser){i, u});
    }
    for (u32 n = 0; n < chains->node_count; n++)
        for (u32 a = 0; a < chains->nodes[n].arg_count; a++)
            add_user(chains, next, chains->args[chains->nodes[n].args + a], (ChainUser){WL_NONE, n});
}

static Status list_users(Chains *chains, Arena *arena) {
    chains->first_user = ARENA_ARRAY(arena, u32, (size_t)chains->node_count + 2);
    if (!chains->first_user) return STATUS_NO_MEMORY;
    u32 *next = chains->first_user + 1;
    add_users(chains, next);
    for (u32 n = 1; n <= chains->node_count; n++) next[n] += next[n - 1];
    chains->users = ARENA_ARRAY(arena, ChainUser, (size_t)next[chains->node_count] + 1);
    if (!chains->users) return STATUS_NO_MEMORY;
    add_users(chains, next);
    return STATUS_OK;
}

static Status prepare(ChainBuilder *c, Arena *scratch) {
    u32 pairs = c->live->first[c->cfg->block_count], values = c->code->value_count;
    c->only_def = ARENA_ARRAY(scratch, u32, (size_t)values + 1);
    c->def_total = ARENA_ARRAY(scratch, u32, (size_t)values + 1);
    c->current = ARENA_ARRAY(scratch, u32, (size_t)values + 1);
    c->stamp = ARENA_ARRAY(scratch, u32, (size_t)values + 1);
    c->resolved = ARENA_ARRAY(scratch, u32, (size_t)pairs + 1);
    c->merge_of = ARENA_ARRAY(scratch, u32, (size_t)pairs + 1);
    c->changes = ARENA_ARRAY(scratch, u8, (size_t)pairs + 1);
    if (!c->only_def || !c->def_total || !c->current || !c->stamp || !c->resolved || !c->merge_of || !c->changes)
        return STATUS_NO_MEMORY;
    memset(c->only_def, 0xff, sizeof(u32) * values);
    for (u32 i = 0; i < pairs; i++) c->resolved[i] = UNKNOWN;
    return STATUS_OK;
}

static Status place_nodes(ChainBuilder *c, Arena *arena) {
    u32 merge_args = 0, merges = count_merges(c, &merge_args);
    ChainNode *definitions = c->out->nodes;
    c->out->node_count = c->out->def_count + merges;
    c->out->nodes = ARENA_ARRAY(arena, ChainNode, (size_t)c->out->node_count + 1);
    c->out->args = ARENA_ARRAY(arena, u32, (size_t)merge_args + count_guarded(c->code) + 1);
    if (!c->out->nodes || !c->out->args) return STATUS_NO_MEMORY;
    memcpy(c->out->nodes, definitions, sizeof *definitions * c->out->def_count);
    make_merges(c);
    link_uses(c, merge_args);
    return list_users(c->out, arena);
}

static Status build(ChainBuilder *c, Arena *arena, Arena *scratch) {
    TRY(prepare(c, scratch));
    TRY(count_definitions(c, arena));
    c->out->nodes = ARENA_ARRAY(scratch, ChainNode, (size_t)c->out->def_count + 1);
    if (!c->out->nodes) return STATUS_NO_MEMORY;
    number_definitions(c);
    TRY(list_last_definitions(c, scratch));
    TRY(list_candidates(c));
    resolve_candidates(c);
    return place_nodes(c, arena);
}

Status flow_chains(const Liveness *liveness, Arena *arena, Chains **chains) {
    *chains = NULL;
    Chains *result = ARENA_NEW(arena, Chains);
    if (!result) return STATUS_NO_MEMORY;
    result->cfg = liveness->cfg;
    ChainBuilder builder = {.live = liveness, .cfg = liveness->cfg, .code = liveness->cfg->code, .out = result};
    Arena scratch = {0};
    Status status = build(&builder, arena, &scratch);
    vec_free(&builder.candidates);
    vec_free(&builder.args);
    arena_free(&scratch);
    if (status == STATUS_OK) *chains = result;
    return status;
}

// --- walks --------------------------------------------------------------------------------------------------------

Status chain_walk_init(ChainWalk *walk, const Chains *chains, Arena *arena) {
    *walk = (ChainWalk){.chains = chains};
    walk->stamp = ARENA_ARRAY(arena, u32, (size_t)chains->node_count + 1);
    return walk->stamp ? STATUS_OK : STATUS_NO_MEMORY;
}

static Status visit(ChainWalk *walk, u32 node) {
    if (walk->stamp[node] == walk->round) return STATUS_OK;
    walk->stamp[node] = walk->round;
    return vec_push(&walk->work, node);
}

static void begin(ChainWalk *walk) {
    walk->found.len = walk->work.len = 0;
    walk->undefined = false;
    walk->round++;
}

static int ascending(const void *a, const void *b) {
    u32 x = *(const u32 *)a, y = *(const u32 *)b;
    return (x > y) - (x < y);
}

static void sort_found(ChainWalk *walk) {
    if (!walk->found.len) return;
    qsort(walk->found.data, walk->found.len, sizeof(u32), ascending);
    u32 kept = 1;
    for (u32 i = 1; i < walk->found.len; i++)
        if (walk->found.data[i] != walk->found.data[kept - 1]) walk->found.data[kept++] = walk->found.data[i];
    walk->found.len = kept;
}

// Merges have an empty argument for a predecessor that is never reached.
static bool is_undefined(const Chains *chains, const ChainNode *node, u32 arg) {
    const FlowBlock *block = &chains->cfg->blocks[node->block];
    bool comes_from_pred = node->insn == WL_NONE && arg < block->pred_count;
    return !comes_from_pred || chains->cfg->blocks[chains->cfg->edges[block->preds + arg]].reachable;
}

Status chain_reaching(ChainWalk *walk, u32 node) {
    begin(walk);
    walk->undefined = node == WL_NONE;
    if (node != WL_NONE) TRY(visit(walk, node));
    while (walk->work.len) {
        u32 at = walk->work.data[--walk->work.len];
        const ChainNode *from = &walk->chains->nodes[at];
        if (from->insn != WL_NONE) TRY(vec_push(&walk->found, at));
        for (u32 a = 0; a < from->arg_count; a++) {
            u32 arg = walk->chains->args[from->args + a];
            if (arg == WL_NONE)
                walk->undefined |= is_undefined(walk->chains, from, a);
            else
                TRY(visit(walk, arg));
        }
    }
    sort_found(walk);
    return STATUS_OK;
}

Status chain_readers(ChainWalk *walk, u32 def) {
    begin(walk);
    TRY(visit(walk, def));
    while (walk->work.len) {
        u32 at = walk->work.data[--walk->work.len];
        for (u32 u = walk->chains->first_user[at]; u < walk->chains->first_user[at + 1]; u++) {
            const ChainUser *user = &walk->chains->users[u];
            if (user->insn == WL_NONE)
                TRY(visit(walk, user->operand));
            else
                TRY(vec_push(&walk->found, user->insn));
        }
    }
    sort_found(walk);
    return STATUS_OK;
}

void chain_walk_free(ChainWalk *walk) {
    vec_free(&walk->found);
    vec_free(&walk->work);
}
