// SPDX-License-Identifier: Apache-2.0
// Runs single instructions on a GPU, through the driver, and on the functions of src/sim/exec, and compares the bits.
//   gpu_compare [PART]       the cases of exec_cases.inc whose mnemonic contains PART: what differs, with examples
//   gpu_compare --record     exec_cases.inc anew, with the hashes of the GPU's results that the simulator reproduces
//   gpu_compare --raw FILE   what the GPU gives for the cases without a hash: mnemonic, NUL, CASE_LANES 64-bit words
//   gpu_compare --ptx FOLDER the kernels, for ptxas
// Not part of any test run, as CI has no GPU: build it with tests/exec/gpu_compare.sh. exec_gpu_test.c replays what it
// recorded.
#include <dlfcn.h>

#include "sim/exec_cases.h"
#include "sim/machine.h"
#include "sim/warp.h"

enum { BLOCK = 256 };

const SimOperand *exec_program_list(const Exec *x, u32 list) { return x->grid->program->lists + list; }

// --- PTX --------------------------------------------------------------------------------------------------------
static const char *ptx_head =
    ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 in, .param .u64 out)\n{\n"
    ".reg .b64 %rd<64>;\n.reg .b32 %r<64>;\n.reg .b16 %rs<16>;\n.reg .pred %p<16>;\n"
    "mov.u32 %r0, %ctaid.x;\nmov.u32 %r63, %ntid.x;\nmov.u32 %r62, %tid.x;\nmad.lo.u32 %r0, %r0, %r63, %r62;\n"
    "ld.param.u64 %rd0, [in];\nld.param.u64 %rd1, [out];\n";

// Destinations are registers 40.., sources 10.. in order.
static void make_matrix_ptx(const ExecCase *c, char *text, size_t size) {
    size_t n =
        (size_t)snprintf(text, size, "%smad.wide.u32 %%rd0, %%r0, %d, %%rd0;\nmad.wide.u32 %%rd1, %%r0, %d, %%rd1;\n",
                         ptx_head, CASE_INPUTS * 8, CASE_OUTPUTS * 8);
    char args[512] = "", store[1024] = "";
    u32 dst = 0, src = 0, group = 0;
    for (const char *p = c->operands; *p; p++) {
        size_t m = strlen(args), k = strlen(store);
        if (*p == '{')
            snprintf(args + m, sizeof args - m, "%s{", group++ ? ", " : " ");
        else if (*p == '}')
            snprintf(args + m, sizeof args - m, "}");
        else {
            u32 at = group == 1 ? 40 + dst : 10 + src;
            const char *comma = args[m - 1] == '{' ? "" : ", ", *file = case_is_wide(*p) ? "rd" : "r";
            snprintf(args + m, sizeof args - m, "%s%%%s%u", comma, file, at);
            if (group == 1) {
                if (case_is_wide(*p))
                    snprintf(store + k, sizeof store - k, "st.global.b64 [%%rd1+%u], %%rd%u;\n", dst * 8, at);
                else
                    snprintf(store + k, sizeof store - k,
                             "cvt.u64.u32 %%rd%u, %%r%u;\nst.global.b64 [%%rd1+%u], %%rd%u;\n", at, at, dst * 8, at);
                dst++;
            } else {
                n += (size_t)snprintf(text + n, size - n, "ld.global.b64 %%rd%u, [%%rd0+%u];\n", at, src * 8);
                if (!case_is_wide(*p))
                    n += (size_t)snprintf(text + n, size - n, "cvt.u32.u64 %%r%u, %%rd%u;\n", at, at);
                src++;
            }
        }
    }
    snprintf(text + n, size - n, "%s%s;\n%sret;\n}\n", c->mnemonic, args, store);
}

static void make_ptx(const ExecCase *c, char *text, size_t size) {
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
        if (kind == 'q')
            snprintf(loads + n, sizeof loads - n, "and.b64 %%rd%u, %%rd%u, 1;\nsetp.ne.s64 %%p%u, %%rd%u, 0;\n", 10 + k,
                     10 + k, 1 + k, 10 + k);
        else if (case_is_short(kind))
            snprintf(loads + n, sizeof loads - n, "cvt.u16.u64 %%rs%u, %%rd%u;\n", 1 + k, 10 + k);
        else if (!case_is_wide(kind))
            snprintf(loads + n, sizeof loads - n, "cvt.u32.u64 %%r%u, %%rd%u;\n", 1 + k, 10 + k);
        if (kind == 'm')
            snprintf(args + m, sizeof args - m, ", 0xffffffff");
        else if (kind == '#')
            snprintf(args + m, sizeof args - m, ", 0x96");
        else
            snprintf(args + m, sizeof args - m, ", %%%s%u",
                     kind == 'q'           ? "p"
                     : case_is_short(kind) ? "rs"
                     : case_is_wide(kind)  ? "rd"
                                           : "r",
                     (case_is_wide(kind) ? 10 : 1) + k);
    }
    const char *dst;
    switch (c->operands[0]) {
    case 'r': dst = "%r9", snprintf(store, sizeof store, "cvt.u64.u32 %%rd2, %%r9;\n"); break;
    case 't': dst = "%rs9", snprintf(store, sizeof store, "cvt.u64.u16 %%rd2, %%rs9;\n"); break;
    case 'p': dst = "%p9", snprintf(store, sizeof store, "selp.b64 %%rd2, 1, 0, %%p9;\n"); break;
    case 'D':
        dst = "%p8|%p9", snprintf(store, sizeof store, "selp.b64 %%rd2, 1, 0, %%p8;\nselp.b64 %%rd3, 1, 0, %%p9;\n");
        break;
    case 'P':
        dst = "%r9|%p9", snprintf(store, sizeof store, "cvt.u64.u32 %%rd2, %%r9;\nselp.b64 %%rd3, 1, 0, %%p9;\n");
        break;
    default: dst = "%rd2", store[0] = 0; break;
    }
    snprintf(text, size,
             ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 in, .param .u64 out)\n{\n"
             ".reg .b64 %%rd<20>;\n.reg .b32 %%r<16>;\n.reg .b16 %%rs<16>;\n.reg .pred %%p<16>;\n"
             "mov.u32 %%r0, %%ctaid.x;\nmov.u32 %%r15, %%ntid.x;\nmov.u32 %%r14, %%tid.x;\nmad.lo.u32 %%r0, %%r0, "
             "%%r15, %%r14;\n"
             "ld.param.u64 %%rd0, [in];\nld.param.u64 %%rd1, [out];\nmad.wide.u32 %%rd0, %%r0, %d, %%rd0;\n"
             "mad.wide.u32 %%rd1, %%r0, %d, %%rd1;\nmov.b64 %%rd3, 0;\n%s%s %s%s;\n%sst.global.b64 [%%rd1], %%rd2;\n"
             "st.global.b64 [%%rd1+8], %%rd3;\nret;\n}\n",
             CASE_INPUTS * 8, CASE_OUTPUTS * 8, loads, c->mnemonic, dst, args, store);
}

// --- the simulator's side ---------------------------------------------------------------------------------------
static bool simulate(const ExecCase *c, const u64 *in, u64 *out) {
    static TestFrame t;
    static CaseCode code;
#ifdef COMPARE_BASE
    if (!case_select(c, exec_table_base, &code)) return false;
#else
    if (!case_select(c, exec_table_v3, &code)) return false;
#endif
    SimProgram program = {.lists = code.list};
    Grid grid = {.program = &program};
    testing_frame(&t);
    t.x.grid = &grid;
    for (u32 lane = 0; lane < CASE_LANES; lane += LANES) {
        case_load(&code, &t, in + lane * CASE_INPUTS);
        code.fn(&t.x, &code.insn, FULL_MASK);
        case_results(&code, &t, out + lane * CASE_OUTPUTS);
    }
    return true;
}

// --- the GPU's side ---------------------------------------------------------------------------------------------
typedef int (*Fn)();
static Fn driver(void *lib, const char *name) {
    union {
        void *p;
        Fn f;
    } u = {.p = dlsym(lib, name)};
    return u.f;
}
static Fn cuModuleLoadDataF, cuModuleUnloadF, cuModuleGetFunctionF, cuMemAllocF, cuMemsetD8F, cuHtoD, cuDtoH, cuLaunch,
    cuSync;
static u64 device_in, device_out;

static bool gpu_open(void) {
    void *lib = dlopen("libcuda.so.1", RTLD_NOW), *context;
    if (!lib) return false;
    int device;
    if (driver(lib, "cuInit")(0) || driver(lib, "cuDeviceGet")(&device, 0)) return false;
    if (driver(lib, "cuDevicePrimaryCtxRetain")(&context, device) || driver(lib, "cuCtxSetCurrent")(context))
        return false;
    cuModuleLoadDataF = driver(lib, "cuModuleLoadData"), cuModuleUnloadF = driver(lib, "cuModuleUnload");
    cuModuleGetFunctionF = driver(lib, "cuModuleGetFunction"), cuMemAllocF = driver(lib, "cuMemAlloc_v2");
    cuHtoD = driver(lib, "cuMemcpyHtoD_v2"), cuDtoH = driver(lib, "cuMemcpyDtoH_v2"),
    cuLaunch = driver(lib, "cuLaunchKernel");
    cuSync = driver(lib, "cuCtxSynchronize"), cuMemsetD8F = driver(lib, "cuMemsetD8_v2");
    return !cuMemAllocF(&device_in, (size_t)CASE_LANES * CASE_INPUTS * 8) &&
           !cuMemAllocF(&device_out, (size_t)CASE_LANES * CASE_OUTPUTS * 8);
}
static bool gpu_run(const char *ptx, const u64 *in, u64 *out) {
    void *module, *function, *args[] = {&device_in, &device_out};
    int rc = cuModuleLoadDataF(&module, ptx);
    if (rc || cuModuleGetFunctionF(&function, module, "k")) return printf("module: error %d\n", rc), false;
    cuMemsetD8F(device_out, 0, (size_t)CASE_LANES * CASE_OUTPUTS * 8);
    cuHtoD(device_in, in, (size_t)CASE_LANES * CASE_INPUTS * 8);
    rc = cuLaunch(function, CASE_LANES / BLOCK, 1, 1, BLOCK, 1, 1, 0, NULL, args, NULL);
    if (!rc) rc = cuSync();
    if (!rc) rc = cuDtoH(out, device_out, (size_t)CASE_LANES * CASE_OUTPUTS * 8);
    cuModuleUnloadF(module);
    return rc ? printf("launch: error %d\n", rc), false : true;
}

// Distance of two f32, or f64, in units of the last place.
static u64 ulps(u64 a, u64 b, char kind) {
    u64 sign = case_is_wide(kind) ? 1ull << 63 : case_is_short(kind) ? 1ull << 15 : 1ull << 31;
    i64 ka = a & sign ? -(i64)(a & (sign - 1)) : (i64)a, kb = b & sign ? -(i64)(b & (sign - 1)) : (i64)b;
    return (u64)(ka > kb ? ka - kb : kb - ka);
}

static u64 inputs[CASE_LANES * CASE_INPUTS], expected[CASE_LANES * CASE_OUTPUTS], got[CASE_LANES * CASE_OUTPUTS];

static void report(const ExecCase *c) {
    u32 wrong = 0, shown = 0;
    u64 worst = 0;
    for (u32 n = 0; n < CASE_LANES; n++) {
        u64 *e = expected + n * CASE_OUTPUTS, *g = got + n * CASE_OUTPUTS, far = ulps(e[0], g[0], case_kinds(c).dst[0]);
        wrong += memcmp(e, g, CASE_OUTPUTS * 8) != 0;
        if (far > worst) worst = far;
    }
    printf("%s %-38s %u different, up to %llu ulp\n", wrong ? "!" : "=", c->mnemonic, wrong, (unsigned long long)worst);
    for (u32 n = 0; n < CASE_LANES && shown < 4; n++) {
        u64 *e = expected + n * CASE_OUTPUTS, *g = got + n * CASE_OUTPUTS, *a = inputs + n * CASE_INPUTS;
        if (!memcmp(e, g, CASE_OUTPUTS * 8) || (shown < 2 && ulps(e[0], g[0], case_kinds(c).dst[0]) != worst)) continue;
        shown++;
        printf("    %llx %llx %llx %llx -> gpu %llx %llx, sim %llx %llx (lane %u)\n", (unsigned long long)a[0],
               (unsigned long long)a[1], (unsigned long long)a[2], (unsigned long long)a[3], (unsigned long long)e[0],
               (unsigned long long)e[1], (unsigned long long)g[0], (unsigned long long)g[1], n % 32);
    }
}

static void write_ptx(const char *folder, u32 i, const char *ptx) {
    char path[512];
    snprintf(path, sizeof path, "%s/%04u.ptx", folder, i);
    FILE *f = fopen(path, "w");
    if (f) fputs(ptx, f), fclose(f);
}

// Results of a case, the first word of each lane.
static void write_raw(FILE *f, const ExecCase *c) {
    fwrite(c->mnemonic, strlen(c->mnemonic) + 1, 1, f);
    for (u32 n = 0; n < CASE_LANES; n++) fwrite(expected + n * CASE_OUTPUTS, 8, 1, f);
}

int main(int argc, char **argv) {
    const char *folder = argc > 2 && !strcmp(argv[1], "--ptx") ? argv[2] : NULL;
    FILE *raw = argc > 2 && !strcmp(argv[1], "--raw") ? fopen(argv[2], "wb") : NULL;
    bool record = argc > 1 && !strcmp(argv[1], "--record"), gpu = !folder && gpu_open();
    if (!folder && !gpu) printf("no GPU: only whether the forms are executable\n");
    if (gpu && record)
        puts("// SPDX-License-Identifier: Apache-2.0\n"
             "// Instructions, their operands (see src/sim/exec_cases.h) and the hash of what an H200 gave for them: "
             "driver 580, PTX 9.0 for sm_90.\n"
             "// 0: not recorded, or a choice of the hardware that is not followed (documented in exec/).\n"
             "// Written by gpu_compare --record.");
    for (u32 i = 0; i < WL_COUNT(exec_cases); i++) {
        static char ptx[8192];
        const ExecCase *c = &exec_cases[i];
        if (!folder && !record && !raw && argc > 1 && !strstr(c->mnemonic, argv[1])) continue;
        make_ptx(c, ptx, sizeof ptx);
        if (folder) {
            write_ptx(folder, i, ptx);
            continue;
        }
        if (raw && (c->hash || strstr(c->mnemonic, "approx") || strstr(c->mnemonic, "full"))) continue;
        case_inputs(c, inputs);
        if (!simulate(c, inputs, got))
            printf("%-40s not executable\n", c->mnemonic);
        else if (gpu && !gpu_run(ptx, inputs, expected))
            printf("%-40s failed on the GPU\n", c->mnemonic);
        else if (gpu && record)
            printf("{\"%s\", \"%s\", 0x%llx},\n", c->mnemonic, c->operands,
                   memcmp(expected, got, sizeof got) ? 0 : (unsigned long long)case_hash(expected));
        else if (raw && gpu)
            write_raw(raw, c);
        else if (gpu)
            report(c);
    }
    if (raw) fclose(raw);
    return 0;
}
