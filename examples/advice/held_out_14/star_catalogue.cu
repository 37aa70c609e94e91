// SPDX-License-Identifier: Apache-2.0
//
// Rule: async-copy
// Change: the next part of the catalogue is copied asynchronously while the current one is compared with.
// Why: each part is waited for before any of it is used, and few warps are there to work meanwhile.
#include "../common.h"

#include <cuda_pipeline.h>

enum { BLOCK = 128 };

// Finds for each star of a picture of the sky the one of the catalogue that is nearest to it; all are unit vectors.
__global__ void match_stars(const float4 *seen, const float4 *catalogue, int *match, float *cosine, int known) {
    int i = blockIdx.x * BLOCK + threadIdx.x, nearest = 0;
    float4 star = seen[i];
    float most = -2;
#ifdef AFTER
    __shared__ float4 part[2][BLOCK];
    __pipeline_memcpy_async(&part[0][threadIdx.x], &catalogue[threadIdx.x], sizeof(float4));
    __pipeline_commit();
#else
    __shared__ float4 part[1][BLOCK];
#endif
    for (int base = 0; base < known; base += BLOCK) {
#ifdef AFTER
        int now = base / BLOCK % 2;
        if (base + BLOCK < known)
            __pipeline_memcpy_async(&part[!now][threadIdx.x], &catalogue[base + BLOCK + threadIdx.x], sizeof(float4));
        __pipeline_commit();
        __pipeline_wait_prior(1);
#else
        const int now = 0;
        part[now][threadIdx.x] = catalogue[base + threadIdx.x];
#endif
        __syncthreads();
        for (int k = 0; k < BLOCK; k++) {
            float4 other = part[now][k];
            float c = star.x * other.x + star.y * other.y + star.z * other.z;
            nearest = c > most ? base + k : nearest;
            most = fmaxf(c, most);
        }
        __syncthreads();
    }
    match[i] = nearest;
    cosine[i] = most;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "star_catalogue");
    int n = p.small ? 512 : 264 * BLOCK, known = p.small ? 768 : 12288;
    std::vector<float> numbers = random_floats((size_t)(n + known) * 3, -1, 1, 1);
    std::vector<float4> stars(n + known);
    for (int i = 0; i < n + known; i++) {
        float x = numbers[3 * i], y = numbers[3 * i + 1], z = numbers[3 * i + 2] + 1.5f,
              r = sqrtf(x * x + y * y + z * z);
        stars[i] = make_float4(x / r, y / r, z / r, 0.0f);
    }
    float4 *d_seen = device_copy_of(stars.data(), n), *d_catalogue = device_copy_of(&stars[n], known);
    int *d_match = device_array<int>(n);
    float *d_cosine = device_array<float>(n);
    pair_time(&p, [&] { match_stars<<<n / BLOCK, BLOCK>>>(d_seen, d_catalogue, d_match, d_cosine, known); });
    std::vector<int> match = host_copy_of(d_match, n);
    std::vector<float> cosine = host_copy_of(d_cosine, n);
    for (int i = 0; i < n; i += 37) {
        double most = -2, found = -2;
        for (int k = 0; k < known; k++) {
            double c = (double)stars[i].x * stars[n + k].x + (double)stars[i].y * stars[n + k].y +
                       (double)stars[i].z * stars[n + k].z;
            most = std::max(most, c);
            found = k == match[i] ? c : found;
        }
        pair_near(&p, "cosine", i, most, cosine[i], 1e-6);
        pair_near(&p, "match", i, most, found, 1e-6);
    }
    return pair_end(&p);
}
