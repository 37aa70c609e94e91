// SPDX-License-Identifier: Apache-2.0
// Operands: registers to frame offsets, literals to broadcast constants, addresses to base and offset.
#include <string.h>

#include "sim/lower.h"

static u32 add_const(Lower *lo, ByteVec *area, Map *known, u64 value, u32 lane_bytes) {
    u64 *found = map_get(known, value);
    if (found) return (u32)*found;
    u32 offset = area->len;
    if (vec_reserve(area, LANES * lane_bytes) != STATUS_OK || map_put(known, value, offset) != STATUS_OK) {
        lo->status = STATUS_NO_MEMORY;
        return 0;
    }
    for (u32 l = 0; l < LANES; l++) memcpy(area->data + offset + l * lane_bytes, &value, lane_bytes);
    area->len += LANES * lane_bytes;
    return offset;
}

SimOperand lower_const(Lower *lo, u64 value, u32 bits) {
    if (bits <= 32) return SIM_OPERAND(AREA_C32, add_const(lo, &lo->c32, &lo->const32, value & 0xffffffff, 4));
    return SIM_OPERAND(AREA_C64, add_const(lo, &lo->c64, &lo->const64, value, 8));
}

SimOperand lower_reg(Lower *lo, const Operand *o, u32 *bits) {
    const Reg *reg = &lo->m->regs[o->ref];
    u32 slot = lo->reg_slot[o->ref - lo->func->regs];
    u32 width = ptx_types[reg->type].bits;
    u32 element = reg->vector > 1 && o->component ? o->component - 1u : 0;  // of others, a part for video instructions
    *bits = width;
    if (width <= 32) return SIM_OPERAND(AREA_R32, slot + element * LANES * 4);
    return SIM_OPERAND(AREA_R64, slot + element * LANES * 8 * (width > 64 ? 2 : 1));
}

// A predicate register or a literal 0/1 as a slot; slots 0 and 1 are the constants.
u32 lower_pred(Lower *lo, const Operand *o) {
    if (o->kind == OPERAND_REG) return lo->reg_slot[o->ref - lo->func->regs];
    if (o->kind == OPERAND_INT) return o->value != 0;
    return WL_NONE;
}

static u64 literal_bits(const Operand *o, u8 type) {
    u32 bits = ptx_types[type].bits;
    if (ptx_types[type].class != TYPE_CLASS_FLOAT) return o->value;
    if (o->kind == OPERAND_F64 && bits == 32) {
        f64 wide;
        memcpy(&wide, &o->value, 8);
        f32 narrow = (f32)wide;
        u32 image;
        memcpy(&image, &narrow, 4);
        return image;
    }
    if (o->kind == OPERAND_F32 && bits == 64) {
        f32 narrow;
        memcpy(&narrow, &o->value, 4);
        f64 wide = narrow;
        u64 image;
        memcpy(&image, &wide, 8);
        return image;
    }
    return o->value;
}

u64 lower_var_value(Lower *lo, const Operand *o) {
    const Var *var = &lo->m->vars[o->ref];
    bool module_memory = var->space == SPACE_GLOBAL || var->space == SPACE_CONST || var->space == SPACE_TEX;
    return (module_memory ? lo->sim_module->var_address[o->ref] : lo->var_offset[o->ref]) + o->value;
}

SimOperand lower_source(Lower *lo, const Operand *o, u8 type, u32 *bits) {
    u32 wanted = type == TYPE_NONE ? 32 : ptx_types[type].bits;
    *bits = wanted;
    switch (o->kind) {
    case OPERAND_REG: return lower_reg(lo, o, bits);
    case OPERAND_INT:
    case OPERAND_F32:
    case OPERAND_F64: return lower_const(lo, literal_bits(o, type), wanted);
    case OPERAND_VAR: return lower_const(lo, lower_var_value(lo, o), wanted);
    case OPERAND_FUNC: return lower_const(lo, FUNCTION_HANDLE(o->ref), wanted);
    default: return SIM_NO_OPERAND;
    }
}

void lower_list_add(Lower *lo, SimInsn *in, const Operand *o, u8 type) {
    if (in->list == WL_NONE) in->list = lo->lists.len;
    if (o->kind == OPERAND_VECTOR) {
        for (u32 i = 0; i < o->count; i++) lower_list_add(lo, in, &lo->m->operands[o->ref + i], type);
        return;
    }
    u32 bits;
    lower_push(lo, &lo->lists, o->kind == OPERAND_SINK ? SIM_NO_OPERAND : lower_source(lo, o, type, &bits));
    in->list_count++;
}

static bool is_entry_param(const Lower *lo, const Var *var) {
    return var->space == SPACE_PARAM && var->func != WL_NONE && lo->m->funcs[var->func].is_entry &&
           lo->func->is_entry && var->func == lo->func_ref &&
           (u32)(var - lo->m->vars) - lo->func->params < lo->func->param_count;
}

// [base + offset] into in->src[src], in->offset and in->space. A base that is a variable becomes part of the offset,
// and src stays empty, where its address is the same for all lanes; frame variables are marked by SPACE_LOCAL with
// SIM_FRAME.
void lower_address(Lower *lo, const Operand *o, SimInsn *in, u32 src) {
    u32 bits;
    in->src[src] = SIM_NO_OPERAND;
    in->offset = (i64)o->value;
    if (in->space == SPACE_SHARED_CLUSTER) in->space = SPACE_SHARED;
    if (o->base == OPERAND_REG) {
        in->src[src] = lower_reg(lo, &(Operand){.kind = OPERAND_REG, .ref = o->ref, .component = o->component}, &bits);
        if (in->space == SPACE_PARAM && !lo->func->is_entry) in->space = SPACE_LOCAL;
        return;
    }
    if (o->base != OPERAND_VAR) return;
    const Var *var = &lo->m->vars[o->ref];
    in->offset += (i64)lower_var_value(lo, &(Operand){.ref = o->ref});
    bool frame = (var->space == SPACE_LOCAL) || (var->space == SPACE_PARAM && !is_entry_param(lo, var));
    if (frame) {
        in->space = SPACE_LOCAL;
        in->flags |= SIM_FRAME;
        if (var->space == SPACE_PARAM) in->flags |= SIM_UNCOUNTED;
    } else if (in->space == SPACE_NONE) {
        in->space = var->space;  // a generic access that names a variable
    }
}

u32 param_layout(const Module *m, const Function *f, u32 *offsets) {
    u32 at = 0;
    for (u32 i = 0; i < f->return_count + f->param_count; i++) {
        u32 ref = i < f->return_count ? f->returns + i : f->params + i - f->return_count;
        at = align_up(at, m->vars[ref].align);
        if (offsets) offsets[ref] = at;
        at += (u32)m->vars[ref].size;
    }
    return at;
}

static void place_shared(Lower *lo, u32 ref, u32 *at, u32 *dynamic_align) {
    const Var *var = &lo->m->vars[ref];
    if (lo->var_offset[ref] != WL_NONE) return;
    if (var->unsized || var->size == 0) {  // dynamic shared memory: all such arrays begin behind the static ones
        if (var->align > *dynamic_align) *dynamic_align = var->align;
        return;
    }
    *at = align_up(*at, var->align);
    lo->var_offset[ref] = *at;
    *at += (u32)var->size;
}

static void mark_used(const Lower *lo, const Operand *o, Bitset *used) {
    if (o->kind == OPERAND_VAR || (o->kind == OPERAND_ADDRESS && o->base == OPERAND_VAR)) bitset_add(used, o->ref);
    if (o->kind == OPERAND_VECTOR || o->kind == OPERAND_GROUP || o->kind == OPERAND_PAIR)
        for (u32 i = 0; i < o->count; i++) mark_used(lo, &lo->m->operands[o->ref + i], used);
}

// Offsets of the shared variables that the program's functions name.
void layout_shared(Lower *lo) {
    const Module *m = lo->m;
    Bitset used;
    if (!bitset_init(&used, &lo->scratch, m->var_count ? m->var_count : 1)) {
        lo->status = STATUS_NO_MEMORY;
        return;
    }
    for (u32 f = 0; f < lo->work.len; f++) {
        const Function *func = &m->funcs[lo->work.data[f]];
        for (u32 i = 0; i < func->insn_count; i++) {
            const Insn *insn = &m->insns[func->insns + i];
            for (u32 k = 0; k < insn->operands; k++) mark_used(lo, insn_operand(m, insn, k), &used);
        }
    }
    u32 at = 0, dynamic_align = 16;
    for (u32 v = bitset_next(&used, 0); v != WL_NONE; v = bitset_next(&used, v + 1))
        if (m->vars[v].space == SPACE_SHARED) place_shared(lo, v, &at, &dynamic_align);
    u32 dynamic = align_up(at, dynamic_align);
    bool has_dynamic = false;
    for (u32 v = bitset_next(&used, 0); v != WL_NONE; v = bitset_next(&used, v + 1))
        if (m->vars[v].space == SPACE_SHARED && lo->var_offset[v] == WL_NONE)
            lo->var_offset[v] = dynamic, has_dynamic = true;
    lo->program->shared_bytes = has_dynamic ? dynamic : at;
}
