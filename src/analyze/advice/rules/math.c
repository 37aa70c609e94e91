// SPDX-License-Identifier: Apache-2.0
// fast-math, powers and float divisions of strength-reduction: arithmetic that takes many instructions where few would
// do. The sequences are found by what nothing else has: an instruction of the PTX, or a constant or opcode of the
// machine code. Each stands for so many instructions of its source line; which of the line's they are is not asked,
// they count alike.
#include <float.h>
#include <math.h>
#include <string.h>

#include "analyze/advice/rule.h"
#include "base/floats.h"

// Instructions of what takes their place: the difference of the code's size with four and with twelve of them
// (nvcc 13.0, -arch=sm_90, denormal numbers kept). Of the exact ones, those on the way that is nearly always taken. Of
// exponentials and logarithms, a single one's with its constants, which few kernels have registers for.
enum {
    EXACT_STEPS = 10,  // division, root, reciprocal
    FAST_STEPS = 4,    // __fdividef; sqrt.approx has 4, too
    SHARED_STEPS = 1,  // of a division by what another was divided by: a product with its reciprocal
    CHECK_STEPS = 1,   // FCHK of a division, which the special function unit does
};

// Functions of CUDA's math library (libdevice) and the exact operations of the machine code: a constant that only this
// sequence has, the instructions of the exact version and of the fast one, and how many of each are the special
// function unit's (MUFU, FRND, F2I, FCHK of nvcc 13.0's code for sm_90). A quarter of the lanes of other units is what
// that has: exact sines and logarithms do without it, so that the fast ones give it more to do.
static const struct {
    u32 bits;
    bool machine;  // only in machine code; PTX has one instruction for it
    const char *name, *fast;
    u32 exact_steps, fast_steps, exact_special, fast_special;
} sequences[] = {
    {0xcb40007f, false, "expf", "__expf", 10, 5, 1, 1},  // -(2^23 + 2^22 + 127): rounds to an integer
    {0x3e1039f6, false, "logf", "__logf", 26, 5, 0, 1},  // of the polynomial
    {0x3f22f983, false, "the reduction of an angle", "__sinf", 14, 0, 1, 0},  // 2 / pi
    {0x3dc6b27f, false, "log2f", "__log2f", 28, 4, 0, 1},                     // of the polynomial, as the next ones
    {0x3c80f082, false, "tanhf", "__tanhf", 17, 1, 2, 1},
    {0x3d6357bb, false, "powf", "__powf", 72, 6, 3, 2},
    {0x3e089438, false, "tanf", "__tanf", 16, 5, 1, 3},
    {0x3d2aaabb, false, "sinf or cosf", "__sinf or __cosf", 18, 2, 0, 1},  // 1 / 24, of the polynomial
    {0x727fffff, true, "an exact square root", "sqrt.approx", EXACT_STEPS, FAST_STEPS, 1,
     1},  // largest argument of the short way
    {0x01800000, true, "an exact reciprocal", "__fdividef", EXACT_STEPS, FAST_STEPS, 1, 1},  // is it a denormal number
};

// --- which sequence ------------------------------------------------------------------------------------------------
static u32 sequence_of(u32 bits, bool machine) {
    for (u32 s = 0; s < WL_COUNT(sequences); s++)
        if (sequences[s].bits == bits && (machine || !sequences[s].machine)) return s;
    return WL_NONE;
}

// The bits of the instruction's nth constant; false: it has no more.
static bool machine_constant(const CasePart *part, u32 pc, u32 nth, u32 *bits) {
    const SassInsn *insn = insn_machine(part, pc);
    for (u32 i = 0; i < insn->operand_count; i++) {
        const SassOperand *o = &part->view->flow.code->sass->operands.data[insn->operands + i];
        if (o->kind != SASS_OPERAND_IMMEDIATE || nth--) continue;
        return *bits = (u32)o->value, true;
    }
    return false;
}

static bool constant_of(const CasePart *part, u32 pc, u32 nth, u32 *bits) {
    const FlowInsn *in = case_insn(part, pc);
    const FlowOperand *use = &part->view->flow.code->operands[in->operands + in->defs];
    if (part->view->flow.code->sass) return machine_constant(part, pc, nth, bits);
    for (u32 u = 0; u < in->uses; u++)
        if (use[u].kind == FLOW_OTHER && !nth--) return *bits = (u32)use[u].value, true;
    return false;
}

static u32 find_sequence(const CasePart *part, u32 pc) {
    u32 found = WL_NONE, bits;
    bool machine = part->view->flow.code->sass != NULL;
    if (machine && insn_routine(part, pc)) return WL_NONE;
    for (u32 nth = 0; found == WL_NONE && constant_of(part, pc, nth, &bits); nth++) found = sequence_of(bits, machine);
    return found;
}

// --- lines ---------------------------------------------------------------------------------------------------------
typedef struct MathLine {
    u32 pc;                             // one of its instructions
    f64 saved, issued;                  // samples of issue that are not needed; of all arithmetic, but for
    f64 special_saved, special_issued;  // ... that of the special function unit; negative: more of it are
    f64 detour_issued;                  // of branches and meetings
    u32 next;                           // of the same bucket
} MathLine;

typedef struct MathLines {  // by source line
    Vec(MathLine) rows;
    u32 buckets[256];
} MathLines;

static u32 bucket_of(const CasePart *part, u32 pc) {
    const ProfilePlace *p = &part->view->places[pc];
    return (p->line ? p->line : pc) % 256;
}

static MathLine *line_of(AdviceCase *c, MathLines *lines, const CasePart *part, u32 pc, bool make) {
    u32 bucket = bucket_of(part, pc);
    for (u32 i = lines->buckets[bucket]; i; i = lines->rows.data[i - 1].next)
        if (same_line(part, lines->rows.data[i - 1].pc, pc)) return &lines->rows.data[i - 1];
    if (!make) return NULL;
    if (vec_push(&lines->rows, (MathLine){.pc = pc, .next = lines->buckets[bucket]}) != STATUS_OK) {
        c->status = STATUS_NO_MEMORY;
        return NULL;
    }
    lines->buckets[bucket] = lines->rows.len;
    return &lines->rows.data[lines->rows.len - 1];
}

static bool is_arithmetic(const CasePart *part, u32 pc) {
    u32 traits = part->insns[pc].traits;
    bool other = traits & (TRAIT_CALL | TRAIT_BARRIER | TRAIT_SHUFFLE);
    UnitClass unit = (UnitClass)case_insn(part, pc)->unit;  // a branch, and where its ways meet
    return !other && (traits & TRAIT_ARITHMETIC || unit == UNIT_CBU || case_insn(part, pc)->kind == FLOW_BRANCH);
}

static bool is_special(const CasePart *part, u32 pc) { return case_insn(part, pc)->unit == UNIT_XU; }

// What only leads to ways that are hardly ever gone (of denormal numbers, of large angles): tests, and where they meet.
static bool is_detour(const CasePart *part, u32 pc) {
    const FlowInsn *in = case_insn(part, pc);
    bool back = in->kind == FLOW_BRANCH && in->target_count && part->view->flow.code->targets[in->targets] <= pc;
    return part->view->kind == VIEW_SASS && !back && (in->kind == FLOW_BRANCH || in->unit == UNIT_CBU);
}

static f64 *issued_of(MathLine *line, const CasePart *part, u32 pc) {
    return is_special(part, pc) ? &line->special_issued : is_detour(part, pc) ? &line->detour_issued : &line->issued;
}

// The part of the instruction that its line does not need: first of all no detours.
static f64 part_saved(MathLine *line, const CasePart *part, u32 pc) {
    f64 issued = *issued_of(line, part, pc), detours = fmin(line->detour_issued, line->saved);
    f64 saved = is_special(part, pc) ? line->special_saved : is_detour(part, pc) ? detours : line->saved - detours;
    return issued > 0 && saved > 0 ? fmin(saved / issued, is_detour(part, pc) ? 1 : 0.95) : 0;
}

// Behind the place where ways meet a warp waits until it is known who is there.
static void meet_no_more(Hit *hit, const CasePart *part, MathLines *lines, u32 pc, f64 gone) {
    const SassInsn *insn = insn_machine(part, pc);
    if (!insn || insn->op != SASS_OP_BSYNC || pc + 1 >= part->view->insn_count) return;
    MathLine *line = line_of(hit->c, lines, part, pc + 1, false);
    f64 already = line && is_arithmetic(part, pc + 1) ? part_saved(line, part, pc + 1) : 0;
    hit_blamed(hit, part, pc + 1, STALL_BIT(BRANCH_RESOLVING), gone * (1 - already));
}

// Saves the part of each line's arithmetic that is not needed.
static void remove_lines(Hit *hit, const CasePart *part, MathLines *lines) {
    for (u32 pc = 0; pc < part->view->insn_count && lines->rows.len; pc++) {
        MathLine *line = line_of(hit->c, lines, part, pc, false);
        if (line && is_arithmetic(part, pc)) *issued_of(line, part, pc) += part->insns[pc].issued;
    }
    for (u32 pc = 0; pc < part->view->insn_count && lines->rows.len; pc++) {
        MathLine *line = line_of(hit->c, lines, part, pc, false);
        f64 gone = line && is_arithmetic(part, pc) ? part_saved(line, part, pc) : 0;
        if (gone <= 0) continue;
        hit_remove(hit, part, pc, gone);
        meet_no_more(hit, part, lines, pc, gone);
    }
    for (u32 i = 0; i < lines->rows.len; i++) hit_add_special(hit, -lines->rows.data[i].special_saved);
}

static f64 runs_of(const CasePart *part, u32 pc) { return block_runs(part, part->view->flow.cfg->block_of[pc]); }

typedef struct MathFound {
    const CasePart *part;
    u32 pc;
    f64 most;
    u32 exact, names;  // operations; bits: sequences
} MathFound;

// `steps` instructions less for each run, `special` of them the special function unit's.
static void add_to_line(AdviceCase *c, MathLines *lines, MathFound *m, const CasePart *part, u32 pc, f64 steps,
                        f64 special) {
    MathLine *line = line_of(c, lines, part, pc, true);
    f64 runs = runs_of(part, pc);
    if (!line) return;
    line->saved += runs * (steps - special);
    line->special_saved += runs * special;
    if (line->saved > m->most) m->most = line->saved, m->part = part, m->pc = pc;
}

// --- fast-math -----------------------------------------------------------------------------------------------------
// One PTX instruction that becomes a sequence, it is known how long, of which `left` stay.
static void add_exact(Hit *hit, const CasePart *part, u32 pc, f64 left, MathFound *m) {
    f64 steps = insn_steps(part, pc);
    if (steps <= FAST_STEPS) steps = EXACT_STEPS;
    hit_remove(hit, part, pc, 1 - left / steps);
    if (part->insns[pc].issued > m->most) m->most = part->insns[pc].issued, m->part = part, m->pc = pc;
}

static bool is_slow_path(const CasePart *part, u32 pc) {
    const char *name = insn_routine(part, pc);
    return name && strstr(name, "_f32_slowpath");
}

static bool is_division(const CasePart *part, u32 pc) {
    const SassInsn *insn = insn_machine(part, pc);
    return insn && insn->op == SASS_OP_FCHK;
}

static u32 node_of_divisor(const CasePart *part, u32 pc) {
    const FlowInsn *in = case_insn(part, pc);
    return in->uses < 2 ? WL_NONE : part->view->flow.chains->of_operand[in->operands + in->defs + 1];
}

// Whether a division ahead of `pc` in the same loop has the same divisor: fast ones share its reciprocal.
static bool shares_divisor(const CasePart *part, u32 pc) {
    u32 divisor = node_of_divisor(part, pc);
    for (u32 other = 0; other < pc && divisor != WL_NONE; other++)
        if (is_division(part, other) && node_of_divisor(part, other) == divisor &&
            part->insns[other].loop == part->insns[pc].loop)
            return true;
    return false;
}

static void add_division(AdviceCase *c, MathLines *lines, MathFound *m, const CasePart *part, u32 pc) {
    bool shared = is_division(part, pc) && shares_divisor(part, pc);
    u32 steps = shared ? SHARED_STEPS : FAST_STEPS, special = CHECK_STEPS + shared;
    add_to_line(c, lines, m, part, pc, EXACT_STEPS - (f64)steps, special);
}

static void fast_math_of(Hit *hit, const CasePart *part, MathFound *m) {
    MathLines lines = {0};
    bool machine = part->view->kind == VIEW_SASS;
    for (u32 pc = 0; pc < part->view->insn_count; pc++) {
        u32 sequence = find_sequence(part, pc);
        bool exact = part->insns[pc].traits & TRAIT_EXACT_MATH && !(part->insns[pc].traits & TRAIT_CALL);
        if (sequence != WL_NONE) {
            f64 steps = sequences[sequence].exact_steps - (f64)sequences[sequence].fast_steps;
            f64 special = sequences[sequence].exact_special - (f64)sequences[sequence].fast_special;
            add_to_line(hit->c, &lines, m, part, pc, steps, special);
            m->names |= 1u << sequence;
        }
        if (is_slow_path(part, pc)) hit_remove(hit, part, pc, 1);
        if (!exact || case_insn(part, pc)->kind == FLOW_CALL) continue;
        m->exact += part->insns[pc].issued > 0;
        if (machine)
            add_division(hit->c, &lines, m, part, pc);
        else
            add_exact(hit, part, pc, FAST_STEPS, m);
    }
    remove_lines(hit, part, &lines);
    vec_free(&lines.rows);
}

// --- strength-reduction: powers --------------------------------------------------------------------------------------
// powf multiplies the logarithm by the exponent, exactly: a product and what it lacks, both with the exponent. Where
// that is a small whole number, squares and products give the same (and are as exact, but for the last bits); halves
// and quarters take square roots besides, thirds a cube root, negative ones a reciprocal.
enum { POWF = 5, EXPONENT_STEPS = 2 };

typedef struct Power {   // of what gives the same
    u32 steps, special;  // instructions, and those of them that are the special function unit's; 0: nothing is better
} Power;

// What the part of the exponent behind the point takes: instructions of nvcc 13.0 for sm_90 on the way that is nearly
// always taken, and the product with the rest.
static const struct {
    f64 part;
    u32 steps, special;
} roots[] = {{0, 0, 0}, {1 / 2.0, 10, 1}, {1 / 4.0, 20, 2}, {3 / 4.0, 21, 2}, {1 / 3.0, 16, 2}, {2 / 3.0, 17, 2}};

static u32 root_of(f64 part, f64 exponent) {
    for (u32 i = 0; i < WL_COUNT(roots); i++)
        if (fabs(part - roots[i].part) <= FLT_EPSILON * exponent) return i;
    return WL_NONE;
}

// What gives the power of this exponent, unless it takes as many products as __powf has instructions. A negative one
// takes the reciprocal besides.
static Power power_of(f32 exponent) {
    f64 size = fabs((f64)exponent);
    if (!(size > 0 && size < 1 << 16) || exponent == 1) return (Power){0};
    u32 whole = (u32)size, products = 0, root = root_of(size - whole, size);
    for (u32 n = whole; n > 1; n /= 2) products += 1 + n % 2;
    if (root == WL_NONE || products >= sequences[POWF].fast_steps) return (Power){0};
    bool both = whole && roots[root].steps, inverse = exponent < 0;
    return (Power){products + roots[root].steps + both + inverse * EXACT_STEPS, roots[root].special + inverse};
}

static bool has_number(const CasePart *part, u32 pc, f32 wanted) {
    f32 number;
    for (u32 nth = 0; nth < case_source_count(part, pc); nth++)
        if (case_number(part, pc, nth, &number) && number == wanted) return true;
    return false;
}

static bool is_written(const CasePart *part, u32 pc, f32 wanted) {
    u32 bits;
    for (u32 nth = 0; constant_of(part, pc, nth, &bits); nth++)
        if (bits == bits_of_f32(wanted)) return true;
    return false;
}

// Whether the result goes, be it negated first, into another operation with this number.
static bool meets_again(const CasePart *part, u32 pc, f32 number, u32 depth) {
    const Chains *chains = part->view->flow.chains;
    const FlowInsn *in = case_insn(part, pc);
    u32 node = in->defs == 1 ? chains->of_operand[in->operands] : WL_NONE;
    for (u32 i = node == WL_NONE ? 0 : chains->first_user[node]; node != WL_NONE && i < chains->first_user[node + 1];
         i++) {
        u32 user = chains->users[i].insn;
        if (user == WL_NONE || !same_line(part, pc, user)) continue;
        if (has_number(part, user, number)) return true;
        if (depth > 1 && case_insn(part, user)->uses == 1 && meets_again(part, user, number, depth - 1)) return true;
    }
    return false;
}

static bool is_of_powf(const CasePart *part, u32 pc) {
    for (u32 other = 0; other < part->view->flow.code->insn_count; other++)
        if (same_line(part, pc, other) && find_sequence(part, other) == POWF) return true;
    return false;
}

static bool is_product(const CasePart *part, u32 pc) {
    const SassInsn *insn = insn_machine(part, pc);
    return insn ? insn->op == SASS_OP_FMUL
                : part->insns[pc].traits & TRAIT_ARITHMETIC && case_insn(part, pc)->uses == 2;
}

// What replaces the power whose exponent is met here first.
static Power power_at(const CasePart *part, u32 pc, f32 *exponent) {
    Power power = {0};
    for (u32 nth = 0; is_product(part, pc) && nth < case_source_count(part, pc) && !power.steps; nth++) {
        if (!case_number(part, pc, nth, exponent)) continue;
        power = power_of(*exponent);
        if (power.steps && !meets_again(part, pc, *exponent, EXPONENT_STEPS)) power.steps = 0;
    }
    return power.steps && is_of_powf(part, pc) ? power : (Power){0};
}

void replace_powers(AdviceCase *c) {
    Hit *hit = hit_begin(c);
    MathFound m = {0};
    u32 count = 0, launched = 0;
    f32 exponent, last = 0;
    for (u32 p = 0; p < c->part_count; p++) {
        const CasePart *part = &c->parts[p];
        MathLines lines = {0};
        for (u32 pc = 0; pc < part->view->flow.code->insn_count; pc++) {
            Power power = power_at(part, pc, &exponent);
            if (!power.steps) continue;
            add_to_line(c, &lines, &m, part, pc, sequences[POWF].exact_steps - (f64)power.steps,
                        sequences[POWF].exact_special - (f64)power.special);
            count++;
            if (!is_written(part, pc, exponent)) launched++, last = exponent;
        }
        remove_lines(hit, part, &lines);
        vec_free(&lines.rows);
    }
    if (!m.part || hit->change.issues <= 0) return hit_drop(hit);
    f64 share = 100 * hit->change.issues / c->load.issued;
    hit_fact(hit, "small_powers", count, "calls",
             "%u call%s of powf with a small exponent: whole numbers, halves, quarters, thirds, or these negated",
             count, plural(count));
    hit_text(hit, TEXT_powers);
    if (launched)
        hit_fact(hit, "launched_exponent", (f64)last, "exponent",
                 "the launches decide on the exponent, which is %g in all of them", (f64)last);
    hit_fact(hit, "power_issue_share", share, "%", "%.0f %% of what is issued would not be needed", share);
    hit_caution(hit, launched ? "keep a version with powf for launches with other exponents; the last bits of results "
                                "may change"
                              : "the last bits of results may change");
    hit_end_line(hit, m.part, m.pc, "Write products and roots instead of calling powf at %s",
                 place_text(c, m.part, m.pc));
}

// --- strength-reduction: divisions by what a loop keeps --------------------------------------------------------------
// One division ahead of the loop gives the reciprocal, with which the loop multiplies.
enum { STEPS_OF_RECIPROCAL = 3, DIVISOR_DEPTH = 2 };

static bool divides(const CasePart *part, u32 pc) {
    u32 traits = part->insns[pc].traits;
    if (part->view->kind == VIEW_SASS) return is_division(part, pc);
    return traits & TRAIT_EXACT_MATH && !(traits & TRAIT_CALL) && case_insn(part, pc)->uses == 2;
}

static bool divides_by_same(const CasePart *part, u32 pc) {
    u32 loop = part->insns[pc].loop;
    return loop != WL_NONE && part->insns[pc].issued > 0 && divides(part, pc) &&
           node_stays(part, loop, node_of_divisor(part, pc), DIVISOR_DEPTH);
}

// Reciprocals of the divisor for each division by it: the compiler may have taken them out of the loop.
static f64 reciprocals_of(const CasePart *part, u32 division) {
    f64 reciprocals = 0, divisions = 0;
    u32 divisor = node_of_divisor(part, division);
    for (u32 pc = 0; pc < part->view->insn_count; pc++) {
        if (part->insns[pc].loop != part->insns[division].loop) continue;
        const FlowInsn *in = case_insn(part, pc);
        if (is_division(part, pc)) divisions += node_of_divisor(part, pc) == divisor;
        if (insn_machine(part, pc)->op != SASS_OP_MUFU || !in->uses) continue;
        reciprocals += part->view->flow.chains->of_operand[in->operands + in->defs] == divisor;
    }
    return fmin(reciprocals / divisions, 1);
}

static void divide_ahead(Hit *hit, MathLines *lines, MathFound *m, const CasePart *part, u32 pc) {
    m->exact++;
    if (part->view->kind != VIEW_SASS) return add_exact(hit, part, pc, SHARED_STEPS, m);
    f64 reciprocals = reciprocals_of(part, pc);
    f64 gone = EXACT_STEPS - SHARED_STEPS - STEPS_OF_RECIPROCAL * (1 - reciprocals);
    add_to_line(hit->c, lines, m, part, pc, gone, CHECK_STEPS + reciprocals);
}

void divide_before_loops(AdviceCase *c) {
    Hit *hit = hit_begin(c);
    MathFound m = {0};
    hit_text(hit, TEXT_reciprocals);
    for (u32 p = 0; p < c->part_count; p++) {
        const CasePart *part = &c->parts[p];
        MathLines lines = {0};
        for (u32 pc = 0; pc < part->view->insn_count; pc++)
            if (divides_by_same(part, pc)) divide_ahead(hit, &lines, &m, part, pc);
        remove_lines(hit, part, &lines);
        vec_free(&lines.rows);
    }
    if (!m.part || hit->change.issues <= 0) return hit_drop(hit);
    f64 share = 100 * hit->change.issues / c->load.issued;
    hit_fact(hit, "exact_operations", m.exact, "instructions",
             "divisions by what all turns of their loop divide by: %u", m.exact);
    hit_fact(hit, "exact_math_issue_share", share, "%", "%.0f %% of what is issued would not be needed", share);
    hit_caution(hit, "the last bit of results may change");
    hit_end_line(hit, m.part, m.pc, "Divide once ahead of the loop, and multiply by the reciprocal at %s",
                 place_text(c, m.part, m.pc));
}

// --- fast-math: the rule ---------------------------------------------------------------------------------------------
void rule_fast_math(AdviceCase *c) {
    Hit *hit = hit_begin(c);
    MathFound m = {0};
    for (u32 p = 0; p < c->part_count; p++) fast_math_of(hit, &c->parts[p], &m);
    if (!m.part || hit->change.issues <= 0) return hit_drop(hit);
    f64 share = 100 * hit->change.issues / c->load.issued;
    hit_fact(hit, "exact_math_issue_share", share, "%",
             "%.0f %% of the instructions would not be needed without the last bits of results", share);
    if (m.exact)
        hit_fact(hit, "exact_operations", m.exact, "instructions",
                 "correctly rounded divisions, roots and reciprocals: %u", m.exact);
    for (u32 s = 0; s < WL_COUNT(sequences); s++)
        if (m.names & 1u << s)
            hit_fact(hit, "math_function", sequences[s].exact_steps, "instructions",
                     "%s takes some %u instructions; %s %u", sequences[s].name, sequences[s].exact_steps,
                     sequences[s].fast, sequences[s].fast_steps);
    hit_caution(hit, "results change in their last digits; large arguments of sine and cosine lose more");
    hit_end_line(hit, m.part, m.pc, "Use the fast versions of the math functions at %s", place_text(c, m.part, m.pc));
}
