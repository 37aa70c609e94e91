// SPDX-License-Identifier: Apache-2.0
// Runs single instructions on a GPU, through the driver, and on the functions of src/sim/exec, and compares the bits. Not part of any
// test run: there is no GPU in CI. Build and use: tests/exec/gpu_compare.sh
#include <dlfcn.h>
#include <math.h>

#include "sim/exec_testing.h"

enum { THREADS = 16384, BLOCK = 256, INPUTS = 18, OUTPUTS = 8 };

// Operands, the destination first. Destinations: r 32 bits, x 64, t 16, p predicate, P 32 bits|predicate.
// Sources: f f32, d f64, i 32-bit and l 64-bit integer, s 16-bit integer, h f16, H f16x2, b bf16, B bf16x2, a shift amount, A amount of
// either sign, q predicate, m full membermask, k shfl's clamp and mask, # literal lop3 table, w two fp8, z low-range f32 for sin and the like;
// small integers, so that sums are exact: E two f16, F two bf16, G f32, Y f64, X four e4m3. Matrices: "{d..}{a..}{b..}{c..}".
typedef struct Case {
    const char *mnemonic, *operands;
} Case;

static const Case cases[] = {
#include "gpu_cases.inc"
};

static u64 random_state = 0x9e3779b97f4a7c15ull;
static u64 random_u64(void) {
    u64 z = random_state += 0x9e3779b97f4a7c15ull;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
}
static u32 of_f32(f32 v) { u32 b; memcpy(&b, &v, 4); return b; }
static u64 of_f64(f64 v) { u64 b; memcpy(&b, &v, 8); return b; }

static u64 random_f32(void) {
    static const u32 special[] = {0, 0x80000000, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc12345, 0x7f812345,
                                  0x7fffffff, 1, 0x80000001, 0x007fffff, 0x807fffff, 0x00800000, 0x80800000, 0x7f7fffff, 0xff7fffff,
                                  0x3f000000, 0x3fc00000, 0xc0200000, 0x4b000000, 0x4f000000, 0xcf000000, 0x4effffff, 0x4f800000,
                                  0x5f000000, 0xdf000000, 0x5f800000, 0x33800000, 0x3effffff, 0x42fe0000, 0xc2fe0000, 0x7e800000, 0x7f000000};
    u64 r = random_u64();
    switch (r >> 60) {
    case 0: case 1: case 2: return special[r % WL_COUNT(special)];
    case 3: case 4: case 5: case 6: return (u32)r;
    case 7: return (u32)r & 0x80ffffff;
    case 8: return of_f32((f32)((i64)(r & 0xffff) - 32768) * 0.5f);
    case 9: return of_f32((f32)(i64)(i32)r);
    default: return of_f32((f32)((f64)(i64)(r << 4) * 0x1p-61));
    }
}
static u64 random_f64(void) {
    static const u64 special[] = {0, 0x8000000000000000, 0x3ff0000000000000, 0xbff0000000000000, 0x7ff0000000000000, 0xfff0000000000000,
                                  0x7ff8000000000000, 0xfff8000012345678, 0x7ff0123456789abc, 0x7fffffffffffffff, 1, 0x8000000000000001,
                                  0x000fffffffffffff, 0x0010000000000000, 0x8010000000000000, 0x7fefffffffffffff, 0x3fe0000000000000,
                                  0x3ff8000000000000, 0x4330000000000000, 0x41e0000000000000, 0xc1e0000000000000, 0x41efffffffe00000,
                                  0x43e0000000000000, 0xc3e0000000000000, 0x43f0000000000000, 0x380fffffffffffff, 0x47efffffefffffff};
    u64 r = random_u64();
    switch (r >> 60) {
    case 0: case 1: case 2: return special[r % WL_COUNT(special)];
    case 3: case 4: case 5: case 6: return r << 4 ^ r >> 40;
    case 7: return of_f64((f64)((i64)(r & 0xffff) - 32768) * 0.5);
    case 8: return of_f64((f64)(i32)r + 0.5);
    case 9: return (r & 0x800fffffffffffff) | (0x369 + (r >> 52 & 0xff)) << 52;  // around f32's subnormals
    default: return of_f64((f64)(i64)(r << 4) * 0x1p-61);
    }
}
static u64 random_int(u32 bits) {
    u64 r = random_u64(), mask = bits == 64 ? UINT64_MAX : (1ull << bits) - 1;
    switch (r >> 60) {
    case 0: return r & 3;
    case 1: return (0 - (r & 3)) & mask;
    case 2: return 1ull << (bits - 1) & mask;
    case 3: return mask >> 1;
    default: return random_u64() >> (r & 63) & mask;
    }
}
static u64 random_half(u64 r) {
    static const u16 special[] = {0, 0x8000, 0x3c00, 0xbc00, 0x7c00, 0xfc00, 0x7e00, 0x7d01, 0x7fff, 0x3f80, 0x7f80, 0xff80, 0x7fc0, 0x0001, 0x8001};
    return r >> 61 ? r & 0xffff : special[r % WL_COUNT(special)];
}
// Two integers from -8 to 8 in a 16-bit format.
static u64 small_pair(u64 r, u32 mantissa, u32 bias) {
    u64 pair = 0;
    for (u32 i = 0; i < 2; i++, r >>= 8) {
        u32 n = (u32)(r % 9), top = n ? 31 - (u32)__builtin_clz(n) : 0, sign = (u32)(r >> 7 & 1) << 15;
        u32 h = n ? (top + bias) << mantissa | ((n << mantissa >> top) & ((1u << mantissa) - 1)) : 0;
        pair |= (u64)(h | sign) << (16 * i);
    }
    return pair;
}
static u64 random_input(char kind) {
    u64 r = random_u64();
    switch (kind) {
    case 'f': return random_f32();
    case 'z': return of_f32((f32)((f64)(i64)r * 0x1p-58));
    case 'd': return random_f64();
    case 'i': return random_int(32);
    case 'l': return random_int(64);
    case 's': return random_int(16);
    case 'h': case 'b': return random_half(r);
    case 'H': case 'B': return random_half(r) | random_half(random_u64()) << 16;
    case 'a': return r >> 60 ? r % 72 : r & 0xff;
    case 'A': return (u32)((i32)(r % 20) - 10);
    case 'u': return r & 31;
    case 'k': return (r & 31) | (r >> 8 & 1 ? 0x1f : 0) << 0 | (r >> 16 & 31) << 8;
    case 'q': return r >> 63;
    case 'w': return r & 0xffff;
    case 'E': return small_pair(r, 10, 15);
    case 'F': return small_pair(r, 7, 127);
    case 'G': return of_f32((f32)(i32)(r % 17) - 8);
    case 'Y': return of_f64((f64)(i32)(r % 17) - 8);
    case 'X': return (r & 0x87878787) | 0x38383838;  // 1 .. 1.875, either sign
    default: return 0;
    }
}

// --- PTX --------------------------------------------------------------------------------------------------------
static bool is_wide(char kind) { return strchr("dlxY", kind) != NULL; }
static bool is_short(char kind) { return strchr("shbtw", kind) != NULL; }

static const char *ptx_head =
    ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 in, .param .u64 out)\n{\n"
    ".reg .b64 %rd<64>;\n.reg .b32 %r<64>;\n.reg .b16 %rs<16>;\n.reg .pred %p<16>;\n"
    "mov.u32 %r0, %ctaid.x;\nmov.u32 %r63, %ntid.x;\nmov.u32 %r62, %tid.x;\nmad.lo.u32 %r0, %r0, %r63, %r62;\n"
    "ld.param.u64 %rd0, [in];\nld.param.u64 %rd1, [out];\n";

// Destinations are registers 40.., sources 10.. in order.
static void make_matrix_ptx(const Case *c, char *text, size_t size) {
    size_t n = (size_t)snprintf(text, size, "%smad.wide.u32 %%rd0, %%r0, %d, %%rd0;\nmad.wide.u32 %%rd1, %%r0, %d, %%rd1;\n", ptx_head,
                                INPUTS * 8, OUTPUTS * 8);
    char args[512] = "", store[1024] = "";
    u32 dst = 0, src = 0, group = 0;
    for (const char *p = c->operands; *p; p++) {
        size_t m = strlen(args), k = strlen(store);
        if (*p == '{') snprintf(args + m, sizeof args - m, "%s{", group++ ? ", " : " ");
        else if (*p == '}') snprintf(args + m, sizeof args - m, "}");
        else {
            u32 at = group == 1 ? 40 + dst : 10 + src;
            const char *comma = args[m - 1] == '{' ? "" : ", ", *file = is_wide(*p) ? "rd" : "r";
            snprintf(args + m, sizeof args - m, "%s%%%s%u", comma, file, at);
            if (group == 1) {
                if (is_wide(*p)) snprintf(store + k, sizeof store - k, "st.global.b64 [%%rd1+%u], %%rd%u;\n", dst * 8, at);
                else snprintf(store + k, sizeof store - k, "cvt.u64.u32 %%rd%u, %%r%u;\nst.global.b64 [%%rd1+%u], %%rd%u;\n", at, at, dst * 8, at);
                dst++;
            } else {
                n += (size_t)snprintf(text + n, size - n, "ld.global.b64 %%rd%u, [%%rd0+%u];\n", at, src * 8);
                if (!is_wide(*p)) n += (size_t)snprintf(text + n, size - n, "cvt.u32.u64 %%r%u, %%rd%u;\n", at, at);
                src++;
            }
        }
    }
    snprintf(text + n, size - n, "%s%s;\n%sret;\n}\n", c->mnemonic, args, store);
}

static SimOperand matrix_list[64];
const SimOperand *exec_program_list(const Exec *x, u32 list) { return (void)x, (void)list, matrix_list; }

static bool simulate_matrix(const Case *c, const u64 *in, u64 *out) {
    static TestFrame t;
    Form form;
    SimInsn insn;
    ExecShape shape = {.form = &form};
    if (!testing_form(c->mnemonic, &form)) return printf("%-40s no form\n", c->mnemonic), false;
    testing_insn(&form, &insn);
    char kind[64];
    u32 count = 0, dst = 0, group = 0;
    for (const char *p = c->operands; *p; p++) {
        if (*p == '{') group++;
        else if (*p != '}') {
            kind[count] = *p;
            matrix_list[count] = is_wide(*p) ? r64_operand(count) : r32_operand(count);
            count++, dst += group == 1;
        }
    }
    insn.list_count = (u16)count;
    ExecFn fn = exec_table_v3[form.op](&shape, &insn);
    if (!fn) return printf("%-40s not executable\n", c->mnemonic), false;
    testing_frame(&t);
    for (u32 warp = 0; warp < THREADS / LANES; warp++) {
        for (u32 l = 0; l < LANES; l++)
            for (u32 k = dst; k < count; k++) {
                u64 value = in[(warp * LANES + l) * INPUTS + k - dst];
                if (is_wide(kind[k])) t.r64[k][l] = value;
                else t.r32[k][l] = (u32)value;
            }
        fn(&t.x, &insn, FULL_MASK);
        for (u32 l = 0; l < LANES; l++)
            for (u32 k = 0; k < dst; k++)
                out[(warp * LANES + l) * OUTPUTS + k] = is_wide(kind[k]) ? t.r64[k][l] : t.r32[k][l];
    }
    return true;
}

static void make_ptx(const Case *c, char *text, size_t size) {
    if (c->operands[0] == '{') {
        make_matrix_ptx(c, text, size);
        return;
    }
    char loads[1024] = "", args[256] = "", store[256];
    const char *sources = c->operands + 1;
    for (u32 k = 0; sources[k]; k++) {
        size_t n = strlen(loads), m = strlen(args);
        char kind = sources[k];
        snprintf(loads + n, sizeof loads - n, "ld.global.b64 %%rd%u, [%%rd0+%u];\n", 10 + k, k * 8);
        n = strlen(loads);
        if (kind == 'q') snprintf(loads + n, sizeof loads - n, "and.b64 %%rd%u, %%rd%u, 1;\nsetp.ne.s64 %%p%u, %%rd%u, 0;\n", 10 + k, 10 + k, 1 + k, 10 + k);
        else if (is_short(kind)) snprintf(loads + n, sizeof loads - n, "cvt.u16.u64 %%rs%u, %%rd%u;\n", 1 + k, 10 + k);
        else if (!is_wide(kind)) snprintf(loads + n, sizeof loads - n, "cvt.u32.u64 %%r%u, %%rd%u;\n", 1 + k, 10 + k);
        if (kind == 'm') snprintf(args + m, sizeof args - m, ", 0xffffffff");
        else if (kind == '#') snprintf(args + m, sizeof args - m, ", 0x%x", (u32)c->mnemonic[5] * 37 & 0xff);
        else snprintf(args + m, sizeof args - m, ", %%%s%u", kind == 'q' ? "p" : is_short(kind) ? "rs" : is_wide(kind) ? "rd" : "r",
                      (is_wide(kind) ? 10 : 1) + k);
    }
    const char *dst, *none = "";
    switch (c->operands[0]) {
    case 'r': dst = "%r9", snprintf(store, sizeof store, "cvt.u64.u32 %%rd2, %%r9;\n"); break;
    case 't': dst = "%rs9", snprintf(store, sizeof store, "cvt.u64.u16 %%rd2, %%rs9;\n"); break;
    case 'p': dst = "%p9", snprintf(store, sizeof store, "selp.b64 %%rd2, 1, 0, %%p9;\n"); break;
    case 'D': dst = "%p8|%p9", snprintf(store, sizeof store, "selp.b64 %%rd2, 1, 0, %%p8;\nselp.b64 %%rd3, 1, 0, %%p9;\n"); break;
    case 'P': dst = "%r9|%p9", snprintf(store, sizeof store, "cvt.u64.u32 %%rd2, %%r9;\nselp.b64 %%rd3, 1, 0, %%p9;\n"); break;
    default: dst = "%rd2", store[0] = 0; break;
    }
    (void)none;
    snprintf(text, size,
             ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 in, .param .u64 out)\n{\n"
             ".reg .b64 %%rd<20>;\n.reg .b32 %%r<16>;\n.reg .b16 %%rs<16>;\n.reg .pred %%p<16>;\n"
             "mov.u32 %%r0, %%ctaid.x;\nmov.u32 %%r15, %%ntid.x;\nmov.u32 %%r14, %%tid.x;\nmad.lo.u32 %%r0, %%r0, %%r15, %%r14;\n"
             "ld.param.u64 %%rd0, [in];\nld.param.u64 %%rd1, [out];\nmad.wide.u32 %%rd0, %%r0, %d, %%rd0;\n"
             "mad.wide.u32 %%rd1, %%r0, %d, %%rd1;\nmov.b64 %%rd3, 0;\n%s%s %s%s;\n%sst.global.b64 [%%rd1], %%rd2;\n"
             "st.global.b64 [%%rd1+8], %%rd3;\nret;\n}\n",
             INPUTS * 8, OUTPUTS * 8, loads, c->mnemonic, dst, args, store);
}

// --- the simulator's side ---------------------------------------------------------------------------------------
static bool simulate(const Case *c, const u64 *in, u64 *out) {
    if (c->operands[0] == '{') return simulate_matrix(c, in, out);
    static TestFrame t;
    Form form;
    SimInsn insn;
    ExecShape shape = {.form = &form};
    if (!testing_form(c->mnemonic, &form)) {
        printf("%-40s no form\n", c->mnemonic);
        return false;
    }
    const char *sources = c->operands + 1;
    testing_insn(&form, &insn);
    u32 slot = 0;
    char d = c->operands[0];
    if (d == 'p') insn.pred_dst = 4;
    else if (d == 'D') insn.pred_dst = 4, insn.pred_dst2 = 5;
    else insn.dst = is_wide(d) ? r64_operand(9) : r32_operand(9);
    if (d == 'P') insn.pred_dst = 4;
    shape.dst_bits = d == 'p' || d == 'D' ? 1 : is_wide(d) ? 64 : is_short(d) ? 16 : 32;
    bool pred_type = form.types[0] == TYPE_PRED && form.op != OP_VOTE_SYNC && form.op != OP_VOTE;
    for (u32 k = 0; sources[k]; k++) {
        if (sources[k] == 'q') {
            if (pred_type) insn.src[slot++] = 6 + k;
            else insn.pred_src = 6 + k;
            continue;
        }
        u32 at = sources[k] == 'm' ? 3 : slot++;
        insn.src[at] = is_wide(sources[k]) ? r64_operand(k) : r32_operand(k);
        shape.src_bits[at] = is_wide(sources[k]) ? 64 : is_short(sources[k]) ? 16 : 32;
    }
    ExecFn fn = (
#ifdef COMPARE_BASE
        exec_table_base
#else
        exec_table_v3
#endif
        )[form.op](&shape, &insn);
    if (!fn) {
        printf("%-40s not executable\n", c->mnemonic);
        return false;
    }
    testing_frame(&t);
    for (u32 warp = 0; warp < THREADS / LANES; warp++) {
        for (u32 l = 0; l < LANES; l++) {
            const u64 *row = in + (warp * LANES + l) * INPUTS;
            for (u32 k = 0; sources[k]; k++) {
                if (sources[k] == 'q') t.pred[6 + k] = (t.pred[6 + k] & ~(1u << l)) | (u32)(row[k] & 1) << l;
                else if (sources[k] == 'm') t.r32[k][l] = FULL_MASK;
                else if (sources[k] == '#') t.r32[k][l] = (u32)c->mnemonic[5] * 37 & 0xff;
                else if (is_wide(sources[k])) t.r64[k][l] = row[k];
                else if (is_short(sources[k])) t.r32[k][l] = (u32)(row[k] & 0xffff) | (u32)random_u64() << 16;
                else t.r32[k][l] = (u32)row[k];
            }
        }
        fn(&t.x, &insn, FULL_MASK);
        for (u32 l = 0; l < LANES; l++) {
            u64 *row = out + (warp * LANES + l) * OUTPUTS;
            row[0] = d == 'p' || d == 'D' ? t.pred[4] >> l & 1 : is_wide(d) ? t.r64[9][l] : d == 't' ? t.r32[9][l] & 0xffff : t.r32[9][l];
            row[1] = d == 'P' ? t.pred[4] >> l & 1 : d == 'D' ? t.pred[5] >> l & 1 : 0;
        }
    }
    return true;
}

// --- the GPU's side ---------------------------------------------------------------------------------------------
typedef int (*Fn)();
static Fn driver(void *lib, const char *name) {
    union { void *p; Fn f; } u = {.p = dlsym(lib, name)};
    return u.f;
}
static Fn cuModuleLoadDataF, cuModuleUnloadF, cuModuleGetFunctionF, cuMemAllocF, cuHtoD, cuDtoH, cuLaunch, cuSync;
static u64 device_in, device_out;

static bool gpu_open(void) {
    void *lib = dlopen("libcuda.so.1", RTLD_NOW), *context;
    if (!lib) return false;
    int device;
    if (driver(lib, "cuInit")(0) || driver(lib, "cuDeviceGet")(&device, 0)) return false;
    if (driver(lib, "cuDevicePrimaryCtxRetain")(&context, device) || driver(lib, "cuCtxSetCurrent")(context)) return false;
    cuModuleLoadDataF = driver(lib, "cuModuleLoadData"), cuModuleUnloadF = driver(lib, "cuModuleUnload");
    cuModuleGetFunctionF = driver(lib, "cuModuleGetFunction"), cuMemAllocF = driver(lib, "cuMemAlloc_v2");
    cuHtoD = driver(lib, "cuMemcpyHtoD_v2"), cuDtoH = driver(lib, "cuMemcpyDtoH_v2"), cuLaunch = driver(lib, "cuLaunchKernel");
    cuSync = driver(lib, "cuCtxSynchronize");
    return !cuMemAllocF(&device_in, (size_t)THREADS * INPUTS * 8) && !cuMemAllocF(&device_out, (size_t)THREADS * OUTPUTS * 8);
}
static bool gpu_run(const char *ptx, const u64 *in, u64 *out) {
    void *module, *function, *args[] = {&device_in, &device_out};
    int rc = cuModuleLoadDataF(&module, ptx);
    if (rc || cuModuleGetFunctionF(&function, module, "k")) return printf("module: error %d\n", rc), false;
    cuHtoD(device_in, in, (size_t)THREADS * INPUTS * 8);
    rc = cuLaunch(function, THREADS / BLOCK, 1, 1, BLOCK, 1, 1, 0, NULL, args, NULL);
    if (!rc) rc = cuSync();
    if (!rc) rc = cuDtoH(out, device_out, (size_t)THREADS * OUTPUTS * 8);
    cuModuleUnloadF(module);
    return rc ? printf("launch: error %d\n", rc), false : true;
}

// Distance of two f32, or f64, in units of the last place.
static u64 ulps(u64 a, u64 b, u32 bits) {
    u64 sign = 1ull << (bits - 1);
    i64 ka = a & sign ? -(i64)(a & (sign - 1)) : (i64)a, kb = b & sign ? -(i64)(b & (sign - 1)) : (i64)b;
    return (u64)(ka > kb ? ka - kb : kb - ka);
}

static u64 inputs[THREADS * INPUTS], expected[THREADS * OUTPUTS], got[THREADS * OUTPUTS];

int main(int argc, char **argv) {
    const char *dump = argc > 2 && !strcmp(argv[1], "--ptx") ? argv[2] : NULL;
    bool gpu = !dump && gpu_open();
    if (!dump && !gpu) printf("no GPU: the simulator only\n");
    for (u32 i = 0; i < WL_COUNT(cases); i++) {
        static char ptx[8192];
        const Case *c = &cases[i];
        if (!dump && argc > 1 && !strstr(c->mnemonic, argv[1])) continue;
        make_ptx(c, ptx, sizeof ptx);
        if (dump) {
            char path[512];
            snprintf(path, sizeof path, "%s/%03u.ptx", dump, i);
            FILE *f = fopen(path, "w");
            fputs(ptx, f), fclose(f);
            continue;
        }
        char sources[64];
        u32 source_count = 0;
        for (const char *p = c->operands[0] == '{' ? strchr(c->operands, '}') : c->operands + 1; *p; p++)
            if (*p != '{' && *p != '}') sources[source_count++] = *p;
        for (u32 n = 0; n < THREADS * INPUTS; n++) {
            u32 k = n % INPUTS;
            inputs[n] = k < source_count ? random_input(sources[k]) : 0;
            if (k && k < source_count && c->operands[0] != '{' && random_u64() % 16 == 0) inputs[n] = inputs[n - 1];  // equal operands
        }
        if (!simulate(c, inputs, got) || !gpu) continue;
        if (!gpu_run(ptx, inputs, expected)) {
            printf("%-40s failed on the GPU\n", c->mnemonic);
            continue;
        }
        u32 wrong = 0, shown = 0, used = c->operands[0] == '{' ? (u32)strcspn(c->operands, "}") - 1 : 2;
        u64 worst = 0;
        char d = c->operands[0];
        for (u32 n = 0; n < THREADS; n++) {
            u64 *e = expected + n * OUTPUTS, *g = got + n * OUTPUTS;
            if (!memcmp(e, g, 8 * used)) continue;
            wrong++;
            u64 far = ulps(e[0], g[0], is_wide(d) ? 64 : d == 't' ? 16 : 32);
            if (far > worst) worst = far;
        }
        printf("%s %-38s %u different, up to %llu ulp\n", wrong ? "!" : "=", c->mnemonic, wrong, (unsigned long long)worst);
        for (u32 n = 0; n < THREADS && shown < (wrong ? 4 : 0); n++) {
            u64 *e = expected + n * OUTPUTS, *g = got + n * OUTPUTS, *a = inputs + n * INPUTS;
            u64 far = ulps(e[0], g[0], is_wide(d) ? 64 : d == 't' ? 16 : 32);
            if (!memcmp(e, g, 8 * used) || (shown < 2 && far != worst)) continue;
            shown++;
            printf("    %llx %llx %llx %llx -> gpu %llx %llx, sim %llx %llx (lane %u)\n", (unsigned long long)a[0], (unsigned long long)a[1],
                   (unsigned long long)a[2], (unsigned long long)a[3], (unsigned long long)e[0], (unsigned long long)e[1],
                   (unsigned long long)g[0], (unsigned long long)g[1], n % 32);
        }
    }
    return 0;
}
