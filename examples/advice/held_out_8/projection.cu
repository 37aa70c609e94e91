// SPDX-License-Identifier: Apache-2.0
//
// Rule: global-coalescing
// Change: the volume lies with the axis of the projection slowest, no longer fastest.
// Why: each lane walks along a row of its own, so that a warp touches 32 rows at once.
#include "../common.h"

enum { BLOCK = 128, HEIGHT = 512 };

// The largest value along each ray through a scan (maximum intensity projection along x).
__global__ void projection(const unsigned short *volume, unsigned short *out, int width, int pixels) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    unsigned short most = 0;
    for (int x = 0; x < width; x++) {
#ifdef AFTER
        unsigned short v = volume[(size_t)x * pixels + i];
#else
        unsigned short v = volume[(size_t)i * width + x];
#endif
        most = v > most ? v : most;
    }
    out[i] = most;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "projection");
    int width = p.small ? 64 : 512, depth = p.small ? 8 : 256, pixels = depth * HEIGHT;
    std::vector<unsigned short> volume((size_t)pixels * width), stored(volume.size());
    lcg_fill(volume.data(), volume.size(), 1, 4096);
    for (int i = 0; i < pixels; i++)
        for (int x = 0; x < width; x++)
#ifdef AFTER
            stored[(size_t)x * pixels + i] = volume[(size_t)i * width + x];
#else
            stored[(size_t)i * width + x] = volume[(size_t)i * width + x];
#endif
    unsigned short *d_volume = device_copy_of(stored.data(), stored.size()), *d_out = device_array<unsigned short>(pixels);
    pair_time(&p, [&] { projection<<<pixels / BLOCK, BLOCK>>>(d_volume, d_out, width, pixels); });
    std::vector<unsigned short> out = host_copy_of(d_out, pixels);
    for (int i = 0; i < pixels; i += 97)
        pair_near(&p, "out", i, *std::max_element(&volume[(size_t)i * width], &volume[(size_t)i * width] + width), out[i], 0);
    return pair_end(&p);
}
