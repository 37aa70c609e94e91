// SPDX-License-Identifier: Apache-2.0
//
// Rule: spills
// Change: the bounds of a launch ask for five blocks on an SM instead of twelve.
// Why: twelve leave 40 registers a thread, and the sums of the fit alone are 44 numbers.
#include "../common.h"

enum { BLOCK = 128, TERMS = 8, POINTS = 96 };

#ifdef AFTER
enum { BLOCKS_ON_SM = 5 };
#else
enum { BLOCKS_ON_SM = 12 };
#endif

__constant__ float zernike[POINTS][TERMS];

// Fits Zernike's polynomials to the measured heights of many corneas; a point behind a lash has no weight.
__global__ __launch_bounds__(BLOCK, BLOCKS_ON_SM) void fit(const float *heights, const float *weights, float *shapes,
                                                           int eyes) {
    int eye = blockIdx.x * BLOCK + threadIdx.x;
    float a[TERMS][TERMS], b[TERMS];
#pragma unroll
    for (int i = 0; i < TERMS; i++) {
        b[i] = 0;
#pragma unroll
        for (int j = 0; j <= i; j++)
            a[i][j] = 0;
    }
    for (int point = 0; point < POINTS; point++) {
        float height = heights[point * eyes + eye], weight = weights[point * eyes + eye];
        if (weight < 0.05f)
            continue;
#pragma unroll
        for (int i = 0; i < TERMS; i++) {
            float term = weight * zernike[point][i];
            b[i] += term * height;
#pragma unroll
            for (int j = 0; j <= i; j++)
                a[i][j] += term * zernike[point][j];
        }
    }
#pragma unroll
    for (int i = 0; i < TERMS; i++) {  // Cholesky, and the lower triangle solved on the way
#pragma unroll
        for (int j = 0; j <= i; j++) {
            float sum = a[i][j];
#pragma unroll
            for (int k = 0; k < j; k++)
                sum -= a[i][k] * a[j][k];
            a[i][j] = i == j ? rsqrtf(sum) : sum * a[j][j];
        }
        float sum = b[i];
#pragma unroll
        for (int k = 0; k < i; k++)
            sum -= a[i][k] * b[k];
        b[i] = sum * a[i][i];
    }
#pragma unroll
    for (int i = TERMS - 1; i >= 0; i--) {
        float sum = b[i];
#pragma unroll
        for (int k = i + 1; k < TERMS; k++)
            sum -= a[k][i] * b[k];
        b[i] = sum * a[i][i];
        shapes[i * eyes + eye] = b[i];
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "cornea");
    int eyes = p.small ? 256 : 1023 * BLOCK;  // no power of two: random numbers so far apart are alike
    size_t n = (size_t)eyes * POINTS;
    std::vector<float> basis(POINTS * TERMS), heights(n), weights = random_floats(n, 0, 1, 1),
                                                          truth = random_floats((size_t)eyes * TERMS, -1, 1, 2);
    for (int k = 0; k < POINTS; k++) {
        double r = sqrt((k + 0.5) / POINTS), angle = 2.39996 * k, x = r * cos(angle), y = r * sin(angle);
        double terms[TERMS] = {1,
                               2 * x,
                               2 * y,
                               sqrt(3) * (2 * r * r - 1),
                               sqrt(6) * (x * x - y * y),
                               sqrt(24) * x * y,
                               sqrt(8) * (3 * r * r - 2) * x,
                               sqrt(8) * (3 * r * r - 2) * y};
        for (int i = 0; i < TERMS; i++)
            basis[k * TERMS + i] = (float)terms[i];
    }
    for (int eye = 0; eye < eyes; eye++)
        for (int k = 0; k < POINTS; k++) {
            double sum = 0;
            for (int i = 0; i < TERMS; i++)
                sum += (double)truth[(size_t)eye * TERMS + i] * basis[k * TERMS + i];
            heights[(size_t)k * eyes + eye] = (float)sum;  // so the fit must find what made them
        }
    CUDA_CHECK(cudaMemcpyToSymbol(zernike, basis.data(), sizeof zernike));
    float *d_heights = device_copy_of(heights.data(), n), *d_weights = device_copy_of(weights.data(), n),
          *d_shapes = device_array<float>((size_t)eyes * TERMS);
    pair_time(&p, [&] { fit<<<eyes / BLOCK, BLOCK>>>(d_heights, d_weights, d_shapes, eyes); });
    std::vector<float> shapes = host_copy_of(d_shapes, (size_t)eyes * TERMS);
    for (int eye = 0; eye < eyes; eye++)
        for (int i = 0; i < TERMS; i++)
            pair_near(&p, "shape", (size_t)eye * TERMS + i, truth[(size_t)eye * TERMS + i],
                      shapes[(size_t)i * eyes + eye], 1e-3);
    return pair_end(&p);
}
