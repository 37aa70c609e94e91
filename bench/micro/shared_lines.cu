// SPDX-License-Identifier: Apache-2.0
// Lines that several SMs want, from DRAM: how long the load of each SM takes when all ask at once (`at_once`), when one
// SM asks some cycles before another (`behind`), and when it has long been there (`after`: the second SM's first load, which
// may come from the other partition of the L2, and its next one; `sides`: for which lines it does). Then loops whose SMs share what they read, round by round
// (`rounds`): a naive and a tiled matrix product and rows, with the cycles from each round's begin to the next one's.
// Loads bypass the L1 (.cg) but in `rounds`.
#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "micro.h"

enum { SMS = 132, ROUNDS = 48 };

__device__ static inline unsigned sm_id() {
    unsigned id;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(id));
    return id;
}

__device__ static inline u64 global_ns() {
    u64 t;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t)::"memory");
    return t;
}

// All CTAs come together, then wait for the same time of the GPU's clock.
__device__ static u64 meet(unsigned *count, u64 *start) {
    atomicAdd(count, 1);
    if (blockIdx.x == 0) {
        while (atomicAdd(count, 0) < gridDim.x) {}
        *(volatile u64 *)start = global_ns() + 4000;
        __threadfence();
        atomicAdd(count, 1);
    }
    while (atomicAdd(count, 0) <= gridDim.x) {}
    return *(volatile u64 *)start;
}

// Round r: the first `sms` CTAs load `lines` lines, all the same ones, CTA c starting `apart` * c cycles after the first.
template <int LINES>
__global__ void at_once(const char *data, int sms, int apart, unsigned *count, u64 *start, unsigned *took) {
    u64 first = meet(count, start);
    if (blockIdx.x >= sms) return;
    for (int r = 0; r < ROUNDS; r++) {
        while (global_ns() < first + r * 6000ull) {}
        unsigned from = (unsigned)now();
        while ((unsigned)now() - from < apart * blockIdx.x) {}
        unsigned v[LINES], sum = 0;
        from = (unsigned)now();
        for (int i = 0; i < LINES; i++)
            asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(v[i]) : "l"(data + (r * LINES + i) * 8320ull + threadIdx.x * 4) : "memory");
        for (int i = 0; i < LINES; i++) sum += v[i];
        if (sum == 0x12345678) return;
        took[r * SMS + blockIdx.x] = (unsigned)now() - from;
    }
}

// SM `a` walks the lines; then SM `b` twice, one load after the other.
__global__ void after(const char *data, size_t step, unsigned a, unsigned b, int lines, volatile unsigned *flag, unsigned *took) {
    unsigned id = sm_id(), v = 0;
    if (id != a && id != b) return;
    if (id == b) while (!*flag) {}
    for (int turn = id == a ? 0 : 1; turn < (id == a ? 1 : 3); turn++)
        for (int i = 0; i < lines; i++) {
            unsigned from = (unsigned)now();
            asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(v) : "l"(data + i * step + v) : "memory");
            if (v == 0x12345678) return;
            took[turn * lines + i] = (unsigned)now() - from;
        }
    if (id == a) { __threadfence(); *flag = 1; }
}

__global__ void fill(const unsigned *data, size_t words, unsigned *sink) {
    unsigned sum = 0;
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < words; i += gridDim.x * (size_t)blockDim.x)
        sum += data[i];
    if (sum == 0x12345678) *sink = 1;
}

enum { MARKS = 80 };

__device__ static void mark(unsigned *marks, int round) {
    if (threadIdx.x == 0 && threadIdx.y == 0) marks[(blockIdx.y * gridDim.x + blockIdx.x) * MARKS + round] = (unsigned)now();
}

// Without `a` or `b` its matrix is read at the same places again and again.
__global__ void naive(const float *A, const float *B, float *C, int n, int a, int b, unsigned *marks) {
    int r = blockIdx.y * blockDim.y + threadIdx.y, c = blockIdx.x * blockDim.x + threadIdx.x;
    float s = 0;
    for (int k = 0; k < n; k += 4) {
        mark(marks, k / 4);
#pragma unroll
        for (int j = 0; j < 4; j++) s += A[r * n + k * a + j] * B[(k * b + j) * n + c];
    }
    mark(marks, n / 4);
    C[r * n + c] = s;
}

__global__ void tiled(const float *A, const float *B, float *C, int n, unsigned *marks) {
    __shared__ float sa[16][16], sb[16][16];
    int tx = threadIdx.x, ty = threadIdx.y, r = blockIdx.y * 16 + ty, c = blockIdx.x * 16 + tx;
    float s = 0;
    for (int m = 0; m < n / 16; m++) {
        mark(marks, m * 3);
        float a = A[r * n + m * 16 + tx], b = B[(m * 16 + ty) * n + c];
        sa[ty][tx] = a;
        sb[ty][tx] = b;
        __syncthreads();
        mark(marks, m * 3 + 1);
#pragma unroll
        for (int k = 0; k < 16; k++) s += sa[ty][k] * sb[k][tx];
        __syncthreads();
        mark(marks, m * 3 + 2);
    }
    mark(marks, n / 16 * 3);
    C[r * n + c] = s;
}

// A warp a row of 1,024 words (8 rows a CTA): its mean, then its variance, both by lanes 32 words apart.
__global__ void rows(const float *in, float *out, int n, unsigned *marks) {
    const float *x = in + (blockIdx.x * 8 + threadIdx.x / 32) * (size_t)n;
    float sum = 0, squares = 0;
    mark(marks, 0);
    for (int i = threadIdx.x % 32; i < n; i += 32) sum += x[i];
    for (int d = 16; d; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
    mark(marks, 1);
    for (int i = threadIdx.x % 32; i < n; i += 32) squares += (x[i] - sum) * (x[i] - sum);
    for (int d = 16; d; d /= 2) squares += __shfl_xor_sync(~0u, squares, d);
    mark(marks, 2);
    if (threadIdx.x % 32 == 0) out[blockIdx.x * 8 + threadIdx.x / 32] = squares;
    mark(marks, 3);
}

// Each warp loads 48 lines one after the other: the same ones as all others, or its own (`own` bytes further).
__global__ void walk(const char *data, size_t step, size_t own, unsigned *marks) {
    const char *at = data + blockIdx.x * own + threadIdx.x * 4;
    unsigned v = 0;
    for (int i = 0; i < 48; i++) {
        if (i % 4 == 0) mark(marks, i / 4);
        asm volatile("ld.global.u32 %0, [%1];" : "=r"(v) : "l"(at + v) : "memory");
        at += step;
    }
    mark(marks, 12);
    if (v) marks[0] = v;
}

static void *memory(size_t bytes) {
    void *at;
    CHECK(cudaMalloc(&at, bytes));
    CHECK(cudaMemset(at, 0, bytes));
    return at;
}

static size_t other_bytes = 512 << 20; // what empties the caches: none with a second argument 0 (where something else does)
static unsigned *other, *sink;

static void empty_caches() {
    if (other_bytes) fill<<<264, 512>>>(other, other_bytes / 4, sink);
}

static void quantiles(const char *name, std::vector<unsigned> v) {
    double sum = 0;
    std::sort(v.begin(), v.end());
    for (unsigned x : v) sum += x;
    printf("%s\t%.1f\tcycles\t", name, v.empty() ? 0.0 : sum / v.size());
    for (int q : {0, 5, 10, 25, 50, 75, 90, 95, 100}) printf(" %d: %u", q, v[std::min(v.size() - 1, q * v.size() / 100)]);
    printf("\n");
    fflush(stdout);
}

static char *data;
static unsigned *times;

template <int LINES> static void run_at_once(int sms, int apart) {
    struct { unsigned count; u64 start; } *meeting = (decltype(meeting))memory(16);
    std::vector<unsigned> at(ROUNDS * SMS), all, first, last;
    empty_caches();
    at_once<LINES><<<SMS, 32>>>(data, sms, apart, &meeting->count, &meeting->start, times);
    CHECK(cudaMemcpy(at.data(), times, at.size() * 4, cudaMemcpyDeviceToHost));
    for (int r = 2; r < ROUNDS; r++) {
        auto from = at.begin() + r * SMS;
        all.insert(all.end(), from, from + sms);
        first.push_back(*std::min_element(from, from + sms));
        last.push_back(*std::max_element(from, from + sms));
    }
    std::string name = (apart ? "behind/" : "at_once/") + std::to_string(sms) + "_sms/" + std::to_string(LINES) + "_lines";
    if (apart) {
        for (int c = 0; c < sms; c++) {
            std::vector<unsigned> of;
            for (int r = 2; r < ROUNDS; r++) of.push_back(at[r * SMS + c]);
            quantiles((name + "/" + std::to_string(apart) + "/cta_" + std::to_string(c)).c_str(), of);
        }
        return;
    }
    quantiles((name + "/all").c_str(), all);
    quantiles((name + "/first").c_str(), first);
    quantiles((name + "/last").c_str(), last);
    CHECK(cudaFree(meeting));
}

// `sides`: which lines come from the other partition, in hexadecimal digits, the first line in the highest bit.
static void run_sides(unsigned b, size_t step) {
    const int lines = 2048;
    unsigned *flag = (unsigned *)memory(4);
    std::vector<unsigned> at(3 * lines);
    char *from = (char *)memory(lines * step);
    empty_caches();
    after<<<SMS, 1>>>(from, step, 0, b, lines, flag, times);
    CHECK(cudaMemcpy(at.data(), times, at.size() * 4, cudaMemcpyDeviceToHost));
    printf("sides/%u/%zu_apart\t-\tlines\t", b, step);
    for (int i = 0; i < lines; i += 4) {
        int digit = 0;
        for (int k = 0; k < 4; k++) digit = digit * 2 + (at[lines + i + k] > at[2 * lines + i + k] + 90);
        printf("%x", digit);
    }
    printf("\n");
    CHECK(cudaFree(flag));
    CHECK(cudaFree(from));
}

static void run_after(unsigned a, unsigned b) {
    const int lines = 1024;
    unsigned *flag = (unsigned *)memory(4);
    std::vector<unsigned> at(3 * lines);
    empty_caches();
    after<<<SMS, 1>>>(data, 4224, a, b, lines, flag, times);
    CHECK(cudaMemcpy(at.data(), times, at.size() * 4, cudaMemcpyDeviceToHost));
    std::string name = "after/" + std::to_string(a) + "_" + std::to_string(b);
    const char *turns[3] = {"/cold", "/second_sm", "/again"};
    for (int t = 0; t < 3; t++) quantiles((name + turns[t]).c_str(), {at.begin() + t * lines, at.begin() + (t + 1) * lines});
    std::vector<unsigned> more;
    for (int i = 0; i < lines; i++) more.push_back(at[lines + i] + 1000 - at[2 * lines + i]);
    quantiles((name + "/1000_more").c_str(), more);
    CHECK(cudaFree(flag));
}

// Cycles of round i of all CTAs.
static void tell_rounds(const char *name, int ctas, int rounds, int parts) {
    std::vector<unsigned> at(ctas * MARKS), total;
    CHECK(cudaMemcpy(at.data(), times, at.size() * 4, cudaMemcpyDeviceToHost));
    for (int p = 0; p < parts; p++) {
        std::vector<unsigned> all;
        printf("%s/part_%d/medians\t-\tcycles\t", name, p);
        for (int i = p; i < rounds; i += parts) {
            std::vector<unsigned> v;
            for (int c = 0; c < ctas; c++) v.push_back(at[c * MARKS + i + 1] - at[c * MARKS + i]);
            all.insert(all.end(), v.begin(), v.end());
            std::sort(v.begin(), v.end());
            printf(" %u", v[v.size() / 2]);
        }
        printf("\n");
        quantiles((std::string(name) + "/part_" + std::to_string(p)).c_str(), all);
    }
    for (int c = 0; c < ctas; c++) total.push_back(at[c * MARKS + rounds] - at[c * MARKS]);
    quantiles((std::string(name) + "/all").c_str(), total);
}

static void run_rounds(bool cold) {
    const int n = 256, row = 1024, ctas = 256;
    float *a = (float *)memory(n * n * 4), *b = (float *)memory(n * n * 4), *c = (float *)memory(n * n * 4);
    float *in = (float *)memory(ctas * 8 * row * 4ull), *out = (float *)memory(ctas * 8 * 4);
    for (int turn = 0; turn < 2; turn++) {
        std::string heat = std::string("rounds/") + (cold ? "cold/" : "warm/");
        if (cold) empty_caches();
        for (int which = 1; which < 4; which++)
            for (int x : {1, 4, 8, 16})
                for (int y : {1, 4, 8, 16}) {
                    if (cold && (which < 3 || x != y)) continue;
                    if (cold) empty_caches();
                    naive<<<dim3(x, y), dim3(16, 16)>>>(a, b, c, n, which & 1, which >> 1, times);
                    CHECK(cudaDeviceSynchronize());
                    const char *names[] = {"", "a", "b", "ab"};
                    std::string name = heat + "naive_" + names[which] + "/" + std::to_string(x) + "x" + std::to_string(y);
                    if (turn) tell_rounds(name.c_str(), x * y, n / 4, 2);
                }
        if (cold) empty_caches();
        tiled<<<dim3(n / 16, n / 16), dim3(16, 16)>>>(a, b, c, n, times);
        CHECK(cudaDeviceSynchronize());
        if (turn) tell_rounds((heat + "tiled").c_str(), 256, n / 16 * 3, 3);
        for (int blocks : {64, 128, 256}) {
            if (cold) empty_caches();
            rows<<<blocks, 256>>>(in, out, row, times);
            CHECK(cudaDeviceSynchronize());
            if (turn) tell_rounds((heat + "rows_" + std::to_string(blocks)).c_str(), blocks, 3, 3);
        }
    }
}

static void run_walk(int ctas, size_t step, bool own) {
    const size_t apart = own ? step * 48 : 0;
    char *lines = (char *)memory(step * 48 * (own ? ctas : 1) + 128);
    for (int cold = 1; cold >= 0; cold--) {
        if (cold) empty_caches();
        walk<<<ctas, 32>>>(lines, step, apart, times);
        CHECK(cudaDeviceSynchronize());
        std::string name = std::string("walk/") + (cold ? "cold/" : "warm/") + (own ? "own/" : "shared/") +
                           std::to_string(ctas) + "_ctas/" + std::to_string(step) + "_apart";
        tell_rounds(name.c_str(), ctas, 12, 1);
    }
    CHECK(cudaFree(lines));
}

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "all";
    bool all = !strcmp(what, "all");
    if (argc > 2) other_bytes = (size_t)atoi(argv[2]) << 20;
    other = (unsigned *)memory(other_bytes + 4);
    sink = (unsigned *)memory(4);
    data = (char *)memory(ROUNDS * 16 * 8320ull + 4224ull * 1024);
    times = (unsigned *)memory(sizeof(unsigned) * std::max(ROUNDS * SMS, 1024 * MARKS));
    if (all || !strcmp(what, "at_once"))
        for (int sms : {1, 2, 4, 8, 16, 32, 64, 132}) run_at_once<1>(sms, 0), run_at_once<4>(sms, 0), run_at_once<16>(sms, 0);
    if (all || !strcmp(what, "behind"))
        for (int apart : {50, 100, 200, 300, 400, 600, 1000}) run_at_once<1>(4, apart);
    if (all || !strcmp(what, "after"))
        for (unsigned b : {1u, 2u, 3u, 37u, 60u, 90u, 131u}) run_after(0, b);
    if (all || !strcmp(what, "sides"))
        for (size_t step : {128, 512, 1024, 4096, 16384, 65536})
            for (unsigned b : {1u, 37u}) run_sides(b, step);
    if (all || !strcmp(what, "walk"))
        for (size_t step : {128, 4224})
            for (int ctas : {1, 33, 132, 528, 1024}) run_walk(ctas, step, false), run_walk(ctas, step, true);
    if (all || !strcmp(what, "rounds")) run_rounds(true), run_rounds(false);
    return 0;
}
