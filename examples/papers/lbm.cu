// SPDX-License-Identifier: Apache-2.0
//
// GRAB, section 5, RQ2, figure 9 and tables 4 and 5: a lattice Boltzmann step of a fluid of two components (D2Q9) on
// 128 x 128 nodes with periodic boundaries, 32 blocks of 512 threads. Density and momentum of a node, then the new
// distributions: the versions differ in what they keep in registers between the uses of a global value.
enum { SIDE = 128, NODES = SIDE * SIDE, WAYS = 9 };

__constant__ float weight[WAYS] = {4 / 9.f,  1 / 9.f,  1 / 9.f,  1 / 9.f, 1 / 9.f,
                                   1 / 36.f, 1 / 36.f, 1 / 36.f, 1 / 36.f};
__constant__ float way_x[WAYS] = {0, 1, 0, -1, 0, 1, -1, -1, 1};
__constant__ float way_y[WAYS] = {0, 0, 1, 0, -1, 1, 1, -1, -1};

__device__ int neighbour(int node, int way) {
    int x = (node % SIDE - (int)way_x[way]) & (SIDE - 1), y = (node / SIDE - (int)way_y[way]) & (SIDE - 1);
    return y * SIDE + x;
}

__device__ float equilibrium(int way, float density, float u, float v) {
    float along = way_x[way] * u + way_y[way] * v;
    return weight[way] * density * (1 + 3 * along + 4.5f * along * along - 1.5f * (u * u + v * v));
}

// Everything is read where it is used and summed up in global memory.
__global__ void lbm_basic(const float *from, float *to, float *density, float *u, float *v) {
    int node = blockIdx.x * blockDim.x + threadIdx.x;
    density[node] = u[node] = v[node] = 0;
#pragma unroll 1
    for (int way = 0; way < WAYS; way++) {
        density[node] += from[way * NODES + neighbour(node, way)];
        u[node] += way_x[way] * from[way * NODES + neighbour(node, way)];
        v[node] += way_y[way] * from[way * NODES + neighbour(node, way)];
    }
    u[node] /= density[node];
    v[node] /= density[node];
#pragma unroll 1
    for (int way = 0; way < WAYS; way++) {
        to[way * NODES + node] = from[way * NODES + neighbour(node, way)];
        to[way * NODES + node] -= .5f * from[way * NODES + neighbour(node, way)];
        to[way * NODES + node] += .5f * equilibrium(way, density[node], u[node], v[node]);
    }
}

// Values of the first loop in registers (figure 9).
__global__ void lbm_v1(const float *from, float *to, float *density, float *u, float *v) {
    int node = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0, x = 0, y = 0;
#pragma unroll 1
    for (int way = 0; way < WAYS; way++) {
        float value = from[way * NODES + neighbour(node, way)];
        sum += value;
        x += way_x[way] * value;
        y += way_y[way] * value;
    }
    density[node] = sum;
    u[node] = x / sum;
    v[node] = y / sum;
#pragma unroll 1
    for (int way = 0; way < WAYS; way++) {
        to[way * NODES + node] = from[way * NODES + neighbour(node, way)];
        to[way * NODES + node] -= .5f * from[way * NODES + neighbour(node, way)];
        to[way * NODES + node] += .5f * equilibrium(way, density[node], u[node], v[node]);
    }
}

// The first half of the second loop moved into the first, the rest in registers.
__global__ void lbm_v2(const float *from, float *to, float *density, float *u, float *v) {
    int node = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0, x = 0, y = 0;
#pragma unroll 1
    for (int way = 0; way < WAYS; way++) {
        float value = from[way * NODES + neighbour(node, way)];
        sum += value;
        x += way_x[way] * value;
        y += way_y[way] * value;
        to[way * NODES + node] = .5f * value;
    }
    x /= sum;
    y /= sum;
    density[node] = sum;
    u[node] = x;
    v[node] = y;
#pragma unroll 1
    for (int way = 0; way < WAYS; way++)
        to[way * NODES + node] += .5f * equilibrium(way, sum, x, y);
}
