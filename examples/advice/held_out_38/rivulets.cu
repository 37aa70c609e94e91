// SPDX-License-Identifier: Apache-2.0
//
// Rule: code-reordering
// Change: the cell downstream is loaded at the start of a step, with the cell's slope and roughness, not at its end.
// Why: a few warps an SM follow chains of cells; before, a step waits for two loads one after the other, because the
// compiler may not move a load over the atomic; now they wait together, and the arithmetic passes meanwhile.
#include "../common.h"

// Flood waves from springs: a thread follows the water of one spring down a map of flow directions to the sea, with
// Manning's formula for the speed, and notes in every cell when the last wave arrives.
constexpr int THREADS = 64;
constexpr int SEA = -1;

struct Basin {
    const int *downstream;   // of each cell the next one
    const float *slope;      // m/m
    const float *roughness;  // Manning's n
    int *latest;             // seconds as the bits of a float, which order as ints do
    float cell;              // m
};

struct Wave {
    float seconds, depth;
};

__host__ __device__ inline void flow(Wave *w, float slope, float roughness, float cell) {
    float root = cbrtf(w->depth);
    float speed = root * root * sqrtf(slope) / roughness;
    float length = cell / speed;
    w->seconds += length;
    w->depth = w->depth * 0.999f + 2e-4f * sqrtf(w->depth) + 1e-3f * slope;
}

__global__ void __launch_bounds__(THREADS)
    route_waves(Basin basin, const int2 *springs, int count, float *arrivals, int *lengths) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= count)
        return;
    int cell = springs[i].x, steps = 0;
    Wave wave = {1.0f, 0.01f * springs[i].y};
    while (cell != SEA) {
#ifdef AFTER
        int next = basin.downstream[cell];
#endif
        flow(&wave, basin.slope[cell], basin.roughness[cell], basin.cell);
        atomicMax(&basin.latest[cell], __float_as_int(wave.seconds));
        steps++;
#ifdef AFTER
        cell = next;
#else
        cell = basin.downstream[cell];
#endif
    }
    arrivals[i] = wave.seconds;
    lengths[i] = steps;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "rivulets");
    int width = p.small ? 64 : 1024, height = p.small ? 40 : 1024, count = p.small ? 500 : 132 * 2 * THREADS;
    int cells = width * height;
    std::vector<float> slope = random_floats(cells, 0.002f, 0.05f, 23);
    std::vector<float> roughness = random_floats(cells, 0.03f, 0.08f, 24);
    std::vector<int> downstream(cells);
    unsigned seed = 25;
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            int turn = lcg_next(&seed, 5);
            int to = x + (turn == 0) - (turn == 1);
            to = std::min(std::max(to, 0), width - 1);
            downstream[y * width + x] = y + 1 < height ? (y + 1) * width + to : SEA;
        }
    std::vector<int2> springs(count);
    for (int2 &s : springs) {
        s.x = lcg_next(&seed, height / 4) * width;
        s.x += lcg_next(&seed, width);
        s.y = 5 + lcg_next(&seed, 40);
    }

    Basin basin = {device_copy_of(downstream.data(), cells), device_copy_of(slope.data(), cells),
                   device_copy_of(roughness.data(), cells), device_array<int>(cells), 25.0f};
    int2 *d_springs = device_copy_of(springs.data(), count);
    float *d_arrivals = device_array<float>(count);
    int *d_lengths = device_array<int>(count);
    CUDA_CHECK(cudaMemset(basin.latest, 0, cells * sizeof(int)));

    int blocks = (count + THREADS - 1) / THREADS;
    pair_time(&p, [&] { route_waves<<<blocks, THREADS>>>(basin, d_springs, count, d_arrivals, d_lengths); });

    std::vector<float> arrivals = host_copy_of(d_arrivals, count), expected(cells, 0.0f);
    std::vector<int> lengths = host_copy_of(d_lengths, count), latest = host_copy_of(basin.latest, cells);
    for (int i = 0; i < count; i++) {
        Wave wave = {1.0f, 0.01f * springs[i].y};
        int steps = 0;
        for (int cell = springs[i].x; cell != SEA; cell = downstream[cell], steps++) {
            flow(&wave, slope[cell], roughness[cell], basin.cell);
            expected[cell] = std::max(expected[cell], wave.seconds);
        }
        pair_near(&p, "length", i, steps, lengths[i], 0);
        pair_near(&p, "arrival", i, wave.seconds, arrivals[i], 1e-3);
    }
    for (int c = 0; c < cells; c++) {
        float got;
        memcpy(&got, &latest[c], sizeof got);
        pair_near(&p, "latest", c, expected[c], got, 1e-3);
    }
    CUDA_CHECK(cudaFree((void *)basin.downstream));
    CUDA_CHECK(cudaFree((void *)basin.slope));
    CUDA_CHECK(cudaFree((void *)basin.roughness));
    CUDA_CHECK(cudaFree(basin.latest));
    CUDA_CHECK(cudaFree(d_springs));
    CUDA_CHECK(cudaFree(d_arrivals));
    CUDA_CHECK(cudaFree(d_lengths));
    return pair_end(&p);
}
