// SPDX-License-Identifier: Apache-2.0
//
// Rule: warp-balance
// Change: the partial sums of a row are added up by the first warp with shuffles, no longer by one thread.
// Why: one thread adds 256 numbers while the others have nothing to do.
#include "../common.h"

enum { BLOCK = 256, WIDTH = 1024 };

// The loss of each row of predictions: quadratic for small errors, linear for large ones.
__global__ void huber_loss(const float *predicted, const float *target, float *loss, float delta) {
    __shared__ float partial[BLOCK];
    int t = threadIdx.x;
    float sum = 0;
    for (int k = t; k < WIDTH; k += BLOCK) {
        float e = fabsf(predicted[blockIdx.x * WIDTH + k] - target[blockIdx.x * WIDTH + k]);
        sum += e < delta ? 0.5f * e * e : delta * (e - 0.5f * delta);
    }
    partial[t] = sum;
    __syncthreads();
#ifdef AFTER
    if (t < 32) {
        sum = 0;
        for (int k = t; k < BLOCK; k += 32)
            sum += partial[k];
        for (int d = 16; d; d /= 2)
            sum += __shfl_down_sync(~0u, sum, d);
        if (t == 0)
            loss[blockIdx.x] = sum / WIDTH;
    }
#else
    if (t == 0) {
        sum = 0;
        for (int k = 0; k < BLOCK; k++)
            sum += partial[k];
        loss[blockIdx.x] = sum / WIDTH;
    }
#endif
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "huber_loss");
    int rows = p.small ? 128 : 1 << 14;
    size_t n = (size_t)rows * WIDTH;
    std::vector<float> predicted = random_floats(n, -2, 2, 1), target = random_floats(n, -2, 2, 2);
    float *d_predicted = device_copy_of(predicted.data(), n), *d_target = device_copy_of(target.data(), n),
          *d_loss = device_array<float>(rows);
    pair_time(&p, [&] { huber_loss<<<rows, BLOCK>>>(d_predicted, d_target, d_loss, 1.0f); });
    std::vector<float> loss = host_copy_of(d_loss, rows);
    for (int r = 0; r < rows; r += 37) {
        double sum = 0;
        for (size_t i = (size_t)r * WIDTH; i < (size_t)(r + 1) * WIDTH; i++) {
            double e = fabs((double)predicted[i] - target[i]);
            sum += e < 1 ? 0.5 * e * e : e - 0.5;
        }
        pair_near(&p, "loss", r, sum / WIDTH, loss[r], 1e-4);
    }
    return pair_end(&p);
}
