// SPDX-License-Identifier: Apache-2.0
#include "sim/time/trace.h"

#include <string.h>

#include "base/mem.h"
#include "sim/exec/access.h"

enum { TRACE_LINES_MAX = 255, WORDS_FIRST = 64 };

void trace_reset(Trace *t) {
    t->begin = t->complete = t->end = 0;
    t->next = t->limit = WL_NONE;
}

void trace_free(Trace *t) {
    pages_give(t->pages, t->words, sizeof *t->words * t->cap);
    *t = (Trace){0};
}

// Room for `count` more words: what was consumed is given up first.
static bool reserve(Trace *t, u32 count) {
    if (t->end + count <= t->cap) return true;
    if (t->begin >= count && t->begin > t->cap / 4) {
        memmove(t->words, t->words + t->begin, sizeof *t->words * (t->end - t->begin));
        t->complete -= t->begin;
        t->end -= t->begin;
        t->begin = 0;
        return true;
    }
    u32 cap = t->cap ? t->cap * 2 : WORDS_FIRST;
    while (cap < t->end + count) cap *= 2;
    u64 *bigger = pages_resize(t->pages, t->words, sizeof *bigger * t->cap, sizeof *bigger * cap);
    if (!bigger) return t->failed = true, false;
    t->words = bigger;
    t->cap = cap;
    return true;
}

void trace_close(Trace *t) {
    if (t->next == WL_NONE) return;
    u64 *head = t->words + t->complete;
    head[0] |= (u64)t->next << 32;
    head[1] |= (u64)(t->end - t->complete - TRACE_HEAD) << 32;
    t->complete = t->end;
    t->next = t->limit = WL_NONE;
}

void trace_open(Trace *t, u32 pc, u32 mask) {
    trace_close(t);
    if (!reserve(t, TRACE_HEAD)) return;
    t->words[t->end++] = pc;
    t->words[t->end++] = lanes_in(mask);
    t->next = pc;
    t->limit = t->block_end[pc];
    t->mask = mask;
}

void trace_take_back(Trace *t) {
    if (t->next == WL_NONE || t->next != (u32)t->words[t->complete]) return;
    t->end = t->complete;
    t->next = t->limit = WL_NONE;
}

// The head of an access of the instruction that is being executed; NULL when there is no memory for `lines` more words.
static u64 *add(Trace *t, u32 lines) {
    if (t->next == WL_NONE || !reserve(t, 1 + lines)) return NULL;
    return t->words + t->end;
}

static void finish(Trace *t, u64 *head, TraceAccess a, u32 lines) {
    a.insn = (u16)(t->next - (u32)t->words[t->complete]);
    a.lines = (u8)lines;
    *head = trace_access_word(a);
    t->end += 1 + lines;
}

// Whether an experiment changes the access of the instruction that is being executed.
static bool is_edited(const Trace *t, TraceEdit edit) { return t->edits && t->edits[t->next] & edit; }

// `top`: TRACE_LINE's highest byte, the words.
static u64 line_word(u64 line, u32 sectors, u32 whole, u32 top) {
    return (line & TRACE_LINE_MASK) | (u64)sectors << 48 | (u64)whole << 52 | (u64)top << 56;
}

static u64 atomic_word(u64 line, u32 sectors, u32 waiting, u32 degree) {
    return (line & TRACE_LINE_MASK) | (u64)sectors << 48 | (u64)waiting << 52 | (u64)degree << 58;
}

// Of words of a line those of each of the sectors in `part`; 0: they are not alike.
static u32 words_of_each(u32 words, u32 part) {
    u32 first = part ? words >> 8 * (u32)__builtin_ctz(part) & 0xff : 0;
    for (; part; part &= part - 1)
        if ((words >> 8 * (u32)__builtin_ctz(part) & 0xff) != first) return 0;
    return first;
}
// Of words [first, first + count) of a line.
static u32 words_from(u32 first, u32 count) { return (u32)(((1ull << count) - 1) << first); }

// --- lines ---------------------------------------------------------------------------------------------------------
typedef struct LineSet {
    u64 line[TRACE_LINES_MAX];
    u16 bytes[TRACE_LINES_MAX][4];  // accessed in each sector
    u32 words[TRACE_LINES_MAX];     // that are touched
    u8 sectors[TRACE_LINES_MAX];
    u8 degree[TRACE_LINES_MAX][4];  // atomics: the most lanes on one word of each sector
    u64 highest;                    // of the lines
    u32 count, last;
} LineSet;

static u32 line_index(LineSet *s, u64 line) {
    if (s->count && s->line[s->last] == line) return s->last;
    for (u32 i = 0; i < s->count && line <= s->highest; i++)
        if (s->line[i] == line) return s->last = i;
    if (line > s->highest || !s->count) s->highest = line;
    if (s->count == TRACE_LINES_MAX) return s->last;
    s->line[s->count] = line;
    memset(s->bytes[s->count], 0, sizeof s->bytes[0]);
    memset(s->degree[s->count], 0, sizeof s->degree[0]);
    s->sectors[s->count] = 0;
    s->words[s->count] = 0;
    return s->last = s->count++;
}

// One lane's bytes.
static void line_add(LineSet *s, u64 address, u32 bytes) {
    u64 end = address + bytes;
    while (address < end) {
        u64 stop = (address | 31) + 1;
        if (stop > end) stop = end;
        u32 i = line_index(s, address >> 7), sector = address >> 5 & 3;
        s->sectors[i] |= (u8)(1u << sector);
        s->bytes[i][sector] += (u16)(stop - address);
        s->words[i] |= words_from(address >> 2 & 31, (u32)((stop - 1) >> 2) - (u32)(address >> 2) + 1);
        address = stop;
    }
}

// The lanes at the front that lie `step` apart and in one sector.
static u32 run_length(const u64 *address, u32 count, u64 step) {
    u32 n = 1;
    while (n < count && address[n] - address[n - 1] == step && (address[n] ^ address[0]) < 32) n++;
    return n;
}

// line_add() of all lanes, none of which touches two sectors: those on one address at a time, or words in a row.
static void add_lanes(LineSet *s, const u64 *address, u32 count, u32 bytes) {
    for (u32 l = 0, n; l < count; l += n) {
        u64 a = address[l], step = l + 1 < count ? address[l + 1] - a : 0;
        bool row = step == bytes && bytes >= 4;
        n = row || step == 0 ? run_length(address + l, count - l, step) : 1;
        u32 at = line_index(s, a >> 7), k = a >> 5 & 3;
        s->sectors[at] |= (u8)(1u << k);
        s->bytes[at][k] += (u16)(n * bytes);
        s->words[at] |= words_from(a >> 2 & 31, row ? n * bytes / 4 : (bytes + 3) / 4);
    }
}

// The most lanes on one word of each sector, wherever in the warp they are.
static void count_degrees(LineSet *s, const u64 *address, u32 count) {
    u32 left = count < LANES ? (1u << count) - 1 : FULL_MASK;
    while (left) {
        u64 word = address[__builtin_ctz(left)] >> 2;
        u32 lanes = 0;
        u8 *most = &s->degree[line_index(s, word >> 5)][word >> 3 & 3];
        for (u32 others = left; others; others &= others - 1) {
            u32 l = (u32)__builtin_ctz(others);
            if (address[l] >> 2 == word) lanes++, left &= ~(1u << l);
        }
        if (lanes > *most) *most = (u8)lanes;
    }
}

static u64 atomic_line(const LineSet *s, u32 i) {
    u32 waiting = 0, most = 0;
    for (u32 k = 0; k < 4; k++) {
        u32 degree = s->degree[i][k];
        waiting += degree ? degree - 1 : 0;
        if (degree > most) most = degree;
    }
    return atomic_word(s->line[i], s->sectors[i], waiting, most);
}

static u32 write_lines(const Trace *t, const LineSet *s, u64 *out) {
    for (u32 i = 0; i < s->count; i++) {
        u32 whole = 0;
        for (u32 k = 0; k < 4; k++) whole |= (u32)(s->bytes[i][k] >= 32) << k;
        out[i] = t->atomic
                     ? atomic_line(s, i)
                     : line_word(s->line[i], s->sectors[i], whole, words_of_each(s->words[i], s->sectors[i] & ~whole));
    }
    return s->count;
}

// The sectors of `line` that [from, to) touches (or, with `whole`, covers).
static u32 sectors_in(u64 line, u64 from, u64 to, bool whole) {
    u64 first = from, last = to - 1, base = line << 7;
    if (whole) {
        first = (from + 31) & ~31ull;
        if ((to & ~31ull) <= first) return 0;
        last = (to & ~31ull) - 1;
    }
    u32 a = first <= base ? 0 : (u32)((first - base) >> 5), b = last >= base + 127 ? 3 : (u32)((last - base) >> 5);
    return last < base || first > base + 127 ? 0 : (15u << a) & (15u >> (3 - b));
}

// The words of `line` that [from, to) touches.
static u32 words_in(u64 line, u64 from, u64 to) {
    u64 base = line << 7, first = from > base ? from : base, last = (to < base + 128 ? to : base + 128) - 1;
    return words_from((u32)(first - base) >> 2, (u32)((last - base) >> 2) - (u32)((first - base) >> 2) + 1);
}

// The lanes' accesses lie one behind the other, or all on the same bytes: [from, to).
static void trace_span(Trace *t, u64 from, u64 to, u32 count, u32 bytes, u32 degree) {
    u64 first = from >> 7, last = (to - 1) >> 7;
    u64 *head = add(t, (u32)(last - first) + 1);
    if (!head) return;
    for (u64 line = first; line <= last; line++) {
        u32 sectors = sectors_in(line, from, to, false), whole = sectors_in(line, from, to, true);
        head[1 + line - first] =
            t->atomic ? atomic_word(line, sectors, (degree - 1) * (u32)__builtin_popcount(sectors), degree)
                      : line_word(line, sectors, whole, words_of_each(words_in(line, from, to), sectors & ~whole));
    }
    TraceAccess a = {.space = TRACE_GLOBAL, .lanes = (u8)count, .bytes = (u8)bytes};
    finish(t, head, a, (u32)(last - first) + 1);
}

// The step from lane to lane when it is the same everywhere and the accesses leave no gap: 0 or `bytes`; otherwise
// WL_NONE.
static u32 step_of(const u64 *address, u32 count, u32 bytes) {
    u64 step = count > 1 ? address[1] - address[0] : bytes, differs = 0;
    for (u32 i = 1; i < count && !differs; i++) differs = (address[i] - address[i - 1]) ^ step;
    return !differs && (step == 0 || step == bytes) ? (u32)step : WL_NONE;
}

// No two words of a line lie in one bank. Wide accesses are taken to be served as loads from shared memory are, which
// lie in the same memory: measured for those only.
static u32 wavefronts_of(const LineSet *set, const u64 *address, u32 lanes, u32 bytes) {
    u32 fewest;
    if (set->count == 1 && bytes <= 4) return 1;
    return count_wavefronts(address, lanes == LANES ? FULL_MASK : (1u << lanes) - 1, bytes, true, &fewest);
}

static bool is_aligned(const u64 *address, u32 count, u32 bytes) {
    u64 bits = bytes;
    for (u32 i = 0; i < count; i++) bits |= address[i];
    return bytes <= 32 && !(bits & (bytes - 1));
}

// The cache of constants gives one address after the other.
static u32 different(const u64 *address, u32 count) {
    u32 n = 0;
    for (u32 i = 0, k; i < count; i++) {
        for (k = 0; k < i && address[k] != address[i]; k++) {}
        n += k == i;
    }
    return n;
}

static void trace_constants(Trace *t, const u64 *address, u32 count, u32 bytes) {
    for (u32 first = 0; first < count; first += t->half) {
        LineSet set;
        set.count = 0;
        u32 lanes = first + t->half < count ? t->half : count - first;
        for (u32 i = 0; i < lanes; i++) line_add(&set, address[first + i], bytes);
        u64 *head = add(t, set.count);
        if (!head) return;
        TraceAccess a = {.space = TRACE_GLOBAL, .lanes = (u8)lanes, .bytes = (u8)bytes};
        a.wavefronts = (u16)different(address + first, lanes);
        finish(t, head, a, write_lines(t, &set, head + 1));
    }
}

// Which word of a sector its turn is: the bits of its number folded, so that rows whose lengths are powers of two have
// theirs one after the other.
static u32 turn_of(u64 sector, u32 words) {
    u32 bits = (u32)__builtin_ctz(words), fold = 0;
    for (; bits && sector; sector >>= bits) fold ^= (u32)sector & (words - 1);
    return fold;
}

// As if lanes accessed neighbouring words: each sector counts at one of its words only, and is needed whole then. So
// who walks along a row has each sector once, and the fields of a structure have their shares. What counts together
// lies in lines together, in a part of the address space that nobody else has, named by the first sector.
static void trace_coalesced(Trace *t, const u64 *address, u32 count, u32 bytes) {
    enum { ELSEWHERE = 40 };  // bit of a line's number
    u32 words = 32 / bytes, sectors = 0;
    LineSet set;
    set.count = 0;
    for (u32 i = 0; i < count; i++)
        if (address[i] / bytes % words == turn_of(address[i] >> 5, words)) line_add(&set, address[i], bytes);
    if (!set.count) line_add(&set, address[0], bytes);
    for (u32 i = 0; i < set.count; i++) sectors += (u32)__builtin_popcount(set.sectors[i]);
    u64 first = set.line[0] << 2 | (u32)__builtin_ctz(set.sectors[0]);
    u32 lines = (sectors + 3) / 4;
    u64 *head = add(t, lines);
    if (!head) return;
    for (u32 i = 0; i < lines; i++, sectors -= 4) {
        u32 mask = sectors < 4 ? (1u << sectors) - 1 : 15;
        head[1 + i] = line_word(first << 3 | i | 1ull << ELSEWHERE, mask, mask, t->atomic);
    }
    finish(t, head, (TraceAccess){.space = TRACE_GLOBAL, .lanes = (u8)count, .bytes = (u8)bytes}, lines);
}

void trace_global(Trace *t, const u64 *address, u32 count, u32 bytes) {
    if (WL_UNLIKELY(t->constant)) return trace_constants(t, address, count, bytes);
    if (WL_UNLIKELY(is_edited(t, TRACE_COALESCED)) && step_of(address, count, bytes) == WL_NONE &&
        is_aligned(address, count, bytes))
        return trace_coalesced(t, address, count, bytes);
    if (WL_LIKELY(count <= t->half)) {
        u32 step = step_of(address, count, bytes);
        if (step == 0) return trace_span(t, address[0], address[0] + bytes, count, bytes, count);
        if (step != WL_NONE) {
            u32 degree = bytes < 4 ? 4 / bytes : 1;
            return trace_span(t, address[0], address[0] + (u64)count * bytes, count, bytes, degree);
        }
    }
    bool aligned = is_aligned(address, count, bytes);
    for (u32 first = 0; first < count; first += t->half) {
        LineSet set;
        set.count = 0;  // the rest is written before it is read
        u32 last = first + t->half < count ? first + t->half : count, lanes = last - first;
        if (aligned)
            add_lanes(&set, address + first, lanes, bytes);
        else
            for (u32 i = first; i < last; i++) line_add(&set, address[i], bytes);
        if (t->atomic) count_degrees(&set, address + first, lanes);
        u64 *head = add(t, set.count);
        if (!head) return;
        TraceAccess a = {.space = TRACE_GLOBAL, .lanes = (u8)lanes, .bytes = (u8)bytes};
        a.wavefronts = (u16)wavefronts_of(&set, address + first, lanes, bytes);
        finish(t, head, a, write_lines(t, &set, head + 1));
    }
}

void trace_shared(Trace *t, u32 wavefronts, u32 fewest, u32 lanes, u32 bytes, bool distributed) {
    u64 *head = add(t, 1);
    if (!head) return;
    head[1] = fewest | (distributed ? TRACE_DISTRIBUTED : 0);
    if (WL_UNLIKELY(is_edited(t, TRACE_CONFLICT_FREE))) wavefronts = fewest;
    finish(t, head,
           (TraceAccess){.space = TRACE_SHARED, .wavefronts = (u16)wavefronts, .lanes = (u8)lanes, .bytes = (u8)bytes},
           1);
}

// Words of the lanes are interleaved.
void trace_local(Trace *t, const u64 *offset, u32 mask, u32 bytes) {
    LineSet set;
    set.count = 0;
    u32 words = bytes < 4 ? 1 : bytes / 4;
    for (u32 k = 0; k < words; k++)
        for (u32 left = mask; left; left &= left - 1) {
            u32 l = (u32)__builtin_ctz(left);
            line_add(&set, t->local_base + ((offset[l] >> 2) + k) * t->local_step + l * 4, 4);
        }
    u64 *head = add(t, set.count);
    if (!head) return;
    TraceAccess a = {.space = TRACE_LOCAL, .lanes = (u8)__builtin_popcount(mask), .bytes = (u8)bytes};
    finish(t, head, a, write_lines(t, &set, head + 1));
}

void trace_local_uniform(Trace *t, u64 offset, u32 mask, u32 bytes) {
    u64 lanes[LANES];
    for (u32 l = 0; l < LANES; l++) lanes[l] = offset;
    trace_local(t, lanes, mask, bytes);
}

u32 trace_spilled(const Trace *t, u64 word, u32 words, u32 lanes, u64 lines[TRACE_SPILLED]) {
    enum { SECTORS = 15 };
    u32 sectors = lanes < 4 ? (1u << lanes) - 1 : SECTORS, count = 0;
    for (; count < words && count < TRACE_SPILLED; count++) {
        u64 line = (t->local_base + (word + count) * t->local_step) >> 7;
        lines[count] = line_word(line, sectors, lanes == LANES ? SECTORS : 0, 0);
    }
    return count;
}

void trace_sectors(Trace *t, const u64 *sector, u32 count, u32 looked_up, u32 bytes, bool apart) {
    LineSet set;
    set.count = 0;
    for (u32 i = 0; i < count; i++) line_add(&set, sector[i] << 5, 1);
    u64 *head = add(t, set.count);
    if (!head) return;
    TraceAccess a = {
        .space = TRACE_TEXTURE, .lanes = LANES, .wavefronts = (u16)looked_up, .bytes = (u8)(bytes / LANES)};
    u32 lines = write_lines(t, &set, head + 1);
    for (u32 i = 0; i < lines && apart; i++) head[1 + i] |= TRACE_LINE_APART;
    finish(t, head, a, lines);
}

void trace_bulk(Trace *t, u64 address, u64 bytes) {
    u64 line = address >> 7, last = (address + bytes - 1) >> 7;
    while (line <= last) {
        u32 count = last - line + 1 < TRACE_LINES_MAX ? (u32)(last - line + 1) : TRACE_LINES_MAX;
        u64 *head = add(t, count);
        if (!head) return;
        for (u32 i = 0; i < count; i++, line++) {
            u32 sectors = 15;
            if (line == address >> 7) sectors &= 15u << (address >> 5 & 3);
            if (line == last) sectors &= (2u << ((address + bytes - 1) >> 5 & 3)) - 1;
            head[1 + i] = line_word(line, sectors, sectors, 0);
        }
        finish(t, head, (TraceAccess){.space = TRACE_BULK, .lanes = 1}, count);
    }
}

void trace_barrier(Trace *t, u32 barrier, u32 lanes, u32 expected, bool waits) {
    u64 *head = add(t, 1);
    if (!head) return;
    head[1] = expected;
    TraceAccess a = {.space = TRACE_BARRIER, .wavefronts = (u16)barrier, .lanes = (u8)lanes, .bytes = waits};
    finish(t, head, a, 1);
}

void trace_exit(Trace *t, u32 lanes) {
    u64 *head = add(t, 0);
    if (head) finish(t, head, (TraceAccess){.space = TRACE_BARRIER, .lanes = (u8)lanes, .bytes = TRACE_EXITS}, 0);
}

void trace_print(Trace *t, u32 length) {
    u64 *head = add(t, 0);
    u16 kept = length < UINT16_MAX ? (u16)length : UINT16_MAX;
    if (head) finish(t, head, (TraceAccess){.space = TRACE_PRINT, .wavefronts = kept}, 0);
}

void trace_slow(Trace *t, u32 path) {
    u64 *head = add(t, 0);
    if (head) finish(t, head, (TraceAccess){.space = TRACE_SLOW, .wavefronts = (u16)path}, 0);
}

// Slept is until the next multiple of what was asked for, rounded up to a power of two: 2^7 ns for 100, 2^14 for
// 10,000, 2^20 for 1,000,000 and for 4,000,000; for 40 and less not at all (bench/hwref/h200-sleeps.tsv).
enum { SLEEP_LEAST = 64, SLEEP_BITS = 20 };

void trace_sleep(Trace *t, u32 ns) {
    if (ns <= SLEEP_LEAST) return;
    u32 bit = 32 - (u32)__builtin_clz(ns - 1);
    u64 *head = add(t, 0);
    if (!head) return;
    finish(t, head, (TraceAccess){.space = TRACE_SLEEP, .wavefronts = bit < SLEEP_BITS ? (u16)bit : SLEEP_BITS}, 0);
}

// Turns of lanes that swap a word for what it was. Half warps swap 8 bytes one after the other, and both succeed
// (bench/hwref/h200-shared-turns.tsv, f64/stays).
static u32 turns_that_stay(u32 lanes, u32 bytes) {
    u32 first = (u32)__builtin_popcount(lanes & 0xffff), second = (u32)__builtin_popcount(lanes >> 16);
    return bytes < 8 ? first + second : first > second ? first : second;
}

void trace_spin(Trace *t, const u64 *address, u32 mask, u32 changing, u32 bytes) {
    u64 *head = add(t, LANES);
    u32 places = 0;
    if (!head) return;
    for (u32 left = mask; left;) {
        u64 where = address[__builtin_ctz(left)];
        u32 same = 0;
        for (u32 others = left; others; others &= others - 1)
            if (address[__builtin_ctz(others)] == where) same |= others & -others;
        left &= ~same;
        u32 changes = (u32)__builtin_popcount(same & changing);
        head[1 + places++] = trace_spin_word((u32)where, changes + turns_that_stay(same & ~changing, bytes), changes);
    }
    finish(t, head, (TraceAccess){.space = TRACE_SPIN}, places);
}

void trace_sync(Trace *t, TraceSync kind, u32 key) {
    TraceSyncs *s = t->syncs;
    u32 at = 0;
    while (at < s->count && s->key[at] != key) at++;
    if (at == s->count) {
        if (s->count < TRACE_SYNCS)
            s->key[s->count++] = key;
        else
            at--;  // more mbarriers than can be told apart: the last ones are one
    }
    u64 *head = add(t, 1);
    if (!head) return;
    if (kind != SYNC_WAIT) s->made[at]++;
    head[1] = s->made[at];
    finish(t, head, (TraceAccess){.space = TRACE_SYNC, .wavefronts = (u16)kind, .lanes = (u8)at}, 1);
}
