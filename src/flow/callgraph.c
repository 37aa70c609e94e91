// SPDX-License-Identifier: Apache-2.0
#include "flow/callgraph.h"

#include "flow/flow_util.h"

typedef struct CallFinder {
    const Module *module;
    CallGraph *graph;
    FlowPairs calls;  // caller, callee
    u32 *seen;        // callee: caller + 1 that has it already
} CallFinder;

static Status add_call(CallFinder *f, FuncRef caller, FuncRef callee) {
    const Function *function = &f->module->funcs[callee];
    if (!function->has_body) {  // a declaration: the definition, when the module has one
        FuncRef found = module_find_function(f->module, intern_str(&f->module->texts, function->name));
        if (found != WL_NONE) callee = found;
    }
    if (f->seen[callee] == caller + 1) return STATUS_OK;
    f->seen[callee] = caller + 1;
    return vec_push(&f->calls, (FlowPair){caller, callee});
}

static Status add_listed(CallFinder *f, FuncRef caller, const Label *label) {
    for (u32 i = 0; i < label->target_count; i++) TRY(add_call(f, caller, f->module->refs[label->targets + i]));
    return STATUS_OK;
}

static Status scan_call(CallFinder *f, FuncRef caller, const Insn *insn) {
    bool known = false;
    for (u32 i = 0; i < insn->operands; i++) {
        const Operand *operand = insn_operand(f->module, insn, i);
        if (operand->kind == OPERAND_FUNC) {
            known = true;
            TRY(add_call(f, caller, operand->ref));
        } else if (operand->kind == OPERAND_LABEL && f->module->labels[operand->ref].kind == LABEL_CALL_TARGETS) {
            known = true;
            TRY(add_listed(f, caller, &f->module->labels[operand->ref]));
        }
    }
    if (!known) f->graph->nodes[caller].calls_unknown = true;
    return STATUS_OK;
}

static Status scan_function(CallFinder *f, FuncRef func) {
    const Function *function = &f->module->funcs[func];
    for (u32 i = 0; i < function->insn_count && function->has_body; i++) {
        const Insn *insn = &f->module->insns[function->insns + i];
        if (form_op(insn_form(f->module, insn))->flags & OPF_CALL) {
            TRY(scan_call(f, func, insn));
            continue;
        }
        for (u32 o = 0; o < insn->operands; o++) {
            const Operand *operand = insn_operand(f->module, insn, o);
            if (operand->kind == OPERAND_FUNC) f->graph->nodes[operand->ref].address_taken = true;
        }
    }
    return STATUS_OK;
}

// Callers by callee, and from that callees by caller: both come out ascending, because callers were scanned in order.
static Status group_calls(CallFinder *f, Arena *scratch, FlowGroups *callers, FlowGroups *callees) {
    FlowPairs turned = {0};
    Status status = vec_reserve(&turned, f->calls.len);
    for (u32 i = 0; i < f->calls.len && status == STATUS_OK; i++)
        status = vec_push(&turned, (FlowPair){f->calls.data[i].item, f->calls.data[i].key});
    if (status == STATUS_OK) status = flow_group(&turned, f->module->func_count, scratch, callers);
    f->calls.len = 0;
    for (u32 callee = 0; callee < f->module->func_count && status == STATUS_OK; callee++)
        for (u32 i = callers->first[callee]; i < callers->first[callee + 1] && status == STATUS_OK; i++)
            status = vec_push(&f->calls, (FlowPair){callers->items[i], callee});
    if (status == STATUS_OK) status = flow_group(&f->calls, f->module->func_count, scratch, callees);
    vec_free(&turned);
    return status;
}

static Status place_edges(CallFinder *f, Arena *arena, Arena *scratch) {
    FlowGroups callers, callees;
    TRY(group_calls(f, scratch, &callers, &callees));
    u32 n = f->calls.len;
    u32 *edges = ARENA_ARRAY(arena, u32, 2 * (size_t)n + 1);
    if (!edges) return STATUS_NO_MEMORY;
    for (u32 i = 0; i < n; i++) {
        edges[i] = callees.items[i];
        edges[n + i] = callers.items[i];
    }
    for (u32 i = 0; i < f->module->func_count; i++) {
        CallNode *node = &f->graph->nodes[i];
        node->callees = callees.first[i];
        node->callee_count = callees.first[i + 1] - callees.first[i];
        node->callers = n + callers.first[i];
        node->caller_count = callers.first[i + 1] - callers.first[i];
    }
    f->graph->edges = edges;
    return STATUS_OK;
}

// --- components ---------------------------------------------------------------------------------------------------

typedef struct Tarjan {
    CallGraph *graph;
    u32 *index, *low;  // index 0 = not visited
    u32 *stack;        // of the algorithm
    u32 *path, *at;    // of the search
    u32 stacked, next;
} Tarjan;

static void close_component(Tarjan *t, u32 root) {
    u32 component = t->graph->component_count++, func;
    do {
        func = t->stack[--t->stacked];
        t->graph->nodes[func].component = component;
        t->index[func] = UINT32_MAX;
    } while (func != root);
}

static void enter(Tarjan *t, u32 func, u32 *depth) {
    t->index[func] = t->low[func] = ++t->next;
    t->stack[t->stacked++] = func;
    t->path[(*depth)++] = func;
}

static void search(Tarjan *t, u32 start) {
    u32 depth = 0;
    enter(t, start, &depth);
    while (depth > 0) {
        u32 func = t->path[depth - 1];
        const CallNode *node = &t->graph->nodes[func];
        if (t->at[func] < node->callee_count) {
            u32 callee = t->graph->edges[node->callees + t->at[func]++];
            if (t->index[callee] == 0)
                enter(t, callee, &depth);
            else if (t->index[callee] < t->low[func])
                t->low[func] = t->index[callee];
            continue;
        }
        depth--;
        if (depth > 0 && t->low[func] < t->low[t->path[depth - 1]]) t->low[t->path[depth - 1]] = t->low[func];
        if (t->low[func] == t->index[func]) close_component(t, func);
    }
}

static bool calls(const CallGraph *graph, u32 caller, u32 callee) {
    for (u32 i = 0; i < graph->nodes[caller].callee_count; i++)
        if (graph->edges[graph->nodes[caller].callees + i] == callee) return true;
    return false;
}

static Status find_components(CallGraph *graph, Arena *scratch) {
    u32 n = graph->module->func_count;
    Tarjan t = {.graph = graph};
    u32 **arrays[] = {&t.index, &t.low, &t.stack, &t.path, &t.at};
    for (u32 i = 0; i < WL_COUNT(arrays); i++)
        if (!(*arrays[i] = ARENA_ARRAY(scratch, u32, (size_t)n + 1))) return STATUS_NO_MEMORY;
    u32 *members = ARENA_ARRAY(scratch, u32, (size_t)n + 1);
    if (!members) return STATUS_NO_MEMORY;
    for (u32 i = 0; i < n; i++)
        if (t.index[i] == 0) search(&t, i);
    for (u32 i = 0; i < n; i++) members[graph->nodes[i].component]++;
    for (u32 i = 0; i < n; i++)
        graph->nodes[i].recursive = members[graph->nodes[i].component] > 1 || calls(graph, i, i);
    return STATUS_OK;
}

static Status build(CallFinder *f, Arena *arena, Arena *scratch) {
    u32 n = f->module->func_count;
    f->graph->nodes = ARENA_ARRAY(arena, CallNode, (size_t)n + 1);
    f->seen = ARENA_ARRAY(scratch, u32, (size_t)n + 1);
    if (!f->graph->nodes || !f->seen) return STATUS_NO_MEMORY;
    for (u32 i = 0; i < n; i++) TRY(scan_function(f, i));
    TRY(place_edges(f, arena, scratch));
    return find_components(f->graph, scratch);
}

Status flow_callgraph(const Module *module, Arena *arena, CallGraph **graph) {
    *graph = NULL;
    CallGraph *result = ARENA_NEW(arena, CallGraph);
    if (!result) return STATUS_NO_MEMORY;
    result->module = module;
    CallFinder finder = {.module = module, .graph = result};
    Arena scratch = {0};
    Status status = build(&finder, arena, &scratch);
    vec_free(&finder.calls);
    arena_free(&scratch);
    if (status == STATUS_OK) *graph = result;
    return status;
}
