// SPDX-License-Identifier: Apache-2.0
// Arrays of words in local memory that ptxas has not in memory: where each word is stored once, before all loops, and
// all that is not known until the launch is which one a load reads, it compares the place with that of each word and
// has the word moved, or loaded from the constant bank (LDC), where they are equal: a parameter of a structure that is
// indexed becomes such an array. Whether depends on what that is of the function: an instruction in a loop counts 16,
// in two 256, and so on; as long as the words that all loads choose from are no more than all other instructions,
// arrays are taken apart [L: arrays of 8 to 48 words, 1 to 8 loads in a loop, beside 4 to 1,317 multiply-adds in the
// loop or behind it, ptxas 13.0 for sm_90: time_code_arrays_test.c]. So it is where there is no loop, which is not
// followed.
#include "flow/affine.h"
#include "sim/time/time_lower.h"

enum { WORD = 4, LOOP_WEIGHT = 16, DEEPEST = 8, MOST_WORDS = 64 };
enum { LOADED = 2 };  // a load and its address, which go

typedef struct Array {
    TimeFunc *f;
    u32 symbol, words;
    u32 store_of[MOST_WORDS];  // by word: instruction, WL_NONE
} Array;

static const AffineForm *form_of(const TimeFunc *f, const AffineAccess *a) { return &f->affine->forms[a->form]; }

static u64 weight_at(const TimeFunc *f, u32 insn) {
    u64 weight = 1;
    u32 deep = 0;
    for (u32 l = f->loops->loop_of[f->cfg->block_of[insn]]; l != WL_NONE && deep < DEEPEST; deep++)
        weight *= LOOP_WEIGHT, l = f->loops->loops[l].parent;
    return weight;
}

static bool is_local(const TimeFunc *f, const AffineAccess *a) {
    const AffineFactor *base = a->base == WL_NONE ? NULL : &f->affine->factors[a->base];
    return a->bytes == WORD && base && base->kind == AFFINE_SYMBOL;
}

static bool note_store(Array *array, const AffineAccess *a) {
    const TimeFunc *f = array->f;
    const FlowInsn *in = &f->code->insns[a->insn];
    const AffineForm *form = form_of(f, a);
    u64 word = (u64)form->constant / WORD;
    bool fixed = form->term_count == 1 && form->constant >= 0 && form->constant % WORD == 0 && word < MOST_WORDS;
    if (!fixed || in->guard != WL_NONE || in->uses != 2 || f->loops->loop_of[f->cfg->block_of[a->insn]] != WL_NONE ||
        time_uses(f, a->insn)[in->address_use == 0].kind != FLOW_VALUE || array->store_of[word] != WL_NONE)
        return false;
    array->store_of[word] = a->insn;
    if (array->words <= word) array->words = (u32)word + 1;
    return true;
}

// One array, and nothing else in local memory, nor what may be of any memory.
static bool find_stores(Array *array) {
    const TimeFunc *f = array->f;
    for (u32 k = 0; k < MOST_WORDS; k++) array->store_of[k] = WL_NONE;
    for (u32 k = 0; k < f->affine->access_count; k++) {
        const AffineAccess *a = &f->affine->accesses[k];
        const FlowInsn *in = &f->code->insns[a->insn];
        if (a->space == SPACE_NONE) return false;
        if (a->space != SPACE_LOCAL) continue;
        if (!is_local(f, a) || in->is_atomic || (in->is_store && !note_store(array, a))) return false;
        u32 symbol = f->affine->factors[a->base].id;
        if (array->symbol != WL_NONE && array->symbol != symbol) return false;
        array->symbol = symbol;
    }
    for (u32 k = 0; k < array->words; k++)
        if (array->store_of[k] == WL_NONE) return false;
    return array->words > 0;
}

static bool is_load(const AffineAccess *a, const FlowInsn *in) { return a->space == SPACE_LOCAL && in->is_load; }

// All stores come before all loads.
static bool is_stored_before(const Array *array) {
    const TimeFunc *f = array->f;
    for (u32 k = 0; k < f->affine->access_count; k++) {
        const AffineAccess *a = &f->affine->accesses[k];
        if (!is_load(a, &f->code->insns[a->insn])) continue;
        for (u32 w = 0; w < array->words; w++) {
            u32 store = f->cfg->block_of[array->store_of[w]], load = f->cfg->block_of[a->insn];
            if (store == load ? array->store_of[w] > a->insn : !dom_dominates(f->dominators, store, load)) return false;
        }
    }
    return true;
}

static bool is_worth_it(const Array *array) {
    const TimeFunc *f = array->f;
    u64 chosen = 0, all = 0;
    for (u32 i = 0; i < f->code->insn_count; i++)
        if (f->picked[i].needed) all += weight_at(f, i) * time_step_count(f, i);
    for (u32 k = 0; k < f->affine->access_count; k++) {
        const AffineAccess *a = &f->affine->accesses[k];
        if (is_load(a, &f->code->insns[a->insn])) chosen += weight_at(f, a->insn) * (array->words + LOADED);
    }
    return chosen <= all;
}

static void take_apart(Array *array) {
    TimeFunc *f = array->f;
    for (u32 w = 0; w < array->words; w++) {
        u32 store = array->store_of[w];
        const FlowInsn *in = &f->code->insns[store];
        u32 value = time_uses(f, store)[in->address_use == 0].id, def = f->sole_def[value];
        f->array[w] = (ArrayWord){.value = value, .constant = WL_NONE};
        f->gone[store] = true;
        if (def == WL_NONE || f->code->insns[def].arith != FLOW_LOAD_PARAM || !f->function->is_entry) continue;
        f->array[w].constant = def;
        if (f->use_count[value] == 1) f->gone[def] = true;
    }
    f->array_words = array->words;
    for (u32 k = 0; k < f->affine->access_count; k++) {
        const AffineAccess *a = &f->affine->accesses[k];
        if (is_load(a, &f->code->insns[a->insn])) f->chosen[a->insn] = true;
    }
}

Status time_take_arrays_apart(TimeFunc *f) {
    Array array = {.f = f, .symbol = WL_NONE};
    f->chosen = ARENA_ARRAY(&f->lower->scratch, bool, f->code->insn_count + 1);
    f->array = ARENA_ARRAY(&f->lower->scratch, ArrayWord, MOST_WORDS);
    f->compares = ARENA_ARRAY(&f->lower->scratch, ArrayCompare, ARRAY_COMPARES);
    f->array_words = f->compare_count = 0;
    if (!f->chosen || !f->array || !f->compares) return STATUS_NO_MEMORY;
    if (f->affine && f->lower->gpu->imc && find_stores(&array) && is_stored_before(&array) && is_worth_it(&array))
        take_apart(&array);
    return STATUS_OK;
}
