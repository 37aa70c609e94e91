// SPDX-License-Identifier: Apache-2.0
// random-states: states of cuRAND's generators that are brought forward to each thread's sequence.
#include <string.h>

#include "analyze/advice/rule.h"

#define WORTH_IT 0.05  // of the samples

static bool is_of_curand(const ProfilePlace *place) {
    static const char name[] = "curand_kernel.h";
    size_t len = place->header ? strlen(place->header) : 0;
    return len >= sizeof name - 1 && !strcmp(place->header + len - (sizeof name - 1), name);
}

// Whether an instruction names a table of matrices (PTX).
static bool names_matrices(const FlowCode *code, u32 pc) {
    const FlowInsn *in = &code->insns[pc];
    const FlowOperand *use = code->operands + in->operands + in->defs;
    for (u32 k = 0; k < in->uses && code->module; k++) {
        const char *name =
            use[k].kind == FLOW_SYMBOL ? module_text(code->module, code->module->vars[use[k].id].name) : "";
        if (!strncmp(name, "precalc_xorwow", 14) || !strncmp(name, "precalc_mrg32k3a", 16)) return true;
    }
    return false;
}

// Numbers are drawn without loops; a loop of the program's around them has instructions of its own. Where no lines are
// known, loops that name the matrices: four in one another (bits of the sequence, how often, words, bits of those).
static bool skips(const CasePart *part, u32 loop) {
    const FlowResults *flow = &part->view->flow;
    const FlowLoop *l = &flow->loops->loops[loop];
    u32 deepest = 0;
    bool lines = false;
    for (u32 b = 0; b < l->block_count; b++) {
        u32 member = flow->loops->members[l->blocks + b];
        const FlowBlock *block = &flow->cfg->blocks[member];
        for (u32 pc = block->first; pc < block->first + block->count; pc++) {
            const ProfilePlace *place = &part->view->places[pc];
            if (place->file && !is_of_curand(place)) return false;
            lines |= place->file != NULL;
            if (names_matrices(flow->code, pc)) deepest = flow->loops->loops[flow->loops->loop_of[member]].depth;
        }
    }
    return lines || (deepest && deepest - l->depth < 4);
}

void case_find_skips(CasePart *part) {
    for (u32 l = 0; l < part->view->flow.loops->loop_count; l++) part->loops[l].skips = skips(part, l);
}

bool loop_skips_ahead(const CasePart *part, u32 loop) {
    while (loop != WL_NONE && !part->loops[loop].skips) loop = part->view->flow.loops->loops[loop].parent;
    return loop != WL_NONE;
}

typedef struct Skips {
    const CasePart *part;  // of the hottest instruction
    u32 pc;
    f64 hottest;
} Skips;

static void spare(Hit *hit, const CasePart *part, u32 loop, Skips *skips) {
    for (u32 pc = 0; pc < part->view->insn_count; pc++) {
        if (!loop_has(part, loop, pc)) continue;
        f64 samples = part->insns[pc].issued + part->insns[pc].blamed;
        hit_spare(hit, part, pc, 1);
        if (samples > skips->hottest) *skips = (Skips){part, pc, samples};
    }
}

void rule_random_states(AdviceCase *c) {
    Skips skips = {.hottest = 0};
    f64 samples = 0;
    Hit *hit = hit_begin(c);
    for (u32 p = 0; p < c->part_count; p++) {
        const CasePart *part = &c->parts[p];
        const Loops *loops = part->view->flow.loops;
        for (u32 l = 0; l < loops->loop_count; l++) {
            if (!part->loops[l].skips || loop_skips_ahead(part, loops->loops[l].parent)) continue;
            samples += part->loops[l].active + part->loops[l].stalled;
            spare(hit, part, l, &skips);
        }
    }
    f64 share = case_share(c, samples);
    if (!skips.part || share < WORTH_IT) return hit_drop(hit);
    hit_fact(hit, "skip_ahead_pct", 100 * share, "%", "states skip ahead for %.0f %% of the warps' time", 100 * share);
    hit_basis(hit, "equation 2 over the %.0f %% of the samples in which states skip ahead", 100 * share);
    hit_caution(hit,
                "the numbers are others than before; sequences of different seeds are not proven to be independent");
    hit_end_line(hit, skips.part, skips.pc, "Make the random states at %s without skipping ahead",
                 place_text(c, skips.part, skips.pc));
}
