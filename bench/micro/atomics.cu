// SPDX-License-Identifier: Apache-2.0
// Atomics of every type and operation on global memory: how many a second on one word, on a line, and the latency of one.
#include "micro.h"

template <typename T>
struct Add {
    static __device__ T with(T *p, T v) { return atomicAdd(p, v); }
};
template <typename T>
struct Max {
    static __device__ T with(T *p, T v) { return atomicMax(p, v); }
};
template <typename T>
struct Or {
    static __device__ T with(T *p, T v) { return atomicOr(p, v); }
};
template <typename T>
struct Exchange {
    static __device__ T with(T *p, T v) { return atomicExch(p, v); }
};
template <typename T>
struct Swap {
    static __device__ T with(T *p, T v) { return atomicCAS(p, v, v + 1); }
};
template <typename T>
struct Increment {
    static __device__ T with(T *p, T v) { return atomicInc(p, v + 17); }
};

enum { ROUNDS = 32 };

// Lane l of every warp works on word l / degree of a line of its own block's, which `apart` bytes lie between.
template <typename T, template <typename> class Op, bool RESULT>
__global__ void work(char *data, int degree, i64 apart, i64 *cycles, int *sink) {
    T *word = (T *)(data + blockIdx.x * apart) + threadIdx.x % 32 / degree;
    T value = (T)(1 + threadIdx.x % 2);
    __syncthreads();
    i64 begin = now();
    for (int i = 0; i < ROUNDS; i++) {
        T old = Op<T>::with(word, value);
        if (RESULT && old == (T)77777) value = (T)2;  // the next one waits for it
    }
    if (!RESULT) __threadfence();
    __syncthreads();
    i64 end = now();
    if (value == (T)77) *sink = 1;
    if (threadIdx.x == 0) cycles[blockIdx.x] = end - begin;
}

static char *data;
static int *sink, sms;

template <typename T, template <typename> class Op>
static void measure(const char *name) {
    static const struct {
        const char *name;
        int degree;
        i64 apart;
    } shapes[] = {{"one_word", 32, 0}, {"four_words", 8, 0}, {"own_words", 1, 0}, {"line_per_sm", 1, 4096}, {"word_per_sm", 32, 4096}};
    i64 *cycles = cycles_buffer(), low, high;
    char text[128];
    CHECK(cudaMemset(data, 0, 1 << 20));
    work<T, Op, true><<<1, 32>>>(data, 32, 0, cycles, sink);
    snprintf(text, sizeof text, "atomic/%s/latency/one_word", name);
    report(text, cycles_read(cycles, 0) / (double)ROUNDS, "cycles", "one warp, with result");
    work<T, Op, true><<<1, 32>>>(data, 1, 0, cycles, sink);
    snprintf(text, sizeof text, "atomic/%s/latency/own_words", name);
    report(text, cycles_read(cycles, 0) / (double)ROUNDS, "cycles", "one warp, with result");
    for (auto &s : shapes)
        for (int result = 0; result < 2; result++) {
            if (result)
                work<T, Op, true><<<sms, 512>>>(data, s.degree, s.apart, cycles, sink);
            else
                work<T, Op, false><<<sms, 512>>>(data, s.degree, s.apart, cycles, sink);
            cycles_range(cycles, sms, &low, &high);
            snprintf(text, sizeof text, "atomic/%s/%s/%s", name, result ? "atom" : "red", s.name);
            report(text, high / (ROUNDS * 16.0 * sms), "cycles/warp", "all SMs, 16 warps each");
        }
}

int main() {
    cudaDeviceProp properties;
    CHECK(cudaGetDeviceProperties(&properties, 0));
    sms = properties.multiProcessorCount;
    CHECK(cudaMalloc(&data, 1 << 20));
    CHECK(cudaMalloc(&sink, 4));
    measure<unsigned, Add>("add_u32");
    measure<unsigned long long, Add>("add_u64");
    measure<float, Add>("add_f32");
    measure<double, Add>("add_f64");
    measure<int, Max>("max_s32");
    measure<unsigned long long, Max>("max_u64");
    measure<unsigned, Or>("or_b32");
    measure<unsigned, Increment>("inc_u32");
    measure<unsigned, Exchange>("exch_b32");
    measure<unsigned long long, Exchange>("exch_b64");
    measure<unsigned, Swap>("cas_b32");
    measure<unsigned long long, Swap>("cas_b64");
    return 0;
}
