// SPDX-License-Identifier: Apache-2.0
// Contraction: a sum takes the product that it adds and rounds once, where ptxas does. PTX leaves that to the compiler
// for `mul`, `add` and `sub` that name no rounding (ISA 9.7.3); nvcc -fmad=false names it. An approximate division ends
// with a product, too: the numerator times the reciprocal. What ptxas 13.0 contracts from -O1 on, found by compiling
// 200 random expressions and 90 of our own for sm_90 and reading the machine code:
// A product is taken when all its readers are sums of its type and .ftz (.sat on the sum only), and by all of them; of
// the same basic block, or of any, when one factor is a constant: a literal, a parameter of the kernel, constant memory
// at a fixed address. Of two products in one sum that of fewer readers is taken, of equally many the first; then the
// other has a reader that is no sum. Products with one reader come first.
// Left out: products that meet sums only where ptxas unrolls a loop or drops a `mov` or `neg` between them.
#include <string.h>

#include "flow/chains.h"
#include "sim/lower.h"

static const struct ContractRow {
    u16 product, sum, difference, fused;  // `fused`: the row of ops.def whose selector has the function
} rows[] = {
    {OP_MUL_F, OP_ADD_F, OP_SUB_F, OP_FMA_F},
    {OP_MUL_F64, OP_ADD_F64, OP_SUB_F64, OP_FMA_F64},
    {OP_MUL_HALF, OP_ADD_HALF, OP_SUB_HALF, OP_FMA_HALF},
    {OP_DIV_F, OP_ADD_F, OP_SUB_F, OP_DIV_F},
};

typedef struct Contract {
    Lower *lo;
    const Chains *chains;
    u32 *readers;  // of the product that instruction i makes; 0: it makes none that can be taken
    u32 *defs;     // definitions of each value
    u32 *changed;  // the first instruction from i on that changes a register which i reads, WL_NONE
} Contract;

static const Form *form_at(const Lower *lo, u32 i) { return insn_form(lo->m, &lo->m->insns[lo->func->insns + i]); }

static const struct ContractRow *row_of_product(const Form *form) {
    for (u32 k = 0; k < WL_COUNT(rows); k++)
        if (form->op == rows[k].product && !form->mods[MOD_RND] && !form->mods[MOD_SAT]) return &rows[k];
    return NULL;
}

static bool is_sum(const Form *form) {
    for (u32 k = 0; k < WL_COUNT(rows); k++)
        if ((form->op == rows[k].sum || form->op == rows[k].difference) && !form->mods[MOD_RND]) return true;
    return false;
}

static bool fits(const Form *product, const Form *sum) {
    const struct ContractRow *row = row_of_product(product);
    return is_sum(sum) && (sum->op == row->sum || sum->op == row->difference) && product->types[0] == sum->types[0] &&
           product->mods[MOD_FTZ] == sum->mods[MOD_FTZ];
}

// The definition that reaches source `place` of an instruction; WL_NONE where it is no register of one definition.
static u32 source_node(const Chains *chains, u32 insn, u32 place) {
    const FlowCode *code = chains->cfg->code;
    const FlowInsn *in = &code->insns[insn];
    if (place >= in->uses) return WL_NONE;
    u32 at = in->operands + in->defs + place;
    u32 node = code->operands[at].kind == FLOW_VALUE ? chains->of_operand[at] : WL_NONE;
    return node == WL_NONE || chain_is_merge(chains, node) ? WL_NONE : node;
}

// The instruction that makes source `place` of a sum, if that is a product which can be taken.
static u32 product_of(const Contract *c, u32 sum, u32 place) {
    u32 node = source_node(c->chains, sum, place);
    if (node == WL_NONE) return WL_NONE;
    u32 insn = c->chains->nodes[node].insn;
    return c->readers[insn] ? insn : WL_NONE;
}

// Fills `changed`; `next` by value: the next instruction that changes it.
static void find_changes(const Contract *c, u32 *next) {
    const FlowCode *code = c->chains->cfg->code;
    memset(next, 0xff, sizeof(u32) * code->value_count);
    for (u32 i = code->insn_count; i-- > 0;) {
        const FlowInsn *in = &code->insns[i];
        const FlowOperand *o = &code->operands[in->operands];
        c->changed[i] = WL_NONE;
        for (u32 d = 0; d < in->defs; d++)
            if (o[d].kind == FLOW_VALUE) next[o[d].id] = i;
        for (u32 u = in->defs; u < in->defs + (u32)in->uses; u++)
            if (o[u].kind == FLOW_VALUE && next[o[u].id] < c->changed[i]) c->changed[i] = next[o[u].id];
    }
}

// What ptxas holds in constant banks or writes into the instruction.
static bool is_constant(const Contract *c, u32 insn, u32 place) {
    const FlowCode *code = c->chains->cfg->code;
    if (code->operands[code->insns[insn].operands + code->insns[insn].defs + place].kind != FLOW_VALUE) return true;
    u32 node = source_node(c->chains, insn, place);
    if (node == WL_NONE) return false;
    u32 def = c->chains->nodes[node].insn;
    const FlowInsn *d = &code->insns[def];
    if (d->guard != WL_NONE || !d->uses) return false;
    u8 from = code->operands[d->operands + d->defs].kind;
    if (d->is_load)
        return (d->space == SPACE_CONST && from == FLOW_SYMBOL) || (d->space == SPACE_PARAM && code->is_entry);
    return form_at(c->lo, def)->op == OP_MOV && (from == FLOW_IMMEDIATE || from == FLOW_OTHER);
}

// Its factors are the same wherever it can be read: each is written in one place.
static bool is_anywhere(const Contract *c, u32 insn) {
    const FlowCode *code = c->chains->cfg->code;
    const FlowInsn *in = &code->insns[insn];
    for (u32 k = 0; k < in->uses; k++) {
        const FlowOperand *use = &code->operands[in->operands + in->defs + k];
        if (use->kind == FLOW_VALUE && c->defs[use->id] != 1) return false;
    }
    bool scaled = form_at(c->lo, insn)->op == OP_DIV_F;
    return !scaled && (is_constant(c, insn, 0) || is_constant(c, insn, 1));
}

// Readers of the product that instruction `insn` makes, if all of them can take it.
static u32 count_readers(const Contract *c, u32 insn, u32 node) {
    const Chains *chains = c->chains;
    const u32 *block_of = chains->cfg->block_of;
    bool anywhere = is_anywhere(c, insn);
    u32 last = insn, first = chains->first_user[node], end = chains->first_user[node + 1];
    for (u32 k = first; k < end; k++) {
        const ChainUser *user = &chains->users[k];
        if (user->insn == WL_NONE || user->operand == WL_NONE) return 0;
        if (!fits(form_at(c->lo, insn), form_at(c->lo, user->insn))) return 0;
        if (source_node(chains, user->insn, 0) == source_node(chains, user->insn, 1)) return 0;
        if (!anywhere && (block_of[user->insn] != block_of[insn] || user->insn < insn)) return 0;
        if (user->insn > last) last = user->insn;
    }
    return !anywhere && c->changed[insn] < last ? 0 : end - first;
}

// A sum takes one of its products; the other one has a reader now that cannot take it.
static void take(const Contract *c, u32 sum, u32 place) {
    c->lo->contracted[sum] = product_of(c, sum, place) << 1 | place;
    u32 other = product_of(c, sum, !place);
    if (other != WL_NONE) c->readers[other] = 0;
}

static void choose(const Contract *c, u32 sum, bool single) {
    u32 best = WL_NONE;
    for (u32 place = 0; place < 2; place++) {
        u32 product = product_of(c, sum, place);
        if (product == WL_NONE || (single && c->readers[product] != 1)) continue;
        if (best == WL_NONE || c->readers[product] < c->readers[product_of(c, sum, best)]) best = place;
    }
    if (best != WL_NONE) take(c, sum, best);
}

static bool has_products(const Lower *lo) {
    TextRef options = lo->m->target_options;
    if (options != WL_NONE && strstr(module_text(lo->m, options), "debug")) return false;  // made for ptxas -O0
    for (u32 i = 0; i < lo->func->insn_count; i++)
        if (row_of_product(form_at(lo, i))) return true;
    return false;
}

Status lower_contract(Lower *lo, const Liveness *live) {
    u32 count = lo->func->insn_count;
    Contract c = {.lo = lo, .readers = ARENA_ARRAY(&lo->scratch, u32, count + 1)};
    lo->contracted = ARENA_ARRAY(&lo->scratch, u32, count + 1);
    if (!c.readers || !lo->contracted) return STATUS_NO_MEMORY;
    memset(lo->contracted, 0xff, sizeof(u32) * (count + 1));
    if (!has_products(lo)) return STATUS_OK;
    Chains *chains;
    TRY(flow_chains(live, &lo->scratch, &chains));
    c.chains = chains;
    u32 values = chains->cfg->code->value_count, *next = ARENA_ARRAY(&lo->scratch, u32, values + 1);
    c.defs = ARENA_ARRAY(&lo->scratch, u32, values + 1);
    c.changed = ARENA_ARRAY(&lo->scratch, u32, count + 1);
    if (!c.defs || !c.changed || !next) return STATUS_NO_MEMORY;
    find_changes(&c, next);
    for (u32 node = 0; node < chains->def_count; node++) c.defs[chains->nodes[node].value]++;
    for (u32 node = 0; node < chains->def_count; node++) {
        u32 insn = chains->nodes[node].insn;
        if (!row_of_product(form_at(lo, insn)) || chains->cfg->code->insns[insn].guard != WL_NONE) continue;
        // A reader of a vector register may read another component.
        if (lo->m->regs[lo->func->regs + chains->nodes[node].value].vector <= 1)
            c.readers[insn] = count_readers(&c, insn, node);
    }
    for (u32 pass = 0; pass < 2; pass++)
        for (u32 i = 0; i < count; i++)
            if (is_sum(form_at(lo, i)) && lo->contracted[i] == WL_NONE) choose(&c, i, pass == 0);
    return STATUS_OK;
}

ExecFn lower_contracted(Lower *lo, SimInsn *in, ExecShape *shape) {
    u32 place = lo->contracted[in->insn] & 1, bits;
    const Insn *product = &lo->m->insns[lo->func->insns + (lo->contracted[in->insn] >> 1)];
    shape->product = insn_form(lo->m, product);
    const struct ContractRow *row = row_of_product(shape->product);
    u8 type = shape->form->types[0];
    in->dst = lower_reg(lo, insn_operand(lo->m, lo->insn, 0), &bits);
    for (u32 k = 0; k < 2; k++) in->src[k] = lower_source(lo, insn_operand(lo->m, product, 1 + k), type, &bits);
    in->src[2] = lower_source(lo, insn_operand(lo->m, lo->insn, 1 + !place), type, &bits);
    shape->dst_bits = shape->src_bits[0] = shape->src_bits[1] = shape->src_bits[2] = (u8)bits;
    in->mods = shape->form->op != row->difference ? 0 : place ? NEGATED_PRODUCT : NEGATED_ADDEND;
    return lo->table[row->fused](shape, in);
}
