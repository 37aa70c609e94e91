// SPDX-License-Identifier: Apache-2.0
//
// Rule: wrong-type
// Change: the literals are floats.
// Why: they are doubles, so that much of the basis functions and of the shading is computed in double precision, with
// conversions to and fro.
#include "../common.h"

enum { SIDE = 256 };

#ifdef AFTER
#define NUMBER(x) x##f
#else
#define NUMBER(x) x
#endif

// The cubic Bernstein polynomials at t, and their derivatives.
__device__ inline void bernstein(float t, float *basis, float *slope) {
    float s = NUMBER(1.0) - t;
    basis[0] = s * s * s;
    basis[1] = NUMBER(3.0) * t * s * s;
    basis[2] = NUMBER(3.0) * t * t * s;
    basis[3] = t * t * t;
    slope[0] = NUMBER(-3.0) * s * s;
    slope[1] = NUMBER(3.0) * s * (s - NUMBER(2.0) * t);
    slope[2] = NUMBER(3.0) * t * (NUMBER(2.0) * s - t);
    slope[3] = NUMBER(3.0) * t * t;
}

// Points of the patches that teapots are made of, and how bright they are; a block takes one row of a patch.
__global__ void shade(const float4 *patches, float2 *points, float step, float3 light, float3 half) {
    __shared__ float4 control[16];
    if (threadIdx.x < 16)
        control[threadIdx.x] = patches[blockIdx.y * 16 + threadIdx.x];
    __syncthreads();
    float along[4], along_slope[4], across[4], across_slope[4];
    bernstein((threadIdx.x + NUMBER(0.5)) * step, along, along_slope);
    bernstein((blockIdx.x + NUMBER(0.5)) * step, across, across_slope);
    float height = 0, ux = 0, uy = 0, uz = 0, vx = 0, vy = 0, vz = 0;
#pragma unroll
    for (int i = 0; i < 4; i++) {
        float px = 0, py = 0, pz = 0, dx = 0, dy = 0, dz = 0;
#pragma unroll
        for (int j = 0; j < 4; j++) {
            float4 c = control[i * 4 + j];
            px += along[j] * c.x;
            py += along[j] * c.y;
            pz += along[j] * c.z;
            dx += along_slope[j] * c.x;
            dy += along_slope[j] * c.y;
            dz += along_slope[j] * c.z;
        }
        height += across[i] * pz;
        ux += across[i] * dx;
        uy += across[i] * dy;
        uz += across[i] * dz;
        vx += across_slope[i] * px;
        vy += across_slope[i] * py;
        vz += across_slope[i] * pz;
    }
    float nx = uy * vz - uz * vy, ny = uz * vx - ux * vz, nz = ux * vy - uy * vx;
    float inverse = rsqrtf(nx * nx + ny * ny + nz * nz);
    float facing = fmaxf((nx * light.x + ny * light.y + nz * light.z) * inverse, 0.0f);
    float shine = fmaxf((nx * half.x + ny * half.y + nz * half.z) * inverse, 0.0f);
    shine *= shine;
    shine *= shine;
    shine *= shine;
    float level = NUMBER(0.1) + NUMBER(0.6) * facing + NUMBER(0.3) * shine;
    level *= NUMBER(1.0) - NUMBER(0.05) * height;
    level *= NUMBER(1.4) - NUMBER(0.4) * level;
    points[((size_t)blockIdx.y * gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x] = make_float2(height, level);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "teapots");
    int patches = p.small ? 1 : 224, side = p.small ? 24 : SIDE;
    std::vector<float> off = random_floats((size_t)patches * 48, -0.2f, 0.2f, 1);
    std::vector<float4> control((size_t)patches * 16);
    for (size_t c = 0; c < control.size(); c++)
        control[c] = make_float4(c % 4 + off[3 * c], c / 4 % 4 + off[3 * c + 1], 1.0f + 4.0f * off[3 * c + 2], 0);
    float3 light = make_float3(0.6f, 0.0f, 0.8f), half = make_float3(0.28f, 0.0f, 0.96f);
    float4 *d_control = device_copy_of(control.data(), control.size());
    size_t n = (size_t)patches * side * side;
    float2 *d_points = device_array<float2>(n);
    pair_time(&p, [&] { shade<<<dim3(side, patches), side>>>(d_control, d_points, 1.0f / side, light, half); });
    std::vector<float2> points = host_copy_of(d_points, n);
    for (size_t i = 0; i < n; i += p.small ? 1 : 307) {
        double t[2] = {(i % side + 0.5) / side, (i / side % side + 0.5) / side}, b[2][4], d[2][4];
        for (int k = 0; k < 2; k++) {
            double s = 1 - t[k];
            b[k][0] = s * s * s;
            b[k][1] = 3 * t[k] * s * s;
            b[k][2] = 3 * t[k] * t[k] * s;
            b[k][3] = t[k] * t[k] * t[k];
            d[k][0] = -3 * s * s;
            d[k][1] = 3 * s * (s - 2 * t[k]);
            d[k][2] = 3 * t[k] * (2 * s - t[k]);
            d[k][3] = 3 * t[k] * t[k];
        }
        double height = 0, u[3] = {}, v[3] = {};
        for (int c = 0; c < 16; c++) {
            float4 point = control[i / side / side * 16 + c];
            double xyz[3] = {point.x, point.y, point.z};
            height += b[1][c / 4] * b[0][c % 4] * xyz[2];
            for (int k = 0; k < 3; k++) {
                u[k] += b[1][c / 4] * d[0][c % 4] * xyz[k];
                v[k] += d[1][c / 4] * b[0][c % 4] * xyz[k];
            }
        }
        double nx = u[1] * v[2] - u[2] * v[1], ny = u[2] * v[0] - u[0] * v[2], nz = u[0] * v[1] - u[1] * v[0],
               length = sqrt(nx * nx + ny * ny + nz * nz),
               facing = std::max((nx * light.x + ny * light.y + nz * light.z) / length, 0.0),
               shine = std::max((nx * half.x + ny * half.y + nz * half.z) / length, 0.0);
        double level = (0.1 + 0.6 * facing + 0.3 * pow(shine, 8)) * (1 - 0.05 * height);
        pair_near(&p, "height", i, height, points[i].x, 1e-4);
        pair_near(&p, "level", i, level * (1.4 - 0.4 * level), points[i].y, 1e-3);
    }
    return pair_end(&p);
}
