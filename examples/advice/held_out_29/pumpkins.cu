// SPDX-License-Identifier: Apache-2.0
//
// Rule: redundant-loads
// Change: the sum is in a register and stored once instead of being loaded and stored again each day.
// Why: the sum's word (and, as it may alias, the crop's threshold) goes through memory once a day otherwise.
#include "../common.h"

enum { WIDTH = 32, HEIGHT = 8 };

// Growing degree days of each field of a map over a season.
__global__ void degree_days(const float *celsius, const float *threshold, float *sum, int columns, int rows, int days) {
    int column = blockIdx.x * WIDTH + threadIdx.x, row = blockIdx.y * HEIGHT + threadIdx.y;
    if (column >= columns || row >= rows)
        return;
    int cells = columns * rows, cell = row * columns + column;
#ifdef AFTER
    float total = 0;
    for (int day = 0; day < days; day++)
        total += fmaxf(fminf(celsius[day * cells + cell], 32.0f) - threshold[cell], 0.0f);
    sum[cell] = total;
#else
    sum[cell] = 0;
    for (int day = 0; day < days; day++)
        sum[cell] += fmaxf(fminf(celsius[day * cells + cell], 32.0f) - threshold[cell], 0.0f);
#endif
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "pumpkins");
    int columns = p.small ? 70 : 700, rows = p.small ? 50 : 500, days = p.small ? 12 : 90;
    int cells = columns * rows;
    std::vector<float> celsius = random_floats((size_t)cells * days, 2, 38, 1);
    std::vector<float> threshold = random_floats(cells, 8, 15, 2);
    float *d_celsius = device_copy_of(celsius.data(), celsius.size());
    float *d_threshold = device_copy_of(threshold.data(), cells), *d_sum = device_array<float>(cells);
    dim3 grid((columns + WIDTH - 1) / WIDTH, (rows + HEIGHT - 1) / HEIGHT), block(WIDTH, HEIGHT);
    pair_time(&p, [&] { degree_days<<<grid, block>>>(d_celsius, d_threshold, d_sum, columns, rows, days); });
    std::vector<float> sum = host_copy_of(d_sum, cells);
    for (int cell = 0; cell < cells; cell += 101) {
        double expected = 0;
        for (int day = 0; day < days; day++)
            expected += fmaxf(fminf(celsius[(size_t)day * cells + cell], 32.0f) - threshold[cell], 0.0f);
        pair_near(&p, "sum", cell, expected, sum[cell], 1e-4);
    }
    return pair_end(&p);
}
