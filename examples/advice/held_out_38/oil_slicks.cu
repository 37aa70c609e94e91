// SPDX-License-Identifier: Apache-2.0
//
// Rule: vectorised-access
// Change: a thread classifies four neighbouring pixels and reads and writes them as one vector a plane, not one pixel
// with one- and two-byte accesses.
// Why: accesses of one or two bytes a lane ask for only 32 or 64 bytes with a request of a whole warp; with four pixels
// a quarter of the requests, warps and address computations do, and more bytes are on their way.
#include "../common.h"

// Finds oil slicks in radar images of the sea: where the backscatter is much weaker than the wind and the angle of
// incidence (by column) let expect, and weak in both polarisations, the sea may be covered with oil.
constexpr int THREADS = 256;

enum : unsigned char { SEA, SUSPECT, OIL, NO_DATA };

struct Model {
    float co_scale, cross_scale;  // of the amplitudes
    float noise;                  // floor of the cross polarisation, a power
    float suspect, oil;           // damping from which a pixel is taken as one
};

__host__ __device__ inline unsigned char classify(unsigned short co, unsigned short cross, unsigned char land,
                                                  float expected, const Model &m) {
    float co_amplitude = co * m.co_scale, cross_amplitude = cross * m.cross_scale;
    float co_power = co_amplitude * co_amplitude;
    float cross_power = fmaxf(cross_amplitude * cross_amplitude - m.noise, 0.0f);
    bool suspect = co_power * m.suspect < expected;
    bool oil = co_power * m.oil < expected && cross_power * 12.0f < expected;
    unsigned char answer = oil ? OIL : suspect ? SUSPECT : SEA;
    return land != 0 || co == 0 ? NO_DATA : answer;
}

// Planes of width x height; expected: backscatter of clean sea in every column. Width is a multiple of four.
__global__ void __launch_bounds__(THREADS)
    find_slicks(unsigned char *__restrict__ classes, const unsigned short *__restrict__ co,
                const unsigned short *__restrict__ cross, const unsigned char *__restrict__ land,
                const float *__restrict__ expected, Model model, int width) {
    size_t row = (size_t)blockIdx.y * width;
#ifdef AFTER
    int x = 4 * (blockIdx.x * THREADS + threadIdx.x);
    if (x >= width)
        return;
    ushort4 a = *(const ushort4 *)(co + row + x);
    ushort4 b = *(const ushort4 *)(cross + row + x);
    uchar4 l = *(const uchar4 *)(land + row + x);
    float4 e = *(const float4 *)(expected + x);
    *(uchar4 *)(classes + row + x) =
        make_uchar4(classify(a.x, b.x, l.x, e.x, model), classify(a.y, b.y, l.y, e.y, model),
                    classify(a.z, b.z, l.z, e.z, model), classify(a.w, b.w, l.w, e.w, model));
#else
    int x = blockIdx.x * THREADS + threadIdx.x;
    if (x >= width)
        return;
    classes[row + x] = classify(co[row + x], cross[row + x], land[row + x], expected[x], model);
#endif
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "oil_slicks");
    const int width = p.small ? 640 : 10240, height = p.small ? 6 : 7200;
    const size_t pixels = (size_t)width * height;

    Model model = {1.0f / 4096.0f, 1.0f / 8192.0f, 0.0002f, 1.8f, 3.5f};
    std::vector<float> expected(width);
    for (int x = 0; x < width; x++)  // incidence from 20 to 45 degrees
        expected[x] = 0.30f * expf(-2.5f * x / width) + 0.01f;

    std::vector<unsigned short> co(pixels), cross(pixels);
    std::vector<unsigned char> land(pixels);
    unsigned seed = 384;
    for (int y = 0; y < height; y++) {
        int slick = (int)lcg_next(&seed, width), coast = width - (int)lcg_next(&seed, width / 8);
        for (int x = 0; x < width; x++) {
            size_t at = (size_t)y * width + x;
            seed = seed * 1664525u + 1013904223u;
            unsigned speckle = 256 + (seed >> 24);  // an amplitude, by 400 about
            bool oily = x >= slick && x < slick + width / 16;
            co[at] = (unsigned short)((1800 - 1200 * x / width) * speckle / (oily ? 900 : 400));
            cross[at] = (unsigned short)(co[at] / 3 + ((seed >> 12) & 127));
            land[at] = x >= coast ? 1 : 0;
        }
        co[(size_t)y * width + lcg_next(&seed, width)] = 0;
    }

    unsigned short *d_co = device_copy_of(co.data(), pixels), *d_cross = device_copy_of(cross.data(), pixels);
    unsigned char *d_land = device_copy_of(land.data(), pixels), *d_classes = device_array<unsigned char>(pixels);
    float *d_expected = device_copy_of(expected.data(), width);
#ifdef AFTER
    int across = width / 4;
#else
    int across = width;
#endif
    dim3 blocks((across + THREADS - 1) / THREADS, height);
    pair_time(&p,
              [&] { find_slicks<<<blocks, THREADS>>>(d_classes, d_co, d_cross, d_land, d_expected, model, width); });

    std::vector<unsigned char> classes = host_copy_of(d_classes, pixels);
    size_t unlike = 0, looked = 0;  // a comparison of two floats that are nearly equal may go either way
    for (size_t i = 0; i < pixels; i += p.small ? 1 : 53, looked++)
        unlike += classes[i] != classify(co[i], cross[i], land[i], expected[i % width], model);
    pair_near(&p, "unlike", looked, 0, (double)unlike / looked, 1e-3);

    CUDA_CHECK(cudaFree(d_co));
    CUDA_CHECK(cudaFree(d_cross));
    CUDA_CHECK(cudaFree(d_land));
    CUDA_CHECK(cudaFree(d_classes));
    CUDA_CHECK(cudaFree(d_expected));
    return pair_end(&p);
}
