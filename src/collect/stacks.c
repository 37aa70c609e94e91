// SPDX-License-Identifier: Apache-2.0
#include "collect/stacks.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>
#include <unwind.h>

#include "base/map.h"

enum { PROBES = 8, BUDGET_NS = 20000000, BUDGET_SHARE = 200 };  // 20 ms and 0.5 % of the time since the beginning

static void *map_memory(size_t size) {
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

static u64 now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (u64)t.tv_sec * 1000000000u + (u64)t.tv_nsec;
}

static u64 usual_span(void) {
    enum { LEAST = 8 << 20 };
    pthread_attr_t attributes;
    size_t size = 0;
    if (pthread_getattr_default_np(&attributes) == 0) {
        pthread_attr_getstacksize(&attributes, &size);
        pthread_attr_destroy(&attributes);
    }
    return size < LEAST ? LEAST : size;
}

bool stacks_make(Stacks *s) {
    s->span = usual_span();
    s->entries = map_memory((STACK_LIMIT + 1) * sizeof *s->entries);
    s->slots = map_memory(STACK_SLOTS * sizeof *s->slots);
    s->launches = map_memory(STACK_LAUNCHES * sizeof *s->launches);
    s->begin_ns = now_ns();
    return s->entries && s->slots && s->launches;
}

static _Unwind_Reason_Code add_frame(struct _Unwind_Context *context, void *into) {
    Stack *stack = into;
    u64 address = _Unwind_GetIP(context), place = _Unwind_GetCFA(context) - sizeof(u64);
    if (!address) return _URC_END_OF_STACK;
    if (place <= stack->pointer) return _URC_NO_REASON;  // the collector's own frames
    if (stack->count && place <= stack->frames[stack->count - 1].place) return _URC_END_OF_STACK;  // another stack
    // Where this is not so (another processor, a signal frame) the stack cannot be recognised again: it ends here.
    if (*(const u64 *)place != address) return _URC_END_OF_STACK;
    stack->frames[stack->count++] = (StackFrame){place, address};
    return stack->count < STACK_FRAMES ? _URC_NO_REASON : _URC_END_OF_STACK;
}

extern void *__libc_stack_end __attribute__((weak));  // of the first thread, where the C library says it

// A thread's own record lies above its stack. 0: it runs on another one, of a coroutine or a signal handler.
static u64 stack_top(const Stacks *s, u64 pointer) {
    u64 tops[] = {(u64)(uintptr_t)pthread_self(), &__libc_stack_end ? (u64)(uintptr_t)__libc_stack_end : 0};
    for (u32 i = 0; i < WL_COUNT(tops); i++)
        if (tops[i] > pointer && tops[i] - pointer <= s->span) return tops[i];
    return 0;
}

// Through the kernel, which refuses what cannot be read: 2 us.
static bool is_same_elsewhere(const Stack *stack) {
    u64 words[STACK_FRAMES];
    struct iovec to = {words, stack->count * sizeof *words}, from[STACK_FRAMES];
    for (u32 i = 0; i < stack->count; i++)
        from[i] = (struct iovec){(void *)(uintptr_t)stack->frames[i].place, sizeof *words};
    if (process_vm_readv(getpid(), &to, 1, from, stack->count, 0) != (ssize_t)to.iov_len) return false;
    for (u32 i = 0; i < stack->count; i++)
        if (words[i] != stack->frames[i].address) return false;
    return true;
}

static bool is_same(const Stacks *s, const Stack *stack, u64 pointer, const void *kernel) {
    if (stack->pointer != pointer || stack->kernel != kernel) return false;
    if (!stack->count) return true;
    u64 top = stack_top(s, pointer);
    if (!top) return is_same_elsewhere(stack);
    if (stack->frames[stack->count - 1].place >= top) return false;
    for (u32 i = 0; i < stack->count; i++)
        if (*(const volatile u64 *)stack->frames[i].place != stack->frames[i].address) return false;
    return true;
}

// Takes a new entry and publishes it in a free slot of the table.
static u32 capture(Stacks *s, u32 first, u64 pointer, const void *kernel) {
    u64 begin = now_ns();
    u64 allowed = BUDGET_NS + (begin - s->begin_ns) / BUDGET_SHARE;
    if (atomic_load_explicit(&s->spent_ns, memory_order_relaxed) > allowed) return 0;
    u32 index = atomic_fetch_add(&s->used, 1) + 1;
    if (index > STACK_LIMIT) return atomic_fetch_sub(&s->used, 1), 0;
    Stack *stack = &s->entries[index];
    stack->pointer = pointer;
    stack->kernel = kernel;
    _Unwind_Backtrace(add_frame, stack);
    for (u32 probe = 0; probe < PROBES; probe++) {
        u32 empty = 0;
        if (atomic_compare_exchange_strong(&s->slots[(first + probe) % STACK_SLOTS], &empty, index)) break;
    }
    atomic_fetch_add(&s->spent_ns, now_ns() - begin);
    return index;
}

__attribute__((noinline)) u32 stacks_find(Stacks *s, const void *kernel) {
    u64 pointer = (u64)(uintptr_t)__builtin_frame_address(0);
    u32 first = (u32)hash_u64(pointer ^ (u64)(uintptr_t)kernel * 31) % STACK_SLOTS;
    u32 probe = 0;
    for (; probe < PROBES; probe++) {
        u32 index = atomic_load_explicit(&s->slots[(first + probe) % STACK_SLOTS], memory_order_acquire);
        if (!index) break;
        if (is_same(s, &s->entries[index], pointer, kernel)) return index;
    }
    u32 index = probe < PROBES ? capture(s, first, pointer, kernel) : 0;
    if (!index) atomic_fetch_add_explicit(&s->missed, 1, memory_order_relaxed);
    return index;
}

void stacks_set(Stacks *s, u32 correlation, u32 stack) {
    atomic_store_explicit(&s->launches[correlation % STACK_LAUNCHES], (u64)correlation << 32 | stack,
                          memory_order_release);
}

u32 stacks_get(const Stacks *s, u32 correlation) {
    if (!s->launches) return 0;
    u64 both = atomic_load_explicit(&s->launches[correlation % STACK_LAUNCHES], memory_order_acquire);
    return both >> 32 == correlation ? (u32)both : 0;
}
