// SPDX-License-Identifier: Apache-2.0
//
// Rule: wrong-type
// Change: the place in the stock table is a 32-bit integer, not a 64-bit one.
// Why: the table has far fewer than 2^31 places, and dividing 64-bit integers takes several times the instructions.
#include "../common.h"

enum { BLOCK = 256 };

#ifdef AFTER
typedef unsigned Place;
#else
typedef unsigned long long Place;
#endif

// What the furniture sold on each day in each shop has brought in: units[day][shop][model].
__global__ void takings(const unsigned short *units, const float *price, const float *discount, const float *season,
                        float *out, Place shops, Place models, Place count) {
    for (Place i = (Place)blockIdx.x * BLOCK + threadIdx.x; i < count; i += (Place)gridDim.x * BLOCK) {
        Place model = i % models;
        Place shop = i / models % shops;
        Place day = i / models / shops;
        out[i] = units[i] * price[model] * (1 - discount[shop]) * season[day];
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "cupboards");
    int days = p.small ? 7 : 364, shops = p.small ? 13 : 118, models = p.small ? 211 : 990;
    size_t count = (size_t)days * shops * models;
    std::vector<unsigned short> units(count);
    lcg_fill(units.data(), count, 5, 40);
    std::vector<float> price = random_floats(models, 50, 400, 1), discount = random_floats(shops, 0, 0.2f, 2);
    std::vector<float> season = random_floats(days, 0.7f, 1, 3);
    unsigned short *d_units = device_copy_of(units.data(), count);
    float *d_price = device_copy_of(price.data(), models), *d_discount = device_copy_of(discount.data(), shops);
    float *d_season = device_copy_of(season.data(), days), *d_out = device_array<float>(count);
    int blocks = p.small ? 24 : 132 * 8;
    pair_time(&p,
              [&] { takings<<<blocks, BLOCK>>>(d_units, d_price, d_discount, d_season, d_out, shops, models, count); });
    std::vector<float> out = host_copy_of(d_out, count);
    for (size_t i = 0; i < count; i += 97) {
        size_t model = i % models, shop = i / models % shops, day = i / models / shops;
        double expected = units[i] * (double)price[model] * (1 - discount[shop]) * season[day];
        pair_near(&p, "takings", i, expected, out[i], 1e-5);
    }
    return pair_end(&p);
}
