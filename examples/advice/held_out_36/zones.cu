// SPDX-License-Identifier: Apache-2.0
//
// Rule: thread-increase
// Change: 512 threads work on a zone, not 64.
// Why: there are only about two zones for each SM, so with two warps a zone an SM had four warps to hide the latency
// of the elevations; with sixteen a zone it has 32.
#include "../common.h"

#ifdef AFTER
constexpr int THREADS = 512;
#else
constexpr int THREADS = 64;
#endif
constexpr int WARPS = THREADS / 32;
constexpr float CELL = 25;   // metres between elevations
constexpr float STEEP = 0.4f;  // gradient from which a cell counts as steep

struct Relief {
    float mean_height;
    float mean_gradient;
    float highest_gradient;
    float steep_share;
};

// Gradient by Horn's method from the 3 x 3 elevations around (x, y), the border repeated outwards.
__host__ __device__ inline float gradient(const float *map, int size, int x, int y) {
    int west = x > 0 ? x - 1 : x, east = x + 1 < size ? x + 1 : x;
    const float *middle = map + (size_t)y * size;
    const float *north = y > 0 ? middle - size : middle;
    const float *south = y + 1 < size ? middle + size : middle;
    float dx = north[east] + 2 * middle[east] + south[east] - north[west] - 2 * middle[west] - south[west];
    float dy = south[west] + 2 * south[x] + south[east] - north[west] - 2 * north[x] - north[east];
    return sqrtf(dx * dx + dy * dy) / (8 * CELL);
}

__device__ Relief combine(Relief a, const Relief &b) {
    a.mean_height += b.mean_height;
    a.mean_gradient += b.mean_gradient;
    a.highest_gradient = fmaxf(a.highest_gradient, b.highest_gradient);
    a.steep_share += b.steep_share;
    return a;
}

// Relief of every zone, a square of zone x zone cells; one CTA each.
__global__ void zone_relief(const float *__restrict__ map, int size, int zone, Relief *__restrict__ relief) {
    __shared__ Relief of_warp[WARPS];
    int x0 = blockIdx.x * zone, y0 = blockIdx.y * zone;
    Relief r = {0, 0, 0, 0};
    for (int i = threadIdx.x; i < zone * zone; i += THREADS) {
        int x = x0 + i % zone, y = y0 + i / zone;
        float g = gradient(map, size, x, y);
        r = combine(r, {map[(size_t)y * size + x], g, g, g >= STEEP ? 1.0f : 0.0f});
    }
    for (int offset = 16; offset > 0; offset /= 2) {
        Relief other;
        other.mean_height = __shfl_down_sync(~0u, r.mean_height, offset);
        other.mean_gradient = __shfl_down_sync(~0u, r.mean_gradient, offset);
        other.highest_gradient = __shfl_down_sync(~0u, r.highest_gradient, offset);
        other.steep_share = __shfl_down_sync(~0u, r.steep_share, offset);
        r = combine(r, other);
    }
    if (threadIdx.x % 32 == 0)
        of_warp[threadIdx.x / 32] = r;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < WARPS; w++)
            r = combine(r, of_warp[w]);
        float cells = (float)zone * zone;
        relief[blockIdx.y * gridDim.x + blockIdx.x] = {r.mean_height / cells, r.mean_gradient / cells,
                                                       r.highest_gradient, r.steep_share / cells};
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "zones");
    int zone = p.small ? 40 : 250, across = p.small ? 2 : 16;
    int size = zone * across, zones = across * across;

    std::vector<float> map = random_floats((size_t)size * size, 0, 12, 61);
    std::vector<float> hills(size);
    for (int i = 0; i < size; i++)
        hills[i] = 180 * sinf(0.011f * i) + 60 * sinf(0.057f * i);
    for (int y = 0; y < size; y++)
        for (int x = 0; x < size; x++)
            map[(size_t)y * size + x] += 500 + hills[x] + 0.7f * hills[y];

    float *d_map = device_copy_of(map.data(), map.size());
    Relief *d_relief = device_array<Relief>(zones);

    pair_time(&p, [&] { zone_relief<<<dim3(across, across), THREADS>>>(d_map, size, zone, d_relief); });

    std::vector<Relief> relief = host_copy_of(d_relief, zones);
    for (int z = 0; z < zones; z += p.small ? 1 : 17) {
        double height = 0, sum = 0, highest = 0, steep = 0, cells = (double)zone * zone;
        for (int i = 0; i < zone * zone; i++) {
            int x = z % across * zone + i % zone, y = z / across * zone + i / zone;
            float g = gradient(map.data(), size, x, y);
            height += map[(size_t)y * size + x];
            sum += g;
            highest = std::max(highest, (double)g);
            steep += g >= STEEP;
        }
        pair_near(&p, "mean height", z, height / cells, relief[z].mean_height, 1e-3);
        pair_near(&p, "mean gradient", z, sum / cells, relief[z].mean_gradient, 1e-3);
        pair_near(&p, "highest gradient", z, highest, relief[z].highest_gradient, 1e-3);
        pair_near(&p, "steep share", z, steep / cells, relief[z].steep_share, 2e-3);
    }
    CUDA_CHECK(cudaFree(d_map));
    CUDA_CHECK(cudaFree(d_relief));
    return pair_end(&p);
}
