// SPDX-License-Identifier: Apache-2.0
//
// Rule: sm-balance
// Change: a CTA's rows lie a grid apart instead of beside each other.
// Why: row i has i + 1 terms: the last CTAs have nearly twice the mean work.
#include "../common.h"

enum { BLOCK = 128, PER_CTA = 8, CTAS = 132 * 4, ROWS = PER_CTA * CTAS };

// Decaying influence of all earlier events on each event; a CTA has eight events.
__global__ void causal_sums(const float *when, const float *size, float *out, float rate) {
    __shared__ float parts[BLOCK / 32];
    for (int j = 0; j < PER_CTA; j++) {
#ifdef AFTER
        int row = j * CTAS + blockIdx.x;
#else
        int row = blockIdx.x * PER_CTA + j;
#endif
        float now = when[row], sum = 0;
        for (int k = threadIdx.x; k <= row; k += BLOCK)
            sum += size[k] * __expf(rate * (when[k] - now));
        for (int d = 16; d; d /= 2)
            sum += __shfl_xor_sync(~0u, sum, d);
        if (threadIdx.x % 32 == 0)
            parts[threadIdx.x / 32] = sum;
        __syncthreads();
        if (threadIdx.x == 0)
            out[row] = parts[0] + parts[1] + parts[2] + parts[3];
        __syncthreads();
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "causal_sums");
    std::vector<float> when(ROWS), size = random_floats(ROWS, 0, 1, 1);
    for (int i = 0; i < ROWS; i++)
        when[i] = 0.01f * i;
    float *d_when = device_copy_of(when.data(), ROWS), *d_size = device_copy_of(size.data(), ROWS),
          *d_out = device_array<float>(ROWS);
    pair_time(&p, [&] { causal_sums<<<CTAS, BLOCK>>>(d_when, d_size, d_out, 0.1f); });
    std::vector<float> out = host_copy_of(d_out, ROWS);
    for (int i = 0; i < ROWS; i += 101) {
        double sum = 0;
        for (int k = 0; k <= i; k++)
            sum += size[k] * exp(0.1 * (when[k] - when[i]));
        pair_near(&p, "out", i, sum, out[i], 1e-3);
    }
    return pair_end(&p);
}
