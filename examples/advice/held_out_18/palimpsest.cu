// SPDX-License-Identifier: Apache-2.0
//
// Rule: vectorised-access
// Also: memory-transactions
// Change: a thread takes four pixels, with one load per photograph and one store, instead of one.
// Why: a load of one byte per lane brings only 32 bytes for the warp and costs as much as a larger one.
#include "../common.h"

enum { BLOCK = 256 };

// Brings out the writing that was scraped off a parchment: it shows under ultraviolet light, the later ink doesn't in
// the infrared.
__device__ unsigned char bring_out(unsigned char visible, unsigned char ultraviolet, unsigned char infrared) {
    int later = max(infrared - visible, 0);
    int erased = 5 * ultraviolet - 2 * infrared + 3 * later + 4;
    int stretched = (erased >> 2) + ((erased * erased) >> 12);
    return (unsigned char)min(max(stretched, 0), 255);
}

__global__ void read_under(const unsigned char *visible, const unsigned char *ultraviolet,
                           const unsigned char *infrared, unsigned char *writing, int pixels) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
#ifdef AFTER
    if (i >= pixels / 4)
        return;
    uchar4 v = ((const uchar4 *)visible)[i], u = ((const uchar4 *)ultraviolet)[i], r = ((const uchar4 *)infrared)[i];
    ((uchar4 *)writing)[i] = make_uchar4(bring_out(v.x, u.x, r.x), bring_out(v.y, u.y, r.y), bring_out(v.z, u.z, r.z),
                                         bring_out(v.w, u.w, r.w));
#else
    if (i >= pixels)
        return;
    writing[i] = bring_out(visible[i], ultraviolet[i], infrared[i]);
#endif
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "palimpsest");
    int n = p.small ? 8192 : 7168 * 5632;
#ifdef AFTER
    int threads = n / 4;
#else
    int threads = n;
#endif
    std::vector<unsigned char> photographs[3];
    unsigned char *d_photographs[3];
    unsigned seed = 1;
    for (int k = 0; k < 3; k++) {
        photographs[k].resize(n);
        for (unsigned char &c : photographs[k])
            c = (unsigned char)lcg_next(&seed, 256);
        d_photographs[k] = device_copy_of(photographs[k].data(), n);
    }
    unsigned char *d_writing = device_array<unsigned char>(n);
    pair_time(&p, [&] {
        read_under<<<(threads + BLOCK - 1) / BLOCK, BLOCK>>>(d_photographs[0], d_photographs[1], d_photographs[2],
                                                             d_writing, n);
    });
    std::vector<unsigned char> writing = host_copy_of(d_writing, n);
    for (int i = 0; i < n; i += p.small ? 1 : 29) {
        int visible = photographs[0][i], ultraviolet = photographs[1][i], infrared = photographs[2][i];
        int erased = 5 * ultraviolet - 2 * infrared + 3 * std::max(infrared - visible, 0) + 4;
        int expected = std::min(std::max((erased >> 2) + ((erased * erased) >> 12), 0), 255);
        pair_near(&p, "writing", i, expected, writing[i], 0);
    }
    return pair_end(&p);
}
