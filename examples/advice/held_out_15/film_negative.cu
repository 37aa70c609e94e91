// SPDX-License-Identifier: Apache-2.0
//
// Rule: vectorised-access
// Also: global-coalescing
// Change: a thread loads and stores its four pixels of a plane as one word.
// Why: it goes byte by byte, four accesses a plane where one does, each with a stride of four between the lanes.
#include "../common.h"

enum { BLOCK = 256, PIXELS = 4 };

struct Film {
    float mask[3], gain[3];  // the film base's own colour, and how steep each layer is
};

static __device__ void load(unsigned char *own, const unsigned char *plane, int i) {
#ifdef AFTER
    uchar4 word = ((const uchar4 *)plane)[i];
    own[0] = word.x;
    own[1] = word.y;
    own[2] = word.z;
    own[3] = word.w;
#else
    for (int k = 0; k < PIXELS; k++)
        own[k] = plane[PIXELS * i + k];
#endif
}

static __device__ void store(unsigned char *plane, int i, const unsigned char *own) {
#ifdef AFTER
    ((uchar4 *)plane)[i] = make_uchar4(own[0], own[1], own[2], own[3]);
#else
    for (int k = 0; k < PIXELS; k++)
        plane[PIXELS * i + k] = own[k];
#endif
}

static __host__ __device__ unsigned char positive(unsigned char density, unsigned char infrared, float mask,
                                                  float gain) {
    if (infrared < 40)  // dust: left grey for the retoucher
        return 128;
    float light = fmaf(-gain, (float)density, mask);
    return (unsigned char)fminf(fmaxf(light, 0.0f), 255.0f);
}

// Makes positives of a scanned colour negative; a fourth, infrared plane shows the dust.
__global__ void develop(const unsigned char *__restrict__ red, const unsigned char *__restrict__ green,
                        const unsigned char *__restrict__ blue, const unsigned char *__restrict__ infrared, Film film,
                        unsigned char *__restrict__ out_red, unsigned char *__restrict__ out_green,
                        unsigned char *__restrict__ out_blue) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    unsigned char r[PIXELS], g[PIXELS], b[PIXELS], dust[PIXELS];
    load(r, red, i);
    load(g, green, i);
    load(b, blue, i);
    load(dust, infrared, i);
    for (int k = 0; k < PIXELS; k++) {
        r[k] = positive(r[k], dust[k], film.mask[0], film.gain[0]);
        g[k] = positive(g[k], dust[k], film.mask[1], film.gain[1]);
        b[k] = positive(b[k], dust[k], film.mask[2], film.gain[2]);
    }
    store(out_red, i, r);
    store(out_green, i, g);
    store(out_blue, i, b);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "film_negative");
    int n = p.small ? 16384 : 24 << 20;
    std::vector<unsigned char> planes[4];
    unsigned char *d_in[4], *d_out[3];
    for (int c = 0; c < 4; c++) {
        planes[c].resize(n);
        lcg_fill(planes[c].data(), n, c + 1, 256);
        d_in[c] = device_copy_of(planes[c].data(), n);
    }
    for (int c = 0; c < 3; c++)
        d_out[c] = device_array<unsigned char>(n);
    Film film = {{260, 230, 200}, {1.1f, 1.3f, 1.6f}};
    pair_time(&p, [&] {
        develop<<<n / PIXELS / BLOCK, BLOCK>>>(d_in[0], d_in[1], d_in[2], d_in[3], film, d_out[0], d_out[1], d_out[2]);
    });
    for (int c = 0; c < 3; c++) {
        std::vector<unsigned char> out = host_copy_of(d_out[c], n);
        for (int i = 0; i < n; i += 3)
            pair_near(&p, "positive", i, positive(planes[c][i], planes[3][i], film.mask[c], film.gain[c]), out[i], 0);
    }
    return pair_end(&p);
}
