// SPDX-License-Identifier: Apache-2.0
// Which lines the L1 keeps. One thread walks N lines again and again, each load waiting for the one before, and counts
// those that are there; then, with lists of lines that drive a line out, which other lines share its set.
#include <algorithm>
#include <vector>

#include "micro.h"

enum { HIT = 150, PASSES = 8, MOST = 8192 };  // cycles: a load that takes fewer hits the L1

__device__ static inline u64 load_keep(const char *at) {
    u64 v;
    asm volatile("ld.global.ca.u64 %0, [%1];" : "=l"(v) : "l"(at) : "memory");
    return v;
}
__device__ static inline uint4 load_pass(const uint4 *at) {  // not kept in the L1
    uint4 v;
    asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "l"(at)
                 : "memory");
    return v;
}

__global__ void link(char *data, const u64 *places, int count) {
    for (int i = threadIdx.x; i < count; i += blockDim.x) *(u64 *)(data + places[i]) = places[(i + 1) % count];
}

// Loads that hit in each pass over the ring of `count` places that begins at `first`; behind the third pass stores to
// `stored` further lines. What was loaded goes to shared memory, so that the clock is read when it is there.
__global__ void walk(char *data, u64 first, int count, int stored, char *other, int *hits) {
    extern __shared__ volatile u64 there[];
    u64 at = first;
    for (int pass = 0; pass < PASSES; pass++) {
        int found = 0;
        for (int i = 0; i < count; i++) {
            i64 begin = now();
            at = load_keep(data + at);
            there[0] = at;
            i64 end = now();
            found += end - begin < HIT;
        }
        hits[pass] = found;
        if (pass != 2) continue;
        for (int i = 0; i < stored; i++)
            asm volatile("st.global.u32 [%0], %1;" ::"l"(other + i * 128), "r"(i) : "memory");
        __nanosleep(2000);
    }
}

// Whether `target` is gone after loads of the lines of a list (a multiple of four), the first of which is replaced by
// `first`.
__global__ void gone(const char *data, unsigned target, const uint4 *list, int count, unsigned first, int *result) {
    extern __shared__ volatile u64 there[];
    u64 sum = load_keep(data + (u64)target * 128);
#pragma unroll 4
    for (int i = 0; i < count / 4; i++) {
        uint4 line = load_pass(list + i);
        if (!i && first) line.x = first;
        sum += load_keep(data + (u64)line.x * 128) + load_keep(data + (u64)line.y * 128);
        sum += load_keep(data + (u64)line.z * 128) + load_keep(data + (u64)line.w * 128);
    }
    there[0] = sum;
    __nanosleep(2000);
    i64 begin = now();
    there[0] = load_keep(data + (u64)target * 128 + 8);
    i64 end = now();
    *result = end - begin >= HIT;
}

static char *data;
static u64 *places;
static int *hits;
static uint4 *list;

static void walk_of(const char *name, const std::vector<u64> &at, int shared, int stored) {
    int found[PASSES];
    CHECK(cudaMemcpy(places, at.data(), at.size() * 8, cudaMemcpyHostToDevice));
    link<<<1, 1024>>>(data, places, (int)at.size());
    walk<<<1, 1, shared ? shared : 64>>>(data, at[0], (int)at.size(), stored, data + (32 << 20), hits);
    CHECK(cudaMemcpy(found, hits, sizeof found, cudaMemcpyDeviceToHost));
    printf("l1/%s/%zu_lines\t%d\thits\t", name, at.size(), found[PASSES - 1]);
    for (int i = 0; i < PASSES; i++) printf(" %d", found[i]);
    printf("\n");
    fflush(stdout);
}

static unsigned random_next() {
    static u64 state = 1;
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (unsigned)(state >> 33);
}

static std::vector<u64> strided(int count, int stride, int step) {
    std::vector<u64> at;
    for (int i = 0; i < count; i++) at.push_back((u64)i * stride * 128 + i % 4 * step);
    return at;
}

static std::vector<u64> anywhere(int count) {
    std::vector<u64> at;
    std::vector<bool> taken(1 << 18);
    while ((int)at.size() < count) {
        unsigned line = random_next() % (1 << 18);
        if (!taken[line]) at.push_back((u64)line * 128);
        taken[line] = true;
    }
    return at;
}

static bool drives_out(unsigned target, std::vector<unsigned> of) {
    int result[3];
    while (of.size() % 4) of.push_back(of.back());
    CHECK(cudaMemcpy(list, of.data(), of.size() * 4, cudaMemcpyHostToDevice));
    for (int i = 0; i < 3; i++) gone<<<1, 1, 64>>>(data, target, list, (int)of.size(), 0, hits + i);
    CHECK(cudaMemcpy(result, hits, sizeof result, cudaMemcpyDeviceToHost));
    return result[0] + result[1] + result[2] >= 2;
}

// The fewest lines of the list that still drive the target out: chunks that are not needed are taken away.
static std::vector<unsigned> fewest(unsigned target, std::vector<unsigned> all) {
    for (size_t chunk = all.size() / 2; chunk; chunk = chunk > 1 ? (chunk + 1) / 2 : 0)
        for (size_t at = 0; at < all.size();) {
            std::vector<unsigned> rest(all.begin(), all.begin() + at);
            rest.insert(rest.end(), all.begin() + std::min(at + chunk, all.size()), all.end());
            if (!rest.empty() && drives_out(target, rest))
                all = rest;
            else
                at += chunk;
        }
    return all;
}

static void same_set(unsigned target, unsigned lines) {
    std::vector<unsigned> all;
    for (unsigned i = 0; i < 6144; i++) {
        unsigned line = random_next() % lines;
        if (line != target && line && std::find(all.begin(), all.end(), line) == all.end()) all.push_back(line);
    }
    if (!drives_out(target, all))
        return (void)printf("l1/same_set/%u\t0\tlines\tnot driven out by %zu\n", target, all.size());
    std::vector<unsigned> few = fewest(target, all);
    printf("l1/same_set/%u\t%zu\tlines\t", target, few.size());
    for (size_t i = 0; i < few.size(); i++) printf(" %u", few[i]);
    printf("\n");
    if (few.size() > 600) return;
    int *results;
    CHECK(cudaMalloc(&results, lines * 4));
    std::vector<int> found(lines);
    while (few.size() % 4) few.push_back(few.back());
    CHECK(cudaMemcpy(list, few.data(), few.size() * 4, cudaMemcpyHostToDevice));
    for (unsigned x = 1; x < lines; x++) gone<<<1, 1, 64>>>(data, target, list, (int)few.size(), x, results + x);
    CHECK(cudaMemcpy(found.data(), results, lines * 4, cudaMemcpyDeviceToHost));
    printf("l1/set_of/%u\t%u\tlines tried\t", target, lines);
    for (unsigned x = 1; x < lines; x++)
        if (found[x] && x != target) printf(" %u", x);
    printf("\n");
    CHECK(cudaFree(results));
}

// One load, half of whose lanes ask for line 0 and half for another: Nsight Compute counts whether their tags are in
// one bank.
__global__ void two(const char *data, unsigned other, unsigned *sink) {
    unsigned v;
    asm volatile("ld.global.ca.u32 %0, [%1];"
                 : "=r"(v)
                 : "l"(data + (threadIdx.x < 16 ? 0 : other * (u64)128) + threadIdx.x * 4)
                 : "memory");
    if (v == 0x1234567) *sink = v;
}
// ... whose lanes ask for lines `stride` apart.
__global__ void many(const char *data, unsigned stride, unsigned *sink) {
    unsigned v;
    asm volatile("ld.global.ca.u32 %0, [%1];"
                 : "=r"(v)
                 : "l"(data + threadIdx.x * (u64)stride * 128 + threadIdx.x * 4)
                 : "memory");
    if (v == 0x1234567) *sink = v;
}

static void tags() {
    for (unsigned stride = 1; stride <= 64; stride++) {
        many<<<1, 32>>>(data, stride, (unsigned *)hits);
        printf("many\t%u\n", stride);
    }
    for (int i = 0; i < 16; i++)
        for (int k = i; k < 16; k++) {
            unsigned other = i == k ? 1u << i : 1u << i | 1u << k;
            two<<<1, 32>>>(data, other, (unsigned *)hits);
            printf("two\t%u\n", other);
        }
    CHECK(cudaDeviceSynchronize());
}

int main(int argc, char **) {
    CHECK(cudaMalloc(&data, 64 << 20));
    CHECK(cudaMemset(data, 0, 64 << 20));
    CHECK(cudaMalloc(&places, MOST * 8));
    CHECK(cudaMalloc(&list, MOST * 4));
    CHECK(cudaMalloc(&hits, 4096));
    if (argc > 1) return tags(), 0;
    CHECK(cudaFuncSetAttribute(gone, cudaFuncAttributePreferredSharedMemoryCarveout, 0));
    CHECK(cudaFuncSetAttribute(walk, cudaFuncAttributePreferredSharedMemoryCarveout, 0));
    char name[64];
    for (int stride : {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 256})
        for (int count :
             {16, 32, 64, 128, 192, 256, 320, 384, 448, 512, 640, 768, 896, 1024, 1280, 1536, 1792, 1920, 1984, 2048}) {
            if ((u64)stride * count * 128 > 64 << 20) continue;
            snprintf(name, sizeof name, "stride_%d", stride);
            walk_of(name, strided(count, stride, 0), 0, 0);
        }
    for (int count : {512, 1024, 1280, 1536, 1792, 1920, 1984, 2016, 2048, 2112}) {
        walk_of("sectors_in_turns", strided(count, 1, 32), 0, 0);
        walk_of("stride_12/sectors_in_turns", strided(count, 12, 32), 0, 0);
    }
    for (int count :
         {256, 512, 768, 1024, 1152, 1280, 1408, 1536, 1664, 1792, 1920, 1984, 2048, 2176, 2304, 2560, 3072})
        walk_of("anywhere", anywhere(count), 0, 0);
    for (int stored : {128, 256, 512, 768, 1024, 1536, 2048, 4096})
        for (int count : {256, 768, 1024, 1536}) {
            snprintf(name, sizeof name, "stored_%d/stride_1", stored);
            walk_of(name, strided(count, 1, 0), 0, stored);
        }
    for (int kept : {0, 8, 16, 32, 64, 100, 132, 164, 196, 227}) {
        if (kept) CHECK(cudaFuncSetAttribute(walk, cudaFuncAttributeMaxDynamicSharedMemorySize, kept << 10));
        for (int count :
             {192, 256, 384, 512, 640, 768, 896, 1024, 1280, 1408, 1536, 1664, 1792, 1856, 1920, 1984, 2048}) {
            snprintf(name, sizeof name, "shared_%d_KiB", kept);
            walk_of(name, strided(count, 1, 0), kept << 10, 0);
        }
    }
    CHECK(cudaFuncSetAttribute(walk, cudaFuncAttributeMaxDynamicSharedMemorySize, 1024));
    for (unsigned target : {5u, 1000u}) same_set(target, 1 << 14);
    return 0;
}
