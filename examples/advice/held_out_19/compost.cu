// SPDX-License-Identifier: Apache-2.0
//
// Rule: spills
// Change: the compiler may use 80 registers of a thread, not just 32.
// Why: the launch bounds ask for sixteen blocks on a multiprocessor; the state of a heap and what the Runge-Kutta steps
// need besides do not fit then, and go to local memory and back in every step.
#include "../common.h"

enum { STATES = 14, BLOCK = 128 };
#ifdef AFTER
enum { BLOCKS_AT_ONCE = 6 };
#else
enum { BLOCKS_AT_ONCE = 16 };
#endif

struct Heap {
    float airing, bulk, rain, weather;
};

__host__ __device__ inline double quotient(double a, double b) {
    return a / b;
}
__host__ __device__ inline double bell(double x) {
    return exp(-8 * x * x);
}
__device__ inline float quotient(float a, float b) {
    return __fdividef(a, b);
}
__device__ inline float bell(float x) {
    return __expf(-8.0f * x * x);
}

// What happens in a compost heap. The states are sugar, starch, cellulose, lignin, common bacteria, bacteria that like
// heat, fungi, heat, water, oxygen, nitrogen, ammonia, acid and worms.
#pragma nv_exec_check_disable
template <typename T> __host__ __device__ inline void change(const T *x, const Heap &heap, T *d) {
    T mild = bell(x[7] - T(0.6)), hot = bell(x[7] - T(1.1));
    T breath = x[8] * quotient(x[9] * x[10], T(0.1) + x[9]), food = x[0] + T(0.5) * x[1];
    T common = T(0.30) * x[4] * mild * breath * quotient(x[0], T(0.2) + x[0] + T(0.3) * x[12]);
    T uptake = T(0.40) * x[5] * hot * quotient(breath, T(0.3) + food), heated = uptake * food;
    T fungal = T(0.12) * x[6] * mild * breath * quotient(x[2], T(0.4) + x[2]);
    T from_starch = T(0.06) * x[1] * (x[4] + x[5]), from_cellulose = T(0.03) * x[2] * (x[6] + T(0.2) * x[5]),
      from_lignin = T(0.008) * x[3] * x[6], work = common + heated + fungal;
    T eaten = T(0.05) * x[13] * mild * x[8], dead = T(0.02) * (x[4] * x[4] + x[5] * x[5] + x[6] * x[6]);
    d[0] = from_starch + from_cellulose - T(1.8) * common - T(1.2) * uptake * x[0];
    d[1] = -from_starch - T(0.4) * uptake * x[1];
    d[2] = from_lignin - from_cellulose - T(1.6) * fungal - eaten * x[2];
    d[3] = dead - from_lignin;
    d[4] = common - T(0.03) * x[4] * (T(1) + x[4]) - eaten * x[4];
    d[5] = heated - T(0.04) * x[5] * (T(1) + x[5]) + T(0.001) * hot;
    d[6] = fungal - T(0.02) * x[6] * (T(1) + x[6]) - eaten * x[6];
    d[7] = T(0.9) * work - T(0.05) * (x[7] - heap.weather) * (T(1) + heap.airing) * heap.bulk;
    d[8] = T(0.1) * work + heap.rain - T(0.04) * x[8] * x[7] * (T(0.5) + heap.airing);
    d[9] = heap.airing * (T(1) - x[9]) - T(1.1) * work;
    d[10] = dead + T(0.05) * x[11] * (T(1) - x[12]) - T(0.2) * work * x[10];
    d[11] = T(0.1) * work * x[10] - x[11] * (T(0.05) + T(0.02) * heap.airing * x[7]);
    d[12] = T(0.15) * common * (T(1) - x[9]) - T(0.04) * x[12] * (x[6] + x[11]);
    d[13] = eaten * (x[2] + x[4] + x[6]) - T(0.03) * x[13] * (T(1) + x[11] + hot);
}

#pragma nv_exec_check_disable
template <typename T> __host__ __device__ inline void advance(T *x, const Heap &heap, T step) {
    T slope[STATES], at[STATES], sum[STATES];
    change(x, heap, sum);
    for (int i = 0; i < STATES; i++)
        at[i] = x[i] + T(0.5) * step * sum[i];
    change(at, heap, slope);
    for (int i = 0; i < STATES; i++) {
        sum[i] += T(2) * slope[i];
        at[i] = x[i] + T(0.5) * step * slope[i];
    }
    change(at, heap, slope);
    for (int i = 0; i < STATES; i++) {
        sum[i] += T(2) * slope[i];
        at[i] = x[i] + step * slope[i];
    }
    change(at, heap, slope);
    for (int i = 0; i < STATES; i++)
        x[i] += step / T(6) * (sum[i] + slope[i]);
}

__global__ void __launch_bounds__(BLOCK, BLOCKS_AT_ONCE)
    rot(const Heap *heaps, const float *fresh, float *rotten, int count, int steps) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= count)
        return;
    Heap heap = heaps[i];
    float x[STATES];
#pragma unroll
    for (int s = 0; s < STATES; s++)
        x[s] = fresh[s * count + i];
    for (int t = 0; t < steps; t++)
        advance(x, heap, 0.1f);
#pragma unroll
    for (int s = 0; s < STATES; s++)
        rotten[s * count + i] = x[s];
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "compost");
    int n = p.small ? 128 : 132 * 1024, steps = p.small ? 2 : 60;
    std::vector<float> airing = random_floats(n, 0.1f, 0.6f, 1), bulk = random_floats(n, 0.5f, 2, 2),
                       rain = random_floats(n, 0, 0.02f, 3), weather = random_floats(n, 0.1f, 0.5f, 4),
                       fresh = random_floats((size_t)STATES * n, 0.3f, 0.9f, 5);
    std::vector<Heap> heaps(n);
    for (int i = 0; i < n; i++)
        heaps[i] = {airing[i], bulk[i], rain[i], weather[i]};
    Heap *d_heaps = device_copy_of(heaps.data(), n);
    float *d_fresh = device_copy_of(fresh.data(), fresh.size()), *d_rotten = device_array<float>((size_t)STATES * n);
    pair_time(&p, [&] { rot<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(d_heaps, d_fresh, d_rotten, n, steps); });
    std::vector<float> rotten = host_copy_of(d_rotten, (size_t)STATES * n);
    for (int i = 0; i < n; i += p.small ? 3 : 127) {
        double x[STATES];
        for (int s = 0; s < STATES; s++)
            x[s] = fresh[(size_t)s * n + i];
        for (int t = 0; t < steps; t++)
            advance(x, heaps[i], 0.1);
        for (int s = 0; s < STATES; s++)
            pair_near(&p, "rotten", (size_t)s * n + i, x[s], rotten[(size_t)s * n + i], 5e-4);
    }
    return pair_end(&p);
}
