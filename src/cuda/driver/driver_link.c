// SPDX-License-Identifier: Apache-2.0
// cuLink...: PTX of several inputs becomes one PTX text (binary/link.h), which module functions take as they take any.
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "binary/link.h"
#include "cuda/api.h"
#include "cuda/driver/driver_api.h"
#include "cuda/driver/jit.h"
#include "ptx/ptx.h"

typedef struct LinkInput {
    char *text, *name;  // owned
    size_t size;
} LinkInput;

typedef struct LinkState {
    JitOptions options;  // of cuLinkCreate: the log buffers must live as long as the state
    Vec(LinkInput) inputs;
    LinkText result;
    bool completed;
} LinkState;

static LinkState *find(CudaContext *c, CUlinkState handle) { return object_get(&c->objects, handle, OBJECT_LINK); }

static cudaError_t create(CudaContext *c, JitOptions options, CUlinkState *to) {
    cudaError_t error = to ? jit_check(&options) : cudaErrorInvalidValue;
    if (error != cudaSuccess) return error;
    LinkState *state = object_new(&c->objects, OBJECT_LINK, sizeof *state);
    if (!state) return cudaErrorMemoryAllocation;
    state->options = options;
    *to = (CUlinkState)state;
    return cudaSuccess;
}

CUDA_API CUresult cuLinkCreate_v2(unsigned int numOptions, CUjit_option *options, void **optionValues,
                                  CUlinkState *stateOut) {
    JitOptions jit = {numOptions, options, optionValues};
    DRIVER_RETURN(c, DRIVER_CONTEXT, create(c, jit, stateOut));
}

static cudaError_t keep(LinkState *state, Str text, const char *name) {
    LinkInput input = {mem_copy_str(text), mem_copy_str((Str){name, strlen(name)}), text.len};
    if (input.text && input.name && vec_push(&state->inputs, input) == STATUS_OK) return cudaSuccess;
    mem_free(input.text);
    mem_free(input.name);
    return cudaErrorMemoryAllocation;
}

// Compiles it, as the driver does at this point, to find what is wrong with it.
static cudaError_t add_ptx(LinkState *state, Str text, const char *name, Diag *diag) {
    Module *parsed = NULL;
    if (ptx_load(text, name, &parsed, diag) != STATUS_OK) return cudaErrorInvalidPtx;
    module_free(parsed);
    return keep(state, text, name);
}

static cudaError_t add_images(LinkState *state, const BinaryImages *images, const char *name, Diag *diag) {
    cudaError_t error = cudaSuccess;
    for (u32 i = 0; i < images->len && error == cudaSuccess; i++)
        error = add_ptx(state, (Str){images->data[i].ptx, images->data[i].ptx_size}, name, diag);
    return error;
}

static cudaError_t add_binary(CudaContext *c, LinkState *state, const u8 *data, size_t size, const char *name,
                              Diag *diag) {
    BinaryImages images = {0};
    Status status = binary_ptx_from_memory(data, size, name, (u32)cuda_gpu(c)->sm_version, &images, diag);
    cudaError_t error = status == STATUS_OK          ? add_images(state, &images, name, diag)
                        : status == STATUS_NOT_FOUND ? cudaErrorNoKernelImageForDevice
                                                     : cudaErrorInvalidKernelImage;
    binary_images_free(&images);
    return error;
}

// Members of an ar archive, each behind a header of 60 bytes with its size in decimal at 48, at even offsets.
static cudaError_t add_archive(CudaContext *c, LinkState *state, const u8 *data, size_t size, const char *name,
                               Diag *diag) {
    for (size_t at = 8; at + 60 <= size;) {
        char digits[11] = {0};
        memcpy(digits, data + at + 48, 10);
        size_t length = strtoull(digits, NULL, 10);
        at += 60;
        if (length > size - at) return cudaErrorInvalidKernelImage;
        bool elf = length > 4 && memcmp(data + at, "\177ELF", 4) == 0;
        // Without messages: members without device code are passed over, and so is libcudadevrt's, which is part of the
        // simulator.
        cudaError_t error = elf ? add_binary(c, state, data + at, length, name, NULL) : cudaSuccess;
        if (error != cudaSuccess && error != cudaErrorNoKernelImageForDevice) {
            diag_offset(diag, DIAG_ERROR, name, at, "this member of the library cannot be used");
            return error;
        }
        at += length + length % 2;
    }
    return cudaSuccess;
}

static cudaError_t add_input(CudaContext *c, LinkState *state, CUjitInputType type, const u8 *data, size_t size,
                             const char *name, Diag *diag) {
    switch (type) {
    case CU_JIT_INPUT_PTX:
        return add_ptx(state, (Str){(const char *)data, strnlen((const char *)data, size)}, name, diag);
    case CU_JIT_INPUT_LIBRARY:
        if (size >= 8 && memcmp(data, "!<arch>\n", 8) == 0) return add_archive(c, state, data, size, name, diag);
        return add_binary(c, state, data, size, name, diag);
    case CU_JIT_INPUT_CUBIN: {
        const char *ptx = size >= sizeof(Elf64_Ehdr) ? jit_recall(c, data) : NULL;
        if (ptx) return add_ptx(state, (Str){ptx, strlen(ptx)}, name, diag);
        return add_binary(c, state, data, size, name, diag);
    }
    case CU_JIT_INPUT_FATBINARY:
    case CU_JIT_INPUT_OBJECT: return add_binary(c, state, data, size, name, diag);
    default: return cudaErrorNotSupported;  // NVVM: link-time optimisation
    }
}

static cudaError_t add(CudaContext *c, CUlinkState handle, CUjitInputType type, const void *data, size_t size,
                       const char *name, JitOptions options) {
    LinkState *state = find(c, handle);
    u64 begin = cuda_now();
    Diag diag = {0};
    if (!state) return cudaErrorInvalidResourceHandle;
    if (!data || !size || (unsigned)type >= CU_JIT_NUM_INPUT_TYPES) return cudaErrorInvalidValue;
    cudaError_t error = jit_check(&options);
    if (error != cudaSuccess) return error;
    error = add_input(c, state, type, data, size, name ? name : "linked PTX", &diag);
    jit_report(c, &state->options, &diag, begin);
    diag_free(&diag);
    return error;
}

CUDA_API CUresult cuLinkAddData_v2(CUlinkState state, CUjitInputType type, void *data, size_t size, const char *name,
                                   unsigned int numOptions, CUjit_option *options, void **optionValues) {
    JitOptions jit = {numOptions, options, optionValues};
    DRIVER_RETURN(c, DRIVER_CONTEXT, add(c, state, type, data, size, name, jit));
}

static cudaError_t add_file(CudaContext *c, CUlinkState state, CUjitInputType type, const char *path,
                            JitOptions options) {
    FileData file;
    if (!path) return cudaErrorInvalidValue;
    if (!find(c, state)) return cudaErrorInvalidResourceHandle;
    if (file_read(path, &file, NULL) != STATUS_OK) return cudaErrorFileNotFound;
    cudaError_t error = add(c, state, type, file.data, file.size, path, options);
    file_release(&file);
    return error;
}

CUDA_API CUresult cuLinkAddFile_v2(CUlinkState state, CUjitInputType type, const char *path, unsigned int numOptions,
                                   CUjit_option *options, void **optionValues) {
    JitOptions jit = {numOptions, options, optionValues};
    DRIVER_RETURN(c, DRIVER_CONTEXT, add_file(c, state, type, path, jit));
}

static cudaError_t link_inputs(LinkState *state, Diag *diag) {
    PtxObject *objects = mem_zero(state->inputs.len + 1, sizeof *objects);
    if (!objects) return cudaErrorMemoryAllocation;
    for (u32 i = 0; i < state->inputs.len; i++) {
        const LinkInput *input = &state->inputs.data[i];
        objects[i] = (PtxObject){{input->text, input->size}, input->name};
    }
    vec_free(&state->result);
    Status status = ptx_link(objects, state->inputs.len, &state->result, diag);
    mem_free(objects);
    if (status == STATUS_OK) return cudaSuccess;
    return status == STATUS_NO_MEMORY ? cudaErrorMemoryAllocation : cudaErrorInvalidKernelImage;
}

static cudaError_t complete(CudaContext *c, CUlinkState handle, void **to, size_t *size) {
    LinkState *state = find(c, handle);
    u64 begin = cuda_now();
    Diag diag = {0};
    if (!state || state->completed) return cudaErrorInvalidResourceHandle;
    if (!to || !state->inputs.len) return cudaErrorInvalidValue;
    cudaError_t error = link_inputs(state, &diag);
    jit_report(c, &state->options, &diag, begin);
    diag_free(&diag);
    if (error != cudaSuccess) return error;
    state->completed = true;
    *to = state->result.data;
    if (size) *size = state->result.len + 1;
    return cudaSuccess;
}

CUDA_API CUresult cuLinkComplete(CUlinkState state, void **cubinOut, size_t *sizeOut) {
    DRIVER_RETURN(c, DRIVER_CONTEXT, complete(c, state, cubinOut, sizeOut));
}

static cudaError_t destroy(CudaContext *c, CUlinkState handle) {
    LinkState *state = find(c, handle);
    if (!state) return cudaErrorInvalidResourceHandle;
    for (u32 i = 0; i < state->inputs.len; i++) {
        mem_free(state->inputs.data[i].text);
        mem_free(state->inputs.data[i].name);
    }
    vec_free(&state->inputs);
    vec_free(&state->result);
    object_delete(&c->objects, state);
    return cudaSuccess;
}

CUDA_API CUresult cuLinkDestroy(CUlinkState state) { DRIVER_RETURN(c, DRIVER_CONTEXT, destroy(c, state)); }
