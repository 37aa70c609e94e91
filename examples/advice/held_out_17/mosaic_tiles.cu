// SPDX-License-Identifier: Apache-2.0
//
// Rule: register-reuse
// Change: a thread compares 4 cells of the picture with 4 photographs instead of one with one.
// Why: each value read from shared memory then serves four differences instead of one.
#include "../common.h"

#ifdef AFTER
enum { PER = 4 };
#else
enum { PER = 1 };
#endif
enum { SIDE = 16, TILE = SIDE * PER, DEPTH = 16, FEATURES = 48 };  // 4 x 4 colours of 3 channels

// How unlike each cell of a picture is to each of the photographs that a mosaic is made from.
__global__ void unlikeness(const float *__restrict__ cells, const float *__restrict__ photos,
                           float *__restrict__ differences, int photo_count) {
    __shared__ float cell_part[DEPTH][TILE + 1], photo_part[DEPTH][TILE + 1];
    int tx = threadIdx.x, ty = threadIdx.y, t = ty * SIDE + tx;
    int first_cell = blockIdx.y * TILE, first_photo = blockIdx.x * TILE;
    float sums[PER][PER] = {};
    for (int k0 = 0; k0 < FEATURES; k0 += DEPTH) {
        for (int i = t; i < TILE * DEPTH; i += SIDE * SIDE) {
            int row = i / DEPTH, k = i % DEPTH;
            cell_part[k][row] = cells[(size_t)(first_cell + row) * FEATURES + k0 + k];
            photo_part[k][row] = photos[(size_t)(first_photo + row) * FEATURES + k0 + k];
        }
        __syncthreads();
        for (int k = 0; k < DEPTH; k++) {
            float cell[PER], photo[PER];
            for (int j = 0; j < PER; j++) {
                cell[j] = cell_part[k][ty + j * SIDE];
                photo[j] = photo_part[k][tx + j * SIDE];
            }
            for (int j = 0; j < PER; j++)
                for (int i = 0; i < PER; i++) {
                    float apart = cell[j] - photo[i];
                    sums[j][i] += apart * apart;
                }
        }
        __syncthreads();
    }
    for (int j = 0; j < PER; j++)
        for (int i = 0; i < PER; i++)
            differences[(size_t)(first_cell + ty + j * SIDE) * photo_count + first_photo + tx + i * SIDE] = sums[j][i];
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "mosaic_tiles");
    int cells = p.small ? 128 : 4800, photos = p.small ? 128 : 8192;
    std::vector<float> cell = random_floats((size_t)cells * FEATURES, 0, 1, 1),
                       photo = random_floats((size_t)photos * FEATURES, 0, 1, 2);
    float *d_cell = device_copy_of(cell.data(), cell.size()), *d_photo = device_copy_of(photo.data(), photo.size()),
          *d_out = device_array<float>((size_t)cells * photos);
    dim3 grid(photos / TILE, cells / TILE), block(SIDE, SIDE);
    pair_time(&p, [&] { unlikeness<<<grid, block>>>(d_cell, d_photo, d_out, photos); });
    std::vector<float> out = host_copy_of(d_out, (size_t)cells * photos);
    for (size_t i = 0; i < out.size(); i += p.small ? 7 : 997) {
        double sum = 0;
        for (int k = 0; k < FEATURES; k++) {
            double apart = (double)cell[i / photos * FEATURES + k] - photo[i % photos * FEATURES + k];
            sum += apart * apart;
        }
        pair_near(&p, "difference", i, sum, out[i], 1e-4);
    }
    return pair_end(&p);
}
