// SPDX-License-Identifier: Apache-2.0
// How blocks come and go on an SM: the pace of their starts, and the time from a block's end to the start of the next in
// its place. `dispatch counted` only launches what counters.sh measures from outside: empty kernels, and kernels of which
// each does one thing more.
#include <algorithm>
#include <cstring>
#include <vector>

#include "micro.h"

__global__ void empty() {}
__global__ void one_store(int *out) { out[threadIdx.x + blockIdx.x * blockDim.x] = 1; }
__global__ void load_store(int *out, const int *in) { out[threadIdx.x + blockIdx.x * blockDim.x] = in[threadIdx.x + blockIdx.x * blockDim.x] + 1; }
// `cycles` long by its own clock.
__global__ void spin(int cycles) {
    i64 begin = now();
    while (now() - begin < cycles) {}
}

__global__ void stamps(i64 *times, int *sm, int work) {
    i64 begin = now();
    while (now() - begin < work) {}
    if (threadIdx.x == 0) {
        int id;
        asm volatile("mov.u32 %0, %%smid;" : "=r"(id));
        times[2 * blockIdx.x] = begin;
        sm[blockIdx.x] = id;
        times[2 * blockIdx.x + 1] = now();
    }
}

static double median(std::vector<i64> &v) {
    if (v.empty()) return -1;
    std::sort(v.begin(), v.end());
    return (double)v[v.size() / 2];
}

static void pace(int sms, int threads, int work, i64 *times, int *sm, int blocks) {
    std::vector<i64> t(2 * blocks), starts, again, lives;
    std::vector<int> where(blocks);
    int resident;
    char text[128];
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, stamps, threads, 0));
    for (int warm = 0; warm < 2; warm++) stamps<<<blocks, threads>>>(times, sm, work);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(t.data(), times, blocks * 16, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(where.data(), sm, blocks * 4, cudaMemcpyDeviceToHost));
    for (int s = 0; s < sms; s++) {
        std::vector<i64> begins, ends;
        for (int b = 0; b < blocks; b++)
            if (where[b] == s) begins.push_back(t[2 * b]), ends.push_back(t[2 * b + 1]), lives.push_back(t[2 * b + 1] - t[2 * b]);
        std::sort(begins.begin(), begins.end());
        std::sort(ends.begin(), ends.end());
        if ((int)begins.size() <= resident) continue;
        if (resident > 1) starts.push_back((begins[resident - 1] - begins[0]) * 100 / (resident - 1));
        for (size_t k = resident; k < begins.size(); k++) again.push_back(begins[k] - ends[k - resident]);
    }
    snprintf(text, sizeof text, "dispatch/first/%d_threads/%d", threads, work);
    report(text, median(starts) / 100, "cycles", "between starts on one SM until it is full");
    snprintf(text, sizeof text, "dispatch/again/%d_threads/%d", threads, work);
    report(text, median(again), "cycles", "from a block's last clock to the first of the next in its place");
    snprintf(text, sizeof text, "dispatch/least/%d_threads/%d", threads, work);
    report(text, again.empty() ? -1 : (double)again[0], "cycles", "... the least");
    snprintf(text, sizeof text, "dispatch/life/%d_threads/%d", threads, work);
    report(text, median(lives), "cycles", "from its first to its last clock");
}

// Kernels of one stream: the clock of SM 0's block at the end of one to the start of the next.
__global__ void edge(i64 *times, int at) {
    i64 begin = now();
    times[2 * at] = begin;
    times[2 * at + 1] = now();
}

static void between_kernels() {
    i64 *times = cycles_buffer(), copy[64];
    std::vector<i64> gaps;
    for (int i = 0; i < 32; i++) edge<<<1, 1>>>(times, i);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(copy, times, sizeof copy, cudaMemcpyDeviceToHost));
    for (int i = 8; i < 32; i++) gaps.push_back(copy[2 * i] - copy[2 * i - 1]);
    report("dispatch/between_kernels", median(gaps), "cycles", "from the last clock of a kernel to the first of the next, one stream, same SM");
}

static void counted() {
    static const int blocks[] = {1, 2, 16, 64, 132, 264, 1056, 4224, 16896, 67584}, sizes[] = {32, 128, 256, 512, 1024};
    int *data;
    CHECK(cudaMalloc(&data, 1ull << 30));
    CHECK(cudaMemset(data, 0, 1ull << 30));
    for (int threads : sizes)
        for (int n : blocks) empty<<<n, threads>>>();
    for (int n : blocks) one_store<<<n, 256>>>(data);
    for (int n : blocks) load_store<<<n, 256>>>(data, data + (1 << 27));
    for (int n : blocks) spin<<<n, 256>>>(1000);
    for (int n : blocks) spin<<<n, 32>>>(5000);
    CHECK(cudaDeviceSynchronize());
}

int main(int argc, char **argv) {
    if (argc > 1 && !strcmp(argv[1], "counted")) return counted(), 0;
    cudaDeviceProp properties;
    CHECK(cudaGetDeviceProperties(&properties, 0));
    int sms = properties.multiProcessorCount, most = sms * 128;
    i64 *times;
    int *sm;
    CHECK(cudaMalloc(&times, most * 16));
    CHECK(cudaMalloc(&sm, most * 4));
    static const int sizes[] = {32, 64, 128, 256, 512, 1024}, works[] = {0, 1000, 5000};
    for (int threads : sizes)
        for (int work : works) pace(sms, threads, work, times, sm, most);
    between_kernels();
    return 0;
}
