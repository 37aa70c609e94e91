// SPDX-License-Identifier: Apache-2.0
// Several devices: each with its memory, streams, events and variables; peer access.
#include "fixture.h"

// Work of one device cannot go into a stream of another; copies can (CUDA programming guide, "Stream and Event
// Behavior").
TEST(streams_and_events_belong_to_a_device) {
    cudaStream_t stream;
    cudaEvent_t event, elsewhere;
    void *here, *there;
    float ms;
    WORKS(cudaSetDevice(0));
    WORKS(cudaMalloc(&here, 256));
    WORKS(cudaEventCreate(&event));
    WORKS(cudaSetDevice(1));
    WORKS(cudaMalloc(&there, 256));
    WORKS(cudaStreamCreate(&stream));
    WORKS(cudaEventCreate(&elsewhere));
    WORKS(launch_fill(there, 64, 1, stream));
    WORKS(cudaEventRecord(elsewhere, stream));
    WORKS(cudaSetDevice(0));
    GIVES(cudaErrorInvalidResourceHandle, launch_fill(here, 64, 1, stream));
    GIVES(cudaErrorInvalidResourceHandle, cudaEventRecord(event, stream));
    WORKS(cudaEventRecord(event, NULL));
    GIVES(cudaErrorInvalidResourceHandle, cudaEventElapsedTime(&ms, event, elsewhere));
    WORKS(cudaStreamWaitEvent(stream, event, 0));
    WORKS(cudaStreamWaitEvent(NULL, elsewhere, 0));
    WORKS(cudaMemcpyAsync(here, there, 256, cudaMemcpyDefault, stream));
    WORKS(cudaStreamSynchronize(stream));
    WORKS(cudaFree(here));
    WORKS(cudaFree(there));
}

TEST(each_device_has_its_variables_and_capacity) {
    u32 *words, host[4], scale = 10;
    size_t before[2], now, total;
    for (int d = 0; d < 2; d++) {
        WORKS(cudaSetDevice(d));
        WORKS(cudaMemGetInfo(&before[d], &total));
    }
    WORKS(cudaMemcpyToSymbol(&host_scale, &scale, 4, 0, cudaMemcpyHostToDevice));
    for (int d = 0; d < 2; d++) {
        WORKS(cudaSetDevice(d));
        WORKS(cudaMalloc((void **)&words, 1 << 20));
        WORKS(launch_fill(words, 4, 2, NULL));
        WORKS(cudaMemcpy(host, words, 16, cudaMemcpyDeviceToHost));
        assert_int_equal(host[1], d ? 21 : 7);
        WORKS(cudaMemGetInfo(&now, &total));
        assert_int_equal(before[d] - now, 1 << 20);
    }
    struct cudaPointerAttributes attributes;
    WORKS(cudaPointerGetAttributes(&attributes, words));
    assert_int_equal(attributes.device, 1);
}

TEST(peers_are_devices_of_one_model) {
    int can, value;
    WORKS(cudaSetDevice(0));
    WORKS(cudaDeviceCanAccessPeer(&can, 0, 1));
    assert_int_equal(can, 1);
    WORKS(cudaDeviceCanAccessPeer(&can, 0, 2));
    assert_int_equal(can, 0);
    WORKS(cudaDeviceGetP2PAttribute(&value, cudaDevP2PAttrAccessSupported, 0, 1));
    assert_int_equal(value, 1);
    WORKS(cudaDeviceGetP2PAttribute(&value, cudaDevP2PAttrAccessSupported, 2, 1));
    assert_int_equal(value, 0);
    GIVES(cudaErrorPeerAccessNotEnabled, cudaDeviceDisablePeerAccess(1));
    WORKS(cudaDeviceEnablePeerAccess(1, 0));
    GIVES(cudaErrorPeerAccessAlreadyEnabled, cudaDeviceEnablePeerAccess(1, 0));
    WORKS(cudaDeviceDisablePeerAccess(1));
    GIVES(cudaErrorPeerAccessUnsupported, cudaDeviceEnablePeerAccess(2, 0));
    GIVES(cudaErrorPeerAccessUnsupported, cudaDeviceEnablePeerAccess(0, 0));
    GIVES(cudaErrorInvalidDevice, cudaDeviceEnablePeerAccess(3, 0));
    struct cudaDeviceProp properties;
    WORKS(cudaGetDeviceProperties(&properties, 2));
    assert_string_equal(properties.name, "Tesla T4");
    assert_int_equal(properties.major * 10 + properties.minor, 75);
    WORKS(cudaChooseDevice(&value, &properties));
    assert_int_equal(value, 0);
}

// Kernels reach memory of a peer when that is enabled, of pools by the pool's own setting; else they fault.
TEST(kernels_need_access) {
    u32 *there, *pooled, word;
    cudaMemPool_t pool;
    struct cudaMemAccessDesc access = {{cudaMemLocationTypeDevice, 0}, cudaMemAccessFlagsProtReadWrite};
    WORKS(cudaSetDevice(1));
    WORKS(cudaMalloc((void **)&there, 64));
    WORKS(cudaMemset(there, 0, 64));
    WORKS(cudaDeviceGetDefaultMemPool(&pool, 1));
    WORKS(cudaMallocAsync((void **)&pooled, 64, NULL));
    WORKS(cudaMemset(pooled, 0, 64));
    WORKS(cudaMemPoolSetAccess(pool, &access, 1));
    WORKS(cudaSetDevice(0));
    WORKS(cudaDeviceEnablePeerAccess(1, 0));
    WORKS(launch_increment(there, NULL));
    WORKS(launch_increment(pooled, NULL));
    WORKS(cudaDeviceSynchronize());
    WORKS(cudaMemcpy(&word, there, 4, cudaMemcpyDeviceToHost));
    assert_int_equal(word, 1);
    WORKS(cudaDeviceDisablePeerAccess(1));
    WORKS(launch_increment(pooled, NULL));
    WORKS(cudaDeviceSynchronize());
    WORKS(launch_increment(there, NULL));
    GIVES(cudaErrorIllegalAddress, cudaDeviceSynchronize());
    WORKS(cudaSetDevice(1));  // which is well
    WORKS(cudaMemcpy(&word, there, 4, cudaMemcpyDeviceToHost));
    assert_int_equal(word, 1);
    WORKS(cudaMemcpy(&word, pooled, 4, cudaMemcpyDeviceToHost));
    assert_int_equal(word, 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(streams_and_events_belong_to_a_device),
        cmocka_unit_test(each_device_has_its_variables_and_capacity),
        cmocka_unit_test(peers_are_devices_of_one_model),
        cmocka_unit_test(kernels_need_access),
    };
    runtime_begins("h200,h200,t4");
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    program_ends();
    return failed;
}
