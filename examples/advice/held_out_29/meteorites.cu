// SPDX-License-Identifier: Apache-2.0
//
// Rule: branch-elimination
// Change: the floors below the meteorite are counted without a branch instead of searching for the first one.
// Why: the meteorites of a warp are in different layers, so the search diverges in every time step.
#include "../common.h"

enum { BLOCK = 128, LAYERS = 8 };

struct Air {
    float floor[LAYERS], density[LAYERS], thinning[LAYERS];  // metres, kg/m3 at the floor, per metre
};

struct Entry {
    float speed, slope, area;  // m/s, sine of the angle, m2 for each kg
};

static const Air STANDARD_AIR = {{0, 11000, 20000, 32000, 47000, 51000, 71000, 84850},
                                 {1.225f, 0.3639f, 0.0880f, 0.01322f, 0.00143f, 0.00086f, 0.000064f, 0.0000069f},
                                 {110e-6f, 158e-6f, 158e-6f, 148e-6f, 127e-6f, 130e-6f, 161e-6f, 185e-6f}};

__host__ __device__ inline int layer_of(const Air &air, float height) {
#ifdef AFTER
    int layer = 0;
    for (int k = 1; k < LAYERS; k++)
        layer += height >= air.floor[k];
    return layer;
#else
    int layer = LAYERS - 1;
    while (layer > 0 && height < air.floor[layer])
        layer--;
    return layer;
#endif
}

// The highest dynamic pressure on the way down.
__host__ __device__ inline float peak_of(const Air &air, Entry e, int steps, float dt) {
    float height = 95000, speed = e.speed, peak = 0;
    for (int s = 0; s < steps; s++) {
        int layer = layer_of(air, height);
        float density = air.density[layer] * expf((air.floor[layer] - height) * air.thinning[layer]);
        float drag = density * e.area * speed;
        speed = (speed + 9.81f * e.slope * dt) / (1 + drag * dt);
        height = fmaxf(height - speed * e.slope * dt, 0.0f);
        peak = fmaxf(peak, 0.5f * density * speed * speed);
    }
    return peak;
}

__global__ void fall(const Entry *entries, float *peaks, int n, int steps, float dt, const Air *standard) {
    __shared__ Air air;
    if (threadIdx.x < LAYERS) {
        air.floor[threadIdx.x] = standard->floor[threadIdx.x];
        air.density[threadIdx.x] = standard->density[threadIdx.x];
        air.thinning[threadIdx.x] = standard->thinning[threadIdx.x];
    }
    __syncthreads();
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < n)
        peaks[i] = peak_of(air, entries[i], steps, dt);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "meteorites");
    int n = p.small ? 1500 : 300000, steps = p.small ? 60 : 240;
    float dt = p.small ? 0.4f : 0.1f;
    std::vector<float> random = random_floats(3 * (size_t)n, 0, 1, 1);
    std::vector<Entry> entries(n);
    for (int i = 0; i < n; i++) {
        const float *r = &random[3 * i];
        entries[i] = {11000 + 20000 * r[0], 0.15f + 0.8f * r[1], 0.0002f + 0.0018f * r[2]};
    }
    Entry *d_entries = device_copy_of(entries.data(), n);
    Air *d_air = device_copy_of(&STANDARD_AIR, 1);
    float *d_peaks = device_array<float>(n);
    pair_time(&p, [&] { fall<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(d_entries, d_peaks, n, steps, dt, d_air); });
    std::vector<float> peaks = host_copy_of(d_peaks, n);
    for (int i = 0; i < n; i += 101)
        pair_near(&p, "peak", i, peak_of(STANDARD_AIR, entries[i], steps, dt), peaks[i], 2e-3);
    return pair_end(&p);
}
