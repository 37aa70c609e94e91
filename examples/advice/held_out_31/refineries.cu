// SPDX-License-Identifier: Apache-2.0
//
// Rule: spills
// Change: the launch bounds ask for three blocks per SM instead of six.
// Why: a column's trays and the Runge-Kutta sums don't fit into the 40 registers that six blocks leave a thread.
#include "../common.h"

constexpr int kTrays = 16, kFeedTray = 7;
constexpr float kStep = 0.04f;
#ifdef AFTER
constexpr int kBlocksPerSM = 3;
#else
constexpr int kBlocksPerSM = 6;
#endif

struct Column {
    float reflux, boilup, feed, light;  // flows per hold-up and minute; what share of the feed is light
    float volatility;
};

__host__ __device__ inline float vapour(float x, float volatility) {
    return volatility * x / (1.0f + (volatility - 1.0f) * x);
}

// d/dt of the liquid's light share on each tray; 0 is the reboiler, the last one the condenser.
__host__ __device__ inline void slopes(const Column &c, const float (&x)[kTrays], float (&dx)[kTrays]) {
    float stripping = c.reflux + c.feed;
    float y = vapour(x[0], c.volatility);
    dx[0] = 0.2f * (stripping * (x[1] - x[0]) - c.boilup * (y - x[0]));
    for (int t = 1; t < kTrays - 1; t++) {
        float above = vapour(x[t], c.volatility);
        float from = t >= kFeedTray ? c.reflux : stripping, to = t > kFeedTray ? c.reflux : stripping;
        dx[t] = from * x[t + 1] - to * x[t] + c.boilup * (y - above);
        if (t == kFeedTray)
            dx[t] += c.feed * c.light;
        y = above;
    }
    dx[kTrays - 1] = 0.2f * c.boilup * (y - x[kTrays - 1]);
}

__host__ __device__ inline void run_column(const Column &c, int steps, float *distillate, float *bottoms) {
    float x[kTrays], at[kTrays], dx[kTrays], sum[kTrays];
    for (int t = 0; t < kTrays; t++)
        x[t] = c.light;
    for (int s = 0; s < steps; s++) {
        slopes(c, x, dx);
        for (int t = 0; t < kTrays; t++) {
            sum[t] = dx[t];
            at[t] = x[t] + 0.5f * kStep * dx[t];
        }
        slopes(c, at, dx);
        for (int t = 0; t < kTrays; t++) {
            sum[t] += 2.0f * dx[t];
            at[t] = x[t] + 0.5f * kStep * dx[t];
        }
        slopes(c, at, dx);
        for (int t = 0; t < kTrays; t++) {
            sum[t] += 2.0f * dx[t];
            at[t] = x[t] + kStep * dx[t];
        }
        slopes(c, at, dx);
        for (int t = 0; t < kTrays; t++)
            x[t] += kStep / 6 * (sum[t] + dx[t]);
    }
    *distillate = x[kTrays - 1];
    *bottoms = x[0];
}

// How pure the products of distillation columns get after a start, one thread per way to run a column.
__global__ void __launch_bounds__(256, kBlocksPerSM)
    distil(const Column *columns, float *distillate, float *bottoms, int count, int steps) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    Column mine = columns[i];
    run_column(mine, steps, &distillate[i], &bottoms[i]);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "refineries");
    int count = p.small ? 1000 : 199000, steps = p.small ? 6 : 150;
    std::vector<float> random = random_floats((size_t)count * 4, 0, 1, 21);
    std::vector<Column> columns(count);
    for (int i = 0; i < count; i++) {
        const float *r = &random[(size_t)i * 4];
        Column &c = columns[i];
        c.feed = 1;
        c.reflux = 1.5f + 2 * r[0];
        c.boilup = c.reflux + 0.4f + 0.2f * r[1];
        c.light = 0.35f + 0.3f * r[2];
        c.volatility = 1.6f + r[3];
    }
    Column *d_columns = device_copy_of(columns.data(), count);
    float *d_distillate = device_array<float>(count), *d_bottoms = device_array<float>(count);
    pair_time(&p, [&] { distil<<<(count + 255) / 256, 256>>>(d_columns, d_distillate, d_bottoms, count, steps); });
    std::vector<float> distillate = host_copy_of(d_distillate, count), bottoms = host_copy_of(d_bottoms, count);
    for (int i = 0; i < count; i += p.small ? 3 : 211) {
        float top, bottom;
        run_column(columns[i], steps, &top, &bottom);
        pair_near(&p, "distillate", i, top, distillate[i], 1e-4);
        pair_near(&p, "bottoms", i, bottom, bottoms[i], 1e-4);
    }
    return pair_end(&p);
}
