// SPDX-License-Identifier: Apache-2.0
// Clusters, distributed shared memory and the copy engine. Compiled as the head of cluster.launch says; an H200 gives the
// same results (2026-11-21, driver 580, CUDA 13.0).
#include <cooperative_groups.h>
#include <cstdint>
#include <cuda/ptx>
namespace cg = cooperative_groups;
namespace ptx = cuda::ptx;

// A histogram whose bins lie over all CTAs of a cluster: 16 in each.
extern "C" __global__ void histogram(const uint32_t *in, uint32_t n, uint32_t *out) {
    __shared__ uint32_t bins[16];
    cg::cluster_group cluster = cg::this_cluster();
    if (threadIdx.x < 16) bins[threadIdx.x] = 0;
    cluster.sync();
    uint32_t total = 16 * cluster.num_blocks();
    for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(cluster.map_shared_rank(bins, in[i] % total / 16) + in[i] % 16, 1u);
    cluster.sync();
    if (threadIdx.x < 16) atomicAdd(out + cluster.block_rank() * 16 + threadIdx.x, bins[threadIdx.x]);
}

// Indices and sizes in three dimensions: a digit each of rank, block index in the cluster (x, y, z), cluster size.
extern "C" __global__ void __cluster_dims__(2, 1, 2) indices(uint32_t *out) {
    cg::cluster_group c = cg::this_cluster();
    dim3 i = c.block_index(), d = c.dim_blocks();
    uint32_t *mine = (uint32_t *)out + blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    if (threadIdx.x == 0) *mine = c.block_rank() * 10000 + i.x * 1000 + i.y * 100 + i.z * 10 + d.x * d.y * d.z;
}

// Values go round a ring of CTAs with st.async and are added up with red.async; arrivals at remote barriers say that
// there is room.
extern "C" __global__ void ring(uint32_t *out, int rounds) {
    __shared__ alignas(16) uint32_t box[2][32];
    __shared__ uint32_t total;
    __shared__ alignas(8) uint64_t full[2], empty[2], done;
    cg::cluster_group c = cg::this_cluster();
    uint32_t rank = c.block_rank(), count = c.num_blocks(), next = (rank + 1) % count, t = threadIdx.x;
    if (t == 0) {
        total = 0;
        for (int i = 0; i < 2; i++) ptx::mbarrier_init(&full[i], 1), ptx::mbarrier_init(&empty[i], 32);
        ptx::mbarrier_init(&done, 1);
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    }
    c.sync();
    uint32_t value = rank * 100 + t;
    for (int r = 0; r < rounds; r++) {
        int s = r & 1, phase = r >> 1 & 1;
        if (t == 0)
            ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &full[s], 128);
        if (r >= 2)
            while (!ptx::mbarrier_try_wait_parity(&empty[s], phase ^ 1)) {
            }
        ptx::st_async(c.map_shared_rank(&box[s][t], next), value, c.map_shared_rank(&full[s], next));
        while (!ptx::mbarrier_try_wait_parity(&full[s], phase)) {
        }
        value = box[s][t];
        uint32_t room = (uint32_t)__cvta_generic_to_shared(&empty[s]);
        asm volatile("{ .reg .b32 a; mapa.shared::cluster.u32 a, %0, %1;\n"
                     "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [a]; }" ::"r"(room),
                     "r"((rank + count - 1) % count)
                     : "memory");
    }
    if (t == 0) ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &done, 128);
    c.sync();
    ptx::red_async(ptx::op_add, c.map_shared_rank(&total, next), value, c.map_shared_rank(&done, next));
    while (!ptx::mbarrier_try_wait_parity(&done, 0)) {
    }
    if (t == 0) out[blockIdx.x * 2] = value, out[blockIdx.x * 2 + 1] = total;
    c.sync();
}

// Each CTA loads its tile into all of them; sums go back as bulk reductions, to global memory and between CTAs.
extern "C" __global__ void tiles(const uint32_t *in, uint32_t *sums, uint32_t *all) {
    __shared__ alignas(128) uint32_t tile[4][32], sum[32], every[32];
    __shared__ alignas(8) uint64_t loaded, added;
    cg::cluster_group c = cg::this_cluster();
    uint32_t rank = c.block_rank(), t = threadIdx.x;
    if (t == 0) {
        ptx::mbarrier_init(&loaded, 1), ptx::mbarrier_init(&added, 1);
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &loaded, 512);
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &added, 512);
    }
    every[t] = 0;
    c.sync();
    if (t == 0)
        ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, tile[rank], in + blockIdx.x * 32, 128, &loaded,
                           (uint16_t)0xf);
    while (!ptx::mbarrier_try_wait_parity(&loaded, 0)) {
    }
    sum[t] = (tile[0][t] + tile[1][t] + tile[2][t] + tile[3][t]) * (rank + 1);
    ptx::fence_proxy_async(ptx::space_shared);
    c.sync();
    if (t == 0) {
        ptx::cp_reduce_async_bulk(ptx::space_global, ptx::space_shared, ptx::op_max, sums, sum, 128);
        ptx::cp_async_bulk_commit_group();
        for (uint32_t r = 0; r < 4; r++)
            ptx::cp_reduce_async_bulk(ptx::space_cluster, ptx::space_shared, ptx::op_add, c.map_shared_rank(every, r),
                                      sum, 128, c.map_shared_rank(&added, r));
        ptx::cp_async_bulk_wait_group(ptx::n32_t<0>());
    }
    while (!ptx::mbarrier_try_wait_parity(&added, 0)) {
    }
    ptx::fence_proxy_async(ptx::space_shared);
    __syncthreads();
    if (t == 0) {
        ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, all + blockIdx.x * 32, every, 128);
        ptx::cp_async_bulk_commit_group();
        ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
    }
    c.sync();
}

// Threads, and a whole CTA, that leave before the others meet at the cluster's barrier.
extern "C" __global__ void leavers(uint32_t *out) {
    __shared__ uint32_t x;
    cg::cluster_group c = cg::this_cluster();
    if (c.block_rank() == 1 || (threadIdx.x & 1)) return;
    asm volatile("barrier.cluster.arrive.relaxed;");
    x = c.block_rank();
    asm volatile("barrier.cluster.wait;");
    asm volatile("barrier.cluster.arrive; barrier.cluster.wait;");
    uint32_t other = c.block_rank() == 0 ? 2 : 0;
    if (threadIdx.x == 0) out[blockIdx.x] = 10 + *c.map_shared_rank(&x, other);
    asm volatile("barrier.cluster.arrive; barrier.cluster.wait;");
}

// Wrong: the other CTA may be over when its memory is read.
extern "C" __global__ void reads_the_dead(uint32_t *out) {
    __shared__ uint32_t x;
    cg::cluster_group c = cg::this_cluster();
    x = 5;
    c.sync();
    if (c.block_rank() == 0) return;
    for (int i = 0; i < 100000; i++) ((volatile uint32_t *)out)[1] = i;
    *out = *(volatile uint32_t *)c.map_shared_rank(&x, 0);
}

// Wrong: half of the cluster waits for the other half.
extern "C" __global__ void waits_forever(volatile uint32_t *out) {
    cg::cluster_group c = cg::this_cluster();
    if (c.block_rank() == 0)
        c.sync();
    else
        while (*out == 0) {
        }
}
