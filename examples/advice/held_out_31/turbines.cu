// SPDX-License-Identifier: Apache-2.0
//
// Rule: warp-balance
// Change: all warps of the block count together at one scale after the other, instead of each warp at its own scale.
// Why: a series twice as coarse has a quarter of the pairs, so the warp of the finest one works while the others wait.
#include "../common.h"

namespace {

const int kScales = 8, kThreads = 32 * kScales;
const int kLongest = 1000;    // samples of a record
const int kAllScales = 2800;  // more than kLongest * (1 + 1/2 + ... + 1/8)

struct Matches {
    int two, three;
};

// Counts the pairs of places where two (and three) samples in a row are alike; for the places first, first + step ...
__device__ void count_matches(const float *x, int places, float alike, int first, int step, Matches *matches) {
    int two = 0, three = 0;
    for (int i = first; i < places; i += step) {
        float a = x[i], b = x[i + 1], c = x[i + 2];
        for (int j = 0; j < places; j++) {
            bool near = fabsf(x[j] - a) < alike && fabsf(x[j + 1] - b) < alike;
            two += near;
            three += near && fabsf(x[j + 2] - c) < alike;
        }
    }
    two = __reduce_add_sync(0xffffffff, two);
    three = __reduce_add_sync(0xffffffff, three);
    if (threadIdx.x % 32 == 0) {
        atomicAdd(&matches->two, two);
        atomicAdd(&matches->three, three);
    }
}

// Multiscale sample entropy of what shakes the bearings of turbines, one block per record.
__global__ void bearing_entropy(const float *records, float *entropy, int samples, float alike) {
    __shared__ float coarse[kAllScales];
    __shared__ Matches matches[kScales];
    __shared__ int start[kScales];
    const float *record = records + (size_t)blockIdx.x * samples;
    if (threadIdx.x == 0) {
        for (int s = 0, at = 0; s < kScales; s++) {
            start[s] = at;
            at += samples / (s + 1);
        }
    }
    if (threadIdx.x < kScales)
        matches[threadIdx.x] = {0, 0};
    __syncthreads();
    for (int s = 0; s < kScales; s++) {
        for (int k = threadIdx.x; k < samples / (s + 1); k += kThreads) {
            float sum = 0;
            for (int m = 0; m <= s; m++)
                sum += record[k * (s + 1) + m];
            coarse[start[s] + k] = sum / (s + 1);
        }
    }
    __syncthreads();

#ifdef AFTER
    for (int s = 0; s < kScales; s++)
        count_matches(coarse + start[s], samples / (s + 1) - 2, alike, threadIdx.x, kThreads, &matches[s]);
#else
    int s = threadIdx.x / 32;
    count_matches(coarse + start[s], samples / (s + 1) - 2, alike, threadIdx.x % 32, 32, &matches[s]);
#endif

    __syncthreads();
    if (threadIdx.x < kScales) {
        int self = samples / (threadIdx.x + 1) - 2;
        Matches m = matches[threadIdx.x];
        entropy[blockIdx.x * kScales + threadIdx.x] = logf((m.two - self + 1.0f) / (m.three - self + 1.0f));
    }
}

double reference(const float *record, int samples, int scale, float alike) {
    std::vector<float> x;
    for (int k = 0; k < samples / scale; k++) {
        float sum = 0;
        for (int m = 0; m < scale; m++)
            sum += record[k * scale + m];
        x.push_back(sum / scale);
    }
    int two = 0, three = 0, places = samples / scale - 2;
    for (int i = 0; i < places; i++)
        for (int j = 0; j < places; j++)
            if (i != j && fabsf(x[j] - x[i]) < alike && fabsf(x[j + 1] - x[i + 1]) < alike) {
                two++;
                three += fabsf(x[j + 2] - x[i + 2]) < alike;
            }
    return log((two + 1.0) / (three + 1.0));
}

}  // namespace

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "turbines");
    int records = p.small ? 3 : 1700, samples = p.small ? 300 : kLongest;
    float alike = 0.25f;
    std::vector<float> data = random_floats((size_t)records * samples, -1.2f, 1.2f, 50);
    for (size_t i = 1; i < data.size(); i++)
        data[i] = 0.6f * data[i - 1] + 0.7f * data[i];
    float *d_data = device_copy_of(data.data(), data.size()), *d_entropy = device_array<float>(records * kScales);
    pair_time(&p, [&] { bearing_entropy<<<records, kThreads>>>(d_data, d_entropy, samples, alike); });
    std::vector<float> entropy = host_copy_of(d_entropy, records * kScales);
    for (int r = 0; r < records; r += p.small ? 1 : 53)
        for (int s = 0; s < kScales; s++)
            pair_near(&p, "entropy", r * kScales + s, reference(&data[(size_t)r * samples], samples, s + 1, alike),
                      entropy[r * kScales + s], 1e-4);
    return pair_end(&p);
}
