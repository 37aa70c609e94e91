// SPDX-License-Identifier: Apache-2.0
//
// Rule: code-reordering
// Change: the wind of the next hour is loaded before the hour is flown, not after it.
// Why: the store of the fuel keeps the compiler from moving the load up; each hour waits for the memory although there
// is enough to calculate meanwhile.
#include "../common.h"

enum { QUARTERS = 4, BLOCK = 64 };

struct Airship {
    float x, y, goal_x, goal_y, speed, fuel;
    int hours;  // at most as many as there are hours in the forecast
    int unused;
};

// Every airship flies to its goal in a wind of its own; fuel[hour * n + ship] is what it has left.
// The forecast has one hour more than any ship flies.
__global__ void fly(Airship *ships, const float2 *winds, float *fuel, int n) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= n)
        return;
    Airship ship = ships[i];
    float2 wind = winds[i];
    for (int hour = 0; hour < ship.hours; hour++) {
#ifdef AFTER
        float2 next = winds[(size_t)(hour + 1) * n + i];
#endif
        for (int quarter = 0; quarter < QUARTERS; quarter++) {
            float dx = ship.goal_x - ship.x, dy = ship.goal_y - ship.y;
            float pull = ship.speed / (1.0f + sqrtf(dx * dx + dy * dy));
            float against = fmaxf(0.0f, -pull * (wind.x * dx + wind.y * dy));
            ship.x += 0.25f * (pull * dx + wind.x);
            ship.y += 0.25f * (pull * dy + wind.y);
            ship.fuel -= ship.fuel * 0.0005f * (1.0f + against);
        }
        fuel[(size_t)hour * n + i] = ship.fuel;
#ifdef AFTER
        wind = next;
#else
        wind = winds[(size_t)(hour + 1) * n + i];
#endif
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "airships");
    int n = p.small ? 128 : 132 * 256, most = p.small ? 12 : 256;
    std::vector<float> raw = random_floats((size_t)n * 6, 0, 1, 1);
    std::vector<int> extra(n);
    lcg_fill(extra.data(), n, 2, most / 4 + 1);
    std::vector<Airship> ships(n);
    for (int i = 0; i < n; i++) {
        const float *r = &raw[(size_t)6 * i];
        ships[i] = {100 * r[0], 100 * r[1],       100 * r[2],          100 * r[3], 0.8f + 0.4f * r[4],
                    50 + 50 * r[5], most - extra[i], 0};
    }
    size_t hours = (size_t)n * most;
    std::vector<float> gusts = random_floats(2 * (hours + n), -0.5f, 0.5f, 3);
    std::vector<float2> winds(hours + n);
    for (size_t k = 0; k < winds.size(); k++)
        winds[k] = make_float2(gusts[2 * k], gusts[2 * k + 1]);
    Airship *d_ships = device_copy_of(ships.data(), n);
    float2 *d_winds = device_copy_of(winds.data(), winds.size());
    float *d_fuel = device_array<float>(hours);
    pair_time(&p, [&] { fly<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(d_ships, d_winds, d_fuel, n); });
    std::vector<float> fuel = host_copy_of(d_fuel, hours);
    for (int i = 0; i < n; i += p.small ? 1 : 89) {
        double x = ships[i].x, y = ships[i].y, left = ships[i].fuel;
        for (int hour = 0; hour < ships[i].hours; hour++) {
            float2 wind = winds[(size_t)hour * n + i];
            for (int quarter = 0; quarter < QUARTERS; quarter++) {
                double dx = ships[i].goal_x - x, dy = ships[i].goal_y - y;
                double pull = ships[i].speed / (1 + sqrt(dx * dx + dy * dy));
                double against = std::max(0.0, -pull * (wind.x * dx + wind.y * dy));
                x += 0.25 * (pull * dx + wind.x);
                y += 0.25 * (pull * dy + wind.y);
                left -= left * 0.0005 * (1 + against);
            }
            pair_near(&p, "fuel", (size_t)hour * n + i, left, fuel[(size_t)hour * n + i], 1e-3);
        }
    }
    return pair_end(&p);
}
