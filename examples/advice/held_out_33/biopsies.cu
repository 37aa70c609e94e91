// SPDX-License-Identifier: Apache-2.0
//
// Rule: kernel-merge
// Change: one kernel separates the stains and paints the slide anew, instead of one kernel for each.
// Why: the stains of a pixel are three floats that the first kernel writes to memory and the second reads back; that is
// two thirds of all traffic.
#include "../common.h"

enum { BLOCK_X = 64, BLOCK_Y = 4 };

// Colours of haematoxylin, eosin and the rest, as optical densities of red, green and blue.
struct Stains {
    float colour[3][3];    // [stain][channel]
    float inverse[3][3];   // [channel][stain]
    float gain[3];         // of each stain
};

static __device__ float density(unsigned char light) {
    return -logf((light + 1.0f) * (1.0f / 256));
}

static __device__ unsigned char light(float density) {
    return (unsigned char)fminf(fmaxf(256.0f * expf(-density) - 0.5f, 0.0f), 255.0f);
}

// How much of each stain a pixel has.
static __device__ float3 separate(const Stains &s, uchar4 pixel) {
    float r = density(pixel.x), g = density(pixel.y), b = density(pixel.z);
    return make_float3(r * s.inverse[0][0] + g * s.inverse[1][0] + b * s.inverse[2][0],
                       r * s.inverse[0][1] + g * s.inverse[1][1] + b * s.inverse[2][1],
                       r * s.inverse[0][2] + g * s.inverse[1][2] + b * s.inverse[2][2]);
}

static __device__ float normal(const Stains &s, float amount, int stain) {
    return fmaxf(amount, 0.0f) * s.gain[stain];
}

// The pixel as the reference laboratory would have stained it.
static __device__ uchar4 paint(const Stains &s, float3 amount, unsigned char alpha) {
    float h = normal(s, amount.x, 0), e = normal(s, amount.y, 1), rest = normal(s, amount.z, 2);
    return make_uchar4(light(h * s.colour[0][0] + e * s.colour[1][0] + rest * s.colour[2][0]),
                       light(h * s.colour[0][1] + e * s.colour[1][1] + rest * s.colour[2][1]),
                       light(h * s.colour[0][2] + e * s.colour[1][2] + rest * s.colour[2][2]), alpha);
}

#ifdef AFTER
__global__ void restain(const uchar4 *__restrict__ slide, uchar4 *__restrict__ out, Stains stains, int columns,
                        int rows) {
    int x = blockIdx.x * BLOCK_X + threadIdx.x, y = blockIdx.y * BLOCK_Y + threadIdx.y;
    if (x >= columns || y >= rows)
        return;
    size_t at = (size_t)y * columns + x;
    uchar4 pixel = slide[at];
    out[at] = paint(stains, separate(stains, pixel), pixel.w);
}
#else
__global__ void separate_slide(const uchar4 *__restrict__ slide, float *__restrict__ amounts, Stains stains,
                               int columns, int rows) {
    int x = blockIdx.x * BLOCK_X + threadIdx.x, y = blockIdx.y * BLOCK_Y + threadIdx.y;
    if (x >= columns || y >= rows)
        return;
    size_t at = (size_t)y * columns + x, plane = (size_t)columns * rows;
    float3 amount = separate(stains, slide[at]);
    amounts[at] = amount.x;
    amounts[plane + at] = amount.y;
    amounts[2 * plane + at] = amount.z;
}

__global__ void paint_slide(const uchar4 *__restrict__ slide, const float *__restrict__ amounts,
                            uchar4 *__restrict__ out, Stains stains, int columns, int rows) {
    int x = blockIdx.x * BLOCK_X + threadIdx.x, y = blockIdx.y * BLOCK_Y + threadIdx.y;
    if (x >= columns || y >= rows)
        return;
    size_t at = (size_t)y * columns + x, plane = (size_t)columns * rows;
    out[at] = paint(stains, make_float3(amounts[at], amounts[plane + at], amounts[2 * plane + at]), slide[at].w);
}
#endif

static void reference(const Stains &s, const uchar4 &pixel, double *out) {
    const unsigned char in[3] = {pixel.x, pixel.y, pixel.z};
    double amount[3] = {0, 0, 0};
    for (int k = 0; k < 3; k++) {
        for (int c = 0; c < 3; c++)
            amount[k] -= log((in[c] + 1) / 256.0) * s.inverse[c][k];
        amount[k] = std::max(amount[k], 0.0) * s.gain[k];
    }
    for (int c = 0; c < 3; c++) {
        double sum = 0;
        for (int k = 0; k < 3; k++)
            sum += amount[k] * s.colour[k][c];
        out[c] = std::min(std::max(256 * exp(-sum) - 0.5, 0.0), 255.0);
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "biopsies");
    int columns = p.small ? 800 : 4000, rows = p.small ? 700 : 3100;
    size_t count = (size_t)columns * rows;
    Stains stains = {{{0.65f, 0.70f, 0.29f}, {0.07f, 0.99f, 0.11f}, {0.27f, 0.57f, 0.78f}},
                     {{1.88f, -1.02f, -0.55f}, {-0.07f, 1.13f, -0.13f}, {-0.60f, -0.48f, 1.57f}},
                     {1.2f, 0.8f, 1.0f}};
    std::vector<uchar4> slide(count);
    unsigned seed = 3;
    for (uchar4 &pixel : slide) {
        unsigned r = lcg_next(&seed, 1 << 24);
        pixel = make_uchar4(60 + (r & 127), 40 + (r >> 8 & 127), 90 + (r >> 16 & 127), 255);
    }
    uchar4 *d_slide = device_copy_of(slide.data(), count), *d_out = device_array<uchar4>(count);
    dim3 block(BLOCK_X, BLOCK_Y), grid((columns + BLOCK_X - 1) / BLOCK_X, (rows + BLOCK_Y - 1) / BLOCK_Y);
#ifdef AFTER
    pair_time(&p, [&] { restain<<<grid, block>>>(d_slide, d_out, stains, columns, rows); });
#else
    float *d_amounts = device_array<float>(3 * count);
    pair_time(&p, [&] {
        separate_slide<<<grid, block>>>(d_slide, d_amounts, stains, columns, rows);
        paint_slide<<<grid, block>>>(d_slide, d_amounts, d_out, stains, columns, rows);
    });
#endif
    std::vector<uchar4> out = host_copy_of(d_out, count);
    for (size_t i = 0; i < count; i += 1021) {
        double expected[3];
        reference(stains, slide[i], expected);
        const double got[3] = {(double)out[i].x, (double)out[i].y, (double)out[i].z};
        for (int c = 0; c < 3; c++)  // cut to a whole number, perhaps the one below
            pair_near(&p, "out", 3 * i + c, expected[c], got[c], 1.01 / (1 + expected[c]));
    }
    return pair_end(&p);
}
