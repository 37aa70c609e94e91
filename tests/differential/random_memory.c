// SPDX-License-Identifier: Apache-2.0
// Memory in all spaces and widths, without races: what threads share changes only by atomics whose order does not
// matter, or between barriers.
#include "random_gen.h"

#include <stdio.h>
#include <string.h>

static RandomClass class_of(u32 bytes) { return bytes == 8 ? C64 : bytes == 4 ? C32 : C16; }

typedef struct Access {
    u32 bytes, vector;  // of an element; elements
    char type[8], width[8];
} Access;
static Access choose_access(Gen *g, u32 max_bytes) {
    Access a = {0};
    do {
        a.bytes = 1u << gen_below(g, 4);
        a.vector = gen_chance(g, 70) ? 1 : 1u << gen_below(g, 3);
    } while (a.bytes * a.vector > max_bytes || a.bytes * a.vector > 16);
    snprintf(a.type, sizeof a.type, "%c%u", "bus"[gen_below(g, 3)], a.bytes * 8);
    if (a.vector > 1) snprintf(a.width, sizeof a.width, ".v%c", (char)('0' + a.vector));
    return a;
}
// `count` different registers of the pool, or temporaries: "{a, b}" or "a".
static void registers(Gen *g, const Access *a, bool load, char *text, size_t size) {
    RandomClass c = class_of(a->bytes);
    if (a->bytes < 4 && gen_chance(g, 40)) c = C32;  // registers may be wider
    size_t n = 0;
    if (a->vector > 1) n += (size_t)snprintf(text, size, "{");
    Name used[4];
    for (u32 i = 0; i < a->vector; i++) {
        used[i] = gen_pool(g, c);
        for (u32 k = 0; load && k < i; k++)
            if (!strcmp(used[k].s, used[i].s)) used[i] = gen_temp(g, c), k = i;
        n += (size_t)snprintf(text + n, size - n, "%s%s", i ? ", " : "", used[i].s);
    }
    if (a->vector > 1) snprintf(text + n, size - n, "}");
}
// A 64-bit address: base + (a register's value, scaled, below `bytes`).
static Name address(Gen *g, const char *base, u32 bytes, u32 size) {
    Name at = gen_temp(g, C64), t = gen_temp(g, C32);
    gen_emit(g, "and.b32 %s, %s, %u;\ncvt.u64.u32 %s, %s;\nadd.u64 %s, %s, %s;\n", t.s, gen_pool(g, C32).s,
             (bytes - 1) & ~(size - 1), at.s, t.s, at.s, at.s, base);
    return at;
}

void gen_load_input(Gen *g, bool function) {
    static const char *const ops[] = {"ld.global{,.ca,.cg,.cs,.lu,.cv}",
                                      "ld.global.nc{,.L1::no_allocate,.L1::evict_first,.L2::128B}",
                                      "ld",
                                      "ld.weak.global",
                                      "ld.relaxed.{cta,gpu,sys}.global",
                                      "ld.volatile.global",
                                      "ld.acquire.gpu.global",
                                      "ldu.global",
                                      "ld.global{,.ca}"};
    Access a = choose_access(g, 16);
    char op[64], regs[80];
    u32 kind = gen_below(g, 12);
    if (kind == 9 && !function) {  // a parameter
        const char *n = g->program->name;
        static const char *const params[] = {"u8 %s, [%s_p8]",      "u16 %s, [%s_p16]",      "b32 %s, [%s_p32]",
                                             "s8 %s, [%s_bytes+5]", "u32 %s, [%s_bytes+12]", "s16 %s, [%s_p64+2]"};
        gen_emit(g, "ld.param.");
        char text[96];
        snprintf(text, sizeof text, params[gen_below(g, WL_COUNT(params))], gen_pool(g, C32).s, n);
        gen_emit(g, "%s;\n", text);
        return;
    }
    if (kind >= 9) {  // constants
        Name at = gen_temp(g, C64), t = gen_temp(g, C32), base = gen_temp(g, C64);
        registers(g, &a, true, regs, sizeof regs);
        u32 size = a.bytes * a.vector;
        gen_emit(g, "mov.u64 %s, random_const;\nand.b32 %s, %s, %u;\ncvt.u64.u32 %s, %s;\nadd.u64 %s, %s, %s;\n",
                 base.s, t.s, gen_pool(g, C32).s, 63u & ~(size - 1), at.s, t.s, at.s, at.s, base.s);
        gen_emit(g, "ld.const%s.%s %s, [%s];\n", a.width, a.type, regs, at.s);
        return;
    }
    u32 size = a.bytes * a.vector;
    Name at = address(g, "%in", RANDOM_INPUT / 2, size);
    registers(g, &a, true, regs, sizeof regs);
    gen_expand(g, ops[kind], op, sizeof op);
    if (strstr(op, ".acquire") || strstr(op, ".relaxed"))
        a.width[0] ? (void)snprintf(op, sizeof op, "ld.global") : (void)0;
    gen_emit(g, "%s%s.%s %s, [%s+%u];\n", op, a.width, a.type, regs, at.s, gen_below(g, RANDOM_INPUT / 2 / 16) * 16);
}

void gen_local(Gen *g) {
    Access a = choose_access(g, 16);
    bool load = gen_chance(g, 55), generic = gen_chance(g, 30);
    char regs[80];
    Name at = address(g, generic ? "%lgen" : "%la", LOCAL_BYTES, a.bytes * a.vector);
    registers(g, &a, load, regs, sizeof regs);
    const char *space = generic ? "" : ".local";
    if (load)
        gen_emit(g, "ld%s%s.%s %s, [%s];\n", space, a.width, a.type, regs, at.s);
    else
        gen_emit(g, "st%s%s.%s [%s], %s;\n", space, a.width, a.type, at.s, regs);
}

static const char *const atomics32[] = {"add.u32", "add.s32", "min.u32", "min.s32", "max.u32", "max.s32",
                                        "and.b32", "or.b32",  "xor.b32", "inc.u32", "dec.u32", "exch.b32"};
static const char *const atomics64[] = {"add.u64", "min.u64", "min.s64", "max.u64", "max.s64",
                                        "and.b64", "or.b64",  "xor.b64", "exch.b64"};

// An atomic on a place that no other thread touches: its result is known.
static void own_atomic(Gen *g, const char *space, const char *at) {
    static const char *const orders[] = {
        "", ".relaxed.gpu", ".acq_rel.cta", ".acquire.sys", ".release.gpu", ".relaxed.cta"};
    const char *order = orders[gen_below(g, WL_COUNT(orders))];
    bool wide = gen_chance(g, 35), cas = gen_chance(g, 15);
    RandomClass c = wide ? C64 : C32;
    Name d = gen_pool(g, c), a = gen_pool(g, c);
    if (cas)
        gen_emit(g, "atom%s%s.cas.b%u %s, [%s], %s, %s;\n", order, space, wide ? 64 : 32, d.s, at, gen_pool(g, c).s,
                 a.s);
    else
        gen_emit(g, "atom%s%s.%s %s, [%s], %s;\n", order, space,
                 wide ? atomics64[gen_below(g, WL_COUNT(atomics64))] : atomics32[gen_below(g, WL_COUNT(atomics32))],
                 d.s, at, a.s);
}

// This thread's own memory: global, or shared.
void gen_slot(Gen *g, bool function) {
    bool shared = !function && gen_chance(g, 40), generic = gen_chance(g, 25);
    Name base = gen_temp(g, C64);
    u32 bytes = shared ? 16 : RANDOM_SLOT;
    if (shared)
        gen_emit(g, "mad.wide.u32 %s, %%lt, 16, %%sgen;\nadd.u64 %s, %s, %u;\n", base.s, base.s, base.s, SHARED_OWN);
    else
        gen_emit(g, "mov.u64 %s, %%slot;\n", base.s);
    if (shared && !generic) gen_emit(g, "cvta.to.shared.u64 %s, %s;\n", base.s, base.s);
    const char *space = generic ? "" : shared ? ".shared" : ".global";
    if (gen_chance(g, 30)) {
        Name at = address(g, base.s, bytes, 8);
        own_atomic(g, space, at.s);
        return;
    }
    Access a = choose_access(g, 16);
    Name at = address(g, base.s, bytes, a.bytes * a.vector);
    bool load = gen_chance(g, 50);
    char regs[80];
    registers(g, &a, load, regs, sizeof regs);
    static const char *const load_orders[] = {"", "", "", ".volatile", ".relaxed.gpu", ".acquire.cta", ".weak"};
    static const char *const store_orders[] = {"", "", "", ".volatile", ".relaxed.gpu", ".release.cta", ".weak"};
    u32 order = a.vector > 1 ? 0 : gen_below(g, WL_COUNT(load_orders));
    if (load)
        gen_emit(g, "ld%s%s%s.%s %s, [%s];\n", load_orders[order], space, a.width, a.type, regs, at.s);
    else
        gen_emit(g, "st%s%s%s.%s [%s], %s;\n", store_orders[order], space, a.width, a.type, at.s, regs);
}

void gen_copy_async(Gen *g) {
    Name to = gen_temp(g, C64), to32 = gen_temp(g, C32);
    gen_emit(g, "mad.lo.u32 %s, %%lt, 16, %%sh;\nadd.u32 %s, %s, %u;\ncvt.u64.u32 %s, %s;\n", to32.s, to32.s, to32.s,
             SHARED_OWN, to.s, to32.s);
    u32 size = 4u << gen_below(g, 3);
    Name from = address(g, "%in", RANDOM_INPUT, size);
    if (gen_chance(g, 30)) {
        Name n = gen_temp(g, C32);
        gen_emit(g, "and.b32 %s, %s, %u;\ncp.async.ca.shared.global [%s], [%s], %u, %s;\n", n.s, gen_pool(g, C32).s,
                 size - 1, to32.s, from.s, size, n.s);
    } else
        gen_emit(g, "cp.async.%s.shared.global [%s], [%s], %u;\n", size == 16 && gen_chance(g, 50) ? "cg" : "ca", to.s,
                 from.s, size);
    gen_emit(g, gen_chance(g, 50) ? "cp.async.commit_group;\ncp.async.wait_group 0;\n" : "cp.async.wait_all;\n");
    gen_emit(g, "ld.shared.b32 %s, [%s+%u];\n", gen_pool(g, C32).s, to32.s, gen_below(g, 4) * 4);
}

// What all threads change: operations whose order does not matter, each in places of its own.
typedef struct AccOp {
    const char *op;
    u32 place;  // of 8 words of 8 bytes; those from 16 begin with 0
    char source;
} AccOp;
static const AccOp acc_ops[] = {
    {"add.u32", 0, 'r'},  {"add.s32", 0, 'r'},  {"add.u64", 1, 'd'},  {"min.s32", 2, 'r'},  {"max.s32", 3, 'r'},
    {"min.u32", 4, 'r'},  {"max.u32", 5, 'r'},  {"min.u64", 6, 'd'},  {"max.s64", 7, 'd'},  {"and.b32", 8, 'r'},
    {"or.b32", 9, 'r'},   {"xor.b32", 10, 'r'}, {"and.b64", 11, 'd'}, {"or.b64", 12, 'd'},  {"xor.b64", 13, 'd'},
    {"inc.u32", 14, 'i'}, {"dec.u32", 15, 'i'}, {"add.f32", 16, 'f'}, {"add.f64", 17, 'F'}, {"max.u64", 18, 'd'},
    {"min.s64", 19, 'd'},
};

void gen_accumulate(Gen *g, const Scope *scope) {
    bool shared = !scope->function && gen_chance(g, 50);
    const AccOp *o = &acc_ops[gen_below(g, WL_COUNT(acc_ops))];
    Name at = gen_temp(g, C64), t = gen_temp(g, C32);
    gen_emit(g, "and.b32 %s, %s, 7;\n", t.s, gen_pool(g, C32).s);
    gen_emit(g, "mad.wide.u32 %s, %s, 8, %s;\n", at.s, t.s, shared ? "%sgen" : "%acc");
    u32 offset = o->place * 64 + (shared ? SHARED_ACC : 0);
    bool generic = gen_chance(g, 25), red = gen_chance(g, 60);
    if (shared && !generic) gen_emit(g, "cvta.to.shared.u64 %s, %s;\n", at.s, at.s);
    char source[24];
    switch (o->source) {
    case 'd': snprintf(source, sizeof source, "%s", gen_pool(g, C64).s); break;
    case 'i': snprintf(source, sizeof source, "%u", 1000003); break;
    case 'f':
    case 'F': {
        Name small = gen_temp(g, C32), f = gen_temp(g, o->source == 'f' ? C32 : C64);
        gen_emit(g, "bfe.s32 %s, %s, 3, 4;\ncvt.rn.%s.s32 %s, %s;\n", small.s, gen_pool(g, C32).s, o->op + 4, f.s,
                 small.s);
        snprintf(source, sizeof source, "%s", f.s);
        break;
    }
    default: snprintf(source, sizeof source, "%s", gen_pool(g, C32).s); break;
    }
    const char *space = generic ? "" : shared ? ".shared" : ".global";
    if (red)
        gen_emit(g, "red%s%s.%s [%s+%u], %s;\n", gen_chance(g, 30) ? ".relaxed.gpu" : "", space, o->op, at.s, offset,
                 source);
    else
        gen_emit(g, "atom%s.%s %s, [%s+%u], %s;\n", space, o->op,
                 gen_temp(g, o->source == 'd' || o->source == 'F' ? C64 : C32).s, at.s, offset, source);
}

// Accumulators from the input, own places zero, one barrier object.
void gen_shared_init(Gen *g) {
    u32 loop = gen_label(g), done = gen_label(g);
    gen_emit(g, "shl.b32 %%t0, %%lt, 3;\nL%u:\nsetp.ge.u32 %%q0, %%t0, %u;\n@%%q0 bra L%u;\n", loop, RANDOM_ACC, done);
    gen_emit(
        g,
        "cvt.u64.u32 %%e0, %%t0;\nadd.u64 %%e0, %%e0, %%in;\nld.global.b64 %%e1, [%%e0];\nsetp.ge.u32 %%q1, %%t0, %u;\n"
        "selp.b64 %%e1, 0, %%e1, %%q1;\n",
        RANDOM_ACC / 2);
    gen_emit(g,
             "add.u32 %%t1, %%t0, %%sh;\nst.shared.b64 [%%t1+%u], %%e1;\nshl.b32 %%t1, %%nt, 3;\nadd.u32 %%t0, %%t0, "
             "%%t1;\nbra L%u;\nL%u:\n",
             SHARED_ACC, loop, done);
    gen_emit(g,
             "mad.lo.u32 %%t0, %%lt, 16, %%sh;\nst.shared.v2.b64 [%%t0+%u], {%%d0, %%d1};\nsetp.eq.u32 %%q0, %%lt, 0;\n"
             "@%%q0 mbarrier.init.shared.b64 [%%sh+%u], %%nt;\nbar.sync 0;\n",
             SHARED_OWN, SHARED_BARRIER);
}

void gen_read_shared_acc(Gen *g) {
    Name t = gen_temp(g, C32);
    gen_emit(g, "bar.sync 0;\nand.b32 %s, %s, 0x%x;\nadd.u32 %s, %s, %%sh;\n", t.s, gen_pool(g, C32).s,
             (RANDOM_ACC - 1) & ~7u, t.s, t.s);
    if (gen_chance(g, 50))
        gen_emit(g, "ld.shared.b64 %s, [%s+%u];\n", gen_pool(g, C64).s, t.s, SHARED_ACC);
    else
        gen_emit(g, "ld.shared.b32 %s, [%s+%u];\n", gen_pool(g, C32).s, t.s, SHARED_ACC);
    gen_emit(g, "bar.sync 0;\n");
}

static void barrier(Gen *g) {
    u32 kind = gen_below(g, 8);
    switch (kind) {
    case 0: {
        Name s = gen_temp(g, C64), q = gen_temp(g, CPRED);
        u32 loop = gen_label(g);
        gen_emit(g,
                 "mbarrier.arrive.shared.b64 %s, [%%sh+%u];\nL%u:\nmbarrier.%s_wait.shared.b64 %s, [%%sh+%u], "
                 "%s;\n@!%s bra L%u;\n",
                 s.s, SHARED_BARRIER, loop, gen_chance(g, 50) ? "test" : "try", q.s, SHARED_BARRIER, s.s, q.s, loop);
        break;
    }
    case 1: {
        Name t = gen_temp(g, C32);
        gen_emit(g, "add.u32 %s, %%nt, 31;\nand.b32 %s, %s, 0xffffffe0;\nbar.sync %u, %s;\n", t.s, t.s, t.s,
                 1 + gen_below(g, 14), t.s);
        break;
    }
    case 2: gen_emit(g, "barrier.sync %u;\n", gen_below(g, 16)); break;
    case 3: gen_emit(g, "barrier.cta.sync.aligned %u;\n", gen_below(g, 16)); break;
    case 4:
        gen_emit(g, "bar.red.popc.u32 %s, %u, %s;\n", gen_pool(g, C32).s, gen_below(g, 16), gen_pool(g, CPRED).s);
        break;
    default: gen_emit(g, "bar.sync %u;\n", kind == 5 ? gen_below(g, 16) : 0); break;
    }
}

// All threads write, and read what another wrote.
void gen_exchange(Gen *g) {
    Access a = choose_access(g, 16);
    u32 size = a.bytes * a.vector, pitch = gen_chance(g, 70) ? size : 16;
    char regs[80];
    Name at = gen_temp(g, C32), t = gen_temp(g, C32);
    registers(g, &a, false, regs, sizeof regs);
    gen_emit(g, "mad.lo.u32 %s, %%lt, %u, %%sh;\nst.shared%s.%s [%s+%u], %s;\n", at.s, pitch, a.width, a.type, at.s,
             SHARED_EXCHANGE, regs);
    barrier(g);
    for (u32 n = 1 + gen_below(g, 3); n; n--) {
        if (gen_chance(g, 50))
            gen_emit(g, "mad.lo.u32 %s, %%lt, %u, %u;\nrem.u32 %s, %s, %%nt;\n", t.s, 1 + gen_below(g, 40),
                     gen_below(g, 300), t.s, t.s);
        else
            gen_emit(g, "rem.u32 %s, %s, %%nt;\n", t.s, gen_pool(g, C32).s);
        registers(g, &a, true, regs, sizeof regs);
        gen_emit(g, "mad.lo.u32 %s, %s, %u, %%sh;\nld.shared%s.%s %s, [%s+%u];\n", t.s, t.s, pitch, a.width, a.type,
                 regs, t.s, SHARED_EXCHANGE);
    }
    barrier(g);
}

// The first warps make, the others take: bar.arrive and bar.sync.
void gen_specialise(Gen *g) {
    u32 take = gen_label(g), end = gen_label(g), id = 1 + gen_below(g, 15);
    Name makers = gen_temp(g, C32), total = gen_temp(g, C32), at = gen_temp(g, C32), w = gen_temp(g, C32);
    Name q = gen_temp(g, CPRED), v = gen_pool(g, C64);
    gen_emit(g, "add.u32 %s, %%nt, 31;\nand.b32 %s, %s, 0xffffffe0;\nshr.u32 %s, %s, 6;\nshr.u32 %s, %%lt, 5;\n",
             total.s, total.s, total.s, makers.s, total.s, w.s);
    gen_emit(g, "setp.ge.u32 %s, %s, %s;\n@%s bra L%u;\n", q.s, w.s, makers.s, q.s, take);
    gen_emit(g, "mad.lo.u32 %s, %%lt, 8, %%sh;\nst.shared.b64 [%s], %s;\nbar.arrive %u, %s;\nbra L%u;\n", at.s, at.s,
             v.s, id, total.s, end);
    gen_emit(g, "L%u:\nbar.sync %u, %s;\nshl.b32 %s, %s, 5;\nmax.u32 %s, %s, 1;\nrem.u32 %s, %%lt, %s;\n", take, id,
             total.s, at.s, makers.s, at.s, at.s, at.s, at.s);
    gen_emit(g, "setp.ne.u32 %s, %s, 0;\nmad.lo.u32 %s, %s, 8, %%sh;\n@%s ld.shared.b64 %s, [%s];\nL%u:\nbar.sync 0;\n",
             q.s, makers.s, at.s, at.s, q.s, v.s, at.s, end);
}

void gen_barrier_reduce(Gen *g) {
    Name d = gen_pool(g, CPRED), s = gen_pool(g, CPRED);
    const char *neg = gen_chance(g, 30) ? "!" : "";
    switch (gen_below(g, 4)) {
    case 0:
        gen_emit(g, "bar.red.popc.u32 %%u%u, %u, %s%s;\n", gen_below(g, POOL_UNIFORM), gen_below(g, 16), neg, s.s);
        break;
    case 1: gen_emit(g, "bar.red.and.pred %s, %u, %s%s;\n", d.s, gen_below(g, 16), neg, s.s); break;
    case 2: gen_emit(g, "bar.red.or.pred %s, %u, %s%s;\n", d.s, gen_below(g, 16), neg, s.s); break;
    default:
        gen_emit(g, "barrier.red.popc.aligned.u32 %s, %u, %s%s;\n", gen_pool(g, C32).s, gen_below(g, 16), neg, s.s);
        break;
    }
}
