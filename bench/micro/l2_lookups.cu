// SPDX-License-Identifier: Apache-2.0
// What the L2 counts as hits and misses: launches that ask for the same sectors in different ways. counters.sh measures
// them from outside (ncu, caches emptied before each). Loads bypass the L1 (.cg).
#include "micro.h"

enum { BLOCKS = 132, THREADS = 256, LANES = BLOCKS * THREADS };

static __device__ unsigned ticket, arrived;

static __device__ unsigned load(const void *p) {
    unsigned v;
    asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
    return v;
}
static __device__ unsigned load16(const uint4 *p) {
    uint4 v;
    asm volatile("ld.global.cg.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(p) : "memory");
    return v.x ^ v.y ^ v.z ^ v.w;
}
static __device__ void everybody(unsigned round) {  // all blocks are resident
    __syncthreads();
    if (!threadIdx.x) {
        __threadfence();
        atomicAdd(&arrived, 1);
        while (*(volatile unsigned *)&arrived < round * gridDim.x) __nanosleep(500);
    }
    __syncthreads();
}
static __device__ void wait_turn(unsigned turn) {
    if (!threadIdx.x)
        while (*(volatile unsigned *)&ticket != turn) __nanosleep(2000);
    __syncthreads();
}
static __device__ void end_turn(unsigned turn) {
    __syncthreads();
    if (!threadIdx.x) *(volatile unsigned *)&ticket = turn + 1;
}
static __device__ unsigned read_part(const uint4 *data, size_t count, unsigned block) {
    unsigned sum = 0;
    for (size_t i = threadIdx.x + (size_t)block * THREADS; i < count; i += LANES) sum += load16(data + i);
    return sum;
}
static __device__ unsigned read_whole(const uint4 *data, size_t count) {
    unsigned sum = 0;
    for (size_t i = threadIdx.x; i < count; i += THREADS) sum += load16(data + i);
    return sum;
}
static __device__ void write_part(uint4 *data, size_t count) {
    for (size_t i = threadIdx.x + (size_t)blockIdx.x * THREADS; i < count; i += LANES) data[i] = make_uint4(1, 2, 3, 4);
}
static __device__ void write_words(unsigned *data, size_t sectors) {
    for (size_t i = threadIdx.x + (size_t)blockIdx.x * THREADS; i < sectors; i += LANES) data[i * 8] = 5;
}
static __device__ void keep(unsigned sum, unsigned *out) {
    if (sum == 12345) *out = sum;
}

#define KERNEL(name) extern "C" __global__ void name(uint4 *data, size_t count, unsigned *out)

KERNEL(read_once) { keep(read_part(data, count, blockIdx.x), out); }
KERNEL(read_twice) {
    unsigned sum = read_part(data, count, blockIdx.x);
    __syncthreads();
    keep(sum + read_part(data, count, blockIdx.x), out);
}
KERNEL(read_swapped) {  // another SM, the second time
    unsigned sum = read_part(data, count, blockIdx.x);
    everybody(1);
    keep(sum + read_part(data, count, (blockIdx.x + 37) % BLOCKS), out);
}
KERNEL(read_in_turns) {  // 64 KiB, one SM after the other
    wait_turn(blockIdx.x);
    keep(read_whole(data, 4096), out);
    end_turn(blockIdx.x);
}
KERNEL(read_together) { keep(read_whole(data, 4096), out); }
KERNEL(read_sectors_in_turn) {  // one thread, sector after sector, each when the one before is there
    unsigned sum = 0;
    for (int i = 0; i < 2048; i++) sum += load((const char *)data + i * 32 + sum);
    keep(sum, out);
}
KERNEL(read_even_sectors) {
    unsigned sum = 0;
    for (size_t i = threadIdx.x + (size_t)blockIdx.x * THREADS; i < count / 4; i += LANES) sum += load(data + i * 4);
    keep(sum, out);
}
KERNEL(read_first_sectors) {
    unsigned sum = 0;
    for (size_t i = threadIdx.x + (size_t)blockIdx.x * THREADS; i < count / 8; i += LANES) sum += load(data + i * 8);
    keep(sum, out);
}
KERNEL(read_even_then_odd) {
    unsigned sum = 0;
    for (size_t i = threadIdx.x + (size_t)blockIdx.x * THREADS; i < count / 4; i += LANES) sum += load(data + i * 4);
    __syncthreads();
    for (size_t i = threadIdx.x + (size_t)blockIdx.x * THREADS; i < count / 4; i += LANES) sum += load(data + i * 4 + 2);
    keep(sum, out);
}
KERNEL(write_once) { write_part(data, count); }
KERNEL(write_word_of_sector) { write_words((unsigned *)data, count / 2); }
KERNEL(write_then_read) {
    write_part(data, count);
    everybody(1);
    keep(read_part(data, count, blockIdx.x), out);
}
KERNEL(write_then_read_swapped) {
    write_part(data, count);
    everybody(1);
    keep(read_part(data, count, (blockIdx.x + 37) % BLOCKS), out);
}
KERNEL(write_word_then_read) {
    write_words((unsigned *)data, count / 2);
    everybody(1);
    keep(read_part(data, count, blockIdx.x), out);
}
KERNEL(read_then_write) {
    keep(read_part(data, count, blockIdx.x), out);
    everybody(1);
    write_part(data, count);
}
KERNEL(red_once) {
    for (size_t i = threadIdx.x + (size_t)blockIdx.x * THREADS; i < count * 4; i += LANES) asm volatile("red.global.add.u32 [%0], 1;" ::"l"((unsigned *)data + i) : "memory");
}
KERNEL(atom_word_of_sector) {
    unsigned sum = 0;
    for (size_t i = threadIdx.x + (size_t)blockIdx.x * THREADS; i < count / 2; i += LANES) sum += atomicExch((unsigned *)data + i * 8, 3);
    keep(sum, out);
}
KERNEL(write_in_turns) {  // the same 64 KiB
    wait_turn(blockIdx.x);
    for (size_t i = threadIdx.x; i < 4096; i += THREADS) data[i] = make_uint4(1, 2, 3, 4);
    end_turn(blockIdx.x);
}
KERNEL(write_then_read_in_turns) {  // the first writes 64 KiB, the others read them
    wait_turn(blockIdx.x);
    if (!blockIdx.x)
        for (size_t i = threadIdx.x; i < 4096; i += THREADS) data[i] = make_uint4(1, 2, 3, 4);
    else
        keep(read_whole(data, 4096), out);
    __threadfence();
    end_turn(blockIdx.x);
}
__global__ void reset() { ticket = arrived = 0; }

int main() {
    void (*const kernels[])(uint4 *, size_t, unsigned *) = {
        read_once, read_twice, read_swapped, read_in_turns, read_together, read_even_sectors, read_first_sectors, read_even_then_odd,
        write_once, write_word_of_sector, write_then_read, write_then_read_swapped, write_word_then_read, read_then_write, red_once,
        atom_word_of_sector, write_in_turns, write_then_read_in_turns};
    uint4 *data;
    unsigned *out;
    CHECK(cudaMalloc(&data, 256 << 20));
    CHECK(cudaMalloc(&out, 4096));
    CHECK(cudaMemset(data, 0, 256 << 20));
    for (auto kernel : kernels) {
        reset<<<1, 1>>>();
        kernel<<<BLOCKS, THREADS>>>(data, (4 << 20) / 16, out);
        CHECK(cudaDeviceSynchronize());
    }
    read_sectors_in_turn<<<1, 1>>>(data + (128 << 20) / 16, 0, out);
    CHECK(cudaDeviceSynchronize());
    read_once<<<BLOCKS, THREADS>>>(data, (64 << 20) / 16, out);
    CHECK(cudaDeviceSynchronize());
    return 0;
}
