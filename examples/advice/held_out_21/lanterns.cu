// SPDX-License-Identifier: Apache-2.0
//
// Rule: occupancy-up
// Change: a block asks for shared memory for the lanterns of the longest street there is, not of the longest possible.
// Why: at 100 KB a block, an SM holds two blocks of 128 threads, too few to hide the latencies of the sums.
#include "../common.h"

enum { BLOCK = 128, MOST_LANTERNS = 6400 };

// How bright the streets of a town are: the darkest place and the mean of each; one block per street. Lanterns have a
// place along and across the street, a height and a power.
__global__ void brightness(const float4 *lanterns, const int *starts, const float *lengths, float *darkest, float *mean,
                           int places) {
    extern __shared__ float4 here[];
    int street = blockIdx.x, first = starts[street], count = starts[street + 1] - first;
    for (int k = threadIdx.x; k < count; k += BLOCK)
        here[k] = lanterns[first + k];
    __syncthreads();
    float apart = __fdividef(lengths[street], (float)places), least = 1e9f, total = 0;
    for (int s = threadIdx.x; s < places; s += BLOCK) {
        float along = apart * s, light = 0;
        for (int k = 0; k < count; k++) {
            float4 l = here[k];
            float dx = along - l.x;
            float inverse = rsqrtf(dx * dx + l.y * l.y + l.z * l.z);
            light += l.w * l.z * inverse * inverse * inverse;
        }
        least = fminf(least, light);
        total += light;
    }
    for (int d = 16; d > 0; d /= 2) {
        least = fminf(least, __shfl_xor_sync(~0u, least, d));
        total += __shfl_xor_sync(~0u, total, d);
    }
    __shared__ float leasts[BLOCK / 32], totals[BLOCK / 32];
    if (threadIdx.x % 32 == 0) {
        leasts[threadIdx.x / 32] = least;
        totals[threadIdx.x / 32] = total;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        darkest[street] = fminf(fminf(leasts[0], leasts[1]), fminf(leasts[2], leasts[3]));
        mean[street] = __fdividef(totals[0] + totals[1] + totals[2] + totals[3], (float)places);
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "lanterns");
    int streets = p.small ? 16 : 132 * 16, places = p.small ? 256 : 1024;
    std::vector<int> starts(streets + 1);
    unsigned seed = 1;
    int longest = 0;
    for (int s = 0; s < streets; s++) {
        int count = (p.small ? 5 : 80) + (int)lcg_next(&seed, p.small ? 20 : 40);
        starts[s + 1] = starts[s] + count;
        longest = std::max(longest, count);
    }
    std::vector<float> lengths = random_floats(streets, 800, 1500, 2);
    std::vector<float4> lanterns(starts[streets]);
    for (int s = 0; s < streets; s++)
        for (int k = starts[s]; k < starts[s + 1]; k++)
            lanterns[k] = {lengths[s] * (k - starts[s] + 0.5f) / (starts[s + 1] - starts[s]), k % 2 ? 4.0f : -4.0f,
                           5.0f + lcg_next(&seed, 30) * 0.1f, 500.0f + lcg_next(&seed, 1000)};
    float4 *d_lanterns = device_copy_of(lanterns.data(), lanterns.size());
    int *d_starts = device_copy_of(starts.data(), starts.size());
    float *d_lengths = device_copy_of(lengths.data(), streets), *d_darkest = device_array<float>(streets),
          *d_mean = device_array<float>(streets);
#ifdef AFTER
    size_t bytes = longest * sizeof(float4);
#else
    size_t bytes = MOST_LANTERNS * sizeof(float4);
#endif
    if (longest > MOST_LANTERNS)
        fail_now("a street has %d lanterns", longest);
    CUDA_CHECK(cudaFuncSetAttribute(brightness, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes));
    pair_time(
        &p, [&] { brightness<<<streets, BLOCK, bytes>>>(d_lanterns, d_starts, d_lengths, d_darkest, d_mean, places); });
    std::vector<float> darkest = host_copy_of(d_darkest, streets), mean = host_copy_of(d_mean, streets);
    for (int s = 0; s < streets; s += p.small ? 1 : 41) {
        double least = 1e9, total = 0;
        for (int i = 0; i < places; i++) {
            double light = 0, along = (double)lengths[s] / places * i;
            for (int k = starts[s]; k < starts[s + 1]; k++) {
                float4 l = lanterns[k];
                double dx = along - l.x, d2 = dx * dx + l.y * l.y + l.z * l.z;
                light += l.w * l.z / (d2 * sqrt(d2));
            }
            least = std::min(least, light);
            total += light;
        }
        pair_near(&p, "darkest", s, least, darkest[s], 1e-3);
        pair_near(&p, "mean", s, total / places, mean[s], 1e-3);
    }
    return pair_end(&p);
}
