// SPDX-License-Identifier: Apache-2.0
//
// Rule: vectorised-access
// Change: a thread mixes two neighbouring samples with accesses of four bytes instead of one sample of two bytes.
// Why: most instructions compute the index and start the access; a warp's access moves half of what it could.
#include "../common.h"

enum { BLOCK = 256 };

static __host__ __device__ short mixed(short a, short b, int gain) {
    int sum = (a * gain + b * (256 - gain)) >> 8;
    return (short)(sum > 32767 ? 32767 : sum < -32768 ? -32768 : sum);
}

// Two tracks of 16-bit samples become one.
__global__ void mix_sound(const short *first, const short *second, short *out, int n, int gain) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
#ifdef AFTER
    if (i < n / 2) {
        short2 a = ((const short2 *)first)[i], b = ((const short2 *)second)[i];
        ((short2 *)out)[i] = make_short2(mixed(a.x, b.x, gain), mixed(a.y, b.y, gain));
    }
#else
    if (i < n)
        out[i] = mixed(first[i], second[i], gain);
#endif
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "mix_sound");
    int n = p.small ? 1 << 20 : 1 << 25;
#ifdef AFTER
    int threads = n / 2;
#else
    int threads = n;
#endif
    std::vector<short> first(n), second(n);
    lcg_fill(first.data(), n, 1, 32768);
    lcg_fill(second.data(), n, 2, 32768);
    short *d_first = device_copy_of(first.data(), n), *d_second = device_copy_of(second.data(), n),
          *d_out = device_array<short>(n);
    pair_time(&p, [&] { mix_sound<<<threads / BLOCK, BLOCK>>>(d_first, d_second, d_out, n, 100); });
    std::vector<short> out = host_copy_of(d_out, n);
    for (int i = 0; i < n; i += 7)
        pair_near(&p, "out", i, mixed(first[i], second[i], 100), out[i], 0);
    return pair_end(&p);
}
