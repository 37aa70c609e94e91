// SPDX-License-Identifier: Apache-2.0
// List scheduling of each region (Gibbons, Muchnick: "Efficient Instruction Scheduling for a Pipelined Architecture",
// 1986): of the operations whose sources are ready, the one with the longest way to the region's end first. Loads count
// with a latency that brings them to the front. Where an operation would keep too many registers alive, those that need
// no more go first, those that are ready later included (Goodman, Hsu: "Code Scheduling and Register Allocation in
// Large Basic Blocks", 1988); when there are none, the oldest, which is the order of the PTX. So ptxas interleaves
// independent chains, within 32 registers or what the order of the PTX needs, and loads before their turn leave room
// for what that order still needs: docs/timing-code.md. What loads of global memory need goes before everything else,
// wave by wave: see find_waves. Work is about n log n: memory order looks back at a bounded number of accesses, few
// operations are passed over.
#include "sim/time/time_lower.h"

#include <string.h>

// Latencies that the order aims at, cycles. Of what is independent of a load of shared memory ptxas puts as much behind
// it as takes 40 cycles, and 4 between two such loads, whatever their width (SASS of ptxas 13.0 for sm_90,
// accumulators_test). A constant [M of timing.def]. Other loads: an L1 hit; since Maxwell more than anything that is
// there to be done in the meantime, as ptxas sees it (sums along a chain of addresses: all 16 loads first).
enum { LSU_CYCLES = 2, SHARED_INTERVAL = 4 };
enum {
    LOAD_CYCLES = 40,
    FAR_CYCLES = 200,
    SHARED_CYCLES = 40,
    CONST_CYCLES = 30,
    TEXTURE_CYCLES = 90,
    ACCESSES_KEPT = 256
};

// Registers: those that cost no occupancy since Volta; what comes on top of what is alive. Loads may take all that
// leave the SM as many CTAs, those of shared memory up to 16 more than the next eight (SGEMM_CUDA's sgemmWarptiling:
// five loads of four words each before the first product, the sixth when one has been used up); what else there is,
// addresses as well, the next eight: it would go long before its turn, where stores hold up the loads that it is for.
// What unrolled loops compute from their loads has more: ptxas keeps what does not change in the loop in other places.
enum { FEW_REGISTERS = 32, OVERHEAD = 4, NEAR_ROOM = 16, UNROLLED_ROOM = 32, NEEDS_MOST = 4 };

// P0 to P6: conditions that are alive at once.
enum { PREDICATES = 7 };

// Operations need not be looked at as long as so many registers are free; how many that need too many are passed over.
enum { EASY_REGISTERS = 16, CHOICES_SEEN = 32 };

// Waves that are told apart; what no far load needs is of wave WAVES.
enum { WAVES = 1023 };

typedef struct Edge {
    u32 to, next;  // next: WL_NONE ends the list
    u32 cycles;
} Edge;

typedef struct Heap {
    u64 *keys;  // smallest first; the operation in the low half
    u32 len;
} Heap;

typedef struct Access {
    u32 op;
    bool store;
} Access;

typedef struct Scheduler {
    TimeFunc *f;
    u32 first, count;  // operations under work
    Vec(Edge) edges;
    u32 *edge_of;       // per operation of the block: first edge
    u32 *waits;         // edges into it that are not satisfied
    u32 *path, *ready;  // cycles to the end; cycle from which it can issue
    bool *done;
    u32 *wave;                // see find_waves
    u32 waiting[WAVES + 1];   // operations of `later` by wave
    u32 first_wave;           // the first one that has any
    bool held;                // an operation could go, but an earlier wave is not done
    u32 *first_use;           // ... the first operation that waits for it, in the order of the PTX
    u32 *left, *shared_left;  // Fenwick trees: operations not scheduled yet, loads from shared memory among them
    // per value, valid for stamp
    bool *live;  // it has a value that is read later; registers that PTX defines again and again count once
    u32 *stamp, *writer, *readers;  // readers: Edge list (to = reader)
    u32 *uses_left;                 // per value: reads not scheduled yet in the run, up to where it gets another value
    bool *rewritten;                // ... whether it gets another one in the run
    u32 *result;                    // ... place in `operands` of its last result, while dependences are found; WL_NONE
    u32 *uses_of;                   // per place of a result in `operands`: what uses_left becomes with it
    bool *replaced;                 // ... what `rewritten` becomes
    const Cfg *cfg;
    const Liveness *liveness;
    Bitset out;       // values alive behind the run
    u32 out_at;       // ... which is before this operation
    u32 *units;       // per operation: registers alive before it, in the order of the PTX
    u32 *predicates;  // ... predicates
    u32 *peak;        // ... the most of them from it to the end of the run
    Vec(Edge) reader_list;
    u32 round;
    Access accesses[ACCESSES_KEPT];
    u32 access_count;
    u32 fence;  // last operation that no access crosses, WL_NONE
    Heap now, later;
    MachineOp *order;
    u32 conditions;             // predicates alive
    u32 lsu_free;               // cycle in which another access can be issued
    u32 unit_free[UNIT_COUNT];  // ... another operation of the unit
    u32 blocked;                // the first cycle in which a unit is free that something ready waits for
    u32 alive;
    u32 limit, near, narrow, room;  // registers: for loads; of shared memory; for addresses; of the run, for the rest
} Scheduler;

// --- heaps
// --------------------------------------------------------------------------------------------------------------
static void heap_push(Heap *h, u64 key) {
    u32 i = h->len++;
    for (; i > 0 && h->keys[(i - 1) / 2] > key; i = (i - 1) / 2) h->keys[i] = h->keys[(i - 1) / 2];
    h->keys[i] = key;
}

static u64 heap_pop(Heap *h) {
    u64 top = h->keys[0], key = h->keys[--h->len];
    u32 i = 0;
    for (u32 child; (child = 2 * i + 1) < h->len; i = child) {
        if (child + 1 < h->len && h->keys[child + 1] < h->keys[child]) child++;
        if (h->keys[child] >= key) break;
        h->keys[i] = h->keys[child];
    }
    h->keys[i] = key;
    return top;
}

// --- dependences
// ----------------------------------------------------------------------------------------------------------
static Status add_edge(Scheduler *s, u32 from, u32 to, u32 cycles) {
    TRY(vec_push(&s->edges, (Edge){to, s->edge_of[from], cycles}));
    s->edge_of[from] = s->edges.len - 1;
    s->waits[to]++;
    return STATUS_OK;
}

static u32 expected_cycles(const Scheduler *s, const MachineOp *op) {
    bool far = s->f->lower->gpu->sm_version >= SM_MAXWELL;
    switch (op->kind) {
    case TIME_LOAD: return op->space == SPACE_SHARED ? SHARED_CYCLES : far ? FAR_CYCLES : LOAD_CYCLES;
    case TIME_ATOMIC: return far ? FAR_CYCLES : LOAD_CYCLES;
    case TIME_CONST: return CONST_CYCLES;
    case TIME_TEXTURE: return far ? FAR_CYCLES : TEXTURE_CYCLES;
    default: return op->latency ? op->latency : 1;
    }
}

static MachineOp *op_at(const Scheduler *s, u32 i) { return &s->f->ops.data[s->first + i]; }

static void touch(Scheduler *s, u32 value, bool read) {
    if (s->stamp[value] == s->round) return;
    s->stamp[value] = s->round;
    s->writer[value] = s->readers[value] = WL_NONE;
    s->uses_left[value] = 0;
    s->rewritten[value] = false;
    s->result[value] = WL_NONE;
    s->live[value] = read;  // what is read first has come with a value
}

// From what computes operand k of an operation until it can read it.
static u32 operand_cycles(const Scheduler *s, const MachineOp *writer, const MachineOp *op, u32 k) {
    const GpuModel *gpu = s->f->lower->gpu;
    u32 guard = k + 1 == op->guard_use ? (u32)gpu->guard_latency : 0;
    return expected_cycles(s, writer) + (guard ? guard : time_late(gpu, time_pipe(writer->unit), time_pipe(op->unit)));
}

// A result ends what its value held before, unless a guard may keep that.
static void note_result(Scheduler *s, const MachineOp *op, u32 k) {
    u32 at = op->operands + k, value = s->f->operands.data[at], before = s->result[value];
    s->uses_of[at] = 0;
    s->replaced[at] = false;
    if (op->guard_use) return;
    *(before == WL_NONE ? &s->rewritten[value] : &s->replaced[before]) = true;
    s->result[value] = at;
}

static Status depend_on_values(Scheduler *s, u32 i) {
    const MachineOp *op = op_at(s, i);
    const u32 *operands = s->f->operands.data + op->operands;
    for (u32 k = 0; k < op->uses; k++) {
        u32 value = operands[op->defs + k];
        touch(s, value, true);
        if (s->writer[value] != WL_NONE)
            TRY(add_edge(s, s->writer[value], i, operand_cycles(s, op_at(s, s->writer[value]), op, k)));
        TRY(vec_push(&s->reader_list, (Edge){i, s->readers[value], 0}));
        s->readers[value] = s->reader_list.len - 1;
        ++*(s->result[value] == WL_NONE ? &s->uses_left[value] : &s->uses_of[s->result[value]]);
    }
    for (u32 k = 0; k < op->defs; k++) {
        u32 value = operands[k];
        touch(s, value, false);
        note_result(s, op, k);
        if (s->writer[value] != WL_NONE) TRY(add_edge(s, s->writer[value], i, 1));
        for (u32 r = s->readers[value]; r != WL_NONE; r = s->reader_list.data[r].next)
            if (s->reader_list.data[r].to != i) TRY(add_edge(s, s->reader_list.data[r].to, i, 0));
        s->writer[value] = i;
        s->readers[value] = WL_NONE;
    }
    return STATUS_OK;
}

static bool may_alias(const MachineOp *a, const MachineOp *b) {
    if (a->space != b->space && a->space != SPACE_NONE && b->space != SPACE_NONE) return false;
    if (a->symbol != b->symbol && a->symbol != WL_NONE && b->symbol != WL_NONE) return false;
    if (a->base != b->base || a->symbol != b->symbol || !a->bytes || !b->bytes) return true;
    return a->offset < b->offset + b->bytes && b->offset < a->offset + a->bytes;
}

static Status depend_on_memory(Scheduler *s, u32 i) {
    const MachineOp *op = op_at(s, i);
    if (op->order == ORDER_FREE) return STATUS_OK;
    if (s->fence != WL_NONE) TRY(add_edge(s, s->fence, i, 1));
    bool fence = op->order >= ORDER_FENCE || s->access_count == ACCESSES_KEPT, store = op->order == ORDER_STORE;
    for (u32 k = 0; k < s->access_count; k++) {
        const Access *access = &s->accesses[k];
        bool ordered = fence || ((store || access->store) && may_alias(op, op_at(s, access->op)));
        if (store && access->store) ordered = true;  // stores keep their order
        if (ordered) TRY(add_edge(s, access->op, i, 1));
    }
    if (fence) {
        s->fence = i;
        s->access_count = 0;
        return STATUS_OK;
    }
    s->accesses[s->access_count++] = (Access){i, store};
    return STATUS_OK;
}

// A predicate, which most likely guards the branch at the end of the block.
static bool makes_guard(const Scheduler *s, u32 i) {
    const MachineOp *op = op_at(s, i);
    bool arithmetic = op->unit == UNIT_ALU || op->unit == UNIT_FP64 || op->unit == UNIT_FP16;
    return op->defs == 1 && arithmetic && s->f->value_bits.data[s->f->operands.data[op->operands]] == 1;
}

// Loads that take longer than what there is to be done in the meantime.
static bool is_far(const Scheduler *s, const MachineOp *op) { return expected_cycles(s, op) >= FAR_CYCLES; }

// What accesses need besides their operands: constants that no operation names.
static bool is_base(const MachineOp *op) { return !op->defs && (op->kind == TIME_FIXED || op->kind == TIME_IMMEDIATE); }

// Far loads are of wave n when n others must have come before them. All that the loads of a wave need goes first, even
// where it waits for latencies that something else could fill: ptxas keeps that for the time that the loads take. (40
// multiply-adds in a chain, a load at their sum and 100 independent products: the products stand behind the load; of
// two loads, the second at what the first one gave, behind the second. Where no load follows, or one of shared memory,
// they fill the gaps of the chain.) The stack pointer and the descriptor of global memory come with the first wave.
static void find_waves(Scheduler *s) {
    bool any = false;
    memset(s->wave, 0, sizeof(u32) * s->count);
    for (u32 i = 0; i < s->count; i++) {
        u32 behind = s->wave[i] + is_far(s, op_at(s, i));
        any |= is_far(s, op_at(s, i));
        if (behind > WAVES - 1) behind = WAVES - 1;
        for (u32 e = s->edge_of[i]; e != WL_NONE; e = s->edges.data[e].next)
            if (s->wave[s->edges.data[e].to] < behind) s->wave[s->edges.data[e].to] = behind;
    }
    for (u32 i = s->count; i-- > 0;) {
        if (!is_far(s, op_at(s, i))) s->wave[i] = any && is_base(op_at(s, i)) ? 0 : WAVES;
        for (u32 e = s->edge_of[i]; e != WL_NONE; e = s->edges.data[e].next) {
            u32 wave = s->wave[s->edges.data[e].to];
            if (wave < s->wave[i]) s->wave[i] = wave;
        }
    }
}

static Status find_dependences(Scheduler *s) {
    s->round++;
    s->edges.len = s->reader_list.len = 0;
    s->access_count = 0;
    s->fence = WL_NONE;
    for (u32 i = 0; i < s->count; i++) {
        s->edge_of[i] = WL_NONE;
        s->waits[i] = s->ready[i] = 0;
        s->done[i] = false;
    }
    for (u32 i = 0; i < s->count; i++) {
        TRY(depend_on_values(s, i));
        TRY(depend_on_memory(s, i));
    }
    find_waves(s);
    for (u32 i = s->count; i-- > 0;) {
        u32 behind = i + 1 < s->count ? s->peak[i + 1] : 0, here = s->units[s->first + i];
        s->peak[i] = here > behind ? here : behind;
        s->path[i] = expected_cycles(s, op_at(s, i)) + (makes_guard(s, i) ? (u32)s->f->lower->gpu->guard_latency : 0);
        for (u32 e = s->edge_of[i]; e != WL_NONE; e = s->edges.data[e].next) {
            u32 way = s->edges.data[e].cycles + s->path[s->edges.data[e].to];
            if (way > s->path[i]) s->path[i] = way;
        }
    }
    return STATUS_OK;
}

// --- how far ahead --------------------------------------------------------------------------------------------------
static void tree_add(u32 *tree, u32 size, u32 at, u32 what) {
    for (at++; at <= size; at += at & -at) tree[at] += what;
}

static u32 tree_sum(const u32 *tree, u32 end) {
    u32 sum = 0;
    for (; end; end -= end & -end) sum += tree[end];
    return sum;
}

static bool is_shared(const MachineOp *op) { return op->kind == TIME_LOAD && op->space == SPACE_SHARED; }

static void begin_trees(Scheduler *s) {
    memset(s->left, 0, sizeof(u32) * (s->count + 1));
    memset(s->shared_left, 0, sizeof(u32) * (s->count + 1));
    for (u32 i = 0; i < s->count; i++) {
        tree_add(s->left, s->count, i, 1);
        if (is_shared(op_at(s, i))) tree_add(s->shared_left, s->count, i, 1);
        s->first_use[i] = s->count;
        for (u32 e = s->edge_of[i]; e != WL_NONE; e = s->edges.data[e].next)
            if (s->edges.data[e].to < s->first_use[i]) s->first_use[i] = s->edges.data[e].to;
    }
}

// Whether a load from shared memory would be there long before its use, were the rest done in the order of the PTX.
static bool is_early(const Scheduler *s, u32 i) {
    if (!is_shared(op_at(s, i)) || s->wave[i] < WAVES) return false;
    u32 issue = tree_sum(s->left, s->first_use[i]), loads = tree_sum(s->shared_left, s->first_use[i]) * SHARED_INTERVAL;
    return (issue > loads ? issue : loads) > SHARED_CYCLES;
}

// --- choosing
// ---------------------------------------------------------------------------------------------------------------
static u64 urgency(const Scheduler *s, u32 i) {
    enum { PATH_BITS = 22, LONGEST = (1 << PATH_BITS) - 1 };
    u32 path = s->path[i] < LONGEST ? s->path[i] : LONGEST;
    return (u64)(s->wave[i] << PATH_BITS | (LONGEST - path)) << 32 | i;
}

static u32 value_units(const Scheduler *s, u32 value) {
    u32 bits = s->f->value_bits.data[value];
    return bits <= 1 ? 0 : (bits + 31) / 32;
}

static bool is_predicate(const Scheduler *s, u32 value) {
    return s->f->value_bits.data[value] == 1 && value != s->f->code->carry;
}

// Whether a value is needed behind all its reads in the run that have not been scheduled.
static bool lives_on(const Scheduler *s, u32 value) { return !s->rewritten[value] && bitset_has(&s->out, value); }

// Whether anybody reads result k.
static bool is_needed(const Scheduler *s, const MachineOp *op, u32 k) {
    u32 at = op->operands + k, value = s->f->operands.data[at];
    if (op->guard_use) return s->uses_left[value] || lives_on(s, value);
    return s->uses_of[at] || (!s->replaced[at] && bitset_has(&s->out, value));
}

static void count_alive(Scheduler *s, const MachineOp *op) {
    const u32 *operands = s->f->operands.data + op->operands;
    for (u32 k = 0; k < op->uses; k++) {
        u32 value = operands[op->defs + k];
        if (--s->uses_left[value] == 0 && !lives_on(s, value) && s->alive >= value_units(s, value)) {
            s->alive -= value_units(s, value);
            s->conditions -= is_predicate(s, value) && s->live[value] && s->conditions;
            s->live[value] = false;
        }
    }
    for (u32 k = 0; k < op->defs; k++) {
        u32 value = operands[k];
        bool needed = is_needed(s, op, k);
        if (needed && !s->live[value]) {
            s->alive += value_units(s, value);
            s->conditions += is_predicate(s, value);
        }
        s->live[value] = needed;
        if (op->guard_use) continue;
        s->uses_left[value] = s->uses_of[op->operands + k];
        s->rewritten[value] = s->replaced[op->operands + k];
    }
}

static void release(Scheduler *s, u32 i, u32 cycle) {
    for (u32 e = s->edge_of[i]; e != WL_NONE; e = s->edges.data[e].next) {
        Edge edge = s->edges.data[e];
        if (cycle + edge.cycles > s->ready[edge.to]) s->ready[edge.to] = cycle + edge.cycles;
        if (--s->waits[edge.to]) continue;
        u32 wave = s->wave[edge.to];
        heap_push(&s->later, (u64)s->ready[edge.to] << 32 | edge.to);
        s->waiting[wave]++;
        if (wave < s->first_wave) s->first_wave = wave;
    }
}

// Operations whose sources are there by now.
static void take_ready(Scheduler *s, u32 cycle) {
    while (s->later.len && s->later.keys[0] >> 32 <= cycle) {
        u32 i = (u32)heap_pop(&s->later);
        s->waiting[s->wave[i]]--;
        while (s->first_wave < WAVES && !s->waiting[s->first_wave]) s->first_wave++;
        heap_push(&s->now, urgency(s, i));
    }
}

// Whether nobody reads the operation's source k behind it; of equal sources the first one says so.
static bool is_last_read(const Scheduler *s, const MachineOp *op, u32 k) {
    const u32 *sources = s->f->operands.data + op->operands + op->defs;
    u32 value = sources[k], left = s->uses_left[value];
    if (left > op->uses || lives_on(s, value)) return false;
    if (left == 1) return true;
    for (u32 j = 0; j < k; j++)
        if (sources[j] == value) return false;
    for (u32 j = k; j < op->uses; j++) left -= sources[j] == value;
    return left == 0;
}

// By how many registers more are alive behind an operation than before it.
static i32 growth(const Scheduler *s, const MachineOp *op) {
    const u32 *results = s->f->operands.data + op->operands, *sources = results + op->defs;
    i32 units = 0;
    for (u32 k = 0; k < op->uses; k++)
        if (is_last_read(s, op, k)) units -= (i32)value_units(s, sources[k]);
    for (u32 k = 0; k < op->defs; k++)
        if (!s->live[results[k]] && is_needed(s, op, k)) units += (i32)value_units(s, results[k]);
    return units;
}

// Whether the operation has a predicate as result that needs a register of its own while all are taken.
static bool needs_predicate(const Scheduler *s, const MachineOp *op) {
    const u32 *results = s->f->operands.data + op->operands, *sources = results + op->defs;
    u32 last = 0;
    if (op->defs != 1 || !is_predicate(s, results[0]) || s->live[results[0]] || !is_needed(s, op, 0)) return false;
    for (u32 k = 0; k < op->uses; k++) last += is_predicate(s, sources[k]) && is_last_read(s, op, k);
    return s->conditions >= PREDICATES + last;
}

// Loads that take long, and the addresses of such.
static bool is_for_load(const Scheduler *s, const MachineOp *op) {
    bool wide = op->defs == 1 && s->f->value_bits.data[s->f->operands.data[op->operands]] == 64;
    return op->kind == TIME_LOAD ? op->space != SPACE_SHARED : wide && op->unit != UNIT_FP64;
}

// What is alive on top of the order of the PTX stays alive while the rest is done in that order: a load before its turn
// leaves room for what that needs, as far as it is not much.
static u32 most_alive(const Scheduler *s, u32 oldest) {
    u32 in_order = s->units[s->first + oldest], needs = s->peak[oldest] > in_order ? s->peak[oldest] - in_order : 0;
    return s->alive + (needs < NEEDS_MOST ? needs : NEEDS_MOST);
}

static u32 room_for(const Scheduler *s, const MachineOp *op) {
    if (op->kind == TIME_LOAD && op->space == SPACE_SHARED) return s->near;
    return op->kind == TIME_LOAD ? s->limit : is_for_load(s, op) ? s->narrow : s->room;
}

// Whether an operation can go before the oldest one. `waits`: the first load, or address, in the order of the PTX that
// is more urgent and has no room yet; neither other loads take that room, nor what comes behind it in that order.
static bool fits(const Scheduler *s, u32 i, u32 oldest, u32 *waits) {
    if (needs_predicate(s, op_at(s, i))) return false;
    bool far = is_for_load(s, op_at(s, i)), load = far || op_at(s, i)->kind == TIME_LOAD;
    u32 alive = far ? most_alive(s, oldest) : s->alive, room = room_for(s, op_at(s, i));
    i32 more = alive + EASY_REGISTERS < room ? 0 : growth(s, op_at(s, i));
    bool taken = *waits != WL_NONE && (load || i > *waits);
    bool fit = more <= 0 || (alive + (u32)more <= room && !taken);
    if (load && !fit && i < *waits) *waits = i;
    return fit;
}

// The unit that takes a sum or a move which two can do: the one that is free first.
static u8 unit_of(const Scheduler *s, const MachineOp *op) {
    bool other = op->balanced && s->unit_free[UNIT_FMAHEAVY] < s->unit_free[UNIT_ALU];
    return other ? UNIT_FMAHEAVY : op->unit;
}

// Of constants, special functions and accesses the order is another matter.
static bool has_unit(const MachineOp *op) {
    return op->unit == UNIT_ALU || op->unit == UNIT_FMA || op->unit == UNIT_FMAHEAVY || op->unit == UNIT_FP16 ||
           op->unit == UNIT_FP64;
}

// ptxas does not issue to a unit that still takes the last instruction while another one has something to do: chains of
// a minimum and a product come as one of each in turn, not all minima first (bench/hwref/h200-unit-pairs.tsv).
static bool unit_busy(Scheduler *s, const MachineOp *op, u32 cycle) {
    u32 until = has_unit(op) ? s->unit_free[unit_of(s, op)] : 0;
    if (until > cycle && until < s->blocked) s->blocked = until;
    return until > cycle;
}

static void take_unit(Scheduler *s, const MachineOp *op, u32 cycle) {
    if (has_unit(op)) s->unit_free[unit_of(s, op)] = cycle + op->interval;
}

// Loads of shared memory leave room for what is ready between them; of others ptxas issues one behind the other.
static bool is_busy(const Scheduler *s, u32 i, u32 cycle) { return is_shared(op_at(s, i)) && s->lsu_free > cycle; }

// The most urgent operation that can issue and whose results have room; WL_NONE. Those passed over wait in `now`. Those
// of a later wave go only when one of an earlier wave has no room.
static u32 most_urgent(Scheduler *s, u32 cycle, u32 oldest) {
    u64 passed[CHOICES_SEEN];
    u32 count = 0, found = WL_NONE, early = WL_NONE;
    u32 waits = WL_NONE;
    bool full = false;
    s->held = false;
    s->blocked = UINT32_MAX;
    while (s->now.len && count < CHOICES_SEEN && found == WL_NONE && !s->held) {
        u64 key = heap_pop(&s->now);
        u32 i = (u32)key;
        if (s->done[i]) continue;
        s->held = s->wave[i] > s->first_wave && !full;
        bool taken = unit_busy(s, op_at(s, i), cycle);
        bool can = !s->held && !taken && !is_busy(s, i, cycle) && fits(s, i, oldest, &waits);
        if (can && !is_early(s, i)) {
            found = i;
        } else {
            if (can && early == WL_NONE) early = i;
            passed[count++] = key;
            full |= !taken && s->wave[i] < WAVES;
        }
    }
    while (count) heap_push(&s->now, passed[--count]);
    return found != WL_NONE ? found : early;
}

static bool is_ready(const Scheduler *s, u32 i, u32 cycle) {
    return s->waits[i] == 0 && s->ready[i] <= cycle && !is_busy(s, i, cycle);
}

static u32 choose(Scheduler *s, u32 *cycle, u32 *oldest) {
    while (s->done[*oldest]) ++*oldest;
    for (;;) {
        take_ready(s, *cycle);
        u32 i = most_urgent(s, *cycle, *oldest);
        if (i != WL_NONE) return i;
        if (!s->held && is_ready(s, *oldest, *cycle) && growth(s, op_at(s, *oldest)) <= 0) return *oldest;
        u32 next = s->later.len ? (u32)(s->later.keys[0] >> 32) : UINT32_MAX;
        if (s->lsu_free > *cycle && s->lsu_free < next) next = s->lsu_free;
        if (s->blocked < next) next = s->blocked;
        if (next == UINT32_MAX) return *oldest;
        *cycle = next;
    }
}

static Status schedule_run(Scheduler *s) {
    TRY(find_dependences(s));
    s->now.len = s->later.len = s->lsu_free = 0;
    memset(s->unit_free, 0, sizeof s->unit_free);
    s->first_wave = WAVES;
    memset(s->waiting, 0, sizeof s->waiting);
    begin_trees(s);
    for (u32 i = 0; i < s->count; i++)
        if (s->waits[i] == 0) heap_push(&s->now, urgency(s, i));
    u32 cycle = 0, oldest = 0;
    for (u32 n = 0; n < s->count; n++) {
        u32 i = choose(s, &cycle, &oldest);
        s->done[i] = true;
        tree_add(s->left, s->count, i, UINT32_MAX);
        if (is_shared(op_at(s, i))) tree_add(s->shared_left, s->count, i, UINT32_MAX);
        s->order[n] = *op_at(s, i);
        count_alive(s, op_at(s, i));
        release(s, i, cycle);
        take_unit(s, op_at(s, i), cycle);
        if (is_shared(op_at(s, i))) s->lsu_free = cycle + SHARED_INTERVAL;
        cycle += op_at(s, i)->unit == UNIT_LSU && !is_shared(op_at(s, i)) ? LSU_CYCLES : 1;
    }
    memcpy(op_at(s, 0), s->order, sizeof(MachineOp) * s->count);
    return STATUS_OK;
}

// Goes on backwards to what is alive before operation `to`, or behind the one before it if a branch may come there.
static void find_alive(Scheduler *s, u32 to) {
    for (;;) {
        u32 last = s->out_at - 1;
        if (s->out_at == s->f->ops.len || s->cfg->block_of[last] != s->cfg->block_of[s->out_at]) {
            bitset_clear(&s->out);
            liveness_add_out(s->liveness, s->cfg->block_of[last], &s->out);
        }
        if (s->out_at == to) return;
        liveness_step_back(s->cfg->code, s->out_at = last, &s->out);
    }
}

static bool ends_run(const MachineOp *op) { return op->order == ORDER_ALL || op->hidden; }

// Nothing moves across clocks and branches: the operations between them are one run each, from the last to the first.
static Status schedule_block(Scheduler *s, u32 first, u32 end) {
    s->out_at = end;
    for (u32 stop = end; stop > first;) {
        u32 begin = stop;
        while (begin > first && !ends_run(&s->f->ops.data[begin - 1])) begin--;
        s->first = begin;
        s->count = stop - begin;
        if (s->count > 1) {
            find_alive(s, stop);
            s->alive = s->units[begin];
            s->conditions = s->predicates[begin];
            s->room = s->f->ops.data[begin].iteration ? s->narrow + UNROLLED_ROOM : s->narrow;
            TRY(schedule_run(s));
        }
        stop = begin > first ? begin - 1 : first;
    }
    return STATUS_OK;
}

static Status scheduler_init(Scheduler *s, TimeFunc *f) {
    Arena *arena = &f->lower->scratch;
    u32 n = f->ops.len + 1, values = f->value_count + 1;
    u32 **of_ops[] = {&s->edge_of, &s->waits, &s->path,        &s->ready,    &s->peak,
                      &s->wave,    &s->left,  &s->shared_left, &s->first_use};
    u32 **of_values[] = {&s->stamp, &s->writer, &s->readers, &s->uses_left, &s->result};
    for (u32 i = 0; i < WL_COUNT(of_ops); i++)
        if (!(*of_ops[i] = ARENA_ARRAY(arena, u32, n))) return STATUS_NO_MEMORY;
    for (u32 i = 0; i < WL_COUNT(of_values); i++)
        if (!(*of_values[i] = ARENA_ARRAY(arena, u32, values))) return STATUS_NO_MEMORY;
    Cfg *cfg;
    Liveness *live;
    RegisterPressure pressure;
    s->units = ARENA_ARRAY(arena, u32, n);
    s->predicates = ARENA_ARRAY(arena, u32, n);
    if (!s->units || !s->predicates) return STATUS_NO_MEMORY;
    TRY(time_flow(f, &cfg, &live));
    TRY(flow_pressure_by_insn(live, s->units, s->predicates, &pressure));
    s->cfg = cfg;
    s->liveness = live;
    s->limit = time_free_registers(f, pressure.units) - OVERHEAD;
    s->narrow = (pressure.units + OVERHEAD + 7) / 8 * 8 - OVERHEAD;  // registers are allocated in eights
    if (s->narrow < FEW_REGISTERS - OVERHEAD) s->narrow = FEW_REGISTERS - OVERHEAD;
    if (s->limit < s->narrow) s->limit = s->narrow;
    s->near = s->limit < s->narrow + NEAR_ROOM ? s->limit : s->narrow + NEAR_ROOM;
    s->done = ARENA_ARRAY(arena, bool, n);
    s->live = ARENA_ARRAY(arena, bool, values);
    s->rewritten = ARENA_ARRAY(arena, bool, values);
    s->uses_of = ARENA_ARRAY(arena, u32, f->operands.len + 1);
    s->replaced = ARENA_ARRAY(arena, bool, f->operands.len + 1);
    if (!s->rewritten || !s->uses_of || !s->replaced || !bitset_init(&s->out, arena, values)) return STATUS_NO_MEMORY;
    s->order = ARENA_ARRAY(arena, MachineOp, n);
    s->now.keys = ARENA_ARRAY(arena, u64, n);
    s->later.keys = ARENA_ARRAY(arena, u64, n);
    return s->done && s->live && s->order && s->now.keys && s->later.keys ? STATUS_OK : STATUS_NO_MEMORY;
}

Status time_schedule(TimeFunc *f) {
    Scheduler s = {.f = f};
    Status status = scheduler_init(&s, f);
    u32 op = 0;
    const TimeBlock *block = f->lower->blocks.data + f->blocks, *last = block + f->block_count;
    for (; block < last && status == STATUS_OK; block += block->parts) {
        u32 first = op, end = time_region_end(f, block);
        while (op < f->ops.len && f->ops.data[op].pc < end) op++;
        status = schedule_block(&s, first, op);
    }
    vec_free(&s.edges);
    vec_free(&s.reader_list);
    return status;
}
