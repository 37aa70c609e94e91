// SPDX-License-Identifier: Apache-2.0
//
// Rule: wrong-type
// Change: the angle of a twiddle factor is computed with float constants.
// Why: -2.0 * M_PI * k / n is a double for each butterfly, with a division.
#include "../common.h"

enum { N = 1024, BLOCK = N / 2 };

// Stockham's FFT of one row for each CTA, ten passes of radix 2 in shared memory.
__global__ void fft1024(const float2 *in, float2 *out) {
    __shared__ float2 row[2][N];
    int t = threadIdx.x, now = 0;
    row[0][t] = in[blockIdx.x * N + t];
    row[0][t + BLOCK] = in[blockIdx.x * N + t + BLOCK];
    for (int length = 1; length < N; length *= 2) {
        __syncthreads();
        int k = t % length;
#ifdef AFTER
        float angle = -3.14159265f * k / length;
#else
        float angle = -3.14159265358979323846 * k / length;
#endif
        float s, c;
        __sincosf(angle, &s, &c);
        float2 a = row[now][t], b = row[now][t + BLOCK];
        float2 turned = {b.x * c - b.y * s, b.x * s + b.y * c};
        int to = (t - k) * 2 + k;
        row[!now][to] = {a.x + turned.x, a.y + turned.y};
        row[!now][to + length] = {a.x - turned.x, a.y - turned.y};
        now = !now;
    }
    __syncthreads();
    out[blockIdx.x * N + t] = row[now][t];
    out[blockIdx.x * N + t + BLOCK] = row[now][t + BLOCK];
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "fft1024");
    int rows = p.small ? 64 : 8192;
    std::vector<float> signal = random_floats((size_t)2 * rows * N, -1, 1, 1);
    float2 *d_in = (float2 *)device_copy_of(signal.data(), signal.size()),
           *d_out = device_array<float2>((size_t)rows * N);
    pair_time(&p, [&] { fft1024<<<rows, BLOCK>>>(d_in, d_out); });
    std::vector<float2> out = host_copy_of(d_out, (size_t)rows * N);
    for (int r = 0; r < rows; r += 401)
        for (int f = 0; f < N; f += 97) {
            double re = 0, im = 0;
            for (int i = 0; i < N; i++) {
                double angle = -2 * 3.14159265358979323846 * i * f / N, x = signal[2 * (r * N + i)],
                       y = signal[2 * (r * N + i) + 1];
                re += x * cos(angle) - y * sin(angle);
                im += x * sin(angle) + y * cos(angle);
            }
            pair_near(&p, "re", r * N + f, re, out[r * N + f].x, 2e-3);
            pair_near(&p, "im", r * N + f, im, out[r * N + f].y, 2e-3);
        }
    return pair_end(&p);
}
