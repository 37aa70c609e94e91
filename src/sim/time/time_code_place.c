// SPDX-License-Identifier: Apache-2.0
// Where values live. Copies whose two sides never live at the same time share a register and are not issued (Chaitin's
// coalescing). Then values take slots by linear scan over their live ranges (Poletto, Sarkar: "Linear Scan Register
// Allocation", TOPLAS 1999); a slot is used again as late as possible, so that a value rarely waits for its
// predecessor. Slots are not the machine's registers: one holds a value of any width, and there are as many as are
// wanted.
#include "sim/time/time_lower.h"

#include <string.h>

// --- the flow graph of the machine instructions ---------------------------------------------------------------------

// Instruction of the PTX -> the first operation at or behind it.
static u32 *first_ops(TimeFunc *f) {
    u32 *first = ARENA_ARRAY(&f->lower->scratch, u32, f->code->insn_count + 1);
    if (!first) return NULL;
    u32 op = f->ops.len;
    for (u32 i = f->code->insn_count + 1; i-- > 0;) {
        while (op > 0 && f->ops.data[op - 1].pc >= i) op--;
        first[i] = op;
    }
    return first;
}

static void flow_insn(const TimeFunc *f, const MachineOp *op, FlowInsn *insn) {
    const FlowInsn *source = &f->code->insns[op->pc];
    *insn = (FlowInsn){.operands = op->operands,
                       .defs = op->defs,
                       .uses = op->uses,
                       .guard = op->guard,
                       .kind = op->flow,
                       .noreturn = source->noreturn,
                       .address_use = 0xff,
                       .address2_use = 0xff,
                       .callee = WL_NONE,
                       .targets = source->targets,
                       .target_count = op->flow == FLOW_PLAIN ? 0 : source->target_count};
}

// In a copy of a loop, the operation that a branch to instruction `to` of the loop leads to.
static u32 target_in_copy(const TimeFunc *f, u32 branch, u32 to) {
    const MachineOp *ops = f->ops.data;
    u32 i = branch + 1;
    const MachineOp *from = &ops[branch];
    while (i < f->ops.len && ops[i].version == from->version && ops[i].iteration == from->iteration && ops[i].pc < to)
        i++;
    return i;
}

// From the mark before the copies to the first of them or to the block itself; from the one behind them to that, or
// out of the loop.
static void flow_marks(const TimeFunc *f, FlowInsn *insns, u32 *targets, u32 count, const u32 *first) {
    u32 begin = 0;
    for (u32 i = 0; i < f->ops.len; i++) {
        const MachineOp *op = &f->ops.data[i];
        if (op->iteration && op->hidden && op->flow == FLOW_BRANCH) {
            targets[count] = target_in_copy(f, i, f->code->targets[f->code->insns[op->pc].targets]);
            insns[i].targets = count++;
            insns[i].target_count = 1;
        } else if (op->iteration) {
            insns[i].kind = FLOW_PLAIN;
            insns[i].target_count = 0;
        }
        if (op->mark == UNROLL_NONE) continue;
        insns[i].targets = count;
        insns[i].target_count = 2;
        if (op->mark == UNROLL_BEGIN) {
            begin = i;
            targets[count] = i + 1;  // the other target follows with the mark behind
        } else {
            targets[insns[begin].targets + 1] = i + 1;
            targets[count] = begin;
            targets[count + 1] = first[op->pc + 1];
        }
        count += 2;
    }
}

// Most targets of marks, and of branches in copies.
static u32 copy_targets(const TimeFunc *f) {
    u32 count = 0;
    for (u32 i = 0; i < f->ops.len; i++) {
        const MachineOp *op = &f->ops.data[i];
        count += op->mark != UNROLL_NONE ? 2 : op->iteration && op->flow == FLOW_BRANCH;
    }
    return count;
}

Status time_flow(TimeFunc *f, Cfg **cfg, Liveness **liveness) {
    Arena *arena = &f->lower->scratch;
    FlowCode *code = ARENA_NEW(arena, FlowCode);
    FlowInsn *insns = ARENA_ARRAY(arena, FlowInsn, f->ops.len + 1);
    FlowOperand *operands = ARENA_ARRAY(arena, FlowOperand, f->operands.len + 1);
    u32 target_count = 0;
    for (u32 i = 0; i < f->code->insn_count; i++) target_count += f->code->insns[i].target_count;
    u32 *targets = ARENA_ARRAY(arena, u32, target_count + copy_targets(f) + 1), *first = first_ops(f);
    if (!code || !insns || !operands || !targets || !first) return STATUS_NO_MEMORY;
    for (u32 i = 0; i < target_count; i++) targets[i] = first[f->code->targets[i]];
    for (u32 i = 0; i < f->operands.len; i++)
        operands[i] = (FlowOperand){.kind = FLOW_VALUE, .id = f->operands.data[i]};
    for (u32 i = 0; i < f->ops.len; i++) flow_insn(f, &f->ops.data[i], &insns[i]);
    flow_marks(f, insns, targets, target_count, first);
    *code = *f->code;
    code->insns = insns;
    code->insn_count = f->ops.len;
    code->operands = operands;
    code->operand_count = f->operands.len;
    code->targets = targets;
    code->value_count = f->value_count;
    code->value_bits = f->value_bits.data;
    TRY(flow_cfg(code, arena, cfg));
    return flow_liveness(*cfg, arena, liveness);
}

// --- live ranges ----------------------------------------------------------------------------------------------------
// Positions: operation i reads at 2i and writes at 2i + 1.
typedef struct Segment {
    u32 value, begin, end;  // [begin, end)
} Segment;

typedef struct Ranges {
    Vec(Segment) all;  // descending by begin
    u32 *end;          // value -> where it is alive until, in the block under work; 0 = dead
    Vec(u32) alive;
} Ranges;

static Status range_use(Ranges *r, u32 value, u32 position) {
    if (r->end[value]) return STATUS_OK;
    r->end[value] = position;
    return vec_push(&r->alive, value);
}

static Status range_def(Ranges *r, u32 value, u32 position, bool kills) {
    u32 end = r->end[value] ? r->end[value] : position + 1;
    if (!kills) return range_use(r, value, end);
    r->end[value] = 0;
    return vec_push(&r->all, (Segment){value, position, end});
}

static Status range_block(Ranges *r, TimeFunc *f, const Cfg *cfg, const Liveness *live, u32 b) {
    const FlowBlock *block = &cfg->blocks[b];
    u32 last = block->first + block->count;
    r->alive.len = 0;
    for (u32 s = 0; s < block->succ_count; s++) {
        u32 to = cfg->edges[block->succs + s];
        for (u32 k = live->first[to]; k < live->first[to + 1]; k++) TRY(range_use(r, live->values[k], last * 2));
    }
    for (u32 i = last; i-- > block->first;) {
        const MachineOp *op = &f->ops.data[i];
        const u32 *operands = f->operands.data + op->operands;
        for (u32 k = 0; k < op->defs; k++) TRY(range_def(r, operands[k], i * 2 + 1, op->guard == WL_NONE));
        for (u32 k = 0; k < op->uses; k++) TRY(range_use(r, operands[op->defs + k], i * 2 + 1));
    }
    for (u32 k = 0; k < r->alive.len; k++) {
        u32 value = r->alive.data[k];
        if (r->end[value]) TRY(vec_push(&r->all, (Segment){value, block->first * 2, r->end[value]}));
        r->end[value] = 0;
    }
    return STATUS_OK;
}

static Status find_ranges(TimeFunc *f, const Cfg *cfg, const Liveness *live, Ranges *r) {
    r->end = ARENA_ARRAY(&f->lower->scratch, u32, f->value_count + 1);
    if (!r->end) return STATUS_NO_MEMORY;
    for (u32 b = cfg->block_count; b-- > 0;)
        if (cfg->blocks[b].reachable) TRY(range_block(r, f, cfg, live, b));
    return STATUS_OK;
}

static void ranges_free(Ranges *r) {
    vec_free(&r->all);
    vec_free(&r->alive);
}

// --- coalescing
// -------------------------------------------------------------------------------------------------------
enum { CLASS_MAX = 2048 };  // segments of a class; larger ones are left alone to keep the work linear

typedef struct Classes {
    u32 *parent;
    u32 *first, *count;  // class -> its segments in `pool`, ascending
    Vec(Segment) pool;
} Classes;

static u32 class_of(Classes *c, u32 value) {
    while (c->parent[value] != value) value = c->parent[value] = c->parent[c->parent[value]];
    return value;
}

static Status init_classes(TimeFunc *f, Classes *c, const Ranges *r) {
    Arena *arena = &f->lower->scratch;
    c->parent = ARENA_ARRAY(arena, u32, f->value_count + 1);
    c->first = ARENA_ARRAY(arena, u32, f->value_count + 2);
    c->count = ARENA_ARRAY(arena, u32, f->value_count + 1);
    if (!c->parent || !c->first || !c->count) return STATUS_NO_MEMORY;
    TRY(vec_reserve(&c->pool, r->all.len));
    c->pool.len = r->all.len;
    for (u32 i = 0; i < r->all.len; i++) c->count[r->all.data[i].value]++;
    for (u32 v = 0, at = 0; v < f->value_count; v++) {
        c->parent[v] = v;
        c->first[v] = at;
        at += c->count[v];
        c->count[v] = 0;
    }
    for (u32 i = r->all.len; i-- > 0;) {
        Segment s = r->all.data[i];
        c->pool.data[c->first[s.value] + c->count[s.value]++] = s;
    }
    return STATUS_OK;
}

static bool overlaps(const Classes *c, u32 a, u32 b) {
    const Segment *x = c->pool.data + c->first[a], *y = c->pool.data + c->first[b];
    const Segment *x_end = x + c->count[a], *y_end = y + c->count[b];
    while (x < x_end && y < y_end) {
        if (x->end <= y->begin)
            x++;
        else if (y->end <= x->begin)
            y++;
        else
            return true;
    }
    return false;
}

static Status unite(Classes *c, u32 a, u32 b) {
    u32 at = c->pool.len, total = c->count[a] + c->count[b];
    TRY(vec_reserve(&c->pool, total));
    const Segment *x = c->pool.data + c->first[a], *y = c->pool.data + c->first[b];
    const Segment *x_end = x + c->count[a], *y_end = y + c->count[b];
    for (u32 i = 0; i < total; i++)
        c->pool.data[at + i] = y == y_end || (x < x_end && x->begin <= y->begin) ? *x++ : *y++;
    c->pool.len += total;
    c->parent[b] = a;
    c->first[a] = at;
    c->count[a] = total;
    return STATUS_OK;
}

static Status try_copy(Classes *c, u32 to, u32 from, bool *joined) {
    u32 a = class_of(c, to), b = class_of(c, from);
    *joined = a == b;
    if (a == b || c->count[a] + c->count[b] > CLASS_MAX || overlaps(c, a, b)) return STATUS_OK;
    *joined = true;
    return unite(c, a, b);
}

static void rename_values(TimeFunc *f, Classes *c) {
    for (u32 i = 0; i < f->operands.len; i++) f->operands.data[i] = class_of(c, f->operands.data[i]);
    u32 kept = 0;
    for (u32 i = 0; i < f->ops.len; i++) {
        MachineOp op = f->ops.data[i];
        if (op.guard != WL_NONE) op.guard = class_of(c, op.guard);
        if (op.base != WL_NONE) op.base = class_of(c, op.base);
        if (op.pc != WL_NONE) f->ops.data[kept++] = op;
    }
    f->ops.len = kept;
}

static bool is_increment(const TimeFunc *f, const MachineOp *op) {
    u8 arith = f->code->insns[op->pc].arith;
    return (arith == FLOW_ADD || arith == FLOW_SUB) && !op->hidden && op->guard == WL_NONE &&
           f->picked[op->pc].leaf_count == 1;
}

// The operations [begin, end) go behind operation `last`.
static void move_behind(MachineOp *ops, u32 begin, u32 end, u32 last) {
    for (u32 n = end - begin; n > 0; n--) {
        MachineOp moved = ops[begin];
        memmove(ops + begin, ops + begin + 1, sizeof *ops * (last - begin));
        ops[last] = moved;
    }
}

// What is increased by a number and then copied back is increased in place, behind all that reads it as it was, unless
// something reads the sum before that: `first` is the first operation of the block.
static void sink_increment(TimeFunc *f, u32 first, u32 copy) {
    MachineOp *ops = f->ops.data;
    u32 to = f->operands.data[ops[copy].operands], i = copy, last = WL_NONE;
    if (i > first && ops[i - 1].copy && ops[i - 1].pc == ops[i].pc) i--;
    u32 from = f->operands.data[ops[i].operands + ops[i].defs];
    while (i-- > first && !time_names(f, &ops[i], from, true)) {
        bool reads_sum = time_names(f, &ops[i], from, false);
        if (time_names(f, &ops[i], to, true)) return;
        if (last == WL_NONE && time_names(f, &ops[i], to, false)) last = i;
        if (last != WL_NONE && reads_sum) return;
    }
    if (i == WL_NONE || i < first || last == WL_NONE || !is_increment(f, &ops[i]) || !time_names(f, &ops[i], to, false))
        return;
    if (time_block(f, ops[i].pc) != time_block(f, ops[last].pc)) return;  // a barrier is between
    u32 begin = i;
    while (begin > first && ops[begin - 1].pc == ops[i].pc) begin--;
    move_behind(ops, begin, i + 1, last);
}

static void sink_increments(TimeFunc *f, const Cfg *cfg) {
    for (u32 b = 0; b < cfg->block_count; b++) {
        const FlowBlock *block = &cfg->blocks[b];
        for (u32 i = block->first; i < block->first + block->count; i++) {
            const MachineOp *op = &f->ops.data[i];
            if (op->copy && op->defs == 1 && f->operands.data[op->operands] < f->code->value_count)
                sink_increment(f, block->first, i);
        }
    }
}

// Removes the copies that need no instruction.
Status time_coalesce(TimeFunc *f) {
    Cfg *cfg;
    Liveness *live;
    Ranges ranges = {0};
    Classes classes = {0};
    Status status = time_flow(f, &cfg, &live);
    if (status == STATUS_OK) sink_increments(f, cfg);
    if (status == STATUS_OK) status = find_ranges(f, cfg, live, &ranges);
    if (status == STATUS_OK) status = init_classes(f, &classes, &ranges);
    for (u32 i = 0; i < f->ops.len && status == STATUS_OK; i++) {
        MachineOp *op = &f->ops.data[i];
        if (!op->copy || op->defs != 1 || f->operands.data[op->operands] >= f->code->value_count) continue;
        const MachineOp *half = i > 0 && op[-1].copy && op[-1].pc == op->pc ? op - 1 : op;
        bool joined;
        const u32 *operands = f->operands.data;
        status = try_copy(&classes, operands[op->operands], operands[half->operands + half->defs], &joined);
        if (!joined || status != STATUS_OK) continue;
        if (half != op) op[-1].pc = WL_NONE;
        op->pc = WL_NONE;
    }
    if (status == STATUS_OK) rename_values(f, &classes);
    vec_free(&classes.pool);
    ranges_free(&ranges);
    return status;
}

// --- slots
// --------------------------------------------------------------------------------------------------------------
enum { SLOTS_SPARE = 8 };  // free slots that are left to rest

typedef struct Scan {
    u32 *begin, *end;  // value -> hull of its live range
    u32 *slot;
    u32 *at_begin, *at_end, *next_begin, *next_end;  // position / 2 -> values that begin or end there, as lists
    u32 *queue;                                      // free slots, the longest free one first
    u32 head, tail, slots;
} Scan;

static Status scan_init(TimeFunc *f, Scan *s) {
    Arena *arena = &f->lower->scratch;
    u32 values = f->value_count + 1, places = f->ops.len + 2;
    u32 **arrays[] = {&s->begin, &s->end, &s->slot, &s->next_begin, &s->next_end, &s->queue};
    for (u32 i = 0; i < WL_COUNT(arrays); i++)
        if (!(*arrays[i] = ARENA_ARRAY(arena, u32, values))) return STATUS_NO_MEMORY;
    s->at_begin = ARENA_ARRAY(arena, u32, places);
    s->at_end = ARENA_ARRAY(arena, u32, places);
    if (!s->at_begin || !s->at_end) return STATUS_NO_MEMORY;
    memset(s->begin, 0xff, sizeof(u32) * values);
    memset(s->at_begin, 0xff, sizeof(u32) * places);
    memset(s->at_end, 0xff, sizeof(u32) * places);
    return STATUS_OK;
}

static void scan_hulls(TimeFunc *f, Scan *s, const Ranges *r) {
    for (u32 i = 0; i < r->all.len; i++) {
        Segment g = r->all.data[i];
        if (g.begin < s->begin[g.value]) s->begin[g.value] = g.begin;
        if (g.end > s->end[g.value]) s->end[g.value] = g.end;
    }
    for (u32 v = 0; v < f->value_count; v++) {
        if (s->begin[v] == WL_NONE) continue;
        u32 begin = s->begin[v] / 2, end = s->end[v] / 2;
        s->next_begin[v] = s->at_begin[begin], s->at_begin[begin] = v;
        s->next_end[v] = s->at_end[end], s->at_end[end] = v;
    }
}

// The queue holds at most as many slots as there are values.
static void scan_slots(TimeFunc *f, Scan *s) {
    u32 size = f->value_count + 1, free_slots = 0;
    for (u32 i = 0; i <= f->ops.len; i++) {
        for (u32 v = s->at_begin[i]; v != WL_NONE; v = s->next_begin[v]) {
            bool reuse = free_slots > SLOTS_SPARE;
            s->slot[v] = reuse ? s->queue[s->head % size] : s->slots++;
            if (reuse) s->head++, free_slots--;
        }
        for (u32 v = s->at_end[i]; v != WL_NONE; v = s->next_end[v])
            s->queue[s->tail++ % size] = s->slot[v], free_slots++;
    }
}

// Threads of a CTA, as far as its kernel says so: in whole warps.
static u64 known_threads(const Function *k) {
    u64 threads = 1;
    for (u32 i = 0; i < 3; i++)
        threads *= k->required_threads[i] ? k->required_threads[i] : k->max_threads[i] ? k->max_threads[i] : 1;
    return (threads + 31) / 32 * 32;
}

// Registers that the launch bounds of a kernel leave a thread.
static u32 register_limit(const TimeFunc *f) {
    const Function *k = f->function;
    u64 threads = known_threads(k) * (k->min_ctas ? k->min_ctas : 1), limit = 255;
    u64 share = f->lower->gpu->registers_per_sm / threads / 8 * 8;
    if (share >= 16 && share < limit) limit = share;
    if (k->max_regs && k->max_regs < limit) limit = k->max_regs;
    return (u32)limit;
}

// Registers of a thread with which `ctas` fit an SM, as far as registers go: its schedulers have a file each.
static u32 registers_for(const GpuModel *gpu, u64 ctas, u64 warps) {
    enum { UNIT = 8, MOST = 255 };
    u64 each = (ctas * warps + gpu->warp_schedulers - 1) / gpu->warp_schedulers;
    u64 registers = gpu->registers_per_sm / gpu->warp_schedulers / LANES / each / UNIT * UNIT;
    return registers > MOST ? MOST : (u32)registers;
}

// CTAs of an SM that ptxas does not give up for more registers, as long as it can do with less: those that the launch
// bounds ask for; or as many as threads and static shared memory allow; or all that fit with 32 registers, where the
// kernel does not say how many threads it has.
static u64 ctas_aimed_at(const TimeFunc *f, u64 warps, bool known) {
    enum { FREE = 32 };
    const GpuModel *gpu = f->lower->gpu;
    u64 by_threads = gpu->max_threads_per_sm / (warps * LANES);
    if (!known) return gpu->registers_per_sm / (FREE * LANES) / warps;
    if (f->function->min_ctas) return f->function->min_ctas;
    u64 bytes = f->lower->program->shared_bytes + gpu->shared_reserved, by_shared;
    by_shared = bytes ? gpu->shared_per_sm / bytes : by_threads;
    return by_shared < by_threads ? by_shared : by_threads;
}

// Registers that ptxas makes use of, where it needs as many as are alive in the order of the PTX: those with which as
// many CTAs as it aims at fit an SM, or fewer of them when these are not enough. Found with 1 to 120 accumulators and
// 16 to 128 loads in a loop (ptxas 13.0, sm_90). Of 128 threads, where the kernel does not say: 22 accumulators take 32
// registers, 23 40, 38 48, 39 56 (9 CTAs), 70 80, 71 96. With bounds of 128 threads and 20, 24, 32, 40 and 48 KB of
// shared memory: 48, 56, 80, 96 and 128; at least 4, 8, 12 or 16 CTAs asked for: 128, 64, 40 and 32.
u32 time_free_registers(const TimeFunc *f, u32 pressure) {
    enum { NEEDED = 6, UNIT = 8, FEW_WARPS = 4 };
    u32 spilling = time_spill_limit(f, pressure);
    if (spilling) return spilling;
    bool known = known_threads(f->function) > LANES || f->function->max_threads[0] || f->function->required_threads[0];
    u32 need = (pressure + NEEDED + UNIT - 1) / UNIT * UNIT, limit = register_limit(f);
    u64 warps = known ? known_threads(f->function) / LANES : FEW_WARPS, ctas = ctas_aimed_at(f, warps, known);
    while (ctas > 1 && registers_for(f->lower->gpu, ctas, warps) < need) ctas--;
    u32 most = registers_for(f->lower->gpu, ctas ? ctas : 1, warps);
    return most > limit && limit >= need ? limit : most;
}

// What ptxas reports, against the most that is alive at once: the stack pointer, addresses under way; it is generous as
// long as that costs no occupancy. Of 1,758 kernels compiled for sm_90: see docs/timing-code.md.
enum { FREE_REGISTERS = 32 };
static u32 estimate_registers(const TimeFunc *f, u32 pressure) {
    u32 registers = pressure + 4, limit = register_limit(f);
    if (registers < FREE_REGISTERS) registers = registers + 3 < FREE_REGISTERS ? registers + 3 : FREE_REGISTERS;
    return registers < 8 ? 8 : registers > limit ? limit : registers;
}

// Bytes of the local variables that the PTX names itself: SimFunc.local_bytes has those of calls' parameters, too.
static u32 own_frame(const TimeFunc *f) {
    const Module *m = f->lower->module;
    u64 bytes = 0;
    for (u32 i = 0; i < f->function->var_count; i++) {
        const Var *v = &m->vars[f->function->vars + i];
        if (v->space == SPACE_LOCAL) bytes = (bytes + v->align - 1) / v->align * v->align + v->size;
    }
    return bytes < UINT32_MAX ? (u32)bytes : UINT32_MAX;
}

u32 time_spilled_bytes(const TimeFunc *f) {
    u32 own = own_frame(f), frame = f->lower->known.frame;
    return f->function->is_entry && frame > own ? frame - own : 0;
}

// Machine code says it itself: its frame is larger than the variables are. Without any, launch bounds do.
u32 time_spill_limit(const TimeFunc *f, u32 pressure) {
    enum { NEEDED = 4 };
    const SimMachineCode *known = &f->lower->known;
    if (!f->function->is_entry) return 0;
    if (known->registers) return time_spilled_bytes(f) ? known->registers : 0;
    u32 limit = register_limit(f);
    return pressure + NEEDED > limit ? limit : 0;
}

typedef struct Append {
    TimeFunc *f;
    const u32 *slot;
    u8 *pipe;   // value -> TimePipe that computed it last
    u32 share;  // of what is balanced, for the multiply-adders
    u32 due;    // how much of the next one is theirs
} Append;

// Uniform values and predicates have files of their own.
static u8 words_of(const TimeFunc *f, u32 value) {
    u32 bits = f->value_bits.data[value];
    return (u8)(bits > 1 ? (bits + 31) / 32 : 0);
}

static Status append_operand(Append *a, u32 value, u32 late) {
    TRY(vec_push(&a->f->lower->late, (u8)late));
    TRY(vec_push(&a->f->lower->words, words_of(a->f, value)));
    return vec_push(&a->f->lower->regs, (u16)a->slot[value]);
}

static Status append_regs(Append *a, TimeOp *out, const MachineOp *op) {
    TimeFunc *f = a->f;
    TimeLower *lower = f->lower;
    const u32 *operands = f->operands.data + op->operands;
    bool async = op->kind == TIME_GMMA;  // nobody waits for its registers but wgmma.wait_group
    out->regs = lower->regs.len;
    for (u32 k = 0; k < op->defs && k < UINT8_MAX && !async; k++) {
        TRY(append_operand(a, operands[k], 0));
        out->dst_count++;
    }
    for (u32 k = 0; k < op->uses && k < UINT8_MAX && !async; k++) {
        u32 value = operands[op->defs + k];
        u32 guard = k + 1 == op->guard_use ? (u32)lower->gpu->guard_latency : 0;
        TRY(append_operand(a, value,
                           guard ? guard : time_late(lower->gpu, (TimePipe)a->pipe[value], time_pipe(op->unit))));
        out->src_count++;
    }
    for (u32 k = 0; k < op->defs; k++) a->pipe[operands[k]] = (u8)time_pipe(op->unit);
    if (op->guard_use <= out->src_count) out->guard = op->guard_use;
    return STATUS_OK;
}

// What ptxas gives the multiply-adders (IMAD.MOV, IMAD.IADD, VIADD, IMAD.X) of the integer additions and moves that the
// ALU could do as well (MOV, IADD3), in parts of SHARE_WHOLE: what makes both busy for equally long, but a quarter
// where the multiply-adders have enough to do anyway, and all but an eighth where the ALU has. [L] of 29,000 such
// instructions in 6,069 blocks of public programs for sm_90: docs/timing-code.md.
enum { SHARE_WHOLE = 256, SHARE_LEAST = 64, SHARE_MOST = 224 };
static u32 share_of_adders(const MachineOp *ops, u32 op, u32 end, LoopVersion version) {
    i64 alu = 0, adders = 0, either = 0;
    for (; op < end; op++) {
        if (ops[op].hidden || ops[op].version != version) continue;
        bool adds = ops[op].unit == UNIT_FMA || ops[op].unit == UNIT_FMAHEAVY;
        if (ops[op].balanced)
            either += ops[op].interval;
        else if (ops[op].unit == UNIT_ALU)
            alu += ops[op].interval;
        else if (adds)
            adders += ops[op].interval;
    }
    i64 even = alu + either - adders;  // of twice `either`
    if (even <= 0) return SHARE_LEAST;
    if (even >= 2 * either) return SHARE_MOST;
    return SHARE_LEAST + (u32)(even * (SHARE_MOST - SHARE_LEAST) / (2 * either));
}

static void balance(Append *a, MachineOp *op) {
    const GpuModel *gpu = a->f->lower->gpu;
    if (!op->balanced || gpu->sm_version < 70) return;
    a->due += a->share;
    if (a->due < SHARE_WHOLE) return;
    a->due -= SHARE_WHOLE;
    op->unit = UNIT_FMAHEAVY;
    op->interval = (u8)gpu->fmaheavy_interval;
}

// Which run of the trace its accesses are in, of those that the region is.
static u16 part_of(const TimeFunc *f, const MachineOp *op) {
    const TimeBlock *block = time_block(f, op->pc);
    u32 pass = op->iteration ? op->iteration - 1u : 0;
    return (u16)(pass * block->parts + block->part);
}

static TimeSpaced spaced_of(const MachineOp *op) {
    if (op->special) return SPACED_SPECIAL;
    if (op->kind == TIME_CONST || op->kind == TIME_FIXED) return SPACED_CONSTANT;
    if (op->unit != UNIT_LSU) return SPACED_NOT;
    return op->flags & TIME_MIO || op->space == SPACE_SHARED ? SPACED_SHARED : SPACED_ACCESS;
}

static Status append_op(Append *a, MachineOp op) {
    TimeFunc *f = a->f;
    balance(a, &op);
    bool joined = op.iteration || time_block(f, op.pc)->parts > 1;
    TimeOp out = {.pc = f->func->entry + op.pc,
                  .kind = op.kind,
                  .unit = op.unit,
                  .interval = op.interval,
                  .flags = op.flags,
                  .latency = op.latency,
                  .spaced = (u8)spaced_of(&op),
                  .constant = op.constant,
                  .extra = joined ? part_of(f, &op) : op.extra};
    TRY(append_regs(a, &out, &op));
    return vec_push(&f->lower->ops, out);
}

// One version of the operations [op, end) of a block.
static Status append_version(Append *a, u32 op, u32 end, LoopVersion version, u32 *first, u32 *count) {
    const MachineOp *ops = a->f->ops.data;
    a->share = share_of_adders(ops, op, end, version);
    a->due = SHARE_WHOLE / 2;
    *first = a->f->lower->ops.len;
    for (; op < end; op++)
        if (!ops[op].hidden && ops[op].version == version) TRY(append_op(a, ops[op]));
    *count = a->f->lower->ops.len - *first;
    return STATUS_OK;
}

// The operations [op, end) of a region.
static Status append_region(Append *a, TimeBlock *head, u32 op, u32 end) {
    TimeFunc *f = a->f;
    TRY(append_version(a, op, end, VERSION_PLAIN, &head->ops, &head->op_count));
    TRY(append_version(a, op, end, VERSION_TURNS, &head->unrolled, &head->unrolled_count));
    TRY(append_version(a, op, end, VERSION_PAIR, &head->pair, &head->pair_count));
    TRY(append_version(a, op, end, VERSION_ENTRY, &head->entry, &head->entry_count));
    for (u32 k = 0; k < head->parts; k++) {
        TimeBlock *block = head + k;
        u32 first = block->pc - f->func->entry;
        block->ops = head->ops;
        block->op_count = head->op_count;
        block->unrolled = head->unrolled;
        block->unrolled_count = head->unrolled_count;
        block->pair = head->pair;
        block->pair_count = head->pair_count;
        block->entry = head->entry;
        block->entry_count = head->entry_count;
        if (first >= f->code->insn_count) continue;
        block->turns = f->unrolled[f->cfg->block_of[first]];
        block->left = f->left[f->cfg->block_of[first]];
        block->predicated = f->predicated[f->cfg->block_of[first]] || f->jumps_back[f->cfg->block_of[first]];
        block->speculated = f->speculated[f->cfg->block_of[first]];
        block->exits = f->exits[f->cfg->block_of[first]];
    }
    return STATUS_OK;
}

// What computes a value that is carried around a loop is told by the last operation that does.
static Status append_blocks(TimeFunc *f, const u32 *slot) {
    Append a = {.f = f, .slot = slot, .pipe = ARENA_ARRAY(&f->lower->scratch, u8, f->value_count + 1)};
    u32 op = 0;
    if (!a.pipe) return STATUS_NO_MEMORY;
    for (u32 i = 0; i < f->ops.len; i++)
        for (u32 k = 0; k < f->ops.data[i].defs; k++)
            a.pipe[f->operands.data[f->ops.data[i].operands + k]] = (u8)time_pipe(f->ops.data[i].unit);
    TimeBlock *block = f->lower->blocks.data + f->blocks, *last = block + f->block_count;
    for (; block < last; block += block->parts) {
        u32 first = op, end = time_region_end(f, block);
        while (op < f->ops.len && f->ops.data[op].pc < end) op++;
        TRY(append_region(&a, block, first, op));
    }
    return STATUS_OK;
}

// Registers that are alive at once, unrolled loops left aside.
static Status find_pressure(TimeFunc *f, const Liveness *live, u32 *pressure) {
    u32 *units = ARENA_ARRAY(&f->lower->scratch, u32, f->ops.len + 1);
    RegisterPressure all;
    if (!units) return STATUS_NO_MEMORY;
    TRY(flow_pressure_by_insn(live, units, NULL, &all));
    *pressure = 0;
    for (u32 i = 0; i < f->ops.len; i++)
        if (f->ops.data[i].version == VERSION_PLAIN && units[i] > *pressure) *pressure = units[i];
    return STATUS_OK;
}

Status time_place(TimeFunc *f) {
    Cfg *cfg;
    Liveness *live;
    u32 pressure;
    Ranges ranges = {0};
    Scan scan = {0};
    TRY(time_flow(f, &cfg, &live));
    TRY(find_pressure(f, live, &pressure));
    Status status = find_ranges(f, cfg, live, &ranges);
    if (status == STATUS_OK) status = scan_init(f, &scan);
    if (status == STATUS_OK) {
        scan_hulls(f, &scan, &ranges);
        scan_slots(f, &scan);
    }
    ranges_free(&ranges);
    TRY(status);
    if (scan.slots > UINT16_MAX - 1u) return STATUS_UNSUPPORTED;
    u32 registers = estimate_registers(f, pressure);
    if (scan.slots > f->lower->slots) f->lower->slots = scan.slots;
    if (registers > f->lower->registers) f->lower->registers = registers;
    return append_blocks(f, scan.slot);
}
