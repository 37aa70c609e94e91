// SPDX-License-Identifier: Apache-2.0
//
// Rule: branch-elimination
// Change: a thread finds out once whether its whole window lies inside of the frame, and then goes through the window
// without testing each pixel's row and column.
// Why: all but a thin rim of the pixels need no test, and the tests and branches in the innermost loop cost about as
// much as the arithmetic.
#include "../common.h"

// Noise filter for grey video frames: every pixel becomes a mean of its 9 by 9 window and of the same window in the
// frame before; a pixel weighs less the more it differs in brightness. What is outside of the frame does not count.

constexpr int RADIUS = 4;
constexpr int TILE_X = 32, TILE_Y = 8;

struct Frame {
    const float *now, *before;
    int width, height;
};

// The weight falls with the square of the difference and is nothing from `1 / sharpness` on (Tukey's biweight).
__device__ __host__ inline float weight_of(float difference, float sharpness) {
    float d = difference * sharpness;
    float w = fmaxf(1.0f - d * d, 0.0f);
    return w * w;
}

template <bool TEST> __device__ float filtered(const Frame &f, int x, int y, float sharpness) {
    float centre = f.now[y * f.width + x];
    float sum = 0, weights = 0;
    for (int dy = -RADIUS; dy <= RADIUS; dy++) {
        int yy = y + dy;
        if (TEST && (yy < 0 || yy >= f.height))
            continue;
#pragma unroll
        for (int dx = -RADIUS; dx <= RADIUS; dx++) {
            int xx = x + dx;
            if (TEST && (xx < 0 || xx >= f.width))
                continue;
            float a = f.now[yy * f.width + xx], b = f.before[yy * f.width + xx];
            float wa = weight_of(a - centre, sharpness), wb = 0.5f * weight_of(b - centre, sharpness);
            sum += wa * a + wb * b;
            weights += wa + wb;
        }
    }
    return sum / weights;
}

__global__ void __launch_bounds__(TILE_X *TILE_Y) denoise(Frame f, const float *__restrict__ sharpness,
                                                         float *__restrict__ out) {
    int x = blockIdx.x * TILE_X + threadIdx.x, y = blockIdx.y * TILE_Y + threadIdx.y;
    if (x >= f.width || y >= f.height)
        return;
    float s = sharpness[(int)(f.now[y * f.width + x] * 15.0f)];
#ifdef AFTER
    bool inside = x >= RADIUS && x < f.width - RADIUS && y >= RADIUS && y < f.height - RADIUS;
    out[y * f.width + x] = inside ? filtered<false>(f, x, y, s) : filtered<true>(f, x, y, s);
#else
    out[y * f.width + x] = filtered<true>(f, x, y, s);
#endif
}

// A scene of soft shapes with noise; `shift` moves it sideways.
static std::vector<float> make_frame(int width, int height, int shift, unsigned seed) {
    std::vector<float> pixels = random_floats((size_t)width * height, -0.08f, 0.08f, seed);
    std::vector<float> across(width), down(height);
    for (int x = 0; x < width; x++)
        across[x] = 0.2f * sinf((x + shift) * 0.031f);
    for (int y = 0; y < height; y++)
        down[y] = 0.2f * cosf(y * 0.023f);
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            float &v = pixels[(size_t)y * width + x];
            v += 0.5f + across[x] + down[y] + ((x + shift) / 60 % 2 ? 0.1f : -0.1f);
            v = std::min(0.999f, std::max(0.0f, v));
        }
    return pixels;
}

static double filtered_on_cpu(const std::vector<float> &now, const std::vector<float> &before, int width, int height,
                              int x, int y, float sharpness) {
    float centre = now[(size_t)y * width + x];
    double sum = 0, weights = 0;
    for (int yy = std::max(0, y - RADIUS); yy <= std::min(height - 1, y + RADIUS); yy++)
        for (int xx = std::max(0, x - RADIUS); xx <= std::min(width - 1, x + RADIUS); xx++) {
            float a = now[(size_t)yy * width + xx], b = before[(size_t)yy * width + xx];
            double wa = weight_of(a - centre, sharpness), wb = 0.5 * weight_of(b - centre, sharpness);
            sum += wa * a + wb * b;
            weights += wa + wb;
        }
    return sum / weights;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "frames");
    int width = p.small ? 60 : 3840, height = p.small ? 22 : 2160;
    size_t count = (size_t)width * height;
    std::vector<float> now = make_frame(width, height, 2, 21), before = make_frame(width, height, 0, 22);
    std::vector<float> sharpness(16);
    for (int i = 0; i < 16; i++)
        sharpness[i] = 6.0f - 0.2f * i;

    float *d_now = device_copy_of(now.data(), count), *d_before = device_copy_of(before.data(), count);
    float *d_sharpness = device_copy_of(sharpness.data(), sharpness.size());
    float *d_out = device_array<float>(count);

    Frame f = {d_now, d_before, width, height};
    dim3 grid((width + TILE_X - 1) / TILE_X, (height + TILE_Y - 1) / TILE_Y), block(TILE_X, TILE_Y);
    pair_time(&p, [&] { denoise<<<grid, block>>>(f, d_sharpness, d_out); });

    std::vector<float> out = host_copy_of(d_out, count);
    auto check = [&](int x, int y) {
        size_t i = (size_t)y * width + x;
        float s = sharpness[(int)(now[i] * 15.0f)];
        pair_near(&p, "pixel", i, filtered_on_cpu(now, before, width, height, x, y, s), out[i], 1e-4);
    };
    for (size_t i = 0; i < count; i += p.small ? 1 : 701)
        check(i % width, i / width);
    for (int x = 0; x < width; x += 3)
        check(x, 0), check(x, height - 2);

    CUDA_CHECK(cudaFree(d_now));
    CUDA_CHECK(cudaFree(d_before));
    CUDA_CHECK(cudaFree(d_sharpness));
    CUDA_CHECK(cudaFree(d_out));
    return pair_end(&p);
}
