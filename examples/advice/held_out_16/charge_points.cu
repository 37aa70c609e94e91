// SPDX-License-Identifier: Apache-2.0
//
// Rule: redundant-loads
// Change: the best price so far and its charging point are kept in registers and stored once.
// Why: they were read from global memory for every charging point, and after a store the car's own place was as well.
#include "../common.h"

enum { BLOCK = 256 };

struct Car {
    int east, north, hurry;  // metres; cents per 256 m of detour
};

struct Charger {
    int east, north, cents;  // price of a charge
};

static __host__ __device__ int price(const Car &car, const Charger &charger) {
    int way = abs(car.east - charger.east) + abs(car.north - charger.north);
    return charger.cents + (way * car.hurry >> 8);
}

// Sends every electric car that wants to charge to the point that costs it least, the way there included.
__global__ void assign(const Car *cars, const Charger *chargers, int *cost, int *point, int car_count,
                       int charger_count) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= car_count)
        return;
#ifdef AFTER
    int best = 1 << 30, chosen = -1;
    for (int c = 0; c < charger_count; c++) {
        int cents = price(cars[i], chargers[c]);
        if (cents < best) {
            best = cents;
            chosen = c;
        }
    }
    cost[i] = best;
    point[i] = chosen;
#else
    cost[i] = 1 << 30;
    for (int c = 0; c < charger_count; c++) {
        int cents = price(cars[i], chargers[c]);
        if (cents < cost[i]) {
            cost[i] = cents;
            point[i] = c;
        }
    }
#endif
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "charge_points");
    int car_count = p.small ? 2000 : 900000, charger_count = p.small ? 60 : 360;
    std::vector<Car> cars(car_count);
    std::vector<Charger> chargers(charger_count);
    unsigned seed = 1;
    for (Car &c : cars) {
        c.east = lcg_next(&seed, 60000);
        c.north = lcg_next(&seed, 40000);
        c.hurry = 5 + lcg_next(&seed, 60);
    }
    for (Charger &c : chargers) {
        c.east = lcg_next(&seed, 60000);
        c.north = lcg_next(&seed, 40000);
        c.cents = 900 + lcg_next(&seed, 1500);
    }
    Car *d_cars = device_copy_of(cars.data(), car_count);
    Charger *d_chargers = device_copy_of(chargers.data(), charger_count);
    int *d_cost = device_array<int>(car_count), *d_point = device_array<int>(car_count);
    pair_time(&p, [&] {
        assign<<<(car_count + BLOCK - 1) / BLOCK, BLOCK>>>(d_cars, d_chargers, d_cost, d_point, car_count,
                                                           charger_count);
    });
    std::vector<int> cost = host_copy_of(d_cost, car_count), point = host_copy_of(d_point, car_count);
    for (int i = 0; i < car_count; i += 17) {
        int best = 0;
        for (int c = 1; c < charger_count; c++)
            if (price(cars[i], chargers[c]) < price(cars[i], chargers[best]))
                best = c;
        pair_near(&p, "cost", i, price(cars[i], chargers[best]), cost[i], 0);
        pair_near(&p, "point", i, best, point[i], 0);
    }
    return pair_end(&p);
}
