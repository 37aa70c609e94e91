// SPDX-License-Identifier: Apache-2.0
#include "sim/texture_fetch.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "sim/exec/access.h"
#include "sim/time/trace.h"

const TextureGeometry texture_geometries[9] = {
    [GEOM_1D - GEOM_1D] = {.dims = 1},
    [GEOM_2D - GEOM_1D] = {.dims = 2},
    [GEOM_3D - GEOM_1D] = {.dims = 3},
    [GEOM_A1D - GEOM_1D] = {.dims = 1, .layered = true},
    [GEOM_A2D - GEOM_1D] = {.dims = 2, .layered = true},
    [GEOM_CUBE - GEOM_1D] = {.dims = 3, .cube = true},
    [GEOM_ACUBE - GEOM_1D] = {.dims = 3, .layered = true, .cube = true},
};

// --- one instruction -----------------------------------------------------------------------------------------------
void texture_begin(TextureAccess *a, Exec *x) {
    a->x = x;
    a->texture = NULL;
    a->handle = 0;
    a->bytes = 0;
    a->sectors.count = a->sectors.quad_count = a->sectors.looked_up = 0;
    memset(a->sectors.used, 0, sizeof a->sectors.used);
}

void texture_end(TextureAccess *a) {
    PcCounters *c = a->x->count;
    c->requests++;
    c->sectors += a->sectors.looked_up;
    c->bytes += a->bytes;
    if (WL_LIKELY(!a->x->trace)) return;
    u64 sector[512];
    u32 count = 0;
    for (u32 at = 0; at < 512; at++)
        if (a->sectors.used[at >> 6] >> (at & 63) & 1) sector[count++] = a->sectors.sector[at];
    bool apart = a->texture && !a->texture->tiled;
    trace_sectors(a->x->trace, sector, count, a->sectors.looked_up, a->bytes, apart);
}

static void use_level(TextureAccess *a, u32 level) {
    const SimTexture *t = a->texture;
    a->level = level ? t->levels[level] : (SimTextureLevel){t->data, t->width, t->height, t->depth, t->pitch, t->slice};
}

bool texture_bind(TextureAccess *a, u32 lane, u64 handle) {
    a->lane = lane;
    if (a->texture && a->handle == handle) return true;
    a->handle = handle;
    a->texture = sim_texture_get(a->x->grid->sim, handle);
    if (a->texture)
        use_level(a, 0);
    else
        a->x->fault = (Fault){.kind = FAULT_BAD_HANDLE, .lane = (u8)lane, .address = handle};
    return a->texture != NULL;
}

static void quad_add(SectorSet *set, u32 quad, u64 sector) {
    if (quad != set->quad) set->quad_count = 0;
    set->quad = quad;
    for (u32 i = 0; i < set->quad_count; i++)
        if (set->of_quad[i] == sector) return;
    set->of_quad[set->quad_count++] = sector;
    set->looked_up++;
}

static void sector_add(SectorSet *set, u32 lane, u64 address) {
    u64 sector = address >> 5;
    quad_add(set, lane / 4, sector);
    u32 at = (u32)((sector * 0x9e3779b97f4a7c15ull) >> 55);
    for (; set->used[at >> 6] >> (at & 63) & 1; at = (at + 1) & 511)
        if (set->sector[at] == sector) return;
    set->used[at >> 6] |= 1ull << (at & 63);
    set->sector[at] = sector;
    set->count++;
}

// Where a GPU has byte `x` of row `y` of a CUDA array with at least two dimensions that begins at `base`: in tiles. A
// sector is 16 bytes of two rows, and comes from DRAM with that of the next two rows (an H200: texture/near/* and
// texture/fetched/* of bench/hwref/h200-texture.tsv). That four rows of 32 bytes make a line, and eight of 64 a tile,
// was not measured. Only caches can tell.
enum { TILE_WIDTH = 64, TILE_ROWS = 8 };
static u64 tile_address(u64 base, u64 pitch, u64 x, u64 y) {
    u64 tile = base + y / TILE_ROWS * TILE_ROWS * pitch + x / TILE_WIDTH * (TILE_WIDTH * TILE_ROWS);
    return tile + (x % 64 / 32 * 256 | y % 8 / 4 * 128 | x % 32 / 16 * 64 | y % 4 / 2 * 32 | y % 2 * 16 | x % 16);
}

// Host bytes of a device address, by the allocation this instruction hit last where it can; `cached`: its address for
// caches.
static u8 *place(TextureAccess *a, u64 address, u64 cached, u32 bytes, bool store) {
    const PcState *s = pc_state(a->x);
    sector_add(&a->sectors, a->lane, cached);
    a->bytes += bytes;
    u64 at = address - s->start;
    bool known = s->generation == a->x->grid->sim->generation && at < s->size && bytes <= s->size - at;
    if (known && !(address & (bytes - 1)) && !(store && s->read_only))
        return (u8 *)(uintptr_t)(address + (u64)s->delta);
    u8 space;
    return access_resolve(a->x, a->lane, address, bytes, SPACE_GLOBAL, store, &space);
}

// --- texels --------------------------------------------------------------------------------------------------------
f32 float_from_half(u32 h) {
    u32 exponent = h >> 10 & 31, fraction = h & 1023;
    f32 magnitude = exponent == 31 ? (fraction ? NAN : INFINITY)
                    : exponent     ? ldexpf((f32)(1024 + fraction), (int)exponent - 25)
                                   : ldexpf((f32)fraction, -24);
    return h & 0x8000 ? -magnitude : magnitude;
}

u32 half_from_float(f32 value) {
    u32 sign = signbit(value) ? 0x8000 : 0;
    f32 magnitude = fabsf(value);
    if (isnan(value)) return 0x7fff;
    if (magnitude >= 65520.0f) return sign | 0x7c00;
    if (magnitude < 0x1p-14f) return sign | (u32)nearbyintf(magnitude * 0x1p24f);
    int exponent;
    f32 fraction = frexpf(magnitude, &exponent);    // [0.5, 1)
    u32 digits = (u32)nearbyintf(fraction * 2048);  // 1024..2048: a carry moves into the exponent by itself
    return sign | (((u32)(exponent + 13) << 10) + digits);
}

static u32 bits_of(f32 value) {
    u32 bits;
    memcpy(&bits, &value, 4);
    return bits;
}

static f32 float_of(u32 bits) {
    f32 value;
    memcpy(&value, &bits, 4);
    return value;
}

static bool yields_floats(const SimTexture *t) { return t->channel_kind == CHANNEL_FLOAT || t->read_normalized; }

// One channel as the texture unit returns it.
static u32 decode_channel(const SimTexture *t, const u8 *from) {
    u32 raw = 0, bits = t->channel_bits;
    memcpy(&raw, from, bits / 8);
    if (t->channel_kind == CHANNEL_FLOAT) return bits == 16 ? bits_of(float_from_half(raw)) : raw;
    u32 shift = 32 - bits;
    i32 value = (i32)(raw << shift) >> shift;
    if (!t->read_normalized) return t->channel_kind == CHANNEL_SIGNED ? (u32)value : raw;
    if (t->channel_kind == CHANNEL_UNSIGNED) return bits_of((f32)raw / (f32)(bits == 8 ? 255 : 65535));
    return bits_of(fmaxf((f32)value / (f32)(bits == 8 ? 127 : 32767), -1));
}

static u32 texel_bytes(const SimTexture *t) { return (u32)t->channels * t->channel_bits / 8; }

// Measured on an H200: all that a texel does not have is 0, the fourth component too.
static void missing_channels(const SimTexture *t, u32 out[4]) {
    for (u32 c = t->channels; c < 4; c++) out[c] = 0;
}

static bool read_texel(TextureAccess *a, u64 address, u64 cached, u32 out[4]) {
    const SimTexture *t = a->texture;
    const u8 *from = place(a, address, cached, texel_bytes(t), false);
    if (!from) return false;
    for (u32 c = 0; c < t->channels; c++)
        out[c] = t->srgb && c < 3 ? bits_of(float_from_half(texture_srgb[from[c]]))
                                  : decode_channel(t, from + c * t->channel_bits / 8);
    missing_channels(t, out);
    return true;
}

// Towards zero.
static u32 half_cut(f32 value) {
    u32 half = half_from_float(value);
    return half - (fabsf(float_from_half(half)) > fabsf(value));
}

// The border colour takes part as the texels do: normalised to their precision, for integers as the bits that were
// given.
static u32 border_channel(const SimTexture *t, f32 value) {
    if (t->channel_kind == CHANNEL_FLOAT && t->channel_bits == 16) return bits_of(float_from_half(half_cut(value)));
    if (!t->read_normalized) return bits_of(value);
    bool is_signed = t->channel_kind == CHANNEL_SIGNED;
    f32 unit = (f32)((1u << (t->channel_bits - is_signed)) - 1), low = is_signed ? -1 : 0;
    return bits_of(nearbyintf(fminf(fmaxf(value, low), 1) * unit) / unit);
}

static void border_texel(const SimTexture *t, u32 out[4]) {
    for (u32 c = 0; c < t->channels; c++) out[c] = border_channel(t, t->border[c]);
    missing_channels(t, out);
}

// --- addressing ----------------------------------------------------------------------------------------------------
// A fetch with its coordinates made plain: texel units, a layer or face, and how to leave the texture.
typedef struct Footprint {
    f64 at[3];
    i64 size[3];
    u8 mode[3];  // SimAddressMode
    u32 dims;
    u64 layer;
} Footprint;

static i64 texture_size(const SimTextureLevel *level, u32 dim) {
    u32 size = dim == 0 ? level->width : dim == 1 ? level->height : level->depth;
    return size ? size : 1;
}

// Direction to face and position on it: the table of the CUDA Programming Guide, "Cubemap Textures".
static u32 cube_face(const f32 v[3], f64 position[2]) {
    f64 x = v[0], y = v[1], z = v[2], ax = fabs(x), ay = fabs(y), az = fabs(z), m, s, t;
    u32 face;
    if (az >= ax && az >= ay)  // the later axis where two are equal (measured on an H200)
        face = z >= 0 ? 4 : 5, m = az, s = z >= 0 ? x : -x, t = -y;
    else if (ay >= ax)
        face = y >= 0 ? 2 : 3, m = ay, s = x, t = y >= 0 ? z : -z;
    else
        face = x >= 0 ? 0 : 1, m = ax, s = x >= 0 ? -z : z, t = -y;
    if (m == 0) m = 1;
    position[0] = (s / m + 1) / 2;
    position[1] = (t / m + 1) / 2;
    return face;
}

static u64 layer_of(const SimTexture *t, const TextureGeometry *g, u32 layer) {
    u32 layers = g->cube ? t->layers / 6 : t->layers;
    if (!g->layered || layers == 0) return 0;
    return layer < layers ? layer : layers - 1;
}

// Normalised coordinates have 21 bits of fraction (measured on an H200). Those that repeat are brought near the texture
// before they are scaled: nothing is lost for large ones.
static f64 reduce(f64 at, u8 mode) {
    at = floor(at * 0x1p21) * 0x1p-21;
    if (mode == ADDRESS_WRAP) return at - floor(at);
    if (mode == ADDRESS_MIRROR) return at - 2 * floor(at / 2);
    return at;
}

// Measured on an H200: one dimension is filtered as two, with the second coordinate 0 on the edge of the only row. That
// shows where the second mode is the border.
static void half_outside(const SimTexture *t, const TextureGeometry *g, const TexturePoint *p, Footprint *f) {
    if (f->dims != 1 || g->layered || t->address[1] != ADDRESS_BORDER || t->linear_memory || !p->is_float) return;
    f->dims = 2;
    f->size[1] = 1;
    f->mode[1] = ADDRESS_BORDER;
}

static Footprint footprint(const TextureAccess *a, const TextureGeometry *g, const TexturePoint *p) {
    const SimTexture *t = a->texture;
    Footprint f = {.dims = g->cube ? 2 : g->dims, .layer = layer_of(t, g, p->layer)};
    f64 on_face[2];
    bool normalized = (t->normalized_coords || g->cube) && p->is_float;
    if (g->cube) f.layer = f.layer * 6 + cube_face(p->f, on_face);
    for (u32 d = 0; d < f.dims; d++) {
        f.size[d] = texture_size(&a->level, d);
        u8 mode = t->address[d];
        if (!normalized && mode != ADDRESS_BORDER) mode = ADDRESS_CLAMP;  // wrap and mirror need normalised ones
        f64 at = g->cube ? on_face[d] : p->is_float ? (f64)p->f[d] : (f64)p->i[d];
        // Measured on an H200: beyond every texture, but 0 where coordinates repeat, and NaN is 0.
        if (isnan(at) || (isinf(at) && (mode == ADDRESS_WRAP || mode == ADDRESS_MIRROR))) at = 0;
        at = fmin(fmax(at, -0x1p40), 0x1p40);
        f.at[d] = normalized ? reduce(at, mode) * (f64)f.size[d] : at;
        f.at[d] = fmin(fmax(f.at[d], -0x1p40), 0x1p40) + p->offset[d];
        f.mode[d] = mode;
    }
    half_outside(t, g, p, &f);
    return f;
}

// The texel's index in the texture, or -1 for the border.
static i64 apply_mode(i64 index, i64 size, u8 mode) {
    if (index >= 0 && index < size) return index;
    if (mode == ADDRESS_BORDER) return -1;
    if (mode == ADDRESS_CLAMP) return index < 0 ? 0 : size - 1;
    i64 period = mode == ADDRESS_WRAP ? size : 2 * size, at = index % period;
    if (at < 0) at += period;
    return at < size ? at : period - 1 - at;
}

static bool fetch_texel(TextureAccess *a, const Footprint *f, const i64 index[3], u32 out[4]) {
    const SimTexture *t = a->texture;
    const u64 strides[3] = {texel_bytes(t), a->level.pitch, a->level.slice};
    u64 base = a->level.data + f->layer * a->level.slice, at[3] = {0};
    for (u32 d = 0; d < f->dims; d++) {
        i64 found = apply_mode(index[d], f->size[d], f->mode[d]);
        if (found < 0) return border_texel(t, out), true;
        at[d] = (u64)found * strides[d];
    }
    base += at[2];
    u64 address = base + at[0] + at[1];
    bool tiled = t->tiled && f->dims > 1;
    return read_texel(a, address, tiled ? tile_address(base, a->level.pitch, at[0], at[1] / a->level.pitch) : address,
                      out);
}

// --- filtering -----------------------------------------------------------------------------------------------------
static bool sample_nearest(TextureAccess *a, const Footprint *f, u32 out[4]) {
    i64 index[3] = {0};
    for (u32 d = 0; d < f->dims; d++) index[d] = (i64)floor(f->at[d]);
    return fetch_texel(a, f, index, out);
}

// The lower texel of each pair and the weight of the upper one in 1/256: 8 bits of fraction, rounded to nearest.
static void split_linear(const Footprint *f, i64 low[3], u32 weight[3]) {
    for (u32 d = 0; d < f->dims; d++) {
        i64 fixed = (i64)floor((f->at[d] - 0.5) * 256 + 0.5);
        low[d] = fixed >> 8;
        weight[d] = (u32)fixed & 255;
    }
}

// What is clamped is one texel, not two equal ones: the shares are rounded differently (measured on an H200).
static void clamp_corners(const Footprint *f, i64 low[3], u32 weight[3]) {
    for (u32 d = 0; d < f->dims; d++) {
        if (f->mode[d] != ADDRESS_CLAMP || (low[d] >= 0 && low[d] < f->size[d] - 1)) continue;
        low[d] = low[d] < 0 ? 0 : f->size[d] - 1;
        weight[d] = 0;
    }
}

// The weights of the 2^dims corners, `total` together, in 1/256: found by measurement on an H200 (no difference in 226
// fetches of three dimensions): the third dimension divides exactly, then the first, then the second, where the corner
// farther out in both is rounded and the other one gets the rest.
static void corner_weights(const u32 weight[3], i32 total, i32 share[8]) {
    i32 back = (total * (i32)weight[2] + 127) >> 8;
    for (u32 z = 0; z < 2; z++) {
        i32 all = z ? back : total - back, *at = share + 4 * z;
        i32 right = (all * (i32)weight[0] + 128) >> 8, left = all - right;
        at[3] = (right * (i32)weight[1] + 128) >> 8;
        at[1] = right - at[3];
        at[0] = (left * (i32)(256 - weight[1]) + 128) >> 8;
        at[2] = left - at[0];
    }
}

// Texels are filtered as halves (16-bit floats, sRGB), 16-bit normalised integers or floats (measured too): the unit of
// one, 0 for floats.
static f64 filter_unit(const SimTexture *t, u32 channel) {
    if (!t->read_normalized || (t->srgb && channel < 3)) return 0;
    return t->channel_kind == CHANNEL_SIGNED ? 32767 : 65535;
}

static bool filters_halves(const SimTexture *t, u32 channel) {
    return filter_unit(t, channel) == 0 && (t->channel_bits == 16 || t->srgb);
}

static f64 filter_input(const SimTexture *t, u32 channel, u32 texel) {
    f64 unit = filter_unit(t, channel);
    if (unit == 0) return (f64)float_of(texel);
    f64 steps = (f64)((1u << (t->channel_bits - (t->channel_kind == CHANNEL_SIGNED))) - 1);
    // 127 steps become 32767 by shifts: 2^8 + 2 + 2^-7 each (measured on an H200).
    return nearbyint(float_of(texel) * steps) * (steps == 127 ? 258.0078125 : unit / steps);
}

// To a float of `bits` bits, halfway cases away from zero.
static f64 round_away(f64 value, int bits, int smallest) {
    int exponent;
    if (!isfinite(value) || value == 0) return value;
    frexp(value, &exponent);
    int unit = exponent - bits < smallest ? smallest : exponent - bits;
    return copysign(ldexp(floor(ldexp(fabs(value), -unit) + 0.5), unit), value);
}

static u32 filter_output(const SimTexture *t, u32 channel, f64 sum) {
    f64 unit = filter_unit(t, channel), value = sum / 256;
    if (unit != 0) return bits_of((f32)floor(value + 0.5) / (f32)unit);
    if (filters_halves(t, channel)) return bits_of(float_from_half(half_from_float((f32)round_away(value, 11, -24))));
    return bits_of((f32)round_away(value, 24, -149));
}

// The sum of up to four texels of a slice, one channel, times their shares. Measured on an H200: halves are brought to
// the exponent of the largest, where they lose what is below 1/16 of that one's last place; all else is exact, but for
// signed bytes, of which 1 in 100 is off by 1/32767.
static f64 mix_slice(const SimTexture *t, const u32 texel[4][4], const i32 share[4], u32 corners, u32 channel) {
    f64 value[4], largest = 0, sum = 0;
    for (u32 k = 0; k < corners; k++) {
        value[k] = share[k] ? filter_input(t, channel, texel[k][channel]) : 0;
        if (fabs(value[k]) > largest) largest = fabs(value[k]);
    }
    bool halves = filters_halves(t, channel) && largest > 0 && isfinite(largest);
    f64 step = halves ? exp2(logb(largest) - 14) : 0;
    for (u32 k = 0; k < corners; k++) sum += (halves ? trunc(value[k] / step) * step : value[k]) * share[k];
    return sum;
}

// Values that are mixed, one for each component: in units of filter_unit, times 256.
typedef struct Mixed {
    f64 sum[4];
} Mixed;

// The texels of a level that has `total` / 256 of the result.
static bool mix_linear(TextureAccess *a, const Footprint *f, i32 total, Mixed *out) {
    i64 low[3] = {0};
    u32 weight[3] = {0};
    i32 share[8];
    u32 texel[8][4], corners = 1u << f->dims;
    split_linear(f, low, weight);
    clamp_corners(f, low, weight);
    corner_weights(weight, total, share);
    for (u32 corner = 0; corner < corners; corner++) {
        i64 index[3] = {0};
        if (share[corner] == 0) continue;
        for (u32 d = 0; d < f->dims; d++) index[d] = low[d] + (corner >> d & 1);
        if (!fetch_texel(a, f, index, texel[corner])) return false;
    }
    for (u32 c = 0; c < 4; c++)
        for (u32 first = 0; first < corners; first += 4)
            out->sum[c] += mix_slice(a->texture, &texel[first], &share[first], corners < 4 ? corners : 4, c);
    return true;
}

static bool mix_nearest(TextureAccess *a, const Footprint *f, i32 share, Mixed *out) {
    u32 texel[4];
    if (!sample_nearest(a, f, texel)) return false;
    for (u32 c = 0; c < 4; c++) out->sum[c] += filter_input(a->texture, c, texel[c]) * share;
    return true;
}

static bool mixes(const SimTexture *t) { return t->filter == FILTER_LINEAR && yields_floats(t); }

// One level.
static bool sample_level(TextureAccess *a, const TextureGeometry *g, const TexturePoint *p, u32 level, u32 out[4]) {
    Mixed mixed = {0};
    use_level(a, level);
    Footprint f = footprint(a, g, p);
    if (!mixes(a->texture)) return sample_nearest(a, &f, out);
    if (!mix_linear(a, &f, 256, &mixed)) return false;
    for (u32 c = 0; c < 4; c++) out[c] = filter_output(a->texture, c, mixed.sum[c]);
    return true;
}

// Two neighbouring levels; `weight` of the upper one in 1/256.
static bool sample_between(TextureAccess *a, const TextureGeometry *g, const TexturePoint *p, u32 level, u32 weight,
                           u32 out[4]) {
    Mixed mixed = {0};
    for (u32 upper = 0; upper < 2; upper++) {
        use_level(a, level + upper);
        Footprint f = footprint(a, g, p);
        i32 share = (i32)(upper ? weight : 256 - weight);
        if (!(mixes(a->texture) ? mix_linear : mix_nearest)(a, &f, share, &mixed)) return false;
    }
    for (u32 c = 0; c < 4; c++) out[c] = filter_output(a->texture, c, mixed.sum[c]);
    return true;
}

// By integer coordinates, from plain memory and arrays: beyond the end there are zeros, whatever the modes say; arrays
// of one dimension give zeros only (measured on an H200; CUDA has this access for plain memory).
static bool sample_texel(TextureAccess *a, const Footprint *f, u32 out[4]) {
    i64 index[3] = {0};
    bool inside = f->dims > 1 || a->texture->linear_memory;
    for (u32 d = 0; d < f->dims; d++) {
        index[d] = (i64)floor(f->at[d]);
        inside &= index[d] >= 0 && index[d] < f->size[d];
    }
    if (inside) return fetch_texel(a, f, index, out);
    memset(out, 0, 4 * sizeof *out);
    return true;
}

// --- levels of detail ------------------------------------------------------------------------------------------------
// The base two logarithm of the longer of the two steps in texels: how many times coarser a level may be.
static f64 gradient_lod(const TextureAccess *a, const TextureGeometry *g, const TexturePoint *p) {
    f64 across = 0, down = 0;
    for (u32 d = 0; d < g->dims; d++) {
        f64 size = (f64)texture_size(&a->level, d);
        across += p->dx[d] * size * (p->dx[d] * size);
        down += p->dy[d] * size * (p->dy[d] * size);
    }
    return 0.5 * log2(fmax(across, down));
}

static i64 fixed_lod(f64 lod) { return (i64)fmin(fmax(lod * 256, -1e6), 1e6); }  // towards zero; NaN is the finest

// In 1/256. Measured on an H200: each part loses what is below 1/256; the bias counts where a level is asked for.
static i64 lod_of(const TextureAccess *a, const TextureGeometry *g, const TexturePoint *p) {
    const SimTexture *t = a->texture;
    i64 lod = 0, low = fixed_lod(t->level_min), high = fixed_lod(t->level_max), last = (t->level_count - 1) * 256;
    if (p->detail == DETAIL_LEVEL) lod = fixed_lod(p->lod);
    if (p->detail == DETAIL_GRADIENT) lod = fixed_lod(gradient_lod(a, g, p));
    if (p->detail != DETAIL_BASE) lod += fixed_lod(t->level_bias);
    if (lod > high) lod = high;
    if (lod < low) lod = low;
    return lod < 0 ? 0 : lod > last ? last : lod;
}

static bool sample_mipmap(TextureAccess *a, const TextureGeometry *g, const TexturePoint *p, u32 out[4]) {
    const SimTexture *t = a->texture;
    use_level(a, 0);
    i64 lod = lod_of(a, g, p);
    if (t->mip_filter == FILTER_POINT || !yields_floats(t)) return sample_level(a, g, p, (u32)(lod + 128) >> 8, out);
    u32 weight = (u32)lod & 255;
    return weight ? sample_between(a, g, p, (u32)lod >> 8, weight, out) : sample_level(a, g, p, (u32)lod >> 8, out);
}

bool texture_sample(TextureAccess *a, const TextureGeometry *g, const TexturePoint *p, u32 out[4]) {
    const SimTexture *t = a->texture;
    if (t->level_count > 1 && p->is_float) return sample_mipmap(a, g, p, out);
    if (!t->linear_memory && p->is_float) return sample_level(a, g, p, 0, out);
    Footprint f = footprint(a, g, p);
    return sample_texel(a, &f, out);
}

bool texture_gather(TextureAccess *a, const TextureGeometry *g, const TexturePoint *p, u32 component, u32 out[4]) {
    static const u8 right[4] = {0, 1, 1, 0}, next_row[4] = {1, 1, 0, 0};
    use_level(a, 0);  // whatever the levels are clamped to (measured on an H200)
    Footprint f = footprint(a, g, p);
    i64 low[3] = {0};
    u32 weight[3];
    split_linear(&f, low, weight);
    for (u32 k = 0; k < 4; k++) {
        i64 index[3] = {low[0] + right[k], low[1] + next_row[k]};
        u32 texel[4];
        if (!fetch_texel(a, &f, index, texel)) return false;
        // Through the filter's format, as all that is gathered.
        out[k] = yields_floats(a->texture)
                     ? filter_output(a->texture, component, 256 * filter_input(a->texture, component, texel[component]))
                     : texel[component];
    }
    return true;
}

// --- surfaces ------------------------------------------------------------------------------------------------------
static u8 *surface_fault(TextureAccess *a, const TexturePoint *p, const TextureGeometry *g) {
    const SimTexture *t = a->texture;
    Grid *grid = a->x->grid;
    char place_text[64] = "";
    for (u32 d = 0, n = 0; d < g->dims && n < sizeof place_text; d++)
        n += (u32)snprintf(place_text + n, sizeof place_text - n, "%s%d", d ? ", " : "", p->i[d]);
    snprintf(
        grid->message, sizeof grid->message,
        "surface access at (%s), layer %u is outside of %u x %u x %u texels of %u bytes, %u layers (x counts bytes)",
        place_text, p->layer, t->width, t->height, t->depth, texel_bytes(t), t->layers);
    a->x->message = grid->message;
    a->x->fault = (Fault){.kind = FAULT_BAD_HANDLE, .lane = (u8)a->lane, .address = a->handle};
    return NULL;
}

u8 *surface_place(TextureAccess *a, const TextureGeometry *g, const TexturePoint *p, u32 bytes, SurfaceMode mode,
                  bool store) {
    const SimTexture *t = a->texture;
    const u64 strides[3] = {1, t->pitch, t->slice};
    i64 layers = t->layers ? t->layers : 1, layer = g->layered ? p->layer : 0;
    bool outside = layer >= layers;
    if (outside) layer = layers - 1;
    u64 base = t->data + (u64)layer * t->slice, offset[3] = {0};
    for (u32 d = 0; d < g->dims; d++) {
        i64 last = d == 0 ? (i64)t->width * texel_bytes(t) - bytes : texture_size(&a->level, d) - 1, at = p->i[d];
        bool out = at < 0 || at > last;
        outside |= out;
        if (out) at = at < 0 || last < 0 ? 0 : last;
        offset[d] = (u64)at * strides[d];
    }
    if (outside && mode == SURFACE_ZERO) return NULL;
    if (outside && mode == SURFACE_TRAP) return surface_fault(a, p, g);
    base += offset[2];
    u64 address = base + offset[0] + offset[1];
    bool tiled = t->tiled && g->dims > 1;
    return place(a, address, tiled ? tile_address(base, t->pitch, offset[0], offset[1] / t->pitch) : address, bytes,
                 store);
}
