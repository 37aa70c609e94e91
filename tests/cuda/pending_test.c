// SPDX-License-Identifier: Apache-2.0
// Kernels that wait for memory, and the order of what comes behind them; work that is put off until somebody waits for
// it. Each case in its own process: a deadlock is for the rest of a process's life.
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fixture.h"

#define EXPECT(condition)                         \
    do {                                          \
        if (!(condition)) _exit(__LINE__ & 0xff); \
    } while (0)

// Runs `body` in a child; its assertions fail the child.
static void in_child_with(const char *variable, const char *value, void (*body)(void)) {
    fflush(NULL);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        int sink = open("/dev/null", 1);
        dup2(sink, 2);
        setenv(variable, value, 1);
        runtime_begins("2");
        body();
        _exit(0);
    }
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);  // else the line of the expectation that failed, modulo 256
}

static void in_child(const char *lazy, void (*body)(void)) { in_child_with("WARPLENS_LAZY", lazy, body); }

#define BOTH(name)                               \
    static void name(void);                      \
    static void name##_both_ways(void **state) { \
        (void)state;                             \
        in_child("0", name);                     \
        in_child("1", name);                     \
    }                                            \
    static void name(void)

static volatile u32 *pinned(u32 words) {
    void *p;
    EXPECT(cudaMallocHost(&p, words * 4) == cudaSuccess);
    memset(p, 0, words * 4);
    return p;
}

static u32 *device(u32 words) {
    void *p;
    EXPECT(cudaMalloc(&p, words * 4) == cudaSuccess);
    EXPECT(cudaMemset(p, 0, words * 4) == cudaSuccess);
    return p;
}

static cudaStream_t stream(unsigned flags) {
    cudaStream_t made;
    EXPECT(cudaStreamCreateWithFlags(&made, flags) == cudaSuccess);
    return made;
}

static u32 *plain(volatile u32 *word) { return (u32 *)(uintptr_t)word; }

BOTH(a_kernel_waits_for_the_host) {
    volatile u32 *word = pinned(2);
    cudaStream_t s = stream(0);
    cudaEvent_t before, after;
    float ms;
    EXPECT(cudaEventCreate(&before) == cudaSuccess && cudaEventCreate(&after) == cudaSuccess);
    EXPECT(cudaEventRecord(before, s) == cudaSuccess);
    EXPECT(launch_awaits(plain(word), 5, plain(word + 1), s) == cudaSuccess);
    EXPECT(cudaEventRecord(after, s) == cudaSuccess);
    EXPECT(cudaStreamQuery(s) == cudaErrorNotReady && cudaPeekAtLastError() == cudaSuccess);
    EXPECT(cudaEventQuery(after) == cudaErrorNotReady && cudaEventQuery(before) == cudaSuccess);
    EXPECT(cudaEventElapsedTime(&ms, before, after) == cudaErrorNotReady);
    EXPECT(word[1] == 0);
    *word = 5;
    EXPECT(cudaEventSynchronize(after) == cudaSuccess);
    EXPECT(word[1] == 5 && cudaEventQuery(after) == cudaSuccess && cudaStreamQuery(s) == cudaSuccess);
    EXPECT(cudaEventElapsedTime(&ms, before, after) == cudaSuccess && ms > 0);
}

BOTH(a_query_lets_it_go_on) {
    volatile u32 *word = pinned(2);
    cudaStream_t s = stream(0);
    EXPECT(launch_awaits(plain(word), 5, plain(word + 1), s) == cudaSuccess);
    EXPECT(cudaStreamQuery(s) == cudaErrorNotReady);
    *word = 5;
    while (cudaStreamQuery(s) == cudaErrorNotReady) {}
    EXPECT(word[1] == 5);
}

static void producer_and_consumer(bool producer_first) {
    u32 *words = device(2), host[2];
    cudaStream_t a = stream(cudaStreamNonBlocking), b = stream(cudaStreamNonBlocking);
    if (producer_first) EXPECT(launch_stores(words, 3, b) == cudaSuccess);
    EXPECT(launch_awaits(words, 3, words + 1, a) == cudaSuccess);
    if (!producer_first) EXPECT(launch_stores(words, 3, b) == cudaSuccess);
    EXPECT(cudaDeviceSynchronize() == cudaSuccess);
    EXPECT(cudaMemcpy(host, words, sizeof host, cudaMemcpyDeviceToHost) == cudaSuccess);
    EXPECT(host[0] == 3 && host[1] == 3);
}

BOTH(kernels_wait_for_each_other) {
    producer_and_consumer(false);
    producer_and_consumer(true);
    u32 *words = device(4), host[4];  // there and back
    cudaStream_t a = stream(0), b = stream(0);
    EXPECT(launch_awaits(words, 1, words + 1, a) == cudaSuccess);
    EXPECT(launch_awaits(words + 1, 1, words + 2, b) == cudaSuccess);
    EXPECT(launch_awaits(words + 2, 1, words + 3, a) == cudaSuccess);
    cudaStream_t c = stream(cudaStreamNonBlocking);
    EXPECT(launch_stores(words, 1, c) == cudaSuccess);
    EXPECT(cudaStreamSynchronize(a) == cudaSuccess);
    EXPECT(cudaMemcpy(host, words, sizeof host, cudaMemcpyDeviceToHost) == cudaSuccess);
    EXPECT(host[1] == 1 && host[2] == 1 && host[3] == 1);
}

BOTH(default_stream_keeps_its_order) {
    volatile u32 *word = pinned(4);
    cudaStream_t blocking = stream(0), free_one = stream(cudaStreamNonBlocking);
    EXPECT(launch_awaits(plain(word), 1, plain(word + 1), blocking) == cudaSuccess);
    EXPECT(launch_stores(plain(word + 2), 7, NULL) == cudaSuccess);      // behind it
    EXPECT(launch_stores(plain(word + 3), 8, free_one) == cudaSuccess);  // not behind it
    EXPECT(cudaStreamSynchronize(free_one) == cudaSuccess);
    EXPECT(word[3] == 8 && word[2] == 0 && cudaStreamQuery(NULL) == cudaErrorNotReady);
    cudaStream_t later = stream(0);
    EXPECT(launch_awaits(plain(word + 2), 7, plain(word + 3), later) == cudaSuccess);  // behind the default stream
    EXPECT(word[3] == 8);
    word[0] = 1;
    EXPECT(cudaDeviceSynchronize() == cudaSuccess);
    EXPECT(word[1] == 1 && word[2] == 7 && word[3] == 7);
}

BOTH(streams_wait_for_events) {
    volatile u32 *word = pinned(4);
    cudaStream_t a = stream(cudaStreamNonBlocking), b = stream(cudaStreamNonBlocking);
    cudaEvent_t event;
    EXPECT(cudaEventCreateWithFlags(&event, cudaEventDisableTiming) == cudaSuccess);
    EXPECT(launch_awaits(plain(word), 1, plain(word + 1), a) == cudaSuccess);
    EXPECT(cudaEventRecord(event, a) == cudaSuccess);
    EXPECT(cudaStreamWaitEvent(b, event, 0) == cudaSuccess);
    EXPECT(cudaEventRecord(event, b) == cudaSuccess);  // b waits for the first recording
    EXPECT(cudaEventDestroy(event) == cudaSuccess);
    EXPECT(launch_stores(plain(word + 2), 9, b) == cudaSuccess);
    EXPECT(cudaStreamQuery(b) == cudaErrorNotReady && word[2] == 0);
    EXPECT(cudaStreamDestroy(a) == cudaSuccess);  // its work goes on
    *word = 1;
    EXPECT(cudaStreamSynchronize(b) == cudaSuccess);
    EXPECT(word[1] == 1 && word[2] == 9);
}

static char said[8];
static void say(void *letter) { said[strlen(said)] = *(char *)letter; }
static void say_status(cudaStream_t s, cudaError_t status, void *letter) {
    (void)s;
    if (status == cudaSuccess) say(letter);
}

BOTH(callbacks_come_in_order) {
    volatile u32 *word = pinned(2);
    cudaStream_t s = stream(0), other = stream(0);
    static char letters[] = "abcd";
    EXPECT(cudaLaunchHostFunc(s, say, letters) == cudaSuccess);
    EXPECT(launch_awaits(plain(word), 1, plain(word + 1), s) == cudaSuccess);
    EXPECT(cudaStreamAddCallback(s, say_status, letters + 2, 0) == cudaSuccess);
    EXPECT(cudaLaunchHostFunc(s, say, letters + 3) == cudaSuccess);
    EXPECT(cudaStreamQuery(s) == cudaErrorNotReady && strcmp(said, "a") == 0);
    EXPECT(cudaLaunchHostFunc(other, say, letters + 1) == cudaSuccess);
    EXPECT(cudaStreamSynchronize(other) == cudaSuccess && strcmp(said, "ab") == 0);
    *word = 1;
    EXPECT(cudaStreamSynchronize(s) == cudaSuccess && strcmp(said, "abcd") == 0);
}

BOTH(copies_read_pageable_memory_at_once) {
    volatile u32 *word = pinned(3);
    u32 *words = device(4), host[2][2] = {{1, 2}, {3, 4}}, back[2][2];
    cudaStream_t s = stream(cudaStreamNonBlocking);
    EXPECT(launch_awaits(plain(word), 1, plain(word + 1), s) == cudaSuccess);
    word[2] = 7;
    EXPECT(cudaMemcpy2DAsync(words, 4, host, 8, 4, 2, cudaMemcpyHostToDevice, s) == cudaSuccess);
    EXPECT(cudaMemcpyAsync(words + 2, plain(word + 2), 4, cudaMemcpyHostToDevice, s) == cudaSuccess);
    EXPECT(cudaMemcpyAsync(words, NULL, 4, cudaMemcpyHostToDevice, s) == cudaErrorInvalidValue);
    host[0][0] = host[1][0] = 0;
    word[2] = 8;  // pinned: read when the copy is made
    *word = 1;
    EXPECT(cudaMemcpyAsync(back, words, 12, cudaMemcpyDeviceToHost, s) == cudaSuccess);  // to pageable memory: done
    EXPECT(back[0][0] == 1 && back[0][1] == 3 && back[1][0] == 8);
}

BOTH(memory_goes_in_stream_order) {
    volatile u32 *word = pinned(3);
    cudaStream_t s = stream(0);
    u32 *p;
    EXPECT(cudaMallocAsync((void **)&p, 256, s) == cudaSuccess);
    EXPECT(launch_awaits(plain(word), 1, p, s) == cudaSuccess);
    EXPECT(cudaMemcpyAsync(plain(word + 1), p, 4, cudaMemcpyDeviceToHost, s) == cudaSuccess);
    EXPECT(cudaFreeAsync(p, s) == cudaSuccess && cudaFreeAsync(p, s) == cudaErrorInvalidValue);
    *word = 1;
    EXPECT(cudaStreamSynchronize(s) == cudaSuccess && word[1] == 1);
    EXPECT(cudaFreeAsync(p, s) == cudaErrorInvalidValue);
}

// A graph whose one branch waits for the other, the waiting one first; destroyed and launched again while it runs.
BOTH(branches_of_a_graph_run_side_by_side) {
    volatile u32 *word = pinned(4);
    cudaStream_t s = stream(0), side = stream(0);
    cudaEvent_t fork_event, join_event, inside;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    EXPECT(cudaEventCreate(&fork_event) == cudaSuccess && cudaEventCreate(&join_event) == cudaSuccess);
    EXPECT(cudaEventCreate(&inside) == cudaSuccess);
    EXPECT(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal) == cudaSuccess);
    EXPECT(launch_awaits(plain(word), 1, plain(word + 1), s) == cudaSuccess);
    EXPECT(cudaEventRecord(fork_event, s) == cudaSuccess && cudaStreamWaitEvent(side, fork_event, 0) == cudaSuccess);
    EXPECT(launch_awaits(plain(word + 2), 2, plain(word + 3), s) == cudaSuccess);
    EXPECT(launch_stores(plain(word + 2), 2, side) == cudaSuccess);
    EXPECT(cudaEventRecordWithFlags(inside, side, cudaEventRecordExternal) == cudaSuccess);
    EXPECT(cudaEventRecord(join_event, side) == cudaSuccess && cudaStreamWaitEvent(s, join_event, 0) == cudaSuccess);
    EXPECT(cudaStreamEndCapture(s, &graph) == cudaSuccess);
    EXPECT(cudaGraphInstantiate(&exec, graph, 0) == cudaSuccess);
    EXPECT(cudaGraphLaunch(exec, s) == cudaSuccess && cudaGraphLaunch(exec, side) == cudaSuccess);
    EXPECT(cudaStreamQuery(s) == cudaErrorNotReady && cudaEventQuery(inside) == cudaErrorNotReady);
    EXPECT(cudaGraphExecDestroy(exec) == cudaSuccess && cudaGraphDestroy(graph) == cudaSuccess);
    EXPECT(cudaGraphLaunch(exec, s) == cudaErrorInvalidValue);
    (void)cudaGetLastError();
    *word = 1;
    EXPECT(cudaEventSynchronize(inside) == cudaSuccess && word[2] == 2);
    EXPECT(cudaDeviceSynchronize() == cudaSuccess && word[1] == 1 && word[3] == 2);
}

BOTH(a_graph_changes_when_its_launches_are_over) {
    volatile u32 *word = pinned(2);
    u32 *address = plain(word + 1), value = 4;
    cudaStream_t s = stream(0);
    cudaGraph_t graph;
    cudaGraphNode_t node;
    cudaGraphExec_t exec;
    void *args[] = {&address, &value};
    struct cudaKernelNodeParams params = {
        .func = &host_stores, .gridDim = dim1(1), .blockDim = dim1(1), .kernelParams = args};
    EXPECT(cudaGraphCreate(&graph, 0) == cudaSuccess);
    EXPECT(cudaGraphAddKernelNode(&node, graph, NULL, 0, &params) == cudaSuccess);
    EXPECT(cudaGraphInstantiate(&exec, graph, 0) == cudaSuccess);
    EXPECT(cudaGraphLaunch(exec, s) == cudaSuccess);
    value = 5;
    EXPECT(cudaGraphExecKernelNodeSetParams(exec, node, &params) == cudaSuccess);
    EXPECT(word[1] == 4);
    EXPECT(cudaGraphLaunch(exec, s) == cudaSuccess && cudaStreamSynchronize(s) == cudaSuccess && word[1] == 5);
}

BOTH(what_can_never_go_on_is_told) {
    u32 *words = device(2);
    cudaStream_t a = stream(0), b = stream(0);
    EXPECT(launch_awaits(words, 1, words + 1, a) == cudaSuccess);
    EXPECT(launch_awaits(words + 1, 1, words, b) == cudaSuccess);
    EXPECT(cudaStreamQuery(a) == cudaErrorNotReady);
    EXPECT(cudaStreamSynchronize(a) == cudaErrorLaunchFailure);
    EXPECT(cudaStreamQuery(b) == cudaErrorLaunchFailure && cudaFree(words) == cudaErrorLaunchFailure);
    EXPECT(cudaSetDevice(1) == cudaSuccess && cudaDeviceSynchronize() == cudaSuccess);
    u32 *others = device(2), host;  // the other device is well
    EXPECT(launch_stores(others, 6, NULL) == cudaSuccess);
    EXPECT(cudaMemcpy(&host, others, 4, cudaMemcpyDeviceToHost) == cudaSuccess && host == 6);
    EXPECT(cudaSetDevice(0) == cudaSuccess && cudaDeviceReset() == cudaSuccess);
    EXPECT(launch_stores(device(1), 6, NULL) == cudaSuccess && cudaDeviceSynchronize() == cudaSuccess);
}

BOTH(a_copy_behind_a_deadlock_fails) {
    u32 *words = device(2), host;
    EXPECT(launch_awaits(words, 1, words + 1, NULL) == cudaSuccess);
    EXPECT(cudaMemcpy(&host, words, 4, cudaMemcpyDeviceToHost) == cudaErrorLaunchFailure);
}

BOTH(faults_are_told_when_they_happen) {
    volatile u32 *word = pinned(2);
    cudaStream_t s = stream(0);
    EXPECT(launch_awaits(plain(word), 1, plain(word + 1), s) == cudaSuccess);
    EXPECT(launch_increment((u32 *)0x10, s) == cudaSuccess);
    EXPECT(launch_stores(plain(word), 3, s) == cudaSuccess);
    EXPECT(cudaStreamQuery(s) == cudaErrorNotReady);
    *word = 1;
    EXPECT(cudaStreamSynchronize(s) == cudaErrorIllegalAddress);
    EXPECT(word[0] == 1 && word[1] == 1);  // what came behind the fault never ran
    EXPECT(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
}

typedef struct Helper {
    u32 *words;
    cudaStream_t stream;
} Helper;

static void *launch_producer(void *argument) {
    const Helper *h = argument;
    EXPECT(launch_stores(h->words, 1, h->stream) == cudaSuccess);
    EXPECT(cudaStreamSynchronize(h->stream) == cudaSuccess);
    return NULL;
}

static void *write_word(void *argument) {
    const Helper *h = argument;
    __atomic_store_n(h->words, 1, __ATOMIC_RELEASE);
    return NULL;
}

BOTH(other_threads_let_it_go_on) {
    volatile u32 *word = pinned(2);
    u32 *words = device(2), host;
    cudaStream_t a = stream(cudaStreamNonBlocking), b = stream(cudaStreamNonBlocking);
    Helper producer = {words, b}, writer = {plain(word), NULL};
    pthread_t thread;
    EXPECT(launch_awaits(words, 1, words + 1, a) == cudaSuccess);
    EXPECT(pthread_create(&thread, NULL, launch_producer, &producer) == 0);
    EXPECT(cudaStreamSynchronize(a) == cudaSuccess && pthread_join(thread, NULL) == 0);
    EXPECT(launch_awaits(plain(word), 1, words, a) == cudaSuccess);
    EXPECT(pthread_create(&thread, NULL, write_word, &writer) == 0);
    EXPECT(cudaStreamSynchronize(a) == cudaSuccess && pthread_join(thread, NULL) == 0);
    EXPECT(cudaMemcpy(&host, words, 4, cudaMemcpyDeviceToHost) == cudaSuccess && host == 1);
}

static int in_function, function_may_end;
static void wait_in_function(void *unused) {
    (void)unused;
    __atomic_store_n(&in_function, 1, __ATOMIC_RELEASE);
    while (!__atomic_load_n(&function_may_end, __ATOMIC_ACQUIRE)) sched_yield();
}

static void *launch_function(void *argument) {
    EXPECT(cudaLaunchHostFunc(((const Helper *)argument)->stream, wait_in_function, NULL) == cudaSuccess);
    return NULL;
}

// What one thread submits behind a function that runs in another is done when that is over.
static void behind_a_function(void) {
    volatile u32 *word = pinned(1);
    Helper helper = {NULL, stream(0)};
    pthread_t thread;
    EXPECT(pthread_create(&thread, NULL, launch_function, &helper) == 0);
    while (!__atomic_load_n(&in_function, __ATOMIC_ACQUIRE)) sched_yield();
    EXPECT(launch_stores(plain(word), 1, helper.stream) == cudaSuccess);
    EXPECT(cudaStreamQuery(helper.stream) == cudaErrorNotReady && *word == 0);
    __atomic_store_n(&function_may_end, 1, __ATOMIC_RELEASE);
    EXPECT(pthread_join(thread, NULL) == 0 && *word == 1);
}

static void work_comes_behind_functions_of_other_threads(void **state) {
    (void)state;
    in_child("0", behind_a_function);
}

// No call of the API between the two: the kernel goes on all the same.
BOTH(the_host_waits_for_a_kernel) {
    volatile u32 *word = pinned(2);
    EXPECT(launch_awaits(plain(word), 1, plain(word + 1), stream(0)) == cudaSuccess);
    *word = 1;
    while (word[1] != 1) {}
}

// --- random programs: words that are changed in an order that streams and events prescribe ---
// Stream 0 is the legacy one; 1, 2 and 5, the thread's own, wait for it and it for them; 3 and 4 do not.
enum { WORDS = 4, STREAMS = 6, OPERATIONS = 150 };

typedef struct Random {
    u32 state;
    u32 *device;             // the words,
    u32 host[WORDS];         // ... words that host functions change,
    u32 expected[2][WORDS];  // ... and what both are to become
    cudaStream_t streams[STREAMS];
    cudaEvent_t events[WORDS];  // behind the last use of each,
    u32 last[WORDS];            // ... in this stream
    cudaGraphExec_t graphs[WORDS];
    volatile u32 *gate;
} Random;

static u32 draw(Random *r, u32 below) {
    r->state = r->state * 1664525u + 1013904223u;
    return (r->state >> 8) % below;
}

typedef struct HostChange {
    u32 *word, value;
} HostChange;

static void change_on_host(void *argument) {
    const HostChange *change = argument;
    *change->word = 7 * *change->word + change->value;
}

static void record_graph(Random *r, u32 word) {
    cudaGraph_t graph;
    cudaStream_t s = r->streams[1];
    EXPECT(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal) == cudaSuccess);
    EXPECT(launch_mixes(&r->device[word], 1, s) == cudaSuccess && launch_mixes(&r->device[word], 2, s) == cudaSuccess);
    EXPECT(cudaStreamEndCapture(s, &graph) == cudaSuccess);
    EXPECT(cudaGraphInstantiate(&r->graphs[word], graph, 0) == cudaSuccess && cudaGraphDestroy(graph) == cudaSuccess);
}

static void set_up(Random *r, u32 seed) {
    *r = (Random){.state = seed, .device = device(WORDS), .gate = pinned(2)};
    r->streams[1] = stream(0);
    r->streams[2] = stream(0);
    r->streams[3] = stream(cudaStreamNonBlocking);
    r->streams[4] = stream(cudaStreamNonBlocking);
    r->streams[5] = cudaStreamPerThread;
    for (u32 w = 0; w < WORDS; w++) {
        record_graph(r, w);
        EXPECT(cudaEventCreateWithFlags(&r->events[w], cudaEventDisableTiming) == cudaSuccess);
    }
}

static bool waits_for_legacy(u32 stream_index) { return stream_index == 1 || stream_index == 2 || stream_index == 5; }

// The next work in a stream comes behind what was done with the word.
static void come_behind(Random *r, u32 word, u32 index) {
    u32 last = r->last[word];
    bool implied = last == index || (last == 0 && waits_for_legacy(index)) || (index == 0 && waits_for_legacy(last));
    if (!implied || draw(r, 4) == 0) EXPECT(cudaStreamWaitEvent(r->streams[index], r->events[word], 0) == cudaSuccess);
}

static void note_use(Random *r, u32 word, u32 index) {
    EXPECT(cudaEventRecord(r->events[word], r->streams[index]) == cudaSuccess);
    r->last[word] = index;
}

static void change_from_other(Random *r, u32 word, u32 index) {
    u32 from = draw(r, WORDS);
    cudaStream_t s = r->streams[index];
    come_behind(r, from, index);
    EXPECT(cudaMemcpyAsync(&r->device[word], &r->device[from], 4, cudaMemcpyDeviceToDevice, s) == cudaSuccess);
    note_use(r, from, index);
    r->expected[0][word] = r->expected[0][from];
}

static void change(Random *r, HostChange *later) {
    u32 word = draw(r, WORDS), value = draw(r, 1000), *at = &r->device[word], *expected = &r->expected[0][word];
    u32 index = draw(r, STREAMS);
    cudaStream_t s = r->streams[index];
    come_behind(r, word, index);
    switch (draw(r, 6)) {
    case 0:
        EXPECT(cudaMemsetAsync(at, (int)(value & 0x7f), 4, s) == cudaSuccess);
        *expected = (value & 0x7f) * 0x01010101u;
        break;
    case 1:
        EXPECT(cudaMemcpyAsync(at, &value, 4, cudaMemcpyHostToDevice, s) == cudaSuccess);
        *expected = value;
        break;
    case 2: change_from_other(r, word, index); break;
    case 3:
        EXPECT(cudaGraphLaunch(r->graphs[word], s) == cudaSuccess);
        *expected = 5 * (5 * *expected + 1) + 2;
        break;
    case 4:
        *later = (HostChange){&r->host[word], value};
        EXPECT(cudaLaunchHostFunc(s, change_on_host, later) == cudaSuccess);
        r->expected[1][word] = 7 * r->expected[1][word] + value;
        break;
    default:
        EXPECT(launch_mixes(at, value, s) == cudaSuccess);
        *expected = 5 * *expected + value;
        break;
    }
    note_use(r, word, index);
}

// Some streams are held up by kernels that wait for the gate.
static void random_program(u32 seed, bool gated) {
    static HostChange later[OPERATIONS];
    u32 host[WORDS];
    Random r;
    set_up(&r, seed);
    for (u32 i = 0; i < 2 && gated; i++)
        EXPECT(launch_awaits(plain(r.gate), 1, plain(r.gate + 1), r.streams[1 + draw(&r, STREAMS - 1)]) == cudaSuccess);
    for (u32 i = 0; i < OPERATIONS; i++) {
        change(&r, &later[i]);
        u32 chance = draw(&r, 40);
        if (chance == 0) r.gate[0] = 1;
        if (chance == 1) (void)cudaStreamQuery(r.streams[draw(&r, STREAMS)]);
        if (chance == 2 && (!gated || r.gate[0]))
            EXPECT(cudaStreamSynchronize(r.streams[draw(&r, STREAMS)]) == cudaSuccess);
    }
    r.gate[0] = 1;
    EXPECT(cudaDeviceSynchronize() == cudaSuccess);
    EXPECT(cudaMemcpy(host, r.device, sizeof host, cudaMemcpyDeviceToHost) == cudaSuccess);
    EXPECT(memcmp(host, r.expected[0], sizeof host) == 0);
    EXPECT(memcmp(r.host, r.expected[1], sizeof host) == 0);
}

BOTH(streams_and_events_keep_every_order) {
    for (u32 seed = 1; seed <= 40; seed++) random_program(seed, seed % 2);
}

static void program_ends_early(void) {
    volatile u32 *word = pinned(2);
    cudaStream_t s = stream(0);
    EXPECT(launch_stores(plain(word + 1), 2, s) == cudaSuccess);
    EXPECT(launch_awaits(plain(word), 1, plain(word + 1), s) == cudaSuccess);
    EXPECT(launch_stores(plain(word + 1), 3, s) == cudaSuccess);
    cuda_shutdown();
    EXPECT(word[1] == 2);
    EXPECT(cudaStreamSynchronize(s) == cudaErrorCudartUnloading);
}

static void at_the_end_it_is_given_up(void **state) {
    (void)state;
    in_child("0", program_ends_early);
    in_child("1", program_ends_early);
}

static void nothing_is_done_before(void) {
    volatile u32 *word = pinned(3);
    cudaEvent_t before, after;
    cudaStream_t s = stream(0);
    float ms;
    EXPECT(cudaEventCreate(&before) == cudaSuccess && cudaEventCreate(&after) == cudaSuccess);
    EXPECT(cudaEventRecord(before, s) == cudaSuccess);
    for (u32 i = 1; i <= 2000; i++) EXPECT(launch_increment(plain(word), s) == cudaSuccess);
    EXPECT(cudaEventRecord(after, s) == cudaSuccess);
    EXPECT(word[0] < 2000);  // there is room for some of it only
    EXPECT(cudaStreamSynchronize(s) == cudaSuccess && word[0] == 2000);
    EXPECT(cudaEventElapsedTime(&ms, before, after) == cudaSuccess && ms > 0);
    EXPECT(launch_stores(plain(word + 1), 1, s) == cudaSuccess && word[1] == 0);
    EXPECT(cudaStreamQuery(s) == cudaSuccess && word[1] == 1);
    EXPECT(launch_stores(plain(word + 2), 1, s) == cudaSuccess && word[2] == 0);
    EXPECT(cudaFree(device(1)) == cudaSuccess && word[2] == 1);  // a free waits
    EXPECT(launch_increment((u32 *)0x10, s) == cudaSuccess && cudaPeekAtLastError() == cudaSuccess);
    EXPECT(launch_increment(plain(word), s) == cudaSuccess);  // the fault is not known yet
    EXPECT(cudaDeviceSynchronize() == cudaErrorIllegalAddress && word[0] == 2000);
}

// Fills of memory that the host can see are waited for; of the GPU's own they are put off as kernels are.
static void fills_are_done_where_the_host_sees(void) {
    enum { N = 64 };
    u8 *seen[3];
    u32 *own = device(N);
    seen[0] = (u8 *)plain(pinned(N));
    seen[1] = aligned_alloc(4096, 4096);
    EXPECT(cudaHostRegister(seen[1], 4096, 0) == cudaSuccess);
    EXPECT(cudaMallocManaged((void **)&seen[2], N, cudaMemAttachGlobal) == cudaSuccess);
    for (u32 i = 0; i < 3; i++) {
        EXPECT(cudaMemset(own, 1, N) == cudaSuccess && cudaMemset(seen[i], 2, N) == cudaSuccess && seen[i][N - 1] == 2);
        EXPECT(cudaMemset2D(seen[i], N / 2, 3, N / 2, 2) == cudaSuccess && seen[i][N - 1] == 3);
        EXPECT(cudaMemsetAsync(seen[i], 4, N, NULL) == cudaSuccess && seen[i][N - 1] == 3);
        EXPECT(cudaDeviceSynchronize() == cudaSuccess && seen[i][N - 1] == 4);
    }
}

static void host_memory_is_filled_at_once(void **state) {
    (void)state;
    in_child("1", fills_are_done_where_the_host_sees);
}

static void lazy_work_is_put_off(void **state) {
    (void)state;
    in_child("1", nothing_is_done_before);
}

// Simulated microseconds of three kernels: in a row, or the last two on streams of their own behind the first; as they
// are or as a graph.
static f64 three_kernels_take(bool fork, bool graph) {
    enum { N = 4096 };
    u32 *data = device(3 * N);
    cudaStream_t s = stream(cudaStreamNonBlocking), side = stream(cudaStreamNonBlocking);
    cudaEvent_t event[4];
    cudaGraph_t captured;
    cudaGraphExec_t exec;
    float ms;
    for (u32 i = 0; i < 4; i++) EXPECT(cudaEventCreate(&event[i]) == cudaSuccess);
    for (u32 round = 0; round < 2; round++) {  // the second one finds warm caches
        EXPECT(cudaEventRecord(event[0], s) == cudaSuccess);
        if (graph) EXPECT(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal) == cudaSuccess);
        EXPECT(launch_fill(data, N, 1, s) == cudaSuccess);
        if (fork) EXPECT(cudaEventRecord(event[1], s) == cudaSuccess);
        if (fork) EXPECT(cudaStreamWaitEvent(side, event[1], 0) == cudaSuccess);
        EXPECT(launch_fill(data + N, N, 2, fork ? side : s) == cudaSuccess);
        EXPECT(launch_fill(data + 2 * N, N, 3, s) == cudaSuccess);
        if (fork) EXPECT(cudaEventRecord(event[2], side) == cudaSuccess);
        if (fork) EXPECT(cudaStreamWaitEvent(s, event[2], 0) == cudaSuccess);
        if (graph) EXPECT(cudaStreamEndCapture(s, &captured) == cudaSuccess);
        if (graph) EXPECT(cudaGraphInstantiate(&exec, captured, 0) == cudaSuccess);
        if (graph) EXPECT(cudaGraphLaunch(exec, s) == cudaSuccess);
        EXPECT(cudaEventRecord(event[3], s) == cudaSuccess && cudaDeviceSynchronize() == cudaSuccess);
        EXPECT(cudaEventElapsedTime(&ms, event[0], event[3]) == cudaSuccess && ms > 0);
    }
    return ms * 1000;
}

static void branches_take_their_time_together(void) {
    for (u32 graph = 0; graph < 2; graph++)
        EXPECT(three_kernels_take(true, graph) < 0.85 * three_kernels_take(false, graph));
}

static void timed_kernels_run_side_by_side(void **state) {
    (void)state;
    in_child_with("WARPLENS_TIMING", "1", branches_take_their_time_together);
}

static void a_launch_comes_back_when_its_kernel_is_over(void) {
    volatile u32 *word = pinned(2);
    cudaStream_t s = stream(cudaStreamNonBlocking);
    EXPECT(launch_stores(plain(word), 7, s) == cudaSuccess && *word == 7);
    cudaGraph_t graph;  // not while it is captured
    EXPECT(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed) == cudaSuccess);
    EXPECT(launch_stores(plain(word), 8, s) == cudaSuccess && *word == 7);
    EXPECT(cudaStreamEndCapture(s, &graph) == cudaSuccess && *word == 7);
}

// Copies take their time on the simulated clock: before the first kernel, one after the other in each direction, and
// beside kernels of other streams; kernels begin when what their stream copies is there.
static f32 between(cudaEvent_t from, cudaEvent_t to) {
    f32 ms = -1;
    EXPECT(cudaEventElapsedTime(&ms, from, to) == cudaSuccess);
    return ms;
}

static void copies_take_time(void) {
    enum { BYTES = 8 << 20, COPIED = BYTES / 4 };
    cudaStream_t s[3];
    cudaEvent_t event[8];
    u32 *d = device(COPIED), *other = device(COPIED);
    volatile u32 *h = pinned(COPIED);
    h[COPIED - 1] = 7;
    for (u32 i = 0; i < 3; i++) s[i] = stream(cudaStreamNonBlocking);
    for (u32 i = 0; i < 8; i++) EXPECT(cudaEventCreate(&event[i]) == cudaSuccess);
#define MARK(e, i) EXPECT(cudaEventRecord(event[e], s[i]) == cudaSuccess)
#define COPY(to, from, kind, i) EXPECT(cudaMemcpyAsync(to, from, BYTES, kind, s[i]) == cudaSuccess)
    MARK(0, 0);
    COPY(d, (void *)h, cudaMemcpyHostToDevice, 0);
    MARK(1, 0);
    EXPECT(cudaDeviceSynchronize() == cudaSuccess);
    f32 one = between(event[0], event[1]);
    EXPECT(one > 0.1f && one < 0.5f);  // 8 MiB at tens of GB/s
    // Two in, one out, and a kernel beside them that waits for none.
    MARK(2, 0);
    COPY(d, (void *)h, cudaMemcpyHostToDevice, 0);
    COPY(other, (void *)h, cudaMemcpyHostToDevice, 1);
    EXPECT(launch_increment(other, s[1]) == cudaSuccess);
    MARK(3, 1);
    EXPECT(launch_increment(d, s[2]) == cudaSuccess);
    MARK(4, 2);
    EXPECT(cudaDeviceSynchronize() == cudaSuccess);
    f32 two = between(event[2], event[3]), beside = between(event[2], event[4]);
    EXPECT(two > 1.9f * one && two < 2.3f * one);
    EXPECT(beside < 0.5f * one);
    // Both directions at once.
    MARK(5, 0);
    COPY(d, (void *)h, cudaMemcpyHostToDevice, 0);
    COPY((void *)h, other, cudaMemcpyDeviceToHost, 1);
    EXPECT(cudaStreamSynchronize(s[1]) == cudaSuccess);
    MARK(6, 0);
    EXPECT(cudaDeviceSynchronize() == cudaSuccess);
    f32 both = between(event[5], event[6]);
    EXPECT(both > 0.9f * one && both < 1.5f * one);
}

// A kernel that goes in a circle until a copy beside it has changed a word.
static void a_copy_ends_a_wait(void) {
    cudaStream_t waits = stream(cudaStreamNonBlocking), copies = stream(cudaStreamNonBlocking);
    u32 *word = device(1), *out = device(1);
    volatile u32 *h = pinned(1 << 20);
    h[0] = 9;
    EXPECT(launch_awaits(word, 9, out, waits) == cudaSuccess);
    EXPECT(cudaMemcpyAsync(word, (void *)h, 4, cudaMemcpyHostToDevice, copies) == cudaSuccess);
    EXPECT(cudaDeviceSynchronize() == cudaSuccess);
}

static void timed_copies_run_beside_kernels(void **state) {
    (void)state;
    in_child_with("WARPLENS_TIMING", "1", copies_take_time);
    in_child_with("WARPLENS_TIMING", "1", a_copy_ends_a_wait);
}

static void blocking_launches(void **state) {
    (void)state;
    setenv("WARPLENS_LAZY", "1", 1);
    in_child_with("CUDA_LAUNCH_BLOCKING", "1", a_launch_comes_back_when_its_kernel_is_over);
    unsetenv("WARPLENS_LAZY");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_kernel_waits_for_the_host_both_ways),
        cmocka_unit_test(a_query_lets_it_go_on_both_ways),
        cmocka_unit_test(kernels_wait_for_each_other_both_ways),
        cmocka_unit_test(default_stream_keeps_its_order_both_ways),
        cmocka_unit_test(streams_wait_for_events_both_ways),
        cmocka_unit_test(callbacks_come_in_order_both_ways),
        cmocka_unit_test(copies_read_pageable_memory_at_once_both_ways),
        cmocka_unit_test(memory_goes_in_stream_order_both_ways),
        cmocka_unit_test(branches_of_a_graph_run_side_by_side_both_ways),
        cmocka_unit_test(a_graph_changes_when_its_launches_are_over_both_ways),
        cmocka_unit_test(what_can_never_go_on_is_told_both_ways),
        cmocka_unit_test(a_copy_behind_a_deadlock_fails_both_ways),
        cmocka_unit_test(faults_are_told_when_they_happen_both_ways),
        cmocka_unit_test(other_threads_let_it_go_on_both_ways),
        cmocka_unit_test(work_comes_behind_functions_of_other_threads),
        cmocka_unit_test(the_host_waits_for_a_kernel_both_ways),
        cmocka_unit_test(streams_and_events_keep_every_order_both_ways),
        cmocka_unit_test(at_the_end_it_is_given_up),
        cmocka_unit_test(host_memory_is_filled_at_once),
        cmocka_unit_test(lazy_work_is_put_off),
        cmocka_unit_test(timed_kernels_run_side_by_side),
        cmocka_unit_test(timed_copies_run_beside_kernels),
        cmocka_unit_test(blocking_launches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
