// SPDX-License-Identifier: Apache-2.0
//
// Rule: register-reuse
// Change: a thread compares its handbag of the catalogue with eight photos instead of one.
// Why: every difference needs two loads from shared memory; the colour that is in a register can serve eight photos.
#include "../common.h"

#ifdef AFTER
enum { PHOTOS = 8 };  // of a thread
#else
enum { PHOTOS = 1 };
#endif
enum { TILE = 32, ROWS = TILE / PHOTOS };

// The distances of the colour histograms of all photos from those of all handbags of a catalogue, in tiles.
// Histograms lie colour by colour: colours[c * count + i] is how much of colour c there is in picture i.
__global__ void __launch_bounds__(TILE *ROWS)
    differences(const float *__restrict__ photos, const float *__restrict__ catalogue, float *__restrict__ distances,
                int photo_count, int bag_count, int colours) {
    __shared__ float photo[TILE][TILE], bag[TILE][TILE];  // [colour][picture]
    int first_photo = blockIdx.y * TILE, first_bag = blockIdx.x * TILE;
    int x = threadIdx.x, y = threadIdx.y;
    float sums[PHOTOS];
    for (int k = 0; k < PHOTOS; k++)
        sums[k] = 0;
    for (int c = 0; c < colours; c += TILE) {
        for (int row = y; row < TILE; row += ROWS) {
            photo[row][x] = photos[(size_t)(c + row) * photo_count + first_photo + x];
            bag[row][x] = catalogue[(size_t)(c + row) * bag_count + first_bag + x];
        }
        __syncthreads();
#pragma unroll 8
        for (int row = 0; row < TILE; row++) {
            float ours = bag[row][x];
            for (int k = 0; k < PHOTOS; k++)
                sums[k] += fabsf(photo[row][y * PHOTOS + k] - ours);
        }
        __syncthreads();
    }
    for (int k = 0; k < PHOTOS; k++)
        distances[(size_t)(first_photo + y * PHOTOS + k) * bag_count + first_bag + x] = sums[k];
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "handbags");
    int photo_count = p.small ? 32 : 2048, bag_count = p.small ? 64 : 4096, colours = p.small ? 32 : 96;
    std::vector<float> photos = random_floats((size_t)photo_count * colours, 0, 1, 3),
                       catalogue = random_floats((size_t)bag_count * colours, 0, 1, 8);
    float *d_photos = device_copy_of(photos.data(), photos.size()),
          *d_catalogue = device_copy_of(catalogue.data(), catalogue.size()),
          *d_distances = device_array<float>((size_t)photo_count * bag_count);
    dim3 grid(bag_count / TILE, photo_count / TILE), block(TILE, ROWS);
    pair_time(&p, [&] {
        differences<<<grid, block>>>(d_photos, d_catalogue, d_distances, photo_count, bag_count, colours);
    });
    std::vector<float> distances = host_copy_of(d_distances, (size_t)photo_count * bag_count);
    for (size_t at = 0; at < distances.size(); at += p.small ? 1 : 1013) {
        size_t i = at / bag_count, j = at % bag_count;
        double sum = 0;
        for (int c = 0; c < colours; c++)
            sum += fabs(photos[(size_t)c * photo_count + i] - catalogue[(size_t)c * bag_count + j]);
        pair_near(&p, "distance", at, sum, distances[at], 1e-4);
    }
    return pair_end(&p);
}
