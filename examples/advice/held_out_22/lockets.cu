// SPDX-License-Identifier: Apache-2.0
//
// Rule: vectorised-access
// Change: each thread takes four pixels that follow one another, with one load or store of four bytes per plane.
// Why: with a byte per thread, each load and each store moves a quarter of what it could.
#include "../common.h"

enum { BLOCK = 256 };

#ifdef AFTER
enum { EACH = 4 };
typedef uchar4 Pixels;
#else
enum { EACH = 1 };
typedef unsigned char Pixels;
#endif

// An old portrait's brown: brightness from the three planes, and paler the more the locket has been in the sun.
__host__ __device__ inline unsigned char dark_of(int red, int green, int blue, int faded) {
    int grey = (77 * red + 150 * green + 29 * blue) >> 8;
    return grey + ((255 - grey) * faded >> 8);
}

__host__ __device__ inline unsigned char brown_of(int dark, int faded) {
    int brown = dark + (64 - (faded >> 2)) - (dark >> 2);
    return brown > 255 ? 255 : brown;
}

__device__ inline unsigned char dark_all(unsigned char r, unsigned char g, unsigned char b, unsigned char f) {
    return dark_of(r, g, b, f);
}

__device__ inline uchar4 dark_all(uchar4 r, uchar4 g, uchar4 b, uchar4 f) {
    return make_uchar4(dark_of(r.x, g.x, b.x, f.x), dark_of(r.y, g.y, b.y, f.y), dark_of(r.z, g.z, b.z, f.z),
                       dark_of(r.w, g.w, b.w, f.w));
}

__device__ inline unsigned char brown_all(unsigned char d, unsigned char f) { return brown_of(d, f); }

__device__ inline uchar4 brown_all(uchar4 d, uchar4 f) {
    return make_uchar4(brown_of(d.x, f.x), brown_of(d.y, f.y), brown_of(d.z, f.z), brown_of(d.w, f.w));
}

__global__ void tone(const Pixels *red, const Pixels *green, const Pixels *blue, const Pixels *faded, Pixels *dark,
                     Pixels *brown, int count) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= count)
        return;
    Pixels sun = faded[i], result = dark_all(red[i], green[i], blue[i], sun);
    dark[i] = result;
    brown[i] = brown_all(result, sun);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "lockets");
    int n = p.small ? 8192 : 4096 * 4224, threads = n / EACH;
    std::vector<unsigned char> planes[4];
    unsigned char *d_planes[6];
    for (int k = 0; k < 6; k++) {
        if (k < 4) {
            planes[k].resize(n);
            lcg_fill(planes[k].data(), n, k + 1, 256);
            d_planes[k] = device_copy_of(planes[k].data(), n);
        } else {
            d_planes[k] = device_array<unsigned char>(n);
        }
    }
    Pixels **d = (Pixels **)d_planes;
    pair_time(&p, [&] { tone<<<(threads + BLOCK - 1) / BLOCK, BLOCK>>>(d[0], d[1], d[2], d[3], d[4], d[5], threads); });
    std::vector<unsigned char> dark = host_copy_of(d_planes[4], n), brown = host_copy_of(d_planes[5], n);
    for (int i = 0; i < n; i += p.small ? 1 : 13) {
        int want = dark_of(planes[0][i], planes[1][i], planes[2][i], planes[3][i]);
        pair_near(&p, "dark", i, want, dark[i], 0);
        pair_near(&p, "brown", i, brown_of(want, planes[3][i]), brown[i], 0);
    }
    return pair_end(&p);
}
