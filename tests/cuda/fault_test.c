// SPDX-License-Identifier: Apache-2.0
// A fault of a kernel stays with the device. Each case in its own process, as a fault is for the rest of a process's
// life.
#include <fcntl.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fixture.h"

// Runs `body` in a child; its assertions fail the child.
static void in_child(void (*body)(void)) {
    fflush(NULL);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        int sink = open("/dev/null", 1);
        dup2(sink, 2);
        runtime_begins("2");
        body();
        _exit(0);
    }
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

#define EXPECT(condition)                         \
    do {                                          \
        if (!(condition)) _exit(__LINE__ & 0xff); \
    } while (0)

static void illegal_address(void) {
    void *p;
    int count;
    EXPECT(launch_increment((u32 *)0x10, NULL) == cudaSuccess);
    EXPECT(cudaPeekAtLastError() == cudaSuccess);
    EXPECT(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
    EXPECT(cudaGetLastError() == cudaErrorIllegalAddress);
    EXPECT(cudaGetLastError() == cudaSuccess);
    EXPECT(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
    EXPECT(cudaMalloc(&p, 4) == cudaErrorIllegalAddress);
    EXPECT(cudaFree(NULL) == cudaErrorIllegalAddress);
    EXPECT(launch_increment(NULL, NULL) == cudaErrorIllegalAddress);
    EXPECT(cudaGetDeviceCount(&count) == cudaSuccess);
    EXPECT(cudaSetDevice(1) == cudaSuccess);  // the other device is well
    EXPECT(cudaMalloc(&p, 4) == cudaSuccess);
    EXPECT(cudaSetDevice(0) == cudaSuccess);
    EXPECT(cudaDeviceReset() == cudaSuccess);
    EXPECT(cudaMalloc(&p, 4) == cudaSuccess);
}

static void misaligned_address(void) {
    void *p;
    cudaStream_t stream;
    EXPECT(cudaMalloc(&p, 64) == cudaSuccess);
    EXPECT(launch_increment((u32 *)((char *)p + 1), NULL) == cudaSuccess);
    EXPECT(cudaMemcpy(p, p, 4, cudaMemcpyDeviceToDevice) == cudaErrorMisalignedAddress);
    EXPECT(cudaStreamCreate(&stream) == cudaErrorMisalignedAddress);
    EXPECT(cudaStreamQuery(NULL) == cudaErrorMisalignedAddress);
}

static void use_after_fork(void) {
    void *p;
    EXPECT(cudaMalloc(&p, 64) == cudaSuccess);
    pid_t pid = fork();
    if (pid == 0) _exit(cudaFree(p) == cudaErrorInitializationError && cudaDeviceSynchronize() != cudaSuccess ? 0 : 1);
    int status;
    EXPECT(waitpid(pid, &status, 0) == pid && status == 0);
    EXPECT(cudaFree(p) == cudaSuccess);
}

TEST(an_illegal_address_stays_with_the_device) { in_child(illegal_address); }
TEST(a_misaligned_address_stays_with_the_device) { in_child(misaligned_address); }
TEST(a_forked_child_cannot_use_the_parents_device) { in_child(use_after_fork); }

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_illegal_address_stays_with_the_device),
        cmocka_unit_test(a_misaligned_address_stays_with_the_device),
        cmocka_unit_test(a_forked_child_cannot_use_the_parents_device),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
