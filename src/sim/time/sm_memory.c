// SPDX-License-Identifier: Apache-2.0
// The memory side of an SM: the queues before the load/store and the texture unit, the L1, lines under way and
// constants. An access is looked up when its turn in the queue comes; what misses becomes a request to the
// memory system, and the reply wakes who waits.
#include <string.h>

#include "sim/time/machine.h"
#include "sim/time/sm_account.h"
#include "sim/time/sm_parts.h"
#include "sim/time/sm_spin.h"
#include "sim/time/sm_trace.h"

enum { NO_SYNC = 0xffff, NO_TICKET = WL_NONE };

// --- tickets -------------------------------------------------------------------------------------------------------
u32 sm_ticket_new(Sm *sm, TimeWarp *w, u32 op, TicketKind kind, u64 cycle) {
    u32 at;
    if (sm->free_tickets.len)
        at = sm->free_tickets.data[--sm->free_tickets.len];
    else {
        if (vec_push(&sm->tickets, (Ticket){0}) != STATUS_OK) return sm->status = STATUS_NO_MEMORY, NO_TICKET;
        at = sm->tickets.len - 1;
    }
    sm->tickets.data[at] = (Ticket){.run = w->run,
                                    .warp = w,
                                    .cta = w->cta,
                                    .serial = w->serial,
                                    .cta_serial = w->cta->serial,
                                    .issued = cycle,
                                    .op = op,
                                    .kind = (u8)kind,
                                    .group = NO_SYNC};
    sm->run_tickets[w->run->index]++;
    return at;
}

static StallReason result_reason(const Ticket *t) { return t->global ? STALL_LONG_SCOREBOARD : STALL_SHORT_SCOREBOARD; }

// All of a memory instruction is done: results are there at ticket.done.
static void ticket_complete(Sm *sm, u32 at, u64 cycle) {
    Ticket t = sm->tickets.data[at];
    TimeWarp *w = t.warp;
    if (vec_push(&sm->free_tickets, at) != STATUS_OK) sm->status = STATUS_NO_MEMORY;
    if (t.done < cycle) t.done = cycle;
    sm->run_tickets[t.run->index]--;
    if (sm->run_last[t.run->index] < t.done) sm->run_last[t.run->index] = t.done;
    if (t.global && t.kind == TICKET_LOAD) {
        sm->counters[SMC_LOADS_ENDED]++;
        sm->counters[SMC_LOAD_LATENCY] += t.done - t.issued;
        t.run->tallies[sm->worker].load_latency[tally_bucket(t.done - t.issued)]++;
    }
    // A CTA's mbarriers hear of bulk copies also when the warp that asked for them is over.
    if (t.kind == TICKET_BULK && t.group != NO_SYNC && t.cta->serial == t.cta_serial)
        sm_sync_done(sm, t.cta, t.group, t.copies, cycle);
    if (w->serial != t.serial || w->state == TW_FREE) return;
    const TimeCode *code = t.run->code;
    switch ((TicketKind)t.kind) {
    case TICKET_LOAD:
        sm_set_result(w, code, &code->ops[t.op], t.done, result_reason(&t));
        sm_wake_slot(sm, w, cycle);
        break;
    case TICKET_ASYNC:
        w->group_loads[t.group]--;
        sm_wake_other(sm, w, cycle);
        break;
    case TICKET_BULK: break;
    case TICKET_STORE:
        w->stores--;
        sm_wake_other(sm, w, cycle);
        break;
    }
}

void sm_ticket_part(Sm *sm, u32 at, u32 parts, u64 done, u64 cycle) {
    Ticket *t = &sm->tickets.data[at];
    if (done > t->done) t->done = done;
    t->remaining -= parts;
    if (t->remaining == 0) ticket_complete(sm, at, cycle);
}

// --- lines under way to the L1 -------------------------------------------------------------------------------------
static u32 *chain_of(Sm *sm, u64 line) { return &sm->miss_hash[(u32)(line >> 7) * 0x9e3779b1u & (sm->miss_cap - 1)]; }

static Miss *miss_find(Sm *sm, u64 line) {
    for (u32 at = *chain_of(sm, line); at != WL_NONE; at = sm->misses[at].next)
        if (sm->misses[at].line == line) return &sm->misses[at];
    return NULL;
}

// Whether there is a place for another line; memory for it is taken when it is needed.
static bool miss_fits(Sm *sm) {
    if (sm->free_misses != WL_NONE || sm->used_misses < sm->miss_room) return true;
    if (sm->miss_room == sm->miss_cap) return false;
    u32 room = sm->miss_room;
    Miss *more = pages_resize(sm->machine->sim->pages, sm->misses, room * sizeof *more, 2 * room * sizeof *more);
    if (!more) return sm->status = STATUS_NO_MEMORY, false;
    sm->misses = more;
    sm->miss_room = 2 * room;
    return true;
}

// There is a place.
static Miss *miss_new(Sm *sm, u64 line) {
    u32 at = sm->free_misses;
    if (at == WL_NONE)
        at = sm->used_misses++;
    else
        sm->free_misses = sm->misses[at].next;
    Miss *m = &sm->misses[at];
    u32 *chain = chain_of(sm, line);
    *m = (Miss){.line = line, .waiters = WL_NONE, .next = *chain};
    *chain = at;
    return m;
}

static void miss_free(Sm *sm, u32 at) {
    Miss *m = &sm->misses[at];
    u32 *chain = chain_of(sm, m->line);
    while (*chain != at) chain = &sm->misses[*chain].next;
    *chain = m->next;
    m->next = sm->free_misses;
    sm->free_misses = at;
}

typedef enum L1Fill { L1_ASKED, L1_COME, L1_LENT } L1Fill;  // the words of l1_fill

void sm_wait(Sm *sm, u32 *list, u32 ticket, u32 sectors) {
    u32 at = sm->free_waiters;
    if (at != WL_NONE)
        sm->free_waiters = sm->waiters.data[at].next;
    else {
        if (vec_push(&sm->waiters, (Waiter){0}) != STATUS_OK) return (void)(sm->status = STATUS_NO_MEMORY);
        at = sm->waiters.len - 1;
    }
    sm->waiters.data[at] = (Waiter){.ticket = ticket, .next = *list, .sectors = sectors};
    *list = at;
}

u32 sm_waited(Sm *sm, u32 list, u64 cycle) {
    Waiter w = sm->waiters.data[list];
    sm->waiters.data[list].next = sm->free_waiters;
    sm->free_waiters = list;
    sm_ticket_part(sm, w.ticket, 1, cycle, cycle);
    return w.next;
}

static void wait_for_line(Sm *sm, Miss *m, u32 ticket, u32 sectors) {
    sm_wait(sm, &m->waiters, ticket, sectors);
    sm->tickets.data[ticket].remaining += sector_count(sectors);
}

// Unless it is kept for it a line has its place from when its first data come, or has lost it since it was asked for,
// so many lines of a set as there are may be under way. Who asks for one that lost it waits for the same data, which
// stay.
static void keep_sectors(Sm *sm, Cache *cache, Miss *m, u32 sectors) {
    CacheVictim victim = {0};
    u32 kept = m->kept & sectors;
    if (!kept) return;
    m->kept &= ~kept;
    if (sm->gpu->l1_fill == L1_LENT && !cache_has(cache, m->line)) return;
    (void)cache_reserve(cache, m->line, kept, m->owner, &victim);  // nothing is pending in it for long
    sm->counters[SMC_L1_EVICTIONS] += victim.evicted;
}

static void line_arrived(Sm *sm, const MemReply *reply) {
    u32 at = reply->tag;
    Miss *m = &sm->misses[at];
    if (m->sectors & reply->sectors) {
        sm->sectors_under_way -= sector_count(m->sectors & reply->sectors);
        m->sectors &= ~(u32)reply->sectors;
    }
    Cache *cache = reply->kind == MEM_TEXTURE && sm->tex_cache ? sm->tex_cache : sm->l1;
    keep_sectors(sm, cache, m, reply->sectors);
    cache_fill(cache, m->line, reply->sectors);
    for (u32 *link = &m->waiters; *link != WL_NONE;) {
        Waiter *w = &sm->waiters.data[*link];
        u32 parts = sector_count(w->sectors & reply->sectors), ticket = w->ticket;
        w->sectors &= ~(u32)reply->sectors;
        if (w->sectors == 0) {
            u32 gone = *link;
            *link = w->next;
            w->next = sm->free_waiters;
            sm->free_waiters = gone;
        } else {
            link = &w->next;
        }
        if (!parts) continue;
        sm_ticket_part(sm, ticket, parts, reply->cycle, reply->cycle);
        reads_hold(&sm->lsu, 1);
    }
    if (m->sectors == 0) miss_free(sm, at);
    sm->lsu.blocked = sm->tex.blocked = false;
}

// --- the queues ----------------------------------------------------------------------------------------------------
static void enqueue(Sm *sm, Pipe *p, PipeEntry e, const u64 *lines, u32 count) {
    if (!pipe_push(p, e, lines, count)) return (void)(sm->status = STATUS_NO_MEMORY);
    if (e.ticket != NO_TICKET) sm->tickets.data[e.ticket].remaining++;
}

// --- serving an access ---------------------------------------------------------------------------------------------
typedef struct Access {
    Sm *sm;
    Pipe *pipe;
    PipeEntry *entry;
    const TimeOp *op;
    u64 cycle;
} Access;

static u64 divided(u64 value, u64 by) { return (value + by - 1) / by; }

// A line to be read: what is there, is there after `latency`. False: no place for the miss. Each load that the L1 does
// not keep asks for its own (bench/hwref/h200-l2-bandwidth.tsv, shift: as many sectors come as lanes load).
static bool read_line(const Access *a, u64 word, Cache *cache, u64 latency, MemKind kind, bool keep) {
    Sm *sm = a->sm;
    u64 line = trace_line_address(word);
    u32 sectors = sm->gpu->l1_sector < 128 ? trace_line_sectors(word) : 15;
    bool local = a->entry->space == TRACE_LOCAL;
    CacheLook look = keep ? cache_look(cache, line, sectors) : (CacheLook){.miss = sectors};
    if (look.miss && look.present) {
        u32 there = cache_words(cache, line, look.miss, trace_line_words(word));
        look.hit |= there, look.miss &= ~there;
    }
    Miss *m = keep && (look.pending || look.miss) ? miss_find(sm, line) : NULL;
    if (m && (look.present || sm->gpu->l1_fill != L1_LENT)) look.pending |= look.miss & m->kept, look.miss &= ~m->kept;
    if (look.miss) {
        u32 room = (u32)sm->gpu->l1_mshrs - sm->sectors_under_way;
        CacheVictim victim = {0};
        if (room < 4 || sm->sectors_under_way > sm->gpu->l1_mshrs || (!m && !miss_fits(sm))) return false;
        bool at_once = keep && sm->gpu->l1_fill == L1_ASKED, early = keep && sm->gpu->l1_fill != L1_COME;
        if (early && !cache_reserve(cache, line, at_once ? look.miss : 0, a->op->pc, &victim)) return false;
        sm->counters[SMC_L1_EVICTIONS] += victim.evicted;
        if (!m) m = miss_new(sm, line), m->owner = a->op->pc;
        u32 fresh = look.miss & ~m->sectors;
        m->sectors |= look.miss;
        if (keep && !at_once) m->kept |= look.miss;
        sm->sectors_under_way += sector_count(fresh);
        bool apart = kind == MEM_TEXTURE && trace_line_whole(word);
        for (u32 left = fresh, part; left; left &= ~part) {
            part = apart ? left & -left : left;
            sm_request(sm, (MemRequest){.cycle = a->cycle,
                                        .line = line,
                                        .tag = (u32)(m - sm->misses),
                                        .kind = (u8)kind,
                                        .sectors = (u8)part,
                                        .local = local});
        }
    }
    u32 awaited = look.pending | look.miss;
    if (awaited && m) wait_for_line(sm, m, a->entry->ticket, awaited);
    if (look.hit) {
        Ticket *t = &sm->tickets.data[a->entry->ticket];
        if (a->cycle + latency > t->done) t->done = a->cycle + latency;
    }
    u32 hits = sector_count(look.hit), pending = sector_count(look.pending), all = sector_count(sectors);
    if (a->entry->space == TRACE_TEXTURE) {
        sm->counters[SMC_TEX_SECTORS] += all;
        sm->counters[SMC_TEX_HITS] += hits + pending;
    } else if (local) {
        sm->counters[SMC_L1_LOCAL_LD_SECTORS] += all;
        sm->counters[SMC_L1_LOCAL_LD_HITS] += hits + pending;
    } else {
        sm->counters[SMC_L1_GLOBAL_LD_SECTORS] += all;
        sm->counters[SMC_L1_GLOBAL_LD_HITS] += hits;
        sm->counters[SMC_L1_GLOBAL_LD_PENDING] += pending;
    }
    return true;
}

typedef enum L1Write { L1_THROUGH, L1_EVICT, L1_ALLOCATE } L1Write;  // the words of l1_write

// A store that the L1 keeps: what it found there. Of sectors in part it has the words that were stored.
static CacheLook keep_store(const Access *a, u64 word, CacheVictim *victim) {
    u32 words = a->entry->bytes < 4 ? CACHE_NO_WORDS : trace_line_words(word);
    return cache_store(a->sm->l1, trace_line_address(word), trace_line_sectors(word), trace_line_whole(word), words,
                       a->op->pc, victim);
}

static void write_line(const Access *a, u64 word) {
    Sm *sm = a->sm;
    u64 line = trace_line_address(word);
    u32 sectors = trace_line_sectors(word);
    bool local = a->entry->space == TRACE_LOCAL;
    CacheVictim victim = {0};
    bool allocate = sm->gpu->l1_write == L1_ALLOCATE;
    CacheLook look = allocate ? keep_store(a, word, &victim) : cache_look(sm->l1, line, sectors);
    if (sm->gpu->l1_write == L1_EVICT && look.present)
        cache_drop(sm->l1, line, sectors);
    else if (look.hit && !allocate)
        (void)cache_write(sm->l1, line, look.hit, 0, false, a->op->pc, &victim);
    sm->counters[SMC_L1_EVICTIONS] += victim.evicted;
    // Stores to surfaces count as hits (h200-ncu-third.csv, surfaceWriteKernel: 50 % with as many loads that miss).
    bool surface = a->entry->space == TRACE_TEXTURE;
    u32 hit = surface || (allocate && look.present) ? sectors : look.hit;
    if (sm->gpu->l1_join) {
        StoreAccess store = {.ticket = a->entry->ticket,
                             .bytes = a->entry->share,
                             .local = local,
                             .looked_up = a->cycle + a->entry->count};
        u64 from = a->pipe->data_free > a->cycle ? a->pipe->data_free : a->cycle;
        a->pipe->data_free = from + store_line(sm, &store, word);
        if (stored_just_before(sm, &store, line, look.present)) hit = 0;
    }
    sm->counters[surface ? SMC_TEX_SECTORS
                 : local ? SMC_L1_LOCAL_ST_SECTORS
                         : SMC_L1_GLOBAL_ST_SECTORS] += sector_count(sectors);
    sm->counters[surface ? SMC_TEX_HITS : local ? SMC_L1_LOCAL_ST_HITS : SMC_L1_GLOBAL_ST_HITS] += sector_count(hit);
    if (sm->gpu->l1_join) return;
    sm->tickets.data[a->entry->ticket].remaining++;
    sm->writes++;
    sm_request(sm, (MemRequest){.cycle = a->cycle,
                                .line = line,
                                .tag = TAG_TICKET | a->entry->ticket,
                                .kind = MEM_WRITE,
                                .sectors = (u8)sectors,
                                .whole = (u8)trace_line_whole(word),
                                .local = local});
}

static void atomic_line(const Access *a, u64 word, MemKind kind) {
    Sm *sm = a->sm;
    u64 line = trace_line_address(word);
    u32 sectors = trace_line_sectors(word);
    Ticket *t = &sm->tickets.data[a->entry->ticket];
    cache_drop(sm->l1, line, sectors);
    // A sector is looked up again for each lane that meets another on a word of it (h200-counters.txt,
    // histogram_global: 53,022 of reductions, 52,644 by this).
    sm->counters[SMC_L1_ATOMIC_SECTORS] += sector_count(sectors) + trace_line_waiting(word);
    t->remaining++;
    sm->writes++;
    sm->same_word += t->same_word;
    sm_request(sm, (MemRequest){.cycle = a->cycle,
                                .line = line,
                                .tag = TAG_TICKET | a->entry->ticket,
                                .kind = (u8)kind,
                                .sectors = (u8)sectors,
                                .lanes = a->entry->lanes,
                                .waiting = (u8)trace_line_waiting(word),
                                .atomic = a->op->flags >> TIME_ATOMIC_SHIFT});
}

static void bulk_line(const Access *a, u64 word) {
    Sm *sm = a->sm;
    bool store = a->entry->kind == TIME_STORE;
    sm->tickets.data[a->entry->ticket].remaining++;
    sm_request(sm, (MemRequest){.cycle = a->cycle,
                                .line = trace_line_address(word),
                                .tag = TAG_TICKET | a->entry->ticket,
                                .kind = store ? MEM_WRITE : MEM_READ,
                                .sectors = (u8)trace_line_sectors(word),
                                .whole = (u8)trace_line_whole(word)});
}

// Indexed constants: the lines of their caches are shorter than those of the L1.
static bool const_line(const Access *a, u64 word) {
    const GpuModel *gpu = a->sm->gpu;
    u64 line = trace_line_address(word), bytes = gpu->const_line < 128 ? gpu->const_line : 128, latency = 0;
    u64 more = a->entry->wavefronts ? a->entry->wavefronts - 1u : 0;
    u32 each = (1u << bytes / 32) - 1;
    for (u64 at = 0; at < 128; at += bytes) {
        if (!(trace_line_sectors(word) >> at / 32 & each)) continue;
        u64 there = constant_line(a->sm, line + at, a->entry->ticket, a->cycle);
        if (there > latency) latency = there;
    }
    Ticket *t = &a->sm->tickets.data[a->entry->ticket];
    latency += more * gpu->const_l1_more;
    if (a->cycle + latency > t->done) t->done = a->cycle + latency;
    return true;
}

static bool kept_in_l1(const Access *a) {
    if (a->entry->space == TRACE_LOCAL) return true;
    return a->sm->gpu->l1_global && !(a->op->flags & TIME_BYPASS);
}

static bool serve_line(const Access *a, u64 word) {
    Sm *sm = a->sm;
    const PipeEntry *e = a->entry;
    if (e->space == TRACE_TEXTURE) {
        Cache *cache = sm->tex_cache ? sm->tex_cache : sm->l1;
        if (a->op->kind == TIME_STORE) return write_line(a, word), true;
        return read_line(a, word, cache, sm->gpu->tex_latency, MEM_TEXTURE, true);
    }
    if (e->space == TRACE_BULK) return bulk_line(a, word), true;
    switch ((TimeKind)e->kind) {
    case TIME_STORE: return write_line(a, word), true;
    case TIME_ATOMIC: return atomic_line(a, word, MEM_ATOMIC), true;
    case TIME_REDUCE: return atomic_line(a, word, MEM_REDUCE), true;
    case TIME_CONST: return const_line(a, word);
    default: return read_line(a, word, sm->l1, sm->gpu->l1_latency, MEM_READ, kept_in_l1(a));
    }
}

// Loads of four words that are one instruction take two wavefronts at least (h200-shared-reads.tsv, 16_bytes); their
// trace has the wavefronts of one word.
static bool merges_four(const Access *a) {
    return a->entry->kind == TIME_LOAD && a->entry->bytes == 4 && a->op->dst_count == 4;
}

// Shared memory, shuffles and whatever else only takes the unit: cycles, and when the result is there. Each part of the
// warp that is served by itself is a cycle later than its wavefronts (h200-shared-reads.tsv, latency: 3 cycles for a
// second one without a conflict, 2 for one with).
static void serve_shared(const Access *a) {
    Sm *sm = a->sm;
    const PipeEntry *e = a->entry;
    bool four = e->space == TRACE_SHARED && merges_four(a);
    u32 fewest = four && e->fewest < 2 ? 2 : e->fewest, n = four && e->wavefronts < 2 ? 2 : e->wavefronts;
    u64 done;
    if (e->space != TRACE_SHARED || a->op->flags & TIME_MIO) {
        done = a->cycle + a->op->latency;
    } else {
        bool atomic = e->kind == TIME_ATOMIC || e->kind == TIME_REDUCE || e->kind == TIME_SPIN_SWAP;
        sm->counters[e->kind == TIME_STORE ? SMC_SHARED_ST_WAVEFRONTS
                     : atomic              ? SMC_SHARED_ATOMIC_WAVEFRONTS
                                           : SMC_SHARED_LD_WAVEFRONTS] += n;
        sm->counters[SMC_SHARED_CONFLICTS] += n > fewest ? n - fewest : 0;
        done = a->cycle + sm->gpu->shared_latency + (n - 1) * sm->gpu->shared_conflict + a->op->latency;
        if (e->kind == TIME_LOAD && fewest > 1) done += fewest - 1;
        if (atomic) done += sm->gpu->shared_atomic;
    }
    Ticket *t = &sm->tickets.data[e->ticket];
    if (e->kind == TIME_SPIN_LOAD) t->warp->spin_loaded = a->cycle;
    if (e->kind == TIME_SPIN_SWAP) spin_swap(sm, t->warp, a->op, a->cycle);
    sm->counters[SMC_L1_DATA_CYCLES] += n;
    a->pipe->free_at = a->cycle + n + (e->kind == TIME_SPIN_SWAP);
    if (e->distributed && sm->gpu->distributed_bytes) {
        u64 taken = divided((u64)e->lanes * e->bytes, sm->gpu->distributed_bytes);
        if (e->kind == TIME_ATOMIC || e->kind == TIME_REDUCE) taken *= 2;  // h200-cluster.tsv, distributed/add: 13.5
        if (taken > n) a->pipe->free_at += taken - n;
        done += sm->gpu->distributed_latency;
    }
    if (done > t->done) t->done = done;
}

// Cycles that the data of the access take: a bank gives one word a cycle. `begins`: these are its first sectors. Where
// lanes read neighbouring words, wherever those begin, no two are of a bank: of the sectors at both ends only what they
// want is read (h200-l1-shifted.tsv: 1.48 cycles of 4 bytes, 2.02 of 8, shifted or not).
enum { QUADS = 8 };  // of a warp: four lanes, whose sectors the texture unit looks up together
static u64 data_cycles(const Sm *sm, const PipeEntry *e, u32 sectors, bool begins) {
    if (e->space == TRACE_TEXTURE) return begins ? divided(e->wavefronts * sm->gpu->tex_interval, QUADS) : 0;
    if (e->kind == TIME_CONST) return begins ? e->wavefronts * sm->gpu->const_l1_interval : 0;
    if (e->wavefronts) return begins ? e->wavefronts : 0;
    u64 bytes = (u64)sectors * 32, wanted = (u64)e->lanes * e->bytes;
    return divided(e->kind == TIME_LOAD && wanted < bytes ? wanted : bytes, sm->gpu->l1_bytes);
}

// Lines whose tags are looked up, by bank of the tags. Writes take turns.
enum { TAG_BANKS = 16 };
typedef struct TagLoad {
    u32 lines[TAG_BANKS], most, all;
} TagLoad;

typedef enum TagBank { TAG_NEIGHBOURS, TAG_FOLDED } TagBank;  // the words of l1_tag_bank

// Folded: which of an H200's four banks has a line's tag (bench/hwref/h200-l1-tags.tsv: all pairs of the lowest 16 bits
// of a line's number).
static u32 tag_bank(const GpuModel *gpu, u64 line) {
    enum { BIT_0 = 0x7ab5, BIT_1 = 0xd5da };
    u32 number = (u32)(line >> 7);
    if (gpu->l1_tag_bank == TAG_NEIGHBOURS) return (u32)((line >> 7) % gpu->l1_tags);
    u32 bank = (u32)__builtin_parity(number & BIT_0) | (u32)__builtin_parity(number & BIT_1) << 1;
    return bank % (u32)gpu->l1_tags;
}

// Words of the L1 are stored whole: of less the rest is read before, in the line's bank.
static bool merges(const Access *a) {
    return a->entry->kind == TIME_STORE && a->entry->bytes < 4 && a->sm->gpu->l1_merge;
}

static void look_up_tag(const Access *a, TagLoad *load, u64 line) {
    bool by_bank = a->entry->kind == TIME_LOAD || a->entry->kind == TIME_ASYNC || merges(a);
    u32 bank = by_bank ? tag_bank(a->sm->gpu, line) : 0;
    load->all++;
    if (++load->lines[bank] > load->most) load->most = load->lines[bank];
}

static u64 tag_cycles(const Access *a, const TagLoad *load) {
    if (!merges(a) || !load->all) return load->most;
    u64 cycles = 1 + (load->most - 1) * a->sm->gpu->l1_merge;
    return cycles > load->all ? cycles : load->all;
}

// What hits is there when the last word is; tags that are looked up in turns take a cycle each before that
// (h200-row-turns.tsv, L: of 32 lines 128, 384 and 1,536 bytes apart, whose fullest bank of tags has 8, 11 and 14, 69,
// 72 and 75 cycles more than U, 62 of them for 32 words of a bank). False: it is through at once.
static bool reads_in_turns(const Access *a, u64 before, u64 tags, u64 data) {
    const PipeEntry *e = a->entry;
    Pipe *p = a->pipe;
    Ticket *t = &a->sm->tickets.data[e->ticket];
    u64 late = tags ? tags - 1 : 0;
    if (!a->sm->gpu->l1_conflict || e->kind != TIME_LOAD || e->space == TRACE_TEXTURE) return false;
    if (data <= 1) reads_hold(p, 2);
    if (t->done == before) return false;
    if (data <= 1) return t->done += late, false;
    reads_begin(a->sm, p, data, (u32)late, a->cycle);
    p->free_at = a->cycle + (tags > data ? tags - data : 1);
    return true;
}

// Quads that look up what another quad of the instruction does find it there, or on its way.
static void count_quads(Sm *sm, const Pipe *p, const PipeEntry *e) {
    if (e->space != TRACE_TEXTURE || e->kind == TIME_STORE) return;
    u32 again = e->wavefronts;
    for (u32 i = 0; i < e->count; i++)
        again -= sector_count(trace_line_sectors(p->words[(e->words + i) & (p->word_cap - 1)]));
    sm->counters[SMC_TEX_SECTORS] += again;
    sm->counters[SMC_TEX_HITS] += again;
}

// Cycles that the unit is busy longer than `busy` because loads bring each lane its own data.
static u64 return_cycles(const Sm *sm, Pipe *p, const PipeEntry *e, u64 busy) {
    u64 rate = sm->gpu->l1_return;
    if (!rate || e->kind != TIME_LOAD || e->space == TRACE_TEXTURE) return 0;
    u64 needed = (u64)e->lanes * e->bytes * 100 / rate;
    if (needed <= busy * 100) return 0;
    p->owed += (u32)(needed - busy * 100);
    u64 more = p->owed / 100;
    p->owed %= 100;
    return more;
}

// What the memory system has to answer although nobody waits for data: so many may be under way.
static bool writes(const PipeEntry *e) {
    return e->space != TRACE_BULK && (e->kind == TIME_STORE || e->kind == TIME_REDUCE || e->kind == TIME_ATOMIC);
}

// Brings what the look-ups of an access need into the host's cache, where the L1s of all SMs have no room.
static void prefetch_lines(const Sm *sm, const Pipe *p, const PipeEntry *e) {
    enum { WORTH_IT = 4 };
    if (e->count < WORTH_IT) return;
    for (u32 i = 0; i < e->count; i++)
        cache_prefetch(sm->l1, trace_line_address(p->words[(e->words + i) & (p->word_cap - 1)]));
    for (u32 i = 0; i < e->count; i++)
        cache_prefetch_place(sm->l1, trace_line_address(p->words[(e->words + i) & (p->word_cap - 1)]));
}

static bool crowded(const Sm *sm, const Ticket *t) {
    return t->same_word && sm->gpu->l1_same_word && sm->same_word >= sm->gpu->l1_same_word;
}

// From the first that did not fit the last time until one does not fit; the sectors of those that did.
static u32 serve_lines(const Access *a, const Ticket *t, TagLoad *tags) {
    Sm *sm = a->sm;
    Pipe *p = a->pipe;
    PipeEntry *e = a->entry;
    u32 sectors = 0;
    for (; e->next_line < e->count; e->next_line++) {
        u64 word = p->words[(e->words + e->next_line) & (p->word_cap - 1)];
        if (writes(e) && (sm->writes >= sm->gpu->l1_writes || stores_full(sm) || crowded(sm, t))) {
            p->blocked = true;
            break;
        }
        if (!serve_line(a, word)) {
            p->blocked = true;
            sm->counters[SMC_L1_MSHR_FULL]++;
            break;
        }
        look_up_tag(a, tags, trace_line_address(word));
        sectors += sector_count(trace_line_sectors(word));
    }
    return sectors;
}

// The head of the queue has its turn. What does not fit stays at the head.
static void serve(Sm *sm, Pipe *p, u64 cycle) {
    PipeEntry *e = pipe_head(p);
    Ticket *t = &sm->tickets.data[e->ticket];
    Access a = {.sm = sm, .pipe = p, .entry = e, .op = &t->run->code->ops[e->op], .cycle = cycle};
    u64 read = e->kind == TIME_LOAD ? 0 : reads_wait(sm, p);
    if (read > cycle) {
        p->free_at = read;
        return;
    }
    if (e->count == 0) {
        serve_shared(&a);
    } else if (!sm->translated && sm->gpu->translation && e->kind != TIME_STORE) {  // stores leave the SM before it
        sm->translated = true;
        p->free_at = cycle + sm->gpu->translation;
        return;
    } else if (e->kind == TIME_LOAD && sm->gpu->l1_in_order && p->data_free > cycle) {
        p->free_at = p->data_free;
        return;
    } else {
        bool begins = e->next_line == 0;
        TagLoad tags = {.most = 0};
        u64 done = t->done;
        if (begins) prefetch_lines(sm, p, e), count_quads(sm, p, e);
        u32 sectors = serve_lines(&a, t, &tags);
        u64 data = data_cycles(sm, e, sectors, begins), looked_up = tag_cycles(&a, &tags),
            busy = e->space == TRACE_TEXTURE || looked_up < data ? data : looked_up;
        sm->counters[SMC_L1_TAG_CYCLES] += looked_up;
        sm->counters[SMC_L1_DATA_CYCLES] += data;
        p->free_at = cycle + (busy ? busy : 1);
        if (p->blocked) return;
        u64 more = return_cycles(sm, p, e, p->free_at - cycle);
        bool stays = reads_in_turns(&a, done, looked_up, data);
        p->free_at += more;
        if (stays) return;
    }
    u32 ticket = e->ticket;
    reads_leave(sm, p, cycle);
    const Ticket *sent = &sm->tickets.data[ticket];
    if (sent->kind == TICKET_STORE) sm_store_sent(sm, sent->warp, cycle);
    sm_ticket_part(sm, ticket, 1, 0, cycle);
}

// --- issue ---------------------------------------------------------------------------------------------------------
static TicketKind ticket_kind(const TimeOp *op) {
    switch (op->kind) {
    case TIME_STORE:
    case TIME_REDUCE: return TICKET_STORE;
    case TIME_ASYNC: return TICKET_ASYNC;
    case TIME_BULK: return TICKET_BULK;
    default: return TICKET_LOAD;
    }
}

// Lanes that meet on a word are a request each: red.add.f32 of all lanes to one word makes 32 (lts__t_requests_op_red
// on an H200, 2026-11-22: 1,048,576 for as many threads).
static void count_same_word(Ticket *t, const u64 *lines, u32 count) {
    for (u32 i = 0; i < count; i++) {
        u32 degree = trace_line_degree(lines[i]);
        if (degree > 1 && degree > t->same_word) t->same_word = (u8)degree;
    }
}

// Bytes that a store writes of each of its sectors, if it writes as many of all.
static u8 share_of_sector(const PipeEntry *e, const u64 *lines, u32 count) {
    u32 sectors = 0, bytes = (u32)e->lanes * e->bytes;
    for (u32 i = 0; i < count; i++) sectors += sector_count(trace_line_sectors(lines[i]));
    return sectors && bytes / sectors < 32 ? (u8)(bytes / sectors) : 32;
}

// A lane's asynchronous copy, of which mbarrier `sync` hears: with the ticket, if its lanes have that one in common.
static void note_copy(Sm *sm, TimeWarp *w, Ticket *t, u32 sync, u64 cycle) {
    bool first = t->kind == TICKET_BULK && t->group == NO_SYNC;
    if (first) t->group = (u16)sync;
    if (first || (t->kind == TICKET_BULK && t->group == sync))
        t->copies++;
    else
        sm_sync_done(sm, w->cta, sync, 1, cycle);
}

// Puts the accesses of the instruction into the queue; returns whether there were any.
static bool push_accesses(Sm *sm, Pipe *p, TimeWarp *w, const TimeOp *op, u32 ticket, u64 cycle) {
    const u64 *words = w->trace.words + w->trace.begin;
    bool any = false, found = false;
    OpRun run = run_of(w, op);
    for (u32 at = run.at; at < run.end;) {
        TraceAccess a = trace_access(words[at]);
        const u64 *lines = words + at + 1;
        if (a.insn > op->pc - run.from) break;
        at += 1u + a.lines;
        if (a.insn != op->pc - run.from) continue;
        if (!found) sought_is(w, op, (u32)(lines - words) - 1);
        found = true;
        Ticket *t = &sm->tickets.data[ticket];
        if (a.space == TRACE_SYNC) {
            if (a.wavefronts == SYNC_BULK) note_copy(sm, w, t, a.lanes, cycle);
            continue;
        }
        if (a.space == TRACE_BARRIER || a.space >= TRACE_SLOW) continue;
        PipeEntry e = {.issued = cycle,
                       .ticket = ticket,
                       .op = (u32)(op - w->run->code->ops),
                       .space = a.space,
                       .kind = op->kind,
                       .wavefronts = a.wavefronts,
                       .lanes = a.lanes,
                       .sched = w->sched,
                       .bytes = a.bytes};
        t->global |= a.space != TRACE_SHARED && op->kind != TIME_CONST;
        if (a.space == TRACE_SHARED)
            e.fewest = (u16)lines[0], e.distributed = lines[0] & TRACE_DISTRIBUTED,
            e.wavefronts = op->flags & TIME_JOINED ? 1 : e.wavefronts;
        else if (op->kind == TIME_LOAD)
            sm->counters[SMC_L1_GLOBAL_LD_REQUESTS] += a.space == TRACE_GLOBAL;
        bool joined = op->flags & TIME_JOINED && a.lines == 1;  // one lane asks for all
        u64 line = joined ? trace_line_alone(lines[0]) : 0;
        if (op->kind == TIME_REDUCE || op->kind == TIME_ATOMIC)
            count_same_word(t, joined ? &line : lines, a.space == TRACE_SHARED ? 0 : a.lines);
        if (t->kind == TICKET_STORE) e.share = share_of_sector(&e, lines, a.space == TRACE_SHARED ? 0 : a.lines);
        enqueue(sm, p, e, joined ? &line : lines, a.space == TRACE_SHARED ? 0 : a.lines);
        w->queued += t->kind == TICKET_STORE;
        any = true;
    }
    return any;
}

// The access of an operation that the trace does not have: to a word that a value was spilled to.
static bool push_spilled(Sm *sm, Pipe *p, TimeWarp *w, const TimeOp *op, u32 ticket, u64 cycle) {
    u64 lines[TRACE_SPILLED];
    u32 words = time_spilled_words(op->constant);
    u64 word = w->run->spill_words + time_spilled_word(op->constant);
    Ticket *t = &sm->tickets.data[ticket];
    PipeEntry e = {.issued = cycle,
                   .ticket = ticket,
                   .op = (u32)(op - w->run->code->ops),
                   .space = TRACE_LOCAL,
                   .kind = op->kind,
                   .lanes = w->lanes,
                   .sched = w->sched,
                   .share = 32,
                   .bytes = (u8)(4 * words)};
    u32 count = trace_spilled(&w->trace, word, words, w->lanes, lines);
    t->global = true;
    tally_of(sm, w)->pcs[op->pc].spilled++;
    enqueue(sm, p, e, lines, count);
    w->queued += t->kind == TICKET_STORE;
    return true;
}

void memory_issue(Sm *sm, TimeWarp *w, const TimeOp *op, u64 cycle) {
    const TimeCode *code = w->run->code;
    Pipe *p = op->unit == UNIT_TEX ? &sm->tex : &sm->lsu;
    u32 at = (u32)(op - code->ops), ticket = sm_ticket_new(sm, w, at, ticket_kind(op), cycle);
    if (ticket == NO_TICKET) return;
    bool spilled = op->constant && (op->kind == TIME_LOAD || op->kind == TIME_STORE);
    bool any = spilled ? push_spilled(sm, p, w, op, ticket, cycle) : push_accesses(sm, p, w, op, ticket, cycle);
    if (!any && op->flags & TIME_MIO) {
        PipeEntry e = {.issued = cycle,
                       .ticket = ticket,
                       .op = at,
                       .space = TRACE_BARRIER,
                       .wavefronts = op->interval,
                       .sched = w->sched};
        enqueue(sm, p, e, NULL, 0);
        w->queued += sm->tickets.data[ticket].kind == TICKET_STORE;
        any = true;
    }
    Ticket *t = &sm->tickets.data[ticket];
    if (!any) {  // no lane accesses anything
        if (vec_push(&sm->free_tickets, ticket) != STATUS_OK) sm->status = STATUS_NO_MEMORY;
        sm->run_tickets[t->run->index]--;
        if (t->kind == TICKET_BULK && t->group != NO_SYNC) sm_sync_done(sm, w->cta, t->group, t->copies, cycle);
        sm_set_result(w, code, op, cycle + 1, STALL_WAIT);
        pipe_passed(sm, p, cycle);
        return;
    }
    if (t->kind == TICKET_STORE) w->stores++, w->last_store = op->pc, w->stored = cycle;
    if (t->kind == TICKET_ASYNC) w->group_loads[t->group = (u16)(w->groups % GROUPS)]++;
    if (t->kind == TICKET_LOAD) sm_set_result(w, code, op, NEVER, result_reason(t));
}

// --- replies -------------------------------------------------------------------------------------------------------
static void arrived(Sm *sm, const MemReply *reply) {
    if (reply->tag & TAG_TICKET && sm->tickets.data[reply->tag & ~TAG_TICKET].kind != TICKET_BULK &&
        (reply->kind == MEM_WRITE || reply->kind == MEM_ATOMIC || reply->kind == MEM_REDUCE)) {
        sm->writes--;
        sm->same_word -= sm->tickets.data[reply->tag & ~TAG_TICKET].same_word;
        sm->lsu.blocked = false;
    }
    if (reply->kind == MEM_PRINT)
        sm_printed(sm, &sm->warps[reply->tag], reply->cycle);
    else if (is_store(reply->tag)) {
        sm->lsu.blocked = sm->tex.blocked = false;
        store_answered(sm, reply->tag & ~TAG_STORE, reply->cycle);
    } else if (reply->tag & TAG_TICKET)
        sm_ticket_part(sm, reply->tag & ~TAG_TICKET, 1, reply->cycle, reply->cycle);
    else if (reply->kind == MEM_FETCH)
        fetch_arrived(sm, reply);
    else if (reply->kind == MEM_CONST)
        constant_arrived(sm, reply);
    else
        line_arrived(sm, reply);
}

u64 memory_next(const Sm *sm) {
    u64 next = sm->replies.next, lsu = pipe_next(&sm->lsu), tex = pipe_next(&sm->tex);
    u64 store = stores_next(sm);
    if (lsu < next) next = lsu;
    if (store < next) next = store;
    return tex < next ? tex : next;
}

void memory_events(Sm *sm, u64 cycle) {
    while (sm->replies.next <= cycle) {
        MemReply reply = replies_take(&sm->replies);
        const MemReply *later = replies_ahead(&sm->replies);
        if (later) stores_prefetch_waiter(sm, later->tag);
        reply.cycle = cycle;
        arrived(sm, &reply);
    }
    stores_leave(sm, cycle);
    if (sm->lsu.read_next <= cycle) reads_end(sm, &sm->lsu, cycle);
    if (pipe_next_head(&sm->lsu) <= cycle) serve(sm, &sm->lsu, cycle);
    if (pipe_next_head(&sm->tex) <= cycle) serve(sm, &sm->tex, cycle);
}
