// SPDX-License-Identifier: Apache-2.0
// Arithmetic on registers: every exact operation on values, from a table of patterns.
#include "random_gen.h"

#include <stdio.h>
#include <string.h>

// Operands, destination first. Destinations: t 16 bits, r 32, x 64, p predicate, P 32 bits|predicate, D
// predicate|predicate. Sources: s 16 bits, i 32, l 64, the same not zero: 3 1 2; a 0..255; q predicate; # byte; f h d
// literals of that type possible. `nan`: the type whose NaNs are made one, since their bits depend on how the compiler
// folds: f f32, d f64, h f16, b bf16, H and B pairs.
typedef struct Pattern {
    const char *mnemonic, *operands;
    char nan;
} Pattern;

static const Pattern integers[] = {
    {"{add,sub,min,max}.{u16,s16}", "tss", 0},
    {"{add,sub,min,max}.{u32,s32}", "rii", 0},
    {"{add,sub,min,max}.{u32,s32}", "rii", 0},
    {"{add,sub,min,max}.{u64,s64}", "xll", 0},
    {"{add,sub}.sat.s32", "rii", 0},
    {"{div,rem}.{u16,s16}", "ts3", 0},
    {"{div,rem}.{u32,s32}", "ri1", 0},
    {"{div,rem}.{u64,s64}", "xl2", 0},
    {"mul.{lo,hi}.{u16,s16}", "tss", 0},
    {"mul.{lo,hi}.{u32,s32}", "rii", 0},
    {"mul.{lo,hi}.{u64,s64}", "xll", 0},
    {"mul.wide.{u16,s16}", "rss", 0},
    {"mul.wide.{u32,s32}", "xii", 0},
    {"mad.{lo,hi}.{u16,s16}", "tsss", 0},
    {"mad.{lo,hi}.{u32,s32}", "riii", 0},
    {"mad.{lo,hi}.{u64,s64}", "xlll", 0},
    {"mad.wide.{u16,s16}", "rssi", 0},
    {"mad.wide.{u32,s32}", "xiil", 0},
    {"mad.hi.sat.s32", "riii", 0},
    {"mul24.{lo,hi}.{u32,s32}", "rii", 0},
    {"mad24.{lo,hi}.{u32,s32}", "riii", 0},
    {"mad24.hi.sat.s32", "riii", 0},
    {"sad.{u16,s16}", "tsss", 0},
    {"sad.{u32,s32}", "riii", 0},
    {"sad.{u64,s64}", "xlll", 0},
    {"{not,cnot}.b16", "ts", 0},  // not abs, neg: ptxas lets -32768 become 32768 in 32 bits
    {"{abs,neg}.s32", "ri", 0},
    {"{abs,neg}.s64", "xl", 0},
    {"dp4a.{u32,s32}.{u32,s32}", "riii", 0},
    {"dp2a.{lo,hi}.{u32,s32}.{u32,s32}", "riii", 0},
};
static const Pattern bits[] = {
    {"{popc,clz}.b32", "ri", 0},
    {"{popc,clz}.b64", "rl", 0},
    {"brev.b32", "ri", 0},
    {"brev.b64", "xl", 0},
    {"bfind{,.shiftamt}.{u32,s32}", "ri", 0},
    {"bfind{,.shiftamt}.{u64,s64}", "rl", 0},
    {"bfe.{u32,s32}", "riaa", 0},
    {"bfe.{u64,s64}", "xlaa", 0},
    {"bfi.b32", "riiaa", 0},
    {"bfi.b64", "xllaa", 0},
    {"szext.{clamp,wrap}.{u32,s32}", "rii", 0},
    {"bmsk.{clamp,wrap}.b32", "raa", 0},
    {"{and,or,xor}.b16", "tss", 0},
    {"{and,or,xor}.b32", "rii", 0},
    {"{and,or,xor}.b64", "xll", 0},
    {"{and,or,xor}.pred", "pqq", 0},
    {"not.pred", "pq", 0},
    {"{not,cnot}.b16", "ts", 0},
    {"{not,cnot}.b32", "ri", 0},
    {"{not,cnot}.b64", "xl", 0},
    {"lop3.b32", "riii#", 0},
    {"lop3.b32", "riii#", 0},
    {"lop3.{or,and}.b32", "Piii#q", 0},
    {"shf.{l,r}.{clamp,wrap}.b32", "riii", 0},
    {"shf.{l,r}.{clamp,wrap}.b32", "riia", 0},
    {"{shl.b16,shr.u16,shr.s16,shr.b16}", "tsa", 0},
    {"{shl.b32,shr.u32,shr.s32,shr.b32}", "ria", 0},
    {"{shl.b64,shr.u64,shr.s64,shr.b64}", "xla", 0},
    {"shr.{u64,s64}", "xli", 0},
    {"prmt.b32{,.f4e,.b4e,.rc8,.ecl,.ecr,.rc16}", "riii", 0},
};
static const Pattern compares[] = {
    {"setp.{eq,ne,lt,le,gt,ge}.{u16,s16}", "Dss", 0},
    {"setp.{eq,ne,lt,le,gt,ge}.{u32,s32}", "Dii", 0},
    {"setp.{eq,ne,lt,le,gt,ge}.{u64,s64}", "Dll", 0},
    {"setp.{lo,ls,hi,hs}.u32", "pii", 0},
    {"setp.{eq,ne}.b16", "pss", 0},
    {"setp.{eq,ne}.b32", "pii", 0},
    {"setp.{eq,ne}.b64", "pll", 0},
    {"setp.{eq,ne,lt,le,gt,ge}.{and,or,xor}.{u16,s16}", "Dssq", 0},
    {"setp.{eq,ne,lt,le,gt,ge}.{and,or,xor}.{u32,s32}", "Diiq", 0},
    {"setp.{eq,ne,lt,le,gt,ge}.{and,or,xor}.{u64,s64}", "Dllq", 0},
    {"setp.{eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan}{,.ftz}.f32", "Dff", 0},
    {"setp.{eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan}.{and,or,xor}{,.ftz}.f32", "Dffq", 0},
    {"setp.{eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan}.f64", "Ddd", 0},
    {"setp.{eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan}.{and,or,xor}.f64", "Dddq", 0},
    {"setp.{eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan}.{f16,bf16}", "phh", 0},
    {"setp.{eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan}.{f16x2,bf16x2}", "Dii", 0},
    {"testp.{finite,infinite,number,notanumber,normal,subnormal}.f32", "pf", 0},
    {"testp.{finite,infinite,number,notanumber,normal,subnormal}.f64", "pd", 0},
    {"set.{eq,ne,lt,le,gt,ge}.{u32,s32,f32}.{u32,s32}", "rii", 0},
    {"set.{eq,ne,lt,le,gt,ge,ltu,nan}.{and,or,xor}.{u32,s32,f32}.f32", "rffq", 0},
    {"set.{eq,ne,lt,le,gt,ge,equ,num}.{u32,s32,f32}.f64", "rdd", 0},
    {"selp.{b16,u16,s16}", "tssq", 0},
    {"selp.{b32,u32,s32}", "riiq", 0},
    {"selp.{b64,u64,s64}", "xllq", 0},
    {"slct.{b32,u32,s32}.s32", "riii", 0},
    {"slct.{b32,u32,s32}.f32", "riif", 0},
    {"slct.{b64,u64,s64}.s32", "xlli", 0},
};
static const Pattern floats[] = {
    {"{add,sub,mul}.{rn,rz,rm,rp}{,.ftz}{,.sat}.f32", "rff", 'f'},
    {"{add,sub,mul}.{rn,rz,rm,rp}{,.ftz}{,.sat}.f32", "rff", 'f'},
    {"fma.{rn,rz,rm,rp}{,.ftz}{,.sat}.f32", "rfff", 'f'},
    {"fma.{rn,rz,rm,rp}{,.ftz}{,.sat}.f32", "rfff", 'f'},
    {"{add,sub,mul}.{rn,rz,rm,rp}.f64", "xdd", 'd'},
    {"fma.{rn,rz,rm,rp}.f64", "xddd", 'd'},
    {"div.{rn,rz,rm,rp}{,.ftz}.f32", "rff", 'f'},
    {"div.{rn,rz,rm,rp}.f64", "xdd", 'd'},
    {"{rcp,sqrt}.{rn,rz,rm,rp}{,.ftz}.f32", "rf", 'f'},
    {"{rcp,sqrt}.{rn,rz,rm,rp}.f64", "xd", 'd'},
    {"{abs,neg}{,.ftz}.f32", "rf", 'f'},
    {"{abs,neg}.f64", "xd", 'd'},
    {"{min,max}{,.ftz}{,.NaN}{,.xorsign.abs}.f32", "rff", 'f'},
    {"{min,max}.f64", "xdd", 'd'},
    {"copysign.f32", "rff", 'f'},
    {"copysign.f64", "xdd", 'd'},
    {"{add,sub,mul}.rn{,.ftz}{,.sat}.f16", "tss", 'h'},
    {"{add,sub,mul}.rn{,.ftz}{,.sat}.f16x2", "rii", 'H'},
    {"fma.rn{,.ftz}{,.sat,.relu}.f16", "tsss", 'h'},
    {"fma.rn{,.ftz}{,.sat,.relu}.f16x2", "riii", 'H'},
    {"{add,sub,mul}.rn.bf16", "tss", 'b'},
    {"{add,sub,mul}.rn.bf16x2", "rii", 'B'},
    {"fma.rn{,.relu}.bf16", "tsss", 'b'},
    {"fma.rn{,.relu}.bf16x2", "riii", 'B'},
    {"{min,max}{,.ftz}{,.NaN}{,.xorsign.abs}.f16", "tss", 'h'},
    {"{min,max}{,.ftz}{,.NaN}{,.xorsign.abs}.f16x2", "rii", 'H'},
    {"{min,max}{,.NaN}{,.xorsign.abs}.bf16", "tss", 'b'},
    {"{min,max}{,.NaN}{,.xorsign.abs}.bf16x2", "rii", 'B'},
    {"{abs,neg}{,.ftz}.f16", "ts", 'h'},
    {"{abs,neg}{,.ftz}.f16x2", "ri", 'H'},
    {"{abs,neg}.bf16", "ts", 'b'},
    {"{abs,neg}.bf16x2", "ri", 'B'},
};
static const Pattern conversions[] = {
    {"cvt.{u8,s8}.{u16,s16,u8,s8}", "ts", 0},
    {"cvt.{u8,s8,u16,s16}.{u32,s32}", "ti", 0},
    {"cvt.sat.{u8,s8,u16,s16}.{u32,s32}", "ti", 0},
    {"cvt.sat.{u8,s8}.{u16,s16}", "ts", 0},
    {"cvt.{u8,s8,u16,s16}.{u64,s64}", "tl", 0},
    {"cvt.{u32,s32}.{u8,s8,u16,s16}", "rs", 0},
    {"cvt.{u64,s64}.{u8,s8,u16,s16}", "xs", 0},
    {"cvt.{u32,s32}.{u64,s64}", "rl", 0},
    {"cvt.sat.{u32,s32}.{u64,s64}", "rl", 0},
    {"cvt.{u64,s64}.{u32,s32}", "xi", 0},
    {"cvt.{u32,s32}.{u8,s8}", "ri", 0},
    {"cvt.{rni,rzi,rmi,rpi}{,.ftz}.{u32,s32}.f32", "rf", 0},
    {"cvt.{rni,rzi,rmi,rpi}{,.ftz}.{u64,s64}.f32", "xf", 0},
    {"cvt.{rni,rzi,rmi,rpi}{,.ftz}.{u16,s16,u8,s8}.f32", "tf", 0},
    {"cvt.{rni,rzi,rmi,rpi}.{u32,s32}.f64", "rd", 0},
    {"cvt.{rni,rzi,rmi,rpi}.{u64,s64}.f64", "xd", 0},
    {"cvt.{rni,rzi,rmi,rpi}.{u16,s16,u8,s8}.f64", "td", 0},
    {"cvt.{rni,rzi,rmi,rpi}.{u32,s32}.{f16,bf16}", "rs", 0},
    {"cvt.{rni,rzi,rmi,rpi}.{u16,s16}.{f16,bf16}", "ts", 0},
    {"cvt.{rni,rzi,rmi,rpi}.{u64,s64}.{f16,bf16}", "xs", 0},
    {"cvt.{rn,rz,rm,rp}.f32.{u32,s32}", "ri", 0},
    {"cvt.{rn,rz,rm,rp}.f32.{u64,s64}", "rl", 0},
    {"cvt.{rn,rz,rm,rp}.f32.{u16,s16,u8,s8}", "rs", 0},
    {"cvt.{rn,rz,rm,rp}.f64.{u32,s32}", "xi", 0},
    {"cvt.{rn,rz,rm,rp}.f64.{u64,s64}", "xl", 0},
    {"cvt.{rn,rz,rm,rp}.f64.{u16,s16,u8,s8}", "xs", 0},
    {"cvt.{rn,rz,rm,rp}.{f16,bf16}.{u32,s32}", "ti", 0},
    {"cvt.{rn,rz,rm,rp}.{f16,bf16}.{u16,s16}", "ts", 0},
    {"cvt.{rn,rz,rm,rp}.{f16,bf16}.{u64,s64}", "tl", 0},
    {"cvt.{rni,rzi,rmi,rpi}{,.ftz}{,.sat}.f32.f32", "rf", 'f'},
    {"cvt.{rni,rzi,rmi,rpi}{,.sat}.f64.f64", "xd", 'd'},
    {"cvt.{rni,rzi,rmi,rpi}.f16.f16", "ts", 'h'},
    {"cvt.{rn,rz,rm,rp}{,.ftz}{,.sat}.f32.f64", "rd", 'f'},
    {"cvt{,.ftz}{,.sat}.f64.f32", "xf", 'd'},
    {"cvt.{rn,rz,rm,rp}.f16.f32", "tf", 'h'},
    {"cvt.rn{,.relu}.f16.f32", "tf", 'h'},
    {"cvt.{rn,rz}{,.relu}.bf16.f32", "tf", 'b'},
    {"cvt.rn.f16.f64", "td", 'h'},
    {"cvt.f32.f16", "rs", 'f'},
    {"cvt.f32.bf16", "rs", 'f'},
    {"cvt.f64.f16", "xs", 'd'},
    {"cvt.{rn,rz}{,.relu}.f16x2.f32", "rff", 'H'},
    {"cvt.{rn,rz}{,.relu}.bf16x2.f32", "rff", 'B'},
    {"cvt.rna.tf32.f32", "rf", 'f'},
    {"cvt.rn.satfinite{,.relu}.{e4m3x2,e5m2x2}.f32", "tff", 0},
    {"cvt.rn.satfinite{,.relu}.{e4m3x2,e5m2x2}.f16x2", "ti", 0},
    {"cvt.rn{,.relu}.f16x2.{e4m3x2,e5m2x2}", "rs", 'H'},
};
static const Pattern videos[] = {
    {"v{add,sub,absdiff,min,max}.{s32.s32.s32,u32.u32.u32}", "rii", 0},
    {"v{add,sub,absdiff,min,max}.s32.s32.s32.sat", "rii", 0},
    {"v{add,sub,absdiff,min,max}.s32.s32.s32.{add,min,max}", "riii", 0},
    {"v{shl,shr}.{u32,s32}.{u32,s32}.u32.{clamp,wrap}", "rii", 0},
    {"vmad.{s32.s32.s32,u32.u32.u32}", "riii", 0},
    {"vset.{u32,s32}.{u32,s32}.{eq,ne,lt,le,gt,ge}", "rii", 0},
    {"v{add,sub,avrg,absdiff,min,max}{2,4}.{s32.s32.s32,u32.u32.u32}{,.add,.sat}", "riii", 0},
    {"vset{2,4}.{u32.u32,s32.s32}.{eq,ne,lt,le,gt,ge}{,.add}", "riii", 0},
};

static const struct {
    const Pattern *rows;
    u32 count, weight;
} groups[] = {
    {integers, WL_COUNT(integers), 30},       {bits, WL_COUNT(bits), 22},
    {compares, WL_COUNT(compares), 16},       {floats, WL_COUNT(floats), 24},
    {conversions, WL_COUNT(conversions), 12}, {videos, WL_COUNT(videos), 2},
};

// --- operands -----------------------------------------------------------------------------------------------------
static u32 literal32(Gen *g) {
    u64 r = gen_random(g);
    switch (r >> 61) {
    case 0: return (u32)(r & 3);
    case 1: return 0u - (u32)(r & 3);
    case 2: return 1u << (r & 31);
    case 3: return (u32)(r & 0xff);
    default: return (u32)r;
    }
}
static u32 float_literal(Gen *g) {
    static const u32 values[] = {0,          0x80000000, 0x3f800000, 0xbf800000, 0x40000000, 0x3f000000, 0x7f800000,
                                 0xff800000, 0x00000001, 0x00800000, 0x7f7fffff, 0x40490fdb, 0x4b800000, 0x33800000};
    return gen_chance(g, 70) ? values[gen_below(g, WL_COUNT(values))] : (u32)gen_random(g) & 0x7f7fffff;
}
static u64 double_literal(Gen *g) {
    static const u64 values[] = {
        0, 0x8000000000000000, 0x3ff0000000000000, 0xbff0000000000000, 0x4000000000000000, 0x7ff0000000000000,
        1, 0x0010000000000000, 0x7fefffffffffffff, 0x400921fb54442d18};
    return gen_chance(g, 70) ? values[gen_below(g, WL_COUNT(values))] : gen_random(g) & 0x7fefffffffffffff;
}

typedef struct Source {
    char s[40];
} Source;

static Source literal(Gen *g, char kind) {
    Source o;
    u32 v = literal32(g);
    switch (kind) {
    case 'f': snprintf(o.s, sizeof o.s, "0f%08x", float_literal(g)); break;
    case 'd': snprintf(o.s, sizeof o.s, "0d%016llx", (unsigned long long)double_literal(g)); break;
    case 's': snprintf(o.s, sizeof o.s, "%u", v & 0xffff); break;
    case '3': snprintf(o.s, sizeof o.s, "%u", (v & 0xffff) | 1); break;
    case '1': snprintf(o.s, sizeof o.s, "%u", v | 1); break;
    case '2':
    case 'l':
        snprintf(o.s, sizeof o.s, "0x%llx",
                 (unsigned long long)(((u64)literal32(g) << 32 | v) >> (v & 63) | (kind == '2')));
        break;
    case 'a': snprintf(o.s, sizeof o.s, "%u", v & 0xff); break;
    default: snprintf(o.s, sizeof o.s, "%u", v); break;
    }
    return o;
}
// A source of the kind; what has to be computed for it is emitted.
static Source source(Gen *g, char kind, bool may_be_literal) {
    Source o;
    if (may_be_literal && strchr("ilfdsa123", kind) && gen_chance(g, 15)) return literal(g, kind);
    switch (kind) {
    case '#': snprintf(o.s, sizeof o.s, "%u", gen_below(g, 256)); return o;
    case 'q': memcpy(o.s, gen_pool(g, CPRED).s, 16); return o;
    case 's':
    case 'h': memcpy(o.s, gen_pool(g, C16).s, 16); return o;
    case 'l':
    case 'd': memcpy(o.s, gen_pool(g, C64).s, 16); return o;
    case '3': {
        Name t = gen_temp(g, C16), from = gen_pool(g, C16);
        gen_emit(g, "or.b16 %s, %s, 1;\n", t.s, from.s);
        memcpy(o.s, t.s, 16);
        return o;
    }
    case '2': {
        Name t = gen_temp(g, C64), from = gen_pool(g, C64);
        gen_emit(g, "or.b64 %s, %s, 1;\n", t.s, from.s);
        memcpy(o.s, t.s, 16);
        return o;
    }
    case '1':
    case 'a': {
        Name t = gen_temp(g, C32), from = gen_pool(g, C32);
        gen_emit(g, kind == '1' ? "or.b32 %s, %s, 1;\n" : "and.b32 %s, %s, %u;\n", t.s, from.s,
                 gen_chance(g, 20) ? 255u : 63u);
        memcpy(o.s, t.s, 16);
        return o;
    }
    default: memcpy(o.s, gen_pool(g, C32).s, 16); return o;
    }
}

// Makes the NaNs of a register one NaN.
static void one_nan(Gen *g, const char *reg, char kind) {
    Name q = gen_temp(g, CPRED);
    switch (kind) {
    case 'f':
        gen_emit(g, "testp.notanumber.f32 %s, %s;\nselp.b32 %s, 0x7fffffff, %s, %s;\n", q.s, reg, reg, reg, q.s);
        break;
    case 'd':
        gen_emit(g, "testp.notanumber.f64 %s, %s;\nselp.b64 %s, 0x7ff8000000000000, %s, %s;\n", q.s, reg, reg, reg,
                 q.s);
        break;
    case 'h':
    case 'b':
        gen_emit(g, "setp.nan.%s %s, %s, %s;\nselp.b16 %s, 0x7fff, %s, %s;\n", kind == 'h' ? "f16" : "bf16", q.s, reg,
                 reg, reg, reg, q.s);
        break;
    case 'H':
    case 'B': {
        Name a = gen_temp(g, C16), b = gen_temp(g, C16);
        gen_emit(g, "mov.b32 {%s, %s}, %s;\n", a.s, b.s, reg);
        one_nan(g, a.s, kind == 'H' ? 'h' : 'b');
        one_nan(g, b.s, kind == 'H' ? 'h' : 'b');
        gen_emit(g, "mov.b32 %s, {%s, %s};\n", reg, a.s, b.s);
        break;
    }
    default: break;
    }
}

static Name destination(Gen *g, char kind) {
    return gen_pool(g, kind == 't' ? C16 : kind == 'x' ? C64 : kind == 'p' || kind == 'D' ? CPRED : C32);
}

void gen_operation(Gen *g, Scope *scope) {
    (void)scope;
    u32 total = 0, k = 0;
    for (u32 i = 0; i < WL_COUNT(groups); i++) total += groups[i].weight;
    for (u32 pick = gen_below(g, total); pick >= groups[k].weight; k++) pick -= groups[k].weight;
    const Pattern *p = &groups[k].rows[gen_below(g, groups[k].count)];
    char text[96], args[256] = "";
    gen_expand(g, p->mnemonic, text, sizeof text);
    size_t n = 0;
    bool literals = text[0] != 'v' && !strstr(text, "f16");
    for (const char *s = p->operands + 1; *s; s++) {
        Source o = source(g, *s, literals && s != p->operands + 1);
        if (o.s[0] != '%' && *s != '#') literals = false;
        n += (size_t)snprintf(args + n, sizeof args - n, ", %s", o.s);
    }
    Name dst = destination(g, p->operands[0]), other = {""};
    const char *bar = "";
    if (p->operands[0] == 'P') other = gen_pool(g, CPRED), bar = "|";
    if (p->operands[0] == 'D' && (strstr(text, "x2") || gen_chance(g, 40))) {
        other = gen_pool(g, CPRED), bar = "|";
        if (!strcmp(other.s, dst.s)) other = gen_temp(g, CPRED);
    }
    Name guard = gen_pool(g, CPRED);
    // ptxas of CUDA 13.0 loses the guard of the last of the instructions that testp and set with a float result become.
    bool guarded = gen_chance(g, 12) && strncmp(text, "testp", 5) != 0 &&
                   !(strncmp(text, "set.", 4) == 0 && strstr(text, ".f32."));
    if (guarded)
        gen_emit(g, "@%s%s %s %s%s%s%s;\n", gen_chance(g, 50) ? "!" : "", guard.s, text, dst.s, bar, other.s, args);
    else
        gen_emit(g, "%s %s%s%s%s;\n", text, dst.s, bar, other.s, args);
    if (p->nan) one_nan(g, dst.s, p->nan);
}

// Numbers of several words, with the carry between the instructions.
void gen_carry_chain(Gen *g) {
    bool wide = gen_chance(g, 40), is_signed = gen_chance(g, 50);
    RandomClass c = wide ? C64 : C32;
    char type[8];
    snprintf(type, sizeof type, "%c%u", is_signed ? 's' : 'u', wide ? 64 : 32);
    u32 words = 2 + gen_below(g, 3), kind = gen_below(g, 4);
    for (u32 i = 0; i < words; i++) {
        Name d = gen_pool(g, c), a = gen_pool(g, c), b = gen_pool(g, c), e = gen_pool(g, c);
        const char *half = i & 1 ? "hi" : "lo";
        const char *cc = i + 1 < words || gen_chance(g, 50) ? ".cc" : "";
        switch (kind) {
        case 0: gen_emit(g, "add%s%s.%s %s, %s, %s;\n", i ? "c" : "", i ? cc : ".cc", type, d.s, a.s, b.s); break;
        case 1: gen_emit(g, "sub%s%s.%s %s, %s, %s;\n", i ? "c" : "", i ? cc : ".cc", type, d.s, a.s, b.s); break;
        case 2:
            gen_emit(g, "mad%s.%s%s.%s %s, %s, %s, %s;\n", i ? "c" : "", half, i ? cc : ".cc", type, d.s, a.s, b.s,
                     e.s);
            break;
        default:  // a chain of both
            if (i & 1)
                gen_emit(g, "addc%s.%s %s, %s, %s;\n", cc, type, d.s, a.s, b.s);
            else
                gen_emit(g, "mad%s.lo.cc.%s %s, %s, %s, %s;\n", i ? "c" : "", type, d.s, a.s, b.s, e.s);
            break;
        }
        if (i + 1 == words && *cc)
            gen_emit(g, "%s.%s %s, 0, 0;\n", kind == 1 ? "subc" : "addc", type, gen_pool(g, c).s);
    }
}

void gen_move(Gen *g) {
    Name r = gen_pool(g, C32), r2 = gen_pool(g, C32), d = gen_pool(g, C64), h = gen_pool(g, C16), h2 = gen_pool(g, C16);
    switch (gen_below(g, 8)) {
    case 0: gen_emit(g, "mov.b64 %s, {%s, %s};\n", d.s, r.s, r2.s); break;
    case 1: gen_emit(g, "mov.b64 {%s, %s}, %s;\n", r.s, strcmp(r.s, r2.s) ? r2.s : gen_temp(g, C32).s, d.s); break;
    case 2: gen_emit(g, "mov.b32 %s, {%s, %s};\n", r.s, h.s, h2.s); break;
    case 3: gen_emit(g, "mov.b32 {%s, %s}, %s;\n", h.s, strcmp(h.s, h2.s) ? h2.s : gen_temp(g, C16).s, r.s); break;
    case 4: gen_emit(g, "mov.b64 %s, {%s, %s, %s, %s};\n", d.s, h.s, h2.s, h.s, gen_pool(g, C16).s); break;
    case 5: gen_emit(g, "mov.b64 {_, %s, _, %s}, %s;\n", h.s, gen_temp(g, C16).s, d.s); break;
    case 6: gen_emit(g, "mov.%s %s, %s;\n", gen_chance(g, 50) ? "b32" : "u32", r.s, r2.s); break;
    default: gen_emit(g, "mov.b64 %s, 0x%llx;\n", d.s, (unsigned long long)gen_random(g)); break;
    }
}

void gen_special(Gen *g) {
    static const char *const names[] = {"%tid.x",       "%tid.y",       "%tid.z",       "%ntid.x",
                                        "%ntid.y",      "%ctaid.x",     "%ctaid.y",     "%ctaid.z",
                                        "%nctaid.x",    "%nctaid.z",    "%laneid",      "%lanemask_eq",
                                        "%lanemask_lt", "%lanemask_le", "%lanemask_gt", "%lanemask_ge"};
    Name r = gen_pool(g, C32), t = gen_temp(g, C32);
    gen_emit(g, "mov.u32 %s, %s;\nxor.b32 %s, %s, %s;\n", t.s, names[gen_below(g, WL_COUNT(names))], r.s, r.s, t.s);
}

// The same in all threads of a block.
void gen_uniform(Gen *g) {
    static const char *const ops[] = {"add.u32", "sub.u32", "mul.lo.u32", "xor.b32", "and.b32", "or.b32", "min.u32"};
    u32 d = gen_below(g, POOL_UNIFORM), a = gen_below(g, POOL_UNIFORM), b = gen_below(g, POOL_UNIFORM);
    if (gen_chance(g, 50))
        gen_emit(g, "%s %%u%u, %%u%u, %%u%u;\n", ops[gen_below(g, WL_COUNT(ops))], d, a, b);
    else
        gen_emit(g, "%s %%u%u, %%u%u, %u;\n", ops[gen_below(g, WL_COUNT(ops))], d, a, literal32(g));
}
