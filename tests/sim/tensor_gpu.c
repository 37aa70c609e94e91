// SPDX-License-Identifier: Apache-2.0
// Runs the cases of tensor_cases.h on a GPU through the driver and writes what it did:
//   tensor_gpu OUT [COUNT]   OUT/tensor_cases.inc, and OUT/KIND-INDEX.bin: memory afterwards, of the first few
// Not part of any test run, as CI has no GPU: gcc -O2 -Isrc tests/sim/tensor_gpu.c src/sim/tensor_map.c -ldl
// Each case runs in a process that a fault may end; the next one goes on behind it.
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/tensor_cases.h"

enum { DUMPED = 12, MOST = 1000, FAULTS_MOST = 30 };

typedef struct Result {
    u64 hash;
    i32 code;    // of the map, the launch or the fault
    u32 status;  // 1: completed
} Result;

typedef int (*Fn)();
static Fn cu(const char *name) {
    static void *lib;
    if (!lib) lib = dlopen("libcuda.so.1", RTLD_NOW);
    if (!lib) fprintf(stderr, "no driver\n"), exit(2);
    union {
        void *p;
        Fn f;
    } u = {.p = dlsym(lib, name)};
    return u.f;
}

static int encode(const TensorCase *c, void *map, u64 address) {
    const TensorMapSpec *s = &c->spec;
    if (c->kind == CASE_IM2COL_LOAD || c->kind == CASE_IM2COL_STORE)
        return cu("cuTensorMapEncodeIm2col")(map, s->type, s->rank, (void *)address, s->dims, s->strides, c->lower,
                                             c->upper, c->channels, c->pixels, s->element_strides, s->interleave,
                                             s->swizzle, s->l2_promotion, s->fill);
    return cu("cuTensorMapEncodeTiled")(map, s->type, s->rank, (void *)address, s->dims, s->strides, c->box,
                                        s->element_strides, s->interleave, s->swizzle, s->l2_promotion, s->fill);
}

static u64 tensor, io;
static u8 memory[CASE_TENSOR_BYTES], area[CASE_HEAD_BYTES + CASE_AREA_BYTES];

static void gpu_open(void) {
    void *context;
    int device;
    if (cu("cuInit")(0) || cu("cuDeviceGet")(&device, 0) || cu("cuDevicePrimaryCtxRetain")(&context, device) ||
        cu("cuCtxSetCurrent")(context) || cu("cuMemAlloc_v2")(&tensor, sizeof memory) ||
        cu("cuMemAlloc_v2")(&io, sizeof area))
        fprintf(stderr, "no device\n"), exit(2);
}

static void *kernel_of(const TensorCase *c) {
    static struct {
        char text[6000];
        void *function;
    } known[128];
    static u32 count;
    char text[6000];
    case_kernel(c, text, sizeof text);
    for (u32 i = 0; i < count; i++)
        if (!strcmp(known[i].text, text)) return known[i].function;
    void *module, *function;
    int rc = cu("cuModuleLoadData")(&module, text);
    if (rc || cu("cuModuleGetFunction")(&function, module, "k")) {
        printf("kind %d: module error %d\n", c->kind, rc);
        return NULL;
    }
    if (count < 128) memcpy(known[count].text, text, sizeof text), known[count++].function = function;
    return function;
}

static Result run(TensorCase *c) {
    _Alignas(64) u8 map[128], ours[128];
    Result r = {0};
    r.code = encode(c, map, tensor);
    if ((case_map(c, tensor, ours) == STATUS_OK) != (r.code == 0)) r.code += 10000;
    if (r.code) return r;
    case_fill(memory, sizeof memory, c->seed + 1, c->spec.type);
    case_head(c, area);
    case_fill(area + CASE_HEAD_BYTES, CASE_AREA_BYTES, c->seed + 2, c->spec.type);
    void *function = kernel_of(c), *args[] = {map, &io, &tensor};
    if (!function) return r.code = -1, r;
    cu("cuMemcpyHtoD_v2")(tensor, memory, sizeof memory);
    cu("cuMemcpyHtoD_v2")(io, area, sizeof area);
    // Copies within shared memory need a launch with clusters.
    struct {
        u32 id, pad, cluster[16];
    } attribute = {.id = 4, .cluster = {1, 1, 1}};
    struct {
        u32 grid[3], block[3], shared;
        void *stream, *attributes;
        u32 count;
    } config = {{1, 1, 1}, {128, 1, 1}, CASE_AREA_BYTES, NULL, &attribute, 1};
    r.code = cu("cuLaunchKernelEx")(&config, function, args, NULL);
    if (!r.code) r.code = cu("cuCtxSynchronize")();
    if (r.code) return r;
    cu("cuMemcpyDtoH_v2")(memory, tensor, sizeof memory);
    cu("cuMemcpyDtoH_v2")(area, io, sizeof area);
    memcpy(&r.status, area + 64, 4);
    r.hash = case_hash(case_hash(1, memory, sizeof memory), area + CASE_HEAD_BYTES, CASE_AREA_BYTES);
    return r;
}

static void dump(const char *folder, const TensorCase *c, u32 index, bool loads) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%d-%u.bin", folder, c->kind, index);
    FILE *f = fopen(path, "wb");
    if (!f) return;
    if (loads)
        fwrite(area + CASE_HEAD_BYTES, 1, CASE_AREA_BYTES, f);
    else
        fwrite(memory, 1, CASE_TENSOR_BYTES / 2, f);
    fclose(f);
}

static bool dumped(const TensorCase *c, u32 index) {
    u32 type = c->spec.type;
    bool converts = type >= TENSOR_F32_FTZ && type <= TENSOR_TF32_FTZ,
         floats = is_reduction(c->kind) && c->action >= 25;
    return index < DUMPED || (index < 80 && (floats || (converts && c->kind == CASE_LOAD)));
}

static void record(const char *folder, u32 kind, u32 count, const Result *results) {
    char path[4096];
    snprintf(path, sizeof path, "%s/tensor_cases.inc", folder);
    FILE *f = fopen(path, "a");
    for (u32 i = 0; f && i < count; i++) {
        const Result *r = &results[i];
        fprintf(f, "{%u, %u, %d, %u, 0x%016llxull},\n", kind, i, r->code, r->status, (unsigned long long)r->hash);
    }
    if (f) fclose(f);
}

int main(int argc, char **argv) {
    if (argc < 2) return 1;
    u32 count = argc > 2 ? (u32)atoi(argv[2]) : 400;
    if (count > MOST) count = MOST;
    Result *results =
        mmap(NULL, sizeof(Result) * MOST * CASE_KIND_COUNT, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    u32 *next = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (u32 kind = 0; kind < CASE_KIND_COUNT; kind++) {
        u32 faults = 0;
        for (*next = 0; *next < count && faults < FAULTS_MOST; faults++) {
            pid_t child = fork();
            if (child == 0) {
                gpu_open();
                alarm(20);
                while (*next < count) {
                    TensorCase c;
                    u32 index = (*next)++;
                    case_make(&c, (TensorCaseKind)kind, index);
                    Result *r = &results[kind * MOST + index];
                    r->code = 20000;
                    *r = run(&c);
                    if (r->code == 0 && dumped(&c, index)) dump(argv[1], &c, index, case_loads(c.kind));
                    bool broken = r->code > 0 && r->code < 10000 && r->code != 1;
                    if (broken) _exit(3);
                }
                _exit(0);
            }
            int status;
            waitpid(child, &status, 0);
        }
        u32 good = 0, refused = 0, stuck = 0, other = 0;
        for (u32 i = 0; i < count; i++) {
            const Result *r = &results[kind * MOST + i];
            good += r->code == 0 && r->status == 1;
            refused += r->code % 10000 == 1;
            stuck += r->code == 0 && r->status == 2;
            other += r->code && r->code % 10000 != 1;
        }
        record(argv[1], kind, count, &results[kind * MOST]);
        printf("kind %u: %u completed, %u refused, %u never completed, %u other errors, %u starts\n", kind, good,
               refused, stuck, other, faults);
        fflush(stdout);
    }
    return 0;
}
