// SPDX-License-Identifier: Apache-2.0
// Memory of the simulated devices, as programs allocate it and point into it.
#ifndef WL_CUDA_MEMORY_H
#define WL_CUDA_MEMORY_H

#include "cuda/context.h"

void device_defaults(CudaDevice *device);

// Allocates on the current device, or on a given one, and records it. `record_kind` is RecordAlloc.kind.
cudaError_t memory_new(CudaContext *c, SimMemoryKind kind, u32 record_kind, u64 size, void **address);
cudaError_t memory_new_on(CudaContext *c, int device, SimMemoryKind kind, u32 record_kind, u64 size, void **address);
cudaError_t memory_release(CudaContext *c, const SimAllocation *allocation, u32 record_kind);
// Tells the checker of a pointer that is not the start of an allocation; gives the error that a GPU gives.
cudaError_t memory_bad_free(CudaContext *c, const void *pointer);

#define MEMORY_ALIGNMENT 512u  // of allocations: what textures need (cudaDevAttrTextureAlignment)

// How a copy may use an address.
typedef enum MemorySide { SIDE_HOST, SIDE_DEVICE, SIDE_ANY } MemorySide;
// The bytes [address, address + size) in this process, or cudaErrorInvalidValue. A device side must lie inside one
// allocation; a host side may be any memory of the program. `*kind` (may be NULL) becomes the kind of allocation,
// MEMORY_KIND_COUNT for memory that CUDA does not know.
cudaError_t memory_view(CudaContext *c, const void *address, u64 size, MemorySide side, u8 **bytes, u32 *kind);

// Row length in bytes that cudaMallocPitch, arrays and cudaMalloc3D use.
#define MEMORY_PITCH 512u
static inline size_t memory_pitch(size_t width) { return (width + MEMORY_PITCH - 1) / MEMORY_PITCH * MEMORY_PITCH; }

#endif
