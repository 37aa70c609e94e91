// SPDX-License-Identifier: Apache-2.0
//
// Rule: fast-math
// Change: the sine, the cosine, the exponentials and the quotients of a step are the hardware's approximations.
// Why: the exact functions are 10 to 30 instructions each and a way for rare arguments; the angles are small, and an
//      image needs no more than three digits.
#include "../common.h"

enum { BLOCK = 256, TEETH = 96 };

// A piece of the pulse: field across (two components), gradient along, and how long it lasts.
__constant__ float4 pulse[TEETH];

// What is in a voxel: where it is, off resonance, and the rates 1 / T1 and 1 / T2.
struct Voxel {
    float place, shift, rate1, rate2;
};

#ifdef AFTER
__device__ static inline float quotient(float a, float b) { return __fdividef(a, b); }
__device__ static inline float decay(float x) { return __expf(-x); }
__device__ static inline void turn(float angle, float *s, float *c) { __sincosf(angle, s, c); }
#else
__device__ static inline float quotient(float a, float b) { return a / b; }
__device__ static inline float decay(float x) { return expf(-x); }
__device__ static inline void turn(float angle, float *s, float *c) { sincosf(angle, s, c); }
#endif

// Bloch's equation: turns the magnetisation about the field of this piece of the pulse and lets it relax.
__device__ static inline float3 precess(float3 m, float4 piece, const Voxel &voxel) {
    float bz = piece.z * voxel.place + voxel.shift;
    float field = sqrtf(piece.x * piece.x + piece.y * piece.y + bz * bz) + 1e-6f;
    float x = quotient(piece.x, field), y = quotient(piece.y, field), z = quotient(bz, field), s, c;
    turn(field * piece.w, &s, &c);
    float along = (1 - c) * (x * m.x + y * m.y + z * m.z);
    float3 turned =
        make_float3(c * m.x + s * (y * m.z - z * m.y) + along * x, c * m.y + s * (z * m.x - x * m.z) + along * y,
                    c * m.z + s * (x * m.y - y * m.x) + along * z);
    float e1 = decay(piece.w * voxel.rate1), e2 = decay(piece.w * voxel.rate2);
    return make_float3(turned.x * e2, turned.y * e2, 1 + (turned.z - 1) * e1);
}

__global__ void __launch_bounds__(BLOCK) excite(const Voxel *voxels, float3 *magnetisation, int count) {
    int v = blockIdx.x * BLOCK + threadIdx.x;
    if (v >= count)
        return;
    Voxel voxel = voxels[v];
    float3 m = make_float3(0, 0, 1);
#pragma unroll 1
    for (int t = 0; t < TEETH; t++)
        m = precess(m, pulse[t], voxel);
    magnetisation[v] = m;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "kneecaps");
    int count = p.small ? 1500 : 132 * 2048 * 2;
    std::vector<float4> pieces(TEETH);
    for (int t = 0; t < TEETH; t++) {
        float u = (t + 0.5f) / TEETH * 2 - 1, shape = expf(-5 * u * u) * cosf(6 * u);
        pieces[t] = make_float4(0.7f * shape, 0.1f * shape * u, t < TEETH * 3 / 4 ? 1.f : -1.f, 0.06f + 0.04f * u * u);
    }
    CUDA_CHECK(cudaMemcpyToSymbol(pulse, pieces.data(), TEETH * sizeof(float4)));
    std::vector<float> r = random_floats((size_t)count * 4, 0, 1, 21);
    std::vector<Voxel> voxels(count);
    for (int v = 0; v < count; v++)
        voxels[v] = {8 * r[4 * v] - 4, 0.6f * r[4 * v + 1] - 0.3f, 0.01f + 0.02f * r[4 * v + 2], 0.1f * r[4 * v + 3]};
    Voxel *d_voxels = device_copy_of(voxels.data(), count);
    float3 *d_magnetisation = device_array<float3>(count);
    int blocks = (count + BLOCK - 1) / BLOCK;
    pair_time(&p, [&] { excite<<<blocks, BLOCK>>>(d_voxels, d_magnetisation, count); });
    std::vector<float3> magnetisation = host_copy_of(d_magnetisation, count);
    for (int v = 0; v < count; v += p.small ? 1 : 53) {
        const Voxel &voxel = voxels[v];
        double m[3] = {0, 0, 1};
        for (const float4 &piece : pieces) {
            double b[3] = {piece.x, piece.y, piece.z * (double)voxel.place + voxel.shift}, turned[3];
            double field = sqrt(b[0] * b[0] + b[1] * b[1] + b[2] * b[2]) + 1e-6, along = 0;
            for (double &component : b)
                component /= field;
            double s = sin(field * piece.w), c = cos(field * piece.w);
            for (int i = 0; i < 3; i++)
                along += (1 - c) * b[i] * m[i];
            for (int i = 0; i < 3; i++) {
                int j = (i + 1) % 3, k = (i + 2) % 3;
                turned[i] = c * m[i] + s * (b[j] * m[k] - b[k] * m[j]) + along * b[i];
            }
            double e1 = exp(-(double)piece.w * voxel.rate1), e2 = exp(-(double)piece.w * voxel.rate2);
            m[0] = turned[0] * e2, m[1] = turned[1] * e2, m[2] = 1 + (turned[2] - 1) * e1;
        }
        pair_near(&p, "x", v, m[0], magnetisation[v].x, 1e-3);
        pair_near(&p, "y", v, m[1], magnetisation[v].y, 1e-3);
        pair_near(&p, "z", v, m[2], magnetisation[v].z, 1e-3);
    }
    return pair_end(&p);
}
