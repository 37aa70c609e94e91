// SPDX-License-Identifier: Apache-2.0
// The buffers that CUPTI fills with activity records. All are mapped at the start; a request takes a free one with a
// compare-and-swap, so that a callback neither allocates nor waits. When the writer is so far behind that none is free,
// CUPTI drops records and counts them.
//
// CUPTI hands out a buffer before it is full only when all launches in it have ended. A program that always has some
// under way (deep queues) gets one back when it is full: how long that takes is what a SIGKILL loses. So a buffer is as
// large as what came in the last quarter of a second.
#include <sys/mman.h>

#include "collect/collect_inside.h"

// LATE_BUFFERS: for what is under way when the program ends. Threads that go on launching get no more: the end waits
// for the writer.
enum { FILL_NS = 250000000, LATE_BUFFERS = 64 };

typedef enum BufferState { BUFFER_FREE, BUFFER_FILLING, BUFFER_FULL, BUFFER_READING } BufferState;

bool buffers_make(Buffers *buffers) {
    void *memory = mmap(NULL, (size_t)BUFFER_BYTES * BUFFER_COUNT, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    buffers->memory = memory == MAP_FAILED ? NULL : memory;
    atomic_store(&buffers->size, BUFFER_LEAST);
    atomic_store(&buffers->requested_ns, collect_now());
    return buffers->memory != NULL;
}

u32 buffers_size(u32 last, u64 taken_ns) {
    u64 size = (u64)last * FILL_NS / (taken_ns ? taken_ns : 1) & ~7ull;
    return size < BUFFER_LEAST ? BUFFER_LEAST : size > BUFFER_BYTES ? BUFFER_BYTES : (u32)size;
}

static u32 next_size(Buffers *b) {
    u64 now = collect_now(), before = atomic_exchange(&b->requested_ns, now);
    u32 size = buffers_size(atomic_load(&b->size), now > before ? now - before : 0);
    atomic_store(&b->size, size);
    return size;
}

void buffers_end(Buffers *b) { atomic_store(&b->ending, true); }

void buffers_request(u8 **buffer, size_t *size, size_t *max_records) {
    Buffers *b = &collector.buffers;
    *max_records = 0;  // as many as fit
    *buffer = NULL;
    *size = 0;
    if (atomic_load(&b->ending) && atomic_fetch_add(&b->late, 1) >= LATE_BUFFERS) return;
    for (u32 i = 0; i < BUFFER_COUNT; i++) {
        u32 expected = BUFFER_FREE;
        if (atomic_load_explicit(&b->state[i], memory_order_relaxed) != BUFFER_FREE ||
            !atomic_compare_exchange_strong(&b->state[i], &expected, BUFFER_FILLING))
            continue;
        *buffer = b->memory + (size_t)i * BUFFER_BYTES;
        *size = next_size(b);
        return;
    }
    atomic_fetch_add(&b->refused, 1);
}

// The writer need not wait for its next turn when much has come.
void buffers_complete(void *context, u32 stream, u8 *buffer, size_t size, size_t valid) {
    (void)context, (void)stream, (void)size;
    Buffers *b = &collector.buffers;
    if (!buffer) return;
    u32 i = (u32)((size_t)(buffer - b->memory) / BUFFER_BYTES);
    b->valid[i] = valid;
    b->order[i] = atomic_fetch_add(&b->completions, 1);
    atomic_store(&b->state[i], BUFFER_FULL);
    if (valid > BUFFER_BYTES / 2 && b->order[i] % 8 == 0) sem_post(&collector.wake);
}

u32 buffers_take_full(Buffers *b, u64 until) {
    u32 first = BUFFER_NONE;
    for (u32 i = 0; i < BUFFER_COUNT; i++)
        if (atomic_load(&b->state[i]) == BUFFER_FULL && b->order[i] < until &&
            (first == BUFFER_NONE || b->order[i] < b->order[first]))
            first = i;
    if (first != BUFFER_NONE) atomic_store(&b->state[first], BUFFER_READING);
    return first;
}

void buffers_give_back(Buffers *b, u32 buffer) { atomic_store(&b->state[buffer], BUFFER_FREE); }
