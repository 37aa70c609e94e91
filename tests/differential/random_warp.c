// SPDX-License-Identifier: Apache-2.0
// Warp-wide instructions, under the mask of the lanes that are here.
#include "random_gen.h"

#include <string.h>

// shfl from a lane that is not here gives anything: such a lane keeps its value.
static void shuffle(Gen *g, const char *mask) {
    static const char *const modes[] = {"up", "down", "bfly", "idx"};
    static const u32 segments[] = {0, 16, 24, 28, 30, 31};
    u32 mode = gen_below(g, 4), segment = segments[gen_below(g, WL_COUNT(segments))];
    Name d = gen_temp(g, C32), b = gen_temp(g, C32), j = gen_temp(g, C32), q = gen_temp(g, CPRED),
         in = gen_temp(g, CPRED);
    Name v = gen_pool(g, C32), to = gen_pool(g, C32);
    gen_emit(g, "and.b32 %s, %s, 31;\n", b.s, gen_pool(g, C32).s);
    if (gen_chance(g, 50)) gen_emit(g, "mov.b32 %s, %u;\n", b.s, gen_below(g, 32));
    gen_emit(g, "shfl.sync.%s.b32 %s|%s, %s, %s, %u, %s;\n", modes[mode], d.s, q.s, v.s, b.s,
             segment << 8 | (mode == 0 ? 0 : 31), mask);
    switch (mode) {
    case 0: gen_emit(g, "sub.u32 %s, %%lane, %s;\n", j.s, b.s); break;
    case 1: gen_emit(g, "add.u32 %s, %%lane, %s;\n", j.s, b.s); break;
    case 2: gen_emit(g, "xor.b32 %s, %%lane, %s;\n", j.s, b.s); break;
    default:
        gen_emit(g, "and.b32 %s, %s, %u;\nand.b32 %s, %%lane, %u;\nor.b32 %s, %s, %s;\n", b.s, b.s, ~segment & 31, j.s,
                 segment, j.s, j.s, b.s);
    }
    // Out of the segment: the lane's own value.
    gen_emit(g, "selp.b32 %s, %s, %%lane, %s;\nshr.u32 %s, %s, %s;\nand.b32 %s, %s, 1;\nsetp.eq.u32 %s, %s, 1;\n", j.s,
             j.s, q.s, j.s, mask, j.s, j.s, j.s, in.s, j.s);
    gen_emit(g, "selp.b32 %s, %s, %s, %s;\n", to.s, d.s, v.s, in.s);
    gen_emit(g, "and.pred %s, %s, %s;\n", gen_pool(g, CPRED).s, q.s, in.s);
}

void gen_warp(Gen *g, const Scope *scope) {
    const char *mask = scope->mask.s, *neg = gen_chance(g, 30) ? "!" : "";
    Name r = gen_pool(g, C32), p = gen_pool(g, CPRED), s = gen_pool(g, CPRED), t = gen_temp(g, C32),
         e = gen_temp(g, C64);
    char text[64];
    switch (gen_below(g, 9)) {
    case 0:
        gen_expand(g, "vote.sync.{all,any,uni}.pred", text, sizeof text);
        gen_emit(g, "%s %s, %s%s, %s;\n", text, p.s, neg, s.s, mask);
        break;
    case 1: gen_emit(g, "vote.sync.ballot.b32 %s, %s%s, %s;\n", r.s, neg, s.s, mask); break;
    case 2:
        gen_emit(g, "and.b32 %s, %s, %u;\nmatch.any.sync.b32 %s, %s, %s;\n", t.s, gen_pool(g, C32).s,
                 gen_chance(g, 50) ? 3u : 65535u, r.s, t.s, mask);
        break;
    case 3:
        gen_emit(g, "and.b64 %s, %s, %u;\nmatch.all.sync.b64 %s|%s, %s, %s;\n", e.s, gen_pool(g, C64).s,
                 gen_chance(g, 50) ? 0u : 1u, r.s, p.s, e.s, mask);
        break;
    case 4:
        gen_expand(g, "redux.sync.{add.u32,add.s32,min.u32,min.s32,max.u32,max.s32,and.b32,or.b32,xor.b32}", text,
                   sizeof text);
        gen_emit(g, "%s %s, %s, %s;\n", text, r.s, gen_pool(g, C32).s, mask);
        break;
    case 5: gen_emit(g, "elect.sync %s|%s, %s;\n", r.s, p.s, mask); break;
    case 6: gen_emit(g, "bar.warp.sync %s;\n", mask); break;
    default: shuffle(g, mask); break;
    }
}
