// SPDX-License-Identifier: Apache-2.0
//
// Rule: vectorised-access
// Change: a thread takes four samples with one access instead of one.
// Why: samples of two bytes move little with each instruction.
#include "../common.h"

enum { BLOCK = 256 };

// From samples of 16 bits to numbers, with a gain.
__global__ void pcm_float(const short *in, float *out, float gain, int n) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
#ifdef AFTER
    if (i >= n / 4)
        return;
    short4 v = ((const short4 *)in)[i];
    ((float4 *)out)[i] = make_float4(v.x * gain, v.y * gain, v.z * gain, v.w * gain);
#else
    if (i >= n)
        return;
    out[i] = in[i] * gain;
#endif
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "pcm_float");
    int n = p.small ? 1 << 15 : 1 << 24;
#ifdef AFTER
    int threads = n / 4;
#else
    int threads = n;
#endif
    std::vector<short> in(n);
    unsigned seed = 1;
    for (short &s : in)
        s = (short)lcg_next(&seed, 1 << 16);
    short *d_in = device_copy_of(in.data(), n);
    float *d_out = device_array<float>(n);
    pair_time(&p, [&] { pcm_float<<<threads / BLOCK, BLOCK>>>(d_in, d_out, 1.0f / 32768, n); });
    std::vector<float> out = host_copy_of(d_out, n);
    for (int i = 0; i < n; i += 1009)
        pair_near(&p, "sample", i, in[i] / 32768.0, out[i], 1e-6);
    return pair_end(&p);
}
