// SPDX-License-Identifier: Apache-2.0
// Chains of short kernels, launched one by one on a stream and as one graph: microseconds from one kernel to the next,
// by how long a kernel computes. Prints kind, clocks of a kernel, CTAs, microseconds (median of 9 runs of 200 kernels).
//     nvcc -O3 -arch=sm_90 graph_launch.cu && ./a.out >h200-graph-launch.tsv
#include <algorithm>
#include <cstdio>
#include <vector>

#define CHECK(call)                                                                                  \
    do {                                                                                             \
        cudaError_t status = (call);                                                                 \
        if (status != cudaSuccess) return fprintf(stderr, "%s\n", cudaGetErrorString(status)), 1;    \
    } while (0)

enum { KERNELS = 200, RUNS = 9 };

__global__ void spin(long long clocks, int *out) {
    long long begin = clock64();
    while (clock64() - begin < clocks) {
    }
    if (clocks < 0) *out = 1;
}

int main(void) {
    const long long clocks[] = {0, 500, 1000, 2000, 3000, 4000, 6000, 8000, 16000};
    const int ctas[] = {1, 132, 1056};
    cudaStream_t stream;
    cudaEvent_t from, to;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaEventCreate(&from));
    CHECK(cudaEventCreate(&to));
    printf("kind\tclocks\tctas\tus\n");
    for (int grid : ctas)
        for (long long length : clocks) {
            cudaGraph_t graph;
            cudaGraphExec_t instance;
            CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
            for (int k = 0; k < KERNELS; k++) spin<<<grid, 256, 0, stream>>>(length, NULL);
            CHECK(cudaStreamEndCapture(stream, &graph));
            CHECK(cudaGraphInstantiate(&instance, graph, 0));
            for (int as_graph = 0; as_graph < 2; as_graph++) {
                std::vector<float> times;
                for (int run = 0; run <= RUNS; run++) {
                    float ms;
                    CHECK(cudaEventRecord(from, stream));
                    if (as_graph)
                        CHECK(cudaGraphLaunch(instance, stream));
                    else
                        for (int k = 0; k < KERNELS; k++) spin<<<grid, 256, 0, stream>>>(length, NULL);
                    CHECK(cudaEventRecord(to, stream));
                    CHECK(cudaEventSynchronize(to));
                    CHECK(cudaEventElapsedTime(&ms, from, to));
                    if (run) times.push_back(ms);
                }
                std::sort(times.begin(), times.end());
                printf("%s\t%lld\t%d\t%.3f\n", as_graph ? "graph" : "stream", length, grid, 1000 * times[RUNS / 2] / KERNELS);
            }
            CHECK(cudaGraphExecDestroy(instance));
            CHECK(cudaGraphDestroy(graph));
        }
    return 0;
}
