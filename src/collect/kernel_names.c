// SPDX-License-Identifier: Apache-2.0
#include "collect/kernel_names.h"

#include <string.h>
#include <sys/mman.h>

#include "base/map.h"

// By the address of CUPTI's name, which may be another kernel's when a module has been unloaded: hence the comparison.
// PyTorch's 25 sampled kernels have names of 300 bytes; 32 MiB hold 16,384 of 2 KiB.
enum { PROBES = 16, ROOM = 32 << 20 };
typedef struct KernelNameSlot {
    _Atomic(const char *) symbol;
    _Atomic(const char *) name;  // NULL: whoever took the slot is at it
} KernelNameSlot;

static void *map_memory(size_t size) {
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

bool kernel_names_make(KernelNames *n) {
    n->slots = map_memory(KERNEL_NAMES * sizeof *n->slots);
    n->memory = map_memory(ROOM);
    return n->slots && n->memory;
}

static const char *copy(KernelNames *n, const char *symbol) {
    size_t length = strnlen(symbol, KERNEL_NAME_BYTES - 1);
    u64 at = atomic_load(&n->used);
    do {
        if (at + length + 1 > ROOM) return NULL;
    } while (!atomic_compare_exchange_weak(&n->used, &at, at + length + 1));
    return memcpy(n->memory + at, symbol, length);  // 0 is there
}

static bool is_same(const char *name, const char *symbol) {
    return name && strncmp(name, symbol, KERNEL_NAME_BYTES - 1) == 0;
}

const char *kernel_names_find(KernelNames *n, const char *symbol) {
    u64 first = hash_u64((u64)(uintptr_t)symbol);
    for (u32 probe = 0; probe < PROBES; probe++) {
        KernelNameSlot *slot = &n->slots[(first + probe) % KERNEL_NAMES];
        const char *taken = atomic_load_explicit(&slot->symbol, memory_order_acquire);
        if (!taken && atomic_compare_exchange_strong(&slot->symbol, &taken, symbol)) {
            const char *name = copy(n, symbol);
            atomic_store_explicit(&slot->name, name, memory_order_release);
            return name;
        }
        if (taken != symbol) continue;
        const char *name = atomic_load_explicit(&slot->name, memory_order_acquire);
        if (is_same(name, symbol)) return name;
    }
    return copy(n, symbol);
}
