// SPDX-License-Identifier: Apache-2.0
// The coalescer before the L2 (lrc in Nsight Compute's names): while a load is on its way to the L2 and back, loads of
// the same sectors by other SMs of the same GPC wait for its answer, up to so many; the L2 is asked once
// (bench/hwref/h200-coalescing.tsv). A load is on its way from when it leaves its port until it is answered, and
// `coalesce_cycles` more, which are part of the fixed latency here. Of a line that is
// asked for in pieces each is waited for by who has asked for the same ones before it, in the same order; who comes
// with another one goes by itself, and ends it: whoever comes then begins anew (bench/hwref/h200-meetings.tsv: A0 A1 B0
// B1 are two requests, A0 A1 B1 three, A0 B1 C0 three; tables of which each warp reads a sector: 3 % of the sectors
// meet where they lie side by side, 75 % where each has a line).
#include "base/map.h"
#include "sim/time/memsys_parts.h"

enum { CHAINS = 4096, MEMBERS = 8, PIECES = 8 };  // MEMBERS: that the key allows; PIECES: of a line that are followed

typedef struct Meeting {  // SMs of a GPC that ask for the same pieces of a line
    u64 line;
    u32 next;                              // in its chain, or of those that are free
    u32 first;                             // entry: the first piece
    u32 head;                              // ... with which who comes anew is compared; WL_NONE: nobody can
    u32 at[MEMBERS];                       // by member: the piece that it asked for last
    u16 sm[MEMBERS];                       // by member
    u8 members, gpc, kind, pieces, alive;  // alive: pieces that are not forgotten
} Meeting;

struct Coalescer {
    Vec(Coalesced) entries;
    Vec(Meeting) meetings;
    u32 free, free_meeting;
    u32 oldest, newest;  // of the entries that are answered
    u32 chain[CHAINS];
};

static u32 *chain_of(const MemSys *m, u64 line, u8 gpc) {
    return &m->coalescer->chain[(u32)hash_u64(line ^ (u64)gpc << 56) & (CHAINS - 1)];
}

// A meeting is over: all its pieces are forgotten.
static void end(MemSys *m, u32 meeting) {
    Coalescer *c = m->coalescer;
    Meeting *g = &c->meetings.data[meeting];
    u32 *link = chain_of(m, g->line, g->gpc);
    while (*link != meeting) link = &c->meetings.data[*link].next;
    *link = g->next;
    for (u32 e = g->first, next; e != WL_NONE; e = next) {
        next = c->entries.data[e].next;
        c->entries.data[e].next = c->free;
        c->free = e;
    }
    g->next = c->free_meeting;
    c->free_meeting = meeting;
}

// Pieces that were answered too long ago.
static void forget(MemSys *m) {
    Coalescer *c = m->coalescer;
    while (c->oldest != WL_NONE && c->entries.data[c->oldest].until < m->now) {
        const Coalesced *e = &c->entries.data[c->oldest];
        c->oldest = e->newer;
        if (--c->meetings.data[e->meeting].alive == 0) end(m, e->meeting);
    }
    if (c->oldest == WL_NONE) c->newest = WL_NONE;
}

// The member's number; one more than there are: the SM is none.
static u32 member_of(const Meeting *g, u16 sm) {
    u32 i = 0;
    while (i < g->members && g->sm[i] != sm) i++;
    return i;
}

// The meeting that the SM is a member of, else one that has room; WL_NONE: there is none.
static u32 find(const MemSys *m, u64 line, const Piece *p, u8 gpc) {
    const Coalescer *c = m->coalescer;
    u32 open = WL_NONE;
    for (u32 at = *chain_of(m, line, gpc); at != WL_NONE; at = c->meetings.data[at].next) {
        const Meeting *g = &c->meetings.data[at];
        if (g->line != line || g->gpc != gpc || g->kind != p->request) continue;
        if (member_of(g, p->sm) < g->members) return at;
        if (g->members < m->coalesce_most && g->head != WL_NONE && c->entries.data[g->head].until >= m->now) open = at;
    }
    return open;
}

static u32 begin_meeting(MemSys *m, u64 line, const Piece *p, u8 gpc) {
    Coalescer *c = m->coalescer;
    u32 at = c->free_meeting;
    if (at != WL_NONE)
        c->free_meeting = c->meetings.data[at].next;
    else if (at = c->meetings.len, vec_push(&c->meetings, (Meeting){0}) != STATUS_OK)
        return m->status = STATUS_NO_MEMORY, WL_NONE;
    u32 *chain = chain_of(m, line, gpc);
    c->meetings.data[at] =
        (Meeting){.line = line, .gpc = gpc, .kind = p->request, .first = WL_NONE, .head = WL_NONE, .next = *chain};
    *chain = at;
    return at;
}

// A piece that nobody has asked for; what comes after it in its meeting is not known yet. WL_NONE: no memory.
static u32 begin_piece(MemSys *m, u32 meeting, Piece *p) {
    Coalescer *c = m->coalescer;
    u32 at = c->free;
    if (at != WL_NONE)
        c->free = c->entries.data[at].next;
    else if (at = c->entries.len, vec_push(&c->entries, (Coalesced){0}) != STATUS_OK)
        return m->status = STATUS_NO_MEMORY, WL_NONE;
    c->entries.data[at] = (Coalesced){
        .mask = p->mask, .meeting = meeting, .until = NEVER, .waiting = WL_NONE, .newer = WL_NONE, .next = WL_NONE};
    c->meetings.data[meeting].pieces++;
    c->meetings.data[meeting].alive++;
    p->at = at + 1;
    return at;
}

// One answer goes to all SMs that wait, and another one to an SM that has asked again: loads of 80 SMs each of which
// asks for all lines up to 32 times come at 4,310 bytes a cycle, of lines that all SMs ask for once at 7,010
// (bench/hwref/h200-l2-bandwidth.tsv, shift/cg/16/first_80, same/cg/16/first_132).
static void answer(MemSys *m, u32 item) {
    const Piece *p = piece_at(m, item);
    if (p->way & PIECE_AGAIN) l2_pass(m, p);
    noc_reply(m, item);
}

static bool wait_for(MemSys *m, u32 entry, u32 item) {
    Coalesced *e = &m->coalescer->entries.data[entry];
    if (e->until != NEVER) {
        answer(m, item);
    } else {
        item_at(m, item)->next = e->waiting;
        e->waiting = item;
    }
    return true;
}

// The SM has asked for it just now.
static bool is_same(const MemSys *m, u32 entry, const Piece *p) {
    const Coalesced *e = &m->coalescer->entries.data[entry];
    return e->mask == p->mask && e->until >= m->now;
}

// The SM takes part from its first piece on, as one more member.
static void take_part(Meeting *g, u16 sm, u32 entry) {
    g->sm[g->members] = sm;
    g->at[g->members++] = entry;
}

// Nobody has asked for the line.
static void ask_first(MemSys *m, u64 line, Piece *p, u8 gpc) {
    u32 at = begin_meeting(m, line, p, gpc), entry = at == WL_NONE ? WL_NONE : begin_piece(m, at, p);
    if (entry == WL_NONE) return;
    Meeting *g = &m->coalescer->meetings.data[at];
    g->first = g->head = entry;
    take_part(g, p->sm, entry);
}

// The member comes with a piece behind the last one.
static void ask_next(MemSys *m, u32 meeting, u32 member, Piece *p) {
    Meeting *g = &m->coalescer->meetings.data[meeting];
    if (g->pieces == PIECES) return (void)(g->head = WL_NONE);
    u32 entry = begin_piece(m, meeting, p);
    if (entry == WL_NONE) return;
    m->coalescer->entries.data[g->at[member]].next = entry;
    g->at[member] = entry;
}

bool coalesce_join(MemSys *m, u32 item) {
    Piece *p = piece_at(m, item);
    forget(m);
    Coalescer *c = m->coalescer;
    u8 gpc = m->gpc[p->sm];
    u64 line = piece_address(m, p);
    u32 at = find(m, line, p, gpc);
    if (at == WL_NONE) return ask_first(m, line, p, gpc), false;
    Meeting *g = &c->meetings.data[at];
    u32 member = member_of(g, p->sm);
    bool anew = member == g->members;
    if (!anew && is_same(m, g->at[member], p)) {
        p->way |= PIECE_AGAIN;
        return wait_for(m, g->at[member], item);
    }
    u32 entry = anew ? g->head : c->entries.data[g->at[member]].next;
    if (entry == WL_NONE) return ask_next(m, at, member, p), false;
    if (!is_same(m, entry, p)) {
        g->head = anew ? c->entries.data[entry].next : WL_NONE;
        return false;
    }
    if (anew)
        take_part(g, p->sm, entry);
    else
        g->at[member] = entry;
    return wait_for(m, entry, item);
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
        answer(m, waiting);
    }
}

Status coalesce_create(MemSys *m, const GpuModel *gpu) {
    if (gpu->l2_coalesce < 2 || m->stepped || m->no_cache) return STATUS_OK;
    m->coalesce_most = (u32)gpu->l2_coalesce;
    m->coalesce_cycles = (u32)clock_convert(gpu->l2_coalesce_latency, m->sm_clock, m->noc_clock);
    m->coalescer = mem_zero(1, sizeof *m->coalescer);
    if (!m->coalescer) return STATUS_NO_MEMORY;
    m->coalescer->free = m->coalescer->free_meeting = m->coalescer->oldest = m->coalescer->newest = WL_NONE;
    for (u32 i = 0; i < CHAINS; i++) m->coalescer->chain[i] = WL_NONE;
    return STATUS_OK;
}

void coalesce_destroy(MemSys *m) {
    if (!m->coalescer) return;
    vec_free(&m->coalescer->entries);
    vec_free(&m->coalescer->meetings);
    mem_free(m->coalescer);
}
