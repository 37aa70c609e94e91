// SPDX-License-Identifier: Apache-2.0
//
// Rule: indirect-addressing
// Change: the detector bin that a pixel falls on is computed from the angle instead of read from a table.
// Why: the table has an entry for every pixel and angle and comes from DRAM, and the load from the sinogram waits for
// it; two multiplications give the same bin.
#include "../common.h"

enum { FRACTION = 16 };  // bits of the fixed-point numbers

// Where the detector is in one projection: cosine and sine, fixed-point, in bins per pixel.
using Turn = int2;

// The bin under pixel (x, y), both measured from the middle of the slice.
__host__ __device__ inline int bin_of(int x, int y, Turn turn, int bins) {
    return (x * turn.x + y * turn.y + (bins << (FRACTION - 1))) >> FRACTION;
}

// Back-projects filtered projections: every pixel of a slice of bone gathers what the rays through it have measured.
#ifdef AFTER
__global__ void femurs(const float *__restrict__ sinogram, const Turn *__restrict__ turns, float *__restrict__ slice,
                       int size, int angles, int bins) {
#else
__global__ void femurs(const float *__restrict__ sinogram, const int *__restrict__ bin_table, float *__restrict__ slice,
                       int size, int angles, int bins) {
#endif
    const int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column >= size || row >= size)
        return;
    const int pixel = row * size + column;
    float sum = 0;
#pragma unroll 4
    for (int a = 0; a < angles; a++) {
#ifdef AFTER
        const int bin = bin_of(column - size / 2, row - size / 2, turns[a], bins);
#else
        const int bin = bin_table[(size_t)a * size * size + pixel];
#endif
        sum += sinogram[a * bins + bin];
    }
    slice[pixel] = sum * (3.14159265f / angles);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "femurs");
    // The detector is wide enough for the diagonal of the slice.
    const int size = p.small ? 56 : 576, angles = p.small ? 12 : 360, bins = size * 3 / 2;

    std::vector<Turn> turns(angles);
    for (int a = 0; a < angles; a++) {
        const double angle = M_PI * a / angles;
        turns[a] = {(int)lrint(cos(angle) * (1 << FRACTION)), (int)lrint(sin(angle) * (1 << FRACTION))};
    }
    // The shadow of a ring of hard bone around marrow, off the middle, after a ramp filter (its negative side lobes).
    std::vector<float> sinogram((size_t)angles * bins);
    unsigned seed = 1895;
    for (int a = 0; a < angles; a++) {
        const double centre = bins / 2.0 + 0.1 * size * cos(M_PI * a / angles) + 0.06 * size * sin(M_PI * a / angles),
                     outer = 0.2 * size, inner = 0.12 * size;
        const auto chord = [&](double radius, double at) {
            return 2 * sqrt(fmax(0, radius * radius - (at - centre) * (at - centre)));
        };
        const auto shadow = [&](double at) { return chord(outer, at) - 0.6 * chord(inner, at); };
        for (int b = 0; b < bins; b++)
            sinogram[a * bins + b] =
                (float)(shadow(b) - 0.45 * (shadow(b - 1) + shadow(b + 1))) + 0.01f * lcg_next(&seed, 1000) / 1000.0f;
    }

    float *d_sinogram = device_copy_of(sinogram.data(), sinogram.size()),
          *d_slice = device_array<float>((size_t)size * size);
#ifdef AFTER
    const Turn *d_geometry = device_copy_of(turns.data(), angles);
#else
    std::vector<int> bin_table((size_t)angles * size * size);
    for (int a = 0; a < angles; a++)
        for (int row = 0; row < size; row++)
            for (int column = 0; column < size; column++)
                bin_table[((size_t)a * size + row) * size + column] =
                    bin_of(column - size / 2, row - size / 2, turns[a], bins);
    const int *d_geometry = device_copy_of(bin_table.data(), bin_table.size());
#endif
    const dim3 block(32, 8), grid((size + 31) / 32, (size + 7) / 8);
    pair_time(&p, [&] { femurs<<<grid, block>>>(d_sinogram, d_geometry, d_slice, size, angles, bins); });

    std::vector<float> slice = host_copy_of(d_slice, (size_t)size * size);
    for (int i = 0; i < size * size; i += p.small ? 7 : 409) {
        double sum = 0;
        for (int a = 0; a < angles; a++)
            sum += sinogram[a * bins + bin_of(i % size - size / 2, i / size - size / 2, turns[a], bins)];
        pair_near(&p, "slice", i, sum * M_PI / angles, slice[i], 1e-4);
    }
    return pair_end(&p);
}
