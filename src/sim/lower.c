// SPDX-License-Identifier: Apache-2.0
// From PTX instructions to SimInsns: registers placed, literals in constant areas, branches resolved to positions, the
// place where diverged lanes meet taken from the post-dominator tree. Semantics live in exec/, chosen here by the
// tables' selectors.
#include "sim/lower.h"

#include <stdio.h>
#include <string.h>

#include "sim/check/check.h"
#include "sim/slow_path.h"

u32 lower_push(Lower *lo, U32Vec *vec, u32 value) {
    if (vec_push(vec, value) != STATUS_OK) lo->status = STATUS_NO_MEMORY;
    return value;
}

static const char *source_place(const Lower *lo, char *buffer, size_t size) {
    const Loc *loc = lo->insn->loc ? &lo->m->locs[lo->insn->loc] : NULL;
    const File *file = loc ? module_file(lo->m, loc->file) : NULL;
    if (file)
        snprintf(buffer, size, "%s:%u", module_text(lo->m, file->path), loc->line);
    else
        snprintf(buffer, size, "PTX line %u", lo->insn->line);
    return buffer;
}

void lower_refuse(Lower *lo, const char *why) {
    char place[512];
    lo->failed = true;
    diag_text(lo->diag, DIAG_ERROR, lo->m->path, lo->insn->line, 0, "in `%s` at %s: `%s` %s",
              module_text(lo->m, lo->func->name), source_place(lo, place, sizeof place),
              module_text(lo->m, insn_form(lo->m, lo->insn)->text), why);
}

// --- operands --------------------------------------------------------------------------------------------------
static void lower_dest(Lower *lo, SimInsn *in, ExecShape *shape, const Operand *o, const OperandSpec *spec) {
    u32 bits = 0;
    if (o->kind == OPERAND_PAIR) {
        const Operand *second = &lo->m->operands[o->ref + 1];
        lower_dest(lo, in, shape, &lo->m->operands[o->ref], spec);
        if (second->kind == OPERAND_REG)
            *(in->pred_dst == WL_NONE ? &in->pred_dst : &in->pred_dst2) = lower_pred(lo, second);
        return;
    }
    if (o->kind == OPERAND_VECTOR) {
        lower_list_add(lo, in, o, spec->type);
        if (in->list_count && lo->lists.data[in->list] != SIM_NO_OPERAND)
            shape->dst_bits = lo->lists.data[in->list] >> 30 == AREA_R64 ? 64 : 32;
        return;
    }
    if (o->kind != OPERAND_REG) return;
    if (lo->m->regs[o->ref].type == TYPE_PRED) {
        in->pred_dst = lower_pred(lo, o);
        shape->dst_bits = 1;
        return;
    }
    in->dst = lower_reg(lo, o, &bits);
    shape->dst_bits = (u8)bits;
}

static bool is_pred_operand(const Lower *lo, const Operand *o, const OperandSpec *spec) {
    if (o->kind == OPERAND_REG) return lo->m->regs[o->ref].type == TYPE_PRED;
    return spec->type == TYPE_PRED;
}

static u32 first_free_source(const SimInsn *in) {
    for (u32 k = 0; k < 4; k++)
        if (in->src[k] == SIM_NO_OPERAND) return k;
    return WL_NONE;
}

static void lower_read(Lower *lo, SimInsn *in, ExecShape *shape, const Operand *o, const OperandSpec *spec, u32 *next) {
    const Form *form = shape->form;
    if (is_pred_operand(lo, o, spec)) {
        u32 slot = lower_pred(lo, o);
        if (form->types[0] == TYPE_PRED && !(form_op(form)->flags & (OPF_WARP_SYNC | OPF_BARRIER | OPF_CONVERGENT))) {
            if (*next < 4) in->src[(*next)++] = slot;
            return;
        }
        in->pred_src = slot;
        if (o->flags & OPERAND_NEGATED) in->flags |= SIM_PRED_NEGATED;
        return;
    }
    if (o->kind == OPERAND_VECTOR) {
        lower_list_add(lo, in, o, spec->type);
        return;
    }
    if (o->kind == OPERAND_INT && spec->type == TYPE_NONE && form_op(form)->unit == UNIT_TENSOR) {
        lower_list_add(lo, in, o, TYPE_S32);  // selectors and scales of matrix instructions follow the fragments
        return;
    }
    u32 bits = 0;
    SimOperand value = lower_source(lo, o, spec->type, &bits);
    if (o->kind == OPERAND_VAR) in->offset = (i64)lower_var_value(lo, o);  // for variables in the frame (mov)
    if (*next >= 4) return lower_refuse(lo, "has more operands than the simulator takes");
    shape->src_bits[*next] = (u8)bits;
    in->src[(*next)++] = value;
}

// The address of an instruction. Where there are two (cp.async), the first one's offset moves to in->target.
static void lower_memory(Lower *lo, SimInsn *in, const Operand *o, u32 *next) {
    if (*next == 0) return lower_address(lo, o, in, (*next)++);
    in->target = (u32)in->offset;
    u8 space = in->space;
    in->space = in->form->space2;
    lower_address(lo, o, in, (*next)++);
    in->space = space;
}

// Instructions of the copy engine have more operands than a SimInsn has places: all go to its list in their order, an
// address as its base and its constant offset.
static void lower_element(Lower *lo, SimInsn *in, const Operand *o, u8 type) {
    u32 bits;
    if (o->kind == OPERAND_GROUP) {  // [map, {coordinates}]: the map's address without an offset is a plain register
        for (u32 k = 0; k < o->count; k++) {
            const Operand *part = &lo->m->operands[o->ref + k];
            lower_element(lo, in, part, TYPE_B64);
            if (k == 0 && part->kind != OPERAND_ADDRESS) lower_push(lo, &lo->lists, 0), in->list_count++;
        }
    } else if (o->kind == OPERAND_ADDRESS) {
        SimInsn part = {.space = in->space};
        lower_address(lo, o, &part, 0);
        if (part.flags & SIM_FRAME) lower_refuse(lo, "cannot take local memory in the simulator");
        if (part.src[0] == SIM_NO_OPERAND) {
            part.src[0] = lower_const(lo, (u64)part.offset, 64);
            part.offset = 0;
        }
        lower_push(lo, &lo->lists, part.src[0]);
        lower_push(lo, &lo->lists, (u32)part.offset);
        in->list_count += 2;
    } else if (o->kind == OPERAND_VECTOR) {
        for (u32 k = 0; k < o->count; k++) lower_element(lo, in, &lo->m->operands[o->ref + k], TYPE_B32);
    } else {
        lower_push(lo, &lo->lists, lower_source(lo, o, type, &bits));
        in->list_count++;
    }
}

static void lower_list(Lower *lo, SimInsn *in, const ExecShape *shape) {
    in->list = lo->lists.len;
    for (u32 i = 0; i < lo->insn->operands; i++)
        lower_element(lo, in, insn_operand(lo->m, lo->insn, i), shape->form->specs[i].type);
    in->src[3] = lower_const(lo, FULL_MASK, 32);  // the members, of those that are .sync
}

static void lower_operands(Lower *lo, SimInsn *in, ExecShape *shape) {
    const Form *form = shape->form;
    if (form_op(form)->unit == UNIT_TMA) return lower_list(lo, in, shape);
    u32 next = 0;
    for (u32 i = 0; i < lo->insn->operands; i++) {
        const Operand *o = insn_operand(lo->m, lo->insn, i);
        const OperandSpec *spec = &form->specs[i < form->spec_count ? i : form->spec_count - 1u];
        switch (spec->access) {
        case ACCESS_WRITE:
        case ACCESS_READ_WRITE: lower_dest(lo, in, shape, o, spec); break;
        case ACCESS_READ: lower_read(lo, in, shape, o, spec, &next); break;
        case ACCESS_ADDRESS:
            if (o->kind == OPERAND_ADDRESS)
                lower_memory(lo, in, o, &next);
            else if (o->kind == OPERAND_GROUP)
                for (u32 k = 0; k < o->count; k++) {
                    const Operand *element = &lo->m->operands[o->ref + k];
                    if (element->kind == OPERAND_VECTOR)
                        lower_list_add(lo, in, element, form->types[form->type_count - 1]);
                    else if (element->kind == OPERAND_ADDRESS)
                        lower_address(lo, element, in, next++);
                    else {
                        u32 bits;
                        in->src[next++] = lower_source(lo, element, TYPE_B64, &bits);
                    }
                }
            break;
        default: break;
        }
    }
    bool carry = form_op(form)->flags & (OPF_CARRY_IN | OPF_CARRY_OUT);
    if (carry) in->pred_src = in->pred_dst2 = 2;
    // The membermask of warp-wide operations comes last; the loop looks for it in a fixed place.
    if (form_op(form)->flags & OPF_WARP_SYNC) {
        u32 last = first_free_source(in);
        last = last == WL_NONE ? 3 : last == 0 ? WL_NONE : last - 1;
        if (form_op(form)->flags & OPF_MATRIX || form_op(form)->unit == UNIT_TENSOR) {
            if (in->src[3] == SIM_NO_OPERAND) in->src[3] = lower_const(lo, FULL_MASK, 32);
        } else if (last != WL_NONE && last != 3) {
            in->src[3] = in->src[last];
            in->src[last] = SIM_NO_OPERAND;
        }
    }
}

// --- instructions ----------------------------------------------------------------------------------------------
static u8 kind_of(const Form *form) {
    const OpInfo *op = form_op(form);
    if (op->flags & OPF_CALL) return SIM_CALL;
    if (op->flags & OPF_INDIRECT) return SIM_SWITCH;
    if (op->flags & OPF_BRANCH) return SIM_BRANCH;
    if (op->flags & OPF_RET) return SIM_RET;
    if (op->flags & OPF_EXIT) return SIM_EXIT;
    if (op->flags & OPF_TRAP) return SIM_TRAP;
    if (op->flags & OPF_BARRIER) return SIM_BARRIER;
    if (op->flags & OPF_WARP_SYNC) return SIM_WARP_SYNC;
    if (form->op == OP_MBARRIER_TRY_WAIT || form->op == OP_MBARRIER_TEST_WAIT || form->op == OP_NANOSLEEP)
        return SIM_WAIT;
    if (op->flags & (OPF_LOAD | OPF_STORE)) return SIM_MEMORY;
    return SIM_PLAIN;
}

static u32 label_pc(const Lower *lo, const Operand *o) { return lo->out->entry + lo->m->labels[o->ref].insn; }

static void lower_branch(Lower *lo, SimInsn *in) {
    const Operand *o = insn_operand(lo->m, lo->insn, lo->insn->operands - 1u);
    if (in->kind == SIM_BRANCH) {
        in->target = label_pc(lo, o);
        return;
    }
    const Label *list = &lo->m->labels[o->ref];
    in->list = lo->lists.len;
    for (u32 i = 0; i < list->target_count; i++)
        lower_push(lo, &lo->lists, lo->out->entry + lo->m->labels[lo->m->refs[list->targets + i]].insn);
    in->list_count = (u16)list->target_count;
    u32 bits;
    in->src[0] = lower_source(lo, insn_operand(lo->m, lo->insn, 0), TYPE_U32, &bits);
}

// mov is one grammar for four things; the operands tell which.
static u16 mov_op(const Lower *lo) {
    if (insn_operand(lo->m, lo->insn, 0)->kind == OPERAND_VECTOR) return OP_MOV_UNPACK;
    return insn_operand(lo->m, lo->insn, 1)->kind == OPERAND_VECTOR ? OP_MOV_PACK : OP_MOV;
}

static bool needs_exec(u8 kind) {
    return kind == SIM_PLAIN || kind == SIM_MEMORY || kind == SIM_WAIT || kind == SIM_WARP_SYNC;
}

static bool reads_special(const Lower *lo) {
    for (u32 k = 1; k < lo->insn->operands; k++)
        if (insn_operand(lo->m, lo->insn, k)->kind == OPERAND_SREG) return true;
    return false;
}

static bool reads_clock(const Lower *lo) {
    for (u32 k = 1; k < lo->insn->operands; k++) {
        const Operand *o = insn_operand(lo->m, lo->insn, k);
        if (o->kind != OPERAND_SREG) continue;
        switch (o->ref) {
        case SREG_CLOCK:
        case SREG_CLOCK_HI:
        case SREG_CLOCK64:
        case SREG_GLOBALTIMER:
        case SREG_GLOBALTIMER_LO:
        case SREG_GLOBALTIMER_HI: return true;
        default: break;
        }
    }
    return false;
}

// Clocks; and what threads of other CTAs tell each other by: strong accesses (volatile, relaxed, acquire, release) and
// atomics whose result decides something, or that exchange, as those do which open a lock. Executed ahead of time, a
// loop that waits for another CTA would take as many turns as the front is ahead, and a compare and swap would never
// meet another.
static bool is_in_time(const Lower *lo, const SimInsn *in) {
    const Form *form = in->form;
    if (reads_clock(lo)) return true;
    if (in->space != SPACE_GLOBAL && in->space != SPACE_NONE) return false;
    if (form_op(form)->flags & OPF_ATOMIC)
        return in->dst != SIM_NO_OPERAND || in->list_count || form->mods[MOD_ATOM_OP] == ATOM_OP_EXCH;
    return in->kind == SIM_MEMORY && form->mods[MOD_SEM] > SEM_WEAK;
}

// Registers, and memory of the CTA's own; or loads from global memory.
static bool is_own_access(const SimInsn *in) {
    switch (in->form_op) {
    case OP_LD:
    case OP_LDU: return !(in->flags & SIM_POLL);
    case OP_ST: return in->space == SPACE_SHARED || in->space == SPACE_LOCAL || in->space == SPACE_PARAM;
    case OP_ATOM:
    case OP_ATOM_CAS:
    case OP_RED: return in->space == SPACE_SHARED;
    default: return false;
    }
}

// The CTA's own affair: nothing outside of it can tell when the instruction is executed.
static bool is_own(const SimInsn *in) {
    const OpInfo *op = form_op(in->form);
    if (in->flags & (SIM_IN_TIME | SIM_CLOCK)) return false;
    switch ((SimKind)in->kind) {
    case SIM_PLAIN:
        return (op->unit >= UNIT_ALU && op->unit <= UNIT_XU) || in->form_op == OP_SHFL || in->form_op == OP_MMA;
    case SIM_MEMORY: return is_own_access(in);
    case SIM_WARP_SYNC:
        return (!(op->flags & (OPF_LOAD | OPF_STORE)) && in->form_op < OP_WGMMA) ||
               (in->space == SPACE_SHARED && (in->form_op == OP_LDMATRIX || in->form_op == OP_WMMA_LOAD));
    case SIM_BARRIER: return in->form_op != OP_BARRIER_CLUSTER_ARRIVE && in->form_op != OP_BARRIER_CLUSTER_WAIT;
    case SIM_BRANCH:
    case SIM_RET:
    case SIM_EXIT: return true;
    default: return false;
    }
}

// What it writes to global memory goes through resolve_global (access.c), and again when it was told FAULT_LATER.
static bool writes_apart(const Lower *lo, const SimInsn *in) {
    if (in->kind == SIM_CALL) return lo->calls.data[in->list].builtin == 0;
    switch (in->form_op) {
    case OP_ST:
    case OP_ATOM:
    case OP_ATOM_CAS:
    case OP_ATOM_VECTOR:
    case OP_RED:
    case OP_RED_VECTOR:
    case OP_CP_ASYNC:
    case OP_STMATRIX: return true;
    default: return !(form_op(in->form)->flags & (OPF_STORE | OPF_SURFACE));
    }
}

static void select_exec(Lower *lo, SimInsn *in, ExecShape *shape) {
    u16 op = shape->form->op;
    if (reads_special(lo) && strncmp(ptx_ops[op].name, "mov", 3) != 0) {
        // PTX 1.x reads them with conversions: cvt.u32.u16 %r, %tid.x. They fit in 16 bits there.
        if (op != OP_CVT_INT) return lower_refuse(lo, "reads a special register, which mov does");
        in->form_op = op = OP_MOV;
    }
    if (op == OP_BAR_WARP_SYNC) return;
    if (op == OP_MOV || op == OP_MOV_PACK || op == OP_MOV_UNPACK) in->form_op = op = mov_op(lo);
    if (!ptx_ops[op].executable || !lo->table[op]) return lower_refuse(lo, "cannot be executed by the simulator yet");
    in->exec = lo->table[op](shape, in);
    if (!in->exec && needs_exec(in->kind))
        lower_refuse(lo, "cannot be executed by the simulator with these types and modifiers yet");
}

// An atomic whose result no instruction reads is a reduction.
static void drop_unread_result(const Lower *lo, SimInsn *in) {
    const Operand *o = insn_operand(lo->m, lo->insn, 0);
    if (o->kind == OPERAND_REG && !bitset_has(&lo->read, o->ref - lo->func->regs)) in->dst = SIM_NO_OPERAND;
}

static void lower_insn(Lower *lo, u32 index) {
    const Insn *insn = &lo->m->insns[lo->func->insns + index];
    const Form *form = insn_form(lo->m, insn);
    lo->insn = insn;
    SimInsn in = {.dst = SIM_NO_OPERAND,
                  .guard = WL_NONE,
                  .pred_dst = WL_NONE,
                  .pred_dst2 = WL_NONE,
                  .pred_src = WL_NONE,
                  .list = WL_NONE,
                  .target = WL_NONE,
                  .insn = index,
                  .reconverge = WL_NONE,
                  .meets = WL_NONE,
                  .form = form,
                  .form_op = form->op,
                  .kind = kind_of(form),
                  .space = form->space,
                  .count = form->vector ? form->vector : 1};
    for (u32 k = 0; k < 4; k++) in.src[k] = SIM_NO_OPERAND;
    if (insn->guard != WL_NONE) {
        in.guard = lo->reg_slot[insn->guard - lo->func->regs];
        if (insn->guard_negated) in.flags |= SIM_GUARD_NEGATED;
    }
    ExecShape shape = {.form = form, .insn = insn, .module = lo->m};
    if (in.kind == SIM_CALL)
        lower_call(lo, &in);
    else if (in.kind == SIM_BRANCH || in.kind == SIM_SWITCH)
        lower_branch(lo, &in);
    else if (lo->contracted[index] != WL_NONE)
        in.exec = lower_contracted(lo, &in, &shape);
    else {
        lower_operands(lo, &in, &shape);
        if (in.kind != SIM_RET && in.kind != SIM_EXIT && in.kind != SIM_TRAP) select_exec(lo, &in, &shape);
    }
    if (in.kind == SIM_MEMORY && form_op(form)->flags & OPF_LOAD &&
        (in.space == SPACE_GLOBAL || in.space == SPACE_NONE))
        in.flags |= SIM_LONG;
    if (in.kind == SIM_MEMORY && (form->mods[MOD_SEM] > SEM_WEAK || form->mods[MOD_COP] == COP_CV))
        in.flags |= SIM_POLL;
    if (reads_clock(lo)) in.flags |= SIM_CLOCK;
    if (has_slow_path(form)) in.flags |= SIM_SLOW_PATH;
    if (spins_in_shared(form)) in.flags |= SIM_SPINS;
    if (in.list == WL_NONE) in.list = 0;
    if (form_op(form)->flags & OPF_ATOMIC) drop_unread_result(lo, &in);
    if (is_in_time(lo, &in)) in.flags |= SIM_IN_TIME;
    if (!is_own(&in)) in.flags |= SIM_IN_ORDER;
    if (lo->status == STATUS_OK && !lo->failed && !writes_apart(lo, &in)) lo->program->apart = false;
    if (vec_push(&lo->insns, in) != STATUS_OK) lo->status = STATUS_NO_MEMORY;
}

static u32 mark_meet(Lower *lo, const Cfg *cfg, u32 block) {
    u32 pc = lo->out->entry + cfg->blocks[block].first;
    lo->insns.data[pc].flags |= SIM_RECONVERGE;
    return pc;
}

static void list_meets(Lower *lo, const Cfg *cfg, const u32 *blocks, u32 count) {
    lower_push(lo, &lo->lists, count);
    for (u32 k = 0; k < count; k++) lower_push(lo, &lo->lists, mark_meet(lo, cfg, blocks[k]));
}

// The blocks around `b` where lanes wait for each other, to the front of `around`; how many there are.
static u32 waits_around(const Meets *meets, u32 b, u32 *around) {
    u32 count = 0;
    for (u32 k = meets->first[b]; k < meets->first[b + 1]; k++)
        if (!flow_leaves_apart(meets, b, meets->around[k])) around[count++] = meets->around[k];
    return count;
}

// Marks where lanes meet again: behind calls, and of every branch where flow_meets says.
static Status mark_reconvergence(Lower *lo, const Cfg *cfg) {
    Meets meets;
    DomTree *dominators;
    Loops *loops;
    TRY(flow_dominators(cfg, &lo->scratch, &dominators));
    TRY(flow_loops(cfg, dominators, &lo->scratch, &loops));
    TRY(flow_meets(cfg, dominators, loops, &lo->scratch, &meets));
    for (u32 i = 0; i < lo->func->insn_count; i++) {
        SimInsn *in = &lo->insns.data[lo->out->entry + i];
        u32 b = cfg->block_of[i], around = 0, left = 0;
        if (in->kind == SIM_CALL) in[1].flags |= SIM_RECONVERGE;
        if (in->kind == SIM_BRANCH || in->kind == SIM_SWITCH) {
            if (in->kind == SIM_BRANCH && flow_yields_at(&meets, b)) in->flags |= SIM_YIELD;
            if (meets.at[b] != WL_NONE) in->reconverge = mark_meet(lo, cfg, meets.at[b]);
            if (meets.at[b] != WL_NONE && flow_leaves_apart(&meets, b, meets.at[b])) in->flags |= SIM_APART;
            around = waits_around(&meets, b, meets.around + meets.first[b]);
        }
        if (i == cfg->blocks[b].first) left = meets.left_first[b + 1] - meets.left_first[b];
        if (left) in->flags |= SIM_BREAK | SIM_RECONVERGE;
        if (!around && !left) continue;
        in->meets = lo->lists.len;
        list_meets(lo, cfg, meets.around + meets.first[b], around);
        if (left) list_meets(lo, cfg, meets.left + meets.left_first[b], left);
    }
    return lo->status;
}

static Status lower_function(Lower *lo, u32 at) {
    lo->func_ref = lo->work.data[at];
    lo->func = &lo->m->funcs[lo->func_ref];
    lo->out = &lo->program->funcs[at];
    *lo->out = (SimFunc){.func = lo->func_ref, .entry = lo->insns.len, .insn_count = lo->func->insn_count};
    FlowCode *code;
    Cfg *cfg;
    TRY(flow_from_ptx(lo->m, lo->func_ref, &lo->scratch, &code));
    TRY(flow_cfg(code, &lo->scratch, &cfg));
    Liveness *live;
    TRY(flow_liveness(cfg, &lo->scratch, &live));
    TRY(lower_contract(lo, live));
    TRY(lower_registers(lo, live));
    lower_locals(lo);
    for (u32 i = 0; i < lo->func->insn_count; i++) lower_insn(lo, i);
    // A sentinel: whoever runs past the last instruction returns.
    SimInsn end = {.kind = SIM_RET,
                   .guard = WL_NONE,
                   .target = WL_NONE,
                   .reconverge = WL_NONE,
                   .meets = WL_NONE,
                   .meets = WL_NONE,
                   .form_op = OP_RET,
                   .insn = lo->func->insn_count ? lo->func->insn_count - 1 : 0,
                   .flags = SIM_UNCOUNTED};
    TRY(vec_push(&lo->insns, end));
    TRY(lo->status);
    return lo->failed ? STATUS_OK : mark_reconvergence(lo, cfg);
}

// --- programs --------------------------------------------------------------------------------------------------
static bool scan_operand(Lower *lo, const Operand *o) {
    if (o->kind == OPERAND_FUNC && vec_push(&lo->work, o->ref) != STATUS_OK) return false;
    if (o->kind == OPERAND_VECTOR || o->kind == OPERAND_GROUP || o->kind == OPERAND_PAIR)
        for (u32 i = 0; i < o->count; i++)
            if (!scan_operand(lo, &lo->m->operands[o->ref + i])) return false;
    return true;
}

static bool scan_insn(Lower *lo, const Insn *insn) {
    const OpInfo *op = form_op(insn_form(lo->m, insn));
    for (u32 k = 0; k < insn->operands; k++) {
        const Operand *o = insn_operand(lo->m, insn, k);
        if (op->flags & OPF_CALL && o->kind == OPERAND_REG) lo->indirect = true;
        if (!scan_operand(lo, o)) return false;
    }
    return true;
}

// All functions that can run, each once, kernel first: callees, and with an indirect call everything that could be
// meant.
static Status collect_functions(Lower *lo, FuncRef entry) {
    const Module *m = lo->m;
    Bitset seen;
    if (!bitset_init(&seen, &lo->scratch, m->func_count + 1)) return STATUS_NO_MEMORY;
    FuncVec done = {0};
    TRY(vec_push(&lo->work, entry));
    bool all_added = false;
    for (u32 i = 0; i < lo->work.len; i++) {
        FuncRef ref = lo->work.data[i];
        const char *name = module_text(m, m->funcs[ref].name);
        if (!m->funcs[ref].has_body) ref = module_find_function(m, (Str){name, strlen(name)});
        if (ref == WL_NONE || bitset_has(&seen, ref) || !m->funcs[ref].has_body || (m->funcs[ref].is_entry && i > 0))
            continue;
        bitset_add(&seen, ref);
        TRY(vec_push(&done, ref));
        for (u32 k = 0; k < m->funcs[ref].insn_count; k++)
            if (!scan_insn(lo, &m->insns[m->funcs[ref].insns + k])) return STATUS_NO_MEMORY;
        if (lo->indirect && !all_added) {
            all_added = true;
            for (u32 f = 0; f < m->func_count; f++)
                if (!m->funcs[f].is_entry) TRY(vec_push(&lo->work, f));
        }
    }
    vec_free(&lo->work);
    lo->work = (FuncVec){0};
    memcpy(&lo->work, &done, sizeof done);
    return STATUS_OK;
}

// Deepest local memory over all call paths; recursion, an indirect call or alloca makes it unknown.
static u32 stack_depth(const SimProgram *p, u32 func, u8 *state, u32 *memo, bool *recursive) {
    if (state[func] == 1) return *recursive = true, 0;
    if (state[func] == 2) return memo[func];
    state[func] = 1;
    u32 deepest = 0;
    const SimFunc *f = &p->funcs[func];
    for (u32 i = 0; i < f->insn_count; i++) {
        const SimInsn *in = &p->insns[f->entry + i];
        if (in->form_op == OP_ALLOCA) *recursive = true;
        if (in->kind != SIM_CALL || p->calls[in->list].builtin) continue;
        if (in->target == WL_NONE) {
            *recursive = true;
            continue;
        }
        u32 depth = stack_depth(p, in->target, state, memo, recursive);
        if (depth > deepest) deepest = depth;
    }
    state[func] = 2;
    return memo[func] = f->local_bytes + deepest;
}

static void resolve_calls(Lower *lo) {
    SimProgram *p = lo->program;
    for (u32 i = 0; i < p->insn_count; i++)
        if (p->insns[i].kind == SIM_CALL && p->insns[i].target != WL_NONE)
            p->insns[i].target = p->func_of[p->insns[i].target];
}

static bool has_stack_insn(const SimProgram *p) {
    for (u32 i = 0; i < p->insn_count; i++) {
        u16 op = p->insns[i].form_op;
        if (op == OP_ALLOCA || op == OP_STACKSAVE || op == OP_STACKRESTORE) return true;
    }
    return false;
}

#define COPY_OUT(to, vec)                                                        \
    do {                                                                         \
        (to) = arena_alloc(&p->arena, sizeof *(vec).data * ((vec).len + 1), 32); \
        if (!(to)) return STATUS_NO_MEMORY;                                      \
        if ((vec).len) memcpy((to), (vec).data, sizeof *(vec).data *(vec).len);  \
    } while (0)

static Status finish(Lower *lo) {
    SimProgram *p = lo->program;
    COPY_OUT(p->insns, lo->insns);
    COPY_OUT(p->lists, lo->lists);
    COPY_OUT(p->calls, lo->calls);
    COPY_OUT(p->args, lo->args);
    COPY_OUT(p->c32, lo->c32);
    COPY_OUT(p->c64, lo->c64);
    p->insn_count = lo->insns.len;
    p->c32_bytes = lo->c32.len;
    p->c64_bytes = lo->c64.len;
    resolve_calls(lo);
    p->allocates = has_stack_insn(p);
    u8 *state = ARENA_ARRAY(&lo->scratch, u8, p->func_count);
    u32 *memo = ARENA_ARRAY(&lo->scratch, u32, p->func_count);
    if (!state || !memo) return STATUS_NO_MEMORY;
    p->local_bytes = stack_depth(p, 0, state, memo, &p->recursive);
    return lo->sim_module->sim->check ? check_wrap(p) : STATUS_OK;
}

static Status build(Lower *lo, FuncRef entry) {
    SimProgram *p = lo->program;
    TRY(collect_functions(lo, entry));
    p->func_count = lo->work.len;
    p->funcs = ARENA_ARRAY(&p->arena, SimFunc, p->func_count);
    p->func_of = ARENA_ARRAY(&p->arena, u32, lo->m->func_count + 1);
    lo->var_offset = arena_alloc(&lo->scratch, sizeof(u32) * (lo->m->var_count + 1), 4);
    lo->formal_offset = arena_alloc(&lo->scratch, sizeof(u32) * (lo->m->var_count + 1), 4);
    if (!p->funcs || !p->func_of || !lo->var_offset || !lo->formal_offset) return STATUS_NO_MEMORY;
    memset(p->func_of, 0xff, sizeof(u32) * (lo->m->func_count + 1));
    memset(lo->var_offset, 0xff, sizeof(u32) * (lo->m->var_count + 1));
    for (u32 i = 0; i < p->func_count; i++) p->func_of[lo->work.data[i]] = i;
    layout_shared(lo);
    for (u32 i = 0; i < p->func_count; i++) TRY(lower_function(lo, i));
    return lo->failed ? STATUS_UNSUPPORTED : finish(lo);
}

static const ExecSelect *best_table(void) {
#if SIM_HAS_V3
    // Every processor with AVX2 has F16C too; clang 14 cannot ask for it.
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2"))
        return exec_table_v3;
#endif
    return exec_table_base;
}

Status program_build(SimModule *module, FuncRef entry, SimProgram **program, Diag *diag) {
    SimProgram *p = mem_zero(1, sizeof *p);
    if (!p) return STATUS_NO_MEMORY;
    p->module = module->ptx;
    p->target_sm = module->ptx->target_sm;
    p->apart = true;
    Lower lo = {.sim_module = module, .m = module->ptx, .program = p, .diag = diag, .table = best_table()};
    Status status = build(&lo, entry);
    vec_free(&lo.insns);
    vec_free(&lo.lists);
    vec_free(&lo.calls);
    vec_free(&lo.args);
    vec_free(&lo.c32);
    vec_free(&lo.c64);
    vec_free(&lo.work);
    map_free(&lo.const32);
    map_free(&lo.const64);
    arena_free(&lo.scratch);
    if (status != STATUS_OK)
        program_free(p);
    else
        *program = p;
    return status;
}

void program_free(SimProgram *program) {
    if (!program) return;
    arena_free(&program->arena);
    mem_free(program);
}

const SimFunc *program_func_at(const SimProgram *p, u32 pc) {
    u32 low = 0, high = p->func_count;
    while (high - low > 1) {
        u32 mid = (low + high) / 2;
        if (p->funcs[mid].entry <= pc)
            low = mid;
        else
            high = mid;
    }
    return &p->funcs[low];
}
