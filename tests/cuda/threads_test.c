// SPDX-License-Identifier: Apache-2.0
// Host threads that use the runtime at once: each gets its own results, current device and last error. To be run under
// ThreadSanitizer too (cmake -DWL_SANITIZE=thread).
#include <pthread.h>

#include "fixture.h"

enum { THREADS = 8, ROUNDS = 12, WORDS = 256 };

typedef struct Worker {
    u32 index;
    const char *problem;  // what failed; cmocka's assertions are for the main thread
} Worker;

#define EXPECT(condition)                    \
    do {                                     \
        if (!(condition)) return #condition; \
    } while (0)

static const char *one_round(u32 index, u32 round) {
    u32 host[WORDS], *device, value = index * 1000 + round;
    int current;
    float ms;
    cudaStream_t stream;
    cudaEvent_t before, after;
    EXPECT(cudaGetDevice(&current) == cudaSuccess && current == (int)(index & 1));
    EXPECT(cudaStreamCreate(&stream) == cudaSuccess);
    EXPECT(cudaEventCreate(&before) == cudaSuccess && cudaEventCreate(&after) == cudaSuccess);
    EXPECT(cudaMallocAsync((void **)&device, sizeof host, stream) == cudaSuccess);
    EXPECT(cudaEventRecord(before, stream) == cudaSuccess);
    EXPECT(launch_fill(device, WORDS, value, stream) == cudaSuccess);
    EXPECT(cudaEventRecord(after, stream) == cudaSuccess);
    EXPECT(cudaMemcpyAsync(host, device, sizeof host, cudaMemcpyDeviceToHost, stream) == cudaSuccess);
    EXPECT(cudaStreamSynchronize(stream) == cudaSuccess);
    for (u32 i = 0; i < WORDS; i++) EXPECT(host[i] == 3 * value + i);
    EXPECT(cudaEventElapsedTime(&ms, before, after) == cudaSuccess && ms > 0);
    EXPECT(cudaMalloc(NULL, 4) == cudaErrorInvalidValue && cudaGetLastError() == cudaErrorInvalidValue);
    EXPECT(cudaGetLastError() == cudaSuccess);
    EXPECT(cudaFreeAsync(device, stream) == cudaSuccess);
    EXPECT(cudaEventDestroy(before) == cudaSuccess && cudaEventDestroy(after) == cudaSuccess);
    EXPECT(cudaStreamDestroy(stream) == cudaSuccess);
    return NULL;
}

// A capture of one thread is not disturbed by what others do, when it is local to the thread.
static const char *captured_round(u32 index) {
    u32 host, *device;
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    EXPECT(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) == cudaSuccess);
    EXPECT(cudaMalloc((void **)&device, 256) == cudaSuccess);
    EXPECT(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal) == cudaSuccess);
    EXPECT(launch_fill(device, 1, index, stream) == cudaSuccess);
    EXPECT(launch_increment(device, stream) == cudaSuccess);
    EXPECT(cudaStreamEndCapture(stream, &graph) == cudaSuccess);
    EXPECT(cudaGraphInstantiate(&exec, graph, 0) == cudaSuccess);
    EXPECT(cudaGraphLaunch(exec, stream) == cudaSuccess);
    EXPECT(cudaMemcpyAsync(&host, device, 4, cudaMemcpyDeviceToHost, stream) == cudaSuccess);
    EXPECT(cudaStreamSynchronize(stream) == cudaSuccess && host == 3 * index + 1);
    EXPECT(cudaGraphExecDestroy(exec) == cudaSuccess && cudaGraphDestroy(graph) == cudaSuccess);
    EXPECT(cudaFree(device) == cudaSuccess && cudaStreamDestroy(stream) == cudaSuccess);
    return NULL;
}

// Stream 0 of a program with per-thread default streams.
static const char *own_stream(u32 index) {
    unsigned long long id;
    u32 *device, host;
    EXPECT(cudaStreamGetId(cudaStreamPerThread, &id) == cudaSuccess && id > 1);
    EXPECT(cudaMalloc((void **)&device, 4) == cudaSuccess);
    EXPECT(launch_fill(device, 1, index, cudaStreamPerThread) == cudaSuccess);
    EXPECT(cudaStreamSynchronize(cudaStreamPerThread) == cudaSuccess);
    EXPECT(cudaMemcpy(&host, device, 4, cudaMemcpyDeviceToHost) == cudaSuccess && host == 3 * index);
    EXPECT(cudaFree(device) == cudaSuccess);
    return NULL;
}

static void *work(void *argument) {
    Worker *worker = argument;
    if (cudaSetDevice((int)(worker->index & 1)) != cudaSuccess) worker->problem = "cudaSetDevice";
    for (u32 round = 0; round < ROUNDS && !worker->problem; round++) {
        worker->problem = one_round(worker->index, round);
        if (!worker->problem) worker->problem = own_stream(worker->index);
    }
    return NULL;
}

static void *capture(void *argument) {
    Worker *worker = argument;
    for (u32 round = 0; round < ROUNDS && !worker->problem; round++) worker->problem = captured_round(worker->index);
    return NULL;
}

static void run_threads(void *(*body)(void *)) {
    pthread_t threads[THREADS];
    Worker workers[THREADS] = {{0}};
    for (u32 i = 0; i < THREADS; i++) {
        workers[i].index = i;
        assert_int_equal(pthread_create(&threads[i], NULL, body, &workers[i]), 0);
    }
    for (u32 i = 0; i < THREADS; i++) assert_int_equal(pthread_join(threads[i], NULL), 0);
    for (u32 i = 0; i < THREADS; i++)
        if (workers[i].problem) fail_msg("thread %u: %s", i, workers[i].problem);
}

TEST(threads_do_not_disturb_each_other) { run_threads(work); }
TEST(threads_capture_at_once) { run_threads(capture); }

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_do_not_disturb_each_other),
        cmocka_unit_test(threads_capture_at_once),
    };
    runtime_begins("2");
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    program_ends();
    return failed;
}
