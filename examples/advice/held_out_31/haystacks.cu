// SPDX-License-Identifier: Apache-2.0
//
// Rule: atomic-contention
// Change: the lanes of a warp add up their volumes by shuffles, and only the first lane adds to the field's total.
// Why: every thread of a field adds to the same address, and such additions are done one after another.
#include "../common.h"

#define CELL_AREA 0.04f  // square metres

struct Cell {
    unsigned short surface, ground;  // centimetres
};

// Hay on the fields, from a survey by drone: what stands higher than `stubble` above the ground, in cubic metres.
// A row of blocks for each field.
__global__ void hay_volume(const Cell *survey, float *volume, int cells_per_field, int stubble) {
    const Cell *field = survey + (size_t)blockIdx.y * cells_per_field;
    float mine = 0.f;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    while (i < cells_per_field) {
        Cell cell = field[i];
        int height = cell.surface - cell.ground;
        if (height > stubble)
            mine += height * 0.01f;
        i += gridDim.x * blockDim.x;
    }
    mine *= CELL_AREA;
#ifdef AFTER
    for (int offset = warpSize / 2; offset > 0; offset >>= 1)
        mine += __shfl_down_sync(0xffffffffu, mine, offset);
    if (threadIdx.x % warpSize == 0)
        atomicAdd(volume + blockIdx.y, mine);
#else
    atomicAdd(volume + blockIdx.y, mine);
#endif
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "haystacks");
    int fields = p.small ? 3 : 40, width = p.small ? 230 : 1450, height = p.small ? 160 : 1380;
    int per_field = width * height, stubble = 25;
    std::vector<Cell> survey((size_t)fields * per_field);
    unsigned seed = 77;
    for (int f = 0; f < fields; f++) {
        for (int y = 0; y < height; y++) {
            for (int x = 0; x < width; x++) {
                Cell &cell = survey[(size_t)f * per_field + (size_t)y * width + x];
                // A round stack every 50 cells, of 1.5 metres, on a slope.
                int dx = x % 50 - 25, dy = y % 50 - 25, up = 150 - (dx * dx + dy * dy);
                cell.ground = (unsigned short)(20000 + 2 * x + f * y / 8);
                cell.surface = (unsigned short)(cell.ground + lcg_next(&seed, 20) + (up > 0 ? up : 0));
            }
        }
    }
    Cell *d_survey = device_copy_of(survey.data(), survey.size());
    float *d_volume = device_array<float>(fields);
    dim3 grid(p.small ? 8 : 128, fields);
    pair_time(&p, [&] {
        CUDA_CHECK(cudaMemsetAsync(d_volume, 0, fields * sizeof(float)));
        hay_volume<<<grid, 256>>>(d_survey, d_volume, per_field, stubble);
    });
    std::vector<float> volume = host_copy_of(d_volume, fields);
    for (int f = 0; f < fields; f++) {
        long long centimetres = 0;
        for (int i = 0; i < per_field; i++) {
            const Cell &cell = survey[(size_t)f * per_field + i];
            int above = cell.surface - cell.ground;
            centimetres += above > stubble ? above : 0;
        }
        pair_near(&p, "volume", f, centimetres * 0.01 * CELL_AREA, volume[f], 1e-4);
    }
    return pair_end(&p);
}
