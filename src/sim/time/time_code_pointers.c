// SPDX-License-Identifier: Apache-2.0
// Pointers that go on from turn to turn of a loop that is not unrolled. An access reads an aligned pair of registers;
// where the sum that moves the pointer on is two instructions (IADD3, IADD3.X) its words lie anywhere, and each turn
// begins with two moves into a pair. ptxas 13.0 for sm_90, 198 loops of one pointer: 6 ways to begin, 11 kinds of
// accesses, 3 ways to go on; these rules give the moves of 179 of them. Of 24 loops of programs that copy a word to
// shared memory 10 have one move, 7 two. Through a pointer that goes on by a register, 2 to 6 loads have two moves,
// whichever of 10 ways it began, 7 and 8 one, and 9 to 24 none: the sum comes behind them all, into the same pair.
#include "sim/time/time_lower.h"

enum { ALIASES = 8, PAIR = 2, WORD = 4 /* bytes */ };
enum { SOME = 7, MANY = 9 };  // accesses through a pointer of one move; of none

// What the pointer is when the loop begins: a pair that one product and sum has made (IMAD.WIDE), a parameter, words
// that a load has brought, or two instructions' (LEA, LEA.HI.X).
typedef enum Begin { BEGIN_PRODUCT, BEGIN_PARAMETER, BEGIN_LOADED, BEGIN_WORDS } Begin;

typedef struct Pointer {
    u32 value, loop;
    u32 from, on;  // its definition before the loop, and in it
} Pointer;

// Behind copies.
static u32 made_by(const TimeFunc *f, u32 insn) {
    for (u32 i = 0; i < ALIASES; i++) {
        const FlowOperand *use = time_uses(f, insn);
        bool copies = time_op(f, insn) == OP_MOV || time_op(f, insn) == OP_CVTA;
        if (!copies || use->kind != FLOW_VALUE || f->sole_def[use->id] == WL_NONE) break;
        insn = f->sole_def[use->id];
    }
    return insn;
}

// A value that one definition before the loop and one in it have made.
static bool find_pointer(const TimeFunc *f, u32 value, u32 loop, Pointer *p) {
    *p = (Pointer){value, loop, WL_NONE, WL_NONE};
    if (f->code->value_bits[value] != 64 || f->first_def[value + 1] - f->first_def[value] != 2) return false;
    for (u32 d = f->first_def[value]; d < f->first_def[value + 1]; d++) {
        u32 insn = f->defs_of[d];
        *(flow_loop_has(f->loops, loop, f->cfg->block_of[insn]) ? &p->on : &p->from) = insn;
    }
    if (p->from == WL_NONE || p->on == WL_NONE) return false;
    p->on = made_by(f, p->on);
    return f->code->insns[p->on].arith == FLOW_ADD && flow_loop_has(f->loops, loop, f->cfg->block_of[p->on]);
}

static bool by_product(const TimeFunc *f, u32 insn) {
    u32 op = time_op(f, f->picked[insn].steps);
    return op == OP_MUL_WIDE || op == OP_MAD_WIDE;
}

static Begin begin_of(const TimeFunc *f, u32 from) {
    u32 insn = made_by(f, from);
    if (by_product(f, insn)) return BEGIN_PRODUCT;
    const FlowInsn *in = &f->code->insns[insn];
    if (in->arith == FLOW_LOAD_PARAM) return BEGIN_PARAMETER;
    return in->is_load ? BEGIN_LOADED : BEGIN_WORDS;
}

typedef struct Uses {
    u32 first, loads, stores;  // `first`: WL_NONE
    bool wide;                 // more than a word at once
    bool copied;               // what is loaded is stored elsewhere, nothing else
} Uses;

// Whether the word that is loaded is for a store of the same block only.
static bool is_copied(const TimeFunc *f, u32 load) {
    u32 use, reader = time_only_reader(f, load, &use);
    return reader != WL_NONE && f->code->insns[reader].is_store && use != f->code->insns[reader].address_use;
}

static bool is_through(const TimeFunc *f, u32 insn, u32 pointer) {
    const FlowInsn *in = &f->code->insns[insn];
    bool accesses = in->is_load || in->is_store || in->is_atomic;
    return accesses && f->picked[insn].needed && f->picked[insn].base == pointer;
}

static void count_uses(const TimeFunc *f, const Pointer *p, Uses *uses) {
    *uses = (Uses){.first = WL_NONE};
    for (u32 b = 0; b < f->cfg->block_count; b++) {
        const FlowBlock *block = &f->cfg->blocks[b];
        if (!flow_loop_has(f->loops, p->loop, b)) continue;
        for (u32 i = block->first; i < block->first + block->count; i++) {
            if (!is_through(f, i, p->value)) continue;
            const FlowInsn *in = &f->code->insns[i];
            if (uses->first == WL_NONE) uses->first = i;
            uses->loads += in->is_load;
            uses->copied |= in->is_load && is_copied(f, i);
            uses->stores += !in->is_load;
            uses->wide |= in->access_bytes * (in->is_load ? in->defs : in->uses - 1u) > WORD;
        }
    }
}

static u32 moves_of(const Uses *uses, Begin begin, bool product) {
    u32 accesses = uses->loads + uses->stores;
    if (accesses >= SOME) return accesses < MANY;
    if (product) return begin == BEGIN_WORDS ? PAIR : 0;
    if (accesses > 1 || uses->wide)
        return begin == BEGIN_PRODUCT && !uses->wide && (uses->loads == 2 || (uses->loads && uses->stores)) ? 0 : PAIR;
    if (uses->loads) return begin == BEGIN_PARAMETER ? PAIR : uses->copied;
    return begin == BEGIN_PRODUCT ? 0 : PAIR;
}

u32 time_pointer_moves(const TimeFunc *f, u32 insn) {
    Pointer p;
    Uses uses;
    u32 block = f->cfg->block_of[insn], loop = f->loops->loop_of[block], base = f->picked[insn].base;
    if (loop == WL_NONE || f->unrolled[block] || base == WL_NONE || !is_through(f, insn, base)) return 0;
    if (!find_pointer(f, base, loop, &p)) return 0;
    count_uses(f, &p, &uses);
    return uses.first == insn ? moves_of(&uses, begin_of(f, p.from), by_product(f, p.on)) : 0;
}
