// SPDX-License-Identifier: Apache-2.0
//
// Rule: global-coalescing
// Change: the sales are stored hour by hour with all kiosks side by side, no longer kiosk by kiosk.
// Why: the threads of a warp read the same hour of 32 kiosks, which lay a whole history apart, a sector for each.
#include "../common.h"

enum { BLOCK = 192 };

struct Smoothing {
    float level, trend;  // weights of the newest value
};

#ifdef AFTER
#define AT(kiosk, hour) ((size_t)(hour) * n + (kiosk))
#else
#define AT(kiosk, hour) ((size_t)(kiosk) * hours + (hour))
#endif

// Double exponential smoothing of the sales of each kiosk since it was opened: the forecast for the next hour, the mean
// error of the forecasts so far, and how many hours there was a run on it. One thread per kiosk.
__global__ void forecast(const float *__restrict__ sales, const unsigned char *__restrict__ opened, Smoothing weight,
                         float *__restrict__ next, float *__restrict__ error, int *__restrict__ runs, int n,
                         int hours) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= n)
        return;
    int first = opened[i], rushes = 0;
    float level = sales[AT(i, first)], trend = 0, missed = 0;
    for (int h = first + 1; h < hours; h++) {
        float sold = sales[AT(i, h)], expected = level + trend;
        missed += fabsf(sold - expected);
        rushes += sold >= 60.0f;
        float now = expected + weight.level * (sold - expected);
        trend += weight.trend * (now - level - trend);
        level = now;
    }
    next[i] = level + trend;
    error[i] = missed / (hours - first);
    runs[i] = rushes;
}

// What a kiosk sold in an hour: 0 to 63 things, more in the middle of the day.
static float sold_at(int kiosk, int hour) {
    unsigned mixed = kiosk * 2654435761u ^ hour * 2246822519u;
    mixed = (mixed ^ mixed >> 15) * 3266489917u;
    int day = hour % 24;
    return (float)((mixed >> 16) % (16 + 2 * (day < 12 ? day : 23 - day)) + (mixed >> 9) % 26);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "kiosks");
    int n = p.small ? 1000 : 132 * 2304, hours = p.small ? 24 : 96;
    const Smoothing weight = {0.3f, 0.1f};
    std::vector<float> sales((size_t)n * hours);
#ifdef AFTER
    for (int h = 0; h < hours; h++)
        for (int i = 0; i < n; i++)
            sales[AT(i, h)] = sold_at(i, h);
#else
    for (int i = 0; i < n; i++)
        for (int h = 0; h < hours; h++)
            sales[AT(i, h)] = sold_at(i, h);
#endif
    std::vector<unsigned char> opened(n);
    lcg_fill(opened.data(), n, 7, hours / 6);
    float *d_sales = device_copy_of(sales.data(), sales.size());
    unsigned char *d_opened = device_copy_of(opened.data(), n);
    float *d_next = device_array<float>(n), *d_error = device_array<float>(n);
    int *d_runs = device_array<int>(n);
    pair_time(&p, [&] {
        forecast<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(d_sales, d_opened, weight, d_next, d_error, d_runs, n, hours);
    });
    std::vector<float> next = host_copy_of(d_next, n), error = host_copy_of(d_error, n);
    std::vector<int> runs = host_copy_of(d_runs, n);
    for (int i = 0; i < n; i += p.small ? 1 : 29) {
        double level = sold_at(i, opened[i]), trend = 0, missed = 0;
        int rushes = 0;
        for (int h = opened[i] + 1; h < hours; h++) {
            double sold = sold_at(i, h), expected = level + trend;
            missed += fabs(sold - expected);
            rushes += sold >= 60;
            double now = expected + weight.level * (sold - expected);
            trend += weight.trend * (now - level - trend);
            level = now;
        }
        pair_near(&p, "next", i, level + trend, next[i], 1e-4);
        pair_near(&p, "error", i, missed / (hours - opened[i]), error[i], 1e-4);
        pair_near(&p, "runs", i, rushes, runs[i], 0);
    }
    return pair_end(&p);
}
