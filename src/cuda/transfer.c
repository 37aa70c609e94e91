// SPDX-License-Identifier: Apache-2.0
#include "cuda/transfer.h"

#include "cuda/stream.h"

static u64 duration(const GpuModel *gpu, const Transfer *t) {
    u64 rate = t->kind == COPY_HOST_TO_DEVICE   ? gpu->copy_to_device
               : t->kind == COPY_DEVICE_TO_HOST ? gpu->copy_to_host
                                                : gpu->copy_on_device;
    return gpu->copy_overhead + (rate ? t->bytes * 1000 / rate : 0);
}

static u32 engine_of(u32 kind) {
    return kind == COPY_HOST_TO_DEVICE   ? ENGINE_TO_DEVICE
           : kind == COPY_DEVICE_TO_HOST ? ENGINE_TO_HOST
                                         : ENGINE_INSIDE;
}

bool transfer_begin(CudaContext *c, CudaTask *task, const Transfer *t) {
    int device = task->stream->device;
    CudaDevice *d = &c->devices[device];
    u64 now = sim_clock_ns(c->sim, (u32)device), *free = &d->engine_free_ns[engine_of(t->kind)];
    u64 begin = *free > now ? *free : now, end = begin + duration(&c->gpus[device], t);
    if (vec_push(&d->transfers, end) != STATUS_OK) return false;
    *free = end;
    task->time = (TransferTime){begin, end};
    return true;
}

u64 transfer_next(const CudaContext *c, int device) {
    const CudaDevice *d = &c->devices[device];
    u64 next = 0;
    for (u32 i = 0; i < d->transfers.len; i++)
        if (!next || d->transfers.data[i] < next) next = d->transfers.data[i];
    return next;
}

bool transfer_is_over(CudaContext *c, const CudaTask *task, WorkEffort *effort) {
    int device = task->stream->device;
    u64 now = sim_clock_ns(c->sim, (u32)device), end = task->time.end_ns;
    if (now >= end) return true;
    if (effort->hurry) {
        effort->hurry = false;
        return true;
    }
    bool looks = !effort->budget || effort->ended >> device & 1;
    if (looks || sim_clock_runs(c->sim, (u32)device) || transfer_next(c, device) < end) return false;
    sim_clock_pass(c->sim, (u32)device, end - now);
    effort->ended |= 1ull << device;  // others may begin now
    return true;
}

void transfer_end(CudaContext *c, CudaTask *task) {
    CudaDevice *d = &c->devices[task->stream->device];
    for (u32 i = 0; task->time.end_ns && i < d->transfers.len; i++) {
        if (d->transfers.data[i] != task->time.end_ns) continue;
        d->transfers.data[i] = d->transfers.data[--d->transfers.len];
        return;
    }
}
