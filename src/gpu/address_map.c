// SPDX-License-Identifier: Apache-2.0
// A map is evaluated in three steps: the channel from the address, the slice and the bank from the local address (the
// address without its channel); of two sides the one before that. Own bits are taken out of the address, so that
// (channel, slice, local) is one-to-one: what else an expression adds to them must not name them again.
#include "gpu/address_map.h"

#include <string.h>

#include "base/map.h"

enum { ADDRESS_BITS = 64, SECTOR_BITS = 5 };

typedef struct Reader {
    const char *text, *at;
    const char *file;
    Diag *diag;
} Reader;

static Status mistake(const Reader *r, const char *at, const char *what) {
    u32 column = (u32)(at - r->text) + 1;
    diag_text(r->diag, DIAG_ERROR, r->file, 0, column, "address_map, column %u: %s", column, what);
    return STATUS_INVALID;
}

static void skip_blanks(Reader *r) { r->at += strspn(r->at, " \t"); }

static bool take(Reader *r, char c) {
    skip_blanks(r);
    if (*r->at != c) return false;
    r->at++;
    return true;
}

static bool take_word(Reader *r, const char *word) {
    skip_blanks(r);
    size_t length = strlen(word);
    if (strncmp(r->at, word, length) != 0 || strspn(r->at, "abcdefghijklmnopqrstuvwxyz") != length) return false;
    r->at += length;
    return true;
}

static Status read_bit(Reader *r, u32 *bit) {
    skip_blanks(r);
    const char *begin = r->at;
    u32 value = 0;
    for (; *r->at >= '0' && *r->at <= '9'; r->at++)
        if (value < ADDRESS_BITS) value = value * 10 + (u32)(*r->at - '0');
    if (r->at == begin || value >= ADDRESS_BITS) return mistake(r, begin, "a bit is a number from 0 to 63");
    *bit = value;
    return STATUS_OK;
}

// "(low)", or "(low, first)" with a bit below it that says first which unit it is.
static Status read_interleave(Reader *r, MapUnit *unit) {
    u32 low, first;
    if (!take(r, '(')) return mistake(r, r->at, "'(' expected");
    TRY(read_bit(r, &low));
    first = low;
    if (take(r, ',')) {
        const char *at = r->at;
        TRY(read_bit(r, &first));
        if (first >= low) return mistake(r, at, "the second bit of interleave(a, b) is below the first");
    }
    unit->low = (u8)low;
    unit->first = (u8)first;
    return take(r, ')') ? STATUS_OK : mistake(r, r->at, "')' expected");
}

// "(low:high)" or "(low)".
static Status read_range(Reader *r, bool may_end, u32 *low, u32 *high) {
    if (!take(r, '(')) return mistake(r, r->at, "'(' expected");
    TRY(read_bit(r, low));
    *high = *low;
    if (may_end && take(r, ':')) {
        TRY(read_bit(r, high));
        if (*high < *low) return mistake(r, r->at, "the lower bit comes first");
    }
    return take(r, ')') ? STATUS_OK : mistake(r, r->at, "')' expected");
}

static Status read_term(Reader *r, MapUnit *unit, bool add, bool *interleave) {
    static const char *const names[] = {[MAP_BITS] = "bits", [MAP_LOCAL] = "local", [MAP_HASH] = "hash"};
    u32 low, high;
    skip_blanks(r);
    const char *begin = r->at;
    *interleave = take_word(r, "interleave");
    if (*interleave) {
        if (unit->steps) return mistake(r, begin, "interleave stands first, or not at all");
        return read_interleave(r, unit);
    }
    for (u8 source = 0; source < WL_COUNT(names); source++) {
        if (!take_word(r, names[source])) continue;
        if (unit->steps == MAP_STEPS) return mistake(r, begin, "too many terms");
        TRY(read_range(r, source != MAP_HASH, &low, &high));
        u64 mask = source == MAP_HASH || high - low == 63 ? UINT64_MAX : (2ull << (high - low)) - 1;
        unit->step[unit->steps++] = (MapStep){.source = source, .shift = (u8)low, .add = add, .mask = mask};
        return STATUS_OK;
    }
    return mistake(r, begin, "bits(a:b), local(a:b), hash(a), interleave(a) or interleave(a, b) expected");
}

static Status read_unit(Reader *r, MapUnit *unit) {
    skip_blanks(r);
    const char *begin = r->at;
    if (unit->given) return mistake(r, begin, "given twice");
    unit->given = true;
    unit->column = (u32)(begin - r->text) + 1;
    TRY(read_term(r, unit, false, &unit->interleave));
    if (!unit->interleave) {
        if (unit->step[0].source == MAP_HASH) return mistake(r, begin, "the first term is bits, local or interleave");
        unit->low = unit->step[0].shift;
        unit->bits = (u8)__builtin_popcountll(unit->step[0].mask);
    }
    for (bool add; (add = take(r, '+')) || take(r, '^');) {
        bool interleave;
        if (unit->interleave) return mistake(r, r->at, "interleave stands alone");
        TRY(read_term(r, unit, add, &interleave));
        if (interleave) return mistake(r, r->at, "interleave stands alone");
    }
    return STATUS_OK;
}

// "parity(a, b, ...)".
static Status read_side(Reader *r, AddressMap *map) {
    skip_blanks(r);
    const char *begin = r->at;
    if (map->side) return mistake(r, begin, "given twice");
    if (!take_word(r, "parity") || !take(r, '(')) return mistake(r, begin, "parity(a, b, ...) expected");
    do {
        u32 bit;
        TRY(read_bit(r, &bit));
        map->side |= 1ull << bit;
    } while (take(r, ','));
    return take(r, ')') ? STATUS_OK : mistake(r, r->at, "')' expected");
}

static Status read_map(Reader *r, AddressMap *map) {
    do {
        skip_blanks(r);
        if (!*r->at) break;
        if (take_word(r, "side")) {
            if (!take(r, '=')) return mistake(r, r->at, "'=' expected");
            TRY(read_side(r, map));
            continue;
        }
        MapUnit *unit = take_word(r, "channel") ? &map->channel
                        : take_word(r, "slice") ? &map->slice
                        : take_word(r, "bank")  ? &map->bank
                                                : NULL;
        if (!unit) return mistake(r, r->at, "channel, slice, bank or side expected");
        if (!take(r, '=')) return mistake(r, r->at, "'=' expected");
        TRY(read_unit(r, unit));
    } while (take(r, ';'));
    skip_blanks(r);
    return *r->at ? mistake(r, r->at, "';' expected") : STATUS_OK;
}

static bool is_power(u64 value) { return value && !(value & (value - 1)); }

static Status check_unit(const Reader *r, MapUnit *unit, u64 count, bool is_channel, const char *missing) {
    const char *at = r->text + (unit->column ? unit->column - 1 : 0);
    unit->count = count;
    if (!unit->given) return count == 1 ? STATUS_OK : mistake(r, at, missing);
    if (unit->interleave) return STATUS_OK;
    if (!is_power(count)) return mistake(r, at, "their number is no power of two: interleave(a) is needed");
    if (1ull << unit->bits != count) return mistake(r, at, "the first term has not as many bits as their number needs");
    for (u32 i = 0; i < unit->steps; i++) {
        const MapStep *s = &unit->step[i];
        if (is_channel && s->source == MAP_LOCAL) return mistake(r, at, "the local address is what the channel leaves");
        u32 end = s->source == MAP_HASH ? ADDRESS_BITS : s->shift + (u32)__builtin_popcountll(s->mask);
        bool same = s->source == MAP_HASH || s->source == unit->step[0].source;
        if (i && same && s->shift < unit->low + unit->bits && unit->low < end)
            return mistake(r, at, "a bit of the first term is used again");
    }
    return STATUS_OK;
}

// Bits of the whole address that are a slice's or bank's own become bits of the local one.
static Status make_local(const Reader *r, const MapUnit *channel, MapUnit *unit) {
    if (!unit->given || unit->interleave || unit->step[0].source == MAP_LOCAL || !channel->given) return STATUS_OK;
    const char *at = r->text + unit->column - 1;
    if (channel->interleave) return mistake(r, at, "with an interleaved channel the first term is local(a:b)");
    if (unit->low < channel->low + channel->bits && channel->low < unit->low + unit->bits)
        return mistake(r, at, "a bit of the first term is the channel's");
    if (unit->low > channel->low) unit->low = (u8)(unit->low - channel->bits);
    return STATUS_OK;
}

static u32 lowest_bit(const MapUnit *unit, u32 low) {
    if (unit->interleave && unit->first < low) low = unit->first;
    for (u32 i = 0; i < unit->steps; i++)
        if (unit->step[i].shift < low) low = unit->step[i].shift;
    return low;
}

static u32 side_bit(const AddressMap *map) { return (u32)__builtin_ctzll(map->side); }

static Status check_side(const Reader *r, AddressMap *map, u64 channels) {
    MapUnit *slice = &map->slice;
    if (!map->side) return STATUS_OK;
    if (!slice->given || !slice->interleave || channels % 2)
        return mistake(r, r->text, "sides are of an interleaved slice, and of an even number of channels");
    if (side_bit(map) < slice->low) return mistake(r, r->text, "bits of the side are above the interleaved block's");
    slice->count /= 2;
    return STATUS_OK;
}

static Status check_map(const Reader *r, const GpuModel *model, AddressMap *map) {
    u64 channels = model->dram_channels, slices = model->l2_slices;
    if (!channels || slices < channels || slices % channels || !is_power(model->dram_row) || !model->dram_banks)
        return mistake(r, r->text, "slices are a multiple of the channels, rows a power of two");
    map->slices_per_channel = slices / channels;
    bool by_slice = map->slice.given && map->slice.interleave;
    if (by_slice && map->channel.given) return mistake(r, r->text, "an interleaved slice says which channel");
    if (map->bank.given && map->bank.interleave) return mistake(r, r->text, "banks are not interleaved");
    if (!by_slice) TRY(check_unit(r, &map->channel, channels, true, "channel is missing"));
    TRY(check_unit(r, &map->slice, by_slice ? slices : map->slices_per_channel, false, "slice is missing"));
    TRY(check_unit(r, &map->bank, model->dram_banks, false, "bank is missing"));
    TRY(make_local(r, by_slice ? &map->slice : &map->channel, &map->slice));
    TRY(make_local(r, by_slice ? &map->slice : &map->channel, &map->bank));
    const MapUnit *s = &map->slice, *b = &map->bank;
    if (!by_slice && s->given && b->given && s->low < b->low + b->bits && b->low < s->low + s->bits)
        return mistake(r, r->text + b->column - 1, "a bit of the first term is the slice's");
    TRY(check_side(r, map, channels));
    u32 low = lowest_bit(&map->bank, lowest_bit(&map->slice, lowest_bit(&map->channel, 12)));
    if (low < SECTOR_BITS) return mistake(r, r->text, "bits 0 to 4 are within a sector");
    map->granule = 1u << low;
    map->row_bits = (u8)__builtin_ctzll(model->dram_row);
    return STATUS_OK;
}

Status address_map_parse(const GpuModel *model, const char *file, AddressMap *map, Diag *diag) {
    Reader r = {.text = model->address_map, .at = model->address_map, .file = file, .diag = diag};
    *map = (AddressMap){0};
    TRY(read_map(&r, map));
    return check_map(&r, model, map);
}

static u64 take_out(u64 value, u32 low, u32 bits) {
    if (!bits) return value;
    u64 below = value & ((1ull << low) - 1);
    return low + bits >= ADDRESS_BITS ? below : value >> (low + bits) << low | below;
}

// Neighbouring blocks of 2^low bytes go to different units, `count` of them in turn; a hash of the turn says where it
// begins. What is left is the turn and the place in the block.
static u32 interleave(const MapUnit *unit, u64 address, u64 *turn) {
    u64 block = address >> unit->low;
    *turn = block / unit->count;
    u64 at = block - *turn * unit->count + ((hash_u64(*turn) >> 32) * unit->count >> 32);
    return (u32)(at < unit->count ? at : at - unit->count);
}

static u32 evaluate(const MapUnit *unit, u64 address, u64 local) {
    u64 value = 0, hashed = unit->step[0].source == MAP_LOCAL ? local : address;
    for (u32 i = 0; i < unit->steps; i++) {
        const MapStep *s = &unit->step[i];
        u64 v = (s->source == MAP_BITS ? address : s->source == MAP_LOCAL ? local : hashed) >> s->shift;
        v = (s->source == MAP_HASH ? hash_u64(v) : v) & s->mask;
        value = s->add ? value + v : value ^ v;
    }
    return (u32)(value & (unit->count - 1));
}

// Of interleave(a, b) bits a and b change places, so that blocks of 2^b bytes alternate between two units.
static u64 exchange(const MapUnit *unit, u64 address) {
    u64 differ = (address >> unit->low ^ address >> unit->first) & 1;
    return address ^ (differ << unit->low | differ << unit->first);
}

static u64 rejoin(u64 number, u64 address, u32 low) { return number << low | (address & ((1ull << low) - 1)); }

// Also the address within the channel.
static u32 find_slice(const AddressMap *map, u64 address, u64 *local, u64 *in_channel) {
    u64 turn;
    u32 per = (u32)map->slices_per_channel, channel = 0, slice;
    *in_channel = address;
    if (map->slice.interleave) {
        u32 first = 0;
        address = exchange(&map->slice, address);
        if (map->side) {
            first = __builtin_parityll(address & map->side) ? (u32)map->slice.count : 0;
            address = take_out(address, side_bit(map), 1);
        }
        slice = first + interleave(&map->slice, address, &turn);
        *local = rejoin(turn, address, map->slice.low);
        *in_channel = per == 1 ? *local : rejoin(turn * per + slice % per, address, map->slice.low);
        return slice;
    }
    if (map->channel.interleave) {
        u64 exchanged = exchange(&map->channel, address);
        channel = interleave(&map->channel, exchanged, &turn);
        *in_channel = rejoin(turn, exchanged, map->channel.low);
    } else if (map->channel.given) {
        channel = evaluate(&map->channel, address, address);
        *in_channel = take_out(address, map->channel.low, map->channel.bits);
    }
    *local = take_out(*in_channel, map->slice.low, map->slice.bits);
    return channel * per + (map->slice.given ? evaluate(&map->slice, address, *in_channel) : 0);
}

u32 address_map_slice(const AddressMap *map, u64 address, u64 *local) {
    u64 in_channel;
    return find_slice(map, address, local, &in_channel);
}

AddressPlace address_map_place(const AddressMap *map, u64 address) {
    AddressPlace p = {0};
    u64 in_channel;
    p.slice = find_slice(map, address, &p.local, &in_channel);
    p.channel = p.slice / (u32)map->slices_per_channel;
    if (map->bank.given) p.bank = evaluate(&map->bank, address, in_channel);
    p.row = take_out(in_channel, map->bank.low, map->bank.bits) >> map->row_bits;
    return p;
}
