// SPDX-License-Identifier: Apache-2.0
//
// Rule: vectorised-access
// Change: each thread separates four neighbouring pixels, which it loads and stores as uchar4.
// Why: single bytes take seven memory instructions for each pixel and keep few bytes in flight.
#include "../common.h"

enum { BLOCK = 256 };

struct Inks {
    unsigned char c, m, y, k;
};

// Black replaces part of the grey that the three colours have in common.
static __host__ __device__ inline Inks inks_of(int r, int g, int b) {
    int c = 255 - r, m = 255 - g, y = 255 - b, grey = c < m ? (c < y ? c : y) : (m < y ? m : y);
    int black = grey * grey / 255, taken = black * 3 / 4;
    return {(unsigned char)(c - taken), (unsigned char)(m - taken), (unsigned char)(y - taken), (unsigned char)black};
}

// Separates a page into the plates of a four-colour print.
#ifdef AFTER
enum { PIXELS = 4 };
__global__ void cmyk_plates(const uchar4 *red, const uchar4 *green, const uchar4 *blue, uchar4 *cyan, uchar4 *magenta,
                            uchar4 *yellow, uchar4 *black) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    uchar4 r = red[i], g = green[i], b = blue[i];
    Inks at0 = inks_of(r.x, g.x, b.x), at1 = inks_of(r.y, g.y, b.y), at2 = inks_of(r.z, g.z, b.z),
         at3 = inks_of(r.w, g.w, b.w);
    cyan[i] = make_uchar4(at0.c, at1.c, at2.c, at3.c);
    magenta[i] = make_uchar4(at0.m, at1.m, at2.m, at3.m);
    yellow[i] = make_uchar4(at0.y, at1.y, at2.y, at3.y);
    black[i] = make_uchar4(at0.k, at1.k, at2.k, at3.k);
}
#else
enum { PIXELS = 1 };
__global__ void cmyk_plates(const unsigned char *red, const unsigned char *green, const unsigned char *blue,
                            unsigned char *cyan, unsigned char *magenta, unsigned char *yellow, unsigned char *black) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    Inks inks = inks_of(red[i], green[i], blue[i]);
    cyan[i] = inks.c;
    magenta[i] = inks.m;
    yellow[i] = inks.y;
    black[i] = inks.k;
}
#endif

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "cmyk_plates");
    int n = p.small ? 1 << 13 : 1 << 24;
    unsigned seed = 1;
    std::vector<unsigned char> page(3 * (size_t)n);
    for (unsigned char &byte : page)
        byte = (unsigned char)lcg_next(&seed, 256);
    unsigned char *d_page = device_copy_of(page.data(), page.size()),
                  *d_plates = device_array<unsigned char>(4 * (size_t)n);
#ifdef AFTER
    const uchar4 *in = (const uchar4 *)d_page;
    uchar4 *out = (uchar4 *)d_plates;
#else
    const unsigned char *in = d_page;
    unsigned char *out = d_plates;
#endif
    int each = n / PIXELS;
    pair_time(&p, [&] {
        cmyk_plates<<<each / BLOCK, BLOCK>>>(in, in + each, in + 2 * each, out, out + each, out + 2 * each,
                                             out + 3 * each);
    });
    std::vector<unsigned char> plates = host_copy_of(d_plates, 4 * (size_t)n);
    for (size_t i = 0; i < (size_t)n; i += 97) {
        Inks inks = inks_of(page[i], page[n + i], page[2 * (size_t)n + i]);
        pair_near(&p, "cyan", i, inks.c, plates[i], 0);
        pair_near(&p, "magenta", i, inks.m, plates[n + i], 0);
        pair_near(&p, "yellow", i, inks.y, plates[2 * (size_t)n + i], 0);
        pair_near(&p, "black", i, inks.k, plates[3 * (size_t)n + i], 0);
    }
    return pair_end(&p);
}
