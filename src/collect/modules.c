// SPDX-License-Identifier: Apache-2.0
// The program's modules, from the callback in which CUPTI shows them to the writer. What a copy costs the program is
// page faults: PyTorch loads hundreds of modules. So they lie behind one another in one piece of address space with
// huge pages (76 MB in pieces of 0.2 MB: 10 ms, 70 ms in mappings of their own).
#include <string.h>
#include <sys/mman.h>

#include "collect/collect_inside.h"

enum { HUGE_PAGE = 2 << 20, ALIGNED = 64 };
static const u64 room = 1ull << 30;

void modules_make(Modules *m) {
    void *memory = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return;  // a limit: each has a mapping of its own
    madvise(memory, room, MADV_HUGEPAGE);
    m->memory = memory;
    m->freed = m->taken = -(u64)(uintptr_t)memory % HUGE_PAGE;
    atomic_store(&m->given, m->taken);
}

static bool is_inside(const Modules *m, const Loaded *loaded) {
    return m->memory && (const u8 *)loaded >= m->memory && (const u8 *)loaded < m->memory + room;
}

static Loaded *place_for(Modules *m, size_t bytes) {
    u64 at = atomic_load(&m->given);
    while (m->memory && bytes <= room - at)
        if (atomic_compare_exchange_weak(&m->given, &at, at + bytes)) return (Loaded *)(m->memory + at);
    void *own = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return own == MAP_FAILED ? NULL : own;
}

// The cubin is CUPTI's during the callback only.
void modules_keep(Collector *c, const CuptiModule *module) {
    Modules *m = &c->modules;
    if (!module || !module->cubin || !module->size) return;
    size_t bytes = (sizeof(Loaded) + module->size + ALIGNED - 1) & ~(size_t)(ALIGNED - 1);
    Loaded *loaded = place_for(m, bytes);
    if (!loaded) return;
    loaded->bytes = bytes;
    loaded->size = module->size;
    memcpy(loaded->cubin, module->cubin, module->size);
    loaded->next = atomic_load(&m->list);
    while (!atomic_compare_exchange_weak(&m->list, &loaded->next, loaded)) continue;
}

Loaded *modules_take(Modules *m) {
    Loaded *list = atomic_exchange(&m->list, NULL), *in_order = NULL;
    while (list) {
        Loaded *next = list->next;
        list->next = in_order;
        in_order = list;
        list = next;
    }
    return in_order;
}

// Whole huge pages, when everything in them is written.
void modules_free(Modules *m, Loaded *loaded) {
    if (!is_inside(m, loaded)) {
        munmap(loaded, loaded->bytes);
        return;
    }
    m->taken += loaded->bytes;
    u64 end = m->taken - ((u64)(uintptr_t)m->memory + m->taken) % HUGE_PAGE;
    if (m->taken != atomic_load(&m->given) || end <= m->freed) return;
    madvise(m->memory + m->freed, end - m->freed, MADV_DONTNEED);
    m->freed = end;
}
