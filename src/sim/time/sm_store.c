// SPDX-License-Identifier: Apache-2.0
// Stores on their way out of an SM. The lines that they write queue up for the SM's port to the interconnect; a store
// to a line that is still there joins it, of whatever warp it is, and leaves with it (bench/hwref/h200-joins.tsv). A
// line stays for l1_join cycles at least, and then until those before it have left.
#include <string.h>

#include "sim/time/machine.h"
#include "sim/time/sm_parts.h"

#define NO_LINE UINT64_MAX  // StoreQueue.keys of an empty place
enum { LINES_FIRST = 64 };  // that there is memory for at first

Status stores_init(Sm *sm) {
    StoreQueue *q = &sm->stores;
    if (!sm->gpu->l1_join) return STATUS_OK;
    q->room = sm->gpu->l1_writes < LINES_FIRST ? (u32)sm->gpu->l1_writes : LINES_FIRST;
    q->lines = pages_take(sm->machine->sim->pages, q->room * sizeof *q->lines);
    if (!q->lines) return STATUS_NO_MEMORY;
    for (u32 part = 0; part < 2; part++)
        for (u32 sectors = 0; sectors < WL_COUNT(*q->cycles); sectors++) {
            u64 bytes = sectors * 32 + (part ? sm->gpu->l1_mask : 0), rate = sm->gpu->noc_request_bytes;
            q->cycles[part][sectors] = (u16)((bytes + rate - 1) / rate);
        }
    stores_clear(sm);
    return STATUS_OK;
}

void stores_free(Sm *sm) {
    pages_give(sm->machine->sim->pages, sm->stores.lines, sm->stores.room * sizeof *sm->stores.lines);
    sm->stores.lines = NULL;
}

void stores_clear(Sm *sm) {
    StoreQueue *q = &sm->stores;
    q->first = q->count = 0;
    q->port_free = 0;
    q->free = WL_NONE;
    for (u32 i = 0; i < STORE_QUEUE; i++) q->keys[i] = NO_LINE;
    memset(q->tags, 0, sizeof q->tags);
    q->used = 0;
}

bool stores_full(const Sm *sm) { return sm->stores.count == STORE_QUEUE; }

u64 stores_next(const Sm *sm) {
    const StoreQueue *q = &sm->stores;
    if (!q->count) return NEVER;
    u64 ready = q->lines[q->ring[q->first]].ready;
    return ready > q->port_free ? ready : q->port_free;
}

// 0 is that of an empty place.
static u16 tag_of(u64 key) {
    u16 tag = (u16)(key >> 7 ^ key >> 23 ^ key >> 39);
    return tag ? tag : 1;
}

// The place of the line with the tag, any of those if several have it; STORE_QUEUE: none has.
static u32 find_tag(const StoreQueue *q, u16 tag) {
    typedef u16 Tags __attribute__((vector_size(8 * sizeof(u16))));
    Tags place = {1, 2, 3, 4, 5, 6, 7, 8}, found = {0}, part;
    for (u32 i = 0; i < STORE_QUEUE; i += sizeof part / sizeof tag, place += (u16)(sizeof part / sizeof tag)) {
        memcpy(&part, q->tags + i, sizeof part);
        found |= (Tags)(part == tag) & place;
    }
    u64 half[2];
    memcpy(half, &found, sizeof half);
    u64 all = half[0] | half[1];
    if (!all) return STORE_QUEUE;
    all |= all >> 32;
    return (((u32)(all | all >> 16) & 0xffff) - 1) % STORE_QUEUE;
}

// The line's place in the ring; STORE_QUEUE: it is not there. A line is there once at most.
static u32 find(const StoreQueue *q, u64 key) {
    u32 place = find_tag(q, tag_of(key));
    if (place == STORE_QUEUE || WL_LIKELY(q->keys[place] == key)) return place;
    place = STORE_QUEUE;
    for (u32 i = 0; i < STORE_QUEUE; i++) place = q->keys[i] == key ? i : place;
    return place;
}

// A place for a line, of those that never were; WL_NONE: there is no memory for it.
static u32 next_line(Sm *sm) {
    StoreQueue *q = &sm->stores;
    if (q->used < q->room) return q->used++;
    Pages *pages = sm->machine->sim->pages;
    StoreLine *more = pages_resize(pages, q->lines, q->room * sizeof *more, 2 * q->room * sizeof *more);
    if (!more) return sm->status = STATUS_NO_MEMORY, WL_NONE;
    q->lines = more;
    q->room *= 2;
    return q->used++;
}

// NULL: there is no memory for it.
static StoreLine *append(Sm *sm, u64 key) {
    StoreQueue *q = &sm->stores;
    u32 at = q->free == WL_NONE ? next_line(sm) : q->free, place = (q->first + q->count) % STORE_QUEUE;
    if (at == WL_NONE) return NULL;
    StoreLine *l = &q->lines[at];
    if (at == q->free) q->free = l->waiters;
    q->count++;
    *l = (StoreLine){.line = key & ~1ull, .local = key & 1, .waiters = WL_NONE};
    q->ring[place] = at;
    q->keys[place] = key;
    q->tags[place] = tag_of(key);
    sm->writes++;
    return l;
}

// Cycles that the port is busy: the sectors, and before them which bytes are written, unless all are
// (bench/hwref/h200-micro.tsv, gather/store_4/32_lines: 2.0 cycles for a line with a word; h200-hierarchy.tsv,
// l2/write_word_of_sector: 5.0 for a line with a word of each sector, l2/write_16: 4.0 for a whole line).
static u32 port_cycles(const StoreQueue *q, const StoreLine *l) {
    return q->cycles[(l->sectors & ~l->whole) != 0][sector_count(l->sectors)];
}

u32 store_line(Sm *sm, StoreAccess *a, u64 word) {
    StoreQueue *q = &sm->stores;
    u64 key = trace_line_address(word) | a->local;
    u32 place = find(q, key), sectors = trace_line_sectors(word);
    StoreLine *l = place == STORE_QUEUE ? append(sm, key) : &q->lines[q->ring[place]];
    if (!l) return 0;
    a->joins = place != STORE_QUEUE;
    u32 before = place == STORE_QUEUE ? 0 : port_cycles(q, l);
    l->ready = a->looked_up + sm->gpu->l1_join;
    l->sectors |= (u8)sectors;
    l->whole |= (u8)trace_line_whole(word);
    for (u32 left = sectors; left; left &= left - 1) {
        u32 s = (u32)__builtin_ctz(left);
        l->bytes[s] = (u8)(l->bytes[s] + a->bytes < 255 ? l->bytes[s] + a->bytes : 255);
        if (l->bytes[s] >= 32) l->whole |= (u8)(1u << s);
    }
    sm_wait(sm, &l->waiters, a->ticket, 0);
    sm->tickets.data[a->ticket].remaining++;
    u32 now = port_cycles(q, l);
    return now > before ? now - before : 0;
}

bool stored_just_before(Sm *sm, const StoreAccess *a, u64 line, bool present) {
    StoredLine *s = &sm->stored[(line >> 7 ^ line >> 12 ^ line >> 17) % STORED_LINES];
    bool early = s->line == line && a->looked_up < s->looked_up + sm->gpu->l1_store_there;
    if (!present || early) *s = (StoredLine){.line = line, .looked_up = a->looked_up};
    return early && !a->joins;
}

// MemRequest.parts of a line of whose sectors so many bytes are written. Half of a sixteenth is one. All four at once,
// a byte each.
static u16 parts_of(const u8 bytes[4]) {
    u32 written = bytes[0] | (u32)bytes[1] << 8 | (u32)bytes[2] << 16 | (u32)bytes[3] << 24;
    u32 halves = (written >> 1 & 0x7f7f7f7f) + (written & 0x01010101), over = halves & 0xf0f0f0f0;
    over = (over | over >> 1 | over >> 2 | over >> 3) & 0x10101010;  // those beyond CACHE_PARTS - 1
    u32 parts = (halves | (over - (over >> 4))) & 0x0f0f0f0f;
    parts = (parts | parts >> 4) & 0x00ff00ff;
    return (u16)(parts | parts >> 8);
}
_Static_assert(CACHE_PARTS == 16 && CACHE_PART_BITS == 4, "of a sector: as many as parts_of() says");

void stores_leave(Sm *sm, u64 cycle) {
    StoreQueue *q = &sm->stores;
    while (stores_next(sm) <= cycle) {
        u32 at = q->ring[q->first];
        const StoreLine *l = &q->lines[at];
        sm_request(sm, (MemRequest){.cycle = cycle,
                                    .line = l->line,
                                    .tag = TAG_STORE | at,
                                    .kind = MEM_WRITE,
                                    .sectors = l->sectors,
                                    .whole = l->whole,
                                    .parts = l->sectors & ~l->whole ? parts_of(l->bytes) : 0,
                                    .local = l->local});
        q->port_free = cycle + port_cycles(q, l);
        q->keys[q->first] = NO_LINE;
        q->tags[q->first] = 0;
        q->first = (q->first + 1) % STORE_QUEUE;
        q->count--;
        sm->lsu.blocked = sm->tex.blocked = false;
    }
}

void store_answered(Sm *sm, u32 at, u64 cycle) {
    StoreQueue *q = &sm->stores;
    u32 waiters = q->lines[at].waiters;
    q->lines[at].waiters = q->free;
    q->free = at;
    sm->writes--;
    while (waiters != WL_NONE) waiters = sm_waited(sm, waiters, cycle);
}
