// SPDX-License-Identifier: Apache-2.0
// A program for tests: tests/cuda/module.ptx as a fat binary, registered as nvcc's constructors do it.
#ifndef WL_TESTS_CUDA_FIXTURE_H
#define WL_TESTS_CUDA_FIXTURE_H

#include <stdlib.h>
#include <string.h>

#include "base/testing.h"

#include "base/file.h"
#include "cuda/api.h"

typedef struct FatWrapper {
    u32 magic, version;
    const void *data, *extra;
} FatWrapper;

typedef struct FatHeader {
    u32 magic;
    u16 version, header_size;
    u64 size;
} FatHeader;

typedef struct FatEntry {  // a stored PTX entry
    u16 kind, two;
    u32 header_size;
    u64 padded_size;
    u32 packed_size, options;
    u16 minor, major;
    u32 sm, name, name_length;
    u64 flags, zero, unpacked_size;
} FatEntry;

// The host side of the kernels and variables: only their addresses matter.
static char host_fill, host_increment, host_bounded, host_missing, host_trap, host_assert, host_awaits, host_stores,
    host_mixes;
static u32 host_scale, host_table[16];
static u32 *host_managed;
static FatWrapper fat_wrapper = {0x466243b1u, 1, NULL, NULL};
static void **fat_handle;

static const void *make_container(Str ptx, u32 sm) {
    u64 padded = (ptx.len + 8) / 8 * 8;
    u8 *bytes = calloc(1, sizeof(FatHeader) + sizeof(FatEntry) + padded);
    assert_non_null(bytes);
    *(FatHeader *)bytes = (FatHeader){0xba55ed50u, 1, 16, sizeof(FatEntry) + padded};
    *(FatEntry *)(bytes + 16) = (FatEntry){.kind = 1,
                                           .two = 0x101,
                                           .header_size = sizeof(FatEntry),
                                           .padded_size = padded,
                                           .options = 64,
                                           .major = 8,
                                           .sm = sm,
                                           .flags = 0x11};
    memcpy(bytes + 16 + sizeof(FatEntry), ptx.data, ptx.len);
    return bytes;
}

static void register_kernel(const char *host, const char *name) {
    __cudaRegisterFunction(fat_handle, host, (char *)(uintptr_t)name, name, -1, NULL, NULL, NULL, NULL, NULL);
}

static void program_begins(void) {
    FileData ptx;
    assert_int_equal(file_read("tests/cuda/module.ptx", &ptx, NULL), STATUS_OK);
    fat_wrapper.data = make_container((Str){(const char *)ptx.data, ptx.size}, 75);
    file_release(&ptx);
    fat_handle = __cudaRegisterFatBinary(&fat_wrapper);
    register_kernel(&host_fill, "fill");
    register_kernel(&host_increment, "increment");
    register_kernel(&host_bounded, "bounded");
    register_kernel(&host_missing, "no_such_kernel");
    register_kernel(&host_trap, "trapped");
    register_kernel(&host_assert, "asserts");
    register_kernel(&host_awaits, "awaits");
    register_kernel(&host_stores, "stores");
    register_kernel(&host_mixes, "mixes");
    __cudaRegisterVar(fat_handle, (char *)&host_scale, NULL, "scale", 0, 4, 1, 0);
    __cudaRegisterVar(fat_handle, (char *)host_table, NULL, "table", 0, 64, 0, 0);
    __cudaRegisterManagedVar(fat_handle, (void **)&host_managed, NULL, "managed_word", 0, 4, 0, 0);
    __cudaRegisterFatBinaryEnd(fat_handle);
}

static inline void program_ends(void) {
    __cudaUnregisterFatBinary(fat_handle);
    free((void *)(uintptr_t)fat_wrapper.data);
}

// The simulated runtime inside the test itself, on `gpus` H200s.
static void runtime_begins(const char *gpus) {
    setenv("WARPLENS_GPU_DIR", "gpus", 1);
    setenv("WARPLENS_GPUS", gpus, 1);
    setenv("WARPLENS_PROGRESS", "0", 1);
    unsetenv("WARPLENS_OUTPUT");
    cuda_setup(NULL);
    program_begins();
}

// The end of a group of tests.
static inline int runtime_ends(void **state) {
    (void)state;
    program_ends();
    cuda_shutdown();
    return 0;
}

static inline dim3 dim1(u32 x) { return (dim3){x, 1, 1}; }

static inline cudaError_t launch_fill(u32 *out, u32 n, u32 value, cudaStream_t stream) {
    void *args[] = {&out, &n, &value};
    return cudaLaunchKernel(&host_fill, dim1((n + 63) / 64), dim1(64), args, 0, stream);
}

static inline cudaError_t launch_increment(u32 *out, cudaStream_t stream) {
    void *args[] = {&out};
    return cudaLaunchKernel(&host_increment, dim1(1), dim1(1), args, 0, stream);
}

// Waits until *word is `value`, then *out = value.
static inline cudaError_t launch_awaits(u32 *word, u32 value, u32 *out, cudaStream_t stream) {
    void *args[] = {&word, &value, &out};
    return cudaLaunchKernel(&host_awaits, dim1(1), dim1(32), args, 0, stream);
}

static inline cudaError_t launch_stores(u32 *word, u32 value, cudaStream_t stream) {
    void *args[] = {&word, &value};
    return cudaLaunchKernel(&host_stores, dim1(1), dim1(1), args, 0, stream);
}

// *word = 5 * *word + value
static inline cudaError_t launch_mixes(u32 *word, u32 value, cudaStream_t stream) {
    void *args[] = {&word, &value};
    return cudaLaunchKernel(&host_mixes, dim1(1), dim1(1), args, 0, stream);
}

// Calls must give this error; the last error is cleared.
#define GIVES(error, call)                                   \
    do {                                                     \
        assert_string_equal(cudaGetErrorName(call), #error); \
        (void)cudaGetLastError();                            \
    } while (0)
#define WORKS(call) GIVES(cudaSuccess, call)

#endif
