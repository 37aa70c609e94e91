// SPDX-License-Identifier: Apache-2.0
// Instruction fetch of an SM.
#include "sim/time/machine.h"
#include "sim/time/sm_parts.h"

#define CODE_BASE (0xc0deull << 32)  // where code lies, for the caches

// Lines are used one after the other: with each, the next ones are asked for (an H200 runs loops of any size with one
// warp at 44 cycles a line, a sixth of the L2's latency: bench/hwref, code/256_KiB/1_warps). What a launch fetches
// ahead: straight code that is seen for the first time becomes slow behind that (bench/hwref, straight/96_KiB).
enum { FETCH_AHEAD = 6, LAUNCH_AHEAD = 64 << 10 };
enum { CODES_NOTED = 64 };  // of more, SMs are furnished to keep them

static void fetch_ahead(Sm *sm, const TimeRun *run, u32 line) {
    u64 base = CODE_BASE + ((u64)run->code_id << 28);
    u32 lines = (u32)(((u64)run->code->op_count * run->code->insn_bytes + 127) / 128);
    CacheVictim victim;
    for (u32 i = 0; i < FETCH_AHEAD && line + i < lines; i++) {
        u64 next = base + (u64)(line + i) * 128;
        CacheLook there = cache_look(sm->fetch_l1, next, 15);
        if (there.hit || there.pending || !cache_reserve(sm->fetch_l1, next, 15, 0, &victim)) continue;
        sm_request(sm,
                   (MemRequest){.cycle = sm->now, .line = next, .tag = TAG_FETCH, .kind = MEM_FETCH, .sectors = 15});
    }
}

// When a line that the scheduler's cache has, or has been promised, is there; 0: it is.
static u64 arrival(const Scheduler *s, u64 address) {
    for (u32 i = 0; i < FETCH_LINES; i++)
        if (s->ahead[i].address == address) return s->ahead[i].at;
    return 0;
}

// A line that the scheduler's cache lacks is there at `at`.
static void bring_line(Sm *sm, Scheduler *s, u64 address, u64 at) {
    CacheVictim victim;
    if (cache_reserve(s->fetch, address, 15, 0, &victim)) cache_fill(s->fetch, address, 15);
    s->ahead_last = (s->ahead_last + 1) % FETCH_LINES;
    s->ahead[s->ahead_last] = (LineAhead){.address = address, .at = at};
    s->brought++;
    sm->counters[SMC_FETCHES]++;
}

// Lines behind `address` that the SM's cache has come to the scheduler's before a warp comes to them: on an H200 a warp
// that issues an instruction a cycle waits 20 cycles for every third line, one that takes 24 cycles a line never does
// (bench/hwref/h200-cold-code.tsv: independent, chain), as if each line that a warp comes to asked for the third
// behind.
static void bring_next(Sm *sm, Scheduler *s, const TimeRun *run, u32 line, u64 address, u64 at) {
    LineKnown *known = &s->known[line % FETCH_KNOWN];
    if (known->address == address && known->changes == s->brought + sm->code_come) return;
    u32 lines = (u32)(((u64)run->code->op_count * run->code->insn_bytes + 127) / 128);
    for (u32 i = 1; i <= FETCH_NEXT && line + i < lines; i++) {
        u64 next = address + (u64)i * 128;
        if (cache_look(s->fetch, next, 15).hit == 15 || cache_look(sm->fetch_l1, next, 15).hit != 15) continue;
        bring_line(sm, s, next, at);
        sm->counters[SMC_FETCH_HITS]++;
    }
    *known = (LineKnown){.address = address, .changes = s->brought + sm->code_come};
}

enum { LINE_LATENCY = 8 };  // of a line that comes from the L2 while a warp waits for the one before

u64 memory_fetch(Sm *sm, TimeWarp *w, u32 line, u64 cycle) {
    Scheduler *s = &sm->schedulers[w->sched];
    u64 begin = w->line == WL_NONE ? cycle + sm->gpu->warp_fetch : cycle, latency = sm->gpu->icache_l1_latency;
    if (begin < sm->code_at) begin = sm->code_at;
    if (!s->fetch) return begin;
    u64 address = CODE_BASE + ((u64)machine_code_id(w->run) << 28) + (u64)line * 128, there = arrival(s, address);
    bool hit = cache_look(s->fetch, address, 15).hit == 15;
    if (!hit) {
        sm->counters[SMC_FETCH_HITS] += cache_look(sm->fetch_l1, address, 15).hit == 15;
        there = cycle + (line == w->line + 1 && latency > LINE_LATENCY ? LINE_LATENCY : latency);
        bring_line(sm, s, address, there);
        fetch_ahead(sm, w->run, line);
    }
    bring_next(sm, s, w->run, line, address, cycle + latency);
    if (!hit && cache_look(sm->fetch_l1, address, 15).pending) return NEVER;
    return there > begin ? there : begin;
}

void sm_prefetch(Sm *sm, const LaunchCode *code) {
    CacheVictim victim;
    for (u64 at = code->address; at < code->address + code->bytes; at += 128)
        if (cache_reserve(sm->fetch_l1, at, 15, 0, &victim)) cache_fill(sm->fetch_l1, at, 15);
    sm->code_come++;
}

static LaunchCode code_ahead(const TimeMachine *m, const TimeRun *run) {
    u64 bytes = (u64)run->code->op_count * run->code->insn_bytes;
    if (bytes > LAUNCH_AHEAD) bytes = LAUNCH_AHEAD;
    if (bytes > m->gpu->icache_l1) bytes = m->gpu->icache_l1;
    return (LaunchCode){.address = CODE_BASE + ((u64)run->code_id << 28), .bytes = bytes};
}

// What is noted has no effect when it comes again while there is room for all.
static bool is_noted(const TimeMachine *m, const LaunchCode *code) {
    u64 bytes = 0;
    bool found = false;
    for (u32 i = 0; i < m->code.len; i++) {
        bytes += (m->code.data[i].bytes + 127) / 128 * 128;
        found |= m->code.data[i].address == code->address;
    }
    return found && bytes <= m->gpu->icache_l1;
}

Status machine_prefetch(TimeMachine *m, const TimeRun *run) {
    LaunchCode code = code_ahead(m, run);
    bool full = m->code.len == CODES_NOTED;
    for (u32 i = 0; i < m->sm_count; i++) {
        Sm *sm = &m->sms[i];
        if (full && !sm->furnished) TRY(sm_furnish(sm));
        if (!sm->furnished) continue;
        constants_clear(sm);
        memory_begins(sm);
        sm_prefetch(sm, &code);
    }
    return full || is_noted(m, &code) ? STATUS_OK : vec_push(&m->code, code);
}

void fetch_arrived(Sm *sm, const MemReply *reply) {
    cache_fill(sm->fetch_l1, reply->line, reply->sectors);
    sm->code_come++;
    for (u32 i = 0; i < sm->warp_count; i++) {
        TimeWarp *w = &sm->warps[i];
        if (w->state != TW_WAIT || w->wait != WAIT_FETCH) continue;
        u64 line = CODE_BASE + ((u64)machine_code_id(w->run) << 28) + (u64)w->line * 128;
        if (line == reply->line) sm_wake_other(sm, w, reply->cycle);
    }
}
