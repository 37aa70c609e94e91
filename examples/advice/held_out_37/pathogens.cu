// SPDX-License-Identifier: Apache-2.0
//
// Rule: branch-elimination
// Change: the map of spores has a margin of empty cells as wide as the reach, so no test for the map's edge is needed.
// Why: the tests were made for each of the 225 neighbours of each cell, though only those at the edge ever need them.
#include "../common.h"

// One day of a plant disease that spreads by wind: the spores that land on a cell of the farmland come from all cells
// within reach, weighted by a dispersal kernel that the wind has stretched. What lands infects healthy leaf area by
// the crop's susceptibility. Nothing comes from outside of the map.

constexpr int REACH = 7;
constexpr int ACROSS = 2 * REACH + 1;
#ifdef AFTER
constexpr int MARGIN = REACH;
#else
constexpr int MARGIN = 0;
#endif
constexpr int BLOCK_X = 32, BLOCK_Y = 8;

struct Land {
    int width, height;
    int pitch;  // cells from a row of the spore map to the next
};

__constant__ float c_dispersal[ACROSS * ACROSS];

__global__ void __launch_bounds__(BLOCK_X *BLOCK_Y)
spread(const float *__restrict__ spores, const float *__restrict__ healthy, const unsigned char *__restrict__ crop,
       Land land, float4 susceptibility, float *__restrict__ infected) {
    int x = blockIdx.x * BLOCK_X + threadIdx.x;
    int y = blockIdx.y * BLOCK_Y + threadIdx.y;
    if (x >= land.width || y >= land.height)
        return;
    float landed = 0.0f;
    for (int dy = -REACH; dy <= REACH; dy++) {
        for (int dx = -REACH; dx <= REACH; dx++) {
            int from_x = x + dx, from_y = y + dy;
            if (MARGIN < REACH && (from_x < 0 || from_x >= land.width || from_y < 0 || from_y >= land.height))
                continue;
            float there = spores[(from_y + MARGIN) * land.pitch + from_x + MARGIN];
            landed += c_dispersal[(dy + REACH) * ACROSS + dx + REACH] * there;
        }
    }
    int cell = y * land.width + x;
    int kind = crop[cell];
    float weak = kind == 0   ? susceptibility.x
                 : kind == 1 ? susceptibility.y
                 : kind == 2 ? susceptibility.z
                             : susceptibility.w;
    infected[cell] = healthy[cell] * (1.0f - __expf(-weak * landed));
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "pathogens");
    Land land = {p.small ? 50 : 2500, p.small ? 20 : 1900, 0};
    land.pitch = land.width + 2 * MARGIN;
    const int cells = land.width * land.height;
    const size_t stored = (size_t)land.pitch * (land.height + 2 * MARGIN);
    const float4 susceptibility = {0.0f, 0.02f, 0.06f, 0.15f};

    // exponential with distance, drifting with the wind to the east
    std::vector<float> dispersal(ACROSS * ACROSS);
    double sum = 0;
    for (int dy = -REACH; dy <= REACH; dy++)
        for (int dx = -REACH; dx <= REACH; dx++) {
            double r = sqrt(0.6 * (dx + 1.5) * (dx + 1.5) + 1.4 * dy * dy);
            dispersal[(dy + REACH) * ACROSS + dx + REACH] = (float)exp(-r / 2.5);
            sum += exp(-r / 2.5);
        }
    for (float &weight : dispersal)
        weight = (float)(weight / sum);

    std::vector<float> inside = random_floats(cells, 0.0f, 30.0f, 41);
    std::vector<float> healthy = random_floats(cells, 0.0f, 1.0f, 42);
    std::vector<unsigned char> crop(cells);
    lcg_fill(crop.data(), cells, 43, 4);
    std::vector<float> spores(stored, 0.0f);
    for (int y = 0; y < land.height; y++)
        for (int x = 0; x < land.width; x++)
            spores[(size_t)(y + MARGIN) * land.pitch + x + MARGIN] = inside[y * land.width + x];

    CUDA_CHECK(cudaMemcpyToSymbol(c_dispersal, dispersal.data(), dispersal.size() * sizeof(float)));
    float *d_spores = device_copy_of(spores.data(), stored);
    float *d_healthy = device_copy_of(healthy.data(), cells);
    unsigned char *d_crop = device_copy_of(crop.data(), cells);
    float *d_infected = device_array<float>(cells);
    dim3 block(BLOCK_X, BLOCK_Y);
    dim3 grid((land.width + BLOCK_X - 1) / BLOCK_X, (land.height + BLOCK_Y - 1) / BLOCK_Y);
    pair_time(&p, [&] {
        spread<<<grid, block>>>(d_spores, d_healthy, d_crop, land, susceptibility, d_infected);
    });

    std::vector<float> infected = host_copy_of(d_infected, cells);
    const float weak[4] = {susceptibility.x, susceptibility.y, susceptibility.z, susceptibility.w};
    for (int cell = 0; cell < cells; cell += p.small ? 1 : 211) {
        int x = cell % land.width, y = cell / land.width;
        double landed = 0;
        for (int dy = -REACH; dy <= REACH; dy++)
            for (int dx = -REACH; dx <= REACH; dx++) {
                int fx = x + dx, fy = y + dy;
                if (fx >= 0 && fx < land.width && fy >= 0 && fy < land.height)
                    landed += (double)dispersal[(dy + REACH) * ACROSS + dx + REACH] * inside[fy * land.width + fx];
            }
        pair_near(&p, "infected", cell, healthy[cell] * (1 - exp(-weak[crop[cell]] * landed)), infected[cell], 1e-3);
    }
    CUDA_CHECK(cudaFree(d_spores));
    CUDA_CHECK(cudaFree(d_healthy));
    CUDA_CHECK(cudaFree(d_crop));
    CUDA_CHECK(cudaFree(d_infected));
    return pair_end(&p);
}
