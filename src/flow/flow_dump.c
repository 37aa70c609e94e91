// SPDX-License-Identifier: Apache-2.0
#include "flow/flow_dump.h"

#include <inttypes.h>
#include <string.h>

#include "flow/flow_text.h"
#include "flow/flow_util.h"

static const char *const kind_names[] = {
    [FLOW_PLAIN] = "plain", [FLOW_BRANCH] = "branch", [FLOW_SWITCH] = "switch", [FLOW_CALL] = "call",
    [FLOW_RET] = "ret",     [FLOW_EXIT] = "exit",     [FLOW_TRAP] = "trap",
};

static const char *const arith_names[] = {
    [FLOW_OPAQUE] = "",         [FLOW_MOVE] = "move",        [FLOW_CONVERT] = "convert", [FLOW_ADD] = "add",
    [FLOW_SUB] = "sub",         [FLOW_MUL] = "mul",          [FLOW_MULADD] = "muladd",   [FLOW_SHIFT_LEFT] = "shl",
    [FLOW_NEGATE] = "neg",      [FLOW_AND] = "and",          [FLOW_OR] = "or",           [FLOW_SELECT] = "select",
    [FLOW_COMPARE] = "compare", [FLOW_LOAD_PARAM] = "param", [FLOW_MIN] = "min",         [FLOW_MAX] = "max",
    [FLOW_SHIFT_RIGHT] = "shr",
};

static const char *const compare_names[] = {
    [FLOW_COMPARE_NONE] = "?", [FLOW_EQUAL] = "==",  [FLOW_NOT_EQUAL] = "!=",     [FLOW_LESS] = "<",
    [FLOW_LESS_EQUAL] = "<=",  [FLOW_GREATER] = ">", [FLOW_GREATER_EQUAL] = ">=",
};

static const char *const space_names[SPACE_COUNT] = {
    "generic", "reg", "sreg", "const", "global", "local", "param", "shared", "shared::cluster", "tex", "tmem",
};

// --- pieces -------------------------------------------------------------------------------------------------------

static void print_sreg(FlowText *t, const FlowOperand *operand) {
    flow_print(t, "%s", ptx_sregs[operand->id].text);
    if (operand->component < 4) flow_print(t, ".%c", "xyzw"[operand->component]);
}

static void print_operand(FlowText *t, const FlowCode *code, const FlowOperand *operand) {
    switch (operand->kind) {
    case FLOW_VALUE: flow_print_value(t, code, operand->id); return;
    case FLOW_IMMEDIATE: flow_print(t, "%" PRId64, operand->value); return;
    case FLOW_SREG: print_sreg(t, operand); return;
    case FLOW_SYMBOL:
    case FLOW_PARAMETER:
        flow_print(t, "%s", operand->kind == FLOW_SYMBOL ? "&" : "*");
        flow_print_variable(t, code, operand->id);
        if (operand->value) flow_print(t, "%+" PRId64, operand->value);
        return;
    default: flow_print(t, "?"); return;
    }
}

static void print_operands(FlowText *t, const FlowCode *code, const FlowOperand *operands, u32 count) {
    for (u32 i = 0; i < count; i++) {
        flow_print(t, " ");
        print_operand(t, code, &operands[i]);
    }
}

static void print_blocks(FlowText *t, const char *title, const u32 *blocks, u32 count) {
    if (count) flow_print(t, "%s", title);
    for (u32 i = 0; i < count; i++) flow_print(t, " B%u", blocks[i]);
}

// --- ops ----------------------------------------------------------------------------------------------------------

static void print_access(FlowText *t, const FlowCode *code, const FlowInsn *insn) {
    if (insn->address_use == 0xff) return;
    const FlowOperand *uses = flow_uses(code, insn);
    flow_print(t, " %s%s%s",
               insn->is_atomic ? "atomic"
               : insn->is_load ? "load"
                               : "",
               insn->is_store ? "store" : "", insn->is_load || insn->is_store || insn->is_atomic ? "" : "address");
    flow_print(t, " %s[", space_names[insn->space]);
    print_operand(t, code, &uses[insn->address_use]);
    if (insn->address_offset) flow_print(t, "%+" PRId64, insn->address_offset);
    flow_print(t, "]");
    if (insn->access_bytes) flow_print(t, " %u bytes", insn->access_bytes);
    if (insn->address2_use == 0xff) return;
    flow_print(t, " %s[", space_names[insn->space2]);
    print_operand(t, code, &uses[insn->address2_use]);
    if (insn->address2_offset) flow_print(t, "%+" PRId64, insn->address2_offset);
    flow_print(t, "]");
}

static void print_control(FlowText *t, const FlowCode *code, const FlowInsn *insn) {
    if (insn->kind != FLOW_PLAIN) flow_print(t, " %s", kind_names[insn->kind]);
    for (u32 i = 0; i < insn->target_count; i++)
        flow_print(t, "%s%u", i ? "," : " to ", code->targets[insn->targets + i]);
    if (insn->callee != WL_NONE && code->module)
        flow_print(t, " %s", module_text(code->module, code->module->funcs[insn->callee].name));
    if (insn->noreturn) flow_print(t, " noreturn");
    if (insn->is_barrier) flow_print(t, " barrier");
}

static void flow_dump_ops(FlowText *t, const FlowResults *r) {
    const FlowCode *code = r->code;
    for (u32 i = 0; i < code->insn_count; i++) {
        const FlowInsn *insn = &code->insns[i];
        flow_print(t, "%5u  ", i);
        flow_print_insn(t, code, i);
        flow_print(t, "\n       ");
        if (insn->guard != WL_NONE) {
            flow_print(t, " @%s", insn->guard_negated ? "!" : "");
            flow_print_value(t, code, insn->guard);
        }
        print_operands(t, code, flow_defs(code, insn), insn->defs);
        flow_print(t, " <-");
        print_operands(t, code, flow_uses(code, insn), insn->uses);
        if (insn->arith) flow_print(t, " %s", arith_names[insn->arith]);
        if (insn->arith == FLOW_COMPARE) flow_print(t, " %s", compare_names[insn->compare]);
        print_control(t, code, insn);
        print_access(t, code, insn);
        flow_print(t, "\n");
    }
}

// --- control flow -------------------------------------------------------------------------------------------------

static void flow_dump_cfg(FlowText *t, const FlowResults *r) {
    for (u32 b = 0; b < r->cfg->block_count; b++) {
        const FlowBlock *block = &r->cfg->blocks[b];
        flow_print(t, "B%u %u..%u", b, block->first, block->first + block->count);
        print_blocks(t, " from", r->cfg->edges + block->preds, block->pred_count);
        print_blocks(t, " to", r->cfg->edges + block->succs, block->succ_count);
        flow_print(t, "%s%s\n", block->leaves ? " leaves" : "", block->reachable ? "" : " unreachable");
    }
}

static void print_dot_text(FlowText *t, const char *text, u32 len) {
    for (u32 i = 0; i < len; i++) flow_print(t, text[i] == '"' || text[i] == '\\' ? "\\%c" : "%c", text[i]);
}

static void print_dot_block(FlowText *t, const FlowResults *r, u32 b) {
    const FlowBlock *block = &r->cfg->blocks[b];
    flow_print(t, "  B%u [label=\"B%u\\l", b, b);
    for (u32 i = block->first; i < block->first + block->count; i++) {
        TextBuffer line = {0};
        FlowText inner = {.out = &line};
        flow_print_insn(&inner, r->code, i);
        print_dot_text(t, line.data, line.len);
        flow_print(t, "\\l");
        if (inner.status != STATUS_OK) t->status = inner.status;
        vec_free(&line);
    }
    flow_print(t, "\"%s];\n", block->reachable ? "" : ", style=dashed");
    for (u32 s = 0; s < block->succ_count; s++) {
        bool falls = block->succ_count > 1 && s + 1 == block->succ_count;
        flow_print(t, "  B%u -> B%u%s;\n", b, r->cfg->edges[block->succs + s], falls ? " [style=dotted]" : "");
    }
}

static void flow_dump_cfg_dot(FlowText *t, const FlowResults *r) {
    flow_print(t, "digraph \"%s\" {\n  node [shape=box, fontname=monospace];\n", flow_function_name(r->code));
    for (u32 b = 0; b < r->cfg->block_count; b++) print_dot_block(t, r, b);
    flow_print(t, "}\n");
}

static void print_tree(FlowText *t, const Cfg *cfg, const DomTree *tree) {
    for (u32 i = 0; i < cfg->rpo_count; i++) {
        u32 b = cfg->rpo[i];
        flow_print(t, "B%u", b);
        if (tree->parent[b] == WL_NONE)
            flow_print(t, " root\n");
        else
            flow_print(t, " under B%u, depth %u\n", tree->parent[b], tree->depth[b]);
    }
}

static void flow_dump_dom(FlowText *t, const FlowResults *r) { print_tree(t, r->cfg, r->dominators); }

static void flow_dump_postdom(FlowText *t, const FlowResults *r) { print_tree(t, r->cfg, r->postdominators); }

static void flow_dump_meets(FlowText *t, const FlowResults *r) {
    Arena arena = {0};
    Meets meets;
    bool found = flow_meets(r->cfg, r->dominators, r->loops, &arena, &meets) == STATUS_OK;
    for (u32 i = 0; found && i < r->cfg->rpo_count; i++) {
        u32 b = r->cfg->rpo[i];
        if (r->cfg->blocks[b].succ_count < 2) continue;
        flow_print(t, "B%u", b);
        if (meets.at[b] == WL_NONE)
            flow_print(t, " nowhere");
        else
            flow_print(t, " at B%u", meets.at[b]);
        if (meets.first[b] < meets.first[b + 1]) flow_print(t, ", of");
        for (u32 k = meets.first[b]; k < meets.first[b + 1]; k++) flow_print(t, " B%u", meets.around[k]);
        flow_print(t, "\n");
    }
    arena_free(&arena);
}

static void flow_dump_loops(FlowText *t, const FlowResults *r) {
    const Loops *loops = r->loops;
    for (u32 l = 0; l < loops->loop_count; l++) {
        const FlowLoop *loop = &loops->loops[l];
        flow_print(t, "L%u depth %u", l, loop->depth);
        if (loop->parent != WL_NONE) flow_print(t, " in L%u", loop->parent);
        flow_print(t, " header B%u", loop->header);
        print_blocks(t, " latches", loops->members + loop->latches, loop->latch_count);
        print_blocks(t, " exits", loops->members + loop->exits, loop->exit_count);
        if (loop->irreducible) flow_print(t, " irreducible");
        if (loop->trip_count >= 0) flow_print(t, " trips %" PRId64, loop->trip_count);
        print_blocks(t, " blocks", loops->members + loop->blocks, loop->block_count);
        flow_print(t, "\n");
    }
}

// --- data flow ----------------------------------------------------------------------------------------------------

static void flow_dump_liveness(FlowText *t, const FlowResults *r) {
    flow_print(t, "pressure %u registers", r->pressure.units);
    if (r->pressure.insn != WL_NONE) flow_print(t, " at %u", r->pressure.insn);
    flow_print(t, ", %u predicates\n", r->pressure.predicates);
    for (u32 b = 0; b < r->cfg->block_count; b++) {
        flow_print(t, "B%u in", b);
        for (u32 i = r->liveness->first[b]; i < r->liveness->first[b + 1]; i++) {
            flow_print(t, " ");
            flow_print_value(t, r->code, r->liveness->values[i]);
        }
        flow_print(t, "\n");
    }
}

static void print_reaching(FlowText *t, ChainWalk *walk, const FlowCode *code, u32 value, u32 node) {
    flow_print(t, "; ");
    flow_print_value(t, code, value);
    flow_print(t, " from");
    Status status = chain_reaching(walk, node);
    if (status != STATUS_OK) t->status = status;
    for (u32 i = 0; i < walk->found.len; i++) flow_print(t, " %u", walk->chains->nodes[walk->found.data[i]].insn);
    if (walk->undefined) flow_print(t, " undefined");
}

static void print_chains(FlowText *t, const FlowResults *r, ChainWalk *walk) {
    for (u32 i = 0; i < r->code->insn_count; i++) {
        const FlowInsn *insn = &r->code->insns[i];
        flow_print(t, "%5u  ", i);
        flow_print_insn(t, r->code, i);
        if (insn->guard != WL_NONE) print_reaching(t, walk, r->code, insn->guard, r->chains->of_guard[i]);
        for (u32 u = insn->operands + insn->defs; u < insn->operands + insn->defs + insn->uses; u++)
            if (r->code->operands[u].kind == FLOW_VALUE)
                print_reaching(t, walk, r->code, r->code->operands[u].id, r->chains->of_operand[u]);
        flow_print(t, "\n");
    }
}

static void flow_dump_chains(FlowText *t, const FlowResults *r) {
    Arena scratch = {0};
    ChainWalk walk;
    Status status = chain_walk_init(&walk, r->chains, &scratch);
    if (status == STATUS_OK)
        print_chains(t, r, &walk);
    else
        t->status = status;
    chain_walk_free(&walk);
    arena_free(&scratch);
}

static bool any_use_differs(const FlowResults *r, u32 index) {
    const FlowInsn *insn = &r->code->insns[index];
    for (u32 u = insn->operands + insn->defs; u < insn->operands + insn->defs + insn->uses; u++)
        if (divergence_of_use(r->divergence, index, u)) return true;
    return false;
}

static void print_divergent_insn(FlowText *t, const FlowResults *r, u32 i) {
    const DivergenceInfo *info = r->divergence;
    flow_print(t, "%5u %c%c%c%c ", i, divergence_of_result(info, i) ? 'd' : '.', any_use_differs(r, i) ? 's' : '.',
               divergence_of_address(info, i) ? 'a' : '.',
               bitset_has(&info->branches, i) ? 'b'
               : divergence_of_guard(info, i) ? 'g'
                                              : '.');
    flow_print_insn(t, r->code, i);
    flow_print(t, "\n");
}

static void flow_dump_divergence(FlowText *t, const FlowResults *r) {
    flow_print(t, "these may differ between lanes: d result, s source, a address, b branch, g guard\n");
    for (u32 l = 0; l < r->loops->loop_count; l++)
        if (bitset_has(&r->divergence->temporal, l)) flow_print(t, "L%u left in different iterations\n", l);
    for (u32 b = 0; b < r->cfg->block_count; b++) {
        const FlowBlock *block = &r->cfg->blocks[b];
        flow_print(t, "B%u%s%s\n", b, bitset_has(&r->divergence->partial, b) ? " partial" : "",
                   block->reachable ? "" : " unreachable");
        for (u32 i = block->first; i < block->first + block->count; i++) print_divergent_insn(t, r, i);
    }
}

static void print_stride(FlowText *t, const FlowResults *r, const AffineAccess *access, u32 axis) {
    flow_print(t, ", %c ", "xyz"[axis]);
    if (access->stride_kind[axis] == AFFINE_STRIDE_UNKNOWN)
        flow_print(t, "unknown");
    else if (t->status == STATUS_OK)
        t->status = affine_print_stride(r->affine, access->form, axis, t->out);
}

static void print_strides(FlowText *t, const FlowResults *r, const AffineAccess *access) {
    if (access->uniform) {
        flow_print(t, ", uniform");
        return;
    }
    print_stride(t, r, access, 0);
    for (u32 axis = 1; axis < 3; axis++)
        if (access->stride[axis] || access->stride_kind[axis] == AFFINE_STRIDE_SYMBOLIC)
            print_stride(t, r, access, axis);
}

static void print_steps(FlowText *t, const FlowResults *r, const AffineAccess *access) {
    for (u32 l = r->loops->loop_of[r->cfg->block_of[access->insn]]; l != WL_NONE; l = r->loops->loops[l].parent) {
        i64 step;
        AffineStride kind = affine_step(r->affine, access->form, l, &step);
        if (kind == AFFINE_STRIDE_CONSTANT && step == 0) continue;
        flow_print(t, ", L%u ", l);
        if (kind == AFFINE_STRIDE_UNKNOWN)
            flow_print(t, "unknown");
        else if (t->status == STATUS_OK)
            t->status = affine_print_step(r->affine, access->form, l, t->out);
    }
}

static void flow_dump_affine(FlowText *t, const FlowResults *r) {
    for (u32 i = 0; i < r->affine->access_count && t->status == STATUS_OK; i++) {
        const AffineAccess *access = &r->affine->accesses[i];
        flow_print(t, "%5u  %s", access->insn, space_names[access->space]);
        if (access->bytes) flow_print(t, " %u bytes", access->bytes);
        flow_print(t, ": ");
        if (t->status == STATUS_OK) t->status = affine_print(r->affine, access->form, access->base, t->out);
        print_strides(t, r, access);
        print_steps(t, r, access);
        flow_print(t, "\n");
    }
}

static void print_functions(FlowText *t, const FlowResults *r, const char *title, u32 first, u32 count) {
    if (count) flow_print(t, "%s", title);
    for (u32 i = 0; i < count; i++)
        flow_print(t, " %s", module_text(r->code->module, r->code->module->funcs[r->calls->edges[first + i]].name));
    if (count) flow_print(t, "\n");
}

static void flow_dump_calls(FlowText *t, const FlowResults *r) {
    if (!r->calls || !r->code->module) return;
    const CallNode *node = &r->calls->nodes[r->code->func];
    print_functions(t, r, "calls", node->callees, node->callee_count);
    if (node->calls_unknown) flow_print(t, "calls through a pointer\n");
    print_functions(t, r, "called by", node->callers, node->caller_count);
    if (node->address_taken) flow_print(t, "its address is taken\n");
    if (node->recursive) flow_print(t, "recursive\n");
}

// --- the table ----------------------------------------------------------------------------------------------------

static const struct {
    const char *name, *text;
    void (*print)(FlowText *text, const FlowResults *results);
} dumps[] = {
#define DUMP(name, function, text) {name, text, flow_dump_##function},
#include "flow/dumps.def"
#undef DUMP
};

u32 flow_dump_find(Str name) {
    for (u32 i = 0; i < WL_COUNT(dumps); i++)
        if (strlen(dumps[i].name) == name.len && memcmp(dumps[i].name, name.data, name.len) == 0) return i;
    return WL_NONE;
}

const char *flow_dump_name(FlowDump dump) { return dumps[dump].name; }

const char *flow_dump_text(FlowDump dump) { return dumps[dump].text; }

Status flow_dump(FlowDump dump, const FlowResults *results, TextBuffer *out) {
    FlowText text = {.out = out};
    if (dump != FLOW_DUMP_cfg_dot)
        flow_print(&text, "%s of %s: %u instructions, %u blocks\n", dumps[dump].name, flow_function_name(results->code),
                   results->code->insn_count, results->cfg->block_count);
    dumps[dump].print(&text, results);
    if (dump != FLOW_DUMP_cfg_dot) flow_print(&text, "\n");
    return text.status;
}
