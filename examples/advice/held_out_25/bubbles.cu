// SPDX-License-Identifier: Apache-2.0
//
// Rule: fast-math
// Change: sine, exponential function and division are the fast approximations of the hardware.
// Why: the colours are shown with 8 bits; exact to the last bit of a float, each of the three takes many instructions,
// for every wavelength of every pixel.
#include "../common.h"

enum { WAVES = 24 };
struct Wave {
    float nanometres, red, green, blue;
};
__constant__ Wave waves[WAVES];

#ifdef AFTER
static __device__ float sine(float x) { return __sinf(x); }
static __device__ float exponential(float x) { return __expf(x); }
static __device__ float ratio(float x, float y) { return __fdividef(x, y); }
#else
static __device__ float sine(float x) { return sinf(x); }
static __device__ float exponential(float x) { return expf(x); }
static __device__ float ratio(float x, float y) { return x / y; }
#endif

// The colours of light that is reflected by a soap bubble whose film has flown down and whirls; a thread per pixel.
__global__ void __launch_bounds__(256) film_colours(float4 *image, int width, int height, float drained) {
    int column = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 8 + threadIdx.y;
    if (column >= width || row >= height)
        return;
    float x = (2 * column + 1 - width) * (1.0f / width), y = (2 * row + 1 - height) * (1.0f / height);
    float across = x * x + y * y;
    float4 colour = {0, 0, 0, 0};
    if (across < 1) {
        float whirl = sine(7 * x + 3 * sine(4 * y)) + sine(9 * y - 5 * x);
        float film = 120 + 700 * exponential(-drained * (1 - y)) + 25 * whirl;  // in nanometres
        for (int i = 0; i < WAVES; i++) {
            float length = waves[i].nanometres;
            float bends = 1.324f + ratio(3046.0f, length * length);
            float path = film * sqrtf(bends * bends - across);
            float half = sine(ratio(6.2831853f * path, length));
            float mirror = ratio(bends - 1, bends + 1);
            float finesse = 4 * mirror * mirror * half * half, whole = 1 - mirror * mirror;
            float light = ratio(finesse, whole * whole + finesse) * exponential(-0.8f * ratio(length, 550.0f) * across);
            colour.x += waves[i].red * light;
            colour.y += waves[i].green * light;
            colour.z += waves[i].blue * light;
        }
        colour.w = 1;
    }
    image[(size_t)row * width + column] = colour;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "bubbles");
    int width = p.small ? 48 : 1920, height = p.small ? 24 : 1080;
    float drained = 0.9f;
    std::vector<Wave> table(WAVES);
    for (int i = 0; i < WAVES; i++) {
        float l = 400 + 300.0f * i / (WAVES - 1), r = (l - 600) / 45, g = (l - 550) / 40, b = (l - 450) / 30;
        table[i] = {l, expf(-r * r), expf(-g * g), expf(-b * b)};
    }
    CUDA_CHECK(cudaMemcpyToSymbol(waves, table.data(), WAVES * sizeof(Wave)));
    float4 *d_image = device_array<float4>((size_t)width * height);
    dim3 block(32, 8), grid((width + 31) / 32, (height + 7) / 8);
    pair_time(&p, [&] { film_colours<<<grid, block>>>(d_image, width, height, drained); });
    std::vector<float4> image = host_copy_of(d_image, (size_t)width * height);
    for (size_t at = 0; at < image.size(); at += p.small ? 1 : 331) {
        int column = at % width, row = at / width;
        double x = (2 * column + 1 - width) / (double)width, y = (2 * row + 1 - height) / (double)height;
        double across = x * x + y * y, sums[3] = {0, 0, 0};
        if (fabs(across - 1) < 1e-5)  // on the rim: in or out
            continue;
        double film = 120 + 700 * exp(-drained * (1 - y)) + 25 * (sin(7 * x + 3 * sin(4 * y)) + sin(9 * y - 5 * x));
        for (int i = 0; i < WAVES && across < 1; i++) {
            double length = table[i].nanometres, bends = 1.324 + 3046 / (length * length);
            double half = sin(2 * M_PI * film * sqrt(bends * bends - across) / length);
            double mirror = (bends - 1) / (bends + 1), finesse = 4 * mirror * mirror * half * half;
            double light = finesse / (pow(1 - mirror * mirror, 2) + finesse) * exp(-0.8 * length / 550 * across);
            sums[0] += table[i].red * light;
            sums[1] += table[i].green * light;
            sums[2] += table[i].blue * light;
        }
        pair_near(&p, "red", at, sums[0], image[at].x, 5e-4);
        pair_near(&p, "green", at, sums[1], image[at].y, 5e-4);
        pair_near(&p, "blue", at, sums[2], image[at].z, 5e-4);
        pair_near(&p, "inside", at, across < 1, image[at].w, 1e-9);
    }
    return pair_end(&p);
}
