// SPDX-License-Identifier: Apache-2.0
// CTAs of a cluster: barriers, distributed shared memory, mbarriers of another CTA, copies for several CTAs; and what a
// thread pays to ask for a bulk copy. Compile for sm_90a.
#include "cluster.h"

enum { COPIES = 16, TURNS = 64 };

__device__ static inline unsigned in_cta(unsigned address, unsigned rank) {
    unsigned there;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(rank));
    return there;
}
__device__ static inline void barrier_begin(unsigned bar) {
    barrier_init(bar, 1);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
__device__ static inline void meet(void) { asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory"); }

// --- barriers: a turn, and its two halves
template <bool RELAXED> __global__ void barrier(int count, i64 *cycles) {
    i64 arriving = 0, waiting = 0, begin = now();
#pragma unroll 1
    for (int i = 0; i < count; i++) {
        i64 at = now();
        if (RELAXED) asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
        else asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
        i64 arrived = now();
        asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
        i64 over = now();
        arriving += arrived - at, waiting += over - arrived;
    }
    i64 end = now();
    if (threadIdx.x == 0) cycles[blockIdx.x * 3] = end - begin, cycles[blockIdx.x * 3 + 1] = arriving, cycles[blockIdx.x * 3 + 2] = waiting;
}
template <int WHAT> __global__ void __maxnreg__(128) fences(int count, i64 *cycles) {
    i64 begin = now();
#pragma unroll 1
    for (int i = 0; i < count; i++) {
        if (WHAT == 0) asm volatile("fence.acq_rel.cta;" ::: "memory");
        if (WHAT == 1) asm volatile("fence.acq_rel.cluster;" ::: "memory");
        if (WHAT == 2) asm volatile("fence.acq_rel.gpu;" ::: "memory");
        if (WHAT == 3) asm volatile("fence.proxy.async;" ::: "memory");
        if (WHAT == 4) asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        if (WHAT == 5) asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        if (WHAT == 6) asm volatile("setmaxnreg.dec.sync.aligned.u32 40;\nsetmaxnreg.inc.sync.aligned.u32 128;" ::: "memory");
        if (WHAT == 7) asm volatile("{\n.reg .pred p;\nelect.sync _|p, 0xffffffff;\n}" ::: "memory");
    }
    i64 end = now();
    if (threadIdx.x == 0) cycles[blockIdx.x] = end - begin;
}

// --- distributed shared memory, of the CTA `away` ranks further
enum { CHAIN, LOAD4, LOAD16, STORE4, STORE16, ADD, ADD_BACK };
template <int WHAT> __global__ void distributed(unsigned away, int count, i64 *cycles) {
    __shared__ __align__(16) unsigned words[4096];
    unsigned size, rank;
    asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(size));
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    for (unsigned i = threadIdx.x; i < 4096; i += blockDim.x) words[i] = 0;
    meet();
    unsigned there = in_cta(shared_address(words), (rank + away) % size), a = 0, b = 0, c = 0, d = 0, sum = 0;
    unsigned at = there + (threadIdx.x * (WHAT == LOAD16 || WHAT == STORE16 ? 16 : 4)) % 16384;
    i64 begin = now();
#pragma unroll 8
    for (int i = 0; i < count; i++) {
        if (WHAT == CHAIN || WHAT == LOAD4) asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(a) : "r"(at) : "memory");
        if (WHAT == LOAD16)
            asm volatile("ld.shared::cluster.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "r"(at) : "memory");
        if (WHAT == STORE4) asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(at), "r"(i) : "memory");
        if (WHAT == STORE16) asm volatile("st.shared::cluster.v4.u32 [%0], {%1, %1, %1, %1};" ::"r"(at), "r"(i) : "memory");
        if (WHAT == ADD) asm volatile("red.relaxed.cluster.shared::cluster.add.u32 [%0], 1;" ::"r"(at) : "memory");
        if (WHAT == ADD_BACK) asm volatile("atom.relaxed.cluster.shared::cluster.add.u32 %0, [%1], 0;" : "=r"(a) : "r"(at) : "memory");
        if (WHAT == CHAIN || WHAT == ADD_BACK) at += a;
        if (WHAT == LOAD4 || WHAT == LOAD16) sum += a;
        if (WHAT == LOAD16) sum += b ^ c ^ d;
    }
    i64 asked = now();
    meet();
    i64 end = now();
    if (threadIdx.x == 0) cycles[rank * 3] = asked - begin, cycles[rank * 3 + 1] = end - begin, cycles[rank * 3 + 2] = sum + at;
}

// --- mbarriers of two CTAs in turns
template <int WHAT> __global__ void turns(int count, i64 *cycles) {
    __shared__ u64 bars[1];
    __shared__ __align__(16) unsigned words[4];
    unsigned bar = shared_address(bars), me = blockIdx.x, other = in_cta(bar, me ^ 1), word = in_cta(shared_address(words), me ^ 1);
    barrier_begin(bar);
    meet();
    i64 begin = now();
#pragma unroll 1
    for (int i = 0; i < count; i++)
        for (unsigned k = 0; k < 2; k++) {
            if (WHAT == 2 && k != me) expect(bar, 4);
            if (k != me) { wait(bar, i & 1); continue; }
            if (WHAT == 0) asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(other) : "memory");
            if (WHAT == 1) asm volatile("mbarrier.arrive.relaxed.cluster.shared::cluster.b64 _, [%0];" ::"r"(other) : "memory");
            if (WHAT == 2)
                asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1, [%2];" ::"r"(word), "r"(i), "r"(other) : "memory");
        }
    i64 end = now();
    cycles[me] = end - begin;
    meet();
}

// --- what asking costs: one lane of each warp asks for 16 copies, in a loop or written out
template <bool LOOP> __global__ void ask(const char *from, unsigned bytes, i64 *cycles) {
    extern __shared__ __align__(1024) char buffer[];
    __shared__ u64 bars[8];
    unsigned warp = threadIdx.x / 32, bar = shared_address(bars + warp), to = shared_address(buffer) + warp * COPIES * bytes;
    if (threadIdx.x % 32 == 0) barrier_begin(bar);
    __syncthreads();
    if (threadIdx.x % 32) return;
    for (int round = 0; round < 2; round++) {
        i64 begin = now();
        expect(bar, bytes * COPIES);
        i64 expected = now();
        if (LOOP) {
#pragma unroll 1
            for (int i = 0; i < COPIES; i++) bulk(to + i * bytes, from + i * bytes, bytes, bar);
        } else {
#pragma unroll
            for (int i = 0; i < COPIES; i++) bulk(to + i * bytes, from + i * bytes, bytes, bar);
        }
        i64 asked = now();
        wait(bar, round);
        i64 end = now();
        i64 *mine = cycles + (blockIdx.x * 8 + warp) * 3;
        mine[0] = expected - begin, mine[1] = asked - expected, mine[2] = end - expected;
    }
}

// --- `count` copies for all CTAs of the cluster, or for each by itself
template <bool TOGETHER> __global__ void share(const char *from, unsigned bytes, int count, i64 *cycles) {
    extern __shared__ __align__(1024) char buffer[];
    __shared__ u64 bars[1];
    unsigned bar = shared_address(bars), to = shared_address(buffer), rank = blockIdx.x;
    barrier_begin(bar);
    meet();
    for (int round = 0; round < 3; round++) {
        expect(bar, bytes * count);
        meet();
        i64 begin = now();
        for (int i = 0; i < count; i++) {
            if (!TOGETHER) bulk(to + i * bytes, from + i * bytes, bytes, bar);
            else if (rank == 0)
                asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], %2, [%3], %4;" ::"r"(
                                 to + i * bytes),
                             "l"(from + i * bytes), "r"(bytes), "r"(bar), "h"((unsigned short)((1 << gridDim.x) - 1))
                             : "memory");
        }
        i64 asked = now();
        wait(bar, round & 1);
        i64 end = now();
        cycles[rank * 2] = asked - begin, cycles[rank * 2 + 1] = end - begin;
        meet();
    }
}

// ----------------------------------------------------------------------------------------------------------------------

template <bool RELAXED> static void measure_barrier(int ctas, int threads) {
    i64 *cycles = cycles_buffer(), base[3];
    char name[96];
    static const char *const notes[] = {"a turn", "arrive", "wait"};
    for (int round = 0; round < 2; round++) launch_cluster(barrier<RELAXED>, ctas, threads, 0, 16, cycles);
    for (int k = 0; k < 3; k++) base[k] = cycles_read(cycles, k);
    launch_cluster(barrier<RELAXED>, ctas, threads, 0, 16 + TURNS, cycles);
    sprintf(name, "barrier/%s/%d_ctas/%d_threads", RELAXED ? "relaxed" : "release", ctas, threads);
    for (int k = 0; k < 3; k++) report(name, (double)(cycles_read(cycles, k) - base[k]) / TURNS, "cycles", notes[k]);
}

template <int WHAT> static void measure_fence(const char *what) {
    i64 *cycles = cycles_buffer(), base;
    char name[96];
    for (int round = 0; round < 2; round++) fences<WHAT><<<1, 128>>>(16, cycles);
    base = cycles_read(cycles, 0);
    fences<WHAT><<<1, 128>>>(16 + TURNS, cycles);
    sprintf(name, "fence/%s", what);
    report(name, (double)(cycles_read(cycles, 0) - base) / TURNS, "cycles", "four warps");
}

template <int WHAT> static void measure_distributed(const char *what, int ctas, int threads, unsigned away) {
    i64 *cycles = cycles_buffer(), base[2];
    char name[96];
    for (int round = 0; round < 2; round++) launch_cluster(distributed<WHAT>, ctas, threads, 0, away, 16, cycles);
    for (int k = 0; k < 2; k++) base[k] = cycles_read(cycles, k);
    launch_cluster(distributed<WHAT>, ctas, threads, 0, away, 16 + TURNS, cycles);
    sprintf(name, "distributed/%s/%d_ctas/%d_threads/%u_away", what, ctas, threads, away);
    report(name, (double)(cycles_read(cycles, 0) - base[0]) / TURNS, "cycles", "of an instruction, asked");
    report(name, (double)(cycles_read(cycles, 1) - base[1]) / TURNS, "cycles", "of an instruction, over");
}

template <int WHAT> static void measure_turns(const char *what) {
    i64 *cycles = cycles_buffer(), base;
    for (int round = 0; round < 2; round++) launch_cluster(turns<WHAT>, 2, 1, 0, 16, cycles);
    base = cycles_read(cycles, 0);
    launch_cluster(turns<WHAT>, 2, 1, 0, 16 + TURNS, cycles);
    report(what, (double)(cycles_read(cycles, 0) - base) / TURNS, "cycles", "there and back");
}

template <bool LOOP> static void measure_ask(const char *memory, unsigned bytes, int warps, int per_sm) {
    i64 *cycles = cycles_buffer();
    char name[96];
    int shared = per_sm > 1 ? 100 * 1024 : 200 * 1024;
    if (warps * COPIES * (int)bytes > shared) return;
    CHECK(cudaFuncSetAttribute(ask<LOOP>, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
    for (int round = 0; round < 2; round++) ask<LOOP><<<132 * per_sm, warps * 32, shared>>>(memory, bytes, cycles);
    sprintf(name, "ask/%s/%u_bytes/%d_warps/%d_ctas", LOOP ? "loop" : "written_out", bytes, warps, per_sm);
    static const char *const notes[] = {"expected", "asked for 16", "all there"};
    for (int k = 0; k < 3; k++) report(name, (double)cycles_read(cycles, k), "cycles", notes[k]);
}

template <bool TOGETHER> static void measure_share(const char *memory, int ctas, unsigned bytes, int count) {
    i64 *cycles = cycles_buffer();
    char name[96];
    for (int round = 0; round < 2; round++) launch_cluster(share<TOGETHER>, ctas, 1, 200 * 1024, memory, bytes, count, cycles);
    sprintf(name, "share/%s/%d_ctas/%u_bytes/%d_copies", TOGETHER ? "together" : "each", ctas, bytes, count);
    report(name, (double)cycles_read(cycles, 0), "cycles", "asked, CTA 0");
    report(name, (double)cycles_read(cycles, 1), "cycles", "all there, CTA 0");
    if (ctas > 1) report(name, (double)cycles_read(cycles, 3), "cycles", "all there, CTA 1");
}

template <int WHAT> static void measure_distributed_all(const char *what) {
    for (int threads : {32, 128, 1024})
        for (int ctas : {2, 8}) measure_distributed<WHAT>(what, ctas, threads, 1), measure_distributed<WHAT>(what, ctas, threads, 0);
}

int main() {
    char *memory;
    CHECK(cudaMalloc(&memory, 64 << 20));
    CHECK(cudaMemset(memory, 0, 64 << 20));
    for (int ctas : {1, 2, 4, 8, 16})
        for (int threads : {32, 256, 1024}) measure_barrier<false>(ctas, threads), measure_barrier<true>(ctas, threads);
    measure_fence<0>("acq_rel.cta"), measure_fence<1>("acq_rel.cluster"), measure_fence<2>("acq_rel.gpu");
    measure_fence<3>("proxy.async"), measure_fence<4>("proxy.async.shared"), measure_fence<5>("mbarrier_init");
    measure_fence<6>("setmaxnreg.dec_and_inc"), measure_fence<7>("elect");
    measure_distributed_all<CHAIN>("chain"), measure_distributed_all<LOAD4>("load_4"), measure_distributed_all<LOAD16>("load_16");
    measure_distributed_all<STORE4>("store_4"), measure_distributed_all<STORE16>("store_16");
    measure_distributed_all<ADD>("add"), measure_distributed_all<ADD_BACK>("add_back");
    measure_turns<0>("turns/arrive.release"), measure_turns<1>("turns/arrive.relaxed"), measure_turns<2>("turns/st.async");
    for (unsigned bytes : {128u, 1024u, 4096u})
        for (int warps : {1, 2, 4})
            for (int per_sm : {1, 2}) measure_ask<true>(memory, bytes, warps, per_sm), measure_ask<false>(memory, bytes, warps, per_sm);
    for (int ctas : {1, 2, 4, 8})
        for (unsigned bytes : {1024u, 8192u, 32768u})
            for (int count : {1, 4})
                measure_share<true>(memory, ctas, bytes, count), measure_share<false>(memory, ctas, bytes, count);
    return 0;
}
