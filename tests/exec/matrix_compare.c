// SPDX-License-Identifier: Apache-2.0
// Runs the cases of matrix_cases.inc on a GPU of compute capability 9.0, through the driver.
//   matrix_compare [PART]       those whose mnemonic contains PART: which hashes differ from the recorded ones
//   matrix_compare --record     matrix_cases.inc anew, with the hashes of the GPU's results
//   matrix_compare --ptx FOLDER the kernels, for ptxas
// Not part of any test run, as CI has no GPU: tests/exec/matrix_compare.sh builds it. exec_matrix_test.c replays what
// it recorded.
#include <dlfcn.h>
#include <stdarg.h>

#include "sim/matrix_cases.h"

// --- PTX ------------------------------------------------------------------------------------------------------------
typedef struct Text {
    char data[65536];
    size_t len;
} Text;
static void add(Text *t, const char *format, ...) {
    va_list args;
    va_start(args, format);
    t->len += (size_t)vsnprintf(t->data + t->len, sizeof t->data - t->len, format, args);
    va_end(args);
}

static char prefix_of(u32 role) { return "dabcm"[role]; }
static void add_group(Text *t, const TensorForm *f, u32 role) {
    add(t, "{");
    for (u32 r = 0; r < f->count[role]; r++) add(t, "%s%%%c%u", r ? "," : "", prefix_of(role), r);
    add(t, "}");
}

// Registers of a role from the unit's rows. wgmma's accumulator is D and C.
static void add_loads(Text *t, const TensorForm *f, u32 role, u32 row) {
    char name = f->wgmma && role == 3 ? 'd' : prefix_of(role);
    for (u32 r = 0; r < f->count[role]; r++) {
        u32 at = (u32)offsetof(TensorUnit, rows) + (row + r * f->width[role]) * TENSOR_THREADS * 4;
        if (f->width[role] == 1)
            add(t, "ld.global.b32 %%%c%u, [%%rd2+%u];\n", name, r, at);
        else
            add(t, "ld.global.b32 %%r8, [%%rd2+%u];\nld.global.b32 %%r9, [%%rd2+%u];\nmov.b64 %%%c%u, {%%r8, %%r9};\n",
                at, at + TENSOR_THREADS * 4, name, r);
    }
}

static void add_image(Text *t, const TensorForm *f) {
    add(t,
        "mov.u32 %%r3, image;\nshr.u32 %%r4, %%r3, 4;\ncvt.u64.u32 %%rd4, %%r4;\nadd.u64 %%rd5, %%rd5, %%rd4;\n"
        "add.u64 %%rd6, %%rd6, %%rd4;\nmov.u32 %%r4, %%r1;\nCOPY:\nsetp.ge.u32 %%p1, %%r4, %u;\n@%%p1 bra DONE;\n"
        "shl.b32 %%r5, %%r4, 2;\ncvt.u64.u32 %%rd7, %%r5;\nadd.u64 %%rd7, %%rd7, %%rd0;\n"
        "ld.global.b32 %%r6, [%%rd7+%u];\nadd.u32 %%r5, %%r5, %%r3;\nst.shared.b32 [%%r5], %%r6;\n"
        "add.u32 %%r4, %%r4, %u;\nbra COPY;\nDONE:\nfence.proxy.async;\nbar.sync 0;\nwgmma.fence.sync.aligned;\n",
        f->image / 4, (u32)offsetof(TensorUnit, image), TENSOR_THREADS);
}

static void add_wgmma(Text *t, const TensorCase *c, const TensorForm *f) {
    add_image(t, f);
    add(t, "%s ", c->mnemonic);
    add_group(t, f, 0);
    if (c->flags & A_IN_MEMORY)
        add(t, ", %%rd5");
    else
        add(t, ", "), add_group(t, f, 1);
    add(t, ", %%rd6");
    if (f->sparse) add(t, ", %%m0, %u", c->selector);
    add(t, ", %%p0");
    if (f->type[0] != TYPE_S32) add(t, ", %d, 1", c->flags & NEGATIVE_A ? -1 : 1);
    bool halves = f->type[0] != TYPE_S32 && ptx_types[f->type[1]].bits == 16;
    if (halves && c->flags & A_IN_MEMORY) add(t, ", %d", (c->flags & ACROSS_A) != 0);
    if (halves) add(t, ", %d", (c->flags & ACROSS_B) != 0);
    add(t, ";\nwgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n");
}

static void make_ptx(const TensorCase *c, const TensorForm *f, Text *t) {
    t->len = 0;
    add(t, ".version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 in, .param .u64 out)\n{\n"
           ".reg .b64 %%rd<9>;\n.reg .b32 %%r<10>;\n.reg .pred %%p<2>;\n.reg .b32 %%m<1>;\n");
    for (u32 role = 0; role < 4; role++)
        add(t, ".reg .b%u %%%c<%u>;\n", 32 * f->width[role], prefix_of(role), f->count[role] + 1);
    if (f->image) add(t, ".shared .align 1024 .b8 image[%u];\n", f->image);
    add(t,
        "mov.u32 %%r0, %%ctaid.x;\nmov.u32 %%r1, %%tid.x;\nld.param.u64 %%rd0, [in];\nld.param.u64 %%rd1, [out];\n"
        "mul.wide.u32 %%rd3, %%r0, %u;\nadd.u64 %%rd0, %%rd0, %%rd3;\nmad.wide.u32 %%rd2, %%r1, 4, %%rd0;\n"
        "mul.wide.u32 %%rd3, %%r0, %u;\nadd.u64 %%rd1, %%rd1, %%rd3;\nmad.wide.u32 %%rd1, %%r1, 4, %%rd1;\n"
        "ld.global.b64 %%rd5, [%%rd0];\nld.global.b64 %%rd6, [%%rd0+8];\nld.global.b32 %%r2, [%%rd0+16];\n"
        "setp.ne.u32 %%p0, %%r2, 0;\n",
        (u32)sizeof(TensorUnit), TENSOR_ROWS * TENSOR_THREADS * 4);
    for (u32 role = 1; role < 4; role++) add_loads(t, f, role, tensor_row(f, role));
    if (f->sparse)
        add(t, "ld.global.b32 %%m0, [%%rd2+%u];\n",
            (u32)offsetof(TensorUnit, rows) + tensor_row(f, 4) * TENSOR_THREADS * 4);
    if (f->wgmma) {
        add_wgmma(t, c, f);
    } else {
        add(t, "%s ", c->mnemonic);
        for (u32 role = 0; role < 4; role++) add(t, role ? ", " : ""), add_group(t, f, role);
        if (f->sparse) add(t, ", %%m0, %u", c->selector);
        add(t, ";\n");
    }
    for (u32 r = 0; r < f->count[0]; r++) {
        u32 at = r * f->width[0] * TENSOR_THREADS * 4;
        if (f->width[0] == 1)
            add(t, "st.global.b32 [%%rd1+%u], %%d%u;\n", at, r);
        else
            add(t, "mov.b64 {%%r8, %%r9}, %%d%u;\nst.global.b32 [%%rd1+%u], %%r8;\nst.global.b32 [%%rd1+%u], %%r9;\n",
                r, at, at + TENSOR_THREADS * 4);
    }
    add(t, "ret;\n}\n");
}

// --- the GPU --------------------------------------------------------------------------------------------------------
typedef int (*Fn)();
static void *library;
static Fn driver(const char *name) {
    union {
        void *p;
        Fn f;
    } u = {.p = dlsym(library, name)};
    return u.f;
}
static u64 device_in, device_out;
static TensorUnit units[TENSOR_UNITS];
static u32 results[TENSOR_UNITS][TENSOR_ROWS][TENSOR_THREADS];

static bool gpu_open(void) {
    int device;
    void *context;
    library = dlopen("libcuda.so.1", RTLD_NOW);
    return library && !driver("cuInit")(0) && !driver("cuDeviceGet")(&device, 0) &&
           !driver("cuDevicePrimaryCtxRetain")(&context, device) && !driver("cuCtxSetCurrent")(context) &&
           !driver("cuMemAlloc_v2")(&device_in, sizeof units) && !driver("cuMemAlloc_v2")(&device_out, sizeof results);
}

// 0 with a message: it failed.
static u64 gpu_hash(const TensorCase *c, const TensorForm *f, const char *ptx) {
    void *module, *function, *args[] = {&device_in, &device_out};
    for (u32 n = 0; n < TENSOR_UNITS; n++) tensor_unit(c, f, n, &units[n]);
    int rc = driver("cuModuleLoadData")(&module, ptx);
    if (!rc) rc = driver("cuModuleGetFunction")(&function, module, "k");
    if (!rc) rc = driver("cuMemcpyHtoD_v2")(device_in, units, sizeof units);
    if (!rc) rc = driver("cuLaunchKernel")(function, TENSOR_UNITS, 1, 1, f->threads, 1, 1, 0, NULL, args, NULL);
    if (!rc) rc = driver("cuCtxSynchronize")();
    if (!rc) rc = driver("cuMemcpyDtoH_v2")(results, device_out, sizeof results);
    if (rc) return printf("%s: error %d\n", c->mnemonic, rc), 0;
    driver("cuModuleUnload")(module);
    u64 hash = 0;
    for (u32 n = 0; n < TENSOR_UNITS; n++) hash = tensor_hash(hash, f, results[n]);
    return hash;
}

static void write_ptx(const char *folder, u32 i, const Text *t) {
    char path[512];
    snprintf(path, sizeof path, "%s/%04u.ptx", folder, i);
    FILE *f = fopen(path, "w");
    if (f) fwrite(t->data, 1, t->len, f), fclose(f);
}

static void print_row(const TensorCase *c, u64 hash) {
    static const char *const kinds[] = {"SUMS", "LAYOUTS"}, *const flags[] = {"A_IN_MEMORY", "NEGATIVE_A", "ACROSS_A",
                                                                              "ACROSS_B"};
    printf("TENSOR_CASE(\"%s\", %s, %u, ", c->mnemonic, kinds[c->kind], c->selector);
    bool any = false;
    for (u32 i = 0; i < 4; i++)
        if (c->flags >> i & 1) printf("%s%s", any ? " | " : "", flags[i]), any = true;
    printf("%s, 0x%llx)\n", any ? "" : "0", (unsigned long long)hash);
}

int main(int argc, char **argv) {
    const char *folder = argc > 2 && !strcmp(argv[1], "--ptx") ? argv[2] : NULL;
    bool record = argc > 1 && !strcmp(argv[1], "--record");
    if (!folder && !gpu_open()) return puts("no GPU"), 1;
    if (record)
        puts("// SPDX-License-Identifier: Apache-2.0\n"
             "// Tensor instructions, how their matrices are made (matrix_cases.h), and the hash of what an H200 gave "
             "for "
             "them: driver 580,\n// CUDA 13.0. Written by matrix_compare --record.");
    u32 wrong = 0, done = 0;
    for (u32 i = 0; i < WL_COUNT(matrix_cases); i++) {
        static Text text;
        TensorForm f;
        const TensorCase *c = &matrix_cases[i];
        if (!folder && !record && argc > 1 && !strstr(c->mnemonic, argv[1])) continue;
        if (!tensor_form(c, &f)) return printf("%s: no such form\n", c->mnemonic), 1;
        make_ptx(c, &f, &text);
        if (folder) {
            write_ptx(folder, i, &text);
            continue;
        }
        u64 hash = gpu_hash(c, &f, text.data);
        done++;
        if (record)
            print_row(c, hash);
        else if (hash != c->hash)
            wrong++, printf("! %s %u %u: %llx\n", c->mnemonic, c->selector, c->flags, (unsigned long long)hash);
    }
    if (!record && !folder) printf("%u cases, %u differ\n", done, wrong);
    return 0;
}
