// SPDX-License-Identifier: Apache-2.0
//
// Rule: redundant-loads
// Change: a site's rain, frost and slope are read once, before the loop over the species.
// Why: the scores that the loop writes might overlap them, as far as the compiler knows, so it reads them each time.
#include "../common.h"

static const int MOST_SPECIES = 64;

// What a species of kangaroo likes best, and how fast it likes less what is different.
struct Niche {
    float rain, frost, slope;
    float by_rain, by_frost, by_slope;
};

__constant__ Niche niches[MOST_SPECIES];

struct Sites {
    const float *rain;   // mm a year
    const float *frost;  // nights a year
    const float *slope;  // degrees
    int count;
};

// How suitable every site is for every species, from 0 to 255.
__global__ void kangaroos(Sites sites, unsigned char *scores, int species) {
    const int i = threadIdx.x + blockDim.x * blockIdx.x;
    if (i < sites.count) {
#ifdef AFTER
        const float rain = sites.rain[i], frost = sites.frost[i], slope = sites.slope[i];
#endif
        unsigned char *score = scores + i;
        for (int s = 0; s < species; s++, score += sites.count) {
            const Niche &likes = niches[s];
#ifdef AFTER
            float a = (rain - likes.rain) * likes.by_rain;
            float b = (frost - likes.frost) * likes.by_frost;
            float c = (slope - likes.slope) * likes.by_slope;
#else
            float a = (sites.rain[i] - likes.rain) * likes.by_rain;
            float b = (sites.frost[i] - likes.frost) * likes.by_frost;
            float c = (sites.slope[i] - likes.slope) * likes.by_slope;
#endif
            *score = (unsigned char)(255.0f / (1.0f + a * a + b * b + c * c) + 0.5f);
        }
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "kangaroos");
    const int count = p.small ? 8000 : 2700000, species = p.small ? 24 : 55;
    std::vector<float> rain = random_floats(count, 150, 1400, 1);
    std::vector<float> frost = random_floats(count, 0, 60, 2), slope = random_floats(count, 0, 35, 3);
    std::vector<Niche> likes;
    unsigned seed = 4;
    for (int s = 0; s < species; s++) {
        float r = 200.0f + lcg_next(&seed, 1000), f = (float)lcg_next(&seed, 40), d = (float)lcg_next(&seed, 25);
        likes.push_back({r, f, d, 0.004f, 0.05f, 0.1f});
    }
    CUDA_CHECK(cudaMemcpyToSymbol(niches, likes.data(), likes.size() * sizeof(Niche)));
    Sites sites = {device_copy_of(rain.data(), count), device_copy_of(frost.data(), count),
                   device_copy_of(slope.data(), count), count};
    const size_t all = (size_t)count * species;
    unsigned char *d_scores = device_array<unsigned char>(all);
    const int block = 256, grid = (count + block - 1) / block;
    pair_time(&p, [&] { kangaroos<<<grid, block>>>(sites, d_scores, species); });
    std::vector<unsigned char> scores = host_copy_of(d_scores, all);
    for (size_t k = 0; k < all; k += p.small ? 7 : 2003) {
        const Niche &n = likes[k / count];
        size_t i = k % count;
        double a = (rain[i] - n.rain) * n.by_rain, b = (frost[i] - n.frost) * n.by_frost;
        double c = (slope[i] - n.slope) * n.by_slope, expected = 255 / (1 + a * a + b * b + c * c);
        bool rounded = fabs(expected - scores[k]) < 0.51;
        pair_near(&p, "score", k, expected, rounded ? expected : scores[k], 0);
    }
    return pair_end(&p);
}
