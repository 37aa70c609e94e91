// SPDX-License-Identifier: Apache-2.0
//
// Rule: redundant-loads
// Change: what is carried from week to week is kept in registers and stored at the end.
// Why: the arrays may overlap as far as the compiler knows, so each week loads and stores all of it.
#include "../common.h"

enum { BLOCK = 256 };

// Many stocks of fish through some years of weeks: what is left, what was landed, and the lowest the stock has been.
__global__ void fish(const float *initial, const float *capacity, const float *growth, const float *effort,
                     float *stock, float *landed, float *lowest, int stocks, int weeks) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
#ifdef AFTER
    float now = initial[i], total = 0, low = now, most = capacity[i], rate = growth[i];
    for (int week = 0; week < weeks; week++) {
        float take = effort[week * stocks + i] * now;
        if (now < 0.2f * most)  // boats look elsewhere, the scarcer the fish
            take *= now / most * 5.0f;
        now += rate * now * (1.0f - now / most) - take;
        total += take;
        low = fminf(low, now);
    }
    stock[i] = now;
    landed[i] = total;
    lowest[i] = low;
#else
    stock[i] = initial[i];
    landed[i] = 0;
    lowest[i] = stock[i];
    for (int week = 0; week < weeks; week++) {
        float take = effort[week * stocks + i] * stock[i];
        if (stock[i] < 0.2f * capacity[i])  // boats look elsewhere, the scarcer the fish
            take *= stock[i] / capacity[i] * 5.0f;
        stock[i] += growth[i] * stock[i] * (1.0f - stock[i] / capacity[i]) - take;
        landed[i] += take;
        lowest[i] = fminf(lowest[i], stock[i]);
    }
#endif
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "cod_stock");
    int stocks = p.small ? 1024 : 1 << 17, weeks = p.small ? 26 : 156;
    size_t n = (size_t)stocks * weeks;
    std::vector<float> initial = random_floats(stocks, 20, 90, 1), capacity = random_floats(stocks, 100, 150, 2),
                       growth = random_floats(stocks, 0.02f, 0.1f, 3), effort = random_floats(n, 0, 0.1f, 4);
    float *d_initial = device_copy_of(initial.data(), stocks), *d_capacity = device_copy_of(capacity.data(), stocks),
          *d_growth = device_copy_of(growth.data(), stocks), *d_effort = device_copy_of(effort.data(), n),
          *d_stock = device_array<float>(stocks), *d_landed = device_array<float>(stocks),
          *d_lowest = device_array<float>(stocks);
    pair_time(&p, [&] {
        fish<<<stocks / BLOCK, BLOCK>>>(d_initial, d_capacity, d_growth, d_effort, d_stock, d_landed, d_lowest, stocks,
                                        weeks);
    });
    std::vector<float> stock = host_copy_of(d_stock, stocks), landed = host_copy_of(d_landed, stocks),
                       lowest = host_copy_of(d_lowest, stocks);
    for (int i = 0; i < stocks; i += 47) {
        double now = initial[i], total = 0, low = now, most = capacity[i];
        for (int week = 0; week < weeks; week++) {
            double take = effort[(size_t)week * stocks + i] * now;
            if (now < 0.2 * most)
                take *= now / most * 5;
            now += growth[i] * now * (1 - now / most) - take;
            total += take;
            low = std::min(low, now);
        }
        pair_near(&p, "stock", i, now, stock[i], 1e-3);
        pair_near(&p, "landed", i, total, landed[i], 1e-3);
        pair_near(&p, "lowest", i, low, lowest[i], 1e-3);
    }
    return pair_end(&p);
}
