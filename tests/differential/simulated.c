// SPDX-License-Identifier: Apache-2.0
#include "simulated.h"

#include <stdlib.h>
#include <string.h>

#include "gpu/gpu.h"
#include "ptx/ptx.h"
#include "sim/sim.h"

struct Simulated {
    GpuModel gpu;
    Sim *sim;
    Diag diag;
};

Simulated *simulated_open(void) {
    Simulated *s = calloc(1, sizeof *s);
    if (!s) return NULL;
    SimConfig config = {.gpu = &s->gpu, .devices = 1, .threads = 1};
    if (gpu_load("gpus", "h200", &s->gpu, &s->diag) == STATUS_OK && sim_create(&config, &s->sim) == STATUS_OK) return s;
    simulated_close(s);
    return NULL;
}
void simulated_close(Simulated *s) {
    if (!s) return;
    if (s->sim) sim_destroy(s->sim);
    diag_free(&s->diag);
    free(s);
}
u64 simulated_memory(Simulated *s, u64 size, void *host) {
    DevicePtr at;
    void *view =
        sim_alloc(s->sim, 0, MEMORY_DEVICE, size, 256, &at) == STATUS_OK ? sim_host_view(s->sim, at, size, NULL) : NULL;
    memcpy(host, &view, sizeof view);
    return view ? at : 0;
}

static Status run(Simulated *s, SimModule *module, const SimulatedLaunch *l) {
    SimKernel *kernel;
    SimKernelInfo info;
    Status status = sim_find_kernel(s->sim, module, l->kernel, &kernel);
    if (status == STATUS_OK) status = sim_kernel_prepare(s->sim, kernel, &info, &s->diag);
    if (status != STATUS_OK) return status;
    u8 block[512] = {0};
    for (u32 i = 0; i < info.param_count; i++)
        if (info.params[i].offset + info.params[i].size <= sizeof block)
            memcpy(block + info.params[i].offset, l->values[i], info.params[i].size);
    SimLaunch launch = {.kernel = kernel, .params = block};
    memcpy(launch.grid, l->grid, sizeof launch.grid);
    memcpy(launch.block, l->block, sizeof launch.block);
    return sim_launch(s->sim, &launch, &(SimLaunchResult){0}, &s->diag);
}
bool simulated_run(Simulated *s, const SimulatedLaunch *l, char *why, size_t why_size) {
    size_t head = strlen(l->head), size = strlen(l->text);
    char *text = malloc(head + size + 1);
    Module *ptx;
    SimModule *module = NULL;
    Status status = text ? STATUS_OK : STATUS_NO_MEMORY;
    if (text) {
        memcpy(text, l->head, head);
        memcpy(text + head, l->text, size + 1);
        status = ptx_load((Str){text, head + size}, l->kernel, &ptx, &s->diag);
    }
    if (status == STATUS_OK) status = sim_load_module(s->sim, 0, ptx, &module, &s->diag);
    if (status == STATUS_OK) status = run(s, module, l);
    if (module) sim_unload_module(s->sim, module);
    free(text);
    why[0] = 0;
    if (status != STATUS_OK && s->diag.entries.len) diag_format(&s->diag.entries.data[0], why, why_size);
    diag_free(&s->diag);
    memset(&s->diag, 0, sizeof s->diag);
    return status == STATUS_OK;
}
