// SPDX-License-Identifier: Apache-2.0
//
// Rule: fast-math
// Change: the exponentials and quotients are the fast ones of the hardware.
// Why: three exact exponentials and four exact quotients in every minute are nearly all there is to do.
#include "../common.h"

enum { BLOCK = 256, HOPS = 4 };

#ifdef AFTER
static __device__ float exponential(float x) { return __expf(x); }
static __device__ float quotient(float a, float b) { return __fdividef(a, b); }
#else
static __device__ float exponential(float x) { return expf(x); }
static __device__ float quotient(float a, float b) { return a / b; }
#endif

// How bitter many brews become: hops are thrown in at their minutes, their acids turn bitter and decay as the wort
// cools.
__global__ void bitterness(const float *grams, const int *minutes, const float *cooling, const float *litres,
                           float *bitter, float *left, int brews, int duration) {
    int i = blockIdx.x * BLOCK + threadIdx.x, next = 0, when = minutes[i];
    float acids = 0, sum = 0, rate = cooling[i], volume = litres[i];
    for (int minute = 0; minute < duration; minute++) {
        while (next < HOPS && minute == when) {
            acids += quotient(grams[next * brews + i], volume);
            if (++next < HOPS)
                when = minutes[next * brews + i];
        }
        float kelvin = 293.0f + 80.0f * exponential(-rate * (float)max(minute - 60, 0));
        float turn = exponential(27.395f - quotient(11858.0f, kelvin));
        float decay = exponential(29.042f - quotient(12994.0f, kelvin));
        float turned = acids * quotient(turn, 1.0f + turn);
        sum = quotient(sum, 1.0f + decay) + turned;
        acids -= turned;
    }
    bitter[i] = sum;
    left[i] = acids;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "brewing");
    int brews = p.small ? 512 : 1 << 18, duration = p.small ? 30 : 120;
    std::vector<float> grams = random_floats((size_t)brews * HOPS, 5, 80, 1),
                       cooling = random_floats(brews, 0.01f, 0.1f, 2), litres = random_floats(brews, 15, 40, 3);
    std::vector<int> minutes((size_t)brews * HOPS);
    unsigned seed = 4;
    for (int i = 0; i < brews; i++)
        for (int h = 0, when = 0; h < HOPS; h++)
            minutes[(size_t)h * brews + i] = when += (int)lcg_next(&seed, duration / HOPS);
    float *d_grams = device_copy_of(grams.data(), grams.size()), *d_cooling = device_copy_of(cooling.data(), brews),
          *d_litres = device_copy_of(litres.data(), brews), *d_bitter = device_array<float>(brews),
          *d_left = device_array<float>(brews);
    int *d_minutes = device_copy_of(minutes.data(), minutes.size());
    pair_time(&p, [&] {
        bitterness<<<brews / BLOCK, BLOCK>>>(d_grams, d_minutes, d_cooling, d_litres, d_bitter, d_left, brews,
                                             duration);
    });
    std::vector<float> bitter = host_copy_of(d_bitter, brews), left = host_copy_of(d_left, brews);
    for (int i = 0; i < brews; i += 61) {
        double acids = 0, sum = 0;
        for (int minute = 0; minute < duration; minute++) {
            for (int h = 0; h < HOPS; h++)
                if (minutes[(size_t)h * brews + i] == minute)
                    acids += (double)grams[(size_t)h * brews + i] / litres[i];
            double kelvin = 293 + 80 * exp(-(double)cooling[i] * std::max(minute - 60, 0));
            double turn = exp(27.395 - 11858 / kelvin), decay = exp(29.042 - 12994 / kelvin);
            double turned = acids * turn / (1 + turn);
            sum = sum / (1 + decay) + turned;
            acids -= turned;
        }
        pair_near(&p, "bitter", i, sum, bitter[i], 1e-3);
        pair_near(&p, "left", i, acids, left[i], 1e-3);
    }
    return pair_end(&p);
}
