// SPDX-License-Identifier: Apache-2.0
// What CUPTI's own parts cost a launch, without the collector: callbacks of launches and waits that do nothing, records
// of kernels, both. They are switched on and off in turn within one process, since processes that do the same differ by
// more (docs/collect.md).
//   nvcc -O2 -arch=native -o parts parts.cu -lcupti -lcuda
//   parts [pinned] [sampled]
// pinned: CUPTI keeps kernels' times in the host's memory instead of the GPU's. sampled: while instructions are
// sampled, which CUPTI's records cannot be switched beside.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <vector>

#include <cuda.h>
#include <cupti.h>
#include <cupti_pcsampling.h>

enum { ROUNDS = 15, BUFFER = 256 << 10, DEPTH = 400, STREAMS = 4 };

struct Part {
    const char *name;
    bool launches, waits, records;
};
static const Part parts[] = {{"nothing", false, false, false}, {"launches", true, false, false},
                             {"waits", false, true, false},    {"launches, waits", true, true, false},
                             {"records", false, false, true},  {"records, launches", true, false, true},
                             {"all", true, true, true},        {"nothing, again", false, false, false}};
enum { PARTS = sizeof parts / sizeof *parts };

enum Wait { DEVICE, STREAM, QUEUED, SEVERAL };
struct Load {
    const char *name;
    int rounds, count;
    Wait wait;
};
static const Load loads[] = {{"15 us, each waited for (device)", 5500, 1500, DEVICE},
                             {"15 us, each waited for (stream)", 5500, 1500, STREAM},
                             {"2 us, each waited for (stream)", 100, 2500, STREAM},
                             {"2 us, 400 waited for", 100, 4000, QUEUED},
                             {"48 us, on four streams", 17000, 800, SEVERAL}};

static CUpti_SubscriberHandle subscriber;
static std::vector<uint8_t *> free_buffers;

static void check(CUptiResult result, const char *what) {
    if (result == CUPTI_SUCCESS) return;
    fprintf(stderr, "%s: CUPTI says %d\n", what, (int)result);
    exit(1);
}

static uint64_t now() {
    timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void CUPTIAPI request(uint8_t **buffer, size_t *size, size_t *records) {
    *records = 0;
    *size = BUFFER;
    *buffer = free_buffers.empty() ? (uint8_t *)aligned_alloc(8, BUFFER) : free_buffers.back();
    if (!free_buffers.empty()) free_buffers.pop_back();
}
static void CUPTIAPI complete(CUcontext, uint32_t, uint8_t *buffer, size_t, size_t) { free_buffers.push_back(buffer); }
static void CUPTIAPI callback(void *, CUpti_CallbackDomain, CUpti_CallbackId, const void *) {}

__global__ void iterate(float *values, int rounds) {
    float x = values[blockIdx.x * blockDim.x + threadIdx.x];
    for (int i = 0; i < rounds; i++) x = x * 0.999f + 0.001f;
    values[blockIdx.x * blockDim.x + threadIdx.x] = x;
}

static void enable(const int *ids, int count, bool on) {
    for (int i = 0; i < count; i++)
        check(cuptiEnableCallback(on, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, ids[i]), "callbacks");
}

static void set(const Part &part, bool on) {
    static const int launches[] = {CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx};
    static const int waits[] = {CUPTI_DRIVER_TRACE_CBID_cuStreamSynchronize, CUPTI_DRIVER_TRACE_CBID_cuCtxSynchronize};
    if (part.launches) enable(launches, 2, on);
    if (part.waits) enable(waits, 2, on);
    if (part.records && on) check(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL), "records");
    if (part.records && !on) check(cuptiActivityDisable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL), "records");
    if (!on) check(cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED), "flush");
}

static void launch(const Load &load, float *values, cudaStream_t *streams, int count) {
    for (int i = 0; i < count; i++) {
        cudaStream_t stream = streams[load.wait == SEVERAL ? i % STREAMS : 0];
        iterate<<<264, 256, 0, stream>>>(values, load.rounds);
        if (load.wait == DEVICE) cudaDeviceSynchronize();
        if (load.wait == STREAM || (load.wait == QUEUED && i % DEPTH == DEPTH - 1)) cudaStreamSynchronize(stream);
    }
    cudaDeviceSynchronize();
}

static double microseconds(const Load &load, const Part &part, float *values, cudaStream_t *streams) {
    set(part, true);
    launch(load, values, streams, 50);
    uint64_t begin = now();
    launch(load, values, streams, load.count);
    double us = (double)(now() - begin) / 1e3 / load.count;
    set(part, false);
    return us;
}

static void measure(const Load &load, bool sampled, float *values, cudaStream_t *streams) {
    std::vector<double> times[PARTS];
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < PARTS; i++) {
            int at = (i + round) % PARTS;
            if (sampled && parts[at].records) continue;
            double us = microseconds(load, parts[at], values, streams);
            if (round) times[at].push_back(us);
        }
    double without = 0;
    for (int i = 0; i < PARTS; i++) {
        std::vector<double> &t = times[i];
        if (t.empty()) continue;
        std::sort(t.begin(), t.end());
        double median = t[t.size() / 2];
        if (i == 0) without = median;
        printf("%-32s %-18s %7.3f us [%.3f-%.3f] %+.3f\n", load.name, parts[i].name, median, t[t.size() / 4],
               t[t.size() * 3 / 4], median - without);
    }
}

static void sample(bool on) {
    CUcontext context;
    cuCtxGetCurrent(&context);
    CUpti_PCSamplingEnableParams begin = {CUpti_PCSamplingEnableParamsSize, nullptr, context};
    CUpti_PCSamplingDisableParams end = {CUpti_PCSamplingDisableParamsSize, nullptr, context};
    check(on ? cuptiPCSamplingEnable(&begin) : cuptiPCSamplingDisable(&end), "sampling");
}

int main(int argc, char **argv) {
    bool sampled = false;
    check(cuptiSubscribe(&subscriber, (CUpti_CallbackFunc)callback, nullptr), "subscription");
    for (int i = 1; i < argc; i++) {
        uint8_t one = 1;
        size_t size = sizeof one;
        sampled |= strcmp(argv[i], "sampled") == 0;
        if (strcmp(argv[i], "pinned") == 0)
            check(cuptiActivitySetAttribute(CUPTI_ACTIVITY_ATTR_MEM_ALLOCATION_TYPE_HOST_PINNED, &size, &one), argv[i]);
    }
    check(cuptiActivityRegisterCallbacks(request, complete), "buffers");
    cudaFree(nullptr);
    if (sampled) sample(true);
    float *values;
    cudaStream_t streams[STREAMS];
    cudaMalloc(&values, 264 * 256 * sizeof *values);
    cudaMemset(values, 0, 264 * 256 * sizeof *values);
    for (cudaStream_t &stream : streams) cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    for (const Load &load : loads) measure(load, sampled, values, streams);
    if (sampled) sample(false);
    return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
