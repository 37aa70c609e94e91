// SPDX-License-Identifier: Apache-2.0
//
// Rule: kernel-merge
// Change: the 20 launches of a step are one graph.
// Why: a kernel takes as long as its launch.
// Post: Getting Started with CUDA Graphs
#include "../common.h"

enum { KERNELS = 20, THREADS = 512 };

__global__ void short_kernel(float *out_d, float *in_d, int n) {
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    if (idx < n)
        out_d[idx] = 1.23 * in_d[idx];
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "short_kernels");
    int n = p.small ? 50000 : 500000, blocks = (n + THREADS - 1) / THREADS;
    std::vector<float> in = random_floats(n, 0, 1, 1);
    float *d_in = device_copy_of(in.data(), n), *d_out = device_array<float>(n);
#ifdef AFTER
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t instance;
    CUDA_CHECK(cudaStreamCreate(&stream));
    CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    for (int k = 0; k < KERNELS; k++)
        short_kernel<<<blocks, THREADS, 0, stream>>>(d_out, d_in, n);
    CUDA_CHECK(cudaStreamEndCapture(stream, &graph));
    CUDA_CHECK(cudaGraphInstantiate(&instance, graph, 0));
    pair_time(&p, [&] { CUDA_CHECK(cudaGraphLaunch(instance, 0)); });
#else
    pair_time(&p, [&] {
        for (int k = 0; k < KERNELS; k++)
            short_kernel<<<blocks, THREADS>>>(d_out, d_in, n);
    });
#endif
    std::vector<float> out = host_copy_of(d_out, n);
    for (int i = 0; i < n; i += 1009)
        pair_near(&p, "out", i, 1.23 * in[i], out[i], 1e-6);
    return pair_end(&p);
}
