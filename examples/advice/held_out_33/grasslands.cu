// SPDX-License-Identifier: Apache-2.0
//
// Rule: loop-unrolling
// Change: the loop over the dates is unrolled eight times instead of kept rolled.
// Why: rolled, a thread has the two loads of one date in flight and then waits for them; unrolled, it has sixteen.
#include "../common.h"

enum { BLOCK = 128, MOST_DATES = 512 };

// Cosine and sine of the day of the year of each date, and the weight of its view angle.
struct Date {
    float cosine, sine, weight, padding;
};

__constant__ Date dates_of_year[MOST_DATES];

struct Season {
    float sum, cosine, sine, weight, greenest;
};

// Vegetation index of one view; a red of 0 is a cloud.
static __device__ void add_view(Season *season, unsigned red, unsigned near_infrared, const Date &date) {
    float r = (float)red, n = (float)near_infrared;
    float index = __fdividef(n - r, n + r + 1.0f), seen = fminf(r, 1.0f), weight = seen * date.weight;
    season->sum += weight * index;
    season->cosine += weight * index * date.cosine;
    season->sine += weight * index * date.sine;
    season->weight += weight;
    season->greenest = fmaxf(season->greenest, seen * (index + 1.0f) - 1.0f);
}

// Mean greenness, amplitude of its yearly wave and its highest value, of each pixel of a stack of satellite images;
// the images are stored one after the other.
__global__ void __launch_bounds__(BLOCK)
    grasslands(const unsigned short *__restrict__ red, const unsigned short *__restrict__ near_infrared,
               float *__restrict__ mean, float *__restrict__ amplitude, float *__restrict__ greenest, int pixels,
               int dates) {
    int pixel = blockIdx.x * BLOCK + threadIdx.x;
    if (pixel >= pixels)
        return;
    Season season = {0, 0, 0, 0, -1};
#ifdef AFTER
#pragma unroll 8
#else
#pragma unroll 1
#endif
    for (int d = 0; d < dates; d++) {
        size_t at = (size_t)d * pixels + pixel;
        add_view(&season, red[at], near_infrared[at], dates_of_year[d]);
    }
    float scale = season.weight > 0 ? 1.0f / season.weight : 0.0f;
    mean[pixel] = season.sum * scale;
    amplitude[pixel] = 2.0f * scale * sqrtf(season.cosine * season.cosine + season.sine * season.sine);
    greenest[pixel] = season.greenest;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "grasslands");
    int pixels = p.small ? 300 * 200 : 480 * 350, dates = p.small ? 26 : 365;
    size_t count = (size_t)pixels * dates;
    std::vector<unsigned short> red(count), near_infrared(count);
    unsigned seed = 7;
    for (size_t i = 0; i < count; i++) {
        unsigned noise = lcg_next(&seed, 1 << 16);
        red[i] = noise % 5 == 0 ? 0 : (unsigned short)(300 + noise % 1700);
        near_infrared[i] = (unsigned short)(1500 + noise / 16);
    }
    std::vector<Date> table(MOST_DATES);
    for (int d = 0; d < dates; d++) {
        double angle = 2 * 3.14159265358979 * d / dates;
        table[d] = {(float)cos(angle), (float)sin(angle), 1.0f - 0.02f * (d % 16), 0};
    }
    CUDA_CHECK(cudaMemcpyToSymbol(dates_of_year, table.data(), MOST_DATES * sizeof(Date)));
    unsigned short *d_red = device_copy_of(red.data(), count),
                   *d_near_infrared = device_copy_of(near_infrared.data(), count);
    float *d_mean = device_array<float>(pixels), *d_amplitude = device_array<float>(pixels),
          *d_greenest = device_array<float>(pixels);
    pair_time(&p, [&] {
        grasslands<<<(pixels + BLOCK - 1) / BLOCK, BLOCK>>>(d_red, d_near_infrared, d_mean, d_amplitude, d_greenest,
                                                            pixels, dates);
    });
    std::vector<float> mean = host_copy_of(d_mean, pixels), amplitude = host_copy_of(d_amplitude, pixels),
                       greenest = host_copy_of(d_greenest, pixels);
    for (int i = 0; i < pixels; i += 1013) {
        double sum = 0, cosine = 0, sine = 0, weight = 0, highest = -1;
        for (int d = 0; d < dates; d++) {
            double r = red[(size_t)d * pixels + i], n = near_infrared[(size_t)d * pixels + i];
            if (r == 0)
                continue;
            double index = (n - r) / (n + r + 1), w = table[d].weight;
            sum += w * index;
            cosine += w * index * table[d].cosine;
            sine += w * index * table[d].sine;
            weight += w;
            highest = std::max(highest, index);
        }
        pair_near(&p, "mean", i, weight > 0 ? sum / weight : 0, mean[i], 1e-4);
        pair_near(&p, "amplitude", i, weight > 0 ? 2 * sqrt(cosine * cosine + sine * sine) / weight : 0, amplitude[i],
                  1e-4);
        pair_near(&p, "greenest", i, highest, greenest[i], 1e-4);
    }
    return pair_end(&p);
}
