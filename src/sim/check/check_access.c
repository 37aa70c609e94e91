// SPDX-License-Identifier: Apache-2.0
// The exec functions of instructions that touch memory, while checking: they look at what the lanes are about to do,
// and call the original. Loads and stores are looked at as a whole where they can be; everything else goes lane by lane
// through access_resolve, which comes here.
#include <string.h>

#include "sim/check/check.h"
#include "sim/exec/access.h"

#define RANGE_LIMIT 4096u  // bytes between the lowest and the highest address that are looked at as one range

static u32 pc_of(const Exec *x) { return (u32)((const PcState *)(const void *)x->count - x->grid->states); }

static CheckPc *check_pc(const Exec *x, u32 pc) { return &x->grid->program->check[pc]; }

static bool wants(const Exec *x, SimCheck check) { return x->check->checks & check; }

// --- one lane
// ----------------------------------------------------------------------------------------------------------- A read of
// elements of `width` bytes: an element is reported when none of its bytes was ever written, and, in shared and local
// memory, when it is used for something.
static void look_read_bits(Exec *x, u32 pc, const u8 *bits, u64 first, const CheckAccess *a, u32 width) {
    if (check_bits_all(bits, first, a->bytes)) return;
    u32 used = a->space == SPACE_SHARED || a->space == SPACE_LOCAL ? check_pc(x, pc)->used : 0xffff;
    for (u32 at = 0; at < a->bytes; at += width) {
        if (!(used >> at / width & 1) || !check_bits_none(bits, first + at, width)) continue;
        CheckAccess element = *a;
        element.address += at;
        element.bytes = width;
        return check_unwritten(x, pc, &element);
    }
}

static void look_bits(Exec *x, u32 pc, u8 *bits, u64 first, const CheckAccess *a) {
    const SimInsn *in = &x->grid->program->insns[pc];
    const CheckPc *p = check_pc(x, pc);
    bool blind = in->form_op != OP_ATOM_CAS && in->form->mods[MOD_ATOM_OP] == ATOM_OP_EXCH;
    bool reads = !a->store || (a->atomic && !blind);
    u32 width = p->class == CLASS_LOAD_STORE && in->width && in->width <= a->bytes ? in->width : a->bytes;
    if (reads) look_read_bits(x, pc, bits, first, a, width);
    if (a->store) check_bits_set(bits, first, a->bytes, true);
}

static void look_shared_race(Exec *x, u32 pc, const CheckAccess *a) {
    const CheckPc *p = check_pc(x, pc);
    bool strong = p->strong || p->class == CLASS_MBARRIER_ARRIVE || p->class == CLASS_COPY_ARRIVE ||
                  p->class == CLASS_MBARRIER_WAIT;
    RaceAccess access = {.pc = pc,
                         .lane = a->lane,
                         .offset = a->address,
                         .bytes = a->bytes,
                         .store = a->store && p->class != CLASS_MBARRIER_WAIT,
                         .atomic = a->atomic || (strong && p->class != CLASS_LOAD_STORE),
                         .strong = strong,
                         .async = p->class == CLASS_COPY && a->store};
    race_access(x, &access);
}

// Strong accesses pass on what their warp knows.
static void look_order(Exec *x, u32 pc, u64 key, const CheckAccess *a) {
    const CheckPc *p = check_pc(x, pc);
    if (!a->store || a->atomic) race_sync_read(x, key, p->acquire);
    if (a->store) race_sync_write(x, key, p->release);
}

// Races are looked for among the threads of one CTA; memory of another CTA of the cluster is followed as to what was
// written.
static void look_shared(Exec *x, u32 pc, const CheckAccess *access) {
    CheckAccess a = *access;
    u32 rank = (u32)(a.address >> SHARED_RANK_SHIFT);
    const Cta *owner = rank ? cluster_cta(x->cta, rank - 1) : x->cta;
    if (!owner) return;
    a.address &= SHARED_OFFSET_MASK;
    if (wants(x, CHECK_INIT)) look_bits(x, pc, check_cta(x->check, owner)->shared_written, a.address, &a);
    if (!wants(x, CHECK_RACE) || owner != x->cta || check_pc(x, pc)->class == CLASS_BULK) return;
    look_shared_race(x, pc, &a);
    if (check_pc(x, pc)->strong) look_order(x, pc, a.address | 1ull << 63, &a);
}

static void look_local(Exec *x, u32 pc, const CheckAccess *a) {
    CheckWarp *cw = check_warp(x->check, x->warp);
    u64 first = a->lane * x->local_stride + a->address;
    if (x->grid->program->insns[pc].flags & SIM_UNCOUNTED) return;  // parameters of calls, written by the call
    if (wants(x, CHECK_INIT) && first + a->bytes <= cw->local_bits * 8) look_bits(x, pc, cw->local_written, first, a);
}

static void look_global(Exec *x, u32 pc, const CheckAccess *a) {
    CheckPc *p = check_pc(x, pc);
    bool known = p->generation == x->check->sim->generation && a->address - p->start < p->size;
    if (!known && !check_refill(x->check, p, a->address)) return;
    if (p->written) look_bits(x, pc, p->written, a->address - p->start, a);
    if (wants(x, CHECK_RACE) && p->strong) look_order(x, pc, a->address, a);
}

// An access that can be made.
static void look(Exec *x, u32 pc, const CheckAccess *a) {
    switch (a->space) {
    case SPACE_SHARED: look_shared(x, pc, a); break;
    case SPACE_LOCAL: look_local(x, pc, a); break;
    case SPACE_PARAM: break;
    default: look_global(x, pc, a);
    }
}

static bool leaves_local(const Exec *x, u64 offset, u32 bytes) {
    return offset > x->check->local_limit || offset + bytes > x->check->local_limit;
}

u8 *check_resolve(Exec *x, u32 lane, u64 address, u32 bytes, u32 align, u8 space, bool store, u8 *found) {
    Check *c = x->check;
    u32 pc = pc_of(x);
    u8 *at = access_plain(x, lane, address, bytes, align, space, store, found);
    bool windowed = *found == SPACE_SHARED || *found == SPACE_LOCAL || *found == SPACE_PARAM;
    CheckAccess access = {.address = windowed && space == SPACE_NONE ? address & ((1ull << WINDOW_SHIFT) - 1) : address,
                          .bytes = bytes,
                          .lane = (u8)lane,
                          .space = *found,
                          .store = store,
                          .atomic = check_pc(x, pc)->class == CLASS_ATOMIC};
    if (check_pc(x, pc)->class != CLASS_LOAD_STORE) pc_state(x)->generation = 0;  // every access is to come here
    if (at) {
        if (!c->quiet && *found == SPACE_LOCAL && leaves_local(x, access.address, bytes))
            check_bad_access(x, pc, &access);
        else if (!c->quiet && bytes)
            look(x, pc, &access);
        return at;
    }
    if (!(c->checks & CHECK_MEMORY)) return NULL;
    if (!c->quiet) check_bad_access(x, pc, &access);
    if (bytes > sizeof c->nowhere) return NULL;  // a whole box: the launch ends
    x->fault.kind = FAULT_NONE;
    memset(c->nowhere, 0, sizeof c->nowhere);
    return (u8 *)c->nowhere;
}

// --- a whole load or store
// ------------------------------------------------------------------------------------------------
typedef struct Lanes {
    u64 low, high, bits_or;  // over the active lanes
} Lanes;

static Lanes survey(const u64 *address, u32 mask) {
    Lanes s = {.low = UINT64_MAX};
    for (u32 l = 0; l < LANES; l++) {
        u64 a = address[l];
        bool on = mask >> l & 1;
        s.low = on && a < s.low ? a : s.low;
        s.high = on && a > s.high ? a : s.high;
        s.bits_or |= on ? a : 0;
    }
    return s;
}

static CheckAccess lane_access(const u64 *address, u32 lane, u32 bytes, u8 space, bool store) {
    return (CheckAccess){
        .address = address[lane], .bytes = bytes, .lane = (u8)lane, .space = space, .store = store, .atomic = false};
}

// Lane by lane: those that cannot be made are reported, the others looked at.
static void look_each(Exec *x, u32 pc, const u64 *address, u32 mask, u32 bytes, u8 space, bool store) {
    Check *c = x->check;
    u32 align = bytes & (bytes - 1) ? 1 : bytes;
    for (u32 left = mask; left; left &= left - 1) {
        u32 l = (u32)__builtin_ctz(left);
        u8 found;
        bool good = access_plain(x, l, address[l], bytes, align, space, store, &found) != NULL;
        CheckAccess a = lane_access(address, l, bytes, found, store);
        if (space == SPACE_NONE && found != SPACE_GLOBAL) a.address &= (1ull << WINDOW_SHIFT) - 1;
        if (good && found == SPACE_LOCAL) good = !leaves_local(x, a.address, bytes);
        if (good)
            look(x, pc, &a);
        else if (c->checks & CHECK_MEMORY)
            check_bad_access(x, pc, &a);
        x->fault.kind = FAULT_NONE;
    }
}

static void look_warp_bits(Exec *x, u32 pc, u8 *bits, u64 start, const u64 *address, u32 mask, Lanes s, u32 bytes,
                           u8 space, bool store) {
    u64 span = s.high - s.low + bytes;
    bool dense = span == (u64)__builtin_popcount(mask) * bytes;  // or lanes overlap, which comes to the same
    if (store && dense && span <= LANES * bytes) {
        u64 covered = 0, all = (1ull << __builtin_popcount(mask)) - 1;
        for (u32 left = mask; left; left &= left - 1)
            covered |= 1ull << ((address[__builtin_ctz(left)] - s.low) / bytes);
        if (covered == all) return check_bits_set(bits, s.low - start, span, true);
    }
    if (!store && span <= RANGE_LIMIT && check_bits_all(bits, s.low - start, span)) return;
    for (u32 left = mask; left; left &= left - 1) {
        CheckAccess a = lane_access(address, (u32)__builtin_ctz(left), bytes, space, store);
        look_bits(x, pc, bits, a.address - start, &a);
    }
}

static bool is_aligned(const Lanes *s, u32 bytes) { return bytes & (bytes - 1) || !(s->bits_or & (bytes - 1)); }

static void look_warp_global(Exec *x, u32 pc, const u64 *address, u32 mask, u32 bytes, bool store) {
    CheckPc *p = check_pc(x, pc);
    Lanes s = survey(address, mask);
    bool inside = p->generation == x->check->sim->generation && s.low - p->start < p->size;
    if (!inside) inside = check_refill(x->check, p, s.low);
    inside = inside && s.high - p->start + bytes <= p->size && is_aligned(&s, bytes) && !(store && p->read_only);
    if (!inside || p->strong) return look_each(x, pc, address, mask, bytes, SPACE_GLOBAL, store);
    if (p->written) look_warp_bits(x, pc, p->written, p->start, address, mask, s, bytes, SPACE_GLOBAL, store);
}

static void look_warp_shared(Exec *x, u32 pc, const u64 *address, u32 mask, u32 bytes, bool store) {
    Lanes s = survey(address, mask);
    bool inside = s.high + bytes <= x->cta->shared_size && is_aligned(&s, bytes);
    if (!inside || check_pc(x, pc)->strong) return look_each(x, pc, address, mask, bytes, SPACE_SHARED, store);
    if (wants(x, CHECK_INIT)) {
        u8 *bits = check_cta(x->check, x->cta)->shared_written;
        look_warp_bits(x, pc, bits, 0, address, mask, s, bytes, SPACE_SHARED, store);
    }
    if (!wants(x, CHECK_RACE)) return;
    u32 lanes = !store && s.low == s.high ? mask & -mask : mask;  // one read stands for equal ones
    for (u32 left = lanes; left; left &= left - 1) {
        CheckAccess a = lane_access(address, (u32)__builtin_ctz(left), bytes, SPACE_SHARED, store);
        look_shared_race(x, pc, &a);
    }
}

static void look_warp_local(Exec *x, u32 pc, u64 *address, u32 mask, u32 bytes, bool store) {
    const SimInsn *in = &x->grid->program->insns[pc];
    u64 frame = in->flags & SIM_FRAME ? x->frame_local : 0;
    for (u32 l = 0; l < LANES; l++) address[l] = (address[l] + frame) & 0xffffffff;
    look_each(x, pc, address, mask, bytes, SPACE_LOCAL, store);
}

static bool is_generic_global(const u64 *address, u32 mask) {
    u64 high = 0;
    for (u32 l = 0; l < LANES; l++) high |= mask >> l & 1 ? address[l] >> WINDOW_SHIFT : 0;
    return high < WINDOW_SHARED >> WINDOW_SHIFT;
}

static void check_load_store(Exec *x, const SimInsn *in, u32 mask) {
    Check *c = x->check;
    u32 pc = (u32)(in - x->grid->program->insns), bytes = (u32)in->width * in->count;
    bool store = in->form_op == OP_ST;
    u64 address[LANES];
    for (u32 l = 0; l < LANES; l++) address[l] = access_address(x, in->src[0], in->offset, l);
    check_warp(c, x->warp)->tick++;
    if (in->space == SPACE_SHARED)
        look_warp_shared(x, pc, address, mask, bytes, store);
    else if (in->space == SPACE_LOCAL)
        look_warp_local(x, pc, address, mask, bytes, store);
    else if (in->space == SPACE_GLOBAL || is_generic_global(address, mask))
        look_warp_global(x, pc, address, mask, bytes, store);
    else
        look_each(x, pc, address, mask, bytes, SPACE_NONE, store);
    c->quiet = true;
    check_pc(x, pc)->plain(x, in, mask);
    c->quiet = false;
}

// Whether two lanes store the same bytes.
bool check_same_value(Exec *x, const SimInsn *in, u32 a, u32 b) {
    u64 keep = in->width >= 8 ? UINT64_MAX : (1ull << in->width * 8) - 1;
    if (in->form_op != OP_ST || in->width > 8) return false;
    const SimOperand *list = in->list_count ? exec_list(x, in) : &in->src[1];
    for (u32 k = 0; k < (in->list_count ? in->list_count : 1u); k++)
        if ((exec_get_lane(x, list[k], a) ^ exec_get_lane(x, list[k], b)) & keep) return false;
    return true;
}

// Whether the lane stores what is in shared memory already.
bool check_stores_same(Exec *x, const SimInsn *in, u32 lane, u64 offset) {
    if (in->form_op != OP_ST || in->width > 8) return false;
    const SimOperand *list = in->list_count ? exec_list(x, in) : &in->src[1];
    for (u32 k = 0; k < (in->list_count ? in->list_count : 1u); k++) {
        u64 value = exec_get_lane(x, list[k], lane);
        if (memcmp(x->cta->shared + offset + (u64)k * in->width, &value, in->width)) return false;
    }
    return true;
}

// --- everything else
// --------------------------------------------------------------------------------------------------------
static const char *const mbarrier_faults[] = {
    [FAULT_WRONG_SPACE] = "the object is not in shared memory",
    [FAULT_MBARRIER] = "misuse",
};

// Turns a fault that the checker can go on after into a finding. Returns the lanes still to be executed.
static u32 absorb(Exec *x, u32 pc, u32 mask) {
    const Fault fault = x->fault;
    bool known = fault.kind == FAULT_MBARRIER || fault.kind == FAULT_WRONG_SPACE;
    CheckRule rule = check_pc(x, pc)->class == CLASS_OTHER ? RULE_WRONG_SPACE : RULE_MBARRIER;
    if (!known || !(x->check->checks & (rule == RULE_MBARRIER ? CHECK_SYNC : CHECK_MEMORY))) return 0;
    bool is_new;
    const char *what = x->message && rule == RULE_MBARRIER ? x->message : mbarrier_faults[fault.kind];
    SimFinding *f = check_find(x->check, rule, pc, 0, &is_new, what);
    if (f && is_new) check_place_lane(&f->place, x->warp, fault.lane);
    x->fault.kind = FAULT_NONE;
    x->message = NULL;
    return mask & -(2u << fault.lane);
}

static void run_plain(Exec *x, const SimInsn *in, u32 pc, u32 mask) {
    while (mask) {
        check_pc(x, pc)->plain(x, in, mask);
        if (WL_LIKELY(!x->fault.kind)) return;
        u32 failed = 1u << x->fault.lane;
        mask = absorb(x, pc, mask);
        // A wait that can never succeed ends here, or the program would not.
        if (!x->fault.kind && check_pc(x, pc)->class == CLASS_MBARRIER_WAIT)
            exec_set_pred(x, in->pred_dst, failed, failed);
        if (x->fault.kind) return;
    }
}

static void order_mbarrier(Exec *x, const SimInsn *in, u32 pc, u32 mask) {
    u8 class = check_pc(x, pc)->class;
    if (class == CLASS_MBARRIER_WAIT && in->pred_dst != WL_NONE) mask &= x->pred[in->pred_dst];
    for (u32 left = mask; left; left &= left - 1) {
        u32 l = (u32)__builtin_ctz(left);
        u64 address = access_address(x, in->src[0], in->offset, l) & 0xffffffff;
        if (address >> SHARED_RANK_SHIFT == x->cta->rank + 1u) address &= SHARED_OFFSET_MASK;  // itself, by its rank
        u64 key = address | 1ull << 63;
        if (class == CLASS_MBARRIER_WAIT)
            race_sync_read(x, key, true);
        else
            race_sync_write(x, key, true);
    }
}

static void check_others(Exec *x, const SimInsn *in, u32 mask) {
    u32 pc = (u32)(in - x->grid->program->insns);
    u8 class = check_pc(x, pc)->class;
    bool race = wants(x, CHECK_RACE);
    check_warp(x->check, x->warp)->tick++;
    if (race && class == CLASS_COPY_ARRIVE) race_copies_done(x, mask, 0, true);
    run_plain(x, in, pc, mask);
    pc_state(x)->generation = 0;
    if (!race || x->fault.kind) return;
    switch (class) {
    case CLASS_FENCE: race_fence(x); break;
    case CLASS_MBARRIER_ARRIVE:
    case CLASS_COPY_ARRIVE:
    case CLASS_MBARRIER_WAIT: order_mbarrier(x, in, pc, mask); break;
    case CLASS_COPY_COMMIT: race_commit(x, mask); break;
    case CLASS_COPY_WAIT:
        if (in->form_op == OP_CP_ASYNC_WAIT_ALL)
            race_copies_done(x, mask, 0, true);
        else
            race_copies_done(x, mask, (u32)exec_get_lane(x, in->src[0], (u32)__builtin_ctz(mask)), false);
        break;
    default: break;
    }
}

// --- choosing
// ---------------------------------------------------------------------------------------------------------------
static u8 class_of(const SimInsn *in) {
    u32 flags = ptx_ops[in->form_op].flags;
    bool memory = flags & (OPF_LOAD | OPF_STORE);
    switch (in->form_op) {
    case OP_LD:
    case OP_LDU:
    case OP_ST: return CLASS_LOAD_STORE;
    case OP_MBARRIER_INIT:
    case OP_MBARRIER_INVAL: return CLASS_MBARRIER_INIT;
    case OP_MBARRIER_EXPECT_TX:
    case OP_MBARRIER_COMPLETE_TX:
    case OP_MBARRIER_ARRIVE:
    case OP_MBARRIER_ARRIVE_DROP: return CLASS_MBARRIER_ARRIVE;
    case OP_MBARRIER_TEST_WAIT:
    case OP_MBARRIER_TRY_WAIT: return CLASS_MBARRIER_WAIT;
    case OP_CP_ASYNC: return CLASS_COPY;
    case OP_CP_ASYNC_COMMIT: return CLASS_COPY_COMMIT;
    case OP_CP_ASYNC_WAIT:
    case OP_CP_ASYNC_WAIT_ALL: return CLASS_COPY_WAIT;
    case OP_CP_ASYNC_MBARRIER: return CLASS_COPY_ARRIVE;
    case OP_WGMMA:
    case OP_WGMMA_SP: return CLASS_OTHER;
    default: break;
    }
    if (flags & OPF_ASYNC && memory) return CLASS_BULK;
    if (flags & OPF_ATOMIC) return CLASS_ATOMIC;
    if (memory && !(flags & (OPF_TEXTURE | OPF_SURFACE))) return CLASS_OTHER;
    return flags & OPF_FENCE && in->kind == SIM_PLAIN ? CLASS_FENCE : CLASS_NONE;
}

// Parameters, and constants, which are bounds-checked where they are resolved.
static bool needs_no_look(const SimInsn *in) {
    return in->space == SPACE_PARAM || in->space == SPACE_CONST || in->flags & SIM_UNCOUNTED;
}

static void describe(const SimInsn *in, CheckPc *p) {
    u16 sem = in->form->mods[MOD_SEM];
    if (p->class != CLASS_LOAD_STORE && p->class != CLASS_ATOMIC) return;
    bool atomic = p->class == CLASS_ATOMIC, read_volatile = in->form->mods[MOD_COP] == COP_CV;
    bool lock = in->form_op == OP_ATOM_CAS || (atomic && in->form->mods[MOD_ATOM_OP] == ATOM_OP_EXCH);
    p->strong = atomic || sem > SEM_WEAK || read_volatile;
    p->acquire = lock || sem == SEM_ACQUIRE || sem == SEM_ACQ_REL || sem == SEM_VOLATILE || read_volatile;
    p->release = lock || sem == SEM_RELEASE || sem == SEM_ACQ_REL || sem == SEM_VOLATILE;
}

Status check_wrap(SimProgram *p) {
    p->check = ARENA_ARRAY(&p->arena, CheckPc, p->insn_count + 1);
    if (!p->check) return STATUS_NO_MEMORY;
    for (u32 i = 0; i < p->insn_count; i++) {
        SimInsn *in = &p->insns[i];
        CheckPc *c = &p->check[i];
        c->plain = in->exec;
        c->finding = WL_NONE;
        if (!in->exec || !in->form) continue;
        c->class = class_of(in);
        if (c->class == CLASS_NONE || (c->class == CLASS_LOAD_STORE && needs_no_look(in))) continue;
        describe(in, c);
        in->exec = c->class == CLASS_LOAD_STORE ? check_load_store : check_others;
    }
    return check_mark_uses(p);
}
