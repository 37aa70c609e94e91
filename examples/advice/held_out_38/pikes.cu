// SPDX-License-Identifier: Apache-2.0
//
// Rule: function-inlining
// Change: product, quotient and feeding response of the dual numbers are inlined instead of being called.
// Why: they are a handful of multiply-adds, but a call moves six or more registers into place and back, jumps twice and
// keeps the compiler from scheduling one operation's arithmetic under another's latency.
#include "../common.h"

// Calibrates a lake model for fishery boards: algae, roach that eat them, pike that eat roach. Every thread simulates
// one lake with its own parameters and returns the misfit to the yearly counts of pike with its derivatives by two of
// the parameters, by forward differentiation with dual numbers.
constexpr int THREADS = 128;
constexpr int COUNT_EVERY = 10;  // steps
constexpr float STEP = 0.04f;

// Written out of line once, to keep the build short and the debugger's steps readable.
#ifdef AFTER
#define DUAL_CALL __host__ __device__ __forceinline__
#else
#define DUAL_CALL __host__ __device__ __noinline__
#endif

template <typename T> struct Dual {
    T value;
    T by_hunt;  // derivatives by the two parameters that are fitted
    T by_loss;
};

template <typename T> __host__ __device__ inline Dual<T> operator+(Dual<T> a, Dual<T> b) {
    return {a.value + b.value, a.by_hunt + b.by_hunt, a.by_loss + b.by_loss};
}

template <typename T> __host__ __device__ inline Dual<T> operator-(Dual<T> a, Dual<T> b) {
    return {a.value - b.value, a.by_hunt - b.by_hunt, a.by_loss - b.by_loss};
}

template <typename T> __host__ __device__ inline Dual<T> scaled(T s, Dual<T> a) {
    return {s * a.value, s * a.by_hunt, s * a.by_loss};
}

template <typename T> DUAL_CALL Dual<T> operator*(Dual<T> a, Dual<T> b) {
    return {a.value * b.value, a.value * b.by_hunt + a.by_hunt * b.value, a.value * b.by_loss + a.by_loss * b.value};
}

template <typename T> DUAL_CALL Dual<T> over_one_plus(Dual<T> a, Dual<T> b) {  // a / (1 + b)
    T inverse = (T)1 / ((T)1 + b.value), quotient = a.value * inverse;
    return {quotient, (a.by_hunt - quotient * b.by_hunt) * inverse, (a.by_loss - quotient * b.by_loss) * inverse};
}

// Prey eaten by a predator when there is so much of it: saturates as handling takes its time.
template <typename T> DUAL_CALL Dual<T> eaten(Dual<T> prey, Dual<T> attack, T handling) {
    Dual<T> met = attack * prey;
    return over_one_plus(met, scaled(handling, met));
}

template <typename T> struct Lake {
    T graze, graze_handling, roach_loss, roach_gain;
    T hunt, hunt_handling, pike_loss, pike_gain;
};

template <typename T> struct Water { Dual<T> algae, roach, pike; };

template <typename T> __host__ __device__ inline Water<T> change(const Water<T> &w, const Lake<T> &lake) {
    Dual<T> one = {(T)1, (T)0, (T)0};
    Dual<T> grazed = eaten(w.algae, {lake.graze, (T)0, (T)0}, lake.graze_handling) * w.roach;
    Dual<T> hunted = eaten(w.roach, {lake.hunt, (T)1, (T)0}, lake.hunt_handling) * w.pike;
    return {w.algae * (one - w.algae) - grazed,
            scaled(lake.roach_gain, grazed) - hunted - scaled(lake.roach_loss, w.roach),
            scaled(lake.pike_gain, hunted) - Dual<T>{lake.pike_loss, (T)0, (T)1} * w.pike};
}

template <typename T> __host__ __device__ inline Water<T> moved(const Water<T> &w, T by, const Water<T> &d) {
    return {w.algae + scaled(by, d.algae), w.roach + scaled(by, d.roach), w.pike + scaled(by, d.pike)};
}

// counts: `stride` apart; returns the sum of squares of what the model is off.
template <typename T>
__host__ __device__ inline Dual<T> misfit(const Lake<T> &lake, const float *counts, size_t stride, int years) {
    Water<T> water = {{(T)0.7, (T)0, (T)0}, {(T)0.3, (T)0, (T)0}, {(T)0.4, (T)0, (T)0}};
    Dual<T> sum = {(T)0, (T)0, (T)0};
    for (int year = 0; year < years; year++) {
        for (int step = 0; step < COUNT_EVERY; step++) {  // Heun's method
            Water<T> first = change(water, lake);
            Water<T> second = change(moved(water, (T)STEP, first), lake);
            water = moved(moved(water, (T)STEP / 2, first), (T)STEP / 2, second);
        }
        Dual<T> off = water.pike - Dual<T>{(T)counts[year * stride], (T)0, (T)0};
        sum = sum + off * off;
    }
    return sum;
}

// counts: [year][lake]
__global__ void __launch_bounds__(THREADS)
    fit_lakes(Dual<float> *__restrict__ misfits, const Lake<float> *__restrict__ lakes,
              const float *__restrict__ counts, int lake_count, int years) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < lake_count)
        misfits[i] = misfit(lakes[i], counts + i, lake_count, years);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "pikes");
    const int lake_count = p.small ? 300 : 270000, years = p.small ? 2 : 20;

    unsigned seed = 388;
    std::vector<Lake<float>> lakes(lake_count);
    for (Lake<float> &lake : lakes) {
        float u = 0.001f * lcg_next(&seed, 1000), v = 0.001f * lcg_next(&seed, 1000);
        lake = {2.0f + u, 0.8f, 0.20f, 0.6f, 1.2f + 0.5f * v, 0.9f, 0.15f + 0.1f * u * v, 0.5f};
    }
    std::vector<float> counts = random_floats((size_t)years * lake_count, 0.2f, 0.6f, 389);

    Lake<float> *d_lakes = device_copy_of(lakes.data(), lakes.size());
    float *d_counts = device_copy_of(counts.data(), counts.size());
    Dual<float> *d_misfits = device_array<Dual<float>>(lake_count);
    int blocks = (lake_count + THREADS - 1) / THREADS;
    pair_time(&p, [&] { fit_lakes<<<blocks, THREADS>>>(d_misfits, d_lakes, d_counts, lake_count, years); });

    std::vector<Dual<float>> misfits = host_copy_of(d_misfits, lake_count);
    for (int i = 0; i < lake_count; i += p.small ? 1 : 53) {
        const Lake<float> &l = lakes[i];
        Lake<double> lake = {l.graze, l.graze_handling, l.roach_loss, l.roach_gain,
                             l.hunt,  l.hunt_handling,  l.pike_loss,  l.pike_gain};
        Dual<double> expected = misfit(lake, &counts[i], lake_count, years);
        pair_near(&p, "misfit", i, expected.value, misfits[i].value, 1e-3);
        pair_near(&p, "by_hunt", i, expected.by_hunt, misfits[i].by_hunt, 1e-3);
        pair_near(&p, "by_loss", i, expected.by_loss, misfits[i].by_loss, 1e-3);
    }
    CUDA_CHECK(cudaFree(d_lakes));
    CUDA_CHECK(cudaFree(d_counts));
    CUDA_CHECK(cudaFree(d_misfits));
    return pair_end(&p);
}
