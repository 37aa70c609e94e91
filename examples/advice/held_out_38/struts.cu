// SPDX-License-Identifier: Apache-2.0
//
// Rule: occupancy-up
// Change: the counts that every thread keeps in shared memory are 16 bits wide; a record has a few hundred samples.
// Why: with 36 KiB of counts only six CTAs of two warps are resident on an SM, too few to hide the latency of the
// samples, which each thread wants one after the other; with 18 KiB it is twice as many.
#include "../common.h"

// Fatigue of the struts of a wing: counts in the record of a strain gauge the swings from one turning point to the
// next (the Markov matrix of classes of strain), and weighs them with the material's Woehler curve.
constexpr int THREADS = 64;
constexpr int CLASSES = 12;
constexpr int DRIFT = 6;  // the zero point follows the samples with 1 / 2^DRIFT

#ifdef AFTER
typedef unsigned short Count;
#else
typedef int Count;
#endif

struct Fatigue {
    float damage;
    int swings;
    int widest;  // classes
};

struct Turning {
    int from, extreme, direction;
    int zero;  // 1 / 2^DRIFT of a digit
};

// Takes the drift of the gauge off and sorts the strain into classes.
__host__ __device__ inline int class_of(Turning *t, int sample) {
    int strain = sample - (t->zero >> DRIFT);
    t->zero += strain;
    int c = (strain * CLASSES + 32768 * CLASSES) >> 16;
    return c < 0 ? 0 : c >= CLASSES ? CLASSES - 1 : c;
}

// Returns where to count a swing, or -1 if the strain goes on in the same direction.
__host__ __device__ inline int follow(Turning *t, int now) {
    int ahead = (now - t->extreme) * t->direction;
    if (ahead >= 0) {
        t->extreme = now;
        return -1;
    }
    int swing = t->from * CLASSES + t->extreme;
    t->from = t->extreme;
    t->extreme = now;
    t->direction = -t->direction;
    return swing;
}

template <typename C> __host__ __device__ inline Fatigue assess(const C *counts, int stride, const float *woehler) {
    Fatigue f = {0.0f, 0, 0};
    for (int from = 0; from < CLASSES; from++)
        for (int to = 0; to < CLASSES; to++) {
            int count = counts[(from * CLASSES + to) * stride], range = from < to ? to - from : from - to;
            f.damage += count * woehler[range];
            f.swings += count;
            if (count && range > f.widest)
                f.widest = range;
        }
    return f;
}

// samples: [time][record].
__global__ void __launch_bounds__(THREADS)
    count_swings(Fatigue *__restrict__ results, const short *__restrict__ samples, const short *__restrict__ zeros,
                 const float *__restrict__ woehler, int records, int length) {
    __shared__ Count counts[CLASSES * CLASSES][THREADS];
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= records)
        return;
    Count *mine = &counts[0][threadIdx.x];
    for (int k = 0; k < CLASSES * CLASSES; k++)
        mine[k * THREADS] = 0;
    Turning turning = {CLASSES / 2, CLASSES / 2, 1, zeros[i] * (1 << DRIFT)};
    for (int n = 0; n < length; n++) {
        int now = class_of(&turning, samples[(size_t)n * records + i]);
        int swing = follow(&turning, now);
        if (swing >= 0)
            mine[swing * THREADS]++;
    }
    results[i] = assess(mine, THREADS, woehler);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "struts");
    int records = p.small ? 400 : 132 * 24 * THREADS, length = p.small ? 60 : 400;
    std::vector<float> woehler(CLASSES);
    for (int range = 0; range < CLASSES; range++)
        woehler[range] = powf(range / (float)CLASSES, 5.0f);
    unsigned seed = 44;
    std::vector<short> samples((size_t)records * length), zeros(records);
    std::vector<int> phase(records), speed(records);
    for (int i = 0; i < records; i++) {
        zeros[i] = (short)lcg_next(&seed, 2000) - 1000;
        phase[i] = lcg_next(&seed, 65536);
        speed[i] = 3000 + lcg_next(&seed, 12000);
    }
    for (int n = 0; n < length; n++)
        for (int i = 0; i < records; i++) {
            int wave = (phase[i] + n * speed[i]) & 0xffff, gust = lcg_next(&seed, 16000);
            wave = wave < 32768 ? wave : 65535 - wave;
            samples[(size_t)n * records + i] = zeros[i] + (wave - 16384) / 2 + gust - 8000;
        }

    short *d_samples = device_copy_of(samples.data(), samples.size());
    short *d_zeros = device_copy_of(zeros.data(), records);
    float *d_woehler = device_copy_of(woehler.data(), CLASSES);
    Fatigue *d_results = device_array<Fatigue>(records);
    int blocks = (records + THREADS - 1) / THREADS;
    pair_time(&p,
              [&] { count_swings<<<blocks, THREADS>>>(d_results, d_samples, d_zeros, d_woehler, records, length); });

    std::vector<Fatigue> results = host_copy_of(d_results, records);
    for (int i = 0; i < records; i += p.small ? 1 : 103) {
        int counts[CLASSES * CLASSES] = {0};
        Turning turning = {CLASSES / 2, CLASSES / 2, 1, zeros[i] * (1 << DRIFT)};
        for (int n = 0; n < length; n++) {
            int now = class_of(&turning, samples[(size_t)n * records + i]);
            int swing = follow(&turning, now);
            if (swing >= 0)
                counts[swing]++;
        }
        Fatigue expected = assess(counts, 1, woehler.data());
        pair_near(&p, "damage", i, expected.damage, results[i].damage, 1e-4);
        pair_near(&p, "swings", i, expected.swings, results[i].swings, 0);
        pair_near(&p, "widest", i, expected.widest, results[i].widest, 0);
    }
    CUDA_CHECK(cudaFree(d_samples));
    CUDA_CHECK(cudaFree(d_zeros));
    CUDA_CHECK(cudaFree(d_woehler));
    CUDA_CHECK(cudaFree(d_results));
    return pair_end(&p);
}
