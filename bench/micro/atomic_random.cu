// SPDX-License-Identifier: Apache-2.0
// Atomics without results of all SMs on few words, each lane at one of its own choice: histograms of few classes in
// global memory. `atomic_random/WORDS/ARRAYS/LANES`: cycles of the GPU for an atomic of a warp. ARRAYS: two are added
// to in turns, 512 bytes apart; LANES: of 32, so many on average take part. `alike`: the lanes of a warp choose `n`
// words at most.
#include "micro.h"

enum { TURNS = 64, THREADS = 256, CTAS_OF_SM = 4 };

__device__ static inline unsigned mixed(unsigned x) {
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    return x ^ x >> 16;
}

template <typename T> __global__ void adds(T *data, unsigned words, int arrays, unsigned lanes, unsigned alike) {
    unsigned thread = blockIdx.x * THREADS + threadIdx.x, lane = threadIdx.x % 32;
    for (int i = 0; i < TURNS; i++) {
        unsigned warp = mixed(thread / 32 * TURNS + i), own = mixed(thread * TURNS + i);
        unsigned word = alike ? mixed(warp + own % alike) % words : own % words;
        if (mixed(own + lane) % 32 >= lanes) continue;
        atomicAdd(data + word, (T)1);
        if (arrays > 1) atomicAdd(data + 512 / sizeof(T) + word, (T)3);
    }
}

template <typename T> static void measure(const char *type, T *data, int sms, int clock_khz) {
    char text[96];
    auto one = [&](unsigned words, int arrays, unsigned lanes, unsigned alike) {
        int ctas = sms * CTAS_OF_SM;
        double ns = ns_of([&] { adds<T><<<ctas, THREADS>>>(data, words, arrays, lanes, alike); }, 5);
        double warps = (double)ctas * (THREADS / 32) * TURNS * arrays;
        snprintf(text, sizeof text, "atomic_random/%s/%u/%d/%u%s%u", type, words, arrays, lanes,
                 alike ? "/alike/" : "/", alike);
        report(text, ns * clock_khz * 1e-6 / warps, "cycles/warp", "");
    };
    for (unsigned words : {1u, 2u, 4u, 8u, 16u, 20u, 24u, 32u, 48u, 64u, 96u, 128u, 256u, 1024u, 16384u})
        one(words, 1, 32, 0);
    for (unsigned words : {8u, 20u, 32u, 64u, 256u}) one(words, 2, 32, 0);
    for (unsigned words : {8u, 20u, 32u, 64u, 256u})
        for (unsigned lanes : {2u, 8u, 16u, 24u}) one(words, 1, lanes, 0);
    for (unsigned words : {32u, 256u, 1024u})
        for (unsigned alike : {1u, 2u, 4u, 8u}) one(words, 1, 32, alike);
}

int main() {
    cudaDeviceProp properties;
    int clock_khz;
    unsigned *data;
    CHECK(cudaGetDeviceProperties(&properties, 0));
    CHECK(cudaDeviceGetAttribute(&clock_khz, cudaDevAttrClockRate, 0));
    CHECK(cudaMalloc(&data, 1 << 20));
    CHECK(cudaMemset(data, 0, 1 << 20));
    measure<unsigned>("u32", data, properties.multiProcessorCount, clock_khz);
    measure<float>("f32", (float *)data, properties.multiProcessorCount, clock_khz);
    measure<unsigned long long>("u64", (unsigned long long *)data, properties.multiProcessorCount, clock_khz);
    measure<double>("f64", (double *)data, properties.multiProcessorCount, clock_khz);
    return 0;
}
