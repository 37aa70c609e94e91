// SPDX-License-Identifier: Apache-2.0
// Frames: where registers, local variables and call parameters lie. PTX names a register per value; values that never
// live at the same time share a place (linear scan: Poletto and Sarkar, "Linear scan register allocation", TOPLAS
// 1999), which keeps a warp's registers in the cache. Liveness is that of one thread, and lanes have columns of their
// own, so divergence changes nothing.
#include <stdlib.h>

#include "sim/lower.h"

typedef struct Interval {
    u32 value;       // register: RegRef - func.regs
    u32 start, end;  // instructions, both inclusive; start > end: never used
    u32 elements;    // places taken: vector registers, b128
    u8 class;        // PlaceClass
} Interval;

typedef enum PlaceClass { PLACE_R32, PLACE_R64, PLACE_PRED, PLACE_CLASSES } PlaceClass;

static void touch(Interval *v, u32 at) {
    if (at < v->start) v->start = at;
    if (at > v->end) v->end = at;
}

static void touch_insn(const FlowCode *code, Interval *values, Bitset *read, u32 i) {
    const FlowInsn *in = &code->insns[i];
    for (u32 k = in->defs; k < (u32)in->defs + in->uses; k++) {
        const FlowOperand *o = &code->operands[in->operands + k];
        if (o->kind == FLOW_VALUE) bitset_add(read, o->id);
    }
    for (u32 k = 0; k < (u32)in->defs + in->uses; k++) {
        const FlowOperand *o = &code->operands[in->operands + k];
        if (o->kind == FLOW_VALUE && o->id < code->value_count) touch(&values[o->id], i);
    }
    if (in->guard != WL_NONE) touch(&values[in->guard], i);
}

// A value that is live into a block is live from the block's start, and to the end of every block before it.
static void touch_blocks(const Cfg *cfg, const Liveness *live, Interval *values) {
    for (u32 b = 0; b < cfg->block_count; b++) {
        const FlowBlock *block = &cfg->blocks[b];
        for (u32 k = live->first[b]; k < live->first[b + 1]; k++) {
            Interval *v = &values[live->values[k]];
            touch(v, block->first);
            for (u32 p = 0; p < block->pred_count; p++) {
                const FlowBlock *before = &cfg->blocks[cfg->edges[block->preds + p]];
                touch(v, before->first + before->count - 1);
            }
        }
    }
}

static int by_start(const void *a, const void *b) {
    const Interval *x = a, *y = b;
    if (x->start != y->start) return x->start < y->start ? -1 : 1;
    return x->value < y->value ? -1 : 1;
}

typedef struct Active {  // intervals that hold a place, as a heap by end
    const Interval **heap;
    u32 len;
} Active;

static void heap_push(Active *a, const Interval *v) {
    u32 at = a->len++;
    for (; at > 0 && a->heap[(at - 1) / 2]->end > v->end; at = (at - 1) / 2) a->heap[at] = a->heap[(at - 1) / 2];
    a->heap[at] = v;
}

static const Interval *heap_pop(Active *a) {
    const Interval *top = a->heap[0], *last = a->heap[--a->len];
    u32 at = 0;
    for (;;) {
        u32 child = 2 * at + 1;
        if (child + 1 < a->len && a->heap[child + 1]->end < a->heap[child]->end) child++;
        if (child >= a->len || a->heap[child]->end >= last->end) break;
        a->heap[at] = a->heap[child];
        at = child;
    }
    a->heap[at] = last;
    return top;
}

typedef struct Places {  // one class: places given so far, and those free again
    u32 count;
    U32Vec free;
} Places;

static u32 take_place(Places *p, u32 elements) {
    if (elements == 1 && p->free.len) return p->free.data[--p->free.len];
    u32 first = p->count;
    p->count += elements;
    return first;
}

static Status give_places(Places *p, u32 first, u32 elements) {
    for (u32 i = 0; i < elements; i++) TRY(vec_push(&p->free, first + i));
    return STATUS_OK;
}

static Status scan(Lower *lo, Interval *values, u32 count, Places *places) {
    Active active = {.heap = ARENA_ARRAY(&lo->scratch, const Interval *, count + 1)};
    if (!active.heap) return STATUS_NO_MEMORY;
    qsort(values, count, sizeof *values, by_start);
    for (u32 i = 0; i < count && values[i].start <= values[i].end; i++) {
        Interval *v = &values[i];
        while (active.len && active.heap[0]->end < v->start) {
            const Interval *over = heap_pop(&active);
            TRY(give_places(&places[over->class], lo->reg_slot[over->value], over->elements));
        }
        lo->reg_slot[v->value] = take_place(&places[v->class], v->elements);
        heap_push(&active, v);
    }
    return STATUS_OK;
}

static void describe(const Lower *lo, Interval *v, u32 i) {
    const Reg *reg = &lo->m->regs[lo->func->regs + i];
    u32 bits = ptx_types[reg->type].bits, vector = reg->vector ? reg->vector : 1;
    *v = (Interval){.value = i, .start = WL_NONE, .end = 0, .elements = vector * (bits > 64 ? 2 : 1)};
    v->class = reg->type == TYPE_PRED ? PLACE_PRED : bits <= 32 ? PLACE_R32 : PLACE_R64;
}

// From places to what operands hold: byte offsets, and predicate slots behind false, true and the carry flag.
static void finish_places(Lower *lo, const Places *places) {
    static const u32 unit[PLACE_CLASSES] = {LANES * 4, LANES * 8, 1}, base[PLACE_CLASSES] = {0, 0, 3};
    for (u32 i = 0; i < lo->func->reg_count; i++) {
        Interval v;
        describe(lo, &v, i);
        lo->reg_slot[i] = base[v.class] + lo->reg_slot[i] * unit[v.class];
    }
    lo->out->r32_bytes = places[PLACE_R32].count * unit[PLACE_R32];
    lo->out->r64_bytes = places[PLACE_R64].count * unit[PLACE_R64];
    lo->out->preds = base[PLACE_PRED] + places[PLACE_PRED].count;
}

// A sum that takes a product reads what was multiplied: that lives as long as the product.
static void touch_factors(const Lower *lo, const FlowCode *code, Interval *values, u32 sum) {
    if (lo->contracted[sum] == WL_NONE) return;
    const FlowInsn *in = &code->insns[lo->contracted[sum] >> 1];
    const FlowOperand *o = &code->operands[in->operands];
    for (u32 k = 1; k <= in->uses; k++) {
        if (o[k].kind != FLOW_VALUE) continue;
        touch(&values[o[k].id], values[o[0].id].start);
        touch(&values[o[k].id], values[o[0].id].end);
    }
}

Status lower_registers(Lower *lo, const Liveness *live) {
    const Cfg *cfg = live->cfg;
    const FlowCode *code = cfg->code;
    u32 count = lo->func->reg_count;
    RegisterPressure pressure;
    TRY(flow_pressure(live, &pressure));
    if (pressure.units > lo->program->registers) lo->program->registers = pressure.units;
    Interval *values = ARENA_ARRAY(&lo->scratch, Interval, code->value_count + 1);
    lo->reg_slot = ARENA_ARRAY(&lo->scratch, u32, count + 1);
    if (!values || !lo->reg_slot || !bitset_init(&lo->read, &lo->scratch, code->value_count + 1))
        return STATUS_NO_MEMORY;
    for (u32 i = 0; i < count; i++) describe(lo, &values[i], i);
    for (u32 i = 0; i < code->insn_count; i++) touch_insn(code, values, &lo->read, i);
    touch_blocks(cfg, live, values);
    for (u32 i = 0; i < code->insn_count; i++) touch_factors(lo, code, values, i);
    Places places[PLACE_CLASSES] = {0};
    Status status = scan(lo, values, count, places);
    if (status == STATUS_OK) finish_places(lo, places);
    for (u32 c = 0; c < PLACE_CLASSES; c++) vec_free(&places[c].free);
    return status;
}

static bool has_alloca(const Lower *lo) {
    for (u32 i = 0; i < lo->func->insn_count; i++)
        if (insn_form(lo->m, &lo->m->insns[lo->func->insns + i])->op == OP_ALLOCA) return true;
    return false;
}

void lower_locals(Lower *lo) {
    const Function *f = lo->func;
    // A kernel's parameters lie in a block of their own, those of other functions at the begin of the frame.
    u32 params = param_layout(lo->m, f, lo->var_offset), at = f->is_entry ? 0 : params;
    lo->out->param_bytes = at;
    for (u32 i = 0; i < f->var_count; i++) {
        const Var *var = &lo->m->vars[f->vars + i];
        if (var->space != SPACE_LOCAL && var->space != SPACE_PARAM) continue;
        at = align_up(at, var->align);
        lo->var_offset[f->vars + i] = at;
        at += (u32)var->size;
    }
    lo->out->stack_slot = WL_NONE;
    if (!f->is_entry && has_alloca(lo)) {
        lo->out->stack_slot = align_up(at, 4);
        at = lo->out->stack_slot + 4;
    }
    lo->out->local_bytes = align_up(at, 16);
}
