// SPDX-License-Identifier: Apache-2.0
// What the runtime API answers, right and wrong use. The expected errors are those of an H200: h200_errors.txt.
#include "fixture.h"

static char host_unregistered;

static u32 *device_words(u32 count) {
    void *p = NULL;
    WORKS(cudaMalloc(&p, count * 4));
    return p;
}

static void expect_words(const u32 *device, u32 count, u32 scaled) {
    u32 words[256];
    WORKS(cudaMemcpy(words, device, count * 4, cudaMemcpyDeviceToHost));
    for (u32 i = 0; i < count; i++) assert_int_equal(words[i], scaled + i);
}

TEST(launches_run) {
    u32 *out = device_words(256);
    WORKS(launch_fill(out, 256, 7, NULL));
    WORKS(cudaDeviceSynchronize());
    expect_words(out, 256, 21);
    WORKS(cudaFree(out));
}

TEST(configurations_are_pushed_and_popped) {
    dim3 grid, block;
    size_t shared;
    cudaStream_t stream;
    assert_int_equal(__cudaPushCallConfiguration(dim1(3), dim1(64), 16, NULL), 0);
    assert_int_equal(__cudaPopCallConfiguration(&grid, &block, &shared, &stream), cudaSuccess);
    assert_int_equal(grid.x, 3);
    assert_int_equal(block.x, 64);
    assert_int_equal(shared, 16);
    assert_int_equal(__cudaPopCallConfiguration(&grid, &block, &shared, &stream), cudaErrorMissingConfiguration);
}

TEST(impossible_launches_are_refused) {
    u32 *out = device_words(1);
    void *args[] = {&out};
    GIVES(cudaErrorInvalidValue, cudaLaunchKernel(&host_increment, dim1(0), dim1(1), args, 0, NULL));
    GIVES(cudaErrorInvalidValue, cudaLaunchKernel(&host_increment, dim1(1), dim1(2000), args, 0, NULL));
    GIVES(cudaErrorInvalidValue, cudaLaunchKernel(&host_increment, dim1(1), (dim3){1, 1, 128}, args, 0, NULL));
    GIVES(cudaErrorInvalidValue, cudaLaunchKernel(&host_increment, (dim3){1, 70000, 1}, dim1(1), args, 0, NULL));
    GIVES(cudaErrorInvalidValue, cudaLaunchKernel(&host_increment, dim1(1), dim1(1), args, 100000, NULL));
    GIVES(cudaErrorInvalidValue, cudaLaunchKernel(&host_bounded, dim1(1), dim1(128), args, 0, NULL));
    GIVES(cudaErrorInvalidDeviceFunction, cudaLaunchKernel(&host_unregistered, dim1(1), dim1(1), args, 0, NULL));
    GIVES(cudaErrorInvalidDeviceFunction, cudaLaunchKernel(NULL, dim1(1), dim1(1), args, 0, NULL));
    GIVES(cudaErrorInvalidDeviceFunction, cudaLaunchKernel(&host_missing, dim1(1), dim1(1), args, 0, NULL));
    GIVES(cudaErrorInvalidValue, cudaLaunchKernel(&host_increment, dim1(1), dim1(1), NULL, 0, NULL));
    GIVES(cudaErrorInvalidResourceHandle,
          cudaLaunchKernel(&host_increment, dim1(1), dim1(1), args, 0, (cudaStream_t)out));
    GIVES(cudaErrorCooperativeLaunchTooLarge,
          cudaLaunchCooperativeKernel(&host_increment, dim1(100000), dim1(1024), args, 0, NULL));
    WORKS(cudaLaunchCooperativeKernel(&host_increment, dim1(100), dim1(32), args, 0, NULL));
    WORKS(cudaFuncSetAttribute(&host_increment, cudaFuncAttributeMaxDynamicSharedMemorySize, 100000));
    WORKS(cudaLaunchKernel(&host_increment, dim1(1), dim1(1), args, 100000, NULL));
    GIVES(cudaErrorInvalidValue,
          cudaFuncSetAttribute(&host_increment, cudaFuncAttributeMaxDynamicSharedMemorySize, 232449));
    WORKS(cudaFree(out));
}

TEST(clusters_must_divide_the_grid) {
    u32 *out = device_words(1);
    void *args[] = {&out};
    cudaLaunchAttribute attribute = {.id = cudaLaunchAttributeClusterDimension, .val.clusterDim = {2, 1, 1}};
    cudaLaunchConfig_t config = {.gridDim = dim1(4), .blockDim = dim1(32), .attrs = &attribute, .numAttrs = 1};
    WORKS(cudaLaunchKernelExC(&config, &host_increment, args));
    attribute.val.clusterDim.x = 3;
    GIVES(cudaErrorInvalidClusterSize, cudaLaunchKernelExC(&config, &host_increment, args));
    attribute.val.clusterDim.x = 16;
    config.gridDim.x = 16;
    GIVES(cudaErrorInvalidClusterSize, cudaLaunchKernelExC(&config, &host_increment, args));
    WORKS(cudaFree(out));
}

TEST(allocations_are_validated) {
    void *p, *pinned, *managed;
    int local;
    WORKS(cudaMalloc(&p, 0));
    assert_null(p);
    WORKS(cudaMalloc(&p, 1000));
    assert_int_equal((uintptr_t)p % 256, 0);
    GIVES(cudaErrorInvalidValue, cudaMalloc(NULL, 4));
    GIVES(cudaErrorMemoryAllocation, cudaMalloc(&pinned, (size_t)1 << 50));
    WORKS(cudaFree(NULL));
    GIVES(cudaErrorInvalidValue, cudaFree((char *)p + 4));
    GIVES(cudaErrorInvalidValue, cudaFree(&local));
    GIVES(cudaErrorInvalidValue, cudaFreeHost(p));
    WORKS(cudaMallocHost(&pinned, 64));
    WORKS(cudaMallocManaged(&managed, 64, cudaMemAttachGlobal));
    GIVES(cudaErrorInvalidValue, cudaMallocManaged(&managed, 64, 77));
    WORKS(cudaMallocManaged(&managed, 64, cudaMemAttachGlobal));
    *(int *)managed = 5;
    GIVES(cudaErrorInvalidValue, cudaFree(pinned));
    GIVES(cudaErrorInvalidValue, cudaFreeHost(managed));
    WORKS(cudaFreeHost(pinned));
    WORKS(cudaFree(managed));
    WORKS(cudaFree(p));
    GIVES(cudaErrorInvalidValue, cudaFree(p));
}

TEST(copies_are_validated) {
    char host[2048] = {0};
    void *p, *pinned;
    WORKS(cudaMalloc(&p, 1000));
    WORKS(cudaMallocHost(&pinned, 1000));
    WORKS(cudaMemcpy(p, host, 1000, cudaMemcpyHostToDevice));
    GIVES(cudaErrorInvalidValue, cudaMemcpy(p, host, 1024, cudaMemcpyHostToDevice));
    GIVES(cudaErrorInvalidValue, cudaMemcpy(host, (char *)p + 1, 1000, cudaMemcpyDeviceToHost));
    GIVES(cudaErrorInvalidMemcpyDirection, cudaMemcpy(p, host, 100, (enum cudaMemcpyKind)9));
    GIVES(cudaErrorInvalidValue, cudaMemcpy(p, host, 100, cudaMemcpyDeviceToHost));
    GIVES(cudaErrorInvalidValue, cudaMemcpy(p, host, 100, cudaMemcpyDeviceToDevice));
    WORKS(cudaMemcpy(host, p, 100, cudaMemcpyHostToHost));
    GIVES(cudaErrorInvalidValue, cudaMemcpy(host, p, 100, cudaMemcpyHostToDevice));
    WORKS(cudaMemcpy(p, host, 100, cudaMemcpyDefault));
    WORKS(cudaMemcpy(pinned, p, 100, cudaMemcpyDeviceToDevice));
    WORKS(cudaMemcpy(NULL, NULL, 0, cudaMemcpyHostToDevice));
    GIVES(cudaErrorInvalidValue, cudaMemcpy(NULL, host, 1, cudaMemcpyHostToDevice));
    GIVES(cudaErrorInvalidValue, cudaMemcpy(p, NULL, 1, cudaMemcpyHostToDevice));
    GIVES(cudaErrorInvalidPitchValue, cudaMemcpy2D(p, 4, host, 8, 8, 2, cudaMemcpyHostToDevice));
    WORKS(cudaMemcpy2D(p, 8, host, 8, 8, 0, cudaMemcpyHostToDevice));
    GIVES(cudaErrorInvalidValue, cudaMemset(host, 0, 10));
    GIVES(cudaErrorInvalidValue, cudaMemset(p, 0, 1024));
    GIVES(cudaErrorInvalidValue, cudaMemset2D(p, 4, 0, 8, 2));
    WORKS(cudaMemset(pinned, 0, 10));
    WORKS(cudaFreeHost(pinned));
    WORKS(cudaFree(p));
}

TEST(pitched_copies_move_rows) {
    u8 host[4][10], back[4][10] = {{0}};
    void *p;
    size_t pitch;
    for (u32 i = 0; i < sizeof host; i++) ((u8 *)host)[i] = (u8)i;
    WORKS(cudaMallocPitch(&p, &pitch, 10, 4));
    assert_int_equal(pitch, 512);
    WORKS(cudaMemcpy2D(p, pitch, host, 10, 10, 4, cudaMemcpyHostToDevice));
    WORKS(cudaMemcpy2D(back, 10, p, pitch, 10, 4, cudaMemcpyDeviceToHost));
    assert_memory_equal(host, back, sizeof host);
    WORKS(cudaMemset2D(p, pitch, 0xab, 3, 4));
    WORKS(cudaMemcpy2D(back, 10, p, pitch, 10, 4, cudaMemcpyDeviceToHost));
    assert_int_equal(back[3][2], 0xab);
    assert_int_equal(back[3][3], host[3][3]);
    WORKS(cudaFree(p));
}

TEST(symbols_are_copied_by_host_address) {
    u32 five = 5, words[16] = {0};
    void *address;
    size_t size;
    WORKS(cudaMemcpyToSymbol(&host_scale, &five, 4, 0, cudaMemcpyHostToDevice));
    u32 *out = device_words(4);
    WORKS(launch_fill(out, 4, 2, NULL));
    expect_words(out, 4, 10);
    five = 3;
    WORKS(cudaMemcpyToSymbol(&host_scale, &five, 4, 0, cudaMemcpyHostToDevice));
    GIVES(cudaErrorInvalidValue, cudaMemcpyToSymbol(&host_scale, &five, 4, 1, cudaMemcpyHostToDevice));
    GIVES(cudaErrorInvalidMemcpyDirection, cudaMemcpyToSymbol(&host_scale, &five, 4, 0, cudaMemcpyDeviceToHost));
    GIVES(cudaErrorInvalidSymbol, cudaMemcpyToSymbol(&five, &five, 4, 0, cudaMemcpyHostToDevice));
    WORKS(cudaGetSymbolAddress(&address, host_table));
    WORKS(cudaGetSymbolSize(&size, host_table));
    assert_int_equal(size, 64);
    WORKS(launch_fill(address, 16, 0, NULL));
    WORKS(cudaMemcpyFromSymbol(words, host_table, 8, 56, cudaMemcpyDeviceToHost));
    assert_int_equal(words[1], 15);
    WORKS(cudaFree(out));
}

TEST(managed_variables_are_shared) {
    void *address;
    assert_int_equal(__cudaInitModule(fat_handle), 1);
    assert_non_null(host_managed);
    assert_int_equal(*host_managed, 5);
    WORKS(cudaGetSymbolAddress(&address, host_managed));
    assert_ptr_equal(address, host_managed);
    WORKS(launch_increment(host_managed, NULL));
    WORKS(cudaDeviceSynchronize());
    assert_int_equal(*host_managed, 6);
    *host_managed = 5;
}

TEST(registered_memory) {
    void *device;
    u32 *host = malloc(4096);
    WORKS(cudaHostRegister(host, 4096, 0));
    GIVES(cudaErrorHostMemoryAlreadyRegistered, cudaHostRegister(host, 4096, 0));
    WORKS(cudaHostGetDevicePointer(&device, host, 0));
    assert_ptr_equal(device, host);
    *host = 1;
    WORKS(launch_increment(device, NULL));
    WORKS(cudaDeviceSynchronize());
    assert_int_equal(*host, 2);
    WORKS(cudaHostUnregister(host));
    GIVES(cudaErrorHostMemoryNotRegistered, cudaHostUnregister(host));
    GIVES(cudaErrorInvalidValue, cudaHostGetDevicePointer(&device, host, 0));
    free(host);
}

TEST(handles_are_looked_up) {
    cudaStream_t stream, invented = (cudaStream_t)0x123456780;
    cudaEvent_t event;
    WORKS(cudaStreamCreate(&stream));
    WORKS(cudaStreamQuery(stream));
    WORKS(cudaStreamDestroy(stream));
    GIVES(cudaErrorInvalidResourceHandle, cudaStreamSynchronize(stream));
    GIVES(cudaErrorInvalidResourceHandle, cudaStreamDestroy(stream));
    GIVES(cudaErrorInvalidResourceHandle, cudaStreamDestroy(NULL));
    GIVES(cudaErrorInvalidResourceHandle, cudaStreamSynchronize(invented));
    GIVES(cudaErrorInvalidResourceHandle, cudaEventRecord((cudaEvent_t)invented, NULL));
    WORKS(cudaEventCreate(&event));
    GIVES(cudaErrorInvalidResourceHandle, cudaStreamSynchronize((cudaStream_t)event));
    WORKS(cudaEventDestroy(event));
    GIVES(cudaErrorInvalidResourceHandle, cudaEventDestroy(event));
    GIVES(cudaErrorInvalidValue, cudaStreamCreateWithFlags(&stream, 7));
    GIVES(cudaErrorInvalidValue, cudaGraphDestroy((cudaGraph_t)invented));
    WORKS(cudaStreamSynchronize(cudaStreamPerThread));
}

TEST(events_measure_time) {
    cudaEvent_t a, b, untimed;
    float ms = -1;
    WORKS(cudaEventCreate(&a));
    WORKS(cudaEventCreate(&b));
    WORKS(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming));
    WORKS(cudaEventQuery(a));
    GIVES(cudaErrorInvalidResourceHandle, cudaEventElapsedTime(&ms, a, b));
    WORKS(cudaEventRecord(a, NULL));
    WORKS(cudaEventRecord(b, NULL));
    WORKS(cudaEventRecord(untimed, NULL));
    WORKS(cudaEventSynchronize(b));
    WORKS(cudaEventElapsedTime(&ms, a, b));
    assert_true(ms > 0);
    GIVES(cudaErrorInvalidResourceHandle, cudaEventElapsedTime(&ms, a, untimed));
    GIVES(cudaErrorInvalidValue, cudaEventElapsedTime(NULL, a, b));
    GIVES(cudaErrorInvalidValue, cudaEventCreateWithFlags(&untimed, 0x100));
    WORKS(cudaEventDestroy(a));
    WORKS(cudaEventDestroy(b));
}

TEST(errors_are_kept_until_read) {
    assert_int_equal(cudaSetDevice(99), cudaErrorInvalidDevice);
    assert_int_equal(cudaDeviceSynchronize(), cudaSuccess);
    assert_int_equal(cudaPeekAtLastError(), cudaErrorInvalidDevice);
    assert_int_equal(cudaGetLastError(), cudaErrorInvalidDevice);
    assert_int_equal(cudaGetLastError(), cudaSuccess);
    assert_string_equal(cudaGetErrorString(cudaErrorIllegalAddress), "an illegal memory access was encountered");
    assert_string_equal(cudaGetErrorName((cudaError_t)12345), "unrecognized error code");
}

TEST(device_properties) {
    struct cudaDeviceProp p;
    int value, count;
    WORKS(cudaGetDeviceCount(&count));
    assert_int_equal(count, 2);
    WORKS(cudaGetDeviceProperties(&p, 1));
    assert_string_equal(p.name, "NVIDIA H200");
    assert_int_equal(p.major, 9);
    assert_int_equal(p.multiProcessorCount, 132);
    assert_int_equal(p.sharedMemPerBlockOptin, 232448);
    assert_int_equal(p.warpSize, 32);
    assert_true(p.totalGlobalMem == 150109880320ull);
    WORKS(cudaDeviceGetAttribute(&value, cudaDevAttrClockRate, 0));
    assert_int_equal(value, 1980000);
    GIVES(cudaErrorInvalidDevice, cudaGetDeviceProperties(&p, 2));
    GIVES(cudaErrorInvalidValue, cudaDeviceGetAttribute(&value, (enum cudaDeviceAttr)999, 0));
    GIVES(cudaErrorInvalidDevice, cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 99));
}

TEST(limits) {
    size_t size;
    WORKS(cudaDeviceGetLimit(&size, cudaLimitStackSize));
    assert_int_equal(size, 1024);
    WORKS(cudaDeviceSetLimit(cudaLimitStackSize, 4096));
    WORKS(cudaDeviceGetLimit(&size, cudaLimitStackSize));
    assert_int_equal(size, 4096);
    GIVES(cudaErrorInvalidValue, cudaDeviceSetLimit(cudaLimitStackSize, (size_t)1 << 40));
    GIVES(cudaErrorUnsupportedLimit, cudaDeviceSetLimit(cudaLimitDevRuntimeSyncDepth, 2));
    GIVES(cudaErrorInvalidValue, cudaDeviceSetLimit((enum cudaLimit)99, 1));
}

TEST(peers) {
    int can;
    WORKS(cudaDeviceCanAccessPeer(&can, 0, 1));
    assert_int_equal(can, 1);
    WORKS(cudaDeviceCanAccessPeer(&can, 0, 0));
    assert_int_equal(can, 0);
    WORKS(cudaDeviceEnablePeerAccess(1, 0));
    GIVES(cudaErrorPeerAccessAlreadyEnabled, cudaDeviceEnablePeerAccess(1, 0));
    WORKS(cudaDeviceDisablePeerAccess(1));
    GIVES(cudaErrorPeerAccessNotEnabled, cudaDeviceDisablePeerAccess(1));
    GIVES(cudaErrorPeerAccessUnsupported, cudaDeviceEnablePeerAccess(0, 0));
    GIVES(cudaErrorInvalidDevice, cudaDeviceEnablePeerAccess(9, 0));
}

TEST(devices_have_their_own_modules_and_memory) {
    struct cudaPointerAttributes where;
    u32 nine = 9, word;
    WORKS(cudaSetDevice(1));
    u32 *out = device_words(4);
    WORKS(cudaMemcpyToSymbol(&host_scale, &nine, 4, 0, cudaMemcpyHostToDevice));
    WORKS(launch_fill(out, 4, 1, NULL));
    expect_words(out, 4, 9);
    WORKS(cudaPointerGetAttributes(&where, out));
    assert_int_equal(where.device, 1);
    assert_int_equal(where.type, cudaMemoryTypeDevice);
    WORKS(cudaSetDevice(0));
    WORKS(cudaMemcpyFromSymbol(&word, &host_scale, 4, 0, cudaMemcpyDeviceToHost));
    assert_int_equal(word, 3);
    u32 *here = device_words(4);
    WORKS(cudaMemcpyPeer(here, 0, out, 1, 16));
    expect_words(here, 4, 9);
    WORKS(cudaFree(here));
    WORKS(cudaFree(out));
}

TEST(function_attributes) {
    struct cudaFuncAttributes a;
    int blocks;
    WORKS(cudaFuncGetAttributes(&a, &host_fill));
    assert_int_equal(a.ptxVersion, 75);
    assert_int_equal(a.binaryVersion, 75);
    assert_int_equal(a.maxThreadsPerBlock, 1024);
    assert_int_equal(a.maxDynamicSharedSizeBytes, 49152);
    WORKS(cudaFuncGetAttributes(&a, &host_bounded));
    assert_int_equal(a.maxThreadsPerBlock, 64);
    GIVES(cudaErrorInvalidDeviceFunction, cudaFuncGetAttributes(&a, &host_unregistered));
    WORKS(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, &host_fill, 256, 0));
    assert_int_equal(blocks, 8);
    WORKS(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, &host_fill, 2000, 0));
    assert_int_equal(blocks, 0);
    GIVES(cudaErrorInvalidValue, cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, &host_fill, 0, 0));
}

static void note(void *data) { *(int *)data += 1; }
static void note_stream(cudaStream_t stream, cudaError_t status, void *data) {
    (void)stream;
    *(int *)data += status == cudaSuccess ? 10 : 1000;
    (void)cudaGetLastError();  // the API may be called from here
}

TEST(host_functions_run_in_order) {
    int noted = 0;
    WORKS(cudaLaunchHostFunc(NULL, note, &noted));
    assert_int_equal(noted, 1);
    WORKS(cudaStreamAddCallback(NULL, note_stream, &noted, 0));
    assert_int_equal(noted, 11);
    GIVES(cudaErrorInvalidValue, cudaLaunchHostFunc(NULL, NULL, NULL));
}

TEST(pools_count) {
    cudaMemPool_t pool;
    u64 used = 0;
    void *p;
    WORKS(cudaDeviceGetDefaultMemPool(&pool, 0));
    WORKS(cudaMallocAsync(&p, 1000, NULL));
    WORKS(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used));
    assert_int_equal(used, 1000);
    WORKS(cudaMemset(p, 0, 1000));
    WORKS(cudaFreeAsync(p, NULL));
    WORKS(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used));
    assert_int_equal(used, 0);
    WORKS(cudaMallocAsync(&p, 10, NULL));
    WORKS(cudaFree(p));
    GIVES(cudaErrorInvalidValue, cudaFreeAsync(p, NULL));
}

TEST(arrays_and_textures) {
    struct cudaChannelFormatDesc floats = {32, 0, 0, 0, cudaChannelFormatKindFloat}, odd = {3, 0, 0, 0, 0},
                                 ints = {32, 0, 0, 0, 0};
    cudaArray_t array, int_array;
    u8 in[4 * 256], out[4 * 256] = {0};
    cudaTextureObject_t texture;
    for (u32 i = 0; i < sizeof in; i++) in[i] = (u8)(i * 7);
    GIVES(cudaErrorInvalidValue, cudaMallocArray(&array, &floats, 0, 0, 0));
    GIVES(cudaErrorInvalidChannelDescriptor, cudaMallocArray(&array, &odd, 64, 64, 0));
    WORKS(cudaMallocArray(&array, &floats, 64, 4, 0));
    WORKS(cudaMemcpy2DToArray(array, 0, 0, in, 256, 256, 4, cudaMemcpyHostToDevice));
    GIVES(cudaErrorInvalidValue, cudaMemcpy2DToArray(array, 4, 0, in, 256, 256, 4, cudaMemcpyHostToDevice));
    WORKS(cudaMemcpyFromArray(out, array, 0, 0, sizeof out, cudaMemcpyDeviceToHost));
    assert_memory_equal(in, out, sizeof in);
    struct cudaResourceDesc resource = {.resType = cudaResourceTypeArray, .res.array.array = array};
    struct cudaTextureDesc sampling = {.filterMode = cudaFilterModeLinear};
    WORKS(cudaCreateTextureObject(&texture, &resource, &sampling, NULL));
    WORKS(cudaDestroyTextureObject(texture));
    WORKS(
        cudaDestroyTextureObject(texture));  // as on an H200 (h200_driver.txt), and with C++ objects passed to kernels
    WORKS(cudaMallocArray(&int_array, &ints, 64, 4, 0));
    resource.res.array.array = int_array;
    GIVES(cudaErrorInvalidFilterSetting, cudaCreateTextureObject(&texture, &resource, &sampling, NULL));
    sampling.filterMode = cudaFilterModePoint;
    sampling.readMode = cudaReadModeNormalizedFloat;
    GIVES(cudaErrorInvalidNormSetting, cudaCreateTextureObject(&texture, &resource, &sampling, NULL));
    WORKS(cudaFreeArray(int_array));
    WORKS(cudaFreeArray(array));
    GIVES(cudaErrorInvalidResourceHandle, cudaFreeArray(array));
}

static int begin(void **state) {
    (void)state;
    runtime_begins("2");
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(launches_run),
        cmocka_unit_test(configurations_are_pushed_and_popped),
        cmocka_unit_test(impossible_launches_are_refused),
        cmocka_unit_test(clusters_must_divide_the_grid),
        cmocka_unit_test(allocations_are_validated),
        cmocka_unit_test(copies_are_validated),
        cmocka_unit_test(pitched_copies_move_rows),
        cmocka_unit_test(symbols_are_copied_by_host_address),
        cmocka_unit_test(managed_variables_are_shared),
        cmocka_unit_test(registered_memory),
        cmocka_unit_test(handles_are_looked_up),
        cmocka_unit_test(events_measure_time),
        cmocka_unit_test(errors_are_kept_until_read),
        cmocka_unit_test(device_properties),
        cmocka_unit_test(limits),
        cmocka_unit_test(peers),
        cmocka_unit_test(devices_have_their_own_modules_and_memory),
        cmocka_unit_test(function_attributes),
        cmocka_unit_test(host_functions_run_in_order),
        cmocka_unit_test(pools_count),
        cmocka_unit_test(arrays_and_textures),
    };
    return cmocka_run_group_tests(tests, begin, runtime_ends);
}
