// SPDX-License-Identifier: Apache-2.0
//
// Rule: wrong-type
// Change: the constants are written with an f.
// Why: a constant without it is a double, so that float values are converted, computed with as doubles, converted back.
#include "../common.h"

#ifdef AFTER
#define CONSTANT(x) x##f
#else
#define CONSTANT(x) x
#endif

enum { COLOURS = 16 };

struct Gem {
    float refraction, dispersion, tint, depth;
};

// What part of the light a facet reflects; cosine: of the angle at which the light comes in.
static __device__ float facet_reflects(float index, float cosine) {
    float sine2 = (CONSTANT(1.0) - cosine * cosine) / (index * index);
    float inside = sqrt(CONSTANT(1.0) - sine2);
    float across = (cosine - index * inside) / (cosine + index * inside);
    float along = (index * cosine - inside) / (index * cosine + inside);
    return CONSTANT(0.5) * (across * across + along * along);
}

// The brilliance of each stone seen under each of some angles (2D grid), over the colours of the light.
__global__ void brilliance(const Gem *__restrict__ gems, const float *__restrict__ cosines, float *bright,
                           float *fire, int stones, int angles) {
    int stone = blockIdx.x * blockDim.x + threadIdx.x, angle = blockIdx.y;
    if (stone >= stones)
        return;
    Gem gem = gems[stone];
    float cosine = cosines[angle], sum = 0, least = 1e9f, most = 0;
    for (int c = 0; c < COLOURS; c++) {
        float micrometres = CONSTANT(0.4) + CONSTANT(0.02) * c;
        float index = gem.refraction + gem.dispersion / (micrometres * micrometres);
        float outer = facet_reflects(index, cosine);
        float absorbed = gem.tint * gem.depth * (micrometres - CONSTANT(0.35));
        float inner = (CONSTANT(1.0) - outer) * (CONSTANT(1.0) - outer) / (CONSTANT(1.0) + absorbed);
        float light = outer + CONSTANT(0.8) * inner;
        sum += light;
        least = fminf(least, light);
        most = fmaxf(most, light);
    }
    bright[(size_t)angle * stones + stone] = sum;
    fire[(size_t)angle * stones + stone] = most - least;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "gemstones");
    int stones = p.small ? 500 : 200000, angles = p.small ? 2 : 12, block = 64;
    std::vector<float> any = random_floats((size_t)4 * stones, 0, 1, 1), cosines(angles);
    std::vector<Gem> gems(stones);
    for (int i = 0; i < stones; i++)
        gems[i] = {1.5f + any[4 * i], 0.004f + 0.01f * any[4 * i + 1], any[4 * i + 2], 1 + 4 * any[4 * i + 3]};
    for (int a = 0; a < angles; a++)
        cosines[a] = 0.2f + 0.75f * a / angles;
    size_t count = (size_t)stones * angles;
    Gem *d_gems = device_copy_of(gems.data(), stones);
    float *d_cosines = device_copy_of(cosines.data(), angles);
    float *d_bright = device_array<float>(count), *d_fire = device_array<float>(count);
    pair_time(&p, [&] {
        brilliance<<<dim3((stones + block - 1) / block, angles), block>>>(d_gems, d_cosines, d_bright, d_fire, stones,
                                                                         angles);
    });
    std::vector<float> bright = host_copy_of(d_bright, count), fire = host_copy_of(d_fire, count);
    for (size_t i = 0; i < count; i += p.small ? 1 : 97) {
        const Gem &g = gems[i % stones];
        double cosine = cosines[i / stones], sum = 0, least = 1e9, most = 0;
        for (int c = 0; c < COLOURS; c++) {
            double length = 0.4 + 0.02 * c, index = g.refraction + g.dispersion / (length * length);
            double inside = sqrt(1 - (1 - cosine * cosine) / (index * index));
            double across = (cosine - index * inside) / (cosine + index * inside);
            double along = (index * cosine - inside) / (index * cosine + inside);
            double outer = 0.5 * (across * across + along * along);
            double absorbed = (double)g.tint * g.depth * (length - 0.35);
            double light = outer + 0.8 * (1 - outer) * (1 - outer) / (1 + absorbed);
            sum += light;
            least = std::min(least, light);
            most = std::max(most, light);
        }
        pair_near(&p, "bright", i, sum, bright[i], 2e-5);
        pair_near(&p, "fire", i, most - least, fire[i], 2e-5);
    }
    return pair_end(&p);
}
