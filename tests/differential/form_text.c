// SPDX-License-Identifier: Apache-2.0
// A form as a kernel: operands from its row's signature, sources from the input, destinations and memory to the output.
#include "form.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char form_head[] =
    ".version 9.0\n.target sm_90\n.address_size 64\n"
    ".const .align 16 .b32 form_const[16] = {0x00000000, 0x3f800000, 0xffffffff, 0x80000000, 0x12345678, 0x9abcdef0, "
    "0x7f800000, 0x00000001, 0x3ff00000, 0x7fffffff, 0x0000ffff, 0xff00ff00, 0x40490fdb, 0xc0000000, 0x00800000, "
    "0xdeadbeef};\n";

typedef struct Text {
    char *s;
    size_t n, size;
} Text;
static void add(Text *t, const char *format, ...) WL_PRINTF(2, 3);
static void add(Text *t, const char *format, ...) {
    va_list args;
    va_start(args, format);
    int n = vsnprintf(t->s + t->n, t->size - t->n, format, args);
    va_end(args);
    if (n > 0) t->n += (size_t)n < t->size - t->n ? (size_t)n : t->size - t->n - 1;
}

// An operand of the signature.
typedef struct Slot {
    char access;  // d s p q m, as in ops.def
    u8 type;      // PtxType; TYPE_NONE: any
    u8 twice;     // twice as wide as the type
    u8 count;     // registers
    bool wide, optional, pair, present;
} Slot;

static bool has_mod_named(const FormCase *f, const char *name, size_t len) {
    for (u32 c = 0; c < MOD_CLASS_COUNT; c++) {
        if (!f->mods[c]) continue;
        static const char *const names[] = {
#define MOD_CLASS(n) #n,
#define MOD(class, token, text)
#include "ptx/mods.def"
#undef MOD_CLASS
#undef MOD
        };
        size_t i = 0;
        while (i < len && names[c][i] && (names[c][i] | 32) == (name[i] | 32)) i++;
        if (i == len && !names[c][i]) return true;
    }
    return false;
}
static u8 named_type(const char *p, size_t len) {
    for (u8 t = 1; t < TYPE_COUNT; t++)
        if (strlen(ptx_types[t].text) == len && !memcmp(ptx_types[t].text, p, len)) return t;
    return TYPE_NONE;
}
static const char *read_slot(const FormCase *f, const char *p, Slot *s) {
    memset(s, 0, sizeof *s);
    s->access = *p;
    s->count = 1;
    s->present = true;
    p += 2;
    if (p[0] == '2' && p[1] == '*') s->twice = 1, p += 2;
    if (*p >= '0' && *p <= '9')
        s->type = f->types[*p++ - '0'];
    else if (*p == '*')
        p++;
    else {
        size_t n = strspn(p, "abcdefghijklmnopqrstuvwyz0123456789_");
        s->type = named_type(p, n);
        p += n;
    }
    if (*p == 'x') s->count = p[1] == 'V' ? f->vector : 0, p += 2;
    for (; *p && *p != ','; p++) {
        if (*p == '~') s->wide = true;
        if (*p == '|') s->pair = true;
        if (*p == '?') {
            size_t n = strcspn(p + 1, ",");
            if (n)
                s->present = has_mod_named(f, p + 1, n);
            else
                s->optional = true;
            p += n;
        }
    }
    if (*p == ',') p++;
    while (*p == ' ') p++;
    return p;
}
enum { MOST_SLOTS = 10 };
static u32 read_slots(const FormCase *f, Slot *slots) {
    u32 n = 0;
    for (const char *p = ptx_ops[f->op].sig; *p && n < MOST_SLOTS; n++) p = read_slot(f, p, &slots[n]);
    return n;
}

static u32 slot_bits(const Slot *s) { return ptx_types[s->type].bits * (s->twice ? 2u : 1u); }

// --- values of the sources ----------------------------------------------------------------------------------------
static char kind_of_type(u8 type) {
    switch (type) {
    case TYPE_F32:
    case TYPE_TF32: return 'f';
    case TYPE_F64: return 'd';
    case TYPE_F16: return 'h';
    case TYPE_BF16: return 'b';
    case TYPE_F16X2: return 'H';
    case TYPE_BF16X2: return 'B';
    case TYPE_PRED: return 'q';
    default: return ptx_types[type].bits > 32 ? 'l' : ptx_types[type].bits == 32 ? 'i' : 's';
    }
}
// The kind of source `n` where its type does not say it.
static char special_kind(const FormCase *f, u32 n) {
    static const struct {
        u16 op;
        const char *kinds[2];  // by source, for variants 0 and 1; '.': as the type says
    } table[] = {{OP_SHL, {".a", ".i"}},
                 {OP_SHR, {".a", ".i"}},
                 {OP_SHF, {"..a", "..i"}},
                 {OP_BFE, {".aa", ".ii"}},
                 {OP_BFI, {"..aa", "..ii"}},
                 {OP_SZEXT, {".a", ".i"}},
                 {OP_BMSK, {"aa", "ii"}},
                 {OP_FNS, {".uA", ".ii"}},
                 {OP_SHFL_SYNC, {".ukm", ".ukm"}},
                 {OP_VOTE_SYNC, {".m", ".m"}},
                 {OP_VOTE_BALLOT_SYNC, {".m", ".m"}},
                 {OP_MATCH, {".m", ".m"}},
                 {OP_REDUX, {".m", ".m"}},
                 {OP_ELECT, {"m", "m"}},
                 {OP_LOP3, {"...#", "...#"}},
                 {OP_LOP3_BOOL, {"...#", "...#"}},
                 {OP_CVT_HALF_FP8X2, {"h", "h"}}};
    for (u32 i = 0; i < WL_COUNT(table); i++) {
        const char *kinds = table[i].kinds[f->variant & 1];
        if (table[i].op == f->op && n < strlen(kinds) && kinds[n] != '.') return kinds[n];
    }
    return 0;
}
static bool is_video(u32 op) { return op >= OP_VADD && op <= OP_VSET4; }
static bool is_simd(u32 op) { return op >= OP_VADD2 && op <= OP_VSET4; }

static bool is_generic_memory(const FormCase *f) {
    const OpInfo *info = &ptx_ops[f->op];
    return info->flags & (OPF_LOAD | OPF_STORE) && f->space == FS_GENERIC &&
           !strncmp(info->sig, "d:", 2) | (*info->sig == 'm');
}
// Whether the form has this variant.
static bool has_variant(const FormCase *f, const Slot *slots, u32 n) {
    if (f->variant == 0) return true;
    if (is_video(f->op))
        return f->variant < 3 && !(f->variant == 2 && f->mods[MOD_VIDEO_OP2] && !is_simd(f->op)) &&
               !(f->op == OP_VMAD && f->variant == 2);
    if (f->op == OP_LOP3 || f->op == OP_LOP3_BOOL) return true;
    if (f->op == OP_FNS) return f->variant == 1;
    if (f->variant == 1) {
        for (u32 i = 0, src = 0; i < n; i++) {
            if (slots[i].pair) return true;  // 1: one destination
            if (slots[i].wide && slot_bits(&slots[i]) < 32) return true;
            if (slots[i].access == 's' && special_kind(f, src++) == 'i') return true;
        }
        return false;
    }
    // 2: to shared memory, 3: to local memory; atomics not to local, those of vectors to global memory only
    bool atomic = ptx_ops[f->op].flags & OPF_ATOMIC;
    return is_generic_memory(f) && !f->extras && !(atomic && (f->variant == 3 || f->vector > 1));
}

u32 form_kinds(const FormCase *f, char kinds[8], char *memory_kind) {
    Slot slots[MOST_SLOTS];
    u32 n = read_slots(f, slots), count = 0, src = 0;
    *memory_kind = 0;
    for (u32 i = 0; i < n; i++) {
        if (slots[i].access == 'm') *memory_kind = kind_of_type(slots[i].type);
        if (slots[i].access == 'q' && slots[i].present) kinds[count++] = 'q';
        if (slots[i].access != 's' || !slots[i].present) continue;
        char special = special_kind(f, src++), kind = special ? special : kind_of_type(slots[i].type);
        if (slots[i].twice) kind = slot_bits(&slots[i]) == 64 ? 'l' : 'i';
        for (u32 k = 0; k < slots[i].count && count < 8; k++) kinds[count++] = kind;
    }
    return count;
}

// --- text ---------------------------------------------------------------------------------------------------------
static u32 hash_of(const char *s) {
    u32 h = 2166136261u;
    for (; *s; s++) h = (h ^ (u8)*s) * 16777619u;
    return h ^ h >> 15;
}

// Classes of registers: 16, 32, 64, 128 bits. 1 is a predicate.
static u32 register_bits(const FormCase *f, const Slot *s) {
    u32 bits = slot_bits(s);
    if (s->access == 'p' || s->access == 'q' || s->type == TYPE_PRED) return 1;
    if (bits <= 16) return s->wide && f->variant == 1 ? 32 : 16;
    return bits <= 32 ? 32 : bits <= 64 ? 64 : 128;
}
static char register_letter(u32 bits) {
    return bits == 1 ? 'p' : bits == 16 ? 'h' : bits == 32 ? 'r' : bits == 64 ? 'd' : 'x';
}

static void load_source(Text *t, u32 bits, u32 reg, u32 word) {
    add(t, "ld.global.b64 %%d%u, [%%d0+%u];\n", bits == 64 ? reg : 40u, word * 8);
    switch (bits) {
    case 1: add(t, "and.b64 %%d40, %%d40, 1;\nsetp.ne.u64 %%p%u, %%d40, 0;\n", reg); break;
    case 16: add(t, "cvt.u16.u64 %%h%u, %%d40;\n", reg); break;
    case 32: add(t, "cvt.u32.u64 %%r%u, %%d40;\n", reg); break;
    case 128: add(t, "not.b64 %%d41, %%d40;\nmov.b128 %%x%u, {%%d40, %%d41};\n", reg); break;
    default: break;
    }
}
static void store_result(Text *t, u32 bits, u32 reg, u32 *word) {
    u32 at = *word * 8;
    ++*word;
    switch (bits) {
    case 1: add(t, "selp.u64 %%d40, 1, 0, %%p%u;\nst.global.b64 [%%d1+%u], %%d40;\n", reg, at); break;
    case 16: add(t, "cvt.u64.u16 %%d40, %%h%u;\nst.global.b64 [%%d1+%u], %%d40;\n", reg, at); break;
    case 32: add(t, "cvt.u64.u32 %%d40, %%r%u;\nst.global.b64 [%%d1+%u], %%d40;\n", reg, at); break;
    case 64: add(t, "st.global.b64 [%%d1+%u], %%d%u;\n", at, reg); break;
    default: add(t, "mov.b128 {%%d40, %%d41}, %%x%u;\nst.global.v2.b64 [%%d1+%u], {%%d40, %%d41};\n", reg, at); ++*word;
    }
}

// A part of an operand of a video instruction.
static void selector(Text *t, const FormCase *f, u32 operand) {
    if (!is_video(f->op) || !f->variant) return;
    u32 h = hash_of(f->mnemonic) >> (8 * operand);
    bool dst = operand == 0;
    if (f->op >= OP_VADD4) {  // four bytes
        if (dst && f->variant == 2)
            add(t, ".b%s", (const char *const[]){"0", "31", "210", "20"}[h & 3]);
        else if (!dst && operand < 3)
            add(t, ".b%u%u%u%u", h & 7, h >> 3 & 7, h >> 1 & 7, h >> 4 & 7);
    } else if (is_simd(f->op)) {
        if (dst && f->variant == 2)
            add(t, ".h%u", h & 1);
        else if (!dst && operand < 3)
            add(t, ".h%u%u", h & 3, h >> 2 & 3);
    } else if (dst && f->variant == 2)
        add(t, h & 4 ? ".h%u" : ".b%u", h & 4 ? h & 1 : h & 3);
    else if (!dst && operand < 3)
        add(t, h & 4 ? ".h%u" : ".b%u", h & 4 ? h & 1 : h & 3);
}

// Where the form's memory is: the address of its 64 bytes in %d2, their contents from the input.
typedef enum Place { NOWHERE, IN_INPUT, IN_OUTPUT, IN_SHARED, IN_LOCAL, IN_CONST, IN_PARAM } Place;
static Place place_of(const FormCase *f, bool memory) {
    bool changes = ptx_ops[f->op].flags & (OPF_STORE | OPF_ATOMIC);
    if (!memory) return NOWHERE;
    switch (f->space) {
    case FS_GENERIC: return f->variant == 2 ? IN_SHARED : f->variant == 3 ? IN_LOCAL : changes ? IN_OUTPUT : IN_INPUT;
    case FS_GLOBAL: return changes ? IN_OUTPUT : IN_INPUT;
    case FS_SHARED:
    case FS_CLUSTER: return IN_SHARED;
    case FS_LOCAL: return IN_LOCAL;
    case FS_CONST: return IN_CONST;
    default: return IN_PARAM;
    }
}
static void place_memory(Text *t, const FormCase *f, u32 index, Place place, u32 size) {
    const char *space = place == IN_SHARED ? "shared" : place == IN_LOCAL ? "local" : "global";
    switch (place) {
    case IN_INPUT: add(t, "add.u64 %%d2, %%d0, 64;\n"); break;
    case IN_OUTPUT: add(t, "add.u64 %%d2, %%d1, 64;\n"); break;
    case IN_SHARED: add(t, "mov.u64 %%d2, f%u_sh;\nmad.wide.u32 %%d2, %%r2, 64, %%d2;\n", index); break;
    case IN_LOCAL: add(t, "mov.u64 %%d2, loc;\n"); break;
    case IN_CONST: add(t, "mov.u64 %%d2, form_const;\n"); break;
    default: return;
    }
    if (place == IN_OUTPUT || place == IN_SHARED || place == IN_LOCAL)
        for (u32 i = 0; i < FORM_MEMORY; i += 16)
            add(t, "ld.global.v2.b64 {%%d40, %%d41}, [%%d0+%u];\nst.%s.v2.b64 [%%d2+%u], {%%d40, %%d41};\n", 64 + i,
                space, i);
    if (place == IN_SHARED || place == IN_LOCAL) add(t, "mov.b64 %%d3, %%d2;\n");
    if (f->space == FS_GENERIC && (place == IN_SHARED || place == IN_LOCAL)) add(t, "cvta.%s.u64 %%d2, %%d2;\n", space);
    if (f->space == FS_CLUSTER) add(t, "cvta.shared.u64 %%d2, %%d2;\ncvta.to.shared::cluster.u64 %%d2, %%d2;\n");
    // One of the places of this size in the 64 bytes.
    add(t, "ld.global.b64 %%d40, [%%d0+56];\nand.b64 %%d40, %%d40, %u;\nadd.u64 %%d2, %%d2, %%d40;\n",
        (FORM_MEMORY - 1) & ~(size - 1));
}
static void save_memory(Text *t, Place place) {
    if (place != IN_SHARED && place != IN_LOCAL) return;
    for (u32 i = 0; i < FORM_MEMORY; i += 16)
        add(t, "ld.%s.v2.b64 {%%d40, %%d41}, [%%d3+%u];\nst.global.v2.b64 [%%d1+%u], {%%d40, %%d41};\n",
            place == IN_SHARED ? "shared" : "local", i, 64 + i);
}

static void frame(Text *t, u32 index, Place place) {
    add(t, ".visible .entry f%u(.param .u64 f%u_in, .param .u64 f%u_out, .param .align 16 .b8 f%u_p[64])\n{\n", index,
        index, index, index);
    add(t, ".reg .b16 %%h<24>;\n.reg .b32 %%r<32>;\n.reg .b64 %%d<44>;\n.reg .pred %%p<24>;\n");
    if (place == IN_SHARED) add(t, ".shared .align 16 .b8 f%u_sh[%u];\n", index, FORM_BLOCK * FORM_MEMORY);
    if (place == IN_LOCAL) add(t, ".local .align 16 .b8 loc[%u];\n", FORM_MEMORY);
    add(t, "mov.u32 %%r0, %%ctaid.x;\nmov.u32 %%r1, %%ntid.x;\nmov.u32 %%r2, %%tid.x;\nmad.lo.u32 %%r0, %%r0, %%r1, "
           "%%r2;\n");
    add(t, "ld.param.u64 %%d0, [f%u_in];\nld.param.u64 %%d1, [f%u_out];\n", index, index);
    add(t, "mad.wide.u32 %%d0, %%r0, %u, %%d0;\nmad.wide.u32 %%d1, %%r0, %u, %%d1;\n", FORM_INPUTS * 8,
        FORM_OUTPUTS * 8);
}

// CC.CF from a bit of the input, for what reads it; read back after what sets it.
static bool subtracts(u32 op) { return op == OP_SUB_CC || op == OP_SUBC; }
static void carry_in(Text *t, const FormCase *f) {
    if (!(ptx_ops[f->op].flags & OPF_CARRY_IN)) return;
    add(t, "ld.global.b32 %%r30, [%%d0+60];\nand.b32 %%r30, %%r30, 1;\n%s;\n",
        subtracts(f->op) ? "sub.cc.u32 %r31, 0, %r30" : "add.cc.u32 %r31, %r30, 0xffffffff");
}
static bool carry_out(Text *t, const FormCase *f) {
    if (!f->mods[MOD_CC]) return false;
    add(t, "%s.u32 %%r30, 0, 0;\n", subtracts(f->op) ? "subc" : "addc");
    return true;
}

typedef struct Writer {
    Text *t;
    Text args;
    u32 next_reg, word;  // of sources
    u32 bits[16], regs[16], results;
} Writer;
static void result(Writer *w, u32 bits, u32 reg) { w->bits[w->results] = bits, w->regs[w->results++] = reg; }

static void add_register(Writer *w, const FormCase *f, const Slot *s, u32 operand, u32 part) {
    u32 bits = register_bits(f, s), reg = w->next_reg++;
    add(&w->args, "%s%%%c%u", part ? ", " : "", register_letter(bits), reg);
    selector(&w->args, f, operand);
    if (s->access == 'd' || s->access == 'p')
        result(w, bits, reg);
    else
        load_source(w->t, bits, reg, w->word++);
}
static void add_operand(Writer *w, const FormCase *f, const Slot *s, u32 operand, u32 *src, u32 index, Place place) {
    if (operand) add(&w->args, ", ");
    if (s->access == 'm') {
        if (place == IN_PARAM)
            add(&w->args, "[f%u_p+%u]", index, hash_of(f->mnemonic) % 4 * 16);
        else
            add(&w->args, "[%%d2]");
        return;
    }
    char special = s->access == 's' ? special_kind(f, (*src)++) : 0;
    if (special == 'm' || special == '#') {
        static const u8 tables[] = {0x96, 0xe8, 0x1b, 0xca};
        add(&w->args, special == 'm' ? "0xffffffff" : "%u", tables[f->variant & 3]);
        w->word++;
        return;
    }
    if (s->count > 1) add(&w->args, "{");
    for (u32 k = 0; k < s->count; k++) add_register(w, f, s, operand, k);
    if (s->count > 1) add(&w->args, "}");
    if (s->pair && (f->variant == 0 || f->op == OP_LOP3_BOOL)) {
        add(&w->args, "|%%p%u", w->next_reg);
        result(w, 1, w->next_reg++);
    }
}

bool form_text(const FormCase *f, u32 index, char *text, size_t size) {
    Slot slots[MOST_SLOTS];
    u32 n = read_slots(f, slots), src = 0, memory_bytes = 0, written = 0;
    if (!has_variant(f, slots, n)) return false;
    for (u32 i = 0; i < n; i++) {
        if (slots[i].access == 'm') memory_bytes = type_bytes(slots[i].type) * f->vector;
        if (slots[i].access == 'm' && !memory_bytes) return false;
        if (!strchr("dspqm", slots[i].access) || !slots[i].count || slot_bits(&slots[i]) > 128) return false;
    }
    if (memory_bytes > 32) return false;
    Text t = {.s = text, .size = size};
    char args[512] = "";
    Place place = place_of(f, memory_bytes > 0);
    Writer w = {.t = &t, .args = {.s = args, .size = sizeof args}, .next_reg = 4};
    frame(&t, index, place);
    if (strstr(ptx_ops[f->op].sig, "*x*")) return false;
    add(&t, ".reg .b128 %%x<20>;\n");
    if (f->mods[MOD_CACHE_HINT]) add(&t, "createpolicy.fractional.L2::evict_first.b64 %%d39, 0f3f800000;\n");
    place_memory(&t, f, index, place, memory_bytes);
    for (u32 i = 0; i < n; i++) {
        const Slot *s = &slots[i];
        if (!s->present) continue;
        bool video_c = is_video(f->op) && i == 3 && s->optional;
        if (video_c ? !(f->mods[MOD_VIDEO_OP2] || f->variant == 2) : s->optional) continue;
        if (s->access == 's' && strchr(ptx_ops[f->op].sig, '?') && s->type == TYPE_B64 && f->mods[MOD_CACHE_HINT] &&
            i + 1 == n) {
            add(&w.args, ", %%d39");
            continue;
        }
        add_operand(&w, f, s, written++, &src, index, place);
    }
    carry_in(&t, f);
    add(&t, "%s %s;\n", f->mnemonic, args);
    if (carry_out(&t, f)) result(&w, 32, 30);
    u32 word = 0;
    for (u32 i = 0; i < w.results; i++) store_result(&t, w.bits[i], w.regs[i], &word);
    save_memory(&t, place);
    add(&t, "ret;\n}\n");
    return t.n + 1 < size;
}
