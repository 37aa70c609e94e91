// SPDX-License-Identifier: Apache-2.0
#include "cuda/driver/jit.h"

#include <ctype.h>
#include <elf.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

cudaError_t jit_check(const JitOptions *o) {
    if (o->count && (!o->names || !o->values)) return cudaErrorInvalidValue;
    for (unsigned i = 0; i < o->count; i++)
        if ((unsigned)o->names[i] >= CU_JIT_NUM_OPTIONS) return cudaErrorInvalidValue;
    return cudaSuccess;
}

static void **value_of(const JitOptions *o, CUjit_option name) {
    for (unsigned i = 0; i < o->count; i++)
        if (o->names[i] == name) return &o->values[i];
    return NULL;
}

// Fills a log buffer with the entries that `wanted` says, a line each; its size option becomes the bytes written.
static void fill_log(const JitOptions *o, CUjit_option buffer_name, CUjit_option size_name, const Diag *diag,
                     bool errors) {
    void **buffer = value_of(o, buffer_name), **size = value_of(o, size_name);
    if (!buffer || !*buffer || !size || !*size) return;
    size_t room = (size_t)(uintptr_t)*size, used = 0;
    char *to = *buffer, line[1024];
    *to = 0;
    for (u32 i = 0; i < diag->entries.len; i++) {
        const DiagEntry *entry = &diag->entries.data[i];
        if ((entry->severity == DIAG_ERROR) != errors) continue;
        diag_format(entry, line, sizeof line);
        int length = snprintf(to + used, room - used, "%s\n", line);
        if (length < 0) break;
        used += (size_t)length;
        if (used >= room) {
            used = room - 1;
            break;
        }
    }
    *size = (void *)(uintptr_t)(used ? used + 1 : 0);
}

void jit_report(CudaContext *c, const JitOptions *o, const Diag *diag, u64 begin_ns) {
    cuda_message_diag(c, diag);
    fill_log(o, CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, diag, false);
    fill_log(o, CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, diag, true);
    void **wall_time = value_of(o, CU_JIT_WALL_TIME);
    float ms = (float)((double)(cuda_now() - begin_ns) * 1e-6);
    if (wall_time) memcpy(wall_time, &ms, sizeof ms);
}

// A text that is no PTX, or PTX for another device, is a text that cannot be compiled.
static cudaError_t image_error(Status status, bool is_text) {
    switch (status) {
    case STATUS_OK: return cudaSuccess;
    case STATUS_NOT_FOUND: return is_text ? cudaErrorInvalidPtx : cudaErrorNoKernelImageForDevice;
    case STATUS_NO_MEMORY: return cudaErrorMemoryAllocation;
    default: return cudaErrorInvalidKernelImage;
    }
}

// --- code that came with PTX ---

typedef struct JitCode {
    u8 *cubin;
    size_t size;
    char *ptx;
} JitCode;

typedef struct JitMemory {
    Vec(JitCode) codes;
} JitMemory;

void jit_remember(const void *cubin, size_t size, char *ptx) {
    CudaContext *c;
    (void)driver_enter(&c, DRIVER_NOTHING);
    if (!c->jit) c->jit = mem_zero(1, sizeof *c->jit);
    JitCode code = {mem_alloc(size), size, ptx};
    if (code.cubin) memcpy(code.cubin, cubin, size);
    if (!c->jit || !code.cubin || jit_recall(c, cubin) || vec_push(&c->jit->codes, code) != STATUS_OK) {
        mem_free(code.cubin);
        mem_free(ptx);
    }
    (void)driver_leave(c, cudaSuccess);
}

// How long an ELF file says it is: where its tables end.
static u64 elf_extent(const void *image) {
    Elf64_Ehdr header;
    memcpy(&header, image, sizeof header);
    u64 sections = header.e_shoff + (u64)header.e_shnum * header.e_shentsize;
    u64 segments = header.e_phoff + (u64)header.e_phnum * header.e_phentsize;
    return sections > segments ? sections : segments;
}

const char *jit_recall(CudaContext *c, const void *image) {
    if (!c->jit || strncmp(image, ELFMAG, SELFMAG) != 0) return NULL;
    for (u32 i = 0; i < c->jit->codes.len; i++) {
        const JitCode *code = &c->jit->codes.data[i];
        if (code->size < sizeof(Elf64_Ehdr) || memcmp(code->cubin, image, sizeof(Elf64_Ehdr)) != 0) continue;
        u64 extent = elf_extent(image);  // the same of both
        if (memcmp(code->cubin, image, extent < code->size ? extent : code->size) == 0) return code->ptx;
    }
    return NULL;
}

// --- what programs load ---

cudaError_t jit_image(CudaContext *c, const void *bytes, BinaryImage *image, Diag *diag) {
    if (!bytes) return cudaErrorInvalidValue;
    const char *known = jit_recall(c, bytes);
    const u8 *begin = bytes;  // the binary formats have no text in their first two bytes
    bool is_text = isascii(begin[0]) && isprint(begin[0]) && isascii(begin[1]) && isprint(begin[1]);
    if (known) bytes = known;
    return image_error(binary_ptx_from_image(bytes, (u32)cuda_gpu(c)->sm_version, image, diag), is_text);
}

cudaError_t jit_file(CudaContext *c, const char *path, BinaryImage *image, Diag *diag) {
    BinaryImages images = {0};
    if (!path) return cudaErrorInvalidValue;
    if (access(path, R_OK) != 0) return cudaErrorFileNotFound;
    Status status = binary_ptx_from_file(path, (u32)cuda_gpu(c)->sm_version, &images, diag);
    if (status == STATUS_OK && images.len > 1) {
        diag_text(diag, DIAG_ERROR, path, 0, 0, "this file has %u modules; one is expected", images.len);
        status = STATUS_INVALID;
    }
    if (status == STATUS_OK) {
        *image = images.data[0];
        images.len = 0;
    }
    binary_images_free(&images);
    return image_error(status, false);
}
