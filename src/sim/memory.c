// SPDX-License-Identifier: Apache-2.0
// The address space of the simulated machine. Device memory has addresses in a reserved, inaccessible window, so that a
// host access to it faults as it does on hardware; its bytes lie in a second window at a fixed distance. Managed,
// pinned and registered memory has the same address on both sides.
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "sim/check/check.h"

#define WINDOW_ALIGN (1ull << 30)
// Never allocated space behind each block, so that overruns hit nothing. Where time counts there is none, as on a GPU.
#define RED_ZONE 256ull
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
            sim->places.size = window_sizes[i];
            return STATUS_OK;
        }
        if (base) munmap(base, window_sizes[i]);
    }
    return STATUS_NO_MEMORY;
}

static u64 host_pages(u64 size) { return (size + HOST_ALIGN - 1) / HOST_ALIGN * HOST_ALIGN; }

// Managed memory is mapped by pages: what is behind a block, up to the end of its last one, is there, too.
static u64 host_room(const SimAllocation *a) { return a->kind == MEMORY_MANAGED ? host_pages(a->size) : a->size; }

static bool host_block(u8 kind) { return kind == MEMORY_MANAGED || kind == MEMORY_PINNED; }

void memory_destroy(Sim *sim) {
    for (u32 i = 0; i < sim->allocations.len; i++) {
        SimAllocation *a = &sim->allocations.data[i];
        if (host_block(a->kind)) munmap(a->host, host_room(a));
        mem_free(a->written);
    }
    vec_free(&sim->allocations);
    places_free(&sim->places);
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

// Whole pages of the host's go back to the system; the ragged ends are cleared.
static void window_clear(Sim *sim, u64 offset, u64 size) {
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

// Bytes that a block keeps others away from.
static u64 block_span(const Sim *sim, u64 size) {
    u64 zone = sim->check ? RED_ZONE_CHECKED : sim->config.timing ? 0 : RED_ZONE;
    return (size + zone + PLACE_UNIT - 1) & ~(PLACE_UNIT - 1);
}

// A block always starts as zeros. What is in freed ones stays until then, as on a GPU, but for large ones, whose memory
// goes back to the system.
static bool is_large(u64 span) { return span > PLACE_PAGE; }

static void forget_large(Sim *sim, u64 offset, u64 span) {
    if (is_large(span)) window_clear(sim, offset, span);
}

Status memory_take(Sim *sim, PlaceKind kind, u64 size, u64 align, u64 *offset) {
    u64 span = block_span(sim, size);
    *offset = places_take(&sim->places, kind, span, align > PLACE_UNIT ? align : PLACE_UNIT);
    if (*offset == PLACE_NOWHERE) return STATUS_NO_MEMORY;
    if (!is_large(span)) window_clear(sim, *offset, span);
    return STATUS_OK;
}

void memory_give(Sim *sim, PlaceKind kind, u64 offset, u64 size) {
    u64 span = block_span(sim, size);
    forget_large(sim, offset, span);
    places_give(&sim->places, kind, offset, span);
}

static PlaceKind place_kind(const SimAllocation *a) { return a->kind == MEMORY_MODULE ? PLACE_VARIABLE : PLACE_ARRAY; }

static u64 window_offset(const Sim *sim, u64 address) { return address - (u64)(uintptr_t)sim->window.base; }

static Status alloc_window(Sim *sim, SimAllocation *a, u64 align) {
    u64 offset;
    TRY(memory_take(sim, place_kind(a), a->size, align, &offset));
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
        a.host = reserve(PLACE_HOST + sim->host_next, host_room(&a), PROT_READ | PROT_WRITE);
        sim->host_next += host_pages(size);
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
    places_give(&sim->places, place_kind(a), window_offset(sim, a->address), block_span(sim, a->size));
}

Status sim_free(Sim *sim, DevicePtr address) {
    SimAllocation *a = memory_lookup(sim, address);
    if (!a || a->address != address || a->mapped) return STATUS_NOT_FOUND;
    if (a->kind == MEMORY_DEVICE) sim->devices[a->device].used -= a->size;
    bool keep = sim->check && check_freed(sim->check, a);  // in quarantine, which ends with memory_reuse
    if (host_block(a->kind)) {
        munmap(a->host, host_room(a));
    } else if (a->kind != MEMORY_HOST) {
        forget_large(sim, window_offset(sim, address), block_span(sim, a->size));
        if (!keep) memory_reuse(sim, a);
    }
    memory_remove(sim, a);
    return STATUS_OK;
}

static bool in_window(const Sim *sim, u64 address) { return window_offset(sim, address) < sim->window.size; }

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

// Bytes behind a block of managed memory, in its last page.
static u8 *beyond_managed(const Sim *sim, u32 device, const SimAllocation *a, u64 address, u32 bytes) {
    bool managed = a->kind == MEMORY_MANAGED && memory_reaches(sim, device, a);
    return managed && address + bytes <= a->address + host_room(a) ? a->host + (address - a->address) : NULL;
}

static bool reaches_page(const Sim *sim, u32 device, const SimAllocation *a, u64 page) {
    u64 size = sim->config.page;
    bool near = (a->address & ~(size - 1)) <= page && page <= ((a->address + a->size - 1) & ~(size - 1));
    bool own = (a->kind == MEMORY_DEVICE || a->kind == MEMORY_MODULE) && !a->mapped;
    return near && own && memory_reaches(sim, device, a);
}

u8 *memory_beyond(const Sim *sim, u32 device, u64 address, u32 bytes, bool store) {
    static u8 driver[sizeof(u64) * 16];  // the page before the first allocation is the driver's; zeros are read there
    u64 size = sim->config.page, page = address & ~(size - 1), offset = window_offset(sim, address);
    if (!size || address + bytes > page + size) return NULL;
    if (page + size == (u64)(uintptr_t)sim->window.base) return bytes <= sizeof driver && !store ? driver : NULL;
    u32 at = upper_bound(&sim->allocations, address);
    const SimAllocation *list = sim->allocations.data;
    if (!in_window(sim, address)) return at ? beyond_managed(sim, device, &list[at - 1], address, bytes) : NULL;
    bool below = at > 0 && reaches_page(sim, device, &list[at - 1], page);
    bool above = at < sim->allocations.len && reaches_page(sim, device, &list[at], page);
    return below || above ? sim->window.backing + offset : NULL;
}

void sim_memory_info(const Sim *sim, u32 device, u64 *free_bytes, u64 *total_bytes) {
    *total_bytes = sim_gpu(sim, device)->memory_bytes;
    *free_bytes = *total_bytes - sim->devices[device].used;
}
