// SPDX-License-Identifier: Apache-2.0
//
// Rule: shared-conflicts
// Change: the rows of the tile of the column whiskies are 4 floats longer.
// Why: lanes that read 16 floats from each other meet in a few banks; rows of 20 floats spread them over all.
#include "../common.h"

#define TILE 16
#ifdef AFTER
#define PITCH (TILE + 4)
#else
#define PITCH TILE
#endif

// How far the flavours (smoky, honey, malty, ...) of every two whiskies are from each other, Manhattan distance.
// A block makes 16 x 16 distances; flavours must be a multiple of 16, whiskies too.
__global__ void flavour_distance(const float *__restrict__ profiles, float *__restrict__ distance, int whiskies,
                                 int flavours) {
    __shared__ __align__(16) float of_row[TILE][TILE], of_column[TILE][PITCH];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const float *row_profile = profiles + (size_t)(blockIdx.y * TILE + ty) * flavours;
    const float *column_profile = profiles + (size_t)(blockIdx.x * TILE + ty) * flavours;
    float sum = 0;
    for (int f = 0; f < flavours; f += TILE) {
        of_row[ty][tx] = row_profile[f + tx];
        of_column[ty][tx] = column_profile[f + tx];
        __syncthreads();
#pragma unroll
        for (int k = 0; k < TILE; k++)
            sum += fabsf(of_row[ty][k] - of_column[tx][k]);
        __syncthreads();
    }
    distance[(size_t)(blockIdx.y * TILE + ty) * whiskies + blockIdx.x * TILE + tx] = sum;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "whiskies");
    const int whiskies = p.small ? 96 : 4096, flavours = p.small ? 64 : 96;
    std::vector<float> profiles = random_floats((size_t)whiskies * flavours, 0, 4, 86);
    float *d_profiles = device_copy_of(profiles.data(), profiles.size());
    float *d_distance = device_array<float>((size_t)whiskies * whiskies);

    dim3 block(TILE, TILE), grid(whiskies / TILE, whiskies / TILE);
    pair_time(&p, [&] { flavour_distance<<<grid, block>>>(d_profiles, d_distance, whiskies, flavours); });

    std::vector<float> distance = host_copy_of(d_distance, (size_t)whiskies * whiskies);
    for (size_t i = 0; i < distance.size(); i += p.small ? 7 : 4999) {
        const float *a = &profiles[i / whiskies * flavours], *b = &profiles[i % whiskies * flavours];
        double sum = 0;
        for (int f = 0; f < flavours; f++)
            sum += fabs((double)a[f] - b[f]);
        pair_near(&p, "distance", i, sum, distance[i], 1e-5);
    }
    return pair_end(&p);
}
