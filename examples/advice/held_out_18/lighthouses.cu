// SPDX-License-Identifier: Apache-2.0
//
// Rule: fast-math
// Change: __powf, __expf and __fdividef take the place of powf, expf and the division.
// Why: the picture needs three digits; the exact functions take many instructions per lamp and pixel.
#include "../common.h"

#ifdef AFTER
#define POWER __powf
#define EXP __expf
#define DIVIDE __fdividef
#else
#define POWER powf
#define EXP expf
#define DIVIDE(a, b) ((a) / (b))
#endif

enum { LAMPS = 14 };

struct Lamp {
    float x, y, height, brightness, beam_x, beam_y, sharpness, unused;
};

// How bright the hazy sea is under the beams of the lighthouses of a coast.
__global__ void light_up(const Lamp *lamps, const float *visibility, float *sea, int width, float scale) {
    __shared__ Lamp coast[LAMPS];
    int thread = threadIdx.y * blockDim.x + threadIdx.x;
    if (thread < LAMPS)
        coast[thread] = lamps[thread];
    __syncthreads();
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float clear = visibility[y * width + x], sum = 0.01f;
    for (int k = 0; k < LAMPS; k++) {
        Lamp lamp = coast[k];
        float dx = x * scale - lamp.x, dy = y * scale - lamp.y;
        float square = dx * dx + dy * dy + lamp.height * lamp.height, distance = sqrtf(square);
        float towards = fmaxf(DIVIDE(dx * lamp.beam_x + dy * lamp.beam_y, distance), 0.001f);
        float beam = POWER(towards, lamp.sharpness);
        float haze = EXP(-DIVIDE(distance, clear));
        sum += DIVIDE(lamp.brightness * (beam + 0.02f) * haze, square);
    }
    sea[y * width + x] = DIVIDE(sum, 1 + sum);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "lighthouses");
    int width = p.small ? 32 : 2112, height = p.small ? 8 : 1056, n = width * height;
    float scale = 20.0f / width;
    std::vector<float> raw = random_floats(LAMPS * 5, 0, 1, 1), visibility = random_floats(n, 2, 12, 2);
    std::vector<Lamp> lamps(LAMPS);
    for (int k = 0; k < LAMPS; k++) {
        const float *r = &raw[5 * k];
        float angle = 6.28f * r[2];
        lamps[k] = {20 * r[0],   10 * r[1],       0.03f + 0.03f * r[3], 0.5f + r[4], cosf(angle),
                    sinf(angle), 8 + 40 * r[3], 0};
    }
    Lamp *d_lamps = device_copy_of(lamps.data(), LAMPS);
    float *d_visibility = device_copy_of(visibility.data(), n), *d_sea = device_array<float>(n);
    dim3 block(32, 8), grid(width / 32, height / 8);
    pair_time(&p, [&] { light_up<<<grid, block>>>(d_lamps, d_visibility, d_sea, width, scale); });
    std::vector<float> sea = host_copy_of(d_sea, n);
    for (int i = 0; i < n; i += p.small ? 1 : 61) {
        double sum = 0.01;
        for (const Lamp &lamp : lamps) {
            double dx = (double)(i % width) * scale - lamp.x, dy = (double)(i / width) * scale - lamp.y;
            double square = dx * dx + dy * dy + (double)lamp.height * lamp.height, distance = sqrt(square);
            double towards = std::max((dx * lamp.beam_x + dy * lamp.beam_y) / distance, 0.001);
            sum += lamp.brightness * (pow(towards, lamp.sharpness) + 0.02) * exp(-distance / visibility[i]) / square;
        }
        pair_near(&p, "sea", i, sum / (1 + sum), sea[i], 1e-3);
    }
    return pair_end(&p);
}
