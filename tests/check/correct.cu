// SPDX-License-Identifier: Apache-2.0
// Correct kernels of the kind that checkers complain about.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda_runtime.h>
namespace cg = cooperative_groups;

// --- within a warp ---
extern "C" __global__ void warp_reduction(const int *in, int *out) {
    __shared__ int s[64];
    int t = threadIdx.x, lane = t & 31;
    volatile int *mine = s + (t & ~31);
    mine[lane] = in[t];
    __syncwarp();
    for (int k = 16; k > 0; k >>= 1) {
        int v = lane < k ? mine[lane + k] : 0;
        __syncwarp();
        if (lane < k) mine[lane] += v;
        __syncwarp();
    }
    if (lane == 0) out[t / 32] = mine[0];
}
extern "C" __global__ void warp_shuffle_reduction(const int *in, int *out) {
    int v = in[threadIdx.x];
    for (int k = 16; k > 0; k >>= 1) v += __shfl_down_sync(0xffffffff, v, k);
    if (threadIdx.x % 32 == 0) out[threadIdx.x / 32] = v;
}
extern "C" __global__ void divergent_then_syncwarp(int *out) {
    __shared__ int s[32];
    int lane = threadIdx.x;
    if (lane < 16) s[lane] = out[lane] + 1;
    else s[lane] = out[lane] + 2;
    __syncwarp();
    out[lane] = s[31 - lane];
}
extern "C" __global__ void part_of_warp_syncs(int *out) {
    __shared__ int s[32];
    int lane = threadIdx.x;
    s[lane] = 0;
    __syncwarp();
    if (lane < 8) {
        s[lane] = out[lane] + lane;
        __syncwarp(0xff);
        out[lane] = s[7 - lane] + __shfl_sync(0xff, lane, 3);
    }
}
extern "C" __global__ void ballot_in_branch(int *out) {
    int lane = threadIdx.x & 31;
    unsigned here = __ballot_sync(0xffffffff, lane & 1);
    if (lane & 1) out[threadIdx.x] = __popc(__ballot_sync(here, lane > 10));
    else out[threadIdx.x] = __reduce_add_sync(~here, lane);
}
extern "C" __global__ void coalesced_groups(int *counter, int *out) {
    if (out[threadIdx.x] % 3 == 0) {
        cg::coalesced_group g = cg::coalesced_threads();
        int base = 0;
        if (g.thread_rank() == 0) base = atomicAdd(counter, g.size());
        base = g.shfl(base, 0);
        out[threadIdx.x] = base + g.thread_rank();
    }
}
extern "C" __global__ void tiles(const int *in, int *out) {
    __shared__ int s[128];
    cg::thread_block_tile<8> tile = cg::tiled_partition<8>(cg::this_thread_block());
    s[threadIdx.x] = in[threadIdx.x];
    tile.sync();
    int sum = 0;
    for (int i = 0; i < 8; i++) sum += s[(threadIdx.x & ~7) + i];
    tile.sync();
    s[threadIdx.x] = sum + tile.shfl_xor(sum, 1);
    tile.sync();
    out[threadIdx.x] = s[threadIdx.x ^ 3];
}
extern "C" __global__ void match_any(const int *in, int *out) {
    unsigned peers = __match_any_sync(0xffffffff, in[threadIdx.x]);
    int leader = __ffs(peers) - 1;
    out[threadIdx.x] = __shfl_sync(peers, (int)threadIdx.x, leader);
}

// --- early exits ---
extern "C" __global__ void early_return(const int *in, int *out, int n) {
    __shared__ int s[128];
    int t = threadIdx.x;
    if (t >= n) return;
    s[t] = in[t];
    __syncthreads();
    out[t] = s[n - 1 - t];
}
extern "C" __global__ void whole_body_in_if(const int *in, int *out, int n) {
    __shared__ int s[128];
    int t = threadIdx.x;
    if (t < n) {
        s[t] = in[t];
        __syncthreads();
        out[t] = s[n - 1 - t];
    }
}
extern "C" __global__ void warps_leave(int *out) {
    __shared__ int s[128];
    s[threadIdx.x] = threadIdx.x;
    __syncthreads();
    if (threadIdx.x >= 64) return;
    s[threadIdx.x] = s[threadIdx.x + 64];
    __syncthreads();
    out[threadIdx.x] = s[63 - threadIdx.x];
}
extern "C" __global__ void shuffle_of_survivors(int *out, int n) {
    if (threadIdx.x >= n) return;
    unsigned mask = __activemask();
    out[threadIdx.x] = __shfl_sync(mask, (int)threadIdx.x, 0);
}

// --- CTA barriers ---
extern "C" __global__ void block_reduction(const int *in, int *out) {
    __shared__ int s[256];
    int t = threadIdx.x;
    s[t] = in[t];
    __syncthreads();
    for (int k = 128; k > 0; k >>= 1) {
        if (t < k) s[t] += s[t + k];
        __syncthreads();
    }
    if (t == 0) *out = s[0];
}
extern "C" __global__ void double_buffered_scan(int *out) {
    __shared__ int s[2][128];
    int t = threadIdx.x, from = 0;
    s[0][t] = 1;
    __syncthreads();
    for (int k = 1; k < 128; k <<= 1) {
        s[from ^ 1][t] = s[from][t] + (t >= k ? s[from][t - k] : 0);
        from ^= 1;
        __syncthreads();
    }
    out[t] = s[from][t];
}
extern "C" __global__ void double_buffered_loop(const int *in, int *out, int n) {
    __shared__ int s[2][64];
    int t = threadIdx.x, sum = 0;
    s[0][t] = in[t];
    for (int i = 0; i < n; i++) {
        __syncthreads();
        if (i + 1 < n) s[(i + 1) & 1][t] = in[(i + 1) * 64 + t];
        sum += s[i & 1][63 - t];
    }
    out[t] = sum;
}
extern "C" __global__ void barrier_in_uniform_branch(const int *in, int *out, int k) {
    __shared__ int s[64];
    s[threadIdx.x] = in[threadIdx.x];
    if (k > 3) {
        __syncthreads();
        out[threadIdx.x] = s[63 - threadIdx.x];
    }
}
extern "C" __global__ void transpose_tile(const float *in, float *out) {
    __shared__ float tile[16][17];
    int x = threadIdx.x, y = threadIdx.y;
    for (int k = 0; k < 2; k++) {
        tile[y][x] = in[k * 256 + y * 16 + x];
        __syncthreads();
        out[k * 256 + y * 16 + x] = tile[x][y];
        __syncthreads();
    }
}
extern "C" __global__ void producer_consumer(const int *in, int *out, int n) {
    __shared__ int s[2][32];
    int lane = threadIdx.x & 31;
    if (threadIdx.x < 32) {
        for (int i = 0; i < n; i++) {
            asm volatile("bar.sync %0, 64;" ::"r"(3 + (i & 1)) : "memory");  // empty
            s[i & 1][lane] = in[i * 32 + lane];
            asm volatile("bar.arrive %0, 64;" ::"r"(1 + (i & 1)) : "memory");  // full
        }
    } else {
        asm volatile("bar.arrive 3, 64;" ::: "memory");
        asm volatile("bar.arrive 4, 64;" ::: "memory");
        for (int i = 0; i < n; i++) {
            asm volatile("bar.sync %0, 64;" ::"r"(1 + (i & 1)) : "memory");
            out[i * 32 + lane] = s[i & 1][31 - lane];
            if (i + 2 < n) asm volatile("bar.arrive %0, 64;" ::"r"(3 + (i & 1)) : "memory");
        }
    }
}
extern "C" __global__ void barrier_of_two_warps(int *out) {
    __shared__ int s[128];
    int t = threadIdx.x, pair = t / 64;
    s[t] = t;
    asm volatile("bar.sync %0, 64;" ::"r"(1 + pair) : "memory");
    out[t] = s[pair * 64 + 63 - t % 64];
}
extern "C" __global__ void vote_of_block(const int *in, int *out) {
    int any = __syncthreads_or(in[threadIdx.x] > 100), count = __syncthreads_count(in[threadIdx.x] & 1);
    out[threadIdx.x] = any + count;
}
extern "C" __global__ void same_value_by_all(int *out) {
    __shared__ int flag;
    flag = out[5] + 1;
    __syncthreads();
    out[threadIdx.x] = flag;
}

// --- atomics, locks, flags ---
extern "C" __global__ void histogram(const int *in, int *out) {
    __shared__ int bins[32];
    if (threadIdx.x < 32) bins[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&bins[in[threadIdx.x] & 31], 1);
    __syncthreads();
    if (threadIdx.x < 32) atomicAdd(&out[threadIdx.x], bins[threadIdx.x]);
}
extern "C" __global__ void spin_lock(int *out) {
    __shared__ int lock, sum;
    if (threadIdx.x == 0) lock = 0, sum = 0;
    __syncthreads();
    if (threadIdx.x % 32 == 0) {
        while (atomicCAS(&lock, 0, 1) != 0) {}
        __threadfence_block();
        sum += threadIdx.x;
        __threadfence_block();
        atomicExch(&lock, 0);
    }
    __syncthreads();
    out[threadIdx.x] = sum;
}
extern "C" __global__ void spin_lock_per_thread(int *lock, int *out) {
    bool done = false;
    while (!done) {
        if (atomicCAS(lock, 0, 1) == 0) {
            __threadfence();
            *(volatile int *)out += 1;
            __threadfence();
            atomicExch(lock, 0);
            done = true;
        }
    }
}
extern "C" __global__ void volatile_flag(int *out) {
    __shared__ int data;
    __shared__ volatile int ready;
    if (threadIdx.x == 0) ready = 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        data = out[5] + 42;
        __threadfence_block();
        ready = 1;
    }
    if (threadIdx.x == 32) {
        while (!ready) {}
        __threadfence_block();
        out[0] = data;
    }
}
extern "C" __global__ void atomic_flag_with_fences(int *out) {
    __shared__ int data[2], ready;
    if (threadIdx.x == 0) ready = 0;
    __syncthreads();
    if (threadIdx.x % 32 == 0 && threadIdx.x < 64) {
        data[threadIdx.x / 32] = out[5] + threadIdx.x;
        __threadfence_block();
        atomicAdd(&ready, 1);
    }
    if (threadIdx.x == 64) {
        while (atomicAdd(&ready, 0) < 2) {}
        __threadfence_block();
        out[0] = data[0] + data[1];
    }
}
extern "C" __global__ void release_acquire(int *out) {
    __shared__ int data, ready;
    if (threadIdx.x == 0) ready = 0;
    __syncthreads();
    unsigned at = (unsigned)__cvta_generic_to_shared(&ready);
    if (threadIdx.x == 0) {
        data = out[5] + 7;
        asm volatile("st.release.cta.shared.u32 [%0], 1;" ::"r"(at) : "memory");
    }
    if (threadIdx.x == 32) {
        int seen = 0;
        while (!seen) asm volatile("ld.acquire.cta.shared.u32 %0, [%1];" : "=r"(seen) : "r"(at) : "memory");
        out[0] = data;
    }
}
extern "C" __global__ void last_block_reduces(const int *in, int *part, unsigned *done, int *out) {
    __shared__ int s[64];
    __shared__ bool last;
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * 64 + t];
    __syncthreads();
    for (int k = 32; k > 0; k >>= 1) {
        if (t < k) s[t] += s[t + k];
        __syncthreads();
    }
    if (t == 0) {
        part[blockIdx.x] = s[0];
        __threadfence();
        last = atomicInc(done, gridDim.x) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last) return;
    if (t == 0) {
        int sum = 0;
        for (int i = 0; i < gridDim.x; i++) sum += ((volatile int *)part)[i];
        *out = sum;
    }
}
extern "C" __global__ void work_queue(int *next, int *out, int n) {
    __shared__ int item;
    for (;;) {
        if (threadIdx.x == 0) item = atomicAdd(next, 1);
        __syncthreads();
        int mine = item;
        __syncthreads();
        if (mine >= n) break;
        out[mine * 64 + threadIdx.x] = mine;
    }
}
extern "C" __global__ void shared_stack(int *out) {
    __shared__ int items[128], top;
    if (threadIdx.x == 0) top = 0;
    __syncthreads();
    if (threadIdx.x % 3 == 0) items[atomicAdd(&top, 1)] = threadIdx.x;
    __syncthreads();
    if (threadIdx.x < top) atomicAdd(out, items[threadIdx.x]);
}

// --- mbarriers and asynchronous copies ---
extern "C" __global__ void barrier_object(const int *in, int *out) {
    __shared__ cuda::barrier<cuda::thread_scope_block> bar;
    __shared__ int s[64];
    if (threadIdx.x == 0) init(&bar, blockDim.x);
    __syncthreads();
    for (int i = 0; i < 3; i++) {
        s[threadIdx.x] = in[threadIdx.x] + i;
        bar.arrive_and_wait();
        out[threadIdx.x] += s[63 - threadIdx.x];
        bar.arrive_and_wait();
    }
}
extern "C" __global__ void mbarrier_pipeline(const int *in, int *out, int n) {
    __shared__ __align__(8) unsigned long long full[2], empty[2];
    __shared__ int s[2][32];
    int lane = threadIdx.x & 31;
    if (threadIdx.x == 0)
        for (int i = 0; i < 2; i++) {
            asm volatile("mbarrier.init.shared.b64 [%0], 32;" ::"r"((unsigned)__cvta_generic_to_shared(&full[i])) : "memory");
            asm volatile("mbarrier.init.shared.b64 [%0], 32;" ::"r"((unsigned)__cvta_generic_to_shared(&empty[i])) : "memory");
        }
    __syncthreads();
    for (int i = 0; i < n; i++) {
        unsigned f = (unsigned)__cvta_generic_to_shared(&full[i & 1]), e = (unsigned)__cvta_generic_to_shared(&empty[i & 1]);
        unsigned wait = threadIdx.x < 32 ? e : f, signal = threadIdx.x < 32 ? f : e;
        unsigned parity = threadIdx.x < 32 ? ((i >> 1) & 1) ^ 1 : (i >> 1) & 1;
        asm volatile("{ .reg .pred p; WAIT: mbarrier.test_wait.parity.shared.b64 p, [%0], %1; @!p bra WAIT; }" ::"r"(wait), "r"(parity) : "memory");
        if (threadIdx.x < 32) s[i & 1][lane] = in[i * 32 + lane];
        else out[i * 32 + lane] = s[i & 1][31 - lane];
        asm volatile("{ .reg .b64 t; mbarrier.arrive.shared.b64 t, [%0]; }" ::"r"(signal) : "memory");
    }
}
extern "C" __global__ void async_copy(const int *in, int *out) {
    __shared__ int s[64];
    unsigned to = (unsigned)__cvta_generic_to_shared(&s[threadIdx.x]);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(in + threadIdx.x) : "memory");
    asm volatile("cp.async.wait_all;" ::: "memory");
    int own = s[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = own + s[63 - threadIdx.x];
}
extern "C" __global__ void async_pipeline(const int *in, int *out, int n) {
    __shared__ int s[4][64];
    int t = threadIdx.x, sum = 0;
    for (int i = 0; i < 3; i++) {
        unsigned to = (unsigned)__cvta_generic_to_shared(&s[i][t]);
        if (i < n) asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(in + i * 64 + t) : "memory");
        asm volatile("cp.async.commit_group;" ::: "memory");
    }
    for (int i = 0; i < n; i++) {
        asm volatile("cp.async.wait_group 2;" ::: "memory");
        __syncthreads();
        sum += s[i & 3][63 - t];
        unsigned to = (unsigned)__cvta_generic_to_shared(&s[(i + 3) & 3][t]);
        if (i + 3 < n) asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(in + (i + 3) * 64 + t) : "memory");
        asm volatile("cp.async.commit_group;" ::: "memory");
    }
    out[t] = sum;
}
extern "C" __global__ void async_with_mbarrier(const int *in, int *out) {
    __shared__ __align__(8) unsigned long long bar;
    __shared__ int s[64];
    unsigned at = (unsigned)__cvta_generic_to_shared(&bar), to = (unsigned)__cvta_generic_to_shared(&s[threadIdx.x]);
    if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], 64;" ::"r"(at) : "memory");
    __syncthreads();
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(in + threadIdx.x) : "memory");
    asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(at) : "memory");
    asm volatile("{ .reg .pred p; WAIT: mbarrier.test_wait.parity.shared.b64 p, [%0], 0; @!p bra WAIT; }" ::"r"(at) : "memory");
    out[threadIdx.x] = s[63 - threadIdx.x];
}
extern "C" __global__ void pipeline_object(const int *in, int *out, int n) {
    __shared__ int s[2][64];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    cg::thread_block block = cg::this_thread_block();
    cuda::pipeline<cuda::thread_scope_block> pipe = cuda::make_pipeline(block, &state);
    int sum = 0;
    for (int fetched = 0, i = 0; i < n; i++) {
        for (; fetched < n && fetched < i + 2; fetched++) {
            pipe.producer_acquire();
            cuda::memcpy_async(block, s[fetched & 1], in + fetched * 64, sizeof(int) * 64, pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        block.sync();
        sum += s[i & 1][63 - threadIdx.x];
        pipe.consumer_release();
    }
    out[threadIdx.x] = sum;
}
extern "C" __global__ void group_memcpy_async(const int *in, int *out) {
    __shared__ int s[128];
    cg::thread_block block = cg::this_thread_block();
    cg::memcpy_async(block, s, in, sizeof(int) * 128);
    cg::wait(block);
    out[threadIdx.x] = s[127 - threadIdx.x];
}

// --- the grid, the heap, the stack ---
extern "C" __global__ void grid_sync(int *data, int *out) {
    cg::grid_group grid = cg::this_grid();
    int i = grid.thread_rank();
    data[i] = i;
    grid.sync();
    out[i] = data[grid.size() - 1 - i];
}
extern "C" __global__ void heap_blocks(int *out) {
    int *p = (int *)malloc(16 * sizeof(int));
    for (int i = 0; i < 16; i++) p[i] = i * threadIdx.x;
    int sum = 0;
    for (int i = 0; i < 16; i++) sum += p[i];
    free(p);
    out[threadIdx.x] = sum;
}
struct Mixed {
    char tag;
    double value;
    short count;
};
__device__ __noinline__ double consume(Mixed m) { return m.value + m.count + m.tag; }
extern "C" __global__ void structures_by_value(double *out) {
    Mixed all[4];
    for (int i = 0; i < 4; i++) all[i].tag = (char)i, all[i].value = threadIdx.x, all[i].count = 3;
    out[threadIdx.x] = consume(all[(int)out[threadIdx.x] & 3]);
}
extern "C" __global__ void bytes_in_words(unsigned char *out) {
    __shared__ unsigned char s[128];
    s[threadIdx.x] = threadIdx.x;
    __syncthreads();
    unsigned word = ((unsigned *)s)[threadIdx.x / 4];
    out[threadIdx.x] = word >> (8 * (threadIdx.x & 3));
}
extern "C" __global__ void reused_shared_memory(const int *in, float *out) {
    extern __shared__ char raw[];
    int *a = (int *)raw;
    float *b = (float *)raw;
    a[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    int v = a[63 - threadIdx.x];
    __syncthreads();
    b[threadIdx.x] = v * 0.5f;
    __syncthreads();
    out[threadIdx.x] = b[threadIdx.x ^ 1];
}
