// SPDX-License-Identifier: Apache-2.0
// Textures and surfaces (PTX ISA 9.0, 9.7.10, 9.7.11): operands to and from the lanes; the texture unit itself is
// texture_fetch.c. The operand list holds destination elements (suld, tex, tld4), then coordinates, then offsets or
// source elements (sust).
#include "sim/exec/access.h"
#include "sim/texture_fetch.h"

// SimInsn.mods
typedef struct TextureMods {
    u16 geometry : 4;  // index in texture_geometries
    u16 float_coords : 1;
    u16 halves : 2;  // 1: results are f16, 2: f16x2
    u16 scalar : 1;  // one coordinate, not in braces: in src[1]
    u16 coords : 3;  // elements of the coordinate vector
    u16 offset : 1;  // texel offsets follow the coordinates
    u16 choice : 2;  // component of tld4, SurfaceMode
    u16 detail : 2;  // TextureDetail: operands behind the coordinates
} TextureMods;

static TextureMods mods_of(const SimInsn *in) {
    TextureMods m;
    memcpy(&m, &in->mods, sizeof m);
    return m;
}

static u32 read32(const Exec *x, SimOperand operand, u32 lane) {
    return operand == SIM_NO_OPERAND ? 0 : (u32)exec_get_lane(x, operand, lane);
}

static void write_lane(const Exec *x, SimOperand operand, u32 lane, u64 value) {
    if (operand != SIM_NO_OPERAND) exec_set_lane(x, operand, lane, value);
}

static bool bind_lane(TextureAccess *a, const SimInsn *in, u32 lane) {
    u64 handle = in->src[0] == SIM_NO_OPERAND ? 0 : exec_get_lane(a->x, in->src[0], lane);
    return texture_bind(a, lane, handle);
}

// The coordinates of a lane; `list` starts at the coordinates.
static TexturePoint read_point(const Exec *x, const SimInsn *in, const SimOperand *list, u32 lane) {
    TextureMods m = mods_of(in);
    const TextureGeometry *g = &texture_geometries[m.geometry];
    TexturePoint p = {.is_float = m.float_coords};
    u32 first = g->layered;
    if (g->layered) p.layer = read32(x, list[0], lane);
    for (u32 d = 0; d < g->dims; d++) {
        u32 bits = read32(x, m.scalar ? in->src[1] : list[first + d], lane);
        p.i[d] = (i32)bits;
        memcpy(&p.f[d], &bits, 4);
    }
    for (u32 d = 0; m.offset && d < g->dims && d < 3; d++) p.offset[d] = (i32)read32(x, list[m.coords + d], lane);
    return p;
}

static f32 read_float(const Exec *x, SimOperand operand, u32 lane) {
    u32 bits = read32(x, operand, lane);
    f32 value;
    memcpy(&value, &bits, 4);
    return value;
}

// The level, or the gradients, which are vectors behind the coordinates or scalars of their own.
static void read_detail(const Exec *x, const SimInsn *in, const SimOperand *list, u32 lane, TexturePoint *p) {
    TextureMods m = mods_of(in);
    const TextureGeometry *g = &texture_geometries[m.geometry];
    u32 elements = (u32)(in->list_count - in->count - m.coords) / 2, scalar = 1 + m.scalar;
    p->detail = m.detail;
    if (m.detail == DETAIL_LEVEL) p->lod = read_float(x, in->src[scalar], lane);
    if (m.detail != DETAIL_GRADIENT) return;
    for (u32 d = 0; d < g->dims; d++) {
        const SimOperand *vector = list + m.coords + d;
        p->dx[d] = read_float(x, elements ? vector[0] : in->src[scalar], lane);
        p->dy[d] = read_float(x, elements ? vector[elements] : in->src[scalar + 1], lane);
    }
}

// --- tex, tld4 -----------------------------------------------------------------------------------------------------
static void write_results(const Exec *x, const SimInsn *in, const SimOperand *list, u32 lane, const u32 value[4]) {
    u32 halves = mods_of(in).halves, half[4] = {0};
    for (u32 c = 0; halves && c < 4; c++) {
        f32 wide;
        memcpy(&wide, &value[c], 4);
        half[c] = half_from_float(wide);
    }
    for (u32 k = 0; k < in->count; k++) {
        u32 packed = halves == 2 && k < 2 ? half[2 * k] | half[2 * k + 1] << 16 : half[k & 3];
        write_lane(x, list[k], lane, halves ? packed : value[k & 3]);
    }
}

static void texture(Exec *x, const SimInsn *in, u32 mask, bool gather) {
    TextureAccess a;
    TextureMods m = mods_of(in);
    const TextureGeometry *g = &texture_geometries[m.geometry];
    const SimOperand *list = exec_list(x, in);
    texture_begin(&a, x);
    for (u32 left = mask; left; left &= left - 1) {
        u32 l = (u32)__builtin_ctz(left), value[4];
        if (!bind_lane(&a, in, l)) return;
        TexturePoint p = read_point(x, in, list + in->count, l);
        if (m.detail) read_detail(x, in, list + in->count, l, &p);
        bool good = gather ? texture_gather(&a, g, &p, m.choice, value) : texture_sample(&a, g, &p, value);
        if (!good) return;
        write_results(x, in, list, l, value);
    }
    exec_set_pred(x, in->pred_dst, mask, mask);  // d|p: the texels are resident
    texture_end(&a);
}

static void tex(Exec *x, const SimInsn *in, u32 mask) { texture(x, in, mask, false); }
static void tld4(Exec *x, const SimInsn *in, u32 mask) { texture(x, in, mask, true); }

// The bracket [handle, {coordinates}]: fills what it tells. False: independent sampler, or a geometry without
// execution.
static bool select_group(const ExecShape *shape, const Operand *group, TextureMods *m) {
    m->geometry = (u16)((shape->form->mods[MOD_GEOM] - GEOM_1D) & 15);
    if (group->kind != OPERAND_GROUP || group->count != 2) return false;
    const Operand *coords = &shape->module->operands[group->ref + 1];
    m->scalar = coords->kind != OPERAND_VECTOR;
    m->coords = m->scalar ? 0 : (u16)(coords->count & 7);
    const TextureGeometry *g = &texture_geometries[m->geometry];
    u32 wanted = g->dims + g->layered;
    return g->dims && (m->scalar ? wanted == 1 : m->coords >= wanted);
}

static bool has_vector(const ExecShape *shape, u32 from) {
    for (u32 i = from; i < shape->insn->operands; i++)
        if (insn_operand(shape->module, shape->insn, i)->kind == OPERAND_VECTOR) return true;
    return false;
}

static ExecFn select_texture(const ExecShape *shape, SimInsn *in, ExecFn function, u32 scalars) {
    const Form *form = shape->form;
    TextureMods m = {.choice = (u16)(form->mods[MOD_TLD4_COMP] ? (form->mods[MOD_TLD4_COMP] - TLD4_COMP_R) & 3 : 0)};
    u16 detail = form->mods[MOD_TEX_LOD];
    bool grad = detail == TEX_LOD_GRAD;
    m.detail = grad ? DETAIL_GRADIENT : detail == TEX_LOD_LEVEL ? DETAIL_LEVEL : DETAIL_BASE;
    u32 plain = 2 + scalars + (grad ? 2 : 0);  // operands without offsets; more scalars would be a depth comparison
    m.float_coords = form->types[1] == TYPE_F32;
    m.halves = form->types[0] == TYPE_F16 ? 1 : form->types[0] == TYPE_F16X2 ? 2 : 0;
    m.offset = !grad && has_vector(shape, 2);
    if (shape->insn->operands > plain + m.offset || in->dst != SIM_NO_OPERAND) return NULL;
    if (!select_group(shape, insn_operand(shape->module, shape->insn, 1), &m)) return NULL;
    memcpy(&in->mods, &m, sizeof m);
    return function;
}

EXEC_SELECT(tex) {
    u16 lod = shape->form->mods[MOD_TEX_LOD];
    return select_texture(shape, in, tex, lod == TEX_LOD_LEVEL);
}

EXEC_SELECT(tld4) { return select_texture(shape, in, tld4, 0); }

// --- txq, suq ------------------------------------------------------------------------------------------------------
// Values of the enumerations of PTX ISA 9.0, 5.3.2 (those of OpenCL).
static u32 channel_data_type(const SimTexture *t) {
    u32 size = t->channel_bits == 8 ? 0 : t->channel_bits == 16 ? 1 : 2;
    if (t->channel_kind == CHANNEL_FLOAT) return size == 1 ? 0x10dd : 0x10de;
    if (t->read_normalized) return (t->channel_kind == CHANNEL_SIGNED ? 0x10d0 : 0x10d2) + size;
    return (t->channel_kind == CHANNEL_SIGNED ? 0x10d7 : 0x10da) + size;
}

static u32 channel_order(const SimTexture *t) {
    static const u32 orders[5] = {0, 0x10b0, 0x10b2, 0x10b4, 0x10b5};  // R, RG, RGB, RGBA
    return t->channels < 5 ? orders[t->channels] : 0;
}

static u32 address_mode(u8 mode) {
    static const u32 modes[] = {[ADDRESS_WRAP] = 0, [ADDRESS_MIRROR] = 1, [ADDRESS_CLAMP] = 3, [ADDRESS_BORDER] = 4};
    return mode < WL_COUNT(modes) ? modes[mode] : 0;
}

static u32 query(const SimTexture *t, u32 what) {
    switch (what + TXQ_WIDTH) {
    case TXQ_CHANNEL_DATA_TYPE: return channel_data_type(t);
    case TXQ_CHANNEL_ORDER: return channel_order(t);
    case TXQ_NORMALIZED_COORDS: return t->normalized_coords;
    case TXQ_ARRAY_SIZE: return t->layers;
    case TXQ_NUM_MIPMAP_LEVELS: return t->level_count ? t->level_count : 1;
    case TXQ_NUM_SAMPLES: return 1;
    case TXQ_FORCE_UNNORMALIZED_COORDS: return !t->normalized_coords;
    case TXQ_FILTER_MODE: return t->filter == FILTER_LINEAR;
    case TXQ_ADDR_MODE_0: return address_mode(t->address[0]);
    case TXQ_ADDR_MODE_1: return address_mode(t->address[1]);
    case TXQ_ADDR_MODE_2: return address_mode(t->address[2]);
    case TXQ_MEMORY_LAYOUT: return t->linear_memory;
    default: return 0;
    }
}

// Width, height and depth. Measured on an H200: layers count as the dimension that follows, cubes of a texture as one
// of 6 faces, rows of a texture are at least 1, and a level that is not there has none of anything.
static u32 query_size(const SimTexture *t, u32 what, bool surface, u32 level) {
    u32 layers = t->cubemap && !surface ? (t->layers > 6 ? t->layers / 6 : 0) : t->layers;
    u32 levels = t->level_count ? t->level_count : 1;
    const SimTextureLevel *l = level && level < levels ? &t->levels[level] : NULL;
    u32 width = l ? l->width : t->width, height = l ? l->height : t->height, depth = l ? l->depth : t->depth;
    if (level >= levels) return 0;
    if (what == TXQ_WIDTH) return width;
    if (what == TXQ_HEIGHT) return height ? height : layers ? layers : !surface;
    return depth ? depth : height ? layers : 0;
}

static void txq(Exec *x, const SimInsn *in, u32 mask) {
    TextureAccess a;
    bool size = in->mods + TXQ_WIDTH <= TXQ_DEPTH, surface = in->form_op == OP_SUQ;
    texture_begin(&a, x);
    for (u32 left = mask; left; left &= left - 1) {
        u32 l = (u32)__builtin_ctz(left), level = read32(x, in->src[1], l);
        if (!bind_lane(&a, in, l)) return;
        u32 value = size ? query_size(a.texture, in->mods + TXQ_WIDTH, surface, level) : query(a.texture, in->mods);
        write_lane(x, in->dst, l, value);
    }
}

EXEC_SELECT(txq) {
    in->mods = (u16)(shape->form->mods[MOD_TXQ] - TXQ_WIDTH);
    return txq;
}

// --- suld, sust, sured ---------------------------------------------------------------------------------------------
static void suld(Exec *x, const SimInsn *in, u32 mask) {
    TextureAccess a;
    TextureMods m = mods_of(in);
    u32 bytes = (u32)in->width * in->count, dsts = in->dst == SIM_NO_OPERAND ? in->count : 0;
    const SimOperand *list = exec_list(x, in), *dst = dsts ? list : &in->dst;
    texture_begin(&a, x);
    for (u32 left = mask; left; left &= left - 1) {
        u32 l = (u32)__builtin_ctz(left);
        if (!bind_lane(&a, in, l)) return;
        TexturePoint p = read_point(x, in, list + dsts, l);
        const u8 *from = surface_place(&a, &texture_geometries[m.geometry], &p, bytes, m.choice, false);
        if (!from && x->fault.kind) return;
        for (u32 k = 0; k < in->count; k++) {
            u64 value = 0;
            if (from) memcpy(&value, from + k * in->width, in->width);
            write_lane(x, dst[k], l, value);
        }
    }
    texture_end(&a);
}

static void sust(Exec *x, const SimInsn *in, u32 mask) {
    TextureAccess a;
    TextureMods m = mods_of(in);
    u32 bytes = (u32)in->width * in->count;
    const SimOperand *list = exec_list(x, in),
                     *src = in->list_count > m.coords ? list + m.coords : &in->src[1 + m.scalar];
    texture_begin(&a, x);
    for (u32 left = mask; left; left &= left - 1) {
        u32 l = (u32)__builtin_ctz(left);
        if (!bind_lane(&a, in, l)) return;
        TexturePoint p = read_point(x, in, list, l);
        u8 *to = surface_place(&a, &texture_geometries[m.geometry], &p, bytes, m.choice, true);
        if (!to && x->fault.kind) return;
        for (u32 k = 0; to && k < in->count; k++) {
            u64 value = src[k] == SIM_NO_OPERAND ? 0 : exec_get_lane(x, src[k], l);
            memcpy(to + k * in->width, &value, in->width);
        }
    }
    texture_end(&a);
}

static u64 reduce(u32 op, u8 type, u64 old, u64 value) {
    bool wide = type_bytes(type) == 8, is_signed = ptx_types[type].class == TYPE_CLASS_SINT;
    i64 a = wide        ? (i64)old
            : is_signed ? (i32)old
                        : (i64)(u32)old,
        b = wide        ? (i64)value
            : is_signed ? (i32)value
                        : (i64)(u32)value;
    bool less = wide && !is_signed ? old < value : a < b;
    switch (op) {
    case ATOM_OP_ADD: return old + value;
    case ATOM_OP_MIN: return less ? old : value;
    case ATOM_OP_MAX: return less ? value : old;
    case ATOM_OP_AND: return old & value;
    default: return old | value;
    }
}

static void sured(Exec *x, const SimInsn *in, u32 mask) {
    TextureAccess a;
    TextureMods m = mods_of(in);
    const SimOperand *list = exec_list(x, in);
    SimOperand source = in->src[1 + m.scalar];
    texture_begin(&a, x);
    for (u32 left = mask; left; left &= left - 1) {
        u32 l = (u32)__builtin_ctz(left);
        if (!bind_lane(&a, in, l)) return;
        TexturePoint p = read_point(x, in, list, l);
        u8 *at = surface_place(&a, &texture_geometries[m.geometry], &p, in->width, m.choice, true);
        if (!at && x->fault.kind) return;
        if (!at) continue;
        u64 old = 0;
        memcpy(&old, at, in->width);
        old = reduce(in->form->mods[MOD_ATOM_OP], in->form->types[0], old, exec_get_lane(x, source, l));
        memcpy(at, &old, in->width);
    }
    texture_end(&a);
}

// Formatted access (.p) is not executable.
static ExecFn select_surface(const ExecShape *shape, SimInsn *in, u32 group, ExecFn function) {
    const Form *form = shape->form;
    static const u8 modes[] = {SURFACE_TRAP, SURFACE_CLAMP, SURFACE_ZERO};
    u16 mode = form->mods[MOD_SURF_MODE];
    TextureMods m = {.choice = modes[mode ? (u32)(mode - SURF_MODE_TRAP) % 3 : 0]};
    if (form->mods[MOD_SURF_ADDR] != SURF_ADDR_B ||
        !select_group(shape, insn_operand(shape->module, shape->insn, group), &m))
        return NULL;
    memcpy(&in->mods, &m, sizeof m);
    in->width = (u8)type_bytes(form->types[0]);
    return function;
}

EXEC_SELECT(suld) { return select_surface(shape, in, 1, suld); }
EXEC_SELECT(sust) { return select_surface(shape, in, 0, sust); }
EXEC_SELECT(sured) { return select_surface(shape, in, 0, sured); }
