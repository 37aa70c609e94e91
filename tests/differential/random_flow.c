// SPDX-License-Identifier: Apache-2.0
// Control flow. Each region knows in a register which lanes of the warp execute it: ballots taken where lanes part.
#include "random_gen.h"

#include <stdio.h>
#include <string.h>

static Scope inner(const Scope *s, Name mask) {
    Scope i = *s;
    i.mask = mask;
    i.depth++;
    i.converged = false;
    i.may_exit = false;
    return i;
}
static u32 body_size(Gen *g) { return 1 + gen_below(g, 6); }

// Splits the lanes by a predicate: q, and the masks of both sides.
static void split(Gen *g, const Scope *s, Name *q, Name *yes, Name *no) {
    *q = gen_temp(g, CPRED), *yes = gen_temp(g, C32), *no = gen_temp(g, C32);
    gen_emit(g, "mov.pred %s, %s;\n", q->s, gen_pool(g, CPRED).s);
    if (s->warp)
        gen_emit(g, "vote.sync.ballot.b32 %s, %s, %s;\nxor.b32 %s, %s, %s;\n", yes->s, q->s, s->mask.s, no->s, yes->s,
                 s->mask.s);
}

static void uniform_if(Gen *g, Scope *s) {
    u32 other = gen_label(g), end = gen_label(g);
    Name q = gen_temp(g, CPRED);
    bool has_else = gen_chance(g, 50);
    gen_emit(g, "setp.%s.u32 %s, %%u%u, %u;\n@%s bra%s L%u;\n", gen_chance(g, 50) ? "lt" : "ge", q.s,
             gen_below(g, POOL_UNIFORM), gen_chance(g, 50) ? 0x80000000u : gen_below(g, 8), q.s,
             gen_chance(g, 30) ? ".uni" : "", other);
    Scope i = inner(s, s->mask);
    i.converged = s->converged;
    gen_statements(g, &i, body_size(g));
    if (has_else) gen_emit(g, "bra L%u;\n", end);
    gen_emit(g, "L%u:\n", other);
    if (has_else) {
        gen_statements(g, &i, body_size(g));
        gen_emit(g, "L%u:\n", end);
    }
}

void gen_if(Gen *g, Scope *s) {
    if (s->converged && !s->function && gen_chance(g, 30)) {
        uniform_if(g, s);
        return;
    }
    Name q, yes, no;
    u32 other = gen_label(g), end = gen_label(g);
    bool has_else = gen_chance(g, 60);
    split(g, s, &q, &yes, &no);
    gen_emit(g, "@%s bra L%u;\n", q.s, other);
    Scope i = inner(s, no);
    gen_statements(g, &i, body_size(g));
    if (has_else) gen_emit(g, "bra L%u;\n", end);
    gen_emit(g, "L%u:\n", other);
    if (has_else) {
        Scope j = inner(s, yes);
        j.warp = s->warp;
        gen_statements(g, &j, body_size(g));
        gen_emit(g, "L%u:\n", end);
    }
    if (s->left && *s->left) s->warp = false;
}

// A loop of at most `trips` rounds, as many as a value says; lanes may leave it inside.
void gen_loop(Gen *g, Scope *s) {
    u32 trips = 2 + gen_below(g, 6), head = gen_label(g), end = gen_label(g);
    bool data = gen_chance(g, 70), left = false, uniform = s->converged && !s->function && gen_chance(g, 40);
    Name count = gen_temp(g, C32), q = gen_temp(g, CPRED), mask = gen_temp(g, C32);
    if (uniform)
        gen_emit(g, "rem.u32 %s, %%u%u, %u;\n", count.s, gen_below(g, POOL_UNIFORM), trips + 1);
    else if (data)
        gen_emit(g, "rem.u32 %s, %s, %u;\n", count.s, gen_pool(g, C32).s, trips + 1);
    else
        gen_emit(g, "mov.u32 %s, %u;\n", count.s, trips);
    gen_emit(g, "mov.b32 %s, %s;\nL%u:\nsetp.eq.u32 %s, %s, 0;\n", mask.s, s->mask.s, head, q.s, count.s);
    bool warp = s->warp && gen_chance(g, 80);
    if (warp && !uniform) gen_emit(g, "vote.sync.ballot.b32 %s, !%s, %s;\n", mask.s, q.s, mask.s);
    gen_emit(g, "@%s bra L%u;\nsub.u32 %s, %s, 1;\n", q.s, end, count.s, count.s);
    Scope i = inner(s, mask);
    i.converged = uniform;
    i.warp = warp;
    i.weight = s->weight * trips;
    // Lanes that leave inside make the masks of the next round wrong, and barriers impossible.
    bool may_leave = !warp && !uniform;
    i.break_label = may_leave ? end : WL_NONE;
    i.left = &left;
    gen_statements(g, &i, body_size(g));
    gen_emit(g, "bra L%u;\nL%u:\n", head, end);
}

void gen_break(Gen *g, Scope *s) {
    gen_emit(g, "@%s%s bra L%u;\n", gen_chance(g, 50) ? "!" : "", gen_pool(g, CPRED).s, s->break_label);
    if (s->left) *s->left = true;
}

void gen_switch(Gen *g, Scope *s) {
    u32 ways = 2 + gen_below(g, 4), table = gen_label(g), first = g->labels, end;
    g->labels += ways;
    end = gen_label(g);
    Name t = gen_temp(g, C32);
    gen_emit(g, "rem.u32 %s, %s, %u;\nT%u: .branchtargets", t.s, gen_pool(g, C32).s, ways, table);
    for (u32 k = 0; k < ways; k++) gen_emit(g, "%s L%u", k ? "," : "", first + k);
    Scope i = inner(s, s->mask);
    i.warp = false;
    gen_emit(g, ";\nbrx.idx %s, T%u;\n", t.s, table);
    for (u32 k = 0; k < ways; k++) {
        gen_emit(g, "L%u:\n", first + k);
        Scope w = i;
        gen_statements(g, &w, 1 + gen_below(g, 3));
        if (gen_chance(g, 80)) gen_emit(g, "bra L%u;\n", end);
    }
    gen_emit(g, "L%u:\n", end);
}

// Some threads are done.
void gen_exit(Gen *g, Scope *s) {
    u32 on = gen_label(g);
    Name q = gen_temp(g, CPRED), m = gen_temp(g, C32), p = gen_pool(g, CPRED), p2 = gen_pool(g, CPRED);
    gen_emit(g, "and.pred %s, %s, %s;\nvote.sync.ballot.b32 %s, !%s, %s;\n@!%s bra L%u;\n", q.s, p.s, p2.s, m.s, q.s,
             s->mask.s, q.s, on);
    gen_results(g);
    gen_emit(g, "%s;\nL%u:\nmov.b32 %s, %s;\n", gen_chance(g, 50) ? "exit" : "ret", on, s->mask.s, m.s);
    s->converged = false;
}

// --- functions ----------------------------------------------------------------------------------------------------
static const char *const prototype_params = "(.param .b32 a, .param .b64 b, .param .b32 m, .param .b64 in, .param .b64 "
                                            "acc, .param .b64 slot, .param .b32 depth)";

static void function_head(Gen *g) {
    gen_emit(g, "ld.param.b32 %%r0, [a];\nld.param.b64 %%d0, [b];\nld.param.b32 %%m, [m];\nld.param.b64 %%in, [in];\n"
                "ld.param.b64 %%acc, [acc];\nld.param.b64 %%slot, [slot];\nld.param.b32 %%depth, [depth];\nmov.u32 "
                "%%lane, %%laneid;\n");
    for (u32 i = 1; i < POOL_32; i++)
        gen_emit(g, "mad.lo.u32 %%r%u, %%r0, %u, %u;\n", i, 2 * gen_below(g, 1000) + 1, gen_below(g, 1u << 30));
    for (u32 i = 1; i < POOL_64; i++)
        gen_emit(g, "mad.lo.u64 %%d%u, %%d0, %u, %u;\n", i, 2 * gen_below(g, 100000) + 1, gen_below(g, 1u << 30));
    for (u32 i = 0; i < POOL_16; i++) gen_emit(g, "cvt.u16.u32 %%h%u, %%r%u;\n", i, i + 2);
    gen_emit(g, "ld.global.b32 %%r1, [%%in+%u];\n", 4 * gen_below(g, 512));
}
static void call_of(Gen *g, const char *callee, const char *prototype, const char *a, const char *b, const char *mask,
                    const char *depth, const char *result) {
    gen_emit(g, "{\n.param .b32 x0, x2, x6, y;\n.param .b64 x1, x3, x4, x5;\n.reg .b32 res;\n");
    gen_emit(g,
             "st.param.b32 [x0], %s;\nst.param.b64 [x1], %s;\nst.param.b32 [x2], %s;\nst.param.b64 [x3], %%in;\n"
             "st.param.b64 [x4], %%acc;\nst.param.b64 [x5], %%slot;\nst.param.b32 [x6], %s;\n",
             a, b, mask, depth);
    gen_emit(g, "call (y), %s, (x0, x1, x2, x3, x4, x5, x6)%s%s;\nld.param.b32 res, [y];\nxor.b32 %s, %s, res;\n}\n",
             callee, prototype[0] ? ", " : "", prototype, result, result);
}
static void function_tail(Gen *g) {
    for (u32 i = 1; i < POOL_32; i++) gen_emit(g, "xor.b32 %%r0, %%r0, %%r%u;\n", i);
    for (u32 i = 0; i < POOL_64; i++)
        gen_emit(g, "mov.b64 {%%t0, %%t1}, %%d%u;\nmad.lo.u32 %%r0, %%r0, 17, %%t0;\nxor.b32 %%r0, %%r0, %%t1;\n", i);
    for (u32 i = 0; i < POOL_PRED; i++)
        gen_emit(g, "selp.u32 %%t0, %u, 0, %%p%u;\nadd.u32 %%r0, %%r0, %%t0;\n", 1u << i, i);
    gen_emit(g, "mov.b32 %%t0, {%%h0, %%h1};\nmov.b32 %%t1, {%%h2, %%h3};\nadd.u32 %%r0, %%r0, %%t0;\nxor.b32 %%r0, "
                "%%r0, %%t1;\n");
}
// Calls itself `depth` times, in a branch.
static void recursive_tail(Gen *g) {
    function_tail(g);
    char self[RANDOM_NAME + 8];
    snprintf(self, sizeof self, "%s_f%u", g->program->name, g->functions);
    u32 end = gen_label(g);
    gen_emit(g,
             "setp.eq.u32 %%q0, %%depth, 0;\nvote.sync.ballot.b32 %%t2, !%%q0, %%m;\n@%%q0 bra L%u;\nsub.u32 %%t3, "
             "%%depth, 1;\n",
             end);
    call_of(g, self, "", "%r0", "%d1", "%t2", "%t3", "%r0");
    gen_emit(g, "L%u:\nbar.warp.sync %%m;\n", end);
}
static void end_plain(Gen *g) {
    function_tail(g);
    gen_emit(g, "st.param.b32 [ret], %%r0;\nret;\n");
}
static void end_recursive(Gen *g) {
    recursive_tail(g);
    gen_emit(g, "st.param.b32 [ret], %%r0;\nret;\n");
}

void gen_function(Gen *g, u32 index) {
    g->recursive[index] = gen_chance(g, 30);
    Scope scope = {.mask = {"%m"}, .warp = true, .function = true, .weight = 8, .depth = 2, .break_label = WL_NONE};
    gen_emit(g, ".func (.param .b32 ret) %s_f%u%s\n{\n", g->program->name, index, prototype_params);
    gen_function_body(g, &scope, 3 + gen_below(g, 15), function_head, g->recursive[index] ? end_recursive : end_plain);
    gen_emit(g, "}\n");
}

void gen_call(Gen *g, const Scope *s) {
    u32 f = gen_below(g, g->functions), f2 = gen_below(g, g->functions);
    Name a = gen_pool(g, C32), b = gen_pool(g, C64), d = gen_pool(g, C32), depth = gen_temp(g, C32);
    char callee[RANDOM_NAME + 8];
    snprintf(callee, sizeof callee, "%s_f%u", g->program->name, f);
    gen_emit(g, "and.b32 %s, %s, 3;\n", depth.s, gen_pool(g, C32).s);
    if (s->function || gen_chance(g, 60)) {
        call_of(g, callee, "", a.s, b.s, s->mask.s, depth.s, d.s);
        gen_emit(g, "bar.warp.sync %s;\n", s->mask.s);
        return;
    }
    Name at = gen_temp(g, C64), at2 = gen_temp(g, C64), q, yes, no, m = gen_temp(g, C32);
    u32 label = gen_label(g);
    char prototype[16];
    split(g, s, &q, &yes, &no);
    // To one function: after calls of several, ptxas and the H200 do not bring the lanes of a mask together.
    f2 = f;
    yes = no = s->mask;
    snprintf(prototype, sizeof prototype, "P%u", label);
    gen_emit(g, "mov.u64 %s, %s;\nmov.u64 %s, %s_f%u;\nselp.b64 %s, %s, %s, %s;\nselp.b32 %s, %s, %s, %s;\n", at.s,
             callee, at2.s, g->program->name, f2, at.s, at.s, at2.s, q.s, m.s, yes.s, no.s, q.s);
    gen_emit(g,
             "P%u: .callprototype (.param .b32 _) _ (.param .b32 _, .param .b64 _, .param .b32 _, .param .b64 _, "
             ".param .b64 _, "
             ".param .b64 _, .param .b32 _);\n",
             label);
    call_of(g, at.s, prototype, a.s, b.s, m.s, depth.s, d.s);
    gen_emit(g, "bar.warp.sync %s;\n", s->mask.s);
}
