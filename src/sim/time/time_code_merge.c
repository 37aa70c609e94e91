// SPDX-License-Identifier: Apache-2.0
// Loads of neighbouring words of shared or local memory become one wide load where the address is known to be a
// multiple of its width: LDS.64, LDS.128; so do stores, LDS and STS of 64 bits, and up to four halfwords that are
// stored [36 kernels compiled by ptxas 13.0 for sm_90]; two words of constants with an index are an LDC.64 or ULDC.64
// [18 kernels, same]. Of what lies in global memory ptxas knows no alignment beyond the type's. And both halves of a
// product of 32 bits are one IMAD.WIDE.
#include "sim/time/time_lower.h"

enum { WIDEST = 16, WIDEST_CONSTANT = 8, ALIGNMENT_DEPTH = 8, ACCESSES_KEPT = 256, PRODUCTS_KEPT = 16 };

// Instructions of the block that may become one access: loads since the last store, stores since the last load or
// store elsewhere, both of shared or local memory.
typedef struct Merger {
    TimeFunc *f;
    u32 insns[ACCESSES_KEPT];
    u32 count;
    Bitset words;  // loads: values that something reads which does not take the upper half of a register
} Merger;

static u32 lowest_bit(u64 number) { return number & (WIDEST - 1) ? (u32)(number & -number) : WIDEST; }

// A value under work: what is asked of it again, by its own next value in a loop, is taken to be as wide as can be,
// which holds when all definitions agree.
typedef struct Asked {
    u32 value;
    const struct Asked *before;
} Asked;

static u32 alignment_of(const TimeFunc *f, const FlowOperand *o, u32 depth, const Asked *asked);

static u32 alignment_of_shift(const TimeFunc *f, const FlowOperand *uses, u32 depth, const Asked *asked) {
    u32 known = alignment_of(f, &uses[0], depth, asked);
    if (uses[1].kind != FLOW_IMMEDIATE || uses[1].value < 0 || uses[1].value > 31) return 1;
    for (i64 k = 0; k < uses[1].value && known < WIDEST; k++) known *= 2;
    return known;
}

// The power of two, up to 16, that divides what an instruction makes.
static u32 alignment_of_result(const TimeFunc *f, u32 def, u32 depth, const Asked *asked) {
    const FlowInsn *in = &f->code->insns[def];
    const FlowOperand *uses = time_uses(f, def);
    u32 a = in->uses > 0 ? alignment_of(f, &uses[0], depth, asked) : 1,
        b = in->uses > 1 ? alignment_of(f, &uses[1], depth, asked) : 1;
    switch (in->arith) {
    case FLOW_MOVE:
    case FLOW_CONVERT: return a;
    case FLOW_ADD:
    case FLOW_SUB:
    case FLOW_OR: return a < b ? a : b;
    case FLOW_AND: return a > b ? a : b;
    case FLOW_MUL: return a * b < WIDEST ? a * b : WIDEST;
    case FLOW_SHIFT_LEFT: return alignment_of_shift(f, uses, depth, asked);
    case FLOW_MULADD: {
        u32 product = a * b < WIDEST ? a * b : WIDEST, sum = alignment_of(f, &uses[2], depth, asked);
        return product < sum ? product : sum;
    }
    default: return 1;
    }
}

static u32 alignment_of_value(const TimeFunc *f, u32 value, u32 depth, const Asked *asked) {
    for (const Asked *a = asked; a; a = a->before)
        if (a->value == value) return WIDEST;
    u32 first = f->first_def[value], end = f->first_def[value + 1], least = WIDEST;
    if (depth == 0 || first == end) return 1;
    Asked own = {value, asked};
    for (u32 d = first; d < end && least > 1; d++) {
        u32 known = alignment_of_result(f, f->defs_of[d], depth - 1, &own);
        if (known < least) least = known;
    }
    return least;
}

// ptxas lays the module's constants out one behind the other, as they are declared.
static u64 place_of_constant(const Module *m, u32 var) {
    u64 place = 0;
    for (u32 i = 0; i < m->global_var_count; i++) {
        const Var *v = &m->vars[m->global_vars[i]];
        if (v->space != SPACE_CONST || !v->align) continue;
        place = (place + v->align - 1) / v->align * v->align;
        if (m->global_vars[i] == var) break;
        place += v->size;
    }
    return place;
}

static u32 alignment_of(const TimeFunc *f, const FlowOperand *o, u32 depth, const Asked *asked) {
    if (o->kind == FLOW_IMMEDIATE) return lowest_bit((u64)o->value);
    if (o->kind == FLOW_SYMBOL) {
        const Module *m = f->lower->module;
        const Var *var = &m->vars[o->id];
        bool placed = var->space == SPACE_SHARED && !m->relocatable;  // by ptxas, else by the linker as they ask
        u32 known = placed && var->size >= WIDEST ? WIDEST : lowest_bit(var->align);
        if (var->space == SPACE_CONST && !m->relocatable) known = lowest_bit(place_of_constant(m, o->id));
        u32 offset = lowest_bit((u64)o->value);
        return known < offset ? known : offset;
    }
    return o->kind == FLOW_VALUE ? alignment_of_value(f, o->id, depth, asked) : 1;
}

static bool is_near(const FlowInsn *in) { return in->space == SPACE_SHARED || in->space == SPACE_LOCAL; }

static bool is_indexed_constant(const TimeFunc *f, u32 insn) {
    const FlowInsn *in = &f->code->insns[insn];
    return in->is_load && in->space == SPACE_CONST && in->access_bytes < WIDEST_CONSTANT &&
           time_uses(f, insn)[in->address_use].kind == FLOW_VALUE;
}

// Halves of a register as they are: HFMA2, HADD2, PRMT. Integers and bytes are loaded one by one, each extended.
static bool takes_halves(const TimeFunc *f, u32 insn) {
    const Form *form = time_form(f, insn);
    if (form->op == OP_ST) return f->code->insns[insn].access_bytes == 2;
    return form->op == OP_MOV_PACK || form_op(form)->unit == UNIT_FP16 ||
           (form->op == OP_CVT_F && form->types[1] == TYPE_F16);
}

static void find_words(Merger *loads) {
    const TimeFunc *f = loads->f;
    for (u32 i = 0; i < f->code->insn_count; i++) {
        if (takes_halves(f, i)) continue;
        for (u32 k = 0; k < f->code->insns[i].uses; k++)
            if (time_uses(f, i)[k].kind == FLOW_VALUE) bitset_add(&loads->words, time_uses(f, i)[k].id);
    }
}

// A load of shared memory into a register of 16 bits, as ptxas 13.0 joins them: four of them are one LDS.64.
static bool is_half_load(const Merger *loads, u32 insn) {
    const TimeFunc *f = loads->f;
    const FlowInsn *in = &f->code->insns[insn];
    bool half = in->is_load && in->space == SPACE_SHARED && in->access_bytes == 2 && in->defs == 1;
    u32 value = half ? f->code->operands[in->operands].id : WL_NONE;
    return half && f->use_count[value] && !bitset_has(&loads->words, value);
}

static bool can_merge(const Merger *loads, u32 insn) {
    const TimeFunc *f = loads->f;
    const FlowInsn *in = &f->code->insns[insn];
    const Form *form = time_form(f, insn);
    bool plain = (form->op == OP_LD || form->op == OP_ST) && in->guard == WL_NONE && form->mods[MOD_SEM] <= SEM_WEAK;
    if (!plain || !f->picked[insn].needed || time_is_free(f, insn) || f->chosen[insn]) return false;
    if (!is_near(in) && !is_indexed_constant(f, insn)) return false;
    bool half = in->is_store && in->access_bytes == 2 && ptx_types[form->types[0]].bits == 16;
    return in->access_bytes == 4 || in->access_bytes == 8 || half || is_half_load(loads, insn);
}

// Whether two accesses of a block start from the same address, offsets aside.
static bool same_base(const TimeFunc *f, u32 a, u32 b) {
    const Picked *p = &f->picked[a], *q = &f->picked[b];
    if (p->base != q->base || p->symbol != q->symbol) return false;
    return p->base == WL_NONE || time_is_same(f, p->base, a < b ? a : b, a < b ? b : a);
}

static u32 find_access(const Merger *m, u32 access, i64 offset) {
    const TimeFunc *f = m->f;
    for (u32 k = 0; k < m->count; k++) {
        u32 insn = m->insns[k];
        if (f->picked[insn].offset == offset && f->merged[insn] == WL_NONE &&
            f->code->insns[insn].access_bytes == f->code->insns[access].access_bytes && same_base(f, access, insn))
            return k;
    }
    return WL_NONE;
}

// The accesses collected so far become as wide as they can: fours first, then twos. Loads are issued where the first of
// them was, stores where the last was.
static void merge_accesses(Merger *m, u32 wide) {
    TimeFunc *f = m->f;
    for (u32 k = 0; k < m->count; k++) {
        u32 insn = m->insns[k], members[4], n = 0;
        const Picked *p = &f->picked[insn];
        const FlowInsn *in = &f->code->insns[insn];
        u32 bytes = in->access_bytes, count = wide / bytes, issued = insn;
        if (f->merged[insn] != WL_NONE || count < 2 || count > WL_COUNT(members)) continue;
        if (!is_near(in) && wide > WIDEST_CONSTANT) continue;
        FlowOperand address = time_uses(f, insn)[in->address_use];
        u32 known = alignment_of(f, &address, ALIGNMENT_DEPTH, NULL), own = lowest_bit((u64)in->address_offset);
        if ((known < own ? known : own) < wide) continue;
        for (u32 at = 0; at < wide; at += bytes) {
            u32 found = find_access(m, insn, p->offset + at);
            if (found == WL_NONE) break;
            u32 member = members[n++] = m->insns[found];
            if (in->is_store ? member > issued : member < issued) issued = member;
        }
        for (u32 i = 0; n == count && i < n; i++) f->merged[members[i]] = issued;
    }
}

// --- products -----------------------------------------------------------------------------------------------------
typedef struct Factor {
    u32 value;  // WL_NONE: a number
    u32 number;
} Factor;

typedef struct Product {
    u32 insn;
    Factor a, b;
    bool upper;
} Product;

static bool read_factor(const TimeFunc *f, u32 insn, const FlowOperand *o, Factor *factor) {
    if (o->kind == FLOW_IMMEDIATE) return *factor = (Factor){WL_NONE, (u32)o->value}, true;
    if (o->kind != FLOW_VALUE) return false;
    i64 number;
    u32 value = time_look_through(f, o->id, insn, &number);
    *factor = value == WL_NONE ? (Factor){WL_NONE, (u32)number} : (Factor){value, 0};
    return true;
}

static bool read_product(const TimeFunc *f, u32 insn, Product *p) {
    const Form *form = time_form(f, insn);
    const FlowInsn *in = &f->code->insns[insn];
    const Picked *picked = &f->picked[insn];
    if (form->op != OP_MUL_INT || !picked->needed || picked->steps != insn || in->guard != WL_NONE) return false;
    if (ptx_types[form->types[0]].bits != 32) return false;
    p->insn = insn;
    p->upper = form->mods[MOD_MUL_HALF] == MUL_HALF_HI;
    return read_factor(f, insn, time_uses(f, insn), &p->a) && read_factor(f, insn, time_uses(f, insn) + 1, &p->b);
}

static bool same_factor(const TimeFunc *f, const Factor *a, u32 from, const Factor *b, u32 to) {
    return a->value == b->value && a->number == b->number &&
           (a->value == WL_NONE || time_is_same(f, a->value, from, to));
}

static bool same_product(const TimeFunc *f, const Product *p, const Product *q) {
    bool straight = same_factor(f, &p->a, p->insn, &q->a, q->insn) && same_factor(f, &p->b, p->insn, &q->b, q->insn);
    return straight ||
           (same_factor(f, &p->a, p->insn, &q->b, q->insn) && same_factor(f, &p->b, p->insn, &q->a, q->insn));
}

static void merge_products(TimeFunc *f, const FlowBlock *block) {
    Product kept[PRODUCTS_KEPT], p;
    u32 count = 0;
    for (u32 i = block->first; i < block->first + block->count; i++) {
        if (time_insn(f, i)->kind > SIM_MEMORY) count = 0;  // a run of the trace ends here
        if (!read_product(f, i, &p)) continue;
        u32 k = 0;
        while (k < count && (kept[k].upper == p.upper || !same_product(f, &kept[k], &p))) k++;
        if (k < count) {
            f->merged[p.insn] = f->merged[kept[k].insn] = kept[k].insn;
            kept[k] = kept[--count];
        } else {
            kept[count < PRODUCTS_KEPT ? count++ : i % PRODUCTS_KEPT] = p;
        }
    }
}

// --- conversions --------------------------------------------------------------------------------------------------
static bool rounds_half(const TimeFunc *f, u32 insn) {
    const Form *form = time_form(f, insn);
    bool half = form->types[0] == TYPE_F16 || form->types[0] == TYPE_BF16;
    u32 value = f->code->operands[f->code->insns[insn].operands].id;
    return form->op == OP_CVT_F && half && form->types[1] == TYPE_F32 && !form->mods[MOD_SAT] &&
           f->code->insns[insn].guard == WL_NONE && time_is_single(f, value);
}

bool time_rounds_pair(const TimeFunc *f, u32 a, u32 b) {
    return a != b && f->cfg->block_of[a] == f->cfg->block_of[b] && rounds_half(f, a) && rounds_half(f, b) &&
           time_form(f, a)->types[0] == time_form(f, b)->types[0];
}

// Two that a register is packed of: issued where the later one was.
static void merge_conversions(TimeFunc *f, const FlowBlock *block) {
    for (u32 i = block->first; i < block->first + block->count; i++) {
        const FlowOperand *halves = time_uses(f, i);
        if (time_op(f, i) != OP_MOV_PACK || f->code->insns[i].uses != 2) continue;
        u32 a = halves[0].kind == FLOW_VALUE ? f->sole_def[halves[0].id] : WL_NONE,
            b = halves[1].kind == FLOW_VALUE ? f->sole_def[halves[1].id] : WL_NONE;
        if (a == WL_NONE || b == WL_NONE || !time_rounds_pair(f, a, b)) continue;
        f->merged[a] = f->merged[b] = a > b ? a : b;
    }
}

// --- the pass -----------------------------------------------------------------------------------------------------
static void flush(Merger *m) {
    for (u32 wide = WIDEST; wide >= 4; wide /= 2) merge_accesses(m, wide);
    m->count = 0;
}

static void collect(Merger *m, u32 insn) {
    if (m->count == ACCESSES_KEPT) flush(m);
    m->insns[m->count++] = insn;
}

// Whether the store is beside one of the collected ones, or at its place.
static bool touches(const Merger *stores, u32 store) {
    const TimeFunc *f = stores->f;
    for (u32 k = 0; k < stores->count; k++) {
        i64 apart = f->picked[store].offset - f->picked[stores->insns[k]].offset,
            bytes = f->code->insns[store].access_bytes;
        if (apart >= -bytes && apart <= bytes && same_base(f, store, stores->insns[k])) return true;
    }
    return stores->count == 0;
}

// Other accesses of the same memory stay where they are: loads are not moved before a store, nor stores behind anything
// but stores that they join.
static void merge_block(Merger *loads, Merger *stores, const FlowBlock *block) {
    TimeFunc *f = loads->f;
    for (u32 i = block->first; i < block->first + block->count; i++) {
        const FlowInsn *in = &f->code->insns[i];
        bool far = in->space == SPACE_GLOBAL || in->space == SPACE_CONST || in->space == SPACE_PARAM;
        // A run of the trace ends at whatever waits: accesses on both sides of that are apart.
        bool ends = in->is_barrier || time_insn(f, i)->kind > SIM_MEMORY, merges = can_merge(loads, i);
        if (ends || (in->is_store && !far)) flush(loads);
        bool joins = merges && in->is_store && touches(stores, i);
        if (ends || ((in->is_load || in->is_store) && !far && !joins)) flush(stores);
        if (merges) collect(in->is_store ? stores : loads, i);
    }
    flush(loads);
    flush(stores);
}

Status time_merge(TimeFunc *f) {
    Merger loads = {.f = f}, stores = {.f = f};
    f->merged = ARENA_ARRAY(&f->lower->scratch, u32, f->code->insn_count + 1);
    if (!f->merged) return STATUS_NO_MEMORY;
    for (u32 i = 0; i < f->code->insn_count; i++) f->merged[i] = WL_NONE;
    if (!bitset_init(&loads.words, &f->lower->scratch, f->code->value_count + 1)) return STATUS_NO_MEMORY;
    find_words(&loads);
    for (u32 b = 0; b < f->cfg->block_count; b++) {
        merge_products(f, &f->cfg->blocks[b]);
        merge_conversions(f, &f->cfg->blocks[b]);
        merge_block(&loads, &stores, &f->cfg->blocks[b]);
    }
    return STATUS_OK;
}
