// SPDX-License-Identifier: Apache-2.0
//
// Rule: kernel-merge
// Change: what was four kernels, one per stage of the sorting, is one kernel.
// Why: a drawer of coins is little work: the starts of the kernels take longer, and each stage only goes on with the
// last.
#include "../common.h"

enum { BLOCK = 128, SENSORS = 4, KINDS = 8 };
__constant__ float models[KINDS][SENSORS];

static __device__ void corrected(float *v, const float *raw, float drift, int i, int n) {
    for (int s = 0; s < SENSORS; s++)
        v[s] = raw[s * n + i] * (1.0f + drift * (s + 1));
}

static __device__ void normalised(float *v, float reference) {
    float inverse = 1.0f / reference;
    for (int s = 0; s < SENSORS; s++)
        v[s] *= inverse;
}

static __device__ float2 best_match(const float *v) {
    float least = 1e30f;
    int best = 0;
    for (int k = 0; k < KINDS; k++) {
        float off = 0;
        for (int s = 0; s < SENSORS; s++)
            off += (v[s] - models[k][s]) * (v[s] - models[k][s]);
        if (off < least) {
            least = off;
            best = k;
        }
    }
    return make_float2(best, least);
}

static __device__ int gate(float2 match, float limit) { return match.y < limit ? (int)match.x : KINDS; }

#ifdef AFTER
// From the signals of a drawer of coins to the gate for each.
__global__ void sort_coins(const float *raw, const float *drifts, const float *references, float limit, int *gates,
                           int n) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= n)
        return;
    float v[SENSORS];
    corrected(v, raw, drifts[i], i, n);
    normalised(v, references[i]);
    gates[i] = gate(best_match(v), limit);
}
#else
static __device__ void get(float *v, const float *from, int i, int n) {
    for (int s = 0; s < SENSORS; s++)
        v[s] = from[s * n + i];
}

static __device__ void put(float *to, const float *v, int i, int n) {
    for (int s = 0; s < SENSORS; s++)
        to[s * n + i] = v[s];
}

__global__ void correct(const float *raw, const float *drifts, float *signals, int n) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= n)
        return;
    float v[SENSORS];
    corrected(v, raw, drifts[i], i, n);
    put(signals, v, i, n);
}

__global__ void normalise(float *signals, const float *references, int n) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= n)
        return;
    float v[SENSORS];
    get(v, signals, i, n);
    normalised(v, references[i]);
    put(signals, v, i, n);
}

__global__ void match(const float *signals, float2 *matches, int n) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= n)
        return;
    float v[SENSORS];
    get(v, signals, i, n);
    matches[i] = best_match(v);
}

__global__ void choose(const float2 *matches, float limit, int *gates, int n) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < n)
        gates[i] = gate(matches[i], limit);
}
#endif

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "coin_sorter");
    int n = p.small ? 3000 : 60000, blocks = (n + BLOCK - 1) / BLOCK;
    std::vector<float> model = random_floats(KINDS * SENSORS, 0.2f, 1, 1), raw((size_t)n * SENSORS),
                       drifts = random_floats(n, -0.02f, 0.02f, 2), references = random_floats(n, 0.8f, 1.2f, 3),
                       blur = random_floats((size_t)n * SENSORS, -0.05f, 0.05f, 4);
    CUDA_CHECK(cudaMemcpyToSymbol(models, model.data(), sizeof models));
    for (int i = 0; i < n; i++)
        for (int s = 0; s < SENSORS; s++)
            raw[s * n + i] = model[i % KINDS * SENSORS + s] * references[i] + blur[s * n + i];
    float limit = 0.004f;
    float *d_raw = device_copy_of(raw.data(), raw.size()), *d_drifts = device_copy_of(drifts.data(), n),
          *d_references = device_copy_of(references.data(), n);
    int *d_gates = device_array<int>(n);
#ifdef AFTER
    pair_time(&p, [&] { sort_coins<<<blocks, BLOCK>>>(d_raw, d_drifts, d_references, limit, d_gates, n); });
#else
    float *d_signals = device_array<float>((size_t)n * SENSORS);
    float2 *d_matches = device_array<float2>(n);
    pair_time(&p, [&] {
        correct<<<blocks, BLOCK>>>(d_raw, d_drifts, d_signals, n);
        normalise<<<blocks, BLOCK>>>(d_signals, d_references, n);
        match<<<blocks, BLOCK>>>(d_signals, d_matches, n);
        choose<<<blocks, BLOCK>>>(d_matches, limit, d_gates, n);
    });
#endif
    std::vector<int> gates = host_copy_of(d_gates, n);
    for (int i = 0; i < n; i++) {
        double off[KINDS], least = 1e30, second = 1e30;
        int best = 0;
        for (int k = 0; k < KINDS; k++) {
            off[k] = 0;
            for (int s = 0; s < SENSORS; s++) {
                double v = raw[s * n + i] * (1 + (double)drifts[i] * (s + 1)) / references[i];
                off[k] += (v - model[k * SENSORS + s]) * (v - model[k * SENSORS + s]);
            }
            if (off[k] < least) {
                second = least;
                least = off[k];
                best = k;
            } else if (off[k] < second) {
                second = off[k];
            }
        }
        if (second - least > 1e-5 && fabs(least - limit) > 1e-5)  // otherwise rounding may decide
            pair_near(&p, "gate", i, least < limit ? best : KINDS, gates[i], 0);
    }
    return pair_end(&p);
}
