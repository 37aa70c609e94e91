// SPDX-License-Identifier: Apache-2.0
//
// Rule: thread-increase
// Change: the blocks have 256 threads instead of 32.
// Why: an SM takes 32 blocks at most, so that blocks of one warp leave half of its warps unused.
#include "../common.h"

#ifdef AFTER
enum { BLOCK = 256 };
#else
enum { BLOCK = 32 };
#endif

enum { SPHERE, DISC, ROD, BLADE };

// The shape of the pebbles of a beach from three axes that a caliper measured in 1/100 mm, in any order; one thread
// per pebble.
__global__ void shapes(const unsigned short *first, const unsigned short *second, const unsigned short *third,
                       float *sphericity, unsigned char *kinds, int n) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= n)
        return;
    int a = first[i], b = second[i], c = third[i];
    int longest = max(a, max(b, c)), shortest = min(a, min(b, c)), middle = a + b + c - longest - shortest;
    bool flat = 3 * shortest < 2 * middle, narrow = 3 * middle < 2 * longest;
    float s = shortest;
    sphericity[i] = cbrtf(__fdividef(s * s, (float)longest * middle));
    kinds[i] = flat ? (narrow ? BLADE : DISC) : (narrow ? ROD : SPHERE);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "pebbles");
    int n = p.small ? 4096 : 132 * 65536;
    std::vector<unsigned short> axes[3];
    unsigned short *d_axes[3];
    for (int k = 0; k < 3; k++) {
        axes[k].resize(n);
        unsigned seed = k + 1;
        for (unsigned short &a : axes[k])
            a = (unsigned short)(800 + lcg_next(&seed, 6000));
        d_axes[k] = device_copy_of(axes[k].data(), n);
    }
    float *d_sphericity = device_array<float>(n);
    unsigned char *d_kinds = device_array<unsigned char>(n);
    pair_time(&p, [&] {
        shapes<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(d_axes[0], d_axes[1], d_axes[2], d_sphericity, d_kinds, n);
    });
    std::vector<float> sphericity = host_copy_of(d_sphericity, n);
    std::vector<unsigned char> kinds = host_copy_of(d_kinds, n);
    for (int i = 0; i < n; i += p.small ? 1 : 11) {
        int axis[3] = {axes[0][i], axes[1][i], axes[2][i]};
        std::sort(axis, axis + 3);
        bool flat = 3 * axis[0] < 2 * axis[1], narrow = 3 * axis[1] < 2 * axis[2];
        pair_near(&p, "sphericity", i, cbrt((double)axis[0] * axis[0] / ((double)axis[2] * axis[1])), sphericity[i],
                  1e-4);
        pair_near(&p, "kind", i, flat ? (narrow ? BLADE : DISC) : (narrow ? ROD : SPHERE), kinds[i], 1e-9);
    }
    return pair_end(&p);
}
