// SPDX-License-Identifier: Apache-2.0
// Constants of an SM. Two small caches stand next to each other: what vector registers take (LDC, with a register
// address or a fixed one) comes through one, what uniform registers take from fixed addresses (ULDC) through that of
// immediate constants. Behind both is a larger one, which brings long lines from the L2 and has the bank of parameters
// from the launch on: on an H200 a kernel's first look at any of 4 KB of parameters takes as long as a line that the
// cache behind has, be all caches emptied before (bench/hwref/h200-constant-kinds.tsv, first). All else is gone when a
// launch begins (h200-constant-misses.tsv, cold, "behind neither").
//
// Constants that uniform registers index (ULDC as well) have few lines for each scheduler, which the SM brings one
// after the other.
//
// A miss of the immediate constants, and of these, stalls the warp (imc_miss); LDC is waited for by what reads its
// result.
#include <string.h>

#include "sim/time/machine.h"
#include "sim/time/sm_parts.h"
#include "sim/time/sm_trace.h"

#define BANKS_BASE (0xc0daull << 32)                           // where the banks of parameters lie, for the caches
enum { BANK_SHIFT = 16, CACHE_LINE = 128, ALL_SECTORS = 15 };  // a line of constants is one of CacheConfig.line, whole

static u64 cache_key(u64 address, u64 line) { return address / line * CACHE_LINE; }

static Status make_cache(Sm *sm, u64 size, u64 line, u32 ways, Cache **cache) {
    return cache_create(&(CacheConfig){.size = size / line * CACHE_LINE,
                                       .line = CACHE_LINE,
                                       .sector = CACHE_LINE / 4,
                                       .ways = ways,
                                       .pages = sm->machine->sim->pages,
                                       .status = &sm->status},
                        cache);
}

Status constants_init(Sm *sm) {
    const GpuModel *g = sm->gpu;
    TRY(make_cache(sm, g->const_l1, g->const_line, (u32)g->const_ways, &sm->const_l1));
    TRY(make_cache(sm, g->imc, g->const_line, (u32)g->const_ways, &sm->imc));
    return make_cache(sm, g->const_l15, g->const_l15_line, 0, &sm->const_l15);
}

void constants_clear(Sm *sm) {
    cache_clear(sm->const_l1);
    cache_clear(sm->imc);
    cache_clear(sm->const_l15);
    for (u32 i = 0; i < SM_SCHEDULERS; i++) memset(sm->schedulers[i].indexed, 0, sizeof sm->schedulers[i].indexed);
    sm->imc_touched = sm->const_touched = false;
}

void constants_forget(Sm *sm) {
    for (u32 i = 0; i < CONST_MISSES; i++) sm->const_misses[i] = (ConstMiss){.waiters = WL_NONE};
    for (u32 i = 0; i < CONST_LINES; i++) sm->const_lines[i] = (ConstLine){0};
    for (u32 i = 0; i < SM_SCHEDULERS; i++)
        memset(sm->schedulers[i].indexed_at, 0, sizeof sm->schedulers[i].indexed_at);
    sm->const_free = sm->imc_ready = sm->indexed_free = sm->indexed_line = 0;
}

void constants_free(Sm *sm) {
    Cache **caches[] = {&sm->const_l1, &sm->imc, &sm->const_l15};
    for (u32 i = 0; i < WL_COUNT(caches); i++) {
        cache_destroy(*caches[i]);
        *caches[i] = NULL;
    }
}

static u64 address_of(const TimeWarp *w, const TimeOp *op) {
    u64 address = w->run->code->constants[op->constant - 1];
    if (!(address & CONSTANT_BANK)) return address;
    return BANKS_BASE + ((u64)machine_code_id(w->run) << BANK_SHIFT) + (address & ~CONSTANT_BANK);
}

// Not the sizes and the stack pointer, which lie before the parameters and the descriptor.
static bool is_parameter(u64 address) {
    enum { BANK_SIZES = 0x200 };
    return address >> BANK_SHIFT >= BANKS_BASE >> BANK_SHIFT && (address & ((1u << BANK_SHIFT) - 1)) >= BANK_SIZES;
}

static bool has(Cache *cache, u64 address, u64 line) {
    return cache_look(cache, cache_key(address, line), ALL_SECTORS).hit == ALL_SECTORS;
}

static void keep(Cache *cache, u64 address, u64 line) {
    CacheVictim victim;
    u64 key = cache_key(address, line);
    if (cache_reserve(cache, key, ALL_SECTORS, 0, &victim)) cache_fill(cache, key, ALL_SECTORS);
}

// --- the cache behind ----------------------------------------------------------------------------------------------
static ConstMiss *miss_of(Sm *sm, u64 line) {
    for (u32 i = 0; i < CONST_MISSES; i++)
        if (sm->const_misses[i].parts && sm->const_misses[i].line == line) return &sm->const_misses[i];
    return NULL;
}

static ConstMiss *free_miss(Sm *sm) {
    for (u32 i = 0; i < CONST_MISSES; i++)
        if (!sm->const_misses[i].parts) return &sm->const_misses[i];
    return NULL;
}

// Of the L2's line at `at`, what a line of constants takes.
static u32 sectors_of(u64 at, u64 line, u64 bytes) {
    u64 first = line > at ? line - at : 0, end = line + bytes < at + 128 ? line + bytes - at : 128;
    return ((1u << end / 32) - 1) & ~((1u << first / 32) - 1);
}

// NULL: the cache behind has the line of `address`, as it has all parameters; else what brings it. Of more lines than
// CONST_MISSES those beyond come with one of the others.
static ConstMiss *look_behind(Sm *sm, u64 address, u64 cycle) {
    u64 bytes = sm->gpu->const_l15_line, line = address / bytes * bytes;
    if (address >> BANK_SHIFT >= BANKS_BASE >> BANK_SHIFT || has(sm->const_l15, address, bytes)) return NULL;
    ConstMiss *coming = miss_of(sm, line);
    if (coming) return coming;
    if (!(coming = free_miss(sm))) return &sm->const_misses[0];
    *coming = (ConstMiss){.line = line, .waiters = WL_NONE};
    if (cycle > sm->now) cycle = sm->now;  // a warp that has just issued looks at its next instruction
    for (u64 at = line & ~127ull; at < line + bytes; at += 128, coming->parts++)
        sm_request(sm, (MemRequest){.cycle = cycle,
                                    .line = at,
                                    .tag = TAG_CONST | (u32)(coming - sm->const_misses),
                                    .kind = MEM_CONST,
                                    .sectors = (u8)sectors_of(at, line, bytes)});
    return coming;
}

static void wake_immediate(Sm *sm, u64 cycle) {
    for (u32 i = 0; i < sm->warp_count; i++)
        if (sm->warps[i].state == TW_WAIT && sm->warps[i].wait == WAIT_CONSTANT)
            sm_wake_other(sm, &sm->warps[i], cycle);
}

void constant_arrived(Sm *sm, const MemReply *reply) {
    ConstMiss *miss = &sm->const_misses[reply->tag & ~TAG_CONST];
    if (!miss->parts || --miss->parts) return;
    keep(sm->const_l15, miss->line, sm->gpu->const_l15_line);
    if (!sm->gpu->const_l15) keep(sm->const_l1, miss->line, sm->gpu->const_line);
    u32 list = miss->waiters;
    miss->waiters = WL_NONE;
    while (list != WL_NONE) list = sm_waited(sm, list, reply->cycle);
    wake_immediate(sm, reply->cycle);
}

// --- the caches in front -------------------------------------------------------------------------------------------
// What the first miss of a launch takes longer, as all SMs have theirs then: of the immediate constants on an H200 45
// cycles with one CTA, 66 to 80 with 8 to 64, 97 to 118 with 128 and more, whatever is missed, with caches emptied or
// kept (bench/hwref/h200-starts.tsv, pointer, words_1); parameters for vector registers come 36 cycles behind these
// with one CTA, 117 to 126 with 132 (h200-stall-reasons.tsv, tid_stored, loaded). `longer`: hundredths for each SM.
static u64 first_miss(const Sm *sm, bool *touched, const TimeRun *run, u64 longer) {
    u64 sms = sm->machine->sm_count, ctas = run->grid->cta_count;
    if (*touched) return 0;
    *touched = true;
    return longer * (ctas < sms ? ctas : sms) / 100;
}

// Puts place `at` first.
static void use_indexed(Scheduler *s, u32 at) {
    u64 line = s->indexed[at], since = s->indexed_at[at];
    for (; at; at--) s->indexed[at] = s->indexed[at - 1], s->indexed_at[at] = s->indexed_at[at - 1];
    s->indexed[0] = line, s->indexed_at[0] = since;
}

// When a scheduler has the line. Schedulers that ask for one together get it together, which warps of a CTA in step do
// (bench/hwref/h200-constant-turns.tsv, uniform, 4 warps: 88.6 cycles; h200-constant-steps.tsv, 4 CTAs: 132.6).
static u64 bring_indexed(Sm *sm, u64 line, u64 cycle) {
    enum { TOGETHER = 2 };  // cycles
    u64 interval = sm->gpu->indexed_interval;
    if (sm->indexed_line != line || cycle > sm->indexed_since + TOGETHER) {
        sm->indexed_free = (sm->indexed_free > cycle ? sm->indexed_free : cycle) + interval;
        sm->indexed_line = line, sm->indexed_since = cycle;
    }
    return sm->indexed_free - interval + sm->gpu->imc_miss;
}

// Where the trace has a load of a constant; false: no lane loads.
static bool traced_address(const TimeWarp *w, const TimeOp *op, u64 *address) {
    OpRun run = run_of(w, op);
    const u64 *access = next_access(w, &run, op);
    if (!access || !trace_access(*access).lines) return false;
    *address = trace_line_address(access[1]) + 32u * (u32)__builtin_ctz(trace_line_sectors(access[1]) | 8);
    return true;
}

// A scheduler has few lines of constants that uniform registers index; the SM brings them one after the other.
static u64 read_indexed(Sm *sm, const TimeWarp *w, u64 address, u64 cycle) {
    Scheduler *s = &sm->schedulers[w->sched];
    u64 line = address / sm->gpu->const_line + 1;
    u32 lines = (u32)sm->gpu->indexed_lines, at = 0;
    bool again = w->state == TW_WAIT && w->wait == WAIT_CONSTANT;
    while (at < lines && s->indexed[at] != line) at++;
    if (!again) sm->counters[SMC_CONST_REQUESTS]++, sm->counters[SMC_CONST_HITS] += at < lines;
    if (at < lines) {
        use_indexed(s, at);
        return s->indexed_at[0] > cycle ? s->indexed_at[0] : cycle;
    }
    if (look_behind(sm, address, cycle)) return NEVER;
    sm->counters[SMC_CONST_L15_HITS] += !again;
    s->indexed[lines - 1] = line, s->indexed_at[lines - 1] = bring_indexed(sm, line, cycle);
    use_indexed(s, lines - 1);
    return s->indexed_at[0];
}

static u64 read_fixed(Sm *sm, const TimeWarp *w, u64 address, u64 cycle) {
    u64 bytes = sm->gpu->const_line, line = address / bytes;
    bool again = w->state == TW_WAIT && w->wait == WAIT_CONSTANT, hit = has(sm->imc, address, bytes);
    bool coming = hit && line == sm->imc_line && sm->imc_ready > cycle;
    if (!again) sm->counters[SMC_CONST_REQUESTS]++, sm->counters[SMC_CONST_HITS] += hit && !coming;
    if (hit) return coming ? sm->imc_ready : cycle;
    if (look_behind(sm, address, cycle)) return NEVER;
    keep(sm->imc, address, bytes);
    if (again) return cycle;  // it has come to both
    sm->counters[SMC_CONST_L15_HITS]++;
    sm->imc_line = line;
    return sm->imc_ready = cycle + sm->gpu->imc_miss + first_miss(sm, &sm->imc_touched, w->run, sm->gpu->imc_first);
}

u64 memory_immediate(Sm *sm, const TimeWarp *w, const TimeOp *op, u64 cycle) {
    u64 address;
    if (!(op->flags & TIME_INDEXED)) return op->constant ? read_fixed(sm, w, address_of(w, op), cycle) : cycle;
    if (!traced_address(w, op, &address)) return cycle;
    return op->flags & TIME_PLACED ? read_fixed(sm, w, address, cycle) : read_indexed(sm, w, address, cycle);
}

// When a line that const_l1 has been promised is there.
static u64 const_there(const Sm *sm, u64 line) {
    for (u32 i = 0; i < CONST_LINES; i++)
        if (sm->const_lines[i].line == line) return sm->const_lines[i].at;
    return 0;
}

u64 constant_line(Sm *sm, u64 address, u32 ticket, u64 cycle) {
    u64 bytes = sm->gpu->const_line;
    sm->counters[SMC_CONST_REQUESTS]++;
    if (has(sm->const_l1, address, bytes)) {
        u64 there = const_there(sm, address / bytes), hit = sm->gpu->const_l1_latency;
        if (there <= cycle + hit) return sm->counters[SMC_CONST_HITS]++, hit;
        return there - cycle;
    }
    ConstMiss *coming = look_behind(sm, address, cycle);
    if (!coming) {
        sm->counters[SMC_CONST_L15_HITS]++;
        keep(sm->const_l1, address, bytes);
        sm->const_last = (sm->const_last + 1) % CONST_LINES;
        u64 latency = sm->gpu->const_l15_latency;
        if (is_parameter(address))
            latency += first_miss(sm, &sm->const_touched, sm->tickets.data[ticket].run, sm->gpu->const_first);
        sm->const_lines[sm->const_last] = (ConstLine){.line = address / bytes, .at = cycle + latency};
        return latency;
    }
    sm->tickets.data[ticket].remaining++;
    sm_wait(sm, &coming->waiters, ticket, 0);
    return 0;
}

// A special register: 2 and 16 warps of a scheduler that read four each wait 71 and 127 cycles on an H200, 36 cycles
// between CTAs of two of its warps (bench/hwref/h200-starts.tsv, special_4, kept).
static void read_special(Sm *sm, TimeWarp *w, const TimeOp *op, u64 cycle) {
    Scheduler *s = &sm->schedulers[w->sched];
    u64 turn = s->special_free > cycle ? s->special_free : cycle;
    s->special_free = turn + sm->gpu->special_interval;
    sm_set_result(w, w->run->code, op, turn + op->latency, STALL_SHORT_SCOREBOARD);
}

void memory_fixed(Sm *sm, TimeWarp *w, const TimeOp *op, u64 cycle) {
    if (op->spaced == SPACED_SPECIAL) return read_special(sm, w, op, cycle);
    u64 turn = sm->const_free > cycle ? sm->const_free : cycle;
    u32 ticket = sm_ticket_new(sm, w, (u32)(op - w->run->code->ops), TICKET_LOAD, cycle);
    sm->const_free = turn + sm->gpu->const_l1_interval;
    if (sm->status != STATUS_OK) return;
    sm->tickets.data[ticket].remaining = 1;
    sm_set_result(w, w->run->code, op, NEVER, STALL_SHORT_SCOREBOARD);
    u64 latency = op->constant ? constant_line(sm, address_of(w, op), ticket, cycle) : op->latency;
    sm_ticket_part(sm, ticket, 1, turn + latency, cycle);
}
