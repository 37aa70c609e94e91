// SPDX-License-Identifier: Apache-2.0
// What of the bytes that kernels write reaches DRAM before they end: launches that write, read and change footprints of
// several sizes. counters.sh measures them from outside (ncu, one pass); the program prints a line for each launch.
#include "micro.h"

enum { BLOCKS = 264, THREADS = 512, LANES = BLOCKS * THREADS };

static __device__ unsigned arrived;

static __device__ void everybody(unsigned round) {  // all blocks are resident
    __syncthreads();
    if (!threadIdx.x) {
        __threadfence();
        atomicAdd(&arrived, 1);
        while (*(volatile unsigned *)&arrived < round * gridDim.x) __nanosleep(200);
    }
    __syncthreads();
}
static __device__ void fill(uint4 *p, size_t count, unsigned v) {
    for (size_t i = threadIdx.x + (size_t)blockIdx.x * THREADS; i < count; i += LANES) p[i] = make_uint4(v, i, v, i);
}
static __device__ unsigned sum_of(const uint4 *p, size_t count) {
    unsigned sum = 0;
    for (size_t i = threadIdx.x + (size_t)blockIdx.x * THREADS; i < count; i += LANES) {
        uint4 v = __ldcg(p + i);
        sum += v.x ^ v.y ^ v.z ^ v.w;
    }
    return sum;
}
#define KERNEL(name) extern "C" __global__ void name(uint4 *data, size_t count, uint4 *other, size_t others, unsigned *out)
#define EVERY(i, count) for (size_t i = threadIdx.x + (size_t)blockIdx.x * THREADS; i < (count); i += LANES)

KERNEL(reset) { arrived = 0; }
KERNEL(wait_long) {  // nothing but time
    long long t = clock64();
    while (clock64() - t < (long long)count) {}
}
KERNEL(write) { fill(data, count, 1); }
KERNEL(write_twice) {
    fill(data, count, 1);
    everybody(1);
    fill(data, count, 2);
}
KERNEL(write_then_read) {  // others after it
    fill(data, count, 1);
    everybody(1);
    unsigned sum = sum_of(other, others);
    if (sum == 12345) *out = sum;
}
KERNEL(read_then_write) {
    unsigned sum = sum_of(other, others);
    everybody(1);
    fill(data, count, sum & 1);
}
KERNEL(change) {
    EVERY(i, count) {
        uint4 v = data[i];
        v.x++;
        data[i] = v;
    }
}
KERNEL(copy) { EVERY(i, count) data[i] = other[i]; }
KERNEL(add) {  // two are read, one written
    EVERY(i, count) {
        uint4 a = other[i], b = other[i + count];
        data[i] = make_uint4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
    }
}
KERNEL(write_first_sectors) { EVERY(i, count / 8) ((uint4 *)data)[i / 2 * 8 + i % 2 * 1] = make_uint4(1, 2, 3, 4); }
KERNEL(write_even_sectors) { EVERY(i, count / 2) ((uint4 *)data)[i / 2 * 4 + i % 2] = make_uint4(1, 2, 3, 4); }
KERNEL(write_words) { EVERY(i, count / 2) ((unsigned *)data)[i * 8] = 5; }  // a word of each sector
KERNEL(red_words) { EVERY(i, count * 4) atomicAdd((unsigned *)data + i, 1); }

static uint4 *data, *other;
static unsigned *out;
typedef void (*Kernel)(uint4 *, size_t, uint4 *, size_t, unsigned *);

static void launch(const char *name, Kernel kernel, int mb, int others, bool quiet = false) {
    reset<<<1, 1>>>(data, 0, other, 0, out);
    kernel<<<BLOCKS, THREADS>>>(data, ((size_t)mb << 20) / 16, other, ((size_t)others << 20) / 16, out);
    CHECK(cudaDeviceSynchronize());
    if (!quiet) printf("%s\t%d\t%d\n", name, mb, others);
}
#define L(kernel, mb, others) launch(#kernel, kernel, mb, others)

int main() {
    CHECK(cudaMalloc(&data, 512 << 20));
    CHECK(cudaMalloc(&other, 512 << 20));
    CHECK(cudaMalloc(&out, 4096));
    CHECK(cudaMemset(data, 0, 512 << 20));
    CHECK(cudaMemset(other, 0, 512 << 20));
    for (int i = 0; i < 3; i++) L(wait_long, 1, 0);
    for (int i = 0; i < 2; i++) L(wait_long, 256, 0);
    for (int mb : {1, 4, 8, 16, 20, 24, 26, 28, 30, 32, 36, 40, 48, 64, 128, 256, 400}) L(write, mb, 0);
    for (int mb : {8, 16, 24, 28, 32, 48, 64}) L(write_twice, mb, 0);
    for (int mb : {8, 16, 24, 32, 40, 64, 128}) L(change, mb, 0);
    for (int mb : {8, 12, 16, 24, 32, 40, 64, 128}) L(copy, mb, 0);
    for (int mb : {8, 12, 16, 24, 40, 64, 128}) L(add, mb, 0);
    for (int others : {0, 8, 16, 24, 32, 40, 48, 64, 128}) L(write_then_read, 16, others);
    for (int others : {16, 32, 64}) L(write_then_read, 4, others);
    for (int others : {16, 32, 64}) L(write_then_read, 24, others);
    for (int others : {16, 32, 64}) L(read_then_write, 24, others);
    for (int mb : {16, 32, 64, 128}) L(write_first_sectors, mb, 0);
    for (int mb : {16, 32, 64, 128}) L(write_even_sectors, mb, 0);
    for (int mb : {16, 32, 64, 128}) L(write_words, mb, 0);
    for (int mb : {16, 32, 64}) L(red_words, mb, 0);
    for (int i = 0; i < 2; i++) L(write, 64, 0), L(write, 4, 0), L(write, 4, 0), L(wait_long, 1, 0);  // a small launch after a big one
    return 0;
}
