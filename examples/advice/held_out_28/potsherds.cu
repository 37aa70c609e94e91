// SPDX-License-Identifier: Apache-2.0
//
// Rule: register-reuse
// Change: a thread compares its sherd with four reference vessels at once instead of with one.
// Why: each radius of the sherd that it loads is used for four differences, so there are 5 loads for 4 instead of 8.
#include "../common.h"

#ifdef AFTER
enum { VESSELS = 4 };
#else
enum { VESSELS = 1 };
#endif
enum { BLOCK = 128 };

// How far each sherd's profile is from each vessel's: mean absolute difference of the radii at the same heights.
// profiles[height][sherd], catalogue[vessel][height]; vessels is a multiple of 4.
__global__ void __launch_bounds__(BLOCK)
    potsherds(const float *__restrict__ profiles, const float *__restrict__ catalogue, float *__restrict__ distances,
              int sherds, int vessels, int heights) {
    int sherd = blockIdx.x * BLOCK + threadIdx.x;
    if (sherd >= sherds)
        return;
    int vessel = blockIdx.y * VESSELS;
    float sum[VESSELS] = {0};
    for (int h = 0; h < heights; h++) {
        float radius = profiles[(size_t)h * sherds + sherd];
#pragma unroll
        for (int v = 0; v < VESSELS; v++)
            sum[v] += fabsf(radius - catalogue[(vessel + v) * heights + h]);
    }
#pragma unroll
    for (int v = 0; v < VESSELS; v++)
        distances[(size_t)(vessel + v) * sherds + sherd] = sum[v] / heights;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "potsherds");
    int sherds = p.small ? 500 : 12000, vessels = p.small ? 12 : 900, heights = p.small ? 20 : 90;
    std::vector<float> profiles = random_floats((size_t)sherds * heights, 20, 180, 3);
    std::vector<float> catalogue = random_floats((size_t)vessels * heights, 20, 180, 4);
    float *d_profiles = device_copy_of(profiles.data(), profiles.size());
    float *d_catalogue = device_copy_of(catalogue.data(), catalogue.size());
    float *d_distances = device_array<float>((size_t)sherds * vessels);
    dim3 grid((sherds + BLOCK - 1) / BLOCK, vessels / VESSELS);
    pair_time(&p, [&] { potsherds<<<grid, BLOCK>>>(d_profiles, d_catalogue, d_distances, sherds, vessels, heights); });
    std::vector<float> distances = host_copy_of(d_distances, (size_t)sherds * vessels);
    for (size_t i = 0; i < distances.size(); i += 1 + distances.size() / 2000) {
        size_t vessel = i / sherds, sherd = i % sherds;
        double sum = 0;
        for (int h = 0; h < heights; h++)
            sum += fabs((double)profiles[(size_t)h * sherds + sherd] - catalogue[vessel * heights + h]);
        pair_near(&p, "distance", i, sum / heights, distances[i], 1e-5);
    }
    return pair_end(&p);
}
