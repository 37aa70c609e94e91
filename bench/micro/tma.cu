// SPDX-License-Identifier: Apache-2.0
// Bulk copies between global and shared memory (cp.async.bulk, with and without a tensor map), mbarriers, clusters: one
// thread asks, cycles until the mbarrier says that the bytes have come. `first`: lines that no cache has; `again`: from
// the L2. Compile for sm_90a.
#include "cluster.h"

#include <cuda.h>

enum { COPIES = 16, SLOT = 12288 };

__device__ static inline void arrive(unsigned bar) { asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(bar) : "memory"); }
__device__ static inline void tensor(unsigned to, const CUtensorMap *map, int x, int y, unsigned bar) {
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(to),
                 "l"(map), "r"(x), "r"(y), "r"(bar)
                 : "memory");
}

// --- one copy after the other: cycles of each, from before expect_tx until the wait is over
__global__ void latency_bulk(const char *from, unsigned bytes, i64 stride, i64 *cycles) {
    extern __shared__ __align__(1024) char buffer[];
    __shared__ u64 bars[1];
    unsigned bar = shared_address(bars), to = shared_address(buffer);
    barrier_init(bar, 1);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    for (int i = 0; i < COPIES; i++) {
        i64 begin = now();
        expect(bar, bytes);
        bulk(to, from + i * stride, bytes, bar);
        wait(bar, i & 1);
        cycles[i] = now() - begin;
    }
}
__global__ void latency_tensor(const __grid_constant__ CUtensorMap map, int rows, unsigned bytes, int prefetch, i64 *cycles) {
    extern __shared__ __align__(1024) char buffer[];
    __shared__ u64 bars[1];
    unsigned bar = shared_address(bars), to = (shared_address(buffer) + 1023) & ~1023u;
    barrier_init(bar, 1);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    if (prefetch) {
        asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
        for (i64 begin = now(); now() - begin < 5000;) {}
    }
    for (int i = 0; i < COPIES; i++) {
        i64 begin = now();
        expect(bar, bytes);
        tensor(to, &map, 0, i * rows, bar);
        wait(bar, i & 1);
        cycles[i] = now() - begin;
    }
}

// --- `count` copies at once, `warps` of them asking; cycles until all have come
__global__ void throughput(const __grid_constant__ CUtensorMap map, const char *from, int count, int rows, unsigned bytes, int kind, i64 *cycles) {
    extern __shared__ __align__(1024) char buffer[];
    __shared__ u64 bars[1];
    unsigned bar = shared_address(bars), to = (shared_address(buffer) + 1023) & ~1023u;
    if (threadIdx.x) return;
    barrier_init(bar, 1);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    expect(bar, bytes);  // the map and the code are there
    if (kind) tensor(to, &map, 0, 0, bar);
    else bulk(to, from, bytes, bar);
    wait(bar, 0);
    i64 begin = now();
    expect(bar, bytes * count);
    int row = (int)blockIdx.x * count * rows;
    from += (i64)blockIdx.x * count * bytes;
    for (unsigned i = 0, slot = to; i < count; i++, row += rows, from += bytes) {
        if (kind) tensor(slot, &map, 0, row, bar);
        else bulk(slot, from, bytes, bar);
        slot = slot + 2 * bytes <= to + 160 * 1024 ? slot + bytes : to;
    }
    i64 asked = now();
    wait(bar, 1);
    i64 end = now();
    cycles[blockIdx.x * 2] = asked - begin, cycles[blockIdx.x * 2 + 1] = end - begin;
}

// --- shared to global
__global__ void store_bulk(char *to, unsigned bytes, i64 *cycles) {
    extern __shared__ __align__(1024) char buffer[];
    unsigned from = shared_address(buffer);
    for (int i = 0; i < 4; i++) {
        i64 begin = now();
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to + i * 65536), "r"(from), "r"(bytes) : "memory");
        asm volatile("cp.async.bulk.commit_group;" ::: "memory");
        i64 asked = now();
        asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
        i64 read = now();
        asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
        i64 end = now();
        cycles[i * 3] = asked - begin, cycles[i * 3 + 1] = read - begin, cycles[i * 3 + 2] = end - begin;
    }
}

// --- mbarriers: WARPS warps of LANES lanes each with itself, two warps in turns
enum { ARRIVE_AND_WAIT, WAIT_DONE, INIT, EXPECT, ARRIVE };
template <int WHAT, int LANES> __global__ void own(int count, i64 *cycles) {
    __shared__ u64 bars[32];
    unsigned bar = shared_address(bars) + threadIdx.x / 32 * 8;
    if (threadIdx.x % 32 == 0) barrier_init(bar, LANES);
    __syncthreads();
    if (threadIdx.x % 32 >= LANES) return;
    i64 begin = now();
#pragma unroll 1
    for (int i = 0; i < count; i++) {
        if (WHAT == ARRIVE_AND_WAIT) arrive(bar), wait(bar, i & 1);
        if (WHAT == WAIT_DONE) wait(bar, 1);
        if (WHAT == INIT) barrier_init(bar, 1);
        if (WHAT == EXPECT) expect(bar, 0);
        if (WHAT == ARRIVE) arrive(bar);
    }
    i64 end = now();
    if (threadIdx.x % 32 == 0) cycles[threadIdx.x / 32] = end - begin;
}
__global__ void in_turns(int count, i64 *cycles) {
    __shared__ u64 bars[2];
    unsigned bar = shared_address(bars);
    if (threadIdx.x < 2) barrier_init(bar + threadIdx.x * 8, 1);
    __syncthreads();
    unsigned me = threadIdx.x / 32;
    if (threadIdx.x % 32) return;
    i64 begin = now();
#pragma unroll 1
    for (int i = 0; i < count; i++) {
        if (me == 0) arrive(bar), wait(bar + 8, i & 1);
        else wait(bar, i & 1), arrive(bar + 8);
    }
    i64 end = now();
    if (me == 0) cycles[0] = end - begin;
}

// --- clusters: barriers, arrivals and copies that another CTA sees
__global__ void cluster_barrier(int count, i64 *cycles) {
    i64 begin = now();
#pragma unroll 1
    for (int i = 0; i < count; i++) {
        asm volatile("barrier.cluster.arrive.aligned;" ::: "memory");
        asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
    }
    i64 end = now();
    if (threadIdx.x == 0) cycles[blockIdx.x] = end - begin;
}
__global__ void cluster_turns(int count, i64 *cycles) {
    __shared__ u64 bars[1];
    unsigned bar = shared_address(bars), other, me = blockIdx.x;
    barrier_init(bar, 1);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(other) : "r"(bar), "r"(me ^ 1));
    i64 begin = now();
#pragma unroll 1
    for (int i = 0; i < count; i++) {
        if (me == 0) asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(other) : "memory");
        wait(bar, i & 1);
        if (me == 1) asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(other) : "memory");
    }
    i64 end = now();
    cycles[me] = end - begin;
    asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
}
__global__ void multicast(const __grid_constant__ CUtensorMap map, int rows, unsigned bytes, i64 *cycles) {
    extern __shared__ __align__(1024) char buffer[];
    __shared__ u64 bars[1];
    unsigned bar = shared_address(bars), to = (shared_address(buffer) + 1023) & ~1023u;
    barrier_init(bar, 1);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    for (int i = 0; i < COPIES; i++) {
        asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
        i64 begin = now();
        expect(bar, bytes);
        asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
        if (blockIdx.x == 0)
            asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;"
                         ::"r"(to), "l"(&map), "r"(0), "r"(i * rows), "r"(bar), "h"((unsigned short)((1 << gridDim.x) - 1)) : "memory");
        wait(bar, i & 1);
        cycles[blockIdx.x * COPIES + i] = now() - begin;
    }
}
__global__ void empty(void) {}

// ----------------------------------------------------------------------------------------------------------------------
typedef CUresult (*Encode)(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *, const cuuint64_t *, const cuuint64_t *, const cuuint32_t *,
                           const cuuint32_t *, CUtensorMapInterleave, CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill);
static const i64 BYTES = 512ll << 20;
static char *memory;

// Rows of `width` bytes, boxes of `rows` of them; or rows of 4 KiB of which a box has `width` bytes.
static CUtensorMap make_map(i64 offset, unsigned width, unsigned rows, i64 pitch) {
    static Encode encode;
    cudaDriverEntryPointQueryResult found;
    if (!encode) CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", (void **)&encode, 12000, cudaEnableDefault, &found));
    CUtensorMap map;
    cuuint64_t sizes[] = {width / 2, (cuuint64_t)((BYTES - offset) / pitch)}, strides[] = {(cuuint64_t)pitch};
    cuuint32_t box[] = {width / 2, rows}, steps[] = {1, 1};
    CUresult r = encode(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, memory + offset, sizes, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
                        width == 128 ? CU_TENSOR_MAP_SWIZZLE_128B : CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                        CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    if (r != CUDA_SUCCESS) fprintf(stderr, "no tensor map: %d\n", (int)r), exit(1);
    return map;
}

static void flush(void) { CHECK(cudaMemset(memory + BYTES / 2, 1, BYTES / 2)); }

static double median(i64 *cycles, int first, int count) {
    i64 v[COPIES * 16];
    for (int i = 0; i < count; i++) v[i] = cycles_read(cycles, first + i);
    for (int i = 0; i < count; i++)
        for (int k = i + 1; k < count; k++)
            if (v[k] < v[i]) { i64 t = v[i]; v[i] = v[k], v[k] = t; }
    return (double)v[count / 2];
}

static void latencies(void) {
    i64 *cycles = cycles_buffer();
    char name[96];
    for (unsigned bytes : {16u, 128u, 1024u, 4096u, 8192u, 16384u, 32768u}) {
        flush();
        for (int round = 0; round < 2; round++) {
            latency_bulk<<<1, 1, 65536>>>(memory, bytes, 65536, cycles);
            sprintf(name, "tma/bulk/%s/%u_bytes", round ? "again" : "first", bytes);
            report(name, median(cycles, 1, COPIES - 1), "cycles", "median of 15; the first of all:");
            report(name, (double)cycles_read(cycles, 0), "cycles", "the first copy");
        }
    }
    for (unsigned width : {32u, 128u, 512u})
        for (unsigned rows : {1u, 8u, 32u, 64u, 128u, 256u}) {
            if (width * rows > 65536) continue;
            for (int prefetch = 0; prefetch < 2; prefetch++) {
                CUtensorMap map = make_map(0, width, rows, width == 512 ? 4096 : width == 128 ? 128 : 4096);
                flush();
                for (int round = 0; round < 2; round++) {
                    latency_tensor<<<1, 1, 66560>>>(map, rows, width * rows, prefetch, cycles);
                    sprintf(name, "tma/tensor/%s/%u_bytes/%u_rows%s", round ? "again" : "first", width, rows, prefetch ? "/prefetched" : "");
                    report(name, median(cycles, 1, COPIES - 1), "cycles", "median of 15");
                    report(name, (double)cycles_read(cycles, 0), "cycles", "the first copy");
                }
            }
        }
}

static void throughputs(void) {
    i64 *cycles = cycles_buffer(), low, high;
    char name[96];
    for (int kind : {0, 1})
        for (unsigned rows : {1u, 8u, 64u, 256u})
            for (int count : {1, 4, 16, 64})
                for (int ctas : {1, 132}) {
                    unsigned bytes = rows * 128;
                    if (bytes * count >= 1 << 20) continue;  // more than an mbarrier counts
                    CUtensorMap map = make_map(0, 128, rows, 128);
                    for (int round = 0; round < 2; round++)
                        throughput<<<ctas, 32, 180 * 1024>>>(map, memory, count, rows, bytes, kind, cycles);
                    cycles_range(cycles, 1, &low, &high);
                    sprintf(name, "tma/at_once/%s/%u_bytes/%d_copies/%d_ctas", kind ? "tensor" : "bulk", bytes, count, ctas);
                    report(name, (double)cycles_read(cycles, 0), "cycles", "asked, CTA 0");
                    report(name, (double)cycles_read(cycles, 1), "cycles", "all there, CTA 0");
                }
}


static void clusters(void) {
    i64 *cycles = cycles_buffer(), base;
    char name[96];
    for (int ctas : {1, 2, 4, 8})
        for (int threads : {32, 256}) {
            launch_cluster(cluster_barrier, ctas, threads, 0, 16, cycles);
            launch_cluster(cluster_barrier, ctas, threads, 0, 16, cycles);
            base = cycles_read(cycles, 0);
            launch_cluster(cluster_barrier, ctas, threads, 0, 144, cycles);
            sprintf(name, "cluster/barrier/%d_ctas/%d_threads", ctas, threads);
            report(name, (double)(cycles_read(cycles, 0) - base) / 128, "cycles", "arrive and wait");
        }
    launch_cluster(cluster_turns, 2, 1, 0, 16, cycles);
    launch_cluster(cluster_turns, 2, 1, 0, 16, cycles);
    base = cycles_read(cycles, 0);
    launch_cluster(cluster_turns, 2, 1, 0, 144, cycles);
    report("cluster/mbarrier_in_turns", (double)(cycles_read(cycles, 0) - base) / 128, "cycles", "there and back");
    for (int ctas : {1, 2, 4, 8})
        for (unsigned rows : {8u, 64u, 256u}) {
            CUtensorMap map = make_map(0, 128, rows, 128);
            for (int round = 0; round < 2; round++) launch_cluster(multicast, ctas, 1, 66560, map, (int)rows, rows * 128, cycles);
            sprintf(name, "cluster/multicast/%d_ctas/%u_bytes", ctas, rows * 128);
            report(name, median(cycles, 1, COPIES - 1), "cycles", "CTA 0, with a barrier of the cluster");
            if (ctas > 1) report(name, median(cycles, COPIES + 1, COPIES - 1), "cycles", "CTA 1, with a barrier of the cluster");
        }
}

template <int WHAT, int LANES> static void measure_own(const char *what, int warps) {
    i64 *cycles = cycles_buffer(), low, base, high;
    char name[96];
    own<WHAT, LANES><<<1, warps * 32>>>(16, cycles);
    own<WHAT, LANES><<<1, warps * 32>>>(16, cycles);
    cycles_range(cycles, warps, &low, &base);
    own<WHAT, LANES><<<1, warps * 32>>>(144, cycles);
    cycles_range(cycles, warps, &low, &high);
    sprintf(name, "mbarrier/%s/%d_lanes/%d_warps", what, LANES, warps);
    report(name, (double)(high - base) / 128, "cycles", "");
}

static void barriers(void) {
    i64 *cycles = cycles_buffer(), base;
    for (int warps : {1, 4, 8}) {
        measure_own<ARRIVE_AND_WAIT, 1>("arrive_and_wait", warps), measure_own<ARRIVE_AND_WAIT, 32>("arrive_and_wait", warps);
        measure_own<WAIT_DONE, 1>("wait_done", warps), measure_own<WAIT_DONE, 32>("wait_done", warps);
        measure_own<INIT, 1>("init", warps), measure_own<EXPECT, 1>("expect", warps), measure_own<ARRIVE, 1>("arrive", warps);
        measure_own<ARRIVE, 8>("arrive", warps), measure_own<ARRIVE, 32>("arrive", warps);
    }
    in_turns<<<1, 64>>>(16, cycles);
    in_turns<<<1, 64>>>(16, cycles);
    base = cycles_read(cycles, 0);
    in_turns<<<1, 64>>>(144, cycles);
    report("mbarrier/in_turns", (double)(cycles_read(cycles, 0) - base) / 128, "cycles", "there and back");
}

static void stores(void) {
    i64 *cycles = cycles_buffer();
    char name[96];
    for (unsigned bytes : {16u, 1024u, 8192u, 32768u, 65536u}) {
        store_bulk<<<1, 1, 65536>>>(memory, bytes, cycles);
        store_bulk<<<1, 1, 65536>>>(memory, bytes, cycles);
        static const char *const notes[] = {"asked", "read", "written"};
        sprintf(name, "tma/store/%u_bytes", bytes);
        for (int k = 0; k < 3; k++) report(name, (double)cycles_read(cycles, 9 + k), "cycles", notes[k]);
    }
}

int main(int argc, char **argv) {
    if (argc > 1) {  // for Nsight Compute: launches of clusters
        for (int ctas : {1, 2, 4, 8, 16}) {
            if (ctas == 16) CHECK(cudaFuncSetAttribute(empty, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
            launch_cluster(empty, ctas, 32, 0);
            launch_cluster(empty, ctas, 384, 0);
        }
        CHECK(cudaDeviceSynchronize());
        return 0;
    }
    CHECK(cudaMalloc(&memory, BYTES));
    CHECK(cudaMemset(memory, 0, BYTES));
    CHECK(cudaFuncSetAttribute(latency_bulk, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536));
    CHECK(cudaFuncSetAttribute(store_bulk, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536));
    CHECK(cudaFuncSetAttribute(latency_tensor, cudaFuncAttributeMaxDynamicSharedMemorySize, 66560));
    CHECK(cudaFuncSetAttribute(multicast, cudaFuncAttributeMaxDynamicSharedMemorySize, 66560));
    CHECK(cudaFuncSetAttribute(throughput, cudaFuncAttributeMaxDynamicSharedMemorySize, 180 * 1024));
    barriers(), stores(), latencies(), throughputs(), clusters();
    return 0;
}
