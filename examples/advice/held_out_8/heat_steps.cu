// SPDX-License-Identifier: Apache-2.0
//
// Rule: kernel-merge
// Change: the 32 steps are launched as one graph.
// Why: a step of a small grid takes no longer than its launch.
#include "../common.h"

enum { BLOCK = 128, STEPS = 32 };

// Heat in a rod whose ends are kept cold.
__global__ void heat_step(const float *in, float *out, int n) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    float left = i ? in[i - 1] : 0, right = i + 1 < n ? in[i + 1] : 0;
    out[i] = in[i] + 0.25f * (left - 2 * in[i] + right);
}

static void all_steps(const float *in, float *a, float *b, int n, cudaStream_t stream) {
    for (int k = 0; k < STEPS; k++)
        heat_step<<<n / BLOCK, BLOCK, 0, stream>>>(k == 0 ? in : k % 2 ? a : b, k % 2 ? b : a, n);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "heat_steps");
    int n = p.small ? 1 << 13 : 1 << 16;
    std::vector<float> in = random_floats(n, 0, 1, 1), now = in, next(n);
    float *d_in = device_copy_of(in.data(), n), *d_a = device_array<float>(n), *d_b = device_array<float>(n);
#ifdef AFTER
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t instance;
    CUDA_CHECK(cudaStreamCreate(&stream));
    CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    all_steps(d_in, d_a, d_b, n, stream);
    CUDA_CHECK(cudaStreamEndCapture(stream, &graph));
    CUDA_CHECK(cudaGraphInstantiate(&instance, graph, 0));
    pair_time(&p, [&] { CUDA_CHECK(cudaGraphLaunch(instance, 0)); });
#else
    pair_time(&p, [&] { all_steps(d_in, d_a, d_b, n, 0); });
#endif
    std::vector<float> out = host_copy_of(STEPS % 2 ? d_a : d_b, n);
    for (int k = 0; k < STEPS; k++, std::swap(now, next))
        for (int i = 0; i < n; i++)
            next[i] = now[i] + 0.25f * ((i ? now[i - 1] : 0) - 2 * now[i] + (i + 1 < n ? now[i + 1] : 0));
    for (int i = 0; i < n; i += 97)
        pair_near(&p, "heat", i, now[i], out[i], 1e-5);
    return pair_end(&p);
}
