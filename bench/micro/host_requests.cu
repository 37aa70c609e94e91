// SPDX-License-Identifier: Apache-2.0
// What a request over the bus costs beside its bytes: each warp reads or writes runs of so many bytes, so that its
// requests have one, two, three or four sectors.
#include "micro.h"

enum { LINE = 32 /* words */ };

__global__ void read_runs(const unsigned *from, size_t lines, int words, unsigned *sink) {
    size_t line = (blockIdx.x * (size_t)blockDim.x + threadIdx.x) / LINE, step = gridDim.x * (size_t)blockDim.x / LINE;
    unsigned lane = threadIdx.x % LINE, sum = 0;
    for (; line < lines; line += step)
        if (lane < (unsigned)words) sum += from[line * LINE + lane];
    if (sum == 0x12345678) *sink = sum;
}
__global__ void write_runs(unsigned *to, size_t lines, int words) {
    size_t line = (blockIdx.x * (size_t)blockDim.x + threadIdx.x) / LINE, step = gridDim.x * (size_t)blockDim.x / LINE;
    unsigned lane = threadIdx.x % LINE;
    for (; line < lines; line += step)
        if (lane < (unsigned)words) to[line * LINE + lane] = lane;
}
__global__ void copy_runs(const unsigned *from, unsigned *to, size_t lines, int words) {
    size_t line = (blockIdx.x * (size_t)blockDim.x + threadIdx.x) / LINE, step = gridDim.x * (size_t)blockDim.x / LINE;
    unsigned lane = threadIdx.x % LINE;
    for (; line < lines; line += step)
        if (lane < (unsigned)words) to[line * LINE + lane] = from[line * LINE + lane];
}

int main() {
    unsigned *memory, *to, *sink;
    size_t lines = 1 << 18;
    char text[128];
    CHECK(cudaHostAlloc(&memory, lines * 128, cudaHostAllocMapped));
    CHECK(cudaHostAlloc(&to, lines * 128, cudaHostAllocMapped));
    CHECK(cudaMalloc(&sink, 64));
    for (int words : {1, 4, 8, 16, 24, 32}) {
        double read = ns_of([&] { read_runs<<<528, 256>>>(memory, lines, words, sink); });
        snprintf(text, sizeof text, "host_requests/read/%d_bytes", words * 4);
        report(text, read / (double)lines, "ns/request", "of a line each");
        double write = ns_of([&] { write_runs<<<528, 256>>>(memory, lines, words); });
        snprintf(text, sizeof text, "host_requests/write/%d_bytes", words * 4);
        report(text, write / (double)lines, "ns/request", "of a line each");
        double both = ns_of([&] { copy_runs<<<528, 256>>>(memory, to, lines, words); });
        snprintf(text, sizeof text, "host_requests/copy/%d_bytes", words * 4);
        report(text, both / (double)lines, "ns/request", "read and written");
    }
}
