// SPDX-License-Identifier: Apache-2.0
//
// Rule: redundant-loads
// Change: what is known of a field's variety is copied once, before the days, instead of being referred to.
// Why: the heights that are stored every day might overlap the varieties as far as the compiler can tell, so that all
// parameters were loaded again on each day, by the threads of a warp from many places.
#include "../common.h"

enum { BLOCK = 192, VARIETIES = 48 };

struct Variety {
    float base, ceiling;  // degrees that count
    float need;           // degree days until ripe
    float growth;         // metres per degree day
    float thirst;         // litres per degree day
    float tallest;        // metres
};

// Height of the plants of each field from day to day until they are ripe; a thread per field.
__global__ void grow(const Variety *varieties, const int *kinds, const int *sown, const float *warmth,
                     const float *rain, float *heights, int *ripe, int fields, int days) {
    int f = blockIdx.x * BLOCK + threadIdx.x;
    if (f >= fields)
        return;
#ifdef AFTER
    const Variety v = varieties[kinds[f]];
#else
    const Variety &v = varieties[kinds[f]];
#endif
    float degrees = 0, height = 0.02f, water = 40;
    int day = sown[f];
    for (; day < days && degrees < v.need; day++) {
        float today = fmaxf(fminf(warmth[day], v.ceiling) - v.base, 0.0f);
        degrees += today;
        float wanted = v.thirst * today, got = fminf(wanted, water);
        water = fminf(water - got + rain[day], 80.0f);
        float share = __fdividef(got, wanted + 1e-3f);
        height += v.growth * today * share * (1 - __fdividef(height, v.tallest));
        heights[(size_t)day * fields + f] = height;
    }
    ripe[f] = day;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "sunflowers");
    int fields = p.small ? 2 * BLOCK : 132 * 2048, days = p.small ? 60 : 140;
    std::vector<Variety> varieties(VARIETIES);
    for (int v = 0; v < VARIETIES; v++)
        varieties[v] = {4 + v % 5 * 0.7f,  24 + v % 7 * 0.6f,    (p.small ? 300.0f : 900.0f) + v * 9,
                        0.004f + v * 5e-5f, 0.2f + v % 3 * 0.06f, 1.8f + v % 9 * 0.2f};
    std::vector<int> kinds(fields), sown(fields);
    lcg_fill(kinds.data(), fields, 1, VARIETIES);
    lcg_fill(sown.data(), fields, 2, 12);
    std::vector<float> warmth = random_floats(days, 8, 30, 3), rain = random_floats(days, 0, 7, 4);
    Variety *d_varieties = device_copy_of(varieties.data(), VARIETIES);
    int *d_kinds = device_copy_of(kinds.data(), fields), *d_sown = device_copy_of(sown.data(), fields),
        *d_ripe = device_array<int>(fields);
    float *d_warmth = device_copy_of(warmth.data(), days), *d_rain = device_copy_of(rain.data(), days);
    float *d_heights = device_array<float>((size_t)days * fields);
    CUDA_CHECK(cudaMemset(d_heights, 0, sizeof(float) * days * fields));
    pair_time(&p, [&] {
        grow<<<(fields + BLOCK - 1) / BLOCK, BLOCK>>>(d_varieties, d_kinds, d_sown, d_warmth, d_rain, d_heights, d_ripe,
                                                      fields, days);
    });
    std::vector<float> heights = host_copy_of(d_heights, (size_t)days * fields);
    std::vector<int> ripe = host_copy_of(d_ripe, fields);
    for (int f = 0; f < fields; f += p.small ? 1 : 331) {
        const Variety &v = varieties[kinds[f]];
        float degrees = 0, height = 0.02f, water = 40;
        int day = sown[f];
        for (; day < days && degrees < v.need; day++) {
            float today = std::max(std::min(warmth[day], v.ceiling) - v.base, 0.0f);
            degrees += today;
            float wanted = v.thirst * today, got = std::min(wanted, water);
            water = std::min(water - got + rain[day], 80.0f);
            height += v.growth * today * (got / (wanted + 1e-3f)) * (1 - height / v.tallest);
            size_t at = (size_t)day * fields + f;
            pair_near(&p, "height", at, height, heights[at], 2e-4);
        }
        pair_near(&p, "ripe", f, day, ripe[f], 1e-9);
    }
    return pair_end(&p);
}
