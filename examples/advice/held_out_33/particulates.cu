// SPDX-License-Identifier: Apache-2.0
//
// Rule: occupancy-up
// Change: the launch asks for shared memory for the window in use (12 hours), not for the longest one on offer (96).
// Why: 48 KiB a block let four blocks of four warps on an SM, too few to hide the latency of the loads and of the
// chains of dependent instructions; 6 KiB let 16 blocks on it, all the warps that it can hold.
#include "../common.h"

enum { BLOCK = 128, LONGEST_WINDOW = 96 };

// Air quality as it is shown to the public: the NowCast of fine particulates in every cell of a model grid is a mean of
// the last hours, in which old hours count less where the concentration varies much.
struct Summary {
    float highest, mean;
};

// Smallest over largest value of the window, at least a half: what an hour weighs relative to the next one.
static __device__ float hour_weight(const float *ring, int filled) {
    float low = ring[threadIdx.x], high = low;
    for (int k = 1; k < filled; k++) {
        float c = ring[k * BLOCK + threadIdx.x];
        low = fminf(low, c);
        high = fmaxf(high, c);
    }
    return fmaxf(low / high, 0.5f);
}

// From the oldest hour to the newest, which is in `slot`.
static __device__ float weighted_mean(const float *ring, int slot, int filled, int window, float weight) {
    float sum = 0, norm = 0;
    for (int age = filled - 1; age >= 0; age--) {
        int k = slot - age;
        if (k < 0)
            k += window;
        sum = sum * weight + ring[k * BLOCK + threadIdx.x];
        norm = norm * weight + 1;
    }
    return sum / norm;
}

// A thread has a cell; its last `window` hours are in a ring in shared memory.
__global__ void nowcast(const float *concentration, Summary *out, int cells, int hours, int window) {
    extern __shared__ float ring[];
    int cell = blockIdx.x * BLOCK + threadIdx.x;
    if (cell >= cells)
        return;
    Summary s = {0, 0};
    int slot = 0, filled = 0;
    for (int hour = 0; hour < hours; hour++) {
        ring[slot * BLOCK + threadIdx.x] = concentration[(size_t)hour * cells + cell];
        filled = min(filled + 1, window);
        float now = weighted_mean(ring, slot, filled, window, hour_weight(ring, filled));
        s.highest = fmaxf(s.highest, now);
        s.mean += now;
        slot = slot + 1 == window ? 0 : slot + 1;
    }
    s.mean /= hours;
    out[cell] = s;
}

static Summary expected_summary(const std::vector<float> &concentration, int cells, int hours, int window, int cell) {
    double highest = 0, total = 0;
    for (int hour = 0; hour < hours; hour++) {
        int oldest = std::max(0, hour + 1 - window);
        double low = 1e30, high = 0, sum = 0, norm = 0;
        for (int h = oldest; h <= hour; h++) {
            low = std::min(low, (double)concentration[(size_t)h * cells + cell]);
            high = std::max(high, (double)concentration[(size_t)h * cells + cell]);
        }
        double weight = std::max(low / high, 0.5);
        for (int h = oldest; h <= hour; h++) {
            sum = sum * weight + concentration[(size_t)h * cells + cell];
            norm = norm * weight + 1;
        }
        highest = std::max(highest, sum / norm);
        total += sum / norm;
    }
    Summary s = {(float)highest, (float)(total / hours)};
    return s;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "particulates");
    int cells = 132 * (p.small ? 8 : 32) * BLOCK - 50, hours = p.small ? 12 : 48, window = 12;
    std::vector<float> concentration = random_floats((size_t)cells * hours, 12, 60, 3);
    float *d_concentration = device_copy_of(concentration.data(), concentration.size());
    Summary *d_out = device_array<Summary>(cells);
#ifdef AFTER
    int slots = window;
#else
    int slots = LONGEST_WINDOW;
#endif
    size_t shared = (size_t)slots * BLOCK * sizeof(float);
    int blocks = (cells + BLOCK - 1) / BLOCK;
    pair_time(&p, [&] { nowcast<<<blocks, BLOCK, shared>>>(d_concentration, d_out, cells, hours, window); });

    std::vector<Summary> out = host_copy_of(d_out, cells);
    for (int cell = 0; cell < cells; cell += cells / 211) {
        Summary s = expected_summary(concentration, cells, hours, window, cell);
        pair_near(&p, "highest", cell, s.highest, out[cell].highest, 1e-4);
        pair_near(&p, "mean", cell, s.mean, out[cell].mean, 1e-4);
    }
    CUDA_CHECK(cudaFree(d_concentration));
    CUDA_CHECK(cudaFree(d_out));
    return pair_end(&p);
}
