// SPDX-License-Identifier: Apache-2.0
//
// Rule: indirect-addressing
// Change: a house has its meter's readings and its tariff's number itself, no longer a pointer to a meter with a
// pointer. Why: three loads follow on one another, and the meters lie all over memory, in the order in which they were
// built in.
#include "../common.h"

struct Tariff {
    float fee, price, limit, beyond;
};

struct Meter {
    const Tariff *tariff;
    float before, now;
    int serial, year;
};

#ifdef AFTER
struct House {
    float before, now;
    int tariff;
    float persons;
};
#else
struct House {
    const Meter *meter;
    float persons;
};
#endif

static __device__ float bill(float before, float now, float persons, Tariff t) {
    float used = now - before;
    if (used < 0)  // the counter went round
        used += 10000.0f;
    float cheap = fminf(used, t.limit * persons);
    return t.fee + t.price * cheap + t.beyond * (used - cheap);
}

// A year's water bills of a county.
__global__ void water_bills(const House *houses, const Tariff *tariffs, float *bills, int count) {
    int stride = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride) {
#ifdef AFTER
        House house = houses[i];
        bills[i] = bill(house.before, house.now, house.persons, tariffs[house.tariff]);
#else
        const Meter *meter = houses[i].meter;
        bills[i] = bill(meter->before, meter->now, houses[i].persons, *meter->tariff);
#endif
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "water_meters");
    int n = p.small ? 4000 : 1 << 23, tariff_count = 40;
    std::vector<float> r = random_floats(tariff_count * 4, 0, 1, 1), before = random_floats(n, 0, 9900, 2),
                       used = random_floats(n, 20, 400, 3), persons = random_floats(n, 1, 7, 4);
    std::vector<Tariff> tariffs(tariff_count);
    for (int i = 0; i < tariff_count; i++)
        tariffs[i] = {50 + 40 * r[4 * i], 1 + r[4 * i + 1], 30 + 30 * r[4 * i + 2], 2 + 2 * r[4 * i + 3]};
    std::vector<float> now(n);
    std::vector<int> kinds(n), order(n);
    lcg_fill(kinds.data(), n, 5, tariff_count);
    unsigned seed = 6;
    for (int i = 0; i < n; i++) {
        now[i] = before[i] + used[i];
        if (now[i] >= 10000)
            now[i] -= 10000;
        order[i] = i;
        std::swap(order[i], order[lcg_next(&seed, i + 1)]);
    }
    Tariff *d_tariffs = device_copy_of(tariffs.data(), tariff_count);
    std::vector<House> houses(n);
#ifdef AFTER
    for (int i = 0; i < n; i++)
        houses[i] = {before[i], now[i], kinds[i], persons[i]};
#else
    std::vector<Meter> meters(n);
    Meter *d_meters = device_array<Meter>(n);
    for (int i = 0; i < n; i++) {
        meters[order[i]] = {d_tariffs + kinds[i], before[i], now[i], i, 2000 + i % 20};
        houses[i] = {d_meters + order[i], persons[i]};
    }
    CUDA_CHECK(cudaMemcpy(d_meters, meters.data(), n * sizeof(Meter), cudaMemcpyHostToDevice));
#endif
    House *d_houses = device_copy_of(houses.data(), n);
    float *d_bills = device_array<float>(n);
    int blocks = p.small ? 4 : 2112;
    pair_time(&p, [&] { water_bills<<<blocks, 256>>>(d_houses, d_tariffs, d_bills, n); });
    std::vector<float> bills = host_copy_of(d_bills, n);
    for (int i = 0; i < n; i += p.small ? 3 : 97) {
        Tariff t = tariffs[kinds[i]];
        double water = (double)now[i] - before[i];
        if (water < 0)
            water += 10000;
        double cheap = std::min(water, (double)t.limit * persons[i]);
        pair_near(&p, "bill", i, t.fee + t.price * cheap + t.beyond * (water - cheap), bills[i], 1e-4);
    }
    return pair_end(&p);
}
