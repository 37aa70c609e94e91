// SPDX-License-Identifier: Apache-2.0
// Kernels of many shapes that do next to nothing: how much of an SM the driver gives to shared memory, by threads,
// registers and shared memory of a CTA, is told by Nsight Compute (launch__shared_mem_config_size).
#include "micro.h"

template <int values> __global__ void hold(float *data, int count) {
    extern __shared__ float own[];
    float v[values];
#pragma unroll
    for (int k = 0; k < values; k++) v[k] = data[k * count];
    for (int i = 0; i < count; i++) {
#pragma unroll
        for (int k = 0; k < values; k++) v[k] = v[k] * v[(k + 1) % values] + i;
    }
#pragma unroll
    for (int k = 0; k < values; k++) data[k * count] = v[k];
    if (count < 0) own[threadIdx.x] = v[0];
}

template <int values> static void launch(float *data) {
    CHECK(cudaFuncSetAttribute(hold<values>, cudaFuncAttributeMaxDynamicSharedMemorySize, 227 << 10));
    for (int threads : {32, 96, 128, 160, 192, 256, 320, 384, 448, 512, 640, 768, 896, 1024})
        for (int bytes : {0, 64, 1 << 10, 2 << 10, 4 << 10, 8 << 10, 16 << 10, 24 << 10, 32 << 10, 64 << 10}) {
            hold<values><<<1, threads, bytes>>>(data, 1);
            cudaGetLastError();  // too many registers for so many threads
        }
    CHECK(cudaDeviceSynchronize());
}

int main() {
    float *data;
    CHECK(cudaMalloc(&data, 1 << 20));
    launch<8>(data);
    launch<12>(data);
    launch<20>(data);
    launch<40>(data);
    launch<72>(data);
    return 0;
}
