// SPDX-License-Identifier: Apache-2.0
// Tags are found by comparing 16 bits of all ways of the set at once (vectors of eight); beside them, in the same line
// of the host's cache if they fit, lies the order of replacement, a byte per way, the way to keep longest first. Places
// without a line come last; with CACHE_RRIP another byte per way says how soon the line is thought to be wanted again.
// Caches of higher associativity have a hash index instead, and the order as a doubly linked list of the places that
// have had a line; a single such set grows with its lines. Neither creation nor emptying touches what is not in use: a
// set that was not prepared since then has another epoch, and counts as empty.
#include "sim/time/cache.h"

#include <string.h>

#include "base/map.h"
#include "base/mem.h"

enum {
    SCANNED_WAYS = 64,  // of more ways the set is not scanned
    ROOM_FIRST = 32,    // places that a single set of so many ways begins with
    MAX_SECTORS = 16,   // of a line
    LANES = 8,          // of a vector
    WAY_UNIT = 4,       // places of a set are a multiple of it
    // Static re-reference interval prediction with two bits (Jaleel and others, ISCA 2010): the distance of a line that
    // comes, and of one that goes; of one that is found again it is 0.
    FAR = 2,
    FARTHEST = 3
};
#define NO_LINE UINT64_MAX

typedef u16 Lanes __attribute__((vector_size(LANES * sizeof(u16))));

typedef struct Place {  // four, or two, in a line of the host's cache
    u64 number;         // of the line: its address / line; NO_LINE = empty
    u16 valid, pending, dirty;
    u16 marked;  // see cache_mark
} Place;
_Static_assert(sizeof(Place) == 16, "a place does not lie across lines of the host's cache");

typedef struct Link {  // in the order of replacement: towards the head, towards the tail
    u32 prev, next;
} Link;

struct Cache {
    u32 sets, ways, stride;  // places of a set lie `stride` apart: ways, rounded up
    u32 room;                // places of a set that there is memory for: `stride`, or fewer
    Status *status;          // where it is said that there is no memory for more
    u32 shift;               // log2 of the line
    bool lru, rrip, hashed, owned, in_part, spares_dirty, uneven;
    bool near;              // the places of a set are in one line of the host's cache
    u32 dirty_most, parts;  // parts: lines with sectors written in part
    u32 set_bits;           // log2 of the number of sets; WL_NONE when it is no power of two
    u64 reciprocal, exact;  // ... then 2^64 / sets, rounded up; what is below `exact` is divided with it
    u32 lines, used;        // that all sets together may have; have, unless there are as many as places
    u32 given_sets;         // CacheConfig.sets: they are chosen by fold_set; 0: not
    u32 drawn;              // the set that had to give a line to another one last, of a random order
    u32 last, last_set;     // place found last
    u64 last_number;        // ... its line; NO_LINE
    u32 epoch;              // of sets that are in use; grows when the cache is emptied
    Place *places;          // sets * stride
    u64 *owners;            // ... who brought the line, if that is asked for
    u64 *written;           // ... sixteenths, or words, of sectors that are dirty and not valid, if that is kept
    Pages *pages;
    void *block;  // all arrays
    size_t block_bytes;
    u8 *tags;  // scanned: per set, tag_bytes apart: 16 bits of each number, the epoch, the order; with rrip, the
               // distances; with dirty_most, how many are dirty
    size_t tag_bytes;
    u32 *index;  // else: open addressing, place + 1 or 0
    u32 index_mask;
    Link *links;                 // by place
    u32 *heads, *tails, *taken;  // by set; taken: places that have had a line since the cache was emptied
};

static u32 log2_of(u32 value) { return 31 - (u32)__builtin_clz(value); }
static bool is_power(u32 value) { return value && !(value & (value - 1)); }

enum { HOST_LINE = 64 };

// All arrays are in one block; the host's pages of what is not in use are never touched.
typedef struct Layout {
    u8 *block;
    size_t size;
} Layout;

static void *place_array(Layout *l, size_t bytes, size_t align) {
    l->size = (l->size + align - 1) / align * align;
    void *array = l->block ? l->block + l->size : NULL;
    l->size += bytes;
    return array;
}

static void place_tags(Cache *c, Layout *l) {
    c->tag_bytes = (size_t)c->stride * (sizeof(u16) + 1 + c->rrip) + sizeof(u32) + (c->dirty_most != 0);
    size_t unit = c->tag_bytes > HOST_LINE / 2 ? HOST_LINE : c->tag_bytes > HOST_LINE / 4 ? HOST_LINE / 2 : 4;
    c->tag_bytes = (c->tag_bytes + unit - 1) / unit * unit;
    c->tags = place_array(l, c->sets * c->tag_bytes + HOST_LINE, HOST_LINE);  // vectors may read behind the last set
    if (c->tags) memset(c->tags, 0, c->sets * c->tag_bytes);
}

static void place_index(Cache *c, Layout *l, size_t count) {
    u32 slots = 2u << log2_of((u32)count * 2 - 1);
    c->index_mask = slots - 1;
    c->index = place_array(l, slots * sizeof *c->index, sizeof(u32));
    c->heads = place_array(l, c->sets * sizeof *c->heads, sizeof(u32));
    c->tails = place_array(l, c->sets * sizeof *c->tails, sizeof(u32));
    c->taken = place_array(l, c->sets * sizeof *c->taken, sizeof(u32));
    c->links = place_array(l, count * sizeof *c->links, sizeof(u32));
    if (!l->block) return;
    memset(c->index, 0, slots * sizeof *c->index);
    for (u32 set = 0; set < c->sets; set++) c->taken[set] = 0, c->heads[set] = c->tails[set] = WL_NONE;
}

static bool is_scanned(const Cache *c) { return c->ways <= SCANNED_WAYS; }

static void place_arrays(Cache *c, Layout *l) {
    size_t count = (size_t)c->sets * c->room;
    if (is_scanned(c))
        place_tags(c, l);
    else
        place_index(c, l, count);
    c->places = place_array(l, count * sizeof *c->places, HOST_LINE);
    if (c->owned) c->owners = place_array(l, count * sizeof *c->owners, sizeof *c->owners);
    if (c->in_part) c->written = place_array(l, count * sizeof *c->written, sizeof *c->written);
}

static Status allocate(Cache *c) {
    Layout layout = {0};
    place_arrays(c, &layout);  // without a block: for the size
    c->block_bytes = layout.size + HOST_LINE;
    c->block = pages_take(c->pages, c->block_bytes);
    if (!c->block) return STATUS_NO_MEMORY;
    layout = (Layout){.block = (u8 *)c->block + (HOST_LINE - (uintptr_t)c->block % HOST_LINE)};
    place_arrays(c, &layout);
    return STATUS_OK;
}

// Sets of a given number, as far as there are lines for them.
static u32 sets_for(u32 lines, u32 sets) {
    while (sets > lines && sets > 1) sets /= 2;
    return lines ? sets : 0;
}

// Their ways may be more than there are lines in all.
static void shape_sets(Cache *c, const CacheConfig *config) {
    c->given_sets = config->sets;
    c->sets = sets_for(c->lines, config->sets);
    c->ways = config->ways;
}

Status cache_create(const CacheConfig *config, Cache **cache) {
    *cache = NULL;
    if (!is_power(config->line) || !is_power(config->sector) || config->sector > config->line ||
        config->line / config->sector > MAX_SECTORS ||
        (config->sets && (!is_power(config->sets) || !config->ways || config->ways > SCANNED_WAYS)) ||
        config->size / config->line >= UINT32_MAX / 8)
        return STATUS_INVALID;
    if (config->replacement == CACHE_RRIP && (!config->ways || config->ways > SCANNED_WAYS)) return STATUS_INVALID;
    Cache *c = mem_zero(1, sizeof *c);
    if (!c) return STATUS_NO_MEMORY;
    u32 lines = (u32)(config->size / config->line);
    c->ways = config->ways && config->ways < lines ? config->ways : lines;
    c->sets = c->ways ? lines / c->ways : 0;
    c->lines = lines;
    if (config->sets) shape_sets(c, config);
    c->stride = (c->ways + WAY_UNIT - 1) / WAY_UNIT * WAY_UNIT;
    c->near = c->stride * sizeof *c->places <= HOST_LINE;
    c->room = c->sets == 1 && !is_scanned(c) && config->status ? ROOM_FIRST : c->stride;
    c->status = config->status;
    c->shift = log2_of(config->line);
    c->lru = config->replacement != CACHE_FIFO;
    c->rrip = config->replacement == CACHE_RRIP;
    c->drawn = 1;
    c->hashed = config->hashed;
    c->owned = config->owned;
    c->in_part = config->in_part || config->words;
    c->pages = config->pages;
    c->spares_dirty = config->spares_dirty;
    c->uneven = config->uneven;
    c->dirty_most = is_scanned(c) ? config->dirty_most : 0;
    c->set_bits = is_power(c->sets) ? log2_of(c->sets) : WL_NONE;
    c->exact = c->sets ? UINT64_MAX / c->sets : 0;
    c->reciprocal = c->exact + 1;
    if (c->sets && allocate(c) != STATUS_OK) {
        cache_destroy(c);
        return STATUS_NO_MEMORY;
    }
    c->epoch = 1;
    c->last_number = NO_LINE;
    *cache = c;
    return STATUS_OK;
}

bool cache_resize(Cache *c, u64 size) {
    u64 lines = size >> c->shift;
    if (!c->given_sets || lines >= UINT32_MAX / 8 || sets_for((u32)lines, c->given_sets) != c->sets) return false;
    c->lines = (u32)lines;
    cache_clear(c);
    return true;
}

void cache_destroy(Cache *c) {
    if (!c) return;
    pages_give(c->pages, c->block, c->block_bytes);
    mem_free(c);
}

static u16 *shorts_of(const Cache *c, u32 set) { return (u16 *)(void *)(c->tags + set * c->tag_bytes); }
static u32 *epoch_of(const Cache *c, u32 set) { return (u32 *)(void *)(shorts_of(c, set) + c->stride); }
static u8 *order_of(const Cache *c, u32 set) { return (u8 *)(epoch_of(c, set) + 1); }
static u8 *distance_of(const Cache *c, u32 set) { return order_of(c, set) + c->stride; }
static u8 *dirty_of(const Cache *c, u32 set) { return distance_of(c, set) + (c->rrip ? c->stride : 0); }
static u16 short_of(u64 number) { return (u16)(number ^ number >> 16 ^ number >> 32); }

// A scanned set gets its first line since the cache was emptied.
static void prepare_set(Cache *c, u32 set) {
    for (u32 way = 0; way < c->stride; way++) c->places[set * c->stride + way] = (Place){.number = NO_LINE};
    memset(shorts_of(c, set), 0xFF, c->stride * sizeof(u16));
    for (u32 way = 0; way < c->stride; way++) order_of(c, set)[way] = (u8)way;
    *epoch_of(c, set) = c->epoch;
    if (c->dirty_most) *dirty_of(c, set) = 0;
}

static void index_remove(Cache *c, u32 place);

static void clear_indexed(Cache *c) {
    for (u32 set = 0; set < c->sets; set++) {
        for (u32 i = 0; i < c->taken[set]; i++)
            if (c->places[set * c->stride + i].number != NO_LINE) index_remove(c, set * c->stride + i);
        c->heads[set] = c->tails[set] = WL_NONE;
        c->taken[set] = 0;
    }
}

void cache_clear(Cache *c) {
    c->last_number = NO_LINE;
    c->used = c->parts = 0;
    c->drawn = 1;
    if (c->index)
        clear_indexed(c);
    else if (c->sets && ++c->epoch == 0) {  // sets of all epochs are there
        memset(c->tags, 0, c->sets * c->tag_bytes);
        c->epoch = 1;
    }
}

// value / c->sets, without a division: value * reciprocal is too large by less than value * sets, so by less than 2^64.
static u64 by_sets(const Cache *c, u64 value) {
    return WL_LIKELY(value < c->exact) ? (u64)((unsigned __int128)value * c->reciprocal >> 64) : value / c->sets;
}

// Line bits above the set's nine are folded onto them: which lines drive each other out of an H200's L1 is linear in
// their lowest 14 bits, with these rows for bits 9 to 13 and all sums of them (bench/hwref/h200-l1-sets.tsv,
// l1/set_of). What the bits above do, beyond 2 MiB, was not measured.
static u64 fold_set(u64 number) {
    static const u16 fold[32] = {0x000, 0x071, 0x01b, 0x06a, 0x176, 0x107, 0x16d, 0x11c, 0x149, 0x138, 0x152,
                                 0x123, 0x03f, 0x04e, 0x024, 0x055, 0x039, 0x048, 0x022, 0x053, 0x14f, 0x13e,
                                 0x154, 0x125, 0x170, 0x101, 0x16b, 0x11a, 0x006, 0x077, 0x01d, 0x06c};
    return number ^ fold[number >> 9 & 31] ^ hash_u64(number >> 14);
}

// The set of a line. Hashed: as many neighbouring lines as there are sets still fall into different ones; uneven: but
// for one of UNEVEN, which lies anywhere. Of 28 and 30 MiB written twice an H200's L2, half of which may be dirty,
// writes back 5.8 and 12.5 MB (bench/hwref/h200-writes.tsv, write_twice; h200-write-order.tsv), if its sets were alike
// none and all.
enum { UNEVEN = 16 };
static u32 any_set(const Cache *c, u64 number) {
    u64 hash = hash_u64(~number);
    return hash % UNEVEN ? WL_NONE : (u32)((hash >> 32) * c->sets >> 32);
}
static u32 set_of(const Cache *c, u64 number) {
    if (c->given_sets) return (u32)fold_set(number) & (c->sets - 1);
    u32 any = c->uneven ? any_set(c, number) : WL_NONE;
    if (any != WL_NONE) return any;
    if (c->set_bits != WL_NONE) {
        u64 bits = c->hashed ? number ^ hash_u64(number >> c->set_bits) : number;
        return (u32)bits & (c->sets - 1);
    }
    u64 high = by_sets(c, number), low = number - high * c->sets;
    if (!c->hashed) return (u32)low;
    u64 spread = low + (hash_u64(high) >> 32);
    return (u32)(spread - by_sets(c, spread) * c->sets);
}

static u32 index_slot(const Cache *c, u64 number) { return (u32)hash_u64(number) & c->index_mask; }

static u32 find_indexed(const Cache *c, u64 number) {
    for (u32 slot = index_slot(c, number); c->index[slot]; slot = (slot + 1) & c->index_mask)
        if (c->places[c->index[slot] - 1].number == number) return c->index[slot] - 1;
    return WL_NONE;
}

// The way of the set whose tag has the 16 bits of the number; WL_NONE: none. Of several ways any.
static inline u32 match(const Cache *c, u64 number, u32 set) {
    const u16 *shorts = shorts_of(c, set);
    u16 wanted = short_of(number);
    Lanes way = {1, 2, 3, 4, 5, 6, 7, 8}, found = {0}, eight;
    u32 i = 0;
    for (; i + LANES <= c->ways; i += LANES, way += LANES) {
        memcpy(&eight, shorts + i, sizeof eight);
        found |= (Lanes)(eight == wanted) & way;
    }
    if (i < c->ways) {  // the last vector reaches into what is no tag
        memcpy(&eight, shorts + i, sizeof eight);
        found |= (Lanes)(eight == wanted) & way & (Lanes)(way <= (u16)c->ways);
    }
    u64 half[2];
    memcpy(half, &found, sizeof half);
    u64 at = half[0] | half[1];
    if (!at || *epoch_of(c, set) != c->epoch) return WL_NONE;
    at |= at >> 32;
    u32 found_way = ((u32)(at | at >> 16) & 0xffff) - 1;
    return found_way < c->ways ? found_way : 0;
}

static u32 find_scanned(const Cache *c, u64 number, u32 set) {
    u32 first = set * c->stride, way = match(c, number, set);
    if (way == WL_NONE) return WL_NONE;
    u32 place = first + way;
    if (WL_LIKELY(c->places[place].number == number)) return place;
    for (place = first; place < first + c->ways; place++)  // several lines have these 16 bits
        if (c->places[place].number == number) return place;
    return WL_NONE;
}

static void remember(Cache *c, u32 place, u32 set, u64 number) {
    c->last = place;
    c->last_set = set;
    c->last_number = number;
}

// The place of a line, WL_NONE when it has none.
static u32 find(Cache *c, u64 number) {
    if (c->last_number == number) return c->last;
    u32 set = set_of(c, number), place = c->index ? find_indexed(c, number) : find_scanned(c, number, set);
    if (place != WL_NONE) remember(c, place, set, number);
    return place;
}

static void unlink_place(Cache *c, u32 set, u32 place) {
    Link *l = &c->links[place];
    *(l->prev == WL_NONE ? &c->heads[set] : &c->links[l->prev].next) = l->next;
    *(l->next == WL_NONE ? &c->tails[set] : &c->links[l->next].prev) = l->prev;
}

static u32 order_index(const Cache *c, const u8 *order, u8 way) {
    return (u32)((const u8 *)memchr(order, way, c->ways) - order);
}

static void link_to_head(Cache *c, u32 place, u32 set) {
    if (c->heads[set] == place) return;
    unlink_place(c, set, place);
    c->links[place] = (Link){.prev = WL_NONE, .next = c->heads[set]};
    c->links[c->heads[set]].prev = place;
    c->heads[set] = place;
}

static void way_to_head(const Cache *c, u8 *order, u8 way) {
    memmove(order + 1, order, order_index(c, order, way));
    order[0] = way;
}

static inline void to_head(Cache *c, u32 place, u32 set) {
    if (!c->tags) return link_to_head(c, place, set);
    u8 *order = order_of(c, set), way = (u8)(place - set * c->stride);
    if (order[0] != way) way_to_head(c, order, way);
}

// The line is found again.
static inline void use(Cache *c, u32 place, u32 set) {
    if (!c->lru) return;
    to_head(c, place, set);
    if (c->rrip) distance_of(c, set)[place - set * c->stride] = 0;
}

static void to_tail(Cache *c, u32 place, u32 set) {
    if (c->tags) {
        u8 *order = order_of(c, set), way = (u8)(place - set * c->stride);
        u32 at = order_index(c, order, way);
        memmove(order + at, order + at + 1, c->ways - 1 - at);
        order[c->ways - 1] = way;
        return;
    }
    if (c->tails[set] == place) return;
    unlink_place(c, set, place);
    c->links[place] = (Link){.prev = c->tails[set], .next = WL_NONE};
    c->links[c->tails[set]].next = place;
    c->tails[set] = place;
}

static void index_insert(Cache *c, u64 number, u32 place) {
    u32 slot = index_slot(c, number);
    while (c->index[slot]) slot = (slot + 1) & c->index_mask;
    c->index[slot] = place + 1;
}

// Room for more lines in the only set, all of whose places have had one.
static bool grow(Cache *c) {
    Cache before = *c;
    c->room = before.room * 2 < c->stride ? before.room * 2 : c->stride;
    if (allocate(c) != STATUS_OK) {
        *c = before;
        *c->status = STATUS_NO_MEMORY;
        return false;
    }
    memcpy(c->places, before.places, before.room * sizeof *c->places);
    memcpy(c->links, before.links, before.room * sizeof *c->links);
    if (c->owners) memcpy(c->owners, before.owners, before.room * sizeof *c->owners);
    if (c->written) memcpy(c->written, before.written, before.room * sizeof *c->written);
    c->heads[0] = before.heads[0];
    c->tails[0] = before.tails[0];
    c->taken[0] = before.taken[0];
    for (u32 i = 0; i < c->taken[0]; i++)
        if (c->places[i].number != NO_LINE) index_insert(c, c->places[i].number, i);
    pages_give(c->pages, before.block, before.block_bytes);
    return true;
}

// The next place that has had no line since the cache was emptied, linked in as the last.
static u32 fresh_place(Cache *c, u32 set) {
    u32 place = set * c->stride + c->taken[set]++;
    c->places[place] = (Place){.number = NO_LINE};
    c->links[place] = (Link){.prev = c->tails[set], .next = WL_NONE};
    *(c->tails[set] == WL_NONE ? &c->heads[set] : &c->links[c->tails[set]].next) = place;
    return c->tails[set] = place;
}

// Whether a dirty line stays though its turn to go for another has come: of two one, by their numbers.
static bool is_spared(const Cache *c, const Place *p, u64 number) {
    return c->spares_dirty && p->dirty && hash_u64(p->number ^ number << 20) & 1;
}

// Of the `count` lines that come first in a set's order the one that goes for another: the oldest that has no sectors
// under way, is wanted no sooner than `distance` and is not spared, or the oldest that is; WL_NONE: there is none.
static u32 oldest(const Cache *c, u32 set, u32 count, u32 distance, u64 number) {
    const u8 *order = order_of(c, set), *distances = distance_of(c, set);
    u32 spared = WL_NONE;
    while (count-- > 0) {
        u32 place = set * c->stride + order[count];
        const Place *p = &c->places[place];
        if (p->pending || (c->rrip && distances[order[count]] < distance)) continue;
        if (!is_spared(c, p, number)) return place;
        if (spared == WL_NONE) spared = place;
    }
    return spared;
}

// The same of those that are thought to be wanted last. Where that is not the farthest distance all come to be farther
// by what is missing.
static u32 given_up(const Cache *c, u32 set, u32 count, u64 number) {
    if (!c->rrip) return oldest(c, set, count, 0, number);
    const u8 *order = order_of(c, set);
    u8 *distances = distance_of(c, set);
    u32 farthest = 0;
    for (u32 i = 0; i < count; i++) {
        if (c->places[set * c->stride + order[i]].pending) continue;
        if (distances[order[i]] > farthest) farthest = distances[order[i]];
    }
    for (u32 i = 0; i < count; i++) {
        u32 farther = distances[order[i]] + FARTHEST - farthest;
        distances[order[i]] = (u8)(farther < FARTHEST ? farther : FARTHEST);
    }
    return oldest(c, set, count, FARTHEST, number);
}

static u32 lines_of(const Cache *c, u32 set) {
    const u8 *order = order_of(c, set);
    u32 count = c->ways;
    while (count > 0 && c->places[set * c->stride + order[count - 1]].number == NO_LINE) count--;
    return count;
}

static u32 last_scanned(Cache *c, u32 set, u64 number) {
    if (*epoch_of(c, set) != c->epoch) prepare_set(c, set);
    u32 count = lines_of(c, set);
    return count < c->ways ? set * c->stride + order_of(c, set)[count] : given_up(c, set, count, number);
}

// The place of a set that is given up for another line, WL_NONE when all have sectors under way.
static u32 last_free(Cache *c, u32 set, u64 number) {
    if (c->tags) return last_scanned(c, set, number);
    if (c->taken[set] < c->ways && (c->taken[set] < c->room || grow(c))) return fresh_place(c, set);
    u32 place = c->tails[set];
    while (place != WL_NONE && c->places[place].pending) place = c->links[place].prev;
    return place;
}

// Slots behind the emptied one move up, so that every line stays reachable from its own slot.
static void index_remove(Cache *c, u32 place) {
    u32 slot = index_slot(c, c->places[place].number);
    while (c->index[slot] != place + 1) slot = (slot + 1) & c->index_mask;
    for (u32 next = (slot + 1) & c->index_mask; c->index[next]; next = (next + 1) & c->index_mask) {
        u32 home = index_slot(c, c->places[c->index[next] - 1].number);
        if (((next - home) & c->index_mask) < ((next - slot) & c->index_mask)) continue;
        c->index[slot] = c->index[next];
        slot = next;
    }
    c->index[slot] = 0;
}

static void set_number(Cache *c, u32 place, u32 set, u64 number) {
    if (c->tags) {
        shorts_of(c, set)[place - set * c->stride] = short_of(number);
    } else {
        if (c->places[place].number != NO_LINE) index_remove(c, place);
        if (number != NO_LINE) index_insert(c, number, place);
    }
    c->places[place].number = number;
    if (c->last == place) c->last_number = number;
}

static bool is_part(const Place *p) { return p->dirty & ~p->valid; }

static void note_victim(const Cache *c, u32 place, CacheVictim *victim) {
    const Place *p = &c->places[place];
    *victim = (CacheVictim){.evicted = victim->evicted,
                            .line = p->number << c->shift,
                            .dirty = p->dirty,
                            .part = p->dirty & ~(u32)p->valid,
                            .owner = c->owners ? c->owners[place] : 0};
}

static void evict(Cache *c, u32 place, u32 set, CacheVictim *victim) {
    const Place *p = &c->places[place];
    note_victim(c, place, victim);
    victim->evicted = 1;
    c->parts -= is_part(p);
    if (c->dirty_most && p->dirty) --*dirty_of(c, set);
    c->used--;
}

// The next set of a random order. With 512 sets and fewer that of a shift register of nine bits: an H200 misses 511 of
// 1,664 to 2,048 lines, or twice or three times as many, and a few, in each walk over them, whatever its L1 has room
// for (bench/hwref/h200-l1-pool.tsv, h200-l1-sets.tsv). Which feedback it has is not known.
static u32 draw_set(Cache *c) {
    u32 feedback = c->sets <= 512 ? 0x110 : 0xb400;
    c->drawn = c->drawn >> 1 ^ (c->drawn & 1 ? feedback : 0);
    return c->drawn & (c->sets - 1);
}

// All lines are taken: another set gives up one of its own, so that this one may have one more. False: all lines of all
// sets that were asked have sectors under way.
static bool take_line(Cache *c, u64 number, CacheVictim *victim) {
    for (u32 asked = 0; asked < c->sets; asked++) {
        u32 set = draw_set(c);
        u32 place = *epoch_of(c, set) == c->epoch ? given_up(c, set, lines_of(c, set), number) : WL_NONE;
        if (place == WL_NONE) continue;
        evict(c, place, set, victim);
        set_number(c, place, set, NO_LINE);
        to_tail(c, place, set);
        return true;
    }
    return false;
}

// Gives the line a place, at the head of its set; WL_NONE when all are taken by lines with sectors under way.
static u32 take_place(Cache *c, u64 number, u64 owner, CacheVictim *victim) {
    u32 set = set_of(c, number), place = last_free(c, set, number);
    if (place == WL_NONE) return WL_NONE;
    Place *p = &c->places[place];
    if (p->number != NO_LINE)
        evict(c, place, set, victim);
    else if (c->given_sets && c->used >= c->lines && !take_line(c, number, victim))
        return WL_NONE;
    c->used++;
    set_number(c, place, set, number);
    if (c->owners) c->owners[place] = owner;
    p->valid = p->pending = p->dirty = p->marked = 0;
    to_head(c, place, set);
    if (c->rrip) distance_of(c, set)[place - set * c->stride] = FAR;
    remember(c, place, set, number);
    return place;
}

static inline CacheLook look_at(const Place *p, u32 sectors) {
    return (CacheLook){.hit = sectors & p->valid,
                       .pending = sectors & p->pending & ~(u32)p->valid,
                       .miss = sectors & ~(u32)(p->valid | p->pending),
                       .present = true};
}

CacheLook cache_look(Cache *c, u64 line, u32 sectors) {
    u32 place = c->sets ? find(c, line >> c->shift) : WL_NONE;
    if (place == WL_NONE) return (CacheLook){.miss = sectors};
    use(c, place, c->last_set);
    return look_at(&c->places[place], sectors);
}

bool cache_has(Cache *c, u64 line) { return c->sets && find(c, line >> c->shift) != WL_NONE; }

void cache_prefetch(const Cache *c, u64 line) {
    if (!c->sets || !c->tags) return;
    u32 set = set_of(c, line >> c->shift);
    const u8 *tags = c->tags + set * c->tag_bytes;
    for (size_t at = 0; at < c->tag_bytes; at += HOST_LINE) __builtin_prefetch(tags + at);
    if (c->near) __builtin_prefetch(&c->places[set * c->stride], 1);
}

void cache_prefetch_place(const Cache *c, u64 line) {
    if (!c->sets || !c->tags || c->near) return;
    u64 number = line >> c->shift;
    u32 set = set_of(c, number), way = match(c, number, set);
    if (way == WL_NONE) way = order_of(c, set)[c->ways - 1];  // that will be given up
    u32 place = set * c->stride + way;
    __builtin_prefetch(&c->places[place], 1);
    if (c->written) __builtin_prefetch(&c->written[place], 1);
}

bool cache_reserve(Cache *c, u64 line, u32 sectors, u64 owner, CacheVictim *victim) {
    *victim = (CacheVictim){0};
    if (!c->sets) return true;
    u64 number = line >> c->shift;
    u32 place = find(c, number);
    if (place == WL_NONE) place = take_place(c, number, owner, victim);
    if (place == WL_NONE) return false;
    c->places[place].pending |= (u16)(sectors & ~(u32)c->places[place].valid);
    return true;
}

void cache_fill(Cache *c, u64 line, u32 sectors) {
    u32 place = c->sets ? find(c, line >> c->shift) : WL_NONE;
    if (place == WL_NONE) return;
    Place *p = &c->places[place];
    c->parts -= is_part(p);
    p->valid |= (u16)(sectors & p->pending);
    p->pending &= (u16)~sectors;
    c->parts += is_part(p);
}

static void clean(Cache *c, u32 place, CacheVictim *victim) {
    Place *p = &c->places[place];
    note_victim(c, place, victim);
    c->parts -= is_part(p);
    p->valid |= p->dirty;
    p->dirty = 0;
}

// A line becomes dirty: if so many may not be, the oldest of the set is cleaned, unless another has given way for this
// one.
static void one_more_dirty(Cache *c, u32 set, CacheVictim *victim) {
    const u8 *order = order_of(c, set);
    if (++*dirty_of(c, set) <= c->dirty_most || victim->dirty) return;
    for (u32 at = c->ways; at-- > 0;) {  // the line itself is not yet
        u32 place = set * c->stride + order[at];
        if (!c->places[place].dirty || c->places[place].pending) continue;
        clean(c, place, victim);
        --*dirty_of(c, set);
        return;
    }
}

// Adds what is written of sectors in part; returns those of which not all is there then.
static u32 add_parts(Cache *c, u32 place, u32 written, u64 parts) {
    enum { MASK = (1 << CACHE_PART_BITS) - 1 };
    const Place *p = &c->places[place];
    u32 before = p->dirty & ~(u32)p->valid, rest = 0;
    for (u32 left = written; left; left &= left - 1) {
        u32 at = (u32)__builtin_ctz(left) * CACHE_PART_BITS, sector = left & -left;
        u64 now = parts >> at & MASK;
        if (!now) continue;
        if (before & sector) now += c->written[place] >> at & MASK;
        if (now >= CACHE_PARTS) continue;
        c->written[place] = (c->written[place] & ~((u64)MASK << at)) | now << at;
        rest |= sector;
    }
    return rest;
}

// The line has its place, at the head where the order is LRU.
static inline void write_place(Cache *c, u32 place, u32 written, u64 parts, CacheVictim *victim) {
    Place *p = &c->places[place];
    if (c->dirty_most && written && !p->dirty) one_more_dirty(c, c->last_set, victim);
    c->parts -= is_part(p);
    p->valid |= (u16)(WL_UNLIKELY(parts) ? written & ~add_parts(c, place, written, parts) : written);
    p->dirty |= (u16)written;
    c->parts += is_part(p);
}

// What a cache without room is left by at once.
static CacheVictim passed_on(u64 line, u32 sectors, u64 owner) {
    return (CacheVictim){.evicted = 1, .line = line, .dirty = sectors, .owner = owner};
}

bool cache_write(Cache *c, u64 line, u32 sectors, u64 parts, bool allocate_line, u64 owner, CacheVictim *victim) {
    *victim = (CacheVictim){0};
    if (!c->sets) {
        if (allocate_line) *victim = passed_on(line, sectors, owner);
        return true;
    }
    u64 number = line >> c->shift;
    u32 place = find(c, number);
    if (place == WL_NONE) {
        if (!allocate_line) return true;
        place = take_place(c, number, owner, victim);
        if (place == WL_NONE) return false;
    } else {
        use(c, place, c->last_set);
    }
    write_place(c, place, allocate_line ? sectors & 0xffff : sectors & c->places[place].valid, parts, victim);
    return true;
}

// Of the sectors in `part`, which are not valid, the words are there.
static void write_words(Cache *c, u32 place, u32 part, u32 words) {
    Place *p = &c->places[place];
    c->parts -= is_part(p);
    for (u32 left = part & ~(u32)p->valid; left; left &= left - 1) {
        u32 sector = left & -left, at = 8 * (u32)__builtin_ctz(left);
        u64 before = p->dirty & sector ? c->written[place] >> at & 0xff : 0, now = before | (words & 0xff);
        c->written[place] = (c->written[place] & ~(0xffull << at)) | now << at;
        if (now == 0xff) p->valid |= (u16)sector;
    }
    p->dirty |= (u16)part;
    c->parts += is_part(p);
}

u32 cache_words(Cache *c, u64 line, u32 sectors, u32 words) {
    u32 place = c->sets && c->written ? find(c, line >> c->shift) : WL_NONE, there = 0;
    if (place == WL_NONE) return 0;
    for (u32 left = sectors & c->places[place].dirty; left; left &= left - 1) {
        u32 missing = words & ~(u32)(c->written[place] >> 8 * (u32)__builtin_ctz(left));
        if (!(missing & 0xff)) there |= left & -left;
    }
    return there;
}

CacheLook cache_store(Cache *c, u64 line, u32 sectors, u32 whole, u32 words, u64 owner, CacheVictim *victim) {
    *victim = (CacheVictim){0};
    CacheLook look = {.miss = sectors};
    if (!c->sets) return *victim = passed_on(line, sectors, owner), look;
    u64 number = line >> c->shift;
    u32 place = find(c, number);
    if (place != WL_NONE) {
        use(c, place, c->last_set);
        look = look_at(&c->places[place], sectors);
    } else if ((place = take_place(c, number, owner, victim)) == WL_NONE) {
        return look;
    }
    u32 written = sectors & ~look.pending, part = words && c->written ? written & ~whole : 0;
    write_place(c, place, written & ~part, 0, victim);
    if (part) write_words(c, place, part, words);
    return look;
}

u32 cache_mark(Cache *c, u64 line, u32 set, u32 clear) {
    u32 place = c->sets ? find(c, line >> c->shift) : WL_NONE;
    if (place == WL_NONE) return 0;
    u32 before = c->places[place].marked, after = (before & ~clear) | set;
    c->places[place].marked = (u16)after;
    return before;
}

u32 cache_parts(const Cache *c) { return c->parts; }

bool cache_complete(Cache *c, u64 line, CacheVictim *victim) {
    *victim = (CacheVictim){0};
    u32 place = c->sets ? find(c, line >> c->shift) : WL_NONE;
    if (place == WL_NONE || !is_part(&c->places[place]) || c->places[place].pending) return false;
    Place *p = &c->places[place];
    note_victim(c, place, victim);
    victim->dirty = victim->part;
    c->parts--;
    p->valid |= p->dirty;
    p->dirty &= (u16)~victim->part;
    if (c->dirty_most && !p->dirty) --*dirty_of(c, c->last_set);
    return true;
}

void cache_drop(Cache *c, u64 line, u32 sectors) {
    u32 place = c->sets ? find(c, line >> c->shift) : WL_NONE;
    if (place == WL_NONE) return;
    Place *p = &c->places[place];
    bool dirty = p->dirty;
    c->parts -= is_part(p);
    p->valid &= (u16)~sectors;
    p->dirty &= (u16)~sectors;
    c->parts += is_part(p);
    if (c->dirty_most && dirty && !p->dirty) --*dirty_of(c, c->last_set);
    if (p->valid | p->pending | p->dirty) return;
    set_number(c, place, c->last_set, NO_LINE);
    c->used--;
    to_tail(c, place, c->last_set);
}
