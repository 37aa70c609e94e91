// SPDX-License-Identifier: Apache-2.0
// Time and requests of the memory system. What will happen is in a wheel of buckets, one per interconnect cycle, each a
// list in the order of scheduling; a step takes requests and events in the order of their time. Nothing is done for a
// cycle in which nothing happens, and what a request needs comes from pools.
#include <string.h>

#include "base/map.h"
#include "sim/time/memsys_parts.h"

// --- items and the wheel
// -----------------------------------------------------------------------------------------------
enum { HOST_LINE = 64 };  // bytes; items do not lie across two

static Status add_chunk(MemSys *m) {
    TRY(vec_reserve(&m->chunks, 1));
    TRY(vec_reserve(&m->blocks, 1));
    u8 *block = mem_alloc((sizeof(Item) << CHUNK_BITS) + HOST_LINE);
    if (!block) return STATUS_NO_MEMORY;
    m->blocks.data[m->blocks.len++] = block;
    m->chunks.data[m->chunks.len++] = (Item *)(block + (HOST_LINE - (uintptr_t)block % HOST_LINE));
    return STATUS_OK;
}

u32 item_take(MemSys *m, u8 kind) {
    u32 item = m->free_item;
    if (item != WL_NONE) {
        m->free_item = item_at(m, item)->next;
    } else {
        if (m->item_count >> CHUNK_BITS == m->chunks.len && add_chunk(m) != STATUS_OK) {
            m->status = STATUS_NO_MEMORY;
            return WL_NONE;
        }
        item = m->item_count++;
    }
    item_at(m, item)->time = NEVER;
    item_at(m, item)->unit.kind = kind;
    return item;
}

void item_give(MemSys *m, u32 item) {
    item_at(m, item)->next = m->free_item;
    m->free_item = item;
}

static void wheel_remove(MemSys *m, u32 item) {
    Item *i = item_at(m, item);
    u32 bucket = i->time & (WHEEL_BUCKETS - 1);
    queue_remove(m, &m->bucket[bucket], item);
    if (m->bucket[bucket].head == WL_NONE) m->used[bucket / 64] &= ~(1ull << bucket % 64);
    i->time = NEVER;
    m->scheduled--;
}

void wheel_add(MemSys *m, u32 item, u64 time) {
    Item *i = item_at(m, item);
    if (time < m->now) time = m->now;
    if (i->time <= time) return;
    if (i->time != NEVER) wheel_remove(m, item);
    u32 bucket = time & (WHEEL_BUCKETS - 1);
    i->time = time;
    queue_push(m, &m->bucket[bucket], item);
    m->used[bucket / 64] |= 1ull << bucket % 64;
    m->scheduled++;
}

// The first item of a bucket that is due at `time`.
static u32 due(const MemSys *m, u64 time) {
    u32 item = m->bucket[time & (WHEEL_BUCKETS - 1)].head;
    while (item != WL_NONE && item_at(m, item)->time != time) item = item_at(m, item)->next;
    return item;
}

// The time of the next item, which is none of this turn of the wheel.
static u64 far_time(const MemSys *m) {
    u64 best = NEVER;
    for (u32 bucket = 0; bucket < WHEEL_BUCKETS; bucket++)
        for (u32 item = m->bucket[bucket].head; item != WL_NONE; item = item_at(m, item)->next)
            if (item_at(m, item)->time < best) best = item_at(m, item)->time;
    return best;
}

// The time of the next item at or after `now`; NEVER when there is none.
static u64 wheel_next(const MemSys *m) {
    if (!m->scheduled) return NEVER;
    for (u64 time = m->now, end = m->now + WHEEL_BUCKETS; time < end;) {
        u32 bucket = time & (WHEEL_BUCKETS - 1);
        u64 word = m->used[bucket / 64] >> bucket % 64;
        if (!word) {
            time += 64 - bucket % 64;
            continue;
        }
        time += (u32)__builtin_ctzll(word);
        if (time < end && due(m, time) != WL_NONE) return time;
        time++;
    }
    return far_time(m);
}

static void happen(MemSys *m, u32 item) {
    if (item_at(m, item)->next != WL_NONE) __builtin_prefetch(item_at(m, item_at(m, item)->next));
    wheel_remove(m, item);
    u32 unit = item_at(m, item)->unit.index;
    switch ((ItemKind)item_at(m, item)->unit.kind) {
    case ITEM_PORT: noc_port(m, unit); break;
    case ITEM_SLICE: l2_slice(m, unit); break;
    case ITEM_CHANNEL: dram_channel(m, unit); break;
    case ITEM_NETWORK: network_step(m, unit); break;
    case ITEM_PIECE:
        if (piece_at(m, item)->way & PIECE_HOST)
            bus_done(m, item);
        else if (piece_at(m, item)->way & PIECE_CROSSES)
            noc_reply(m, item);
        else if (piece_at(m, item)->way & PIECE_ACROSS)
            l2_arrive(m, item);
        else
            l2_atomic_done(m, item);
        break;
    case ITEM_PACKET: network_arrive(m, item); break;
    case ITEM_BURST: l2_filled(m, item); break;
    }
}

// --- requests and replies
// ------------------------------------------------------------------------------------------------
static u32 join_take(MemSys *m, u32 pieces) {
    u32 join = m->free_join;
    if (join != WL_NONE) {
        m->free_join = m->joins.data[join].next_free;
    } else {
        join = m->joins.len;
        if (vec_push(&m->joins, (Join){0}) != STATUS_OK) {
            m->status = STATUS_NO_MEMORY;
            return WL_NONE;
        }
    }
    m->joins.data[join] = (Join){.left = pieces};
    return join;
}

static void answer(MemSys *m, const Piece *p, u64 cycle) {
    MemReply reply = {
        .cycle = cycle, .line = p->line, .tag = p->tag, .sm = p->sm, .kind = p->request, .sectors = p->sectors};
    if (vec_push(m->replies, reply) != STATUS_OK) m->status = STATUS_NO_MEMORY;
    m->outstanding--;
}

void memsys_deliver(MemSys *m, u32 item, u64 cycle) {
    const Piece *p = piece_at(m, item);
    u64 arrival = clock_convert(cycle, m->noc_clock, m->sm_clock) + m->tail + m->extra[p->sm * m->slices + p->slice];
    if (p->join == WL_NONE) {
        answer(m, p, arrival);
    } else {
        Join *join = &m->joins.data[p->join];
        if (arrival > join->latest) join->latest = arrival;
        if (--join->left == 0) {
            answer(m, p, join->latest);
            join->next_free = m->free_join;
            m->free_join = p->join;
        }
    }
    item_give(m, item);
}

// Bits of 32 bytes, `offset` bytes from the start of a cache line, as sectors of it.
static u8 cache_sectors(const MemSys *m, u32 bits, u32 offset) {
    u32 result = 0;
    if (WL_LIKELY(m->cache_sector == SECTOR)) return (u8)(bits << offset / SECTOR);
    for (; bits; bits &= bits - 1) result |= 1u << (offset + (u32)__builtin_ctz(bits) * SECTOR) / m->cache_sector;
    return (u8)result;
}

// Sectors of the cache line that the request writes completely: with all of their 32-byte sectors.
static u8 whole_sectors(const MemSys *m, const MemRequest *r, u32 offset, u32 bits, u32 within) {
    u32 whole = bits & (u32)r->whole >> offset / SECTOR;
    return cache_sectors(m, bits, within) & (u8)~cache_sectors(m, bits & ~whole, within);
}

typedef struct Part {  // of a request: what lies in one cache line
    u32 offset, bits;  // from the request's line, in bytes; 32-byte sectors
    u32 join;
    u32 slice;
    u64 local;
} Part;

static Part part_of(const MemSys *m, const MemRequest *r, u32 offset, u32 bits) {
    Part part = {.offset = offset, .bits = bits, .join = WL_NONE};
    part.slice = address_map_slice(&m->map, (r->line + offset) & ~(u64)(m->cache_line - 1), &part.local);
    return part;
}

static void send_part(MemSys *m, const MemRequest *r, const Part *part) {
    u32 item = item_take(m, ITEM_PIECE), offset = part->offset, bits = part->bits;
    if (item == WL_NONE) return;
    u64 address = (r->line + offset) & ~(u64)(m->cache_line - 1);
    u32 within = (u32)(r->line + offset - address);
    *piece_at(m, item) = (Piece){.kind = ITEM_PIECE,
                                 .line = r->line,
                                 .local = part->local,
                                 .tag = r->tag,
                                 .join = part->join,
                                 .sm = r->sm,
                                 .slice = (u16)part->slice,
                                 .mask = cache_sectors(m, bits, within),
                                 .whole = whole_sectors(m, r, offset, bits, within),
                                 .request = r->kind,
                                 .sectors = r->sectors,
                                 .first = (u8)(offset / SECTOR),
                                 .count = (u8)sector_count(bits),
                                 .waiting = r->waiting,
                                 .way = r->atomic | (r->kind == MEM_PRINT || bus_is_host(m, address) ? PIECE_HOST : 0)};
    if (r->kind == MEM_WRITE) piece_at(m, item)->parts = (u16)(r->parts >> offset / SECTOR * CACHE_PART_BITS);
    noc_send(m, item);
}

static void send(MemSys *m, const MemRequest *r) {
    u32 size = m->cache_line < REQUEST_LINE ? m->cache_line : REQUEST_LINE, per = size / SECTOR, pieces = 0;
    u32 all = (1u << per) - 1, join = WL_NONE;
    for (u32 first = 0; first < REQUEST_LINE / SECTOR; first += per) pieces += ((u32)r->sectors >> first & all) != 0;
    m->outstanding++;
    if (pieces > 1 && (join = join_take(m, pieces)) == WL_NONE) return;
    for (u32 first = 0; first < REQUEST_LINE / SECTOR; first += per) {
        u32 bits = (u32)r->sectors >> first & all;
        if (!bits) continue;
        Part part = part_of(m, r, first * SECTOR, bits);
        part.join = join;
        send_part(m, r, &part);
    }
}

// Requests of the step whose cache lines come to the host's caches before their turn: where they go is known then.
enum { AHEAD = 12, AHEAD_PLACES = 16 };  // a power of two
typedef struct Ahead {
    const MemRequest *requests;
    u32 count, at, known;      // at: the next to be sent; known: the next to be looked at
    Part place[AHEAD_PLACES];  // of requests that are one piece
} Ahead;

static void look_ahead(const MemSys *m, Ahead *ahead) {
    for (; ahead->known < ahead->count && ahead->known <= ahead->at + AHEAD; ahead->known++) {
        const MemRequest *r = &ahead->requests[ahead->known];
        Part *place = &ahead->place[ahead->known % AHEAD_PLACES];
        *place = part_of(m, r, 0, r->sectors);
        cache_prefetch(m->slice[place->slice].cache, place->local);
    }
}

// Sends the requests whose interconnect cycle is `now`.
static void send_now(MemSys *m, Ahead *ahead) {
    bool single = m->cache_line >= REQUEST_LINE;
    for (u64 cycle = NEVER; ahead->at < ahead->count; ahead->at++) {
        const MemRequest *r = &ahead->requests[ahead->at];
        if (r->cycle != cycle) {
            cycle = r->cycle;
            if (clock_convert(cycle, m->sm_clock, m->noc_clock) > m->now) break;
        }
        look_ahead(m, ahead);
        if (!single || !r->sectors) {
            send(m, r);
            continue;
        }
        m->outstanding++;
        send_part(m, r, &ahead->place[ahead->at % AHEAD_PLACES]);
    }
}

static Status keep_late(MemSys *m, const MemRequest *requests, u32 count) {
    TRY(vec_reserve(&m->late, count));
    if (count) memcpy(m->late.data + m->late.len, requests, count * sizeof *requests);
    m->late.len += count;
    return STATUS_OK;
}

Status memsys_step(MemSys *m, const MemRequest *requests, u32 count, u64 from, u64 until, MemReplies *replies) {
    (void)from;
    u64 end = clock_convert(until, m->sm_clock, m->noc_clock);
    Ahead ahead = {.requests = requests, .count = count};
    m->replies = replies;
    m->status = STATUS_OK;
    while (m->status == STATUS_OK) {
        u64 time = wheel_next(m), next = NEVER;
        if (m->late.len)
            next = clock_convert(m->late.data[0].cycle, m->sm_clock, m->noc_clock);
        else if (ahead.at < count)
            next = clock_convert(requests[ahead.at].cycle, m->sm_clock, m->noc_clock);
        if (next < m->now) next = m->now;
        if ((time < next ? time : next) >= end) break;
        if (time <= next) {
            m->now = time;
            for (u32 item; m->status == STATUS_OK && (item = due(m, time)) != WL_NONE;) happen(m, item);
        } else {
            m->now = next;
            for (u32 i = 0; i < m->late.len; i++) send(m, &m->late.data[i]);  // all of one interconnect cycle
            m->late.len = 0;
            send_now(m, &ahead);
        }
    }
    TRY(m->status);
    if (end > m->now) m->now = end;
    return keep_late(m, requests + ahead.at, count - ahead.at);
}

u64 memsys_least_latency(const MemSys *m) { return m->tail; }

bool memsys_idle(const MemSys *m) { return !m->outstanding && !m->scheduled && !m->late.len; }

u64 memsys_next_event(const MemSys *m) {
    if (m->late.len) return m->now * m->sm_clock / m->noc_clock;
    u64 time = wheel_next(m);
    return time == NEVER ? NEVER : time * m->sm_clock / m->noc_clock;
}

// --- caches and counters from outside
// ------------------------------------------------------------------------------------
void memsys_flush(MemSys *m) {
    for (u32 i = 0; i < m->slices; i++) cache_clear(m->slice[i].cache), m->slice[i].parts_count = 0;
}

void memsys_touch(MemSys *m, u64 address, u64 size, bool write) {
    if (m->no_cache || !size || (!write && !m->copy_allocates)) return;
    u64 end = address + size, line = m->cache_line;
    if (size > m->cache_bytes * 2) address = end - m->cache_bytes * 2;
    u32 all = (1u << m->cache_line / m->cache_sector) - 1;
    for (address &= ~(line - 1); address < end; address += line) {
        u64 local;
        Cache *cache = m->slice[address_map_slice(&m->map, address, &local)].cache;
        CacheVictim victim;
        if (!m->copy_allocates)
            cache_drop(cache, local, all);
        else if (write)
            cache_write(cache, local, all, 0, true, address, &victim);
        else if (cache_reserve(cache, local, all, address, &victim))
            cache_fill(cache, local, all);
    }
}

void memsys_warm(MemSys *m, u64 line, u32 sectors, bool write) {
    if (m->no_cache) return;
    u32 size = m->cache_line < REQUEST_LINE ? m->cache_line : REQUEST_LINE, per = size / SECTOR;
    for (u32 first = 0; first < REQUEST_LINE / SECTOR; first += per) {
        u32 bits = sectors >> first & ((1u << per) - 1);
        if (!bits) continue;
        u64 address = (line + first * SECTOR) & ~(u64)(m->cache_line - 1);
        u32 wanted = cache_sectors(m, bits, (u32)(line + first * SECTOR - address));
        u64 local;
        Cache *cache = m->slice[address_map_slice(&m->map, address, &local)].cache;
        CacheVictim victim;
        CacheLook look = cache_look(cache, local, wanted);
        if (write)
            (void)cache_write(cache, local, wanted, 0, true, address, &victim);
        else if (look.miss && cache_reserve(cache, local, look.miss, address, &victim))
            cache_fill(cache, local, look.miss);
    }
}

u32 memsys_units(const MemSys *m, MemScope scope) {
    switch (scope) {
    case MEM_SCOPE_NOC: return m->sms;
    case MEM_SCOPE_SLICE: return m->slices;
    case MEM_SCOPE_CHANNEL: return m->channels;
    case MEM_SCOPE_BANK: return m->channels * m->banks;
    default: return 0;
    }
}

static const u8 scopes[] = {
#define MEM_COUNTER(id, scope, help) MEM_SCOPE_##scope,
#include "sim/time/memsys_counters.def"
#undef MEM_COUNTER
};

static u64 gauge_now(const MemSys *m, const Gauge *g) { return g->sum + g->value * (m->now - g->since); }
static u64 noc_to_sm(const MemSys *m, u64 cycles) { return cycles * m->sm_clock / m->noc_clock; }

// Each reads one counter of all units of its kind.
#define ALL(units, count, unit, value)                          \
    _Pragma("GCC unroll 4") for (u32 i = 0; i < (count); i++) { \
        unit = &(units)[i];                                     \
        to[i] = (value);                                        \
    }                                                           \
    return

static void read_ports(const MemSys *m, MemCounter counter, u64 *to) {
    const Port *p;
    switch (counter) {
    case MEMC_NOC_REQUEST_FLITS: ALL(m->ports, m->sms, p, p->request_flits);
    case MEMC_NOC_REPLY_FLITS: ALL(m->ports, m->sms, p, p->reply_flits);
    case MEMC_NOC_REQUEST_WAIT: ALL(m->ports, m->sms, p, noc_to_sm(m, p->request_wait));
    case MEMC_NOC_REPLY_WAIT: ALL(m->ports, m->sms, p, noc_to_sm(m, p->reply_wait));
    default: return;
    }
}

static void read_slices(const MemSys *m, MemCounter counter, u64 *to) {
    const Slice *s;
    switch (counter) {
    case MEMC_L2_READ_SECTORS: ALL(m->slice, m->slices, s, s->read_sectors);
    case MEMC_L2_READ_HIT_SECTORS: ALL(m->slice, m->slices, s, s->read_hits);
    case MEMC_L2_READ_PENDING_SECTORS: ALL(m->slice, m->slices, s, s->read_pending);
    case MEMC_L2_WRITE_SECTORS: ALL(m->slice, m->slices, s, s->write_sectors);
    case MEMC_L2_WRITE_HIT_SECTORS: ALL(m->slice, m->slices, s, s->write_hits);
    case MEMC_L2_ATOMIC_SECTORS: ALL(m->slice, m->slices, s, s->atomic_sectors);
    case MEMC_L2_ATOMIC_HIT_SECTORS: ALL(m->slice, m->slices, s, s->atomic_hits);
    case MEMC_L2_MISS_SECTORS: ALL(m->slice, m->slices, s, s->misses);
    case MEMC_L2_SM_SECTORS:
        ALL(m->slice, m->slices, s, s->read_sectors + s->write_sectors + s->atomic_sectors - s->other_sectors);
    case MEMC_L2_SM_HIT_SECTORS:
        ALL(m->slice, m->slices, s, s->read_hits + s->read_pending + s->write_hits + s->atomic_hits - s->other_hits);
    case MEMC_L2_SM_MISS_SECTORS: ALL(m->slice, m->slices, s, s->misses - s->other_misses);
    case MEMC_L2_REQUESTS: ALL(m->slice, m->slices, s, s->requests);
    case MEMC_L2_EVICTIONS: ALL(m->slice, m->slices, s, s->evictions);
    case MEMC_L2_WRITEBACK_SECTORS: ALL(m->slice, m->slices, s, s->writebacks);
    case MEMC_L2_BUSY_CYCLES: ALL(m->slice, m->slices, s, noc_to_sm(m, s->busy_bytes / m->slice_rate));
    case MEMC_L2_QUEUE_CYCLES: ALL(m->slice, m->slices, s, noc_to_sm(m, gauge_now(m, &s->queued)));
    case MEMC_L2_MSHR_CYCLES: ALL(m->slice, m->slices, s, noc_to_sm(m, gauge_now(m, &s->missing)));
    default: return;
    }
}

static void read_channels(const MemSys *m, MemCounter counter, u64 *to) {
    const Channel *c;
    switch (counter) {
    case MEMC_DRAM_READS: ALL(m->channel, m->channels, c, c->reads);
    case MEMC_DRAM_WRITES: ALL(m->channel, m->channels, c, c->writes);
    case MEMC_DRAM_READ_BYTES: ALL(m->channel, m->channels, c, c->read_bytes);
    case MEMC_DRAM_WRITE_BYTES: ALL(m->channel, m->channels, c, c->write_bytes);
    case MEMC_DRAM_ACTIVATES: ALL(m->channel, m->channels, c, c->activates);
    case MEMC_DRAM_BUSY_CYCLES: ALL(m->channel, m->channels, c, c->busy * m->sm_clock / m->dram_clock);
    case MEMC_DRAM_PENDING_CYCLES: ALL(m->channel, m->channels, c, noc_to_sm(m, gauge_now(m, &c->pending)));
    case MEMC_DRAM_QUEUE_CYCLES: ALL(m->channel, m->channels, c, noc_to_sm(m, gauge_now(m, &c->queued)));
    case MEMC_DRAM_REFRESHES: ALL(m->channel, m->channels, c, c->refreshes);
    default: return;
    }
}
#undef ALL

// Banks are counted in the columns themselves: there are thousands of them.
const u64 *memsys_counter(const MemSys *m, MemCounter counter) {
    u64 *column = m->columns[counter];
    switch ((MemScope)scopes[counter]) {
    case MEM_SCOPE_NOC: read_ports(m, counter, column); break;
    case MEM_SCOPE_SLICE: read_slices(m, counter, column); break;
    case MEM_SCOPE_CHANNEL: read_channels(m, counter, column); break;
    default: break;
    }
    return column;
}
