// SPDX-License-Identifier: Apache-2.0
// A sectored set-associative cache: tags and states only, no data. Lines of 128 bytes with four sectors, or others.
// Used for the L1, the constant, texture and instruction caches and the slices of the L2. Not for several threads.
#ifndef WL_SIM_CACHE_H
#define WL_SIM_CACHE_H

#include "base/pages.h"
#include "base/status.h"
#include "base/types.h"

// Of a set the line goes that was used least recently; that came first; or that is thought to be wanted last, by two
// bits: soon, if it was found again, less soon the more lines had to go since (RRIP; up to 64 ways); of several the
// least recently used.
typedef enum CacheReplacement { CACHE_LRU, CACHE_FIFO, CACHE_RRIP } CacheReplacement;

typedef struct CacheConfig {
    u64 size;          // bytes; 0: there is no cache, every probe misses and what is written to it leaves it at once
    u32 line, sector;  // powers of two, at most 16 sectors a line
    u32 ways;          // 0 = fully associative; lines that are no multiple of the ways are left out
    u8 replacement;
    u32 dirty_most;  // lines of a set that may have written sectors; 0: all; up to 64 ways
    bool
        spares_dirty;  // every second line with written sectors whose turn to go has come is passed over; up to 64 ways
    bool owned;        // CacheVictim.owner is wanted
    bool in_part;      // how much of a sector was written is kept (cache_write)
    bool words;        // which words of a sector were written is kept (cache_store); four sectors of eight words
    u32 sets;          // not 0, a power of two: so many sets of `ways`, or half of it and so on where there are fewer
                       // lines; `size` lines in all, in whatever sets: when all are taken, a set that has room for
                       // one more gets that of another set. Chosen as an H200's L1 does (cache.c)
    bool hashed;     // sets are chosen by a hash of the line's address, not by its lowest bits; contiguous lines spread
                     // evenly
    bool uneven;     // ... but for a few of them: not all sets get as many
    Pages *pages;    // where its memory is taken from; NULL: malloc
    Status *status;  // not NULL: a fully associative cache takes memory as it needs it, and says here if there is none
} CacheConfig;

// How many: without a call where the host's plain instruction set has no instruction for it; most lines have four.
static inline u32 sector_count(u32 sectors) {
    u32 low = 0x4332322132212110ull >> (sectors & 15) * 4 & 15;
    return WL_LIKELY(sectors < 16) ? low : low + (u32)__builtin_popcount(sectors >> 4);
}

typedef struct Cache Cache;
// STATUS_INVALID: no such shape.
WL_MUST_USE Status cache_create(const CacheConfig *config, Cache **cache);
void cache_destroy(Cache *cache);
void cache_clear(Cache *cache);  // nothing is valid any more
// Another size for a cache with CacheConfig.sets, which is empty then. False: it would have fewer sets, or has; then it
// stays as it is.
WL_MUST_USE bool cache_resize(Cache *cache, u64 size);

typedef struct CacheLook {
    u32 hit;       // of the sectors asked for: present
    u32 pending;   // ... asked for already, on their way
    u32 miss;      // ... neither
    bool present;  // the line has a place
} CacheLook;
// Looks a line up (`line`: address of its first byte) and counts it as used.
CacheLook cache_look(Cache *cache, u64 line, u32 sectors);
bool cache_has(Cache *cache, u64 line);  // the line has a place; it is not counted as used

// The line will be looked up soon: brings what that needs into the host's cache. Changes nothing.
void cache_prefetch(const Cache *cache, u64 line);
void cache_prefetch_place(const Cache *cache, u64 line);  // the second half, when the first is there

typedef struct CacheVictim {
    u32 evicted;  // 1: a line has lost its place
    u64 line;     // below: of that one; or of one that was cleaned and stays
    u32 dirty;    // sectors to be written back
    u32 part;     // ... of which not all bytes are there
    u64 owner;    // what was given with cache_reserve
} CacheVictim;
// Makes the sectors pending, taking a place for the line when it has none. False: no place is free, all lines of the
// set have pending sectors. `owner` is kept with the line (who brought it), for interference analysis.
bool cache_reserve(Cache *cache, u64 line, u32 sectors, u64 owner, CacheVictim *victim);
// Pending sectors have arrived. What is not pending any more (the cache was cleared) is ignored.
void cache_fill(Cache *cache, u64 line, u32 sectors);
enum { CACHE_PART_BITS = 4, CACHE_PARTS = 16 };  // of a sector: its sixteenths, in so many bits each
// Sectors written: present ones (or, with `allocate`, all) become valid and dirty. Of those with a number in `parts`
// (CACHE_PART_BITS each, the first sector lowest; only with CacheConfig.in_part) only so many sixteenths are written:
// what was not there before is dirty only, and a read of it a miss, until as much was written as it has - as if nothing
// were written twice, which sixteenths is not kept. False as for cache_reserve. Where CacheConfig.dirty_most lines of
// the set are dirty, the oldest of them is cleaned (`victim`).
bool cache_write(Cache *cache, u64 line, u32 sectors, u64 parts, bool allocate, u64 owner, CacheVictim *victim);
enum { CACHE_NO_WORDS = 0x100 };  // for `words`: none, as of bytes
// Of `sectors`, which are not valid, those of which the words of `words`, or any for 0, were written.
u32 cache_words(Cache *cache, u64 line, u32 sectors, u32 words);
// cache_look() and then cache_write() with `allocate`, but of sectors that are not under way. Where it is kept which
// words were written (CacheConfig.words), of sectors but those in `whole` only the words of `words`, bits, the same of
// each, are there then, and a read of others is a miss; 0: which is not known, all are.
CacheLook cache_store(Cache *cache, u64 line, u32 sectors, u32 whole, u32 words, u64 owner, CacheVictim *victim);
// The sectors of the line that were marked, none when it has no place; then marks `set` and unmarks `clear`. A line
// that takes a place has no marks.
u32 cache_mark(Cache *cache, u64 line, u32 set, u32 clear);

u32 cache_parts(const Cache *cache);  // lines that have sectors written in part
// Sectors written in part go to `victim`; they stay, whole and clean. False: the line has none.
bool cache_complete(Cache *cache, u64 line, CacheVictim *victim);
void cache_drop(Cache *cache, u64 line, u32 sectors);  // not valid any more (write-evict)

#endif
