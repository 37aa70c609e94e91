// SPDX-License-Identifier: Apache-2.0
// The address space of the simulated machine. Device memory has addresses in a reserved, inaccessible window, so that a
// host access to it faults as it does on hardware; its bytes lie in a second window at a fixed distance. Managed,
// pinned and registered memory has the same address on both sides.
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "sim/check/check.h"

#define ALIGNMENT 256ull  // cudaMalloc promises at least this much
#define WINDOW_ALIGN (1ull << 30)
#define RED_ZONE 256ull            // never allocated space behind each block, so that overruns hit nothing
#define RED_ZONE_CHECKED 65536ull  // ... while checking: larger overruns are found too

static const u64 window_sizes[] = {1ull << 40, 1ull << 37, 1ull << 34, 1ull << 32};

// Addresses are the same in each run where they can be, because caches and DRAM of the timing model depend on them:
// nothing lies here in a Linux process of 64 bits, with ThreadSanitizer's exception.
#define PLACE_WINDOW (1ull << 45)
#define PLACE_HOST (PLACE_WINDOW + (1ull << 42))
#define HOST_ALIGN (1ull << 21)

// At `place` if that is free, else elsewhere.
static u8 *reserve(u64 place, u64 size, int protection) {
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    void *p = mmap((void *)(uintptr_t)place, size, protection, flags, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

// At a multiple of WINDOW_ALIGN, so that offsets in the window and addresses have the same alignment.
static u8 *reserve_aligned(u64 size) {
    u8 *p = reserve(PLACE_WINDOW, size + WINDOW_ALIGN, PROT_NONE);
    if (!p) return NULL;
    u64 before = WINDOW_ALIGN - (u64)(uintptr_t)p % WINDOW_ALIGN;
    if (before == WINDOW_ALIGN) before = 0;
    if (before) munmap(p, before);
    munmap(p + before + size, WINDOW_ALIGN - before);
    return p + before;
}

Status memory_init(Sim *sim) {
    for (u32 i = 0; i < WL_COUNT(window_sizes); i++) {
        u8 *base = reserve_aligned(window_sizes[i]);
        u8 *backing = base ? reserve(0, window_sizes[i], PROT_READ | PROT_WRITE) : NULL;
        if (backing) {
            madvise(backing, window_sizes[i], MADV_HUGEPAGE);  // fewer TLB misses; where refused, small pages do
            sim->window = (SimWindow){.base = base, .backing = backing, .size = window_sizes[i]};
            return STATUS_OK;
        }
        if (base) munmap(base, window_sizes[i]);
    }
    return STATUS_NO_MEMORY;
}

static bool host_block(u8 kind) { return kind == MEMORY_MANAGED || kind == MEMORY_PINNED; }

void memory_destroy(Sim *sim) {
    for (u32 i = 0; i < sim->allocations.len; i++) {
        SimAllocation *a = &sim->allocations.data[i];
        if (host_block(a->kind)) munmap(a->host, a->size);
        mem_free(a->written);
    }
    vec_free(&sim->allocations);
    vec_free(&sim->free_blocks);
    if (sim->window.base) {
        munmap(sim->window.base, sim->window.size);
        munmap(sim->window.backing, sim->window.size);
    }
}

// Position of the first allocation whose address is above `address`.
static u32 upper_bound(const AllocationList *list, u64 address) {
    u32 low = 0, high = list->len;
    while (low < high) {
        u32 mid = (low + high) / 2;
        if (list->data[mid].address <= address)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

SimAllocation *memory_lookup(const Sim *sim, u64 address) {
    u32 at = upper_bound(&sim->allocations, address);
    if (at == 0) return NULL;
    SimAllocation *a = &sim->allocations.data[at - 1];
    return address - a->address < a->size ? a : NULL;
}

const SimAllocation *sim_find(const Sim *sim, DevicePtr address) { return memory_lookup(sim, address); }

void sim_set_label(Sim *sim, DevicePtr address, const char *label) {
    SimAllocation *a = memory_lookup(sim, address);
    if (a) a->label = label;
}

const SimAllocation *sim_nearest(const Sim *sim, DevicePtr address) {
    u32 at = upper_bound(&sim->allocations, address);
    const SimAllocation *below = at > 0 ? &sim->allocations.data[at - 1] : NULL;
    const SimAllocation *above = at < sim->allocations.len ? &sim->allocations.data[at] : NULL;
    if (!below || !above) return below ? below : above;
    u64 past = address - (below->address + below->size);
    return address < below->address + below->size || past <= above->address - address ? below : above;
}

Status memory_insert(Sim *sim, SimAllocation allocation) {
    TRY(vec_reserve(&sim->allocations, 1));
    allocation.serial = ++sim->serial;
    u32 at = upper_bound(&sim->allocations, allocation.address);
    SimAllocation *data = sim->allocations.data;
    memmove(&data[at + 1], &data[at], sizeof *data * (sim->allocations.len - at));
    data[at] = allocation;
    sim->allocations.len++;
    sim->generation++;
    if (sim->check) check_allocated(sim->check, &data[at]);
    return STATUS_OK;
}

void memory_remove(Sim *sim, const SimAllocation *a) {
    if (sim->check && a->mapped) check_unmapped(sim->check, a);
    u32 at = (u32)(a - sim->allocations.data);
    SimAllocation *data = sim->allocations.data;
    memmove(&data[at], &data[at + 1], sizeof *data * (sim->allocations.len - at - 1));
    sim->allocations.len--;
    sim->generation++;
}

// First fit among freed blocks, then fresh addresses. Returns an offset in the window, UINT64_MAX when it is full.
static u64 window_take(Sim *sim, u64 size, u64 align) {
    for (u32 i = 0; i < sim->free_blocks.len; i++) {
        SimFreeBlock *block = &sim->free_blocks.data[i];
        u64 start = (block->offset + align - 1) & ~(align - 1);
        if (start != block->offset || block->size < size) continue;
        block->offset += size;
        block->size -= size;
        if (block->size == 0) {
            memmove(block, block + 1, sizeof *block * (sim->free_blocks.len - i - 1));
            sim->free_blocks.len--;
        }
        return start;
    }
    u64 start = (sim->window.next + align - 1) & ~(align - 1);
    if (start > sim->window.size || size > sim->window.size - start) return UINT64_MAX;
    sim->window.next = start + size;
    return start;
}

static void window_clear(Sim *sim, u64 offset, u64 size) {
    // Whole pages go back to the system; the ragged ends are cleared, so that a block always starts as zeros.
    u64 page = 4096, from = (offset + page - 1) & ~(page - 1), to = (offset + size) & ~(page - 1);
    u8 *backing = sim->window.backing;
    if (from < to) {
        memset(backing + offset, 0, from - offset);
        madvise(backing + from, to - from, MADV_DONTNEED);
        memset(backing + to, 0, offset + size - to);
    } else {
        memset(backing + offset, 0, size);
    }
}

static void window_give(Sim *sim, u64 offset, u64 size) {
    u32 at = 0;
    while (at < sim->free_blocks.len && sim->free_blocks.data[at].offset < offset) at++;
    if (vec_reserve(&sim->free_blocks, 1) != STATUS_OK) return;  // the addresses are lost, nothing else
    SimFreeBlock *blocks = sim->free_blocks.data;
    memmove(&blocks[at + 1], &blocks[at], sizeof *blocks * (sim->free_blocks.len - at));
    blocks[at] = (SimFreeBlock){offset, size};
    sim->free_blocks.len++;
    for (u32 i = at ? at - 1 : 0; i + 1 < sim->free_blocks.len && i <= at + 1;) {  // join neighbours
        if (blocks[i].offset + blocks[i].size != blocks[i + 1].offset) {
            i++;
            continue;
        }
        blocks[i].size += blocks[i + 1].size;
        memmove(&blocks[i + 1], &blocks[i + 2], sizeof *blocks * (sim->free_blocks.len - i - 2));
        sim->free_blocks.len--;
    }
}

static u64 block_span(const Sim *sim, u64 size) {
    return ((size + ALIGNMENT - 1) & ~(ALIGNMENT - 1)) + (sim->check ? RED_ZONE_CHECKED : RED_ZONE);
}

Status memory_take(Sim *sim, u64 size, u64 align, u64 *offset) {
    *offset = window_take(sim, block_span(sim, size), align > ALIGNMENT ? align : ALIGNMENT);
    return *offset == UINT64_MAX ? STATUS_NO_MEMORY : STATUS_OK;
}

void memory_give(Sim *sim, u64 offset, u64 size) {
    window_clear(sim, offset, block_span(sim, size));
    window_give(sim, offset, block_span(sim, size));
}

static Status alloc_window(Sim *sim, SimAllocation *a, u64 align) {
    u64 offset;
    TRY(memory_take(sim, a->size, align, &offset));
    a->address = (u64)(uintptr_t)sim->window.base + offset;
    a->host = sim->window.backing + offset;
    return STATUS_OK;
}

Status sim_alloc(Sim *sim, u32 device, SimMemoryKind kind, u64 size, u64 align, DevicePtr *address) {
    SimAllocation a = {.size = size, .device = device, .kind = (u8)kind};
    if (size == 0 || size > (1ull << 46)) return size == 0 ? STATUS_INVALID : STATUS_NO_MEMORY;
    u64 capacity = sim_gpu(sim, device)->memory_bytes;
    if (kind == MEMORY_DEVICE && (size > capacity || sim->devices[device].used > capacity - size))
        return STATUS_NO_MEMORY;
    if (host_block((u8)kind)) {
        u64 room = (size + HOST_ALIGN - 1) / HOST_ALIGN * HOST_ALIGN;
        a.host = reserve(PLACE_HOST + sim->host_next, size, PROT_READ | PROT_WRITE);
        sim->host_next += room;
        if (!a.host) return STATUS_NO_MEMORY;
        a.address = (u64)(uintptr_t)a.host;
    } else {
        TRY(alloc_window(sim, &a, align));
    }
    TRY(memory_insert(sim, a));
    if (kind == MEMORY_DEVICE) sim->devices[device].used += size;
    *address = a.address;
    return STATUS_OK;
}

Status sim_register_host(Sim *sim, void *host, u64 size) {
    u64 address = (u64)(uintptr_t)host;
    if (!host || size == 0 || address + size < address) return STATUS_INVALID;
    u32 at = upper_bound(&sim->allocations, address + size - 1);
    if (at > 0 && sim->allocations.data[at - 1].address + sim->allocations.data[at - 1].size > address)
        return STATUS_EXISTS;
    return memory_insert(sim, (SimAllocation){.address = address, .size = size, .host = host, .kind = MEMORY_HOST});
}

void memory_reuse(Sim *sim, const SimAllocation *a) {
    window_give(sim, a->address - (u64)(uintptr_t)sim->window.base, block_span(sim, a->size));
}

Status sim_free(Sim *sim, DevicePtr address) {
    SimAllocation *a = memory_lookup(sim, address);
    if (!a || a->address != address || a->mapped) return STATUS_NOT_FOUND;
    if (a->kind == MEMORY_DEVICE) sim->devices[a->device].used -= a->size;
    bool keep = sim->check && check_freed(sim->check, a);  // in quarantine, which ends with memory_reuse
    if (host_block(a->kind)) {
        munmap(a->host, a->size);
    } else if (a->kind != MEMORY_HOST) {
        window_clear(sim, address - (u64)(uintptr_t)sim->window.base, block_span(sim, a->size));
        if (!keep) memory_reuse(sim, a);
    }
    memory_remove(sim, a);
    return STATUS_OK;
}

static bool in_window(const Sim *sim, u64 address) {
    return address - (u64)(uintptr_t)sim->window.base < sim->window.size;
}

void *sim_host_view(const Sim *sim, DevicePtr address, u64 size, const SimAllocation **allocation) {
    const SimAllocation *a = memory_lookup(sim, address);
    if (allocation) *allocation = a;
    if (!a) return in_window(sim, address) ? NULL : (void *)(uintptr_t)address;
    u64 offset = address - a->address;
    if (size > a->size - offset) return NULL;
    return a->host + offset;
}

void sim_set_peer(Sim *sim, u32 device, u32 peer, bool enabled) {
    u64 bit = 1ull << peer, *peers = &sim->devices[device].peers;
    *peers = enabled ? *peers | bit : *peers & ~bit;
}

void sim_set_sharing(Sim *sim, DevicePtr address, u64 devices) {
    SimAllocation *a = memory_lookup(sim, address);
    if (!a) return;
    a->pooled = true;
    a->sharing = devices;
}

void sim_set_heap_limit(Sim *sim, u32 device, u64 bytes) { sim->devices[device].heap_limit = bytes; }

bool memory_reaches(const Sim *sim, u32 device, const SimAllocation *a) {
    bool local = a->device == device || (a->kind != MEMORY_DEVICE && a->kind != MEMORY_MODULE);
    u64 devices = a->pooled ? a->sharing : sim->devices[device].peers;
    return local || devices >> (a->pooled ? device : a->device) & 1;
}

static bool reaches_page(const Sim *sim, u32 device, const SimAllocation *a, u64 page) {
    u64 size = sim->config.page;
    bool near = (a->address & ~(size - 1)) <= page && page <= ((a->address + a->size - 1) & ~(size - 1));
    bool own = (a->kind == MEMORY_DEVICE || a->kind == MEMORY_MODULE) && !a->mapped;
    return near && own && memory_reaches(sim, device, a);
}

u8 *memory_beyond(const Sim *sim, u32 device, u64 address, u32 bytes, bool store) {
    static u8 driver[sizeof(u64) * 16];  // the page before the first allocation is the driver's; zeros are read there
    u64 size = sim->config.page, page = address & ~(size - 1), offset = address - (u64)(uintptr_t)sim->window.base;
    if (!size || address + bytes > page + size) return NULL;
    if (page + size == (u64)(uintptr_t)sim->window.base) return bytes <= sizeof driver && !store ? driver : NULL;
    if (!in_window(sim, address)) return NULL;
    u32 at = upper_bound(&sim->allocations, address);
    const SimAllocation *list = sim->allocations.data;
    bool below = at > 0 && reaches_page(sim, device, &list[at - 1], page);
    bool above = at < sim->allocations.len && reaches_page(sim, device, &list[at], page);
    return below || above ? sim->window.backing + offset : NULL;
}

void sim_memory_info(const Sim *sim, u32 device, u64 *free_bytes, u64 *total_bytes) {
    *total_bytes = sim_gpu(sim, device)->memory_bytes;
    *free_bytes = *total_bytes - sim->devices[device].used;
}
