// SPDX-License-Identifier: Apache-2.0
//
// Rule: fast-math
// Change: powers, exponentials and quotients are the fast intrinsics.
// Why: the picture is rounded to 8 bits a channel, so their error of a few units in the last places cannot be seen; the
// exact powf and divisions are most of the instructions of the kernel.
#include "../common.h"

// Night haze over a town, put over a rendered picture: the light of the scene is dimmed by haze that thins out with
// height, lamps shine through it with halos (Henyey-Greenstein), and the result is mapped to the screen's tones.

constexpr int THREADS = 256;
constexpr int LAMPS = 5;

struct Lamp {
    float x, y, z;
    float red, green, blue;
};

struct Scene {
    int width, height;
    float eye;        // height of the camera
    float spread;     // tangent of half the view's angle
    float thinning;   // per metre of height
    float asymmetry;  // of scattering
    float extinction[3];
    float gamma;
    Lamp lamp[LAMPS];
};

__host__ __device__ inline float power(float base, float exponent) {
#if defined(AFTER) && defined(__CUDA_ARCH__)
    return __powf(base, exponent);
#else
    return powf(base, exponent);
#endif
}

__host__ __device__ inline float exponential(float x) {
#if defined(AFTER) && defined(__CUDA_ARCH__)
    return __expf(x);
#else
    return expf(x);
#endif
}

__host__ __device__ inline float quotient(float a, float b) {
#if defined(AFTER) && defined(__CUDA_ARCH__)
    return __fdividef(a, b);
#else
    return a / b;
#endif
}

// How much haze lies on a way that starts at a height and climbs
__host__ __device__ inline float haze_along(float height, float climb, float distance, float thinning) {
    float k = thinning * climb;
    float steep = fabsf(k) < 1e-5f ? 1e-5f : k;
    return exponential(-thinning * height) * quotient(1.0f - exponential(-steep * distance), steep);
}

__host__ __device__ inline float halo(float cosine, float g) {
    return quotient(1.0f - g * g, power(1.0f + g * g - 2.0f * g * cosine, 1.5f));
}

// Colours are 0 to 255, the result not yet rounded.
__host__ __device__ inline float3 shine(const Scene &s, uchar4 colour, float depth, int column, int row) {
    float u = s.spread * quotient(2.0f * column + 1.0f - s.width, (float)s.height);
    float v = s.spread * quotient(s.height - 2.0f * row - 1.0f, (float)s.height);
    float norm = sqrtf(u * u + v * v + 1.0f);
    float dx = quotient(u, norm), dy = quotient(v, norm), dz = quotient(1.0f, norm);

    float amount = haze_along(s.eye, dy, depth, s.thinning);
    float light[3] = {power(colour.x * (1.0f / 255), s.gamma), power(colour.y * (1.0f / 255), s.gamma),
                      power(colour.z * (1.0f / 255), s.gamma)};
#pragma unroll
    for (int c = 0; c < 3; c++)
        light[c] = light[c] * exponential(-s.extinction[c] * amount) + 0.004f;

#pragma unroll
    for (int l = 0; l < LAMPS; l++) {
        const Lamp &lamp = s.lamp[l];
        float x = lamp.x, y = lamp.y - s.eye, z = lamp.z;
        float away = sqrtf(x * x + y * y + z * z);
        float cosine = quotient(x * dx + y * dy + z * dz, away);
        float between = fminf(amount, haze_along(lamp.y, quotient(-y, away), away, s.thinning));
        float strength = quotient(halo(cosine, s.asymmetry) * between, 1.0f + 0.01f * away * away);
        light[0] += lamp.red * strength * exponential(-s.extinction[0] * between);
        light[1] += lamp.green * strength * exponential(-s.extinction[1] * between);
        light[2] += lamp.blue * strength * exponential(-s.extinction[2] * between);
    }
    float inverse = quotient(1.0f, s.gamma);
#pragma unroll
    for (int c = 0; c < 3; c++)
        light[c] = 255.0f * power(quotient(light[c], 1.0f + light[c]), inverse);
    return make_float3(light[0], light[1], light[2]);
}

__global__ void __launch_bounds__(THREADS)
put_haze(const uchar4 *__restrict__ picture, const float *__restrict__ depth, Scene scene,
         uchar4 *__restrict__ screen) {
    int column = blockIdx.x * THREADS + threadIdx.x, row = blockIdx.y;
    if (column >= scene.width)
        return;
    int i = row * scene.width + column;
    float3 light = shine(scene, picture[i], depth[i], column, row);
    screen[i] = make_uchar4((unsigned char)(light.x + 0.5f), (unsigned char)(light.y + 0.5f),
                            (unsigned char)(light.z + 0.5f), 255);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "hazes");
    const int width = p.small ? 64 : 3840, height = p.small ? 24 : 2160;
    Scene scene = {width, height, 6.0f, 0.6f, 0.04f, 0.72f, {0.010f, 0.013f, 0.018f}, 2.2f, {}};
    const int pixels = width * height;
    unsigned seed = 221;
    for (int l = 0; l < LAMPS; l++)
        scene.lamp[l] = {-20.0f + 10 * l, 4.0f + lcg_next(&seed, 4), 15.0f + lcg_next(&seed, 50), 0.30f, 0.22f, 0.12f};
    std::vector<uchar4> picture(pixels);
    std::vector<float> depth(pixels);
    for (int i = 0; i < pixels; i++) {
        unsigned r = lcg_next(&seed, 1 << 16);
        unsigned char grey = (unsigned char)(20 + (i % width / 32 * 7 + i / width / 16 * 13) % 150);
        picture[i] = make_uchar4(grey + (r & 15), grey + (r >> 4 & 15), grey + (r >> 8 & 15), 255);
        depth[i] = 10.0f + 0.004f * r;
    }

    uchar4 *d_picture = device_copy_of(picture.data(), pixels), *d_screen = device_array<uchar4>(pixels);
    float *d_depth = device_copy_of(depth.data(), pixels);
    dim3 blocks((width + THREADS - 1) / THREADS, height);
    pair_time(&p, [&] { put_haze<<<blocks, THREADS>>>(d_picture, d_depth, scene, d_screen); });

    std::vector<uchar4> screen = host_copy_of(d_screen, pixels);
    for (int i = 0; i < pixels; i += p.small ? 1 : 211) {
        float3 expected = shine(scene, picture[i], depth[i], i % width, i / width);
        const float levels[3] = {expected.x, expected.y, expected.z};
        const unsigned char got[3] = {screen[i].x, screen[i].y, screen[i].z};
        for (int c = 0; c < 3; c++)  // half a level is what rounding takes
            pair_near(&p, "level", (size_t)i * 3 + c, levels[c],
                      std::min(std::max(levels[c], got[c] - 0.5f), got[c] + 0.5f), 1e-3);
    }
    CUDA_CHECK(cudaFree(d_picture));
    CUDA_CHECK(cudaFree(d_screen));
    CUDA_CHECK(cudaFree(d_depth));
    return pair_end(&p);
}
