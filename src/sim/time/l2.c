// SPDX-License-Identifier: Apache-2.0
// The slices of the L2. A slice serves one request after the other, in order of arrival: a cycle each, or as long as
// its data take. Misses wait in an MSHR per cache line, which later misses of the line join. Written lines are
// allocated and not fetched; dirty sectors go to DRAM when the line is evicted. A request that cannot be served - no
// MSHR, no room in the DRAM queues, all lines of its set under way - blocks the slice until something ends. Atomics are
// done by a unit of the slice, sector by sector, lanes on one word one by one; whichever takes longer counts. Without
// an L2 (GT200) a slice is what passes requests on to its memory controller.
#include <stdatomic.h>
#include <string.h>

#include "base/map.h"
#include "sim/time/memsys_parts.h"

// --- MSHRs
// ------------------------------------------------------------------------------------------------------------
static u32 table_slot(const MemSys *m, u64 line) { return (u32)hash_u64(line) & m->mshr_mask; }

static u32 mshr_find(const MemSys *m, const Slice *s, u64 line) {
    if (!s->table) return WL_NONE;
    for (u32 slot = table_slot(m, line); s->table[slot]; slot = (slot + 1) & m->mshr_mask)
        if (s->mshrs[s->table[slot] - 1].line == line) return s->table[slot] - 1;
    return WL_NONE;
}

static u32 mshr_take(MemSys *m, Slice *s, u64 line) {
    u32 mshr = s->free_mshrs[--s->free_count];
    s->mshrs[mshr] = (Mshr){.line = line, .waiting = {WL_NONE, WL_NONE}};
    if (s->table) {
        u32 slot = table_slot(m, line);
        while (s->table[slot]) slot = (slot + 1) & m->mshr_mask;
        s->table[slot] = mshr + 1;
    }
    gauge_add(m, &s->missing, 1);
    return mshr;
}

// Slots behind the emptied one move up, so that every line stays reachable from its own slot.
static void table_remove(const MemSys *m, Slice *s, u32 mshr) {
    u32 slot = table_slot(m, s->mshrs[mshr].line), mask = m->mshr_mask;
    while (s->table[slot] != mshr + 1) slot = (slot + 1) & mask;
    for (u32 next = (slot + 1) & mask; s->table[next]; next = (next + 1) & mask) {
        u32 home = table_slot(m, s->mshrs[s->table[next] - 1].line);
        if (((next - home) & mask) < ((next - slot) & mask)) continue;
        s->table[slot] = s->table[next];
        slot = next;
    }
    s->table[slot] = 0;
}

static void mshr_give(MemSys *m, Slice *s, u32 mshr) {
    if (s->table) table_remove(m, s, mshr);
    s->free_mshrs[s->free_count++] = mshr;
    gauge_add(m, &s->missing, -1);
}

// --- service
// -----------------------------------------------------------------------------------------------------------
static void occupy(MemSys *m, Slice *s, u32 bytes) {
    u64 start = m->now * m->slice_rate;
    s->busy = (s->busy > start ? s->busy : start) + bytes;
    s->busy_bytes += bytes;
}

void l2_pass(MemSys *m, const Piece *p) { occupy(m, &m->slice[p->slice], p->count * SECTOR); }

// What was written in part is completed from DRAM first (an H200 reads 127 MB when it writes a word of each sector of
// 134: bench/hwref/h200-writes.tsv, write_words).
static void evicted(MemSys *m, Slice *s, u32 slice, const CacheVictim *victim) {
    s->evictions += victim->evicted;
    if (!victim->dirty) return;
    if (victim->part && !m->no_cache) dram_access(m, slice, victim->owner, victim->part, WL_NONE, false);
    s->writebacks += sector_count(victim->dirty);
    dram_access(m, slice, victim->owner, victim->dirty, WL_NONE, true);
}

// To a line that it does not have at hand, hundredths of a cycle: an H200 does 10.8 of a line each a cycle when they
// are spread over the L2 (bench/hwref, atomic/all_sms/red/line), one slice alone 0.21 on one line (atomic/add_u32).
enum { ATOMIC_LINE = 100 };

// Lines that it has at hand: turns of two cost as little as one alone, and so do those of four in each of two and four
// slices (h200-atomic-spread.tsv, 2x128, 8x128, 16x128).
static bool had_lately(Slice *s, u64 line) {
    for (u32 i = 0; i < ATOMIC_LINES; i++)
        if (s->atomic_line[i] == line) return true;
    s->atomic_line[s->atomic_next++ % ATOMIC_LINES] = line;
    return false;
}

// Each sector takes its time, and each lane that waits for another one on a word of it that of a word (h200-locks.tsv,
// increments: ten words are 26 and 6 lanes, 8.5 cycles of the L2). Nothing takes less than a word.
static u64 atomic_time(const MemSys *m, const Piece *p, u64 word) {
    u64 all = (u64)sector_count(p->mask) * m->atomic_sector[p->way] + p->waiting * word;
    return all > word ? all : word;
}

// Sums of f32 keep their sectors busy for longer than the slice, which goes on to the next atomic after as long as one
// of integers takes; one of the same sectors waits, and those behind it. (Words of f32 that warps choose out of 32 on
// an H200: 61 cycles a warp, of u32 43, out of one 111 and 46, out of two of one sector in turns 111:
// h200-atomic-random.tsv, alike/1, h200-atomic-turns.tsv, 2_x_4.)
static u64 slice_time(const MemSys *m, const Piece *p) {
    u32 word = m->atomic_word[p->way], least = m->atomic_word[MEM_ATOMIC_INTEGER];
    return atomic_time(m, p, p->way == MEM_ATOMIC_FLOAT && least < word ? least : word);
}

// When the last of the atomics under way leaves a sector of the piece.
static u64 sectors_free(const Slice *s, const Piece *p) {
    u64 until = 0;
    for (u32 i = 0; i < ATOMICS_BUSY; i++) {
        const AtomicBusy *b = &s->atomic_busy[i];
        if (b->line == p->local && b->mask & p->mask && b->until > until) until = b->until;
    }
    return until;
}

// In the place of who is done first.
static void keep_busy(Slice *s, const Piece *p, u64 until) {
    AtomicBusy *first = &s->atomic_busy[0];
    for (u32 i = 1; i < ATOMICS_BUSY; i++)
        if (s->atomic_busy[i].until < first->until) first = &s->atomic_busy[i];
    *first = (AtomicBusy){.line = p->local, .until = until, .mask = (u8)p->mask};
}

static u64 later(u64 a, u64 b) { return a > b ? a : b; }

// Its turn in the slice; when it is done.
static u64 take_turn(const MemSys *m, Slice *s, const Piece *p) {
    u64 start = later(later(s->atomic_free, m->now * 100), sectors_free(s, p));
    if (!had_lately(s, p->local)) start += ATOMIC_LINE;
    u64 done = start + atomic_time(m, p, m->atomic_word[p->way]);
    s->atomic_free = start + slice_time(m, p);
    if (done > s->atomic_free) keep_busy(s, p, done);
    return done;
}

static void start_atomic(MemSys *m, u32 item) {
    Piece *p = piece_at(m, item);
    Slice *s = &m->slice[p->slice];
    CacheVictim victim;
    cache_write(s->cache, p->local, p->mask, 0, m->no_cache, piece_address(m, p), &victim);  // no place is needed
    if (m->no_cache)
        dram_access(m, p->slice, victim.owner, victim.dirty, WL_NONE, true);
    else
        evicted(m, s, p->slice, &victim);
    s->atomics++;
    wheel_add(m, item, (take_turn(m, s, p) + 99) / 100 + m->atomic_latency);
}

void l2_atomic_done(MemSys *m, u32 item) {
    u32 slice = piece_at(m, item)->slice;
    m->slice[slice].atomics--;
    noc_reply(m, item);
    l2_wake(m, slice);
}

// All sectors are there.
static void complete(MemSys *m, u32 item) {
    u8 kind = piece_at(m, item)->request;
    if (kind == MEM_ATOMIC || kind == MEM_REDUCE)
        start_atomic(m, item);
    else
        noc_reply(m, item);
}

static bool make_room(MemSys *m, const Piece *p, u32 reads, bool evicts) {
    return dram_room(m, p->slice / (m->slices / m->channels), reads, evicts);
}

// Sectors that are fetched together with `sectors`: aligned blocks.
static u32 whole_blocks(const MemSys *m, u32 sectors) {
    u32 per = m->fetch_sectors, result = 0, one = (1u << per) - 1;
    if (per <= 1) return sectors;
    for (u32 at = 0; at < m->cache_line / m->cache_sector; at += per)
        if (sectors >> at & one) result |= one << at;
    return result;
}

// Asks DRAM for what nobody has asked for yet and lets the piece wait. False: not now.
static bool miss(MemSys *m, Slice *s, u32 item, CacheLook look) {
    Piece *p = piece_at(m, item);
    u32 mshr = look.present ? mshr_find(m, s, p->local) : WL_NONE;
    if (mshr == WL_NONE && !s->free_count) return false;
    if (look.miss) {
        CacheVictim victim;
        u32 wanted = whole_blocks(m, look.miss);
        if (!make_room(m, p, 1, !look.present)) return false;
        if (!cache_reserve(s->cache, p->local, wanted, piece_address(m, p), &victim)) return false;
        evicted(m, s, p->slice, &victim);
        if (mshr == WL_NONE) mshr = mshr_take(m, s, p->local);
        wanted &= ~(u32)(s->mshrs[mshr].pending);
        s->mshrs[mshr].pending |= (u16)wanted;
        dram_access(m, p->slice, piece_address(m, p), wanted, mshr, false);
    }
    p->need = (u8)(look.miss | look.pending);
    queue_push(m, &s->mshrs[mshr].waiting, item);
    return true;
}

// --- copies
// Half of the SMs and half of the slices belong to a partition. An SM's requests are looked up in its own; what lies in
// the other passes from there, and a copy of what was read or written stays: a line of its own, which comes and goes as
// others do. Of lines that one SM reads 41 MiB are there of 60, of lines that all read 30 (bench/hwref/h200-writes.tsv,
// read_only, read_by_all). It is kept in the slice that has the line itself, which has as many from either partition;
// what the way across costs is part of the distances (noc_spread). A line with marks may have a copy.
static const u64 copy_bit = 1ull << 56;  // of a local address
static u64 copy_of(u64 local) { return local | copy_bit; }

static bool is_far(const MemSys *m, const Piece *p) {
    return m->parted && m->side[p->sm] != (p->slice >= m->slices / 2);
}

// `sectors` pass to the other partition, where they have a copy if there is a place for it; it awaits what the line
// itself awaits.
static void make_copy(MemSys *m, Slice *s, const Piece *p, u32 sectors) {
    CacheVictim victim;
    CacheLook there = cache_look(s->cache, p->local, sectors);
    u64 copy = copy_of(p->local);
    if (!cache_has(s->cache, copy) && !make_room(m, p, 0, true)) return;
    if (!cache_reserve(s->cache, copy, there.hit | there.pending, piece_address(m, p), &victim)) return;
    evicted(m, s, p->slice, &victim);
    cache_fill(s->cache, copy, there.hit);
    cache_mark(s->cache, p->local, there.hit | there.pending, 0);
}

// What is changed elsewhere has no copy.
static void drop_copy(Slice *s, const Piece *p, u32 sectors) {
    if (cache_mark(s->cache, p->local, 0, sectors) & sectors) cache_drop(s->cache, copy_of(p->local), sectors);
}

// --- the way across
// What lies in the other partition, or DRAM brings there, takes l2_crossing longer when it is first wanted on this
// side: half of it until the request is there, half until the answer is here (h200-dram-places.tsv: from DRAM half of
// an SM's lines take 178 cycles longer; h200-shared-lines.tsv, after: so does the first load of what an SM of the other
// side has brought to the L2, the next one no more; walk: SMs of both sides that load the same lines of DRAM one after
// the other are as fast as half of the lines far away for half of them, not as if all were near for whoever asks
// first). Who wants the copy meanwhile waits for it as well.
static Crossing *crossing_of(Slice *s, u64 local) { return &s->crossings[local / REQUEST_LINE % CROSSINGS]; }

static void answer_crosses(MemSys *m, u32 item, u64 until) {
    piece_at(m, item)->way |= PIECE_CROSSES;
    wheel_add(m, item, until);
}

static void cross(MemSys *m, Slice *s, u32 item) {
    u64 local = piece_at(m, item)->local, until = m->now + m->crossing / 2;
    if (!m->crossing) return complete(m, item);
    *crossing_of(s, local) = (Crossing){.local = local, .until = until};
    answer_crosses(m, item, until);
}

// The copy is there, or on its way.
static void complete_copy(MemSys *m, Slice *s, u32 item) {
    u64 local = piece_at(m, item)->local;
    const Crossing *c = crossing_of(s, local);
    if (c->until <= m->now || c->local != local) return complete(m, item);
    answer_crosses(m, item, c->until);
}

static bool is_atomic(const Piece *p) { return p->request == MEM_ATOMIC || p->request == MEM_REDUCE; }

// False: it is there already.
static bool request_crosses(MemSys *m, u32 item) {
    Piece *p = piece_at(m, item);
    if (!m->crossing || p->way & PIECE_ACROSS) return false;
    u64 until = m->now + m->crossing - m->crossing / 2;
    p->way |= PIECE_ACROSS;
    *crossing_of(&m->slice[p->slice], p->local) = (Crossing){.local = p->local, .until = until};
    wheel_add(m, item, until);
    return true;
}

// What changes a line does not overtake a load of it on the way across. False: it is in nobody's way.
static bool follows_across(MemSys *m, Slice *s, u32 item) {
    Piece *p = piece_at(m, item);
    if ((p->request != MEM_WRITE && !is_atomic(p)) || p->way & PIECE_HOST) return false;
    p->way &= (u8)~PIECE_ACROSS;  // it may be back from behind another load
    const Crossing *c = crossing_of(s, p->local);
    if (c->until <= m->now || c->local != p->local) return false;
    p->way |= PIECE_ACROSS;
    wheel_add(m, item, c->until);
    return true;
}

// What Nsight Compute does not count as asked for by the SMs' L1s (lts__t_sectors_srcunit_tex).
static bool is_other(const Piece *p) { return p->request == MEM_FETCH || p->request == MEM_CONST; }

// As Nsight Compute counts (bench/micro/l2_lookups.cu): what is on its way is a hit; a read that misses counts all
// sectors that are fetched for it, ...
static void count_read(const MemSys *m, Slice *s, const Piece *p, CacheLook look) {
    u32 hits = sector_count(look.hit), pending = sector_count(look.pending);
    u32 misses = sector_count(whole_blocks(m, look.miss));
    s->read_sectors += sector_count(p->mask);
    s->read_hits += hits;
    s->read_pending += pending;
    s->misses += misses;
    if (!is_other(p)) return;
    s->other_sectors += sector_count(p->mask);
    s->other_hits += hits + pending;
    s->other_misses += misses;
}

// ... an atomic one for all of them, and lanes on one word look it up one by one.
static void count_atomic(MemSys *m, Slice *s, const Piece *p, CacheLook look) {
    u32 all = sector_count(p->mask) + p->waiting;
    u32 misses = sector_count(whole_blocks(m, look.miss)) / m->fetch_sectors;
    s->atomic_sectors += all;
    s->atomic_hits += all - misses;
    s->misses += misses;
    if (m->parted) drop_copy(s, p, p->mask);
}

static void occupy_read(MemSys *m, Slice *s, const Piece *p) {
    u32 bytes = p->count * SECTOR;
    occupy(m, s, bytes > m->slice_rate ? bytes : m->slice_rate);
}

// What is there is served, the rest fetched. False: not now.
static bool serve_own(MemSys *m, Slice *s, u32 item, CacheLook look) {
    if (look.miss | look.pending) {
        if (!miss(m, s, item, look)) return false;
        occupy(m, s, m->slice_rate);
        return true;
    }
    occupy_read(m, s, piece_at(m, item));
    return true;
}

// A read from the other partition.
static bool serve_far(MemSys *m, Slice *s, u32 item) {
    Piece *p = piece_at(m, item);
    CacheLook copy = cache_look(s->cache, copy_of(p->local), p->mask);
    if (copy.hit == p->mask) {
        count_read(m, s, p, copy);
        occupy_read(m, s, p);
        complete_copy(m, s, item);
        return true;
    }
    if (request_crosses(m, item)) return s->requests--, true;  // counted when it is there
    CacheLook look = cache_look(s->cache, p->local, p->mask);
    if (!serve_own(m, s, item, look)) return false;
    count_read(m, s, p, copy);
    make_copy(m, s, p, whole_blocks(m, p->mask & ~copy.hit));
    if (!(look.miss | look.pending)) cross(m, s, item);
    return true;
}

static bool serve_read(MemSys *m, Slice *s, u32 item) {
    Piece *p = piece_at(m, item);
    bool atomic = is_atomic(p);
    if (!atomic && is_far(m, p)) return serve_far(m, s, item);
    if (atomic && s->atomics >= m->slice_queue) return false;
    CacheLook look = cache_look(s->cache, p->local, p->mask);
    if (!serve_own(m, s, item, look)) return false;
    if (atomic)
        count_atomic(m, s, p, look);
    else
        count_read(m, s, p, look);
    if (!(look.miss | look.pending)) complete(m, item);
    return true;
}

// Lines noted, times as many as there may be: of some the rest comes before their turn.
enum { PARTS_NOTED = 4 };

// Lines of a slice that are written in part are completed and what was in part is written back, the first to become so
// first, where there are more than it can have: up to 8 MiB of such lines an H200 writes nothing, of more it reads and
// writes as many bytes (bench/hwref/h200-writes.tsv, word, half, word_of_line, records_35).
static void complete_parts(MemSys *m, Slice *s, u32 slice) {
    CacheVictim victim;
    while (s->parts_count && (cache_parts(s->cache) > m->parts_most || s->parts_count == m->parts_most * PARTS_NOTED)) {
        u64 line = s->parts[s->parts_first];
        s->parts_first = (s->parts_first + 1) % (m->parts_most * PARTS_NOTED);
        s->parts_count--;
        if (cache_complete(s->cache, line, &victim)) evicted(m, s, slice, &victim);
    }
}

static void note_part(MemSys *m, Slice *s, const Piece *p) {
    s->parts[(s->parts_first + s->parts_count++) % (m->parts_most * PARTS_NOTED)] = p->local;
    complete_parts(m, s, p->slice);
}

// Sixteenths written of the cache's sectors in `part`, as cache_write takes them.
static u64 parts_of(const MemSys *m, const Piece *p, u32 part) {
    u32 per = m->cache_sector / SECTOR, from = (u32)(p->line / SECTOR + p->first) & (m->cache_line / SECTOR - 1);
    u64 result = 0;
    for (; part; part &= part - 1) {
        u32 sector = (u32)__builtin_ctz(part), sum = 0;
        for (u32 at = sector * per; at < (sector + 1) * per; at++)
            if (at >= from && at < from + REQUEST_LINE / SECTOR)
                sum += p->parts >> (at - from) * CACHE_PART_BITS & (CACHE_PARTS - 1);
        result |= (u64)(sum > per ? sum / per : 1) << sector * CACHE_PART_BITS;
    }
    return result;
}

// Who writes to the other partition keeps a copy of the sectors that it writes as a whole.
static void copy_written(MemSys *m, Slice *s, const Piece *p, u32 part, bool present) {
    u32 whole = p->mask & ~part;
    if (!present) cache_drop(s->cache, copy_of(p->local), (1u << m->cache_line / m->cache_sector) - 1);
    if (!is_far(m, p)) return drop_copy(s, p, p->mask);
    if (part) drop_copy(s, p, part);
    if (whole) make_copy(m, s, p, whole);
}

// What is on its way from DRAM was asked for before, and is written to when it is there: until then nothing behind the
// write is served. Who loads 2 MiB and sets each word to 0 at once takes 12 to 31 us, 4.7 to 10 where the zeros go
// elsewhere or the data is in the L2 (bench/hwref/h200-rewrites.tsv).
static bool serve_write(MemSys *m, Slice *s, u32 item) {
    Piece *p = piece_at(m, item);
    CacheVictim victim;
    CacheLook look = cache_look(s->cache, p->local, p->mask);
    bool present = look.present;
    if (look.pending || (!present && !make_room(m, p, 0, true))) return false;
    u32 part = p->mask & ~(u32)p->whole, parts = cache_parts(s->cache);
    u64 written = part ? parts_of(m, p, part) : 0;
    if (!cache_write(s->cache, p->local, p->mask, written, true, piece_address(m, p), &victim)) return false;
    if (cache_parts(s->cache) + (victim.part != 0) > parts && s->parts) note_part(m, s, p);
    s->write_sectors += sector_count(p->mask);
    if (m->no_cache) {
        dram_access(m, p->slice, piece_address(m, p), p->mask, WL_NONE, true);
        s->writebacks += sector_count(p->mask);
    } else {
        s->write_hits += sector_count(p->mask);
        evicted(m, s, p->slice, &victim);
    }
    if (m->parted) copy_written(m, s, p, part, present);
    u32 partial = sector_count(part);  // read, changed and written
    partial = partial < p->count ? partial : p->count;
    occupy(m, s,
           m->slice_rate + (p->count - partial) * SECTOR * m->slice_rate / m->write_rate +
               partial * SECTOR * m->slice_rate / m->partial_rate);
    noc_reply(m, item);
    return true;
}

static void count_host(Slice *s, const Piece *p) {
    bool atomic = p->request == MEM_ATOMIC || p->request == MEM_REDUCE;
    *(atomic ? &s->atomic_sectors : &s->read_sectors) += sector_count(p->mask);
    s->misses += sector_count(p->mask);
}

// The host's memory is not kept in the L2.
static bool serve_host(MemSys *m, Slice *s, u32 item) {
    Piece *p = piece_at(m, item);
    if (p->request == MEM_WRITE)
        s->write_sectors += sector_count(p->mask), s->write_hits += sector_count(p->mask);
    else
        count_host(s, p);
    occupy(m, s, m->slice_rate);
    bus_access(m, item);
    return true;
}

static bool serve(MemSys *m, Slice *s, u32 slice, u32 item) {
    if (!noc_reply_room(m, slice)) return false;
    const Piece *p = piece_at(m, item);
    bool done = p->way & PIECE_HOST       ? serve_host(m, s, item)
                : p->request == MEM_WRITE ? serve_write(m, s, item)
                                          : serve_read(m, s, item);
    s->requests += done;
    return done;
}

static bool is_free(const MemSys *m, const Slice *s) { return s->busy < (m->now + 1) * m->slice_rate; }

// What is known to cross waits for its turn there.
static bool crosses_at_once(MemSys *m, Slice *s, u32 item) {
    const Piece *p = piece_at(m, item);
    bool reads = p->request != MEM_WRITE && !is_atomic(p) && !(p->way & (PIECE_HOST | PIECE_ACROSS));
    if (!reads || !is_far(m, p) || cache_look(s->cache, copy_of(p->local), p->mask).hit == p->mask) return false;
    return request_crosses(m, item);
}

void l2_arrive(MemSys *m, u32 item) {
    u32 slice = piece_at(m, item)->slice;
    Slice *s = &m->slice[slice];
    if (m->crossing && follows_across(m, s, item)) return;
    if (s->queue.head == WL_NONE && is_free(m, s) && serve(m, s, slice, item)) return;
    if (crosses_at_once(m, s, item)) return;
    bool first = s->queue.head == WL_NONE;
    cache_prefetch(s->cache, piece_at(m, item)->local);
    queue_push(m, &s->queue, item);
    gauge_add(m, &s->queued, 1);
    if (!first) return;
    s->blocked = is_free(m, s);
    if (!s->blocked) wheel_add(m, m->first_slice + slice, s->busy / m->slice_rate);
}

void l2_slice(MemSys *m, u32 slice) {
    Slice *s = &m->slice[slice];
    u32 served = 0;
    s->blocked = false;
    while (s->queue.head != WL_NONE && is_free(m, s)) {
        u32 item = s->queue.head;
        queue_remove(m, &s->queue, item);
        if (!serve(m, s, slice, item)) {
            queue_push_front(m, &s->queue, item);
            s->blocked = true;
            break;
        }
        gauge_add(m, &s->queued, -1);
        served++;
    }
    if (s->queue.head != WL_NONE && !s->blocked) {
        wheel_add(m, m->first_slice + slice, s->busy / m->slice_rate);
        cache_prefetch_place(s->cache, piece_at(m, s->queue.head)->local);
    }
    while (served--) noc_room(m, slice);
}

void l2_wake(MemSys *m, u32 slice) {
    if (m->slice[slice].blocked) wheel_add(m, m->first_slice + slice, m->now);
}

static void complete_filled(MemSys *m, Slice *s, u32 item) {
    const Piece *p = piece_at(m, item);
    if (is_atomic(p) || !is_far(m, p)) return complete(m, item);
    cross(m, s, item);
}

void l2_filled(MemSys *m, u32 item) {
    Burst b = item_at(m, item)->burst;
    Slice *s = &m->slice[b.slice];
    item_give(m, item);
    if (b.mshr != WL_NONE) {
        Mshr *mshr = &s->mshrs[b.mshr];
        cache_fill(s->cache, mshr->line, b.mask);
        if (m->parted) cache_fill(s->cache, copy_of(mshr->line), b.mask);
        mshr->pending &= (u16)~b.mask;
        occupy(m, s, sector_count(b.mask) * m->cache_sector);
        for (u32 at = mshr->waiting.head, next; at != WL_NONE; at = next) {
            Piece *p = piece_at(m, at);
            next = item_at(m, at)->next;
            p->need &= (u8)~b.mask;
            if (p->need) continue;
            queue_remove(m, &mshr->waiting, at);
            complete_filled(m, s, at);
        }
        if (!mshr->pending) mshr_give(m, s, b.mshr);
    }
    l2_wake(m, b.slice);
}

// --- creation
// ----------------------------------------------------------------------------------------------------------
// Half of the lines of a set at most are dirty, of more the oldest is cleaned: 29.4 MB of what is only written stay
// (bench/hwref/h200-writes.tsv, write). Of dirty lines whose turn to go has come every second one is passed over: of
// copies and sums of arrays 23 and 18 MB stay (copy, add).
static Status create_slice(MemSys *m, const GpuModel *gpu, Slice *s) {
    CacheConfig config = {.size = m->cache_bytes * (m->parted ? 2 : 1) / m->slices,
                          .line = m->cache_line,
                          .sector = m->cache_sector,
                          .ways = (u32)gpu->l2_ways,
                          .replacement = (u8)gpu->l2_replacement,
                          .dirty_most = m->parted ? (u32)gpu->l2_ways / 2 : 0,
                          .spares_dirty = true,
                          .owned = true,
                          .in_part = true,
                          .pages = m->pages,
                          .hashed = true,
                          .uneven = m->parted};
    s->queue = (Queue){WL_NONE, WL_NONE};
    for (u32 i = 0; i < ATOMIC_LINES; i++) s->atomic_line[i] = NEVER;
    s->first_port = s->last_port = WL_NONE;
    TRY(cache_create(&config, &s->cache));
    s->mshrs = mem_zero(m->mshr_count, sizeof *s->mshrs);
    s->free_mshrs = mem_alloc(m->mshr_count * sizeof *s->free_mshrs);
    if (!s->mshrs || !s->free_mshrs) return STATUS_NO_MEMORY;
    for (u32 i = 0; i < m->mshr_count; i++) s->free_mshrs[i] = m->mshr_count - 1 - i;
    s->free_count = m->mshr_count;
    if (m->no_cache) return STATUS_OK;
    if (m->parts_most) {
        s->parts = mem_alloc((size_t)m->parts_most * PARTS_NOTED * sizeof *s->parts);
        if (!s->parts) return STATUS_NO_MEMORY;
    }
    s->table = mem_zero(m->mshr_mask + 1, sizeof *s->table);
    return s->table ? STATUS_OK : STATUS_NO_MEMORY;
}

typedef struct Making {
    MemSys *memsys;
    const GpuModel *gpu;
    _Atomic u32 status;  // Status of any that failed
} Making;

static void make_slice(void *context, u32 slice, u32 worker) {
    Making *making = context;
    (void)worker;
    Status status = create_slice(making->memsys, making->gpu, &making->memsys->slice[slice]);
    if (status != STATUS_OK) atomic_store(&making->status, (u32)status);
}

Status l2_create(MemSys *m, const GpuModel *gpu, Pool *pool) {
    m->mshr_count = (u32)gpu->l2_mshrs;
    m->mshr_mask = 1;
    while (m->mshr_mask < m->mshr_count * 2) m->mshr_mask = m->mshr_mask * 2 + 1;
    m->slice = mem_zero(m->slices, sizeof *m->slice);
    if (!m->slice) return STATUS_NO_MEMORY;
    Making making = {.memsys = m, .gpu = gpu};
    if (pool)
        pool_run(pool, m->slices, make_slice, &making);
    else
        for (u32 i = 0; i < m->slices; i++) make_slice(&making, i, 0);
    return (Status)atomic_load(&making.status);
}

void l2_destroy(MemSys *m) {
    for (u32 i = 0; m->slice && i < m->slices; i++) {
        Slice *s = &m->slice[i];
        cache_destroy(s->cache);
        mem_free(s->mshrs);
        mem_free(s->free_mshrs);
        mem_free(s->parts);
        mem_free(s->table);
    }
    mem_free(m->slice);
}
