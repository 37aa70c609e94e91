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

// Records of `words` words, one a thread, written word by word: each store of a warp touches a sector of every record.
template <int words> static __device__ void records(unsigned *p, size_t bytes) {
    for (size_t r = threadIdx.x + (size_t)blockIdx.x * blockDim.x; r < bytes / (4 * words); r += (size_t)gridDim.x * blockDim.x)
#pragma unroll
        for (int w = 0; w < words; w++) ((volatile unsigned *)p)[r * words + w] = w;
}
KERNEL(records_8) { records<8>((unsigned *)data, count * 16); }
KERNEL(records_16) { records<16>((unsigned *)data, count * 16); }
KERNEL(records_35) { records<35>((unsigned *)data, count * 16); }
// The parts of sectors one after the other over the whole footprint: of `parts` of 32 / parts bytes `now` are written.
template <int parts, int now> static __device__ void in_parts(char *p, size_t bytes) {
    for (int k = 0; k < now; k++) {
        if (k) everybody(k);
        EVERY(i, bytes / 32) {
            if (parts == 2) ((uint4 *)p)[i * 2 + k] = make_uint4(1, 2, 3, 4);
            if (parts == 8) ((unsigned *)p)[i * 8 + k] = 5;
            if (parts == 32) p[i * 32 + k] = 5;
        }
    }
}
KERNEL(half) { in_parts<2, 1>((char *)data, count * 16); }
KERNEL(both_halves) { in_parts<2, 2>((char *)data, count * 16); }
KERNEL(word) { in_parts<8, 1>((char *)data, count * 16); }
KERNEL(two_words) { in_parts<8, 2>((char *)data, count * 16); }
KERNEL(all_words) { in_parts<8, 8>((char *)data, count * 16); }
KERNEL(one_byte) { in_parts<32, 1>((char *)data, count * 16); }
KERNEL(word_of_line) { EVERY(i, count / 8) ((unsigned *)data)[i * 32] = 5; }
KERNEL(word_of_64) { EVERY(i, count / 4) ((unsigned *)data)[i * 16] = 5; }
KERNEL(bytes_in_row) { EVERY(i, count * 16) ((char *)data)[i] = 5; }  // whole sectors, if those of a warp leave together
// Written again and again, while others are read once.
KERNEL(write_beside_read) {
    unsigned sum = 0;
    size_t per = others / 4;
    for (int k = 0; k < 4; k++) {
        if (k) everybody(k);
        for (size_t i = threadIdx.x + (size_t)blockIdx.x * THREADS; i < count || i < per; i += LANES) {
            if (i < count) data[i] = make_uint4(k, 1, 2, 3);
            if (i < per) {
                uint4 v = __ldcg(other + k * per + i);
                sum += v.x ^ v.y;
            }
        }
    }
    if (sum == 12345) *out = sum;
}
KERNEL(read_hot_then_write) {  // the first 8 MiB again and again; and others written once
    unsigned sum = 0;
    for (int k = 0; k < 4; k++) {
        if (k) everybody(k);
        sum += sum_of(other, (size_t)8 << 16);
        fill(data + k * (count / 4), count / 4, sum & 1);
    }
    if (sum == 12345) *out = sum;
}
KERNEL(read_only) {  // twice: what is read from DRAM the second time was not kept
    unsigned sum = sum_of(other, others);
    everybody(1);
    sum += sum_of(other, others);
    if (sum == 12345) *out = sum;
}
KERNEL(read_by_all) {  // each block reads all: both partitions have copies
    unsigned sum = 0;
    for (int k = 0; k < 2; k++) {
        everybody(k + 1);
        for (size_t i = threadIdx.x + (blockIdx.x % 2) * THREADS; i < others; i += 2 * THREADS) {
            uint4 v = __ldcg(other + (i + blockIdx.x / 2 * 4096) % others);
            sum += v.x ^ v.y;
        }
    }
    if (sum == 12345) *out = sum;
}
KERNEL(write_then_read_by_two) {  // each of the others by two blocks, of SMs side by side and far apart
    fill(data, count, 1);
    everybody(1);
    unsigned sum = sum_of(other, others);
    everybody(2);
    size_t shift = (size_t)(gridDim.x / 2) * THREADS;
    for (size_t i = threadIdx.x + (size_t)blockIdx.x * THREADS; i < others; i += LANES) {
        uint4 v = __ldcg(other + (i + shift) % others);
        sum += v.x ^ v.y;
    }
    if (sum == 12345) *out = sum;
}

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
    for (int mb : {4, 8, 16, 24, 30, 32, 48}) L(records_8, mb, 0), L(records_16, mb, 0), L(records_35, mb, 0);
    for (int mb : {2, 4, 6, 8, 10, 12, 14, 16, 20, 24, 28}) L(word, mb, 0), L(half, mb, 0);
    for (int mb : {4, 8, 12, 16, 24, 32}) L(both_halves, mb, 0), L(two_words, mb, 0), L(all_words, mb, 0), L(one_byte, mb, 0), L(bytes_in_row, mb, 0);
    for (int mb : {8, 16, 24, 32, 48, 64}) L(word_of_line, mb, 0), L(word_of_64, mb, 0);
    for (int mb : {8, 16, 20, 24, 27})
        for (int others : {16, 32, 64, 96}) L(write_beside_read, mb, others);
    for (int mb : {16, 32, 48, 64, 96}) L(read_hot_then_write, mb, 8);
    for (int others : {16, 24, 28, 32, 36, 40, 44, 48, 64}) L(read_only, 1, others);
    for (int others : {8, 16, 20, 24, 28, 32, 40}) L(read_by_all, 1, others);
    for (int mb : {8, 12, 20, 24, 27})
        for (int others : {4, 8, 12, 16, 20, 24, 28, 32, 40, 48, 64, 80, 96}) L(write_then_read, mb, others);
    for (int others : {8, 16, 24, 32, 48}) L(write_then_read_by_two, 16, others);
    for (int mb : {14, 18, 20, 22, 26, 28, 36, 48}) L(copy, mb, 0);
    for (int mb : {6, 10, 14, 18, 20, 32}) L(add, mb, 0);
    return 0;
}
