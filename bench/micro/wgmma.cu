// SPDX-License-Identifier: Apache-2.0
// Asynchronous products of a warpgroup (wgmma): cycles of a turn that fences, asks for COUNT products, commits them and
// waits until at most LEFT groups are under way. One CTA of one to three warpgroups; registers of zeros, shared memory
// as it comes. Compile for sm_90a.
#include "micro.h"

enum { TURNS = 64 };

#define FENCE asm volatile("wgmma.fence.sync.aligned;" ::: "memory")
#define COMMIT asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory")
#define WAIT(n) asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(n) : "memory")

#define D4(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define D16(i) D4(i), D4(i + 4), D4(i + 8), D4(i + 12)
#define D64(i) D16(i), D16(i + 16), D16(i + 32), D16(i + 48)
#define L16A "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15"
#define L32A L16A ",%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31"
#define L64A L16A ",%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31,%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42," \
    "%43,%44,%45,%46,%47,%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63"
#define L128A L64A ",%64,%65,%66,%67,%68,%69,%70,%71,%72,%73,%74,%75,%76,%77,%78,%79,%80,%81,%82,%83,%84,%85,%86,%87,%88,%89,%90," \
    "%91,%92,%93,%94,%95,%96,%97,%98,%99,%100,%101,%102,%103,%104,%105,%106,%107,%108,%109,%110,%111,%112,%113,%114,%115,%116," \
    "%117,%118,%119,%120,%121,%122,%123,%124,%125,%126,%127"

template <int N, int RS> struct Product;
template <> struct Product<8, 0> {
    static __device__ void step(float *d, u64 a, u64 b, const unsigned *) {
        asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0,%1,%2,%3}, %4, %5, 1, 1, 1, 0, 0;" : D4(0) : "l"(a), "l"(b));
    }
};
template <> struct Product<8, 1> {
    static __device__ void step(float *d, u64, u64 b, const unsigned *a) {
        asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0,%1,%2,%3}, {%4,%5,%6,%7}, %8, 1, 1, 1, 0;"
                     : D4(0) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
    }
};
template <> struct Product<32, 0> {
    static __device__ void step(float *d, u64 a, u64 b, const unsigned *) {
        asm volatile("wgmma.mma_async.sync.aligned.m64n32k16.f32.f16.f16 " L16A "}, %16, %17, 1, 1, 1, 0, 0;" : D16(0) : "l"(a), "l"(b));
    }
};
template <> struct Product<128, 0> {
    static __device__ void step(float *d, u64 a, u64 b, const unsigned *) {
        asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 " L64A "}, %64, %65, 1, 1, 1, 0, 0;" : D64(0) : "l"(a), "l"(b));
    }
};
template <> struct Product<128, 1> {
    static __device__ void step(float *d, u64, u64 b, const unsigned *a) {
        asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 " L64A "}, {%64,%65,%66,%67}, %68, 1, 1, 1, 0;"
                     : D64(0) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
    }
};
template <> struct Product<256, 0> {
    static __device__ void step(float *d, u64 a, u64 b, const unsigned *) {
        asm volatile("wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16 " L128A "}, %128, %129, 1, 1, 1, 0, 0;"
                     : D64(0), D64(64) : "l"(a), "l"(b));
    }
};
template <> struct Product<64, 0> {
    static __device__ void step(float *d, u64 a, u64 b, const unsigned *) {
        asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 " L32A "}, %32, %33, 1, 1, 1, 0, 0;"
                     : D16(0), D16(16) : "l"(a), "l"(b));
    }
};
// Other types: m64n128 of tf32, e4m3.
template <> struct Product<-128, 0> {
    static __device__ void step(float *d, u64 a, u64 b, const unsigned *) {
        asm volatile("wgmma.mma_async.sync.aligned.m64n128k8.f32.tf32.tf32 " L64A "}, %64, %65, 1, 1, 1;" : D64(0) : "l"(a), "l"(b));
    }
};
template <> struct Product<-129, 0> {
    static __device__ void step(float *d, u64 a, u64 b, const unsigned *) {
        asm volatile("wgmma.mma_async.sync.aligned.m64n128k32.f32.e4m3.e4m3 " L64A "}, %64, %65, 1, 1, 1;" : D64(0) : "l"(a), "l"(b));
    }
};

// DESC: 3 as 2, from memory: in registers of the lanes, which are moved to uniform ones. EACH: every product is fenced,
// committed and waited for by itself, as ptxas does where the kernel has a call.
// 0 the same descriptors for all products of a turn, 1 each 32 bytes behind the one before, 2 as 1, computed anew in
// each turn. Words of an accumulator: half of N.

template <int N, int RS, int COUNT, int LEFT, int DESC, int EACH>
__global__ void __launch_bounds__(384) turns(int count, u64 a, u64 b, const unsigned *places, i64 *cycles, float *sink) {
    extern __shared__ float shared[];
    enum { WORDS = (N < 0 ? 128 : N) / 2 };
    float d[WORDS] = {};
    unsigned regs[4] = {0, 0, 0, 0};
    for (int i = threadIdx.x; i < 48 * 1024 / 4; i += blockDim.x) shared[i] = 0;
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    for (int i = 0; i < WORDS; i++) asm volatile("" : "+f"(d[i])::"memory");
    i64 begin = now();
#pragma unroll 1
    for (int i = 0; i < count; i++) {
        u64 at = DESC == 2 ? (u64)(i & 3) * 64 : DESC == 3 ? places[i & 3] : 0;
        FENCE;
#pragma unroll
        for (int k = 0; k < COUNT; k++) {
            if (EACH && k) COMMIT;
            if (EACH && k) WAIT(0);
            if (EACH && k) FENCE;
            Product<N, RS>::step(d, a + (DESC ? at + k * 2 : 0), b + (DESC ? at + k * 2 : 0), regs);
        }
        COMMIT;
        WAIT(LEFT);
    }
    WAIT(0);
    for (int i = 0; i < WORDS; i++) asm volatile("" : "+f"(d[i])::"memory");
    i64 end = now();
    float sum = 0;
    for (int i = 0; i < WORDS; i++) sum += d[i];
    if (sum == 123.0f) *sink = sum;
    if (threadIdx.x % 32 == 0) cycles[threadIdx.x / 32] = end - begin;
}

static float *sink;
static unsigned *places;
template <int N, int RS, int COUNT, int LEFT, int DESC, int EACH = 0> static void measure(const char *name, int groups) {
    i64 *cycles = cycles_buffer(), low, high, base;
    char text[96];
    auto *kernel = turns<N, RS, COUNT, LEFT, DESC, EACH>;
    // start address 1 KiB, leading and stride offset 128 and 1024 bytes, no swizzling
    u64 a = 64 | 8ull << 16 | 64ull << 32, b = a + 512;
    CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 64 * 1024));
    kernel<<<1, groups * 128, 64 * 1024>>>(TURNS, a, b, places, cycles, sink);
    kernel<<<1, groups * 128, 64 * 1024>>>(TURNS, a, b, places, cycles, sink);
    cycles_range(cycles, groups * 4, &low, &base);
    kernel<<<1, groups * 128, 64 * 1024>>>(5 * TURNS, a, b, places, cycles, sink);
    cycles_range(cycles, groups * 4, &low, &high);
    static const char *const kinds[] = {"same", "behind", "computed", "loaded"};
    sprintf(text, "wgmma/%s/%d_products/%d_left/%s%s/%d_groups", name, COUNT, LEFT, kinds[DESC], EACH ? "/each" : "", groups);
    report(text, (double)(high - base) / (4 * TURNS), "cycles", "a turn");
}

template <int N, int RS> static void all(const char *name) {
    for (int groups : {1, 2, 3}) {
        measure<N, RS, 1, 0, 0>(name, groups), measure<N, RS, 2, 0, 0>(name, groups), measure<N, RS, 4, 0, 0>(name, groups);
        measure<N, RS, 8, 0, 0>(name, groups), measure<N, RS, 4, 0, 1>(name, groups), measure<N, RS, 4, 0, 2>(name, groups);
        measure<N, RS, 4, 0, 3>(name, groups), measure<N, RS, 4, 0, 0, 1>(name, groups), measure<N, RS, 8, 0, 0, 1>(name, groups);
        measure<N, RS, 1, 1, 0>(name, groups), measure<N, RS, 4, 1, 0>(name, groups);
    }
}

// What a warp pays for fences, commits and waits without products between them.
template <int WHAT> __global__ void bare(int count, i64 *cycles) {
    i64 begin = now();
#pragma unroll 1
    for (int i = 0; i < count; i += 4) {
#pragma unroll
        for (int k = 0; k < 4; k++) {
            if (WHAT & 1) FENCE;
            if (WHAT & 2) COMMIT;
            if (WHAT & 4) WAIT(0);
            if (WHAT & 8) asm volatile("fence.proxy.async;" ::: "memory");
            if (WHAT & 16) asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
            if (WHAT & 32) __syncwarp();
        }
    }
    i64 end = now();
    if (threadIdx.x % 32 == 0) cycles[threadIdx.x / 32] = end - begin;
}
template <int WHAT> static void measure_bare(const char *name) {
    i64 *cycles = cycles_buffer(), low, high, base;
    bare<WHAT><<<1, 128>>>(TURNS, cycles);
    bare<WHAT><<<1, 128>>>(TURNS, cycles);
    cycles_range(cycles, 4, &low, &base);
    bare<WHAT><<<1, 128>>>(5 * TURNS, cycles);
    cycles_range(cycles, 4, &low, &high);
    char text[64];
    sprintf(text, "wgmma/bare/%s", name);
    report(text, (double)(high - base) / (4 * TURNS), "cycles", "each");
}

// Registers given up and taken: the cycles of a dec and an inc, the inc waiting for nobody.
__global__ void __launch_bounds__(256, 1) setmaxnreg(i64 *cycles) {
    i64 begin = now();
    asm volatile("setmaxnreg.dec.sync.aligned.u32 96;" ::: "memory");
    i64 middle = now();
    asm volatile("setmaxnreg.inc.sync.aligned.u32 104;" ::: "memory");
    i64 end = now();
    if (threadIdx.x % 32 == 0) cycles[threadIdx.x / 32 * 2] = middle - begin, cycles[threadIdx.x / 32 * 2 + 1] = end - middle;
}

int main() {
    CHECK(cudaMalloc(&sink, 4));
    CHECK(cudaMalloc(&places, 16));
    CHECK(cudaMemset(places, 0, 16));
    all<8, 0>("m64n8k16"), all<8, 1>("m64n8k16_rs"), all<32, 0>("m64n32k16"), all<64, 0>("m64n64k16"), all<128, 0>("m64n128k16"), all<128, 1>("m64n128k16_rs");
    all<256, 0>("m64n256k16"), all<-128, 0>("m64n128k8_tf32"), all<-129, 0>("m64n128k32_e4m3");
    measure_bare<1>("fence"), measure_bare<2>("commit"), measure_bare<4>("wait"), measure_bare<7>("fence_commit_wait");
    measure_bare<8>("proxy_fence"), measure_bare<16>("proxy_fence_shared"), measure_bare<32>("syncwarp");
    i64 *cycles = cycles_buffer();
    setmaxnreg<<<1, 256>>>(cycles);
    setmaxnreg<<<1, 256>>>(cycles);
    report("setmaxnreg/dec", (double)cycles_read(cycles, 0), "cycles", "first warp of eight");
    report("setmaxnreg/inc", (double)cycles_read(cycles, 1), "cycles", "first warp of eight");
    return 0;
}
