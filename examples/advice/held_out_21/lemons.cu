// SPDX-License-Identifier: Apache-2.0
//
// Rule: vectorised-access
// Change: the four neighbouring pixels of a thread are loaded and stored as one uchar4.
// Why: four loads of a byte each per channel take four times the instructions and the passes through L1.
#include "../common.h"

enum { BLOCK = 256 };
enum { BELT, GREEN, RIPE, BROWN };

__host__ __device__ static inline int kind_of(int red, int green, int blue) {
    int yellow = red + green - 2 * blue, light = 3 * red + 6 * green + blue;
    if (light < 900)
        return blue > red ? BELT : BROWN;
    return yellow < 60 ? BELT : green > red + 20 ? GREEN : RIPE;
}

// Pictures of lemons on a belt, three channels in planes: the kind of each pixel, four pixels to a thread, and the
// number of ripe ones per block.
__global__ void sort_out(const unsigned char *red, const unsigned char *green, const unsigned char *blue,
                         unsigned char *kinds, int *ripe, int quads) {
    int i = blockIdx.x * BLOCK + threadIdx.x, own = 0;
    if (i < quads) {
#ifdef AFTER
        uchar4 r = ((const uchar4 *)red)[i], g = ((const uchar4 *)green)[i], b = ((const uchar4 *)blue)[i];
        uchar4 k =
            make_uchar4(kind_of(r.x, g.x, b.x), kind_of(r.y, g.y, b.y), kind_of(r.z, g.z, b.z), kind_of(r.w, g.w, b.w));
        own = (k.x == RIPE) + (k.y == RIPE) + (k.z == RIPE) + (k.w == RIPE);
        ((uchar4 *)kinds)[i] = k;
#else
        for (int k = 0; k < 4; k++) {
            int kind = kind_of(red[4 * i + k], green[4 * i + k], blue[4 * i + k]);
            own += kind == RIPE;
            kinds[4 * i + k] = (unsigned char)kind;
        }
#endif
    }
    own = __reduce_add_sync(~0u, own);
    __shared__ int total;
    if (threadIdx.x == 0)
        total = 0;
    __syncthreads();
    if (threadIdx.x % 32 == 0)
        atomicAdd(&total, own);
    __syncthreads();
    if (threadIdx.x == 0)
        ripe[blockIdx.x] = total;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "lemons");
    int n = p.small ? 8000 : 5200 * 3900, quads = n / 4, blocks = (quads + BLOCK - 1) / BLOCK;
    std::vector<unsigned char> red(n), green(n), blue(n);
    lcg_fill(red.data(), n, 1, 256);
    lcg_fill(green.data(), n, 2, 256);
    lcg_fill(blue.data(), n, 3, 200);
    unsigned char *d_red = device_copy_of(red.data(), n), *d_green = device_copy_of(green.data(), n),
                  *d_blue = device_copy_of(blue.data(), n), *d_kinds = device_array<unsigned char>(n);
    int *d_ripe = device_array<int>(blocks);
    pair_time(&p, [&] { sort_out<<<blocks, BLOCK>>>(d_red, d_green, d_blue, d_kinds, d_ripe, quads); });
    std::vector<unsigned char> kinds = host_copy_of(d_kinds, n);
    std::vector<int> ripe = host_copy_of(d_ripe, blocks);
    for (int b = 0; b < blocks; b += p.small ? 1 : 11) {
        int count = 0;
        for (int i = b * BLOCK * 4; i < std::min(n, (b + 1) * BLOCK * 4); i++) {
            int kind = kind_of(red[i], green[i], blue[i]);
            pair_near(&p, "kind", i, kind, kinds[i], 1e-9);
            count += kind == RIPE;
        }
        pair_near(&p, "ripe", b, count, ripe[b], 1e-9);
    }
    return pair_end(&p);
}
