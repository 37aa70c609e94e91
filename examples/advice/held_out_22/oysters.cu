// SPDX-License-Identifier: Apache-2.0
//
// Rule: global-coalescing
// Change: neighbouring threads take neighbouring beds of a row, not beds of neighbouring rows.
// Why: the maps are stored row by row; a warp that goes down a column touches 32 rows in each load and store.
#include "../common.h"

enum { WIDE = 32, HIGH = 8 };

__host__ __device__ inline float fed(float silt, float salt, float food, int tides) {
    float meat = 1, clear = 1 / (1 + silt * silt);
    for (int t = 0; t < tides; t++) {
        float opened = clear * (1 - 0.2f * fabsf(salt - 0.5f));
        meat += opened * food * (2 - meat) * 0.25f;
        salt = 0.9f * salt + 0.04f;
    }
    return meat;
}

// How much meat the oysters of each bed put on, and whether they may be dredged: the bed downstream counts as well.
__global__ void dredge(const float *silt, const float *salt, const float *food, float *meat, unsigned char *ripe,
                       int width, int height, int tides) {
#ifdef AFTER
    int column = blockIdx.x * WIDE + threadIdx.x, row = blockIdx.y * HIGH + threadIdx.y;
#else
    int row = blockIdx.x * WIDE + threadIdx.x, column = blockIdx.y * HIGH + threadIdx.y;
#endif
    if (row >= height || column >= width)
        return;
    size_t bed = (size_t)row * width + column, below = row + 1 < height ? bed + width : bed;
    float murk = 0.75f * silt[bed] + 0.25f * silt[below];
    float result = fed(murk, salt[bed], food[bed], tides);
    meat[bed] = result;
    ripe[bed] = result > 1.25f;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "oysters");
    int width = p.small ? 64 : 3072, height = p.small ? 64 : 3072, tides = 4;
    size_t n = (size_t)width * height;
    std::vector<float> silt = random_floats(n, 0, 2, 1), salt = random_floats(n, 0, 1, 2),
                       food = random_floats(n, 0, 1, 3);
    float *d_silt = device_copy_of(silt.data(), n), *d_salt = device_copy_of(salt.data(), n),
          *d_food = device_copy_of(food.data(), n), *d_meat = device_array<float>(n);
    unsigned char *d_ripe = device_array<unsigned char>(n);
    dim3 block(WIDE, HIGH), grid(width / WIDE, height / HIGH);
    pair_time(&p, [&] { dredge<<<grid, block>>>(d_silt, d_salt, d_food, d_meat, d_ripe, width, height, tides); });
    std::vector<float> meat = host_copy_of(d_meat, n);
    std::vector<unsigned char> ripe = host_copy_of(d_ripe, n);
    for (size_t i = 0; i < n; i += p.small ? 1 : 31) {
        size_t below = i + width < n ? i + width : i;
        pair_near(&p, "meat", i, fed(0.75f * silt[i] + 0.25f * silt[below], salt[i], food[i], tides), meat[i], 1e-4);
        pair_near(&p, "ripe", i, meat[i] > 1.25f, ripe[i], 0);
    }
    return pair_end(&p);
}
