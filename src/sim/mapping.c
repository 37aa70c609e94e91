// SPDX-License-Identifier: Apache-2.0
// Addresses and memory apart (the driver API's virtual memory management): addresses of the window are reserved, parts
// of files are put behind them, and what may be accessed becomes an allocation. Runs of accessible memory that meet are
// one allocation, so that accesses and copies go across the parts they were made of.
#include <sys/mman.h>

#include "sim/machine.h"

Status sim_reserve(Sim *sim, u64 size, u64 align, DevicePtr *address) {
    u64 offset;
    if (size == 0 || size > sim->window.size) return STATUS_NO_MEMORY;
    TRY(memory_take(sim, PLACE_ARRAY, size, align, &offset));
    *address = (u64)(uintptr_t)sim->window.base + offset;
    return STATUS_OK;
}

static u8 *backing(const Sim *sim, DevicePtr address) {
    return sim->window.backing + (address - (u64)(uintptr_t)sim->window.base);
}

void sim_unreserve(Sim *sim, DevicePtr address, u64 size) {
    memory_give(sim, PLACE_ARRAY, address - (u64)(uintptr_t)sim->window.base, size);
}

Status sim_map(Sim *sim, DevicePtr address, u64 size, int file, u64 offset) {
    void *at = mmap(backing(sim, address), size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, (off_t)offset);
    return at == MAP_FAILED ? STATUS_NO_MEMORY : STATUS_OK;
}

Status sim_unmap(Sim *sim, DevicePtr address, u64 size) {
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
    TRY(sim_hide(sim, address, size));
    void *at = mmap(backing(sim, address), size, PROT_READ | PROT_WRITE, flags, -1, 0);
    return at == MAP_FAILED ? STATUS_NO_MEMORY : STATUS_OK;
}

// Takes [address, address + size) out of the allocation around it.
static Status cut(Sim *sim, const SimAllocation *around, DevicePtr address, u64 size) {
    SimAllocation before = *around, after = *around;
    before.size = address - around->address;
    after.address = address + size;
    after.host = around->host + (after.address - around->address);
    after.size = around->address + around->size - after.address;
    memory_remove(sim, around);
    if (before.size) TRY(memory_insert(sim, before));
    return after.size ? memory_insert(sim, after) : STATUS_OK;
}

Status sim_hide(Sim *sim, DevicePtr address, u64 size) {
    const u64 end = address + size;
    while (address < end) {
        const SimAllocation *a = memory_lookup(sim, address);
        if (!a) {  // runs begin and end at whole units
            address += MAPPING_UNIT;
            continue;
        }
        u64 last = a->address + a->size < end ? a->address + a->size : end;
        TRY(cut(sim, a, address, last - address));
        address = last;
    }
    return STATUS_OK;
}

static bool joins(const SimAllocation *a, const SimAllocation *b) {
    return a && a->mapped && a->device == b->device && a->read_only == b->read_only && a->sharing == b->sharing;
}

Status sim_expose(Sim *sim, DevicePtr address, u64 size, u32 device, u64 sharing, bool read_only) {
    TRY(sim_hide(sim, address, size));
    SimAllocation run = {.address = address,
                         .size = size,
                         .host = backing(sim, address),
                         .device = device,
                         .kind = MEMORY_DEVICE,
                         .mapped = true,
                         .pooled = true,
                         .sharing = sharing,
                         .read_only = read_only};
    const SimAllocation *before = memory_lookup(sim, address - 1);
    if (joins(before, &run)) {
        run.address = before->address;
        run.host = before->host;
        run.size += before->size;
        memory_remove(sim, before);
    }
    const SimAllocation *after = memory_lookup(sim, run.address + run.size);
    if (joins(after, &run)) {
        run.size += after->size;
        memory_remove(sim, after);
    }
    return memory_insert(sim, run);
}

Status sim_claim(Sim *sim, u32 device, u64 size) {
    u64 capacity = sim_gpu(sim, device)->memory_bytes;
    if (size > capacity || sim->devices[device].used > capacity - size) return STATUS_NO_MEMORY;
    sim->devices[device].used += size;
    return STATUS_OK;
}

void sim_unclaim(Sim *sim, u32 device, u64 size) { sim->devices[device].used -= size; }
