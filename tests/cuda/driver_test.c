// SPDX-License-Identifier: Apache-2.0
// What the driver API does, beside and together with the runtime API. Which errors it gives is in driver_calls_test.c.
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fixture.h"

#include "cuda/driver/driver_api.h"
#include "cuda/driver/driver_table.h"
#include "cuda/driver/jit.h"

#define ANSWERS(result, call) assert_int_equal(call, result)
#define DOES(call) ANSWERS(CUDA_SUCCESS, call)

static char *ptx_text;  // of tests/cuda/module.ptx

static CUmodule load_module(void) {
    CUmodule module = NULL;
    DOES(cuModuleLoadData(&module, ptx_text));
    return module;
}

static CUfunction find_function(CUmodule module, const char *name) {
    CUfunction function = NULL;
    DOES(cuModuleGetFunction(&function, module, name));
    return function;
}

static u32 read_word(CUdeviceptr at) {
    u32 word = 0;
    DOES(cuMemcpyDtoH_v2(&word, at, 4));
    return word;
}

static CUresult launch_word(CUfunction f, CUdeviceptr at, u32 value, CUstream stream) {
    u32 n = 1;
    void *args[] = {&at, &n, &value};
    return cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, stream, args, NULL);
}

TEST(both_apis_share_memory_streams_and_events) {
    CUdeviceptr d;
    u32 *p, word = 0;
    CUstream s;
    cudaStream_t t;
    CUevent e;
    cudaEvent_t g;
    float ms;
    WORKS(cudaSetDevice(0));
    CUfunction fill = find_function(load_module(), "fill");
    DOES(cuMemAlloc_v2(&d, 256));
    WORKS(cudaMalloc((void **)&p, 256));
    DOES(cuStreamCreate(&s, 0));
    WORKS(cudaStreamCreate(&t));
    DOES(cuEventCreate(&e, 0));
    WORKS(cudaEventCreate(&g));
    DOES(launch_word(fill, d, 5, t));
    WORKS(launch_fill(p, 1, 6, s));
    WORKS(cudaMemcpy(&word, (void *)(uintptr_t)d, 4, cudaMemcpyDeviceToHost));
    assert_int_equal(word, 15);
    assert_int_equal(read_word((CUdeviceptr)(uintptr_t)p), 18);
    DOES(cuEventRecord(g, t));
    WORKS(cudaEventRecord(e, s));
    WORKS(cudaEventElapsedTime(&ms, g, e));
    DOES(cuEventElapsedTime(&ms, g, e));
    WORKS(cudaStreamDestroy(s));
    DOES(cuStreamDestroy_v2(t));
    WORKS(cudaFree((void *)(uintptr_t)d));
    DOES(cuMemFree_v2((CUdeviceptr)(uintptr_t)p));
}

TEST(kernels_of_the_program_and_of_modules_are_alike) {
    CUdeviceptr d;
    cudaFunction_t registered;
    CUmodule own, module;
    const char *name;
    struct cudaFuncAttributes attributes;
    WORKS(cudaGetFuncBySymbol(&registered, &host_fill));
    DOES(cuMemAlloc_v2(&d, 4));
    DOES(launch_word(registered, d, 2, NULL));
    assert_int_equal(read_word(d), 6);
    DOES(cuFuncGetName(&name, registered));
    assert_string_equal(name, "fill");
    DOES(cuFuncGetModule(&own, registered));
    assert_ptr_equal(find_function(own, "fill"), registered);
    ANSWERS(CUDA_ERROR_NOT_PERMITTED, cuModuleUnload(own));
    module = load_module();
    CUfunction fill = find_function(module, "fill");
    assert_ptr_not_equal(fill, registered);
    u32 n = 1, value = 3;
    void *args[] = {&d, &n, &value};
    WORKS(cudaLaunchKernel(fill, dim1(1), dim1(1), args, 0, NULL));
    assert_int_equal(read_word(d), 9);
    WORKS(cudaFuncGetAttributes(&attributes, fill));
    assert_int_equal(attributes.ptxVersion, 75);
    DOES(cuModuleUnload(module));
    ANSWERS(CUDA_ERROR_INVALID_HANDLE, launch_word(fill, d, 1, NULL));
    DOES(cuMemFree_v2(d));
}

TEST(variables_of_modules_are_their_own) {
    CUmodule a = load_module(), b = load_module();
    CUdeviceptr scale_a, scale_b, d;
    size_t bytes;
    u32 seven = 7;
    DOES(cuModuleGetGlobal_v2(&scale_a, &bytes, a, "scale"));
    DOES(cuModuleGetGlobal_v2(&scale_b, NULL, b, "scale"));
    assert_int_equal(bytes, 4);
    assert_true(scale_a != scale_b);
    DOES(cuMemcpyHtoD_v2(scale_b, &seven, 4));
    DOES(cuMemAlloc_v2(&d, 4));
    DOES(launch_word(find_function(a, "fill"), d, 2, NULL));
    assert_int_equal(read_word(d), 6);
    DOES(launch_word(find_function(b, "fill"), d, 2, NULL));
    assert_int_equal(read_word(d), 14);
    DOES(cuMemFree_v2(d));
    DOES(cuModuleUnload(a));
    DOES(cuModuleUnload(b));
}

TEST(the_current_context_is_the_current_device) {
    CUcontext a, b, now;
    int device;
    WORKS(cudaSetDevice(0));
    DOES(cuDevicePrimaryCtxRetain(&a, 0));
    DOES(cuDevicePrimaryCtxRetain(&b, 1));
    DOES(cuCtxGetCurrent(&now));
    assert_ptr_equal(now, a);
    WORKS(cudaSetDevice(1));
    DOES(cuCtxGetCurrent(&now));
    assert_ptr_equal(now, b);
    DOES(cuCtxSetCurrent(a));
    WORKS(cudaGetDevice(&device));
    assert_int_equal(device, 0);
    DOES(cuCtxPushCurrent_v2(b));
    WORKS(cudaGetDevice(&device));
    assert_int_equal(device, 1);
    DOES(cuCtxPopCurrent_v2(&now));
    assert_ptr_equal(now, b);
    WORKS(cudaGetDevice(&device));
    assert_int_equal(device, 0);
    DOES(cuDevicePrimaryCtxRelease_v2(0));
    DOES(cuDevicePrimaryCtxRelease_v2(1));
}

static void *use_runtime(void *result) {
    CUcontext before, after;
    void *p;
    bool good = cuCtxGetCurrent(&before) == CUDA_SUCCESS && !before;
    good = good && cuMemAlloc_v2((CUdeviceptr *)&p, 4) == CUDA_ERROR_INVALID_CONTEXT;
    good = good && cudaGetLastError() == cudaSuccess;  // the driver's errors are not the runtime's
    good = good && cudaMalloc(&p, 4) == cudaSuccess && cudaFree(p) == cudaSuccess;
    good = good && cuCtxGetCurrent(&after) == CUDA_SUCCESS && after;
    *(bool *)result = good;
    return NULL;
}

TEST(the_runtime_makes_a_primary_context_current) {
    pthread_t thread;
    bool good = false;
    assert_int_equal(pthread_create(&thread, NULL, use_runtime, &good), 0);
    pthread_join(thread, NULL);
    assert_true(good);
}

static void *increment_in(void *context) {
    static CUdeviceptr d;  // of the context, which wanders from thread to thread
    static CUfunction increment;
    CUcontext popped;
    if (cuCtxPushCurrent_v2(context) != CUDA_SUCCESS) return NULL;
    if (!increment) {
        increment = find_function(load_module(), "increment");
        DOES(cuMemAlloc_v2(&d, 4));
        DOES(cuMemsetD32_v2(d, 0, 1));
    }
    void *args[] = {&d};
    DOES(cuLaunchKernel(increment, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL));
    u32 count = read_word(d);
    DOES(cuCtxPopCurrent_v2(&popped));
    return (void *)(uintptr_t)count;
}

TEST(a_context_wanders_between_threads) {
    CUcontext context;
    void *count;
    DOES(cuCtxCreate_v2(&context, 0, 0));
    DOES(cuCtxPopCurrent_v2(NULL));
    for (uintptr_t i = 1; i <= 3; i++) {
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, increment_in, context), 0);
        pthread_join(thread, &count);
        assert_int_equal((uintptr_t)count, i);
    }
    DOES(cuCtxDestroy_v2(context));
}

TEST(what_a_context_made_ends_with_it) {
    CUcontext context, owner;
    CUdeviceptr d, kept;
    CUstream stream;
    size_t before, during, after, total;
    WORKS(cudaSetDevice(0));
    DOES(cuMemAlloc_v2(&kept, 4));
    DOES(cuMemGetInfo_v2(&before, &total));
    DOES(cuCtxCreate_v2(&context, 0, 0));
    DOES(cuMemAlloc_v2(&d, 1 << 20));
    DOES(cuStreamCreate(&stream, 0));
    CUfunction fill = find_function(load_module(), "fill");
    DOES(cuPointerGetAttribute(&owner, CU_POINTER_ATTRIBUTE_CONTEXT, d));
    assert_ptr_equal(owner, context);
    DOES(cuStreamGetCtx(stream, &owner));
    assert_ptr_equal(owner, context);
    DOES(cuMemGetInfo_v2(&during, &total));
    assert_int_equal(before - during, 1 << 20);
    DOES(cuCtxDestroy_v2(context));
    DOES(cuMemGetInfo_v2(&after, &total));
    assert_int_equal(after, before);
    ANSWERS(CUDA_ERROR_INVALID_VALUE, cuMemFree_v2(d));
    ANSWERS(CUDA_ERROR_INVALID_HANDLE, cuStreamSynchronize(stream));
    ANSWERS(CUDA_ERROR_INVALID_HANDLE, launch_word(fill, kept, 1, NULL));
    DOES(cuMemFree_v2(kept));
}

TEST(fat_binaries_are_modules_and_cubins_are_not) {
    CUmodule module;
    CUfunction f;
    char log[512] = "";
    CUjit_option names[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)sizeof log};
    static const u8 cubin[64] = "\177ELF\2\1\1";
    const void *container = make_container((Str){ptx_text, strlen(ptx_text)}, 75);
    DOES(cuModuleLoadFatBinary(&module, container));
    DOES(cuModuleGetFunction(&f, module, "fill"));
    DOES(cuModuleUnload(module));
    DOES(cuModuleLoadData(&module, &fat_wrapper));
    DOES(cuModuleUnload(module));
    free((void *)(uintptr_t)container);
    DOES(cuModuleLoad(&module, "tests/cuda/module.ptx"));
    DOES(cuModuleUnload(module));
    ANSWERS(CUDA_ERROR_NO_BINARY_FOR_GPU, cuModuleLoadDataEx(&module, cubin, 2, names, values));
    assert_non_null(strstr(log, "-gencode arch=compute_90,code=compute_90"));
    assert_int_equal((size_t)values[1], strlen(log) + 1);
}

TEST(compile_errors_are_in_the_log) {
    static const char bad[] = ".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry k()\n{\nfoo.u32 a;\n}\n";
    CUmodule module;
    char log[512] = "", small[20];
    CUjit_option names[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)sizeof log};
    ANSWERS(CUDA_ERROR_INVALID_PTX, cuModuleLoadDataEx(&module, bad, 2, names, values));
    assert_non_null(strstr(log, ":6:"));
    assert_non_null(strstr(log, "foo"));
    values[0] = small;
    values[1] = (void *)sizeof small;
    ANSWERS(CUDA_ERROR_INVALID_PTX, cuModuleLoadDataEx(&module, bad, 2, names, values));
    assert_int_equal(strlen(small), sizeof small - 1);
}

TEST(machine_code_of_a_compiler_is_found_by_its_ptx) {
    u8 cubin[256] = "\177ELF\2\1\1", other[256];
    CUmodule module;
    for (u32 i = 64; i < sizeof cubin; i++) cubin[i] = (u8)i;
    *(u64 *)(cubin + 40) = 192;  // e_shoff: one section header of 64 bytes
    *(u16 *)(cubin + 58) = 64;
    *(u16 *)(cubin + 60) = 1;
    memcpy(other, cubin, sizeof cubin);
    other[250] ^= 1;
    jit_remember(cubin, sizeof cubin, strcpy(mem_alloc(strlen(ptx_text) + 1), ptx_text));
    DOES(cuModuleLoadData(&module, cubin));
    (void)find_function(module, "fill");
    DOES(cuModuleUnload(module));
    ANSWERS(CUDA_ERROR_NO_BINARY_FOR_GPU, cuModuleLoadData(&module, other));
}

TEST(libraries_serve_both_apis) {
    cudaLibrary_t library;
    CUkernel kernel, list[8];
    unsigned count = 0;
    CUdeviceptr d, managed;
    void *address;
    size_t bytes;
    WORKS(cudaLibraryLoadData(&library, ptx_text, NULL, NULL, 0, NULL, NULL, 0));
    DOES(cuLibraryGetKernel(&kernel, library, "fill"));
    WORKS(cudaLibraryGetKernelCount(&count, library));
    assert_int_equal(count, 8);
    WORKS(cudaLibraryEnumerateKernels(list, 8, library));
    assert_ptr_equal(list[0], kernel);
    WORKS(cudaLibraryGetGlobal(&address, &bytes, library, "table"));
    assert_int_equal(bytes, 64);
    GIVES(cudaErrorSymbolNotFound, cudaLibraryGetManaged(&address, &bytes, library, "table"));
    DOES(cuLibraryGetManaged(&managed, &bytes, library, "managed_word"));
    assert_int_equal(*(u32 *)(uintptr_t)managed, 5);
    DOES(cuMemAlloc_v2(&d, 4));
    DOES(launch_word((CUfunction)kernel, d, 4, NULL));
    assert_int_equal(read_word(d), 12);
    DOES(cuMemFree_v2(d));
    WORKS(cudaLibraryUnload(library));
    ANSWERS(CUDA_ERROR_INVALID_HANDLE, cuLibraryUnload(library));
}

TEST(graphs_outlive_the_modules_of_their_kernels) {
    CUgraph graph;
    CUgraphNode put, copy;
    CUgraphExec exec;
    CUdeviceptr d;
    CUDA_KERNEL_NODE_PARAMS got;
    u32 n = 1, value = 4, host = 0;
    CUmodule module = load_module();
    DOES(cuMemAlloc_v2(&d, 4));
    void *args[] = {&d, &n, &value};
    CUDA_KERNEL_NODE_PARAMS kernel = {.func = find_function(module, "fill"),
                                      .gridDimX = 1,
                                      .gridDimY = 1,
                                      .gridDimZ = 1,
                                      .blockDimX = 1,
                                      .blockDimY = 1,
                                      .blockDimZ = 1,
                                      .kernelParams = args};
    CUDA_MEMCPY3D box = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                         .srcDevice = d,
                         .dstMemoryType = CU_MEMORYTYPE_HOST,
                         .dstHost = &host,
                         .WidthInBytes = 4,
                         .Height = 1,
                         .Depth = 1},
                  same;
    DOES(cuGraphCreate(&graph, 0));
    DOES(cuGraphAddKernelNode_v2(&put, graph, NULL, 0, &kernel));
    DOES(cuGraphAddMemcpyNode(&copy, graph, &put, 1, &box, NULL));
    DOES(cuGraphMemcpyNodeGetParams(copy, &same));
    assert_int_equal(same.srcDevice, d);
    assert_ptr_equal(same.dstHost, &host);
    assert_int_equal(same.dstMemoryType, CU_MEMORYTYPE_HOST);
    DOES(cuGraphKernelNodeGetParams_v2(put, &got));
    assert_ptr_equal(got.func, kernel.func);
    assert_int_equal(*(u32 *)got.kernelParams[2], 4);
    DOES(cuGraphInstantiateWithFlags(&exec, graph, 0));
    DOES(cuGraphLaunch(exec, NULL));
    assert_int_equal(host, 12);
    DOES(cuModuleUnload(module));
    ANSWERS(CUDA_ERROR_INVALID_HANDLE, cuGraphLaunch(exec, NULL));
    DOES(cuGraphExecDestroy(exec));
    DOES(cuGraphDestroy(graph));
    DOES(cuMemFree_v2(d));
}

enum { UNIT = 2 << 20 };

static CUmemGenericAllocationHandle new_memory(size_t size) {
    CUmemAllocationProp prop = {.type = cudaMemAllocationTypePinned,
                                .requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                                .location = {cudaMemLocationTypeDevice, 0}};
    CUmemGenericAllocationHandle handle = 0;
    DOES(cuMemCreate(&handle, size, &prop, 0));
    return handle;
}

static void allow(CUdeviceptr at, size_t size, CUmemAccess_flags flags) {
    CUmemAccessDesc access = {{cudaMemLocationTypeDevice, 0}, flags};
    DOES(cuMemSetAccess(at, size, &access, 1));
}

TEST(mapped_memory_is_one_range_and_may_be_seen_twice) {
    CUdeviceptr range, again;
    CUmemGenericAllocationHandle a = new_memory(UNIT), b = new_memory(UNIT);
    CUfunction fill = find_function(load_module(), "fill");
    DOES(cuMemAddressReserve(&range, 2 * UNIT, 0, 0, 0));
    DOES(cuMemAddressReserve(&again, UNIT, 0, 0, 0));
    DOES(cuMemMap(range, UNIT, 0, a, 0));
    DOES(cuMemMap(range + UNIT, UNIT, 0, b, 0));
    DOES(cuMemMap(again, UNIT, 0, b, 0));
    allow(range, 2 * UNIT, cudaMemAccessFlagsProtReadWrite);
    allow(again, UNIT, cudaMemAccessFlagsProtReadWrite);
    u32 n = 4, value = 5;
    CUdeviceptr across = range + UNIT - 8;
    void *args[] = {&across, &n, &value};
    DOES(cuLaunchKernel(fill, 1, 1, 1, 64, 1, 1, 0, NULL, args, NULL));
    DOES(cuCtxSynchronize());
    assert_int_equal(read_word(range + UNIT), 17);
    assert_int_equal(read_word(again + 4), 18);
    DOES(cuMemRelease(a));
    DOES(cuMemRelease(b));
    DOES(cuMemUnmap(range, 2 * UNIT));
    assert_int_equal(read_word(again), 17);
    ANSWERS(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoD_v2(range, &n, 4));
    DOES(cuMemUnmap(again, UNIT));
    DOES(cuMemAddressFree(range, 2 * UNIT));
    DOES(cuMemAddressFree(again, UNIT));
}

TEST(memory_goes_by_file_descriptor) {
    CUdeviceptr range;
    CUmemGenericAllocationHandle own = new_memory(UNIT), imported;
    int file = -1;
    u32 word = 77;
    DOES(cuMemExportToShareableHandle(&file, own, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    DOES(cuMemImportFromShareableHandle(&imported, (void *)(uintptr_t)file, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
    close(file);
    DOES(cuMemAddressReserve(&range, UNIT, 0, 0, 0));
    DOES(cuMemMap(range, UNIT, 0, imported, 0));
    allow(range, UNIT, cudaMemAccessFlagsProtReadWrite);
    DOES(cuMemcpyHtoD_v2(range + 40, &word, 4));
    DOES(cuMemUnmap(range, UNIT));
    DOES(cuMemMap(range, UNIT, 0, own, 0));
    allow(range, UNIT, cudaMemAccessFlagsProtRead);
    assert_int_equal(read_word(range + 40), 77);
    DOES(cuMemUnmap(range, UNIT));
    DOES(cuMemAddressFree(range, UNIT));
    DOES(cuMemRelease(own));
    DOES(cuMemRelease(imported));
    ANSWERS(CUDA_ERROR_INVALID_VALUE, cuMemImportFromShareableHandle(&imported, (void *)(uintptr_t)9999,
                                                                     CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
}

TEST(boxes_and_arrays_count_bytes) {
    f32 host[4][8], back[4][8] = {{0}};
    CUarray array;
    CUDA_ARRAY_DESCRIPTOR d = {8, 4, CU_AD_FORMAT_FLOAT, 1};
    for (u32 i = 0; i < 32; i++) host[i / 8][i % 8] = (f32)i;
    DOES(cuArrayCreate_v2(&array, &d));
    CUDA_MEMCPY2D in = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                        .srcHost = host,
                        .srcPitch = 32,
                        .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                        .dstArray = array,
                        .WidthInBytes = 32,
                        .Height = 4};
    CUDA_MEMCPY2D out = {.srcMemoryType = CU_MEMORYTYPE_ARRAY,
                         .srcArray = array,
                         .srcXInBytes = 8,
                         .srcY = 1,
                         .dstMemoryType = CU_MEMORYTYPE_HOST,
                         .dstHost = back,
                         .dstPitch = 32,
                         .WidthInBytes = 12,
                         .Height = 2};
    DOES(cuMemcpy2D_v2(&in));
    DOES(cuMemcpy2D_v2(&out));
    assert_true(back[0][0] == 10 && back[0][2] == 12 && back[1][0] == 18 && back[0][3] == 0);
    DOES(cuMemcpyAtoH_v2(back, array, 4, 8));
    assert_true(back[0][0] == 1 && back[0][1] == 2);
    DOES(cuArrayDestroy(array));
}

TEST(fills_of_each_width) {
    CUdeviceptr d;
    u16 halves[8];
    DOES(cuMemAlloc_v2(&d, 64));
    DOES(cuMemsetD8_v2(d, 0xab, 64));
    DOES(cuMemsetD16_v2(d, 0x1234, 3));
    DOES(cuMemsetD2D32_v2(d + 8, 16, 0xcafebabe, 1, 3));
    DOES(cuMemcpyDtoH_v2(halves, d, sizeof halves));
    assert_int_equal(halves[2], 0x1234);
    assert_int_equal(halves[3], 0xabab);
    assert_int_equal(halves[4], 0xbabe);
    assert_int_equal(halves[6], 0xabab);
    assert_int_equal(read_word(d + 40), 0xcafebabe);
    DOES(cuMemFree_v2(d));
}

TEST(words_are_written_and_waited_for) {
    CUdeviceptr d;
    CUstream s, other;
    DOES(cuMemAlloc_v2(&d, 16));
    DOES(cuMemsetD32_v2(d, 0, 4));
    DOES(cuStreamCreate(&s, 0));
    DOES(cuStreamWriteValue32_v2(s, d, 9, 0));
    DOES(cuStreamWaitValue32_v2(s, d, 8, CU_STREAM_WAIT_VALUE_GEQ));
    DOES(cuStreamWaitValue32_v2(s, d, 9, CU_STREAM_WAIT_VALUE_EQ));
    DOES(cuStreamWaitValue32_v2(s, d, 1, CU_STREAM_WAIT_VALUE_AND));
    DOES(cuStreamWaitValue32_v2(s, d, 1, CU_STREAM_WAIT_VALUE_NOR));
    DOES(cuStreamWaitValue32_v2(s, d, 10, CU_STREAM_WAIT_VALUE_GEQ));
    DOES(cuStreamWriteValue32_v2(s, d + 4, 5, 0));
    ANSWERS(CUDA_ERROR_NOT_READY, cuStreamQuery(s));
    DOES(cuStreamCreate(&other, 1));
    DOES(cuStreamWriteValue32_v2(other, d, 11, 0));
    DOES(cuStreamSynchronize(s));
    assert_int_equal(read_word(d + 4), 5);
    DOES(cuStreamDestroy_v2(other));
    CUstreamBatchMemOpParams list[2] = {
        {.value = {.operation = CU_STREAM_MEM_OP_WRITE_VALUE_64, .address = d + 8, .value64 = 1ull << 40}},
        {.value = {.operation = CU_STREAM_MEM_OP_WAIT_VALUE_64, .address = d + 8, .value64 = 1ull << 39}}};
    DOES(cuStreamBatchMemOp_v2(s, 2, list, 0));
    assert_int_equal(read_word(d + 12), 1 << 8);
    DOES(cuStreamDestroy_v2(s));
    DOES(cuMemFree_v2(d));
}

TEST(every_function_is_found_by_name_and_version) {
    void *p;
    enum cudaDriverEntryPointQueryResult found;
    for (u32 i = 0; i < driver_table_count; i++) {
        const DriverEntry *e = &driver_table[i];
        if (i) assert_true(strcmp(driver_table[i - 1].symbol, e->symbol) < 0);
        assert_non_null(e->function);
        assert_ptr_equal(driver_find(e->base, e->version, e->per_thread, NULL)->function, e->function);
    }
    assert_ptr_equal(driver_find("cuMemAlloc", 13000, true, NULL)->function, (void (*)(void))cuMemAlloc_v2);
    assert_string_equal(driver_find("cuStreamQuery", 13000, true, NULL)->symbol, "cuStreamQuery_ptsz");
    assert_string_equal(driver_find("cuGraphAddNode", 12020, false, NULL)->symbol, "cuGraphAddNode");
    assert_string_equal(driver_find("cuGraphAddNode", 12030, false, NULL)->symbol, "cuGraphAddNode_v2");
    WORKS(cudaGetDriverEntryPoint("cuLaunchKernel", &p, 0, &found));
    assert_true(p == (void *)(uintptr_t)cuLaunchKernel);
    WORKS(cudaGetDriverEntryPointByVersion("cuCtxCreate", &p, 5000, 0, &found));
    assert_true(p == (void *)(uintptr_t)cuCtxCreate_v2);
    WORKS(cudaGetDriverEntryPoint("cuNoSuchFunction", &p, 0, &found));
    assert_int_equal(found, cudaDriverEntryPointSymbolNotFound);
    assert_null(p);
}

// cuStreamGetId of the default stream through either name: the thread's own for programs compiled that way.
TEST(per_thread_names_mean_the_threads_stream) {
    typedef CUresult GetId(CUstream stream, unsigned long long *id);
    unsigned long long legacy, mine;
    GetId *get = (GetId *)driver_find("cuStreamGetId", 13000, true, NULL)->function;
    DOES(cuStreamGetId(NULL, &legacy));
    DOES(get(NULL, &mine));
    assert_true(legacy != mine);
    DOES(cuStreamGetId((CUstream)2, &legacy));
    assert_int_equal(legacy, mine);
}

static size_t block_of(int block) { return (size_t)block * 200; }

TEST(the_best_block_may_need_shared_memory_by_its_size) {
    int grid, block;
    CUmodule module = load_module();
    CUfunction fill = find_function(module, "fill");
    DOES(cuOccupancyMaxPotentialBlockSize(&grid, &block, fill, NULL, 0, 0));
    assert_int_equal(block, 1024);
    assert_int_equal(grid, 2 * 132);
    DOES(cuOccupancyMaxPotentialBlockSize(&grid, &block, fill, block_of, 0, 0));
    assert_int_equal(block, 576);  // two of 112.5 KiB, and 1 KiB each for the system, in 228
    DOES(cuModuleUnload(module));
}

int main(void) {
    FileData ptx;
    runtime_begins("2");
    assert_int_equal(file_read("tests/cuda/module.ptx", &ptx, NULL), STATUS_OK);
    ptx_text = strndup((const char *)ptx.data, ptx.size);
    file_release(&ptx);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_apis_share_memory_streams_and_events),
        cmocka_unit_test(kernels_of_the_program_and_of_modules_are_alike),
        cmocka_unit_test(variables_of_modules_are_their_own),
        cmocka_unit_test(the_current_context_is_the_current_device),
        cmocka_unit_test(the_runtime_makes_a_primary_context_current),
        cmocka_unit_test(a_context_wanders_between_threads),
        cmocka_unit_test(what_a_context_made_ends_with_it),
        cmocka_unit_test(fat_binaries_are_modules_and_cubins_are_not),
        cmocka_unit_test(compile_errors_are_in_the_log),
        cmocka_unit_test(machine_code_of_a_compiler_is_found_by_its_ptx),
        cmocka_unit_test(libraries_serve_both_apis),
        cmocka_unit_test(graphs_outlive_the_modules_of_their_kernels),
        cmocka_unit_test(mapped_memory_is_one_range_and_may_be_seen_twice),
        cmocka_unit_test(memory_goes_by_file_descriptor),
        cmocka_unit_test(boxes_and_arrays_count_bytes),
        cmocka_unit_test(fills_of_each_width),
        cmocka_unit_test(words_are_written_and_waited_for),
        cmocka_unit_test(every_function_is_found_by_name_and_version),
        cmocka_unit_test(per_thread_names_mean_the_threads_stream),
        cmocka_unit_test(the_best_block_may_need_shared_memory_by_its_size),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    program_ends();
    free(ptx_text);
    return failed;
}
