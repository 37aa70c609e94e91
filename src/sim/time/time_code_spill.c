// SPDX-License-Identifier: Apache-2.0
// Spills. Where more registers are alive than the kernel has, values lie in local memory: each is stored behind what
// computes it and loaded before it is read (Chaitin and others: "Register Allocation via Coloring", Computer Languages
// 1981), those first that are touched least, weighted by loops, for the places of too many registers that they are
// alive at. A load goes ahead of its reader, and what was loaded or computed stays for the next reader, as long as a
// register is free: in ptxas' code half of the loads stand 20 instructions and more before their use (23 kernels with
// launch bounds, ptxas 13.0, sm_90: examples/advice, rule spills).
#include "sim/time/time_lower.h"

#include <string.h>

enum {
    RESERVED = 6,        // registers that hold no value: the stack pointer, and what pairs at even places lose
    AHEAD = 20,          // instructions by which a load goes ahead of its reader
    KEPT = 1000,         // ... for which a value stays for its next reader
    LOOP_WEIGHT = 8,     // turns of a loop
    MOST_VALUES = 2048,  // that are spilled
    MOST_WORDS = 4,      // of one
    MOST_MORE = 64,      // registers
    MOST_LESS = 32
};

typedef struct Touch {
    u32 op;
    bool reads, writes;  // written under a guard: both
} Touch;

typedef struct Move {  // a load before an operation, or a store behind one
    u32 value, of;     // of: the operation that it is for
    u32 next;          // WL_NONE
} Move;

typedef struct Hull {
    u32 begin, end;  // operations
} Hull;

typedef struct Spiller {
    TimeFunc *f;
    const Cfg *cfg;  // of the operations
    const Liveness *live;
    u32 limit;
    const u32 *alive_at;  // by operation: registers alive before it
    u32 *units;           // ... without those of spilled values but where it reads them
    u32 *first_touch;     // value v: touches[first_touch[v]] up to touches[first_touch[v + 1]], ascending
    Touch *touches;
    bool *held;   // value -> not to be spilled
    bool *fixed;  // ... or spilled already
    f64 *cost;    // ... touches, weighted
    u32 *freed;   // ... operations with too many registers where it is alive
    Hull *hull;   // ... of spilled values
    u32 *slot;    // ... first word of the frame
    Bitset alive;
    TimeWords chosen;
    u8 taken[2 * MOST_VALUES * MOST_WORDS];  // words of the frame, while a value is placed; half of it may be gaps
    Vec(Move) moves;
    u32 *before, *behind;  // operation -> its first move
} Spiller;

static const MachineOp *op_at(const Spiller *s, u32 i) { return &s->f->ops.data[i]; }
static u32 words_of(const Spiller *s, u32 value) { return (s->f->value_bits.data[value] + 31u) / 32; }
static bool is_register(const Spiller *s, u32 value) { return s->f->value_bits.data[value] > 1; }
static bool is_wide(const Spiller *s, u32 value) { return words_of(s, value) > MOST_WORDS; }

// --- touches ------------------------------------------------------------------------------------------------------
static f64 weight_of(const Spiller *s, const MachineOp *op) {
    const Loops *loops = s->f->loops;
    u32 loop = loops->loop_of[s->f->cfg->block_of[op->pc]], depth = loop == WL_NONE ? 0 : loops->loops[loop].depth;
    f64 weight = 1;
    if (depth && op->version == VERSION_ENTRY) depth--;
    for (u32 k = 0; k < depth; k++) weight *= LOOP_WEIGHT;
    return weight;
}

// What is not issued needs its values where they are, and products that nobody waits for theirs.
static bool holds(const MachineOp *op) { return op->hidden || op->kind == TIME_GMMA || op->kind == TIME_GMMA_WAIT; }

// Counts the touches of an operation, or with `add` notes them; of one value there is one.
static void touch(Spiller *s, u32 i, u32 *count, bool add) {
    const MachineOp *op = op_at(s, i);
    const u32 *operands = s->f->operands.data + op->operands;
    for (u32 k = 0; k < (u32)op->defs + op->uses; k++) {
        u32 v = operands[k];
        bool write = k < op->defs, read = !write || op->guard != WL_NONE;
        if (!is_register(s, v)) continue;
        if (!add) {
            count[v]++;
            s->cost[v] += weight_of(s, op);
            s->held[v] |= holds(op);
            continue;
        }
        Touch *last = s->touches + count[v] - 1;
        if (count[v] > s->first_touch[v] && last->op == i)
            last->reads |= read, last->writes |= write;
        else
            s->touches[count[v]++] = (Touch){i, read, write};
    }
}

// Touches of one operation that count once leave room at the end of the value's, which is filled up.
static Status find_touches(Spiller *s) {
    Arena *arena = &s->f->lower->scratch;
    u32 values = s->f->value_count, *count = ARENA_ARRAY(arena, u32, values + 1), all = 0;
    if (!count) return STATUS_NO_MEMORY;
    for (u32 i = 0; i < s->f->ops.len; i++) touch(s, i, count, false);
    for (u32 v = 0; v <= values; v++) {
        u32 own = v < values ? count[v] : 0;
        s->first_touch[v] = count[v] = all;
        all += own;
    }
    s->touches = ARENA_ARRAY(arena, Touch, all + 1);
    if (!s->touches) return STATUS_NO_MEMORY;
    for (u32 i = 0; i < s->f->ops.len; i++) touch(s, i, count, true);
    for (u32 v = 0; v < values; v++)
        for (u32 k = count[v]; k < s->first_touch[v + 1]; k++) s->touches[k] = (Touch){.op = WL_NONE};
    return STATUS_OK;
}

static u32 touches_end(const Spiller *s, u32 value) {
    u32 end = s->first_touch[value + 1];
    while (end > s->first_touch[value] && s->touches[end - 1].op == WL_NONE) end--;
    return end;
}

// --- which values -------------------------------------------------------------------------------------------------
static bool is_alive_behind(const Spiller *s, u32 b, u32 value) {
    const FlowBlock *block = &s->cfg->blocks[b];
    for (u32 k = 0; k < block->succ_count; k++)
        if (liveness_has_in(s->live, s->cfg->edges[block->succs + k], value)) return true;
    return false;
}

static void count_freed(Spiller *s) {
    for (u32 b = 0; b < s->cfg->block_count; b++) {
        const FlowBlock *block = &s->cfg->blocks[b];
        if (!block->reachable) continue;
        bitset_clear(&s->alive);
        liveness_add_out(s->live, b, &s->alive);
        for (u32 i = block->first + block->count; i-- > block->first;) {
            liveness_step_back(s->cfg->code, i, &s->alive);
            if (s->units[i] <= s->limit) continue;
            for (u32 v = bitset_next(&s->alive, 0); v != WL_NONE; v = bitset_next(&s->alive, v + 1)) s->freed[v]++;
        }
    }
}

// The value is not in its register any more but where it is read.
static void free_in_block(Spiller *s, u32 b, u32 value, u32 first, u32 *k) {
    const FlowBlock *block = &s->cfg->blocks[b];
    bool alive = is_alive_behind(s, b, value);
    while (*k > first && s->touches[*k - 1].op >= block->first + block->count) --*k;
    for (u32 i = block->first + block->count; i-- > block->first;) {
        const Touch *t = *k > first && s->touches[*k - 1].op == i ? &s->touches[--*k] : NULL;
        if (t) alive = t->reads;
        if (!alive && !t) continue;
        if (alive && (!t || !t->reads)) s->units[i] -= words_of(s, value);
        if (i < s->hull[value].begin) s->hull[value].begin = i;
        if (i > s->hull[value].end) s->hull[value].end = i;
    }
}

static Status spill(Spiller *s, u32 value) {
    u32 k = touches_end(s, value);
    s->fixed[value] = true;
    s->hull[value] = (Hull){.begin = WL_NONE};
    for (u32 b = s->cfg->block_count; b-- > 0;)
        if (s->cfg->blocks[b].reachable) free_in_block(s, b, value, s->first_touch[value], &k);
    return vec_push(&s->chosen, value);
}

static bool touches(const Spiller *s, u32 i, u32 value) {
    const MachineOp *op = op_at(s, i);
    for (u32 k = 0; k < (u32)op->defs + op->uses; k++)
        if (s->f->operands.data[op->operands + k] == value) return true;
    return false;
}

// The one to spill of those alive before an operation that does not touch it; WL_NONE.
static u32 choose_at(Spiller *s, u32 at) {
    u32 b = s->cfg->block_of[at], best = WL_NONE;
    const FlowBlock *block = &s->cfg->blocks[b];
    bitset_clear(&s->alive);
    liveness_add_out(s->live, b, &s->alive);
    for (u32 i = block->first + block->count; i-- > at;) liveness_step_back(s->cfg->code, i, &s->alive);
    for (u32 v = bitset_next(&s->alive, 0); v != WL_NONE; v = bitset_next(&s->alive, v + 1)) {
        if (!is_register(s, v) || is_wide(s, v) || s->fixed[v] || touches(s, at, v)) continue;
        f64 price = s->cost[v] / (s->freed[v] + 1);
        if (best == WL_NONE || price < s->cost[best] / (s->freed[best] + 1)) best = v;
    }
    return best;
}

static Status choose(Spiller *s, u32 limit) {
    u32 values = s->f->value_count;
    s->limit = limit;
    s->chosen.len = 0;
    memcpy(s->units, s->alive_at, sizeof *s->units * s->f->ops.len);
    memcpy(s->fixed, s->held, sizeof *s->fixed * values);
    memset(s->freed, 0, sizeof *s->freed * values);
    count_freed(s);
    while (s->chosen.len < MOST_VALUES) {  // MOST_VALUES * MOST_WORDS < SPILL_WORDS
        u32 worst = 0;
        for (u32 i = 0; i < s->f->ops.len; i++)
            if (s->units[i] > s->units[worst]) worst = i;
        if (!s->f->ops.len || s->units[worst] <= s->limit) break;
        u32 value = choose_at(s, worst);
        if (value != WL_NONE)
            TRY(spill(s, value));
        else
            s->units[worst] = s->limit;  // it needs what it has
    }
    return STATUS_OK;
}

// --- where they are loaded and stored -----------------------------------------------------------------------------
static Status add_move(Spiller *s, u32 *list, u32 at, u32 value, u32 of) {
    TRY(vec_push(&s->moves, (Move){value, of, list[at]}));
    list[at] = s->moves.len - 1;
    return STATUS_OK;
}

// Whether the value has a register before the operations [from, to), which it takes then.
static bool take(Spiller *s, u32 value, u32 from, u32 to) {
    u32 words = words_of(s, value);
    for (u32 i = from; i < to; i++)
        if (s->units[i] + words > s->limit) return false;
    for (u32 i = from; i < to; i++) s->units[i] += words;
    return true;
}

// From touch *k of a block on, of those up to `end`: it is loaded if that reads, stays while it can, and is stored.
// `from`: the first operation that the load may stand before, which becomes the one behind it all.
static Status stay(Spiller *s, u32 value, u32 *k, u32 end, u32 block_end, u32 *from) {
    const Touch *t = &s->touches[*k];
    u32 start = t->op, last = t->op, written = t->writes ? t->op : WL_NONE;
    while (t->reads && start > *from && t->op - start < AHEAD && take(s, value, start - 1, start)) start--;
    if (t->reads) TRY(add_move(s, s->before, start, value, t->op));
    for (++*k; *k < end; ++*k) {
        const Touch *next = &s->touches[*k];
        if (next->op >= block_end || !next->reads || next->op - last > KEPT) break;
        if (!take(s, value, last + 1, next->op)) break;
        last = next->op;
        if (next->writes) written = last;
    }
    *from = last + 1;
    if (written == WL_NONE) return STATUS_OK;
    bool more = *k < end && s->touches[*k].op < block_end;
    bool needed = more ? s->touches[*k].reads : is_alive_behind(s, s->cfg->block_of[last], value);
    return needed ? add_move(s, s->behind, written, value, written) : STATUS_OK;
}

static Status place_moves(Spiller *s, u32 value) {
    u32 end = touches_end(s, value), from = 0, block_end = 0;
    for (u32 k = s->first_touch[value]; k < end;) {
        u32 op = s->touches[k].op;
        const FlowBlock *block = &s->cfg->blocks[s->cfg->block_of[op]];
        if (op >= block_end) from = block->first, block_end = block->first + block->count;
        if (block->reachable)
            TRY(stay(s, value, &k, end, block_end, &from));
        else
            k++;
    }
    return STATUS_OK;
}

static bool is_free(const Spiller *s, u32 slot, u32 words) {
    for (u32 k = 0; k < words; k++)
        if (s->taken[slot + k]) return false;
    return true;
}

// Values that are never alive at once share a place: each has the first that is free. Returns the words of all.
static u32 place_slots(Spiller *s) {
    u32 frame = 0;
    for (u32 i = 0; i < s->chosen.len; i++) {
        u32 v = s->chosen.data[i], words = words_of(s, v), slot = 0;
        memset(s->taken, 0, frame + 2 * MOST_WORDS);
        for (u32 k = 0; k < i; k++) {
            u32 w = s->chosen.data[k];
            bool apart = s->hull[w].end < s->hull[v].begin || s->hull[v].end < s->hull[w].begin;
            if (!apart) memset(s->taken + s->slot[w], 1, words_of(s, w));
        }
        while (!is_free(s, slot, words)) slot += words;
        s->slot[v] = slot;
        if (slot + words > frame) frame = slot + words;
    }
    return frame;
}

static Status add_op(Spiller *s, MachineOps *to, const Move *move, bool load) {
    const MachineOp *of = op_at(s, move->of);
    MachineOp op = {.pc = of->pc,
                    .operands = s->f->operands.len,
                    .defs = load,
                    .uses = !load,
                    .kind = load ? TIME_LOAD : TIME_STORE,
                    .unit = UNIT_LSU,
                    .interval = 1,
                    .order = load ? ORDER_LOAD : ORDER_STORE,
                    .version = of->version,
                    .iteration = of->iteration,
                    .space = SPACE_LOCAL,
                    .bytes = (u8)(4 * words_of(s, move->value)),
                    .constant = time_spilled(s->slot[move->value], words_of(s, move->value)),
                    .guard = WL_NONE,
                    .base = WL_NONE,
                    .symbol = WL_NONE};
    TRY(vec_push(&s->f->operands, move->value));
    return vec_push(to, op);
}

static Status insert_moves(Spiller *s) {
    MachineOps all = {0};
    Status status = vec_reserve(&all, s->f->ops.len + s->moves.len);
    for (u32 i = 0; i < s->f->ops.len && status == STATUS_OK; i++) {
        for (u32 m = s->before[i]; m != WL_NONE && status == STATUS_OK; m = s->moves.data[m].next)
            status = add_op(s, &all, &s->moves.data[m], true);
        if (status == STATUS_OK) status = vec_push(&all, s->f->ops.data[i]);
        for (u32 m = s->behind[i]; m != WL_NONE && status == STATUS_OK; m = s->moves.data[m].next)
            status = add_op(s, &all, &s->moves.data[m], false);
    }
    if (status != STATUS_OK) return vec_free(&all), status;
    vec_free(&s->f->ops);
    s->f->ops = all;
    return STATUS_OK;
}

static Status place_all(Spiller *s) {
    s->moves.len = 0;
    memset(s->before, 0xff, sizeof(u32) * s->f->ops.len);
    memset(s->behind, 0xff, sizeof(u32) * s->f->ops.len);
    for (u32 i = 0; i < s->chosen.len; i++) TRY(place_moves(s, s->chosen.data[i]));
    return STATUS_OK;
}

// What the machine code has of them.
typedef struct Wanted {
    u32 accesses;  // WL_NONE: not known
    u32 frame;     // words, where they are not
} Wanted;

// The values that are spilled with so many registers, and whether they are too many.
static Status attempt(Spiller *s, u32 limit, const Wanted *wanted, bool *many) {
    TRY(choose(s, limit));
    TRY(place_all(s));
    *many = wanted->accesses == WL_NONE ? place_slots(s) > wanted->frame : s->moves.len > wanted->accesses;
    return STATUS_OK;
}

static u32 own_accesses(const Spiller *s) {
    u32 count = 0;
    for (u32 i = 0; i < s->f->ops.len; i++) count += op_at(s, i)->space == SPACE_LOCAL;
    return count;
}

// ptxas spills values in parts and keeps others in fewer registers than there are: the number of registers is what
// makes as many accesses of it as the machine code has, or, if they are not known, the least that keeps to its frame.
static Status choose_known(Spiller *s, u32 limit, u32 frame) {
    u32 all = s->f->lower->known.local_accesses, own = own_accesses(s);
    Wanted wanted = {.accesses = !all ? WL_NONE : all > own ? all - own : 0, .frame = frame};
    bool many;
    TRY(attempt(s, limit, &wanted, &many));
    if (!many && wanted.accesses == WL_NONE) return STATUS_OK;
    u32 low = many ? limit : limit > MOST_LESS ? limit - MOST_LESS : 0, high = many ? limit + MOST_MORE : limit;
    while (low + 1 < high) {
        u32 middle = (low + high) / 2;
        TRY(attempt(s, middle, &wanted, &many));
        *(many ? &low : &high) = middle;
    }
    return attempt(s, high, &wanted, &many);
}

static Status spiller_init(Spiller *s, TimeFunc *f, Cfg *cfg, Liveness *live, const u32 *alive_at) {
    Arena *arena = &f->lower->scratch;
    u32 values = f->value_count + 2, ops = f->ops.len + 1;
    *s = (Spiller){.f = f, .cfg = cfg, .live = live, .alive_at = alive_at};
    s->units = ARENA_ARRAY(arena, u32, ops);
    s->held = ARENA_ARRAY(arena, bool, values);
    s->first_touch = ARENA_ARRAY(arena, u32, values);
    s->fixed = ARENA_ARRAY(arena, bool, values);
    s->cost = ARENA_ARRAY(arena, f64, values);
    s->freed = ARENA_ARRAY(arena, u32, values);
    s->hull = ARENA_ARRAY(arena, Hull, values);
    s->slot = ARENA_ARRAY(arena, u32, values);
    s->before = ARENA_ARRAY(arena, u32, ops);
    s->behind = ARENA_ARRAY(arena, u32, ops);
    bool made = s->units && s->held && s->first_touch && s->fixed && s->cost && s->freed && s->hull && s->slot &&
                s->before && s->behind;
    if (!made || !bitset_init(&s->alive, arena, values)) return STATUS_NO_MEMORY;
    memset(s->before, 0xff, sizeof(u32) * ops);
    memset(s->behind, 0xff, sizeof(u32) * ops);
    return find_touches(s);
}

static Status spill_all(Spiller *s, u32 limit) {
    u32 known = time_spilled_bytes(s->f) / 4;
    limit = limit > RESERVED ? limit - RESERVED : 1;
    if (known) {
        TRY(choose_known(s, limit, known));
    } else {
        TRY(choose(s, limit));
        TRY(place_all(s));
    }
    u32 frame = place_slots(s);
    if (frame > s->f->lower->frame) s->f->lower->frame = frame;
    return insert_moves(s);
}

Status time_spill(TimeFunc *f) {
    Cfg *cfg;
    Liveness *live;
    RegisterPressure all;
    u32 *alive_at = ARENA_ARRAY(&f->lower->scratch, u32, f->ops.len + 1), pressure = 0;
    if (!alive_at) return STATUS_NO_MEMORY;
    if (!f->function->is_entry) return STATUS_OK;
    TRY(time_flow(f, &cfg, &live));
    TRY(flow_pressure_by_insn(live, alive_at, NULL, &all));
    for (u32 i = 0; i < f->ops.len; i++)
        if (f->ops.data[i].version == VERSION_PLAIN && alive_at[i] > pressure) pressure = alive_at[i];
    u32 limit = time_spill_limit(f, pressure);
    if (!limit) return STATUS_OK;
    Spiller s;
    Status status = spiller_init(&s, f, cfg, live, alive_at);
    if (status == STATUS_OK) status = spill_all(&s, limit);
    vec_free(&s.chosen);
    vec_free(&s.moves);
    return status;
}
