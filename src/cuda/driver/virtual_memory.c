// SPDX-License-Identifier: Apache-2.0
// Virtual memory management: reserved addresses, memory without addresses, and the mapping of one to the other
// (sim/mapping.c). Memory is an anonymous file, so that it can be mapped several times, and handed to another process
// as a file descriptor.
#include "cuda/driver/virtual_memory.h"

#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cuda/driver/driver_api.h"
#include "cuda/pending.h"

typedef struct Physical {  // memory without addresses
    u64 size;
    CUmemAllocationProp prop;
    int file;
    u32 handles, mappings;
} Physical;

typedef struct Reservation {
    u64 address, size;
} Reservation;

typedef struct Mapping {
    u64 address, size;
    Physical *physical;
    u64 readers, writers;  // bit d: device d
} Mapping;

typedef struct CudaVirtual {
    Vec(Reservation) reservations;
    Vec(Mapping) mappings;
} CudaVirtual;

static CudaVirtual *table(CudaContext *c) {
    if (!c->virtual_memory) c->virtual_memory = mem_zero(1, sizeof *c->virtual_memory);
    return c->virtual_memory;
}

static bool whole(u64 n) { return n && n % MAPPING_UNIT == 0; }

// --- addresses ---

static cudaError_t reserve(CudaContext *c, CUdeviceptr *to, size_t size, size_t align, unsigned long long flags) {
    CudaVirtual *v = table(c);
    DevicePtr address;
    if (!to || !whole(size) || flags || (align && align & (align - 1))) return cudaErrorInvalidValue;
    if (!v || vec_reserve(&v->reservations, 1) != STATUS_OK) return cudaErrorMemoryAllocation;
    Status status = sim_reserve(c->sim, size, align > MAPPING_UNIT ? align : MAPPING_UNIT, &address);
    if (status != STATUS_OK) return cuda_error_of(status);
    v->reservations.data[v->reservations.len++] = (Reservation){address, size};
    *to = address;
    return cudaSuccess;
}

CUDA_API CUresult cuMemAddressReserve(CUdeviceptr *ptr, size_t size, size_t alignment, CUdeviceptr addr,
                                      unsigned long long flags) {
    (void)addr;  // a hint
    DRIVER_RETURN(c, DRIVER_READY, reserve(c, ptr, size, alignment, flags));
}

// Whether [address, address + size) is reserved, as a part of one reservation.
static bool is_reserved(const CudaVirtual *v, u64 address, u64 size) {
    for (u32 i = 0; i < v->reservations.len; i++) {
        const Reservation *r = &v->reservations.data[i];
        if (address >= r->address && size <= r->size && address - r->address <= r->size - size) return true;
    }
    return false;
}

static bool overlaps(const Mapping *m, u64 address, u64 size) {
    return address < m->address + m->size && m->address < address + size;
}

static bool is_mapped(const CudaVirtual *v, u64 address, u64 size) {
    for (u32 i = 0; i < v->mappings.len; i++)
        if (overlaps(&v->mappings.data[i], address, size)) return true;
    return false;
}

static cudaError_t release_addresses(CudaContext *c, CUdeviceptr address, size_t size) {
    CudaVirtual *v = table(c);
    for (u32 i = 0; v && i < v->reservations.len; i++) {
        if (v->reservations.data[i].address != address || v->reservations.data[i].size != size) continue;
        if (is_mapped(v, address, size)) return cudaErrorInvalidValue;
        sim_unreserve(c->sim, address, size);
        v->reservations.data[i] = v->reservations.data[--v->reservations.len];
        return cudaSuccess;
    }
    return cudaErrorInvalidValue;
}

CUDA_API CUresult cuMemAddressFree(CUdeviceptr ptr, size_t size) {
    DRIVER_RETURN(c, DRIVER_READY, release_addresses(c, ptr, size));
}

// --- memory ---

static Physical *find(CudaContext *c, CUmemGenericAllocationHandle handle) {
    return object_get(&c->objects, driver_pointer(handle), OBJECT_PHYSICAL);
}

static cudaError_t check_prop(CudaContext *c, const CUmemAllocationProp *p) {
    if (!p || p->type != cudaMemAllocationTypePinned) return cudaErrorInvalidValue;
    if (p->location.type == cudaMemLocationTypeHost || p->location.type == cudaMemLocationTypeHostNuma ||
        p->location.type == cudaMemLocationTypeHostNumaCurrent)
        return cudaErrorNotSupported;  // as the attributes of the devices say
    if (p->location.type != cudaMemLocationTypeDevice) return cudaErrorInvalidValue;
    if (p->location.id < 0 || (u32)p->location.id >= c->config.devices) return cudaErrorInvalidDevice;
    if (p->requestedHandleTypes & ~CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) return cudaErrorNotSupported;
    return cudaSuccess;
}

static cudaError_t granularity(CudaContext *c, size_t *to, const CUmemAllocationProp *prop,
                               CUmemAllocationGranularity_flags option) {
    if (!to || (unsigned)option > CU_MEM_ALLOC_GRANULARITY_RECOMMENDED) return cudaErrorInvalidValue;
    cudaError_t error = check_prop(c, prop);
    if (error == cudaSuccess) *to = MAPPING_UNIT;
    return error;
}

CUDA_API CUresult cuMemGetAllocationGranularity(size_t *granularity_out, const CUmemAllocationProp *prop,
                                                CUmemAllocationGranularity_flags option) {
    DRIVER_RETURN(c, DRIVER_READY, granularity(c, granularity_out, prop, option));
}

// Takes over the file, in any case.
static cudaError_t keep(CudaContext *c, CUmemGenericAllocationHandle *to, Physical with) {
    Physical *p = object_new(&c->objects, OBJECT_PHYSICAL, sizeof *p);
    Status status = p ? sim_claim(c->sim, (u32)with.prop.location.id, with.size) : STATUS_NO_MEMORY;
    if (status != STATUS_OK) {
        close(with.file);
        if (p) object_delete(&c->objects, p);
        return cuda_error_of(status);
    }
    *p = with;
    p->handles = 1;
    *to = driver_address(p);
    return cudaSuccess;
}

static cudaError_t create(CudaContext *c, CUmemGenericAllocationHandle *to, size_t size,
                          const CUmemAllocationProp *prop, unsigned long long flags) {
    if (!to || !whole(size) || flags) return cudaErrorInvalidValue;
    cudaError_t error = check_prop(c, prop);
    if (error != cudaSuccess) return error;
    if (size > c->gpus[prop->location.id].memory_bytes) return cudaErrorMemoryAllocation;
    int file = memfd_create("warplens-device-memory", MFD_CLOEXEC);
    if (file < 0) return cudaErrorMemoryAllocation;
    if (ftruncate(file, (off_t)size) != 0) {
        close(file);
        return cudaErrorMemoryAllocation;
    }
    return keep(c, to, (Physical){.size = size, .prop = *prop, .file = file});
}

CUDA_API CUresult cuMemCreate(CUmemGenericAllocationHandle *handle, size_t size, const CUmemAllocationProp *prop,
                              unsigned long long flags) {
    DRIVER_RETURN(c, DRIVER_READY, create(c, handle, size, prop, flags));
}

// Its handle ends with the last one released, its memory with the last mapping.
static void drop_unused(CudaContext *c, Physical *p) {
    if (p->handles || p->mappings) return;
    sim_unclaim(c->sim, (u32)p->prop.location.id, p->size);
    close(p->file);
    object_delete(&c->objects, p);
}

static cudaError_t release(CudaContext *c, CUmemGenericAllocationHandle handle) {
    Physical *p = find(c, handle);
    if (!p || !p->handles) return cudaErrorInvalidValue;
    p->handles--;
    drop_unused(c, p);
    return cudaSuccess;
}

CUDA_API CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
    DRIVER_RETURN(c, DRIVER_READY, release(c, handle));
}

static cudaError_t get_prop(CudaContext *c, CUmemAllocationProp *to, CUmemGenericAllocationHandle handle) {
    const Physical *p = find(c, handle);
    if (!to || !p) return cudaErrorInvalidValue;
    *to = p->prop;
    return cudaSuccess;
}

CUDA_API CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp *prop,
                                                         CUmemGenericAllocationHandle handle) {
    DRIVER_RETURN(c, DRIVER_READY, get_prop(c, prop, handle));
}

static cudaError_t export_handle(CudaContext *c, void *to, CUmemGenericAllocationHandle handle,
                                 CUmemAllocationHandleType type, unsigned long long flags) {
    const Physical *p = find(c, handle);
    if (!to || !p || flags || !(type & p->prop.requestedHandleTypes)) return cudaErrorInvalidValue;
    int file = fcntl(p->file, F_DUPFD_CLOEXEC, 0);
    if (file < 0) return cudaErrorOperatingSystem;
    memcpy(to, &file, sizeof file);
    return cudaSuccess;
}

CUDA_API CUresult cuMemExportToShareableHandle(void *shareableHandle, CUmemGenericAllocationHandle handle,
                                               CUmemAllocationHandleType handleType, unsigned long long flags) {
    DRIVER_RETURN(c, DRIVER_READY, export_handle(c, shareableHandle, handle, handleType, flags));
}

// The descriptor may be another process's memory. It is taken for the calling thread's device.
static cudaError_t import_handle(CudaContext *c, CUmemGenericAllocationHandle *to, void *os_handle,
                                 CUmemAllocationHandleType type) {
    struct stat info;
    if (!to || type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) return cudaErrorInvalidValue;
    int file = fcntl((int)(uintptr_t)os_handle, F_DUPFD_CLOEXEC, 0);
    if (file < 0) return cudaErrorInvalidValue;
    if (fstat(file, &info) != 0 || !S_ISREG(info.st_mode) || !whole((u64)info.st_size)) {
        close(file);
        return cudaErrorInvalidValue;
    }
    CUmemAllocationProp prop = {.type = cudaMemAllocationTypePinned,
                                .requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                                .location = {cudaMemLocationTypeDevice, cuda_thread()->device}};
    return keep(c, to, (Physical){.size = (u64)info.st_size, .prop = prop, .file = file});
}

CUDA_API CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle *handle, void *osHandle,
                                                 CUmemAllocationHandleType shHandleType) {
    DRIVER_RETURN(c, DRIVER_READY, import_handle(c, handle, osHandle, shHandleType));
}

// --- mappings ---

static cudaError_t map(CudaContext *c, CUdeviceptr address, size_t size, size_t offset,
                       CUmemGenericAllocationHandle handle, unsigned long long flags) {
    CudaVirtual *v = table(c);
    Physical *p = find(c, handle);
    if (!p || flags || address % MAPPING_UNIT || !whole(size)) return cudaErrorInvalidValue;
    if (offset || size > p->size) return cudaErrorNotSupported;  // so on an H200: memory is mapped from its start
    if (!v || vec_reserve(&v->mappings, 1) != STATUS_OK) return cudaErrorMemoryAllocation;
    if (!is_reserved(v, address, size) || is_mapped(v, address, size)) return cudaErrorInvalidValue;
    if (sim_map(c->sim, address, size, p->file, 0) != STATUS_OK) return cudaErrorMemoryAllocation;
    v->mappings.data[v->mappings.len++] = (Mapping){.address = address, .size = size, .physical = p};
    p->mappings++;
    return cudaSuccess;
}

CUDA_API CUresult cuMemMap(CUdeviceptr ptr, size_t size, size_t offset, CUmemGenericAllocationHandle handle,
                           unsigned long long flags) {
    DRIVER_RETURN(c, DRIVER_READY, map(c, ptr, size, offset, handle, flags));
}

static Mapping *mapping_at(const CudaVirtual *v, u64 address) {
    for (u32 i = 0; v && i < v->mappings.len; i++)
        if (overlaps(&v->mappings.data[i], address, 1)) return &v->mappings.data[i];
    return NULL;
}

// Whether the range is made of whole mappings without gaps.
static bool covered(const CudaVirtual *v, u64 address, u64 size) {
    u64 end = address + size;
    while (address < end) {
        const Mapping *m = mapping_at(v, address);
        if (!m || m->address != address || m->size > end - address) return false;
        address += m->size;
    }
    return true;
}

// No mapping may be cut; what is not mapped does not matter.
static bool may_unmap(const CudaVirtual *v, u64 address, u64 size) {
    for (u32 i = 0; i < v->mappings.len; i++) {
        const Mapping *m = &v->mappings.data[i];
        bool inside = m->address >= address && m->address + m->size <= address + size;
        if (overlaps(m, address, size) && !inside) return false;
    }
    return is_reserved(v, address, size);
}

static cudaError_t unmap(CudaContext *c, CUdeviceptr address, size_t size) {
    CudaVirtual *v = table(c);
    if (!v || !whole(size) || address % MAPPING_UNIT || !may_unmap(v, address, size)) return cudaErrorInvalidValue;
    (void)pending_settle(c);
    if (sim_unmap(c->sim, address, size) != STATUS_OK) return cudaErrorMemoryAllocation;
    for (u32 i = v->mappings.len; i-- > 0;) {
        if (!overlaps(&v->mappings.data[i], address, size)) continue;
        Physical *p = v->mappings.data[i].physical;
        v->mappings.data[i] = v->mappings.data[--v->mappings.len];
        p->mappings--;
        drop_unused(c, p);
    }
    return cudaSuccess;
}

CUDA_API CUresult cuMemUnmap(CUdeviceptr ptr, size_t size) { DRIVER_RETURN(c, DRIVER_READY, unmap(c, ptr, size)); }

static cudaError_t check_access(CudaContext *c, const CUmemAccessDesc *desc) {
    if (desc->location.type != cudaMemLocationTypeDevice) return cudaErrorInvalidValue;
    if (desc->location.id < 0 || (u32)desc->location.id >= c->config.devices) return cudaErrorInvalidDevice;
    bool known = desc->flags == cudaMemAccessFlagsProtNone || desc->flags == cudaMemAccessFlagsProtRead ||
                 desc->flags == cudaMemAccessFlagsProtReadWrite;
    return known ? cudaSuccess : cudaErrorInvalidValue;
}

// Writing is allowed to all or to none of the devices that may read.
static Status apply_access(CudaContext *c, const Mapping *m) {
    if (!m->readers) return sim_hide(c->sim, m->address, m->size);
    return sim_expose(c->sim, m->address, m->size, (u32)m->physical->prop.location.id, m->readers, !m->writers);
}

static cudaError_t set_access(CudaContext *c, CUdeviceptr address, size_t size, const CUmemAccessDesc *list, size_t n) {
    (void)pending_settle(c);
    CudaVirtual *v = table(c);
    if (!v || !list || !n || !whole(size) || !covered(v, address, size)) return cudaErrorInvalidValue;
    for (size_t i = 0; i < n; i++) {
        cudaError_t error = check_access(c, &list[i]);
        if (error != cudaSuccess) return error;
    }
    for (u64 at = address; at < address + size;) {
        Mapping *m = mapping_at(v, at);
        for (size_t i = 0; i < n; i++) {
            u64 bit = 1ull << list[i].location.id;
            m->readers = list[i].flags & cudaMemAccessFlagsProtRead ? m->readers | bit : m->readers & ~bit;
            m->writers = list[i].flags & 2 ? m->writers | bit : m->writers & ~bit;
        }
        if (apply_access(c, m) != STATUS_OK) return cudaErrorMemoryAllocation;
        at += m->size;
    }
    return cudaSuccess;
}

CUDA_API CUresult cuMemSetAccess(CUdeviceptr ptr, size_t size, const CUmemAccessDesc *desc, size_t count) {
    DRIVER_RETURN(c, DRIVER_READY, set_access(c, ptr, size, desc, count));
}

static cudaError_t get_access(CudaContext *c, unsigned long long *to, const CUmemLocation *location,
                              CUdeviceptr address) {
    const Mapping *m = mapping_at(table(c), address);
    if (!to || !location || !m || location->type != cudaMemLocationTypeDevice) return cudaErrorInvalidValue;
    if (location->id < 0 || (u32)location->id >= c->config.devices) return cudaErrorInvalidDevice;
    *to = (m->readers >> location->id & 1) | (m->writers >> location->id & 1) << 1;
    return cudaSuccess;
}

CUDA_API CUresult cuMemGetAccess(unsigned long long *flags, const CUmemLocation *location, CUdeviceptr ptr) {
    DRIVER_RETURN(c, DRIVER_READY, get_access(c, flags, location, ptr));
}

bool virtual_range(CudaContext *c, u64 address, CUdeviceptr *base, size_t *size) {
    const Mapping *m = mapping_at(table(c), address);
    if (m && base) *base = m->address;
    if (m && size) *size = m->size;
    return m != NULL;
}

static cudaError_t retain(CudaContext *c, CUmemGenericAllocationHandle *to, const void *address) {
    const Mapping *m = mapping_at(table(c), driver_address(address));
    if (!to || !m) return cudaErrorInvalidValue;
    m->physical->handles++;
    *to = driver_address(m->physical);
    return cudaSuccess;
}

CUDA_API CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *handle, void *addr) {
    DRIVER_RETURN(c, DRIVER_READY, retain(c, handle, addr));
}
