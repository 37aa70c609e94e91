// SPDX-License-Identifier: Apache-2.0
// The part of wrong-type that is about divisions of 64 bits by what is known at run time only, whose numbers fit 32.
// nvcc 13.0 asks before each whether an upper word has any bit, and calls a routine if so; else it is a division of 32
// bits, in a block of its own (sm_90):
//     LOP3 of the upper words; ISETP.NE with 0; BSSY; BRA to the short way; ... CALL div_s64 ...; short way; BSYNC
// Of 32 bits there is no test, nothing waits for who is where, and what is divided by one number shares its reciprocal.
#include <string.h>

#include "analyze/advice/rule.h"

enum { TRACED = 4 /* moves to an argument */, SIGNS = 4 /* instructions that signs take in a division of 32 bits */ };
#define HARDLY_EVER 0.01  // of the divisions go the long way
#define WORTH_IT 0.02     // of the samples

typedef struct Division {
    u32 branch, compare, join;  // instructions; where the ways meet, WL_NONE: not found
    u32 shorter;                // block
    bool is_signed;
    i64 divisor;  // byte of the constant bank, -1: not known
    u32 level;    // divisions that its dividend goes through one after the other
} Division;

typedef struct Found {
    u32 count, pc;
    f64 most;
} Found;

static i64 constant_of(const CasePart *part, u32 pc) {
    const SassInsn *insn = insn_machine(part, pc);
    const SassOperand *o = part->view->flow.code->sass->operands.data + insn->operands;
    for (u32 i = 0; i < insn->operand_count; i++)
        if (o[i].kind == SASS_OPERAND_CONSTANT) return o[i].value / 8 * 8;
    return -1;
}

// Where the constant bank has the 64 bits of which the node is a word that is only handed on, be it on one of several
// ways; -1: it is not.
static i64 constant_behind(const CasePart *part, u32 node, u32 depth) {
    const Chains *chains = part->view->flow.chains;
    i64 at = -1;
    if (node == WL_NONE || !depth) return -1;
    if (chain_is_merge(chains, node)) {
        for (u32 i = 0; i < chains->nodes[node].arg_count && at < 0; i++)
            at = constant_behind(part, chains->args[chains->nodes[node].args + i], depth - 1);
        return at;
    }
    u32 pc = chains->nodes[node].insn, registers = 0;
    if (pc == WL_NONE || (at = constant_of(part, pc)) >= 0) return at;
    const FlowInsn *in = case_insn(part, pc);
    for (u32 u = 0; u < in->uses; u++) {
        u32 from = chains->of_operand[in->operands + in->defs + u];
        if (from != WL_NONE) registers++, at = constant_behind(part, from, depth - 1);
    }
    return registers == 1 ? at : -1;
}

// The divisor, as the argument whose upper word the test asks for beside the dividend's.
static i64 divisor_of(const CasePart *part, u32 ors) {
    const FlowInsn *in = case_insn(part, ors);
    i64 divisor = constant_of(part, ors);
    for (u32 u = 0; u < in->uses && divisor < 0; u++)
        divisor = constant_behind(part, part->view->flow.chains->of_operand[in->operands + in->defs + u], TRACED);
    return divisor;
}

// The routine that the instruction calls; NULL: none.
static const char *calls(const CasePart *part, u32 pc) {
    const FlowCode *code = part->view->flow.code;
    const FlowInsn *in = case_insn(part, pc);
    if (insn_machine(part, pc)->op != SASS_OP_CALL || !in->target_count) return NULL;
    return insn_routine(part, code->targets[in->targets]);
}

static bool is_of_32_bits_mostly(const CasePart *part, const FlowBlock *test, u32 longer) {
    f64 runs = block_runs(part, part->view->flow.cfg->block_of[test->first]);
    return test->succ_count == 2 && runs > 0 && block_runs(part, longer) < HARDLY_EVER * runs;
}

// Where lanes meet behind the division, in the short way's block or right behind it.
static u32 join_of(const CasePart *part, const FlowBlock *shorter) {
    u32 end = shorter->first + shorter->count + 1;
    for (u32 pc = shorter->first; pc < end && pc < part->view->insn_count; pc++)
        if (insn_machine(part, pc)->op == SASS_OP_BSYNC) return pc;
    return WL_NONE;
}

// The division whose long way begins with the block; false: it is none.
static bool division_of(const CasePart *part, u32 longer, const char *routine, Division *d) {
    const FlowResults *flow = &part->view->flow;
    const FlowBlock *way = &flow->cfg->blocks[longer];
    const FlowBlock *test = way->pred_count == 1 ? &flow->cfg->blocks[flow->cfg->edges[way->preds]] : NULL;
    if (!test || !is_of_32_bits_mostly(part, test, longer)) return false;
    u32 branch = test->first + test->count - 1, guard = flow->chains->of_guard[branch];
    u32 compare = guard == WL_NONE ? WL_NONE : flow->chains->nodes[guard].insn;
    if (compare == WL_NONE || insn_machine(part, compare)->op != SASS_OP_ISETP) return false;
    const u32 *next = &flow->cfg->edges[test->succs];
    u32 ors = insn_source(part, compare, 0), shorter = next[0] == longer ? next[1] : next[0];
    *d = (Division){.branch = branch, .compare = compare, .shorter = shorter, .divisor = -1};
    d->is_signed = strstr(routine, "_s64") != NULL;
    d->join = join_of(part, &flow->cfg->blocks[shorter]);
    if (ors != WL_NONE && insn_machine(part, ors)->op == SASS_OP_LOP3) d->divisor = divisor_of(part, ors);
    return true;
}

// --- what is not needed ----------------------------------------------------------------------------------------------
static void spare_test(Hit *hit, const CasePart *part, const Division *d) {
    u32 ors = insn_source(part, d->compare, 0);
    hit_remove(hit, part, d->branch, 1);
    hit_remove(hit, part, d->compare, 1);
    if (ors != WL_NONE && insn_machine(part, ors)->op == SASS_OP_LOP3) hit_remove(hit, part, ors, 1);
    for (u32 pc = d->branch; pc-- > part->view->flow.cfg->blocks[part->view->flow.cfg->block_of[d->branch]].first;)
        if (insn_machine(part, pc)->op == SASS_OP_BSSY) {
            hit_remove(hit, part, pc, 1);
            break;
        }
}

static void spare_meeting(Hit *hit, const CasePart *part, const Division *d) {
    u32 first = part->view->flow.cfg->blocks[d->shorter].first;
    hit_blamed(hit, part, first, STALL_BIT(BRANCH_RESOLVING) | STALL_BIT(NO_INSTRUCTIONS), 1);
    if (d->join == WL_NONE) return;
    hit_remove(hit, part, d->join, 1);
    if (d->join + 1 < part->view->insn_count) hit_blamed(hit, part, d->join + 1, STALL_BIT(BRANCH_RESOLVING), 1);
}

static bool shares_divisor(const Division *d, u32 at) {
    for (u32 i = 0; i < at && d[at].divisor >= 0; i++)
        if (d[i].divisor == d[at].divisor) return true;
    return false;
}

// Neither needs the other's result.
static bool is_beside_other(const CasePart *part, const Division *d, u32 at) {
    for (u32 i = 0; i < at; i++)
        if (d[i].level == d[at].level && part->insns[d[i].branch].loop == part->insns[d[at].branch].loop) return true;
    return false;
}

// The part of an argument's reciprocals that goes since no test is in the way of making it before the loop, once.
static f64 leaves_loop(const CasePart *part, const Division *d) {
    u32 loop = part->insns[d->branch].loop;
    f64 turns = loop == WL_NONE || d->divisor < 0 ? 1 : part->loops[loop].trips;
    return turns > 1 ? 1 - 1 / turns : 0;
}

// By the same divisor no reciprocal is needed again, of which so much goes; beside another division what this one waits
// for goes on meanwhile.
static void join_other(Hit *hit, const CasePart *part, const FlowBlock *shorter, f64 gone, bool beside, u8 *marks) {
    u32 end = shorter->first + shorter->count;
    for (u32 pc = shorter->first; pc < end && gone > 0; pc++) division_mark(part, pc, marks);
    for (u32 pc = shorter->first; pc < end; pc++)
        if (marks[pc] == DIVISION_STEP)
            hit_remove(hit, part, pc, gone);
        else if (beside)
            hit_blamed(hit, part, pc, STALL_BIT(WAIT) | STALL_BIT(SHORT_SCOREBOARD), 1);
}

static Found spare(Hit *hit, const CasePart *part, const Division *d, u32 count, u8 *marks) {
    Found found = {.count = count, .pc = WL_NONE};
    for (u32 i = 0; i < count; i++) {
        f64 runs = block_runs(part, d[i].shorter);
        spare_test(hit, part, &d[i]);
        spare_meeting(hit, part, &d[i]);
        join_other(hit, part, &part->view->flow.cfg->blocks[d[i].shorter],
                   shares_divisor(d, i) ? 1 : leaves_loop(part, &d[i]), is_beside_other(part, d, i), marks);
        if (d[i].is_signed) hit->change.issues -= SIGNS * runs;
        if (runs > found.most) found.most = runs, found.pc = d[i].branch;
    }
    return found;
}

// Which of the divisions before the node comes from, at most so many instructions back, adds one to its level.
enum { TRACED_BACK = 10, MOST_TRACED = 4096 };

static u32 level_before(const CasePart *part, const Division *d, u32 count, u32 node, u32 depth, u32 *left) {
    const FlowResults *flow = &part->view->flow;
    const Chains *chains = flow->chains;
    u32 level = 0;
    if (node == WL_NONE || !depth || !*left) return 0;
    --*left;
    const ChainNode *n = &chains->nodes[node];
    for (u32 i = 0; i < count && n->insn != WL_NONE; i++)
        if (n->block == d[i].shorter) return d[i].level + 1;
    for (u32 a = 0; a < n->arg_count && n->insn == WL_NONE; a++)
        level = u32_max(level, level_before(part, d, count, chains->args[n->args + a], depth - 1, left));
    if (n->insn == WL_NONE || case_access(part, n->insn)) return level;
    const FlowInsn *in = case_insn(part, n->insn);
    for (u32 u = 0; u < in->uses; u++) {
        u32 from = chains->of_operand[in->operands + in->defs + u];
        level = u32_max(level, level_before(part, d, count, from, depth - 1, left));
    }
    return level;
}

static u32 find(const CasePart *part, Division *divisions) {
    u32 count = 0;
    for (u32 pc = 0; pc < part->view->insn_count; pc++) {
        const char *routine = insn_routine(part, pc) ? NULL : calls(part, pc);
        bool divides = routine && strstr(routine, "64") && (strstr(routine, "_div_") || strstr(routine, "_rem_"));
        if (!divides || !division_of(part, part->view->flow.cfg->block_of[pc], routine, &divisions[count])) continue;
        const FlowInsn *compare = case_insn(part, divisions[count].compare);
        u32 asked = part->view->flow.chains->of_operand[compare->operands + compare->defs], left = MOST_TRACED;
        divisions[count].level = level_before(part, divisions, count, asked, TRACED_BACK, &left);
        count++;
    }
    return count;
}

static void shorten(AdviceCase *c, const CasePart *part) {
    Division *divisions = ARENA_ARRAY(c->scratch, Division, part->view->flow.cfg->block_count + 1);
    u8 *marks = ARENA_ARRAY(c->scratch, u8, part->view->insn_count + 1);
    if (!divisions || !marks) {
        c->status = STATUS_NO_MEMORY;
        return;
    }
    u32 count = find(part, divisions);
    if (!count) return;
    Hit *hit = hit_begin(c);
    hit_text(hit, TEXT_short_divisions);
    Found found = spare(hit, part, divisions, count, marks);
    f64 share = case_share(c, hit->change.issues + hit->change.stalls);
    if (found.pc == WL_NONE || share < WORTH_IT) return hit_drop(hit);
    hit_fact(hit, "short_divisions", found.count, "instructions",
             "%u division%s or remainders of 64 bits, of numbers that fitted 32 wherever samples were taken",
             found.count, plural(found.count));
    hit_fact(hit, "wide_share", 100 * share, "%", "%.0f %% of the samples ask for upper words and wait for that",
             100 * share);
    hit_caution(hit, "only where all numbers that can occur fit 31 bits, or 32 of unsigned ones");
    hit->doubtful = true;
    hit_narrows(hit);
    hit_end_line(hit, part, found.pc, "Compute in int or unsigned at %s, no longer in 64 bits",
                 place_text(c, part, found.pc));
}

void shorten_divisions(AdviceCase *c) {
    for (u32 p = 0; p < c->part_count && c->status == STATUS_OK; p++)
        if (c->parts[p].view->kind == VIEW_SASS) shorten(c, &c->parts[p]);
}
