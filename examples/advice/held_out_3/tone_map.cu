// SPDX-License-Identifier: Apache-2.0
//
// Rule: kernel-merge
// Change: exposure, curve and packing are one kernel instead of three.
// Why: each kernel stores an image that the next one loads.
#include "../common.h"

enum { BLOCK = 256 };

static __host__ __device__ float curve(float v) { return v * (2.51f * v + 0.03f) / (v * (2.43f * v + 0.59f) + 0.14f); }

static __host__ __device__ unsigned char pack(float v) { return (unsigned char)(255 * fminf(fmaxf(v, 0), 1) + 0.5f); }

#ifdef AFTER
__global__ void tone_map(const float *in, unsigned char *out, float exposure) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    out[i] = pack(curve(exposure * in[i]));
}
#else
__global__ void expose(const float *in, float *exposed, float exposure) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    exposed[i] = exposure * in[i];
}

__global__ void bend(const float *exposed, float *bent) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    bent[i] = curve(exposed[i]);
}

__global__ void quantise(const float *bent, unsigned char *out) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    out[i] = pack(bent[i]);
}
#endif

// Film-like tone mapping of a high-dynamic-range image to bytes.
int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "tone_map");
    int n = p.small ? 1 << 18 : 3 << 23;
    const float exposure = 0.8f;
    std::vector<float> in = random_floats(n, 0, 2, 1);
    float *d_in = device_copy_of(in.data(), n);
    unsigned char *d_out = device_array<unsigned char>(n);
#ifdef AFTER
    pair_time(&p, [&] { tone_map<<<n / BLOCK, BLOCK>>>(d_in, d_out, exposure); });
#else
    float *d_exposed = device_array<float>(n), *d_bent = device_array<float>(n);
    pair_time(&p, [&] {
        expose<<<n / BLOCK, BLOCK>>>(d_in, d_exposed, exposure);
        bend<<<n / BLOCK, BLOCK>>>(d_exposed, d_bent);
        quantise<<<n / BLOCK, BLOCK>>>(d_bent, d_out);
    });
#endif
    std::vector<unsigned char> out = host_copy_of(d_out, n);
    for (int i = 0; i < n; i += 103)
        pair_near(&p, "out", i, pack(curve(exposure * in[i])) / 255.0, out[i] / 255.0, 0.004);
    return pair_end(&p);
}
