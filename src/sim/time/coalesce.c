// SPDX-License-Identifier: Apache-2.0
// The coalescer before the L2 (lrc in Nsight Compute's names): while a load is on its way to the L2 and back, loads of
// the same sectors by other SMs of the same GPC wait for its answer, up to so many; the L2 is asked once
// (bench/hwref/h200-coalescing.tsv). A load is on its way from when it leaves its port until it is answered, and
// `coalesce_cycles` more, which are part of the fixed latency here.
#include "base/map.h"
#include "sim/time/memsys_parts.h"

enum { CHAINS = 4096 };

struct Coalescer {
    Vec(Coalesced) entries;
    u32 free;            // entries
    u32 oldest, newest;  // of those that are answered
    u32 chain[CHAINS];
};

static u32 *chain_of(const MemSys *m, u64 line, u8 gpc) {
    return &m->coalescer->chain[(u32)hash_u64(line ^ (u64)gpc << 56) & (CHAINS - 1)];
}

static void leave_chain(MemSys *m, u32 at) {
    Coalesced *all = m->coalescer->entries.data;
    u32 *link = chain_of(m, all[at].line, all[at].gpc);
    while (*link != at) link = &all[*link].next;
    *link = all[at].next;
}

// Those that were answered too long ago.
static void forget(MemSys *m) {
    Coalescer *c = m->coalescer;
    while (c->oldest != WL_NONE && c->entries.data[c->oldest].until < m->now) {
        u32 at = c->oldest;
        Coalesced *e = &c->entries.data[at];
        if (e->members < m->coalesce_most) leave_chain(m, at);
        c->oldest = e->newer;
        e->next = c->free;
        c->free = at;
    }
    if (c->oldest == WL_NONE) c->newest = WL_NONE;
}

static u32 find(const MemSys *m, u64 line, const Piece *p, u8 gpc) {
    const Coalesced *all = m->coalescer->entries.data;
    for (u32 at = *chain_of(m, line, gpc); at != WL_NONE; at = all[at].next)
        if (all[at].line == line && all[at].mask == p->mask && all[at].gpc == gpc && all[at].kind == p->request)
            return at;
    return WL_NONE;
}

static void begin(MemSys *m, u64 line, Piece *p, u8 gpc) {
    Coalescer *c = m->coalescer;
    u32 at = c->free;
    if (at != WL_NONE) {
        c->free = c->entries.data[at].next;
    } else {
        at = c->entries.len;
        if (vec_push(&c->entries, (Coalesced){0}) != STATUS_OK) return (void)(m->status = STATUS_NO_MEMORY);
    }
    u32 *chain = chain_of(m, line, gpc);
    c->entries.data[at] = (Coalesced){.line = line,
                                      .mask = p->mask,
                                      .gpc = gpc,
                                      .kind = p->request,
                                      .members = 1,
                                      .until = NEVER,
                                      .waiting = WL_NONE,
                                      .newer = WL_NONE,
                                      .next = *chain};
    *chain = at;
    p->at = at + 1;
}

bool coalesce_join(MemSys *m, u32 item) {
    Piece *p = piece_at(m, item);
    p->at = 0;
    if ((p->request != MEM_READ && p->request != MEM_TEXTURE) || p->way & PIECE_HOST) return false;
    forget(m);
    u8 gpc = m->gpc[p->sm];
    u64 line = piece_address(m, p);
    u32 at = find(m, line, p, gpc);
    if (at == WL_NONE) return begin(m, line, p, gpc), false;
    Coalesced *e = &m->coalescer->entries.data[at];
    if (++e->members == m->coalesce_most) leave_chain(m, at);
    if (e->until != NEVER) {
        noc_reply(m, item);
    } else {
        item_at(m, item)->next = e->waiting;
        e->waiting = item;
    }
    return true;
}

void coalesce_answer(MemSys *m, u32 entry) {
    Coalescer *c = m->coalescer;
    Coalesced *e = &c->entries.data[entry];
    u32 waiting = e->waiting;
    e->waiting = WL_NONE;
    e->until = m->now + m->coalesce_cycles;
    *(c->newest == WL_NONE ? &c->oldest : &c->entries.data[c->newest].newer) = entry;
    c->newest = entry;
    for (u32 next; waiting != WL_NONE; waiting = next) {
        next = item_at(m, waiting)->next;
        noc_reply(m, waiting);
    }
}

Status coalesce_create(MemSys *m, const GpuModel *gpu) {
    if (gpu->l2_coalesce < 2 || m->stepped || m->no_cache) return STATUS_OK;
    m->coalesce_most = (u32)gpu->l2_coalesce;
    m->coalesce_cycles = (u32)clock_convert(gpu->l2_coalesce_latency, m->sm_clock, m->noc_clock);
    m->coalescer = mem_zero(1, sizeof *m->coalescer);
    if (!m->coalescer) return STATUS_NO_MEMORY;
    m->coalescer->free = m->coalescer->oldest = m->coalescer->newest = WL_NONE;
    for (u32 i = 0; i < CHAINS; i++) m->coalescer->chain[i] = WL_NONE;
    return STATUS_OK;
}

void coalesce_destroy(MemSys *m) {
    if (!m->coalescer) return;
    vec_free(&m->coalescer->entries);
    mem_free(m->coalescer);
}
