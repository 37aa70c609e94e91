// SPDX-License-Identifier: Apache-2.0
// Which blocks the machine has as one, so that ptxas schedules their instructions together: those that follow each
// other because a branch between them is not issued (a predicated side, a second condition), or that the functional
// simulator has apart because a shuffle or vote may wait for other lanes. All ways into a region lead to its begin.
#include "sim/time/time_lower.h"

enum { REGION_PARTS = TIME_PARTS, REGION_INSNS = 2048 };

// A region that grows: of blocks of the code (TimeBlock), [head, next).
typedef struct Region {
    TimeFunc *f;
    u32 head, next;
    u32 required;  // the last one that is neither predicated nor speculated
} Region;

static const TimeBlock *block_at(const Region *r, u32 b) { return &r->f->lower->blocks.data[b]; }
static u32 first_insn(const Region *r, u32 b) { return block_at(r, b)->pc - r->f->func->entry; }
static u32 last_insn(const Region *r, u32 b) { return block_at(r, b)->pc_end - 1 - r->f->func->entry; }
static u32 flow_block(const Region *r, u32 b) { return r->f->cfg->block_of[first_insn(r, b)]; }

// Kinds whose own use of TimeOp.extra leaves no room for a part.
static bool has_extra(TimeKind kind) {
    return kind == TIME_RUNTIME || kind == TIME_ASYNC_WAIT || kind == TIME_GMMA || kind == TIME_GMMA_WAIT;
}

// The trace of a block that is executed at its time comes in pieces.
static bool can_be_part(const Region *r, u32 b) {
    const TimeFunc *f = r->f;
    for (u32 i = first_insn(r, b); i <= last_insn(r, b); i++) {
        if (i >= f->code->insn_count || time_insn(f, i)->flags & SIM_IN_TIME) return false;
        if (f->picked[i].needed && has_extra(time_kind(f, i))) return false;
    }
    return f->cfg->blocks[flow_block(r, b)].reachable && !f->exits[flow_block(r, b)];
}

// Whether no instruction of the machine ends block `b` where the next one begins.
static bool goes_on(const Region *r, u32 b) {
    u32 last = last_insn(r, b);
    const SimInsn *in = time_insn(r->f, last);
    if (in->kind <= SIM_MEMORY) return true;
    if (in->kind == SIM_BRANCH) return r->f->no_branch[last];
    return in->kind == SIM_WARP_SYNC && in->exec;  // what orders memory, too, has none
}

// Whether block `c` of the flow graph is entered from the region alone.
static bool is_entered_from(const Region *r, u32 c) {
    const Cfg *cfg = r->f->cfg;
    const FlowBlock *block = &cfg->blocks[c];
    u32 from = flow_block(r, r->head), to = flow_block(r, r->next - 1);
    for (u32 k = 0; k < block->pred_count; k++) {
        u32 pred = cfg->edges[block->preds + k];
        if (pred < from || pred > to) return false;
    }
    return block->pred_count > 0 && c != 0;
}

// Whether everything since the last required block, itself included, leads to `c` or to a predicated side before it.
static bool leads_to(const Region *r, u32 c) {
    const Cfg *cfg = r->f->cfg;
    u32 from = flow_block(r, r->required);
    for (u32 b = from; b < c; b++) {
        const FlowBlock *block = &cfg->blocks[b];
        for (u32 k = 0; k < block->succ_count; k++) {
            u32 succ = cfg->edges[block->succs + k];
            bool to_side =
                succ > b && succ < c && (b == from || r->f->predicated[succ]);  // a jump to one that is not issued
            if (succ != c && !to_side) return false;
        }
        if (block->leaves) return false;
    }
    return true;
}

// Whether block `c` is entered from the last required block alone, or from second conditions and jumps behind it.
static bool is_side(const Region *r, u32 c) {
    const Cfg *cfg = r->f->cfg;
    const FlowBlock *block = &cfg->blocks[c];
    for (u32 k = 0; k < block->pred_count; k++) {
        u32 pred = cfg->edges[block->preds + k];
        if (pred != flow_block(r, r->required) && !r->f->speculated[pred] && !r->f->predicated[pred]) return false;
    }
    return true;
}

static bool has_room(const Region *r, u32 b) {
    return b - r->head < REGION_PARTS && block_at(r, b)->pc_end - block_at(r, r->head)->pc <= REGION_INSNS;
}

// Whether block `b`, the next one, belongs to the region.
static bool belongs(const Region *r, u32 b) {
    const TimeFunc *f = r->f;
    if (!can_be_part(r, b) || !goes_on(r, b - 1)) return false;
    u32 c = flow_block(r, b), before = flow_block(r, b - 1);
    if (c == before) return !f->speculated[c];
    if (f->closes[c] || !is_entered_from(r, c)) return false;
    return f->predicated[c] || f->speculated[c] ? is_side(r, c) : leads_to(r, c);
}

static bool is_optional(const Region *r, u32 b) {
    u32 c = flow_block(r, b);
    return r->f->predicated[c] || r->f->speculated[c];
}

static void grow(Region *r, u32 end) {
    for (; r->next < end && belongs(r, r->next); r->next++) {
        if (!has_room(r, r->next)) {
            // Sides come with what decides on them.
            if (is_optional(r, r->next) && r->required > r->head) r->next = r->required;
            return;
        }
        if (!is_optional(r, r->next)) r->required = r->next;
    }
}

void time_join(TimeFunc *f) {
    u32 end = f->blocks + f->block_count;
    Region r = {.f = f};
    for (u32 b = f->blocks; b < end; b = r.next) {
        r = (Region){.f = f, .head = b, .next = b + 1, .required = b};
        if (can_be_part(&r, b) && !is_optional(&r, b)) grow(&r, end);
        for (u32 k = b; k < r.next; k++) {
            f->lower->blocks.data[k].part = (u16)(k - b);
            f->lower->blocks.data[k].parts = (u16)(r.next - b);
        }
    }
}

// Both parts are regions, from one to the other: none of the code's blocks is of another one.
u32 time_rotated_parts(const TimeFunc *f, u32 first, u32 top, u32 branch) {
    const TimeBlock *back = time_block(f, first), *front = time_block(f, top), *end = front + front->parts;
    if (back->part || front->part || back + back->parts != front || f->closes[f->cfg->block_of[top]]) return 0;
    if (end[-1].pc_end - f->func->entry != branch + 1) return 0;
    bool jump = branch + 1 < f->code->insn_count && f->no_branch[branch + 1];
    if (jump && (end->pc_end != end->pc + 1 || end->part)) return 0;
    u32 parts = back->parts + front->parts + jump;
    Region r = {.f = (TimeFunc *)f};
    for (u32 k = 0; k < parts; k++)
        if (!can_be_part(&r, (u32)(back - f->lower->blocks.data) + k)) return 0;
    return parts <= REGION_PARTS && back[parts - 1].pc_end - back->pc <= REGION_INSNS ? parts : 0;
}

void time_rotate(TimeFunc *f, u32 first, u32 last) {
    TimeBlock *head = time_block(f, first), *end = time_block(f, last);
    u32 parts = (u32)(end - head) + 1;
    for (u32 k = 0; k < parts; k++) {
        head[k].part = (u16)k;
        head[k].parts = (u16)parts;
    }
    f->jumps_back[f->cfg->block_of[last]] = end->pc_end == end->pc + 1 && f->no_branch[last];
}
