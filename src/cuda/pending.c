// SPDX-License-Identifier: Apache-2.0
#include "cuda/pending.h"

#include "cuda/launch.h"
#include "cuda/watch.h"

// Warp instructions of one step of a kernel.
#define SUBMIT_BUDGET (1ull << 20)  // ... at its submission,
#define SUBMIT_STEPS 16u            // ... and how many more when it polls now and then; those that never do end
#define TURN_BUDGET 5000ull         // ... while others are pending, at first
#define QUERY_BUDGET (1ull << 18)
#define WATCH_BUDGET (1ull << 18)
#define MOST_TURN (1ull << 26)

#define LONG_WAIT_NS 10000000000ull  // with other threads about, which may never do what is waited for
#define MOST_POKE_INTERVAL 256u      // calls from one turn to the next, of kernels that did not move
#define MOST_SETTLE_PASSES 64u       // in which kernels move and no item is done
#define MOST_PENDING 1024u           // items of a lazy context

// --- the list --------------------------------------------------------------------------------------------------------
static CudaDevice *device_of(CudaContext *c, const CudaStream *stream) { return &c->devices[stream->device]; }

static bool may_begin(CudaContext *c, const CudaStream *stream) {
    if (stream->queued) return false;
    if (stream->legacy) return !device_of(c, stream)->queued_blocking;
    return !stream_blocks(stream) || !device_of(c, stream)->default_stream->queued;
}

static cudaError_t append(CudaContext *c, CudaItem *item) {
    if (vec_push(&c->pending, item) != STATUS_OK) return cudaErrorMemoryAllocation;
    item->number = ++c->submitted;
    item->stream->queued++;
    if (stream_blocks(item->stream)) device_of(c, item->stream)->queued_blocking++;
    c->changes++;
    if (c->lazy) watch_begin(c);
    return cudaSuccess;
}

static void item_free(CudaContext *c, CudaItem *item) {
    task_release(c, &item->task);
    work_release(c, &item->work);
    mem_free(item->staged);
    mem_free(item);
}

static void note_begun(CudaContext *c, bool before, bool after) {
    if (after && !before) {
        c->begun++;
        watch_begin(c);
    }
    if (before && !after) c->begun--;
}

static void take_out(CudaContext *c, CudaItem *item, bool begun) {
    u32 at = 0;
    while (c->pending.data[at] != item) at++;
    for (c->pending.len--; at < c->pending.len; at++) c->pending.data[at] = c->pending.data[at + 1];
    note_begun(c, begun, false);
    CudaStream *stream = item->stream;
    stream->queued--;
    if (stream_blocks(stream)) device_of(c, stream)->queued_blocking--;
    item_free(c, item);
    stream_unqueued(c, stream);
    c->changes++;
}

static bool calls_host(const CudaWork *work) {
    return work->type == cudaGraphNodeTypeHost || work->type == WORK_CALLBACK;
}

// Executes what it can of an item; it may be gone then.
static cudaError_t item_go(CudaContext *c, CudaItem *item, WorkEffort *effort) {
    bool begun = item->task.state == TASK_BEGUN;
    int device = item->stream->device, before = cuda_thread()->device;
    item->busy = true;
    if (!calls_host(&item->work)) (void)cuda_switch_device(device);
    cudaError_t error = task_go(c, &item->task, effort);
    (void)cuda_switch_device(before);
    item->busy = false;
    if (item->task.state == TASK_DONE)
        take_out(c, item, begun);
    else
        note_begun(c, begun, item->task.state == TASK_BEGUN);
    return error;
}

static void note_error(CudaContext *c, int device, cudaError_t error) {
    if (error == cudaSuccess || c->devices[device].failed != cudaSuccess) return;
    c->devices[device].failed = error;
    c->failed++;
}

static cudaError_t take_error(CudaContext *c, int device) {
    CudaDevice *d = &c->devices[device];
    if (d->sticky != cudaSuccess) return d->sticky;
    cudaError_t error = d->failed;
    if (error != cudaSuccess) c->failed--;
    d->failed = cudaSuccess;
    return error;
}

// --- one pass --------------------------------------------------------------------------------------------------------
static bool is_behind(CudaContext *c, const CudaStream *stream) {
    const CudaDevice *d = device_of(c, stream);
    if (stream->pass == c->pass) return true;
    if (stream->legacy) return d->blocking_pass == c->pass;
    return stream_blocks(stream) && d->legacy_pass == c->pass;
}

static void note_left(CudaContext *c, CudaStream *stream) {
    stream->pass = c->pass;
    if (stream->legacy) device_of(c, stream)->legacy_pass = c->pass;
    if (stream_blocks(stream)) device_of(c, stream)->blocking_pass = c->pass;
}

// Tries everything in order. It ends early, moved, when other threads have changed the list meanwhile.
static void go_through(CudaContext *c, WorkEffort *effort) {
    c->pass++;
    for (u32 i = 0; i < c->pending.len;) {
        CudaItem *item = c->pending.data[i];
        CudaStream *stream = item->stream;
        u64 pass = c->pass, changes = c->changes;
        int device = stream->device;
        if (!item->busy && c->devices[device].sticky != cudaSuccess) {
            take_out(c, item, item->task.state == TASK_BEGUN);
            effort->moved = true;
            continue;
        }
        bool goes = !item->busy && !is_behind(c, stream) && (effort->begin || item->task.state == TASK_BEGUN);
        if (goes) note_error(c, device, item_go(c, item, effort));
        bool left = i < c->pending.len && c->pending.data[i] == item;
        if (c->pass != pass || c->changes != changes + !left) {
            effort->moved = true;
            return;
        }
        if (!left) continue;
        note_left(c, stream);
        i++;
    }
}

// In a lazy context everything that may begin does so before anything goes on, as kernels do that run at once; with
// timing again when one is over.
static void advance(CudaContext *c, WorkEffort *effort) {
    WorkEffort first = {.begin = true};
    bool begin = effort->begin;
    if (c->lazy && begin) go_through(c, &first);
    effort->begin = begin && !c->config.timing;
    go_through(c, effort);
    effort->moved |= first.moved;
    effort->hurry = c->config.timing && effort->budget && !effort->moved && !effort->more;  // kernels wait for a copy
    if (effort->hurry) go_through(c, effort);
    effort->begin = begin;
    effort->hurry = false;
}

// --- submitting ------------------------------------------------------------------------------------------------------
static CudaItem *item_new(CudaStream *stream, const CudaWork *work) {
    CudaItem *item = mem_zero(1, sizeof *item);
    if (!item) return NULL;
    *item = (CudaItem){.stream = stream, .work = *work};
    item->task = (CudaTask){.work = &item->work, .stream = stream};
    return item;
}

// What is wrong with work is told now, where that can be known.
static cudaError_t defer(CudaContext *c, CudaItem *item, bool *blocks) {
    CudaWork *work = &item->work;
    const struct cudaMemsetParams *fill = &work->fill;
    if (work->type == cudaGraphNodeTypeMemcpy) return copy_defer(c, &work->copy, &item->staged, blocks);
    if (work->type == cudaGraphNodeTypeMemset && fill->width && fill->height) return fill_check(c, fill);
    return cudaSuccess;
}

static cudaError_t enqueue(CudaContext *c, CudaStream *stream, CudaWork *work, bool now) {
    CudaItem *item = item_new(stream, work);
    if (!item) return work_release(c, work), cudaErrorMemoryAllocation;
    bool blocks = false;
    cudaError_t error = now ? cudaSuccess : defer(c, item, &blocks);
    if (error == cudaSuccess) error = task_prepare(c, &item->task);
    if (error == cudaSuccess) error = append(c, item);
    if (error != cudaSuccess) return item_free(c, item), error;
    WorkEffort effort = {.budget = SUBMIT_BUDGET, .begin = true, .whole = true, .steps = SUBMIT_STEPS};
    if (now) {
        error = item_go(c, item, &effort);
        if (c->pending.len) go_through(c, &effort);  // what others submitted behind a function of the program
        return error;
    }
    if (blocks) return pending_wait(c, (PendingSet){.stream = stream, .device = -1});
    if (c->pending.len > MOST_PENDING) advance(c, &effort);
    return cudaSuccess;
}

// Most work: it is over before anybody can see it in the list.
static cudaError_t execute(CudaContext *c, CudaStream *stream, CudaWork *work) {
    CudaTask task = {.work = work, .stream = stream};
    WorkEffort effort = {.budget = SUBMIT_BUDGET, .begin = true, .whole = true, .steps = SUBMIT_STEPS};
    cudaError_t error = task_go(c, &task, &effort);
    CudaItem *item = task.state == TASK_DONE ? NULL : item_new(stream, work);
    if (item) {
        item->task = task;
        item->task.work = &item->work;
        error = append(c, item);
        if (error != cudaSuccess) return item_free(c, item), error;
        note_begun(c, false, true);
        return cudaSuccess;
    }
    if (task.state != TASK_DONE) error = cudaErrorMemoryAllocation;
    if (task.run || task.graph || task.fired.data || task.mark) task_release(c, &task);
    work_release(c, work);
    return error;
}

cudaError_t pending_submit(CudaContext *c, CudaStream *stream, CudaWork *work) {
    bool now = !c->lazy && may_begin(c, stream);
    bool alone = !calls_host(work) && work->type != WORK_EXEC && work->type != cudaGraphNodeTypeWaitEvent;
    return now && alone ? execute(c, stream, work) : enqueue(c, stream, work, now);
}

// --- waiting ---------------------------------------------------------------------------------------------------------
static bool marks(const CudaItem *item, const EventMark *mark) {
    return item->task.mark == mark || item->work.type == WORK_EXEC;  // the graph may record it
}

typedef struct Wanted {  // a set as it was when somebody began to wait; the stream may go meanwhile
    PendingSet set;
    u64 last;  // number of an item
    bool legacy;
    int device;  // of the stream
} Wanted;

static Wanted wanted(CudaContext *c, PendingSet set) {
    Wanted w = {.set = set, .last = c->submitted, .device = cuda_thread()->device};
    if (set.device >= 0) w.device = set.device;
    if (set.stream) w.legacy = set.stream->legacy, w.device = set.stream->device;
    return w;
}

// A stream's work, and for the legacy stream what it would have to wait for.
static bool in_stream(const CudaItem *item, const Wanted *w) {
    const CudaStream *own = item->stream;
    return own == w->set.stream || (w->legacy && own->device == w->device && stream_blocks(own));
}

// The first item that is left of what is wanted.
static CudaItem *left_of(CudaContext *c, const Wanted *w) {
    const PendingSet *set = &w->set;
    if (set->mark && set->mark->done) return NULL;
    for (u32 i = 0; i < c->pending.len && c->pending.data[i]->number <= w->last; i++) {
        CudaItem *item = c->pending.data[i];
        if (set->stream && !in_stream(item, w)) continue;
        if (set->mark && !marks(item, set->mark)) continue;
        if (set->exec && (item->work.type != WORK_EXEC || item->work.exec != set->exec)) continue;
        if (set->device < 0 || set->device == item->stream->device) return item;
    }
    return NULL;
}

static bool is_busy(const CudaContext *c) {
    for (u32 i = 0; i < c->pending.len; i++)
        if (c->pending.data[i]->busy) return true;
    return false;
}

// Tells which kernels wait, on the item's device if there are any; they end, and their devices with them.
static void tell_deadlock(CudaContext *c, const CudaItem *item) {
    int device = item->stream->device;
    u32 told = 0;
    for (u32 anywhere = 0; anywhere < 2 && !told; anywhere++)
        for (u32 i = 0; i < c->pending.len; i++) {
            CudaTask *task = task_waiting(&c->pending.data[i]->task);
            if (!task || (!anywhere && c->pending.data[i]->stream->device != device)) continue;
            (void)launch_deadlock(c, task);
            told++;
        }
    if (told) return;
    cuda_message(c, LOG_ERROR, "a stream waits for a value in memory that nothing will ever write");
    c->devices[device].sticky = cudaErrorLaunchFailure;
}

// Somebody who has waited for long is told for what.
static void tell_waiting(CudaContext *c) {
    for (u32 i = 0; i < c->pending.len; i++) {
        const CudaTask *task = task_waiting(&c->pending.data[i]->task);
        if (task) launch_explain(c, task);
    }
}

// Nothing moves. What may still change that: another thread, or more instructions of kernels that are not known to
// wait.
static bool wait_longer(CudaContext *c, WatchPause *pause, const WorkEffort *effort, u64 *budget) {
    if (!cuda_thread()->host_depth && (is_busy(c) || watch_others(c))) {
        u64 before = pause->total;
        watch_pause(c, pause);
        if (before < LONG_WAIT_NS && pause->total >= LONG_WAIT_NS) tell_waiting(c);
        return true;
    }
    if (!effort->more) return false;
    *budget = *budget < MOST_TURN ? *budget * 4 : *budget;
    return true;
}

static cudaError_t drive(CudaContext *c, const Wanted *w) {
    u64 budget = TURN_BUDGET;
    WatchPause pause = {0};
    while (left_of(c, w)) {
        WorkEffort effort = {.budget = budget, .begin = true, .whole = true};
        advance(c, &effort);
        if (effort.moved) {
            budget = TURN_BUDGET;
            pause = (WatchPause){0};
            watch_yield(c);
            continue;
        }
        const CudaItem *item = left_of(c, w);
        if (!item || wait_longer(c, &pause, &effort, &budget)) continue;
        if (cuda_thread()->host_depth) return cudaErrorNotPermitted;  // it would wait for itself
        tell_deadlock(c, item);
    }
    return cudaSuccess;
}

cudaError_t pending_wait(CudaContext *c, PendingSet set) {
    if (WL_LIKELY(!c->pending.len && !c->failed)) return cudaSuccess;
    Wanted w = wanted(c, set);
    EventMark *mark = (EventMark *)(uintptr_t)set.mark;
    if (mark) mark->refs++;  // the event may go meanwhile
    c->waiters++;
    cudaError_t error = drive(c, &w);
    c->waiters--;
    event_mark_release(mark);
    return error == cudaSuccess ? take_error(c, w.device) : error;
}

cudaError_t pending_query(CudaContext *c, PendingSet set) {
    if (WL_LIKELY(!c->pending.len && !c->failed)) return cudaSuccess;
    Wanted w = wanted(c, set);
    WorkEffort effort = {.budget = QUERY_BUDGET, .begin = true};
    if (left_of(c, &w)) advance(c, &effort);
    if (c->devices[w.device].sticky != cudaSuccess) return c->devices[w.device].sticky;
    return left_of(c, &w) ? cudaErrorNotReady : take_error(c, w.device);
}

cudaError_t pending_finish_copy(CudaContext *c, cudaError_t error) {
    if (WL_LIKELY(error != cudaSuccess || !c->pending.len)) return error;
    const CudaStream *stream = stream_find(c, NULL);
    return stream && !stream->capture ? pending_wait(c, (PendingSet){.stream = stream, .device = -1}) : error;
}

cudaError_t pending_finish_fill(CudaContext *c, const void *filled, cudaError_t error) {
    const SimAllocation *a = c->pending.len ? sim_find(c->sim, (DevicePtr)(uintptr_t)filled) : NULL;
    bool seen = a && (a->kind == MEMORY_PINNED || a->kind == MEMORY_HOST || a->kind == MEMORY_MANAGED);
    return seen ? pending_finish_copy(c, error) : error;
}

cudaError_t pending_settle(CudaContext *c) {
    u64 changes = c->changes;
    for (u32 idle = 0; c->pending.len && idle < MOST_SETTLE_PASSES; idle++) {
        WorkEffort effort = {.budget = QUERY_BUDGET, .begin = true, .whole = true};
        advance(c, &effort);
        if (!effort.moved) break;
        if (c->changes != changes) idle = 0;
        changes = c->changes;
    }
    return cuda_device(c)->sticky;
}

bool pending_has_begun(const CudaContext *c, const CudaStream *stream) {
    for (u32 i = c->pending.len; i-- > 0;)
        if (c->pending.data[i]->stream == stream) return c->pending.data[i]->task.state == TASK_BEGUN;
    return false;
}

void pending_take_turns(CudaContext *c) {
    if (++c->poke_calls < c->poke_interval) return;
    WorkEffort effort = {.budget = TURN_BUDGET, .begin = !c->lazy};
    advance(c, &effort);
    c->poke_calls = 0;
    c->poke_interval = effort.moved                            ? 1
                       : c->poke_interval < MOST_POKE_INTERVAL ? c->poke_interval * 2
                                                               : c->poke_interval;
    if (!c->poke_interval) c->poke_interval = 1;
}

bool pending_watch(CudaContext *c, bool begin) {
    WorkEffort effort = {.budget = WATCH_BUDGET, .begin = begin};
    advance(c, &effort);
    return effort.moved;
}

void pending_drop(CudaContext *c, int device) {
    for (u32 i = c->pending.len; i-- > 0;) {
        CudaItem *item = c->pending.data[i];
        if (item->busy || (device >= 0 && item->stream->device != device)) continue;
        take_out(c, item, item->task.state == TASK_BEGUN);
        if (i > c->pending.len) i = c->pending.len;
    }
}

void pending_finish(CudaContext *c) {
    (void)pending_settle(c);
    for (u32 i = 0; i < c->pending.len; i++) {
        CudaTask *task = task_waiting(&c->pending.data[i]->task);
        if (task) (void)launch_deadlock(c, task);
    }
    if (c->pending.len) cuda_message(c, LOG_WARNING, "the program ends with work pending that never ran");
    pending_drop(c, -1);
}
