// SPDX-License-Identifier: Apache-2.0
// Kernels on which every choice that a GPU model has makes a difference (tests/gpu_choices.sh). choices.ptx: nvcc -O3 -arch=sm_75 -ptx.

// Some lines are read again and again, others once: what is given up matters. Loads and stores in turns, atomics, a
// local array, bank conflicts, warps that take different ways.
extern "C" __global__ void mixed(const int *in, int *out, int mask, int turns) {
    __shared__ int tile[1024];
    int thread = blockIdx.x * blockDim.x + threadIdx.x, own[16], sum = 0;
    unsigned at = thread * 2654435761u;
    for (int i = 0; i < 16; i++) own[i] = in[i];
    for (int i = threadIdx.x; i < 1024; i += blockDim.x) tile[i] = in[i];
    __syncthreads();
    for (int k = 0; k < turns; k++) {
        at = at * 1664525u + 1013904223u;
        int hot = in[(at >> 20) & 4095], cold = in[(at >> 4) & mask];
        own[(at >> 9) & 15] += hot;
        sum += cold + own[(at >> 5) & 15] + tile[(threadIdx.x * 2 + k) & 1023] + tile[(threadIdx.x * 32 + k) & 1023];
        if (k % 4 == 0) out[(at >> 3) & mask] = sum;
        if (threadIdx.x / 32 % 3 == 0) sum = sum * 3 + hot % 7;
        if (k % 8 == 0) atomicAdd(out + (at & 1023), 1);
    }
    out[thread] = sum;
}
