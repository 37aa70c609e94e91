// SPDX-License-Identifier: Apache-2.0
//
// What the optimisation pairs share: arguments, timing, checking, the last line. A pair is one source file; compiled
// with -DAFTER it has exactly one thing changed. Its main() calls pair_begin(), pair_time() once, pair_near() for what
// it checks, and returns pair_end(). Exit codes: 0 pass, 1 wrong result or CUDA error, 2 usage error.
#ifndef EXAMPLES_ADVICE_COMMON_H
#define EXAMPLES_ADVICE_COMMON_H

#include "../common/check.h"

#include <algorithm>
#include <vector>

#ifdef AFTER
#define PAIR_VERSION "after"
#else
#define PAIR_VERSION "before"
#endif

struct Pair {
    const char *name;
    bool small;           // sizes for the simulator
    double milliseconds;  // wanted kernel time in all; 0: one launch after the first
    double median_us;     // of one launch (of all kernels that launch() starts)
    int launches;
    Failure failure;
};

// usage: NAME [gpu|small] [MILLISECONDS]
static inline Pair pair_begin(int argc, char **argv, const char *name) {
    Pair p = {name, false, 0, 0, 0, {""}};
    p.small = argc > 1 && !strcmp(argv[1], "small");
    p.milliseconds = p.small ? 0 : 1000;
    char *end = NULL;
    if (argc > 2)
        p.milliseconds = strtod(argv[2], &end);
    if (argc > 3 || (argc > 1 && !p.small && strcmp(argv[1], "gpu")) || (end && *end) || !(p.milliseconds >= 0)) {
        fprintf(stderr, "usage: %s [gpu|small] [MILLISECONDS of kernel time]\n", name);
        exit(2);
    }
    return p;
}

// Mean time in microseconds of one of `count` launches in a row.
template <typename Launch> static inline double pair_batch(const Launch &launch, int count) {
    cudaEvent_t start, stop;
    CUDA_CHECK(cudaEventCreate(&start));
    CUDA_CHECK(cudaEventCreate(&stop));
    CUDA_CHECK(cudaEventRecord(start));
    for (int i = 0; i < count; i++)
        launch();
    CUDA_CHECK(cudaEventRecord(stop));
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaEventSynchronize(stop));
    float ms = 0;
    CUDA_CHECK(cudaEventElapsedTime(&ms, start, stop));
    CUDA_CHECK(cudaEventDestroy(start));
    CUDA_CHECK(cudaEventDestroy(stop));
    return 1000.0 * ms / count;
}

// launch() starts the pair's kernels once; it must give the same result however often it is called. One launch warms
// up; batches of at least 1 ms follow, so that what is between two launches does not count, and their median is kept.
template <typename Launch> static inline void pair_time(Pair *p, const Launch &launch) {
    double first = pair_batch(launch, 1);
    p->launches = 1;
    if (p->milliseconds == 0) {
        p->median_us = pair_batch(launch, 1);
        p->launches++;
        return;
    }
    double guess = std::min(first, pair_batch(launch, 3)) + 0.1;
    int per_batch = 1 + (int)(1000.0 / guess);
    int batches = (int)std::min(1000.0, std::max(5.0, 1000.0 * p->milliseconds / (guess * per_batch)));
    std::vector<double> times;
    for (int i = 0; i < batches; i++)
        times.push_back(pair_batch(launch, per_batch));
    std::sort(times.begin(), times.end());
    p->median_us = times[times.size() / 2];
    p->launches = 4 + batches * per_batch;
}

// Compares one value; the first one that differs is what pair_end() tells.
static inline void pair_near(Pair *p, const char *what, size_t where, double expected, double got, double tolerance) {
    if (!(fabs(expected - got) <= tolerance * (1 + fabs(expected))) && !p->failure.text[0])
        snprintf(p->failure.text, sizeof p->failure.text, "%s[%zu] expected %.9g got %.9g", what, where, expected, got);
}

template <typename T> static inline std::vector<T> host_copy_of(const T *device, size_t count) {
    std::vector<T> host(count);
    CUDA_CHECK(cudaMemcpy(host.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost));
    return host;
}

// Floats in [low, high), always the same ones.
static inline std::vector<float> random_floats(size_t count, float low, float high, unsigned seed) {
    std::vector<float> out(count);
    for (float &f : out)
        f = low + (high - low) * lcg_next(&seed, 1 << 20) / (float)(1 << 20);
    return out;
}

static inline int pair_end(const Pair *p) {
    printf("%s %s median_us=%.3f launches=%d\n", p->name, PAIR_VERSION, p->median_us, p->launches);
    if (p->failure.text[0])
        fail_now("%s", p->failure.text);
    printf("RESULT PASS\n");
    return 0;
}

#endif
