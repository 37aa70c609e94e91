// SPDX-License-Identifier: Apache-2.0
// For tests of the simulator: a device, a module from PTX text, launches by kernel name, and what kernels printed.
#ifndef WL_SIM_DEVICE_TESTING_H
#define WL_SIM_DEVICE_TESTING_H

#include "base/testing.h"

#include <stdio.h>
#include <string.h>

#include "gpu/gpu.h"
#include "ptx/ptx.h"
#include "sim/sim.h"

#define PTX_HEAD ".version 8.0\n.target sm_90\n.address_size 64\n"

typedef struct TestDevice {
    GpuModel gpu;
    Sim *sim;
    SimModule *module;
    Diag diag;
    char printed[8192];
    size_t printed_size;
} TestDevice;

static inline void device_print_hook(void *context, const char *text, size_t size) {
    TestDevice *d = context;
    assert_true(d->printed_size + size < sizeof d->printed);
    memcpy(d->printed + d->printed_size, text, size);
    d->printed_size += size;
    d->printed[d->printed_size] = 0;
}

static inline void device_show(TestDevice *d) {
    char line[4096];
    for (u32 i = 0; i < d->diag.entries.len; i++) {
        diag_format(&d->diag.entries.data[i], line, sizeof line);
        print_message("%s\n", line);
    }
}

// `text` begins with PTX_HEAD.
// An H200 as `config` says, with the module loaded.
static inline void device_open_with(TestDevice *d, const char *text, SimConfig config) {
    memset(d, 0, sizeof *d);
    assert_int_equal(gpu_load("gpus", "h200", &d->gpu, &d->diag), STATUS_OK);
    config.gpu = &d->gpu;
    config.devices = 1;
    assert_int_equal(sim_create(&config, &d->sim), STATUS_OK);
    Module *module;
    Status status = ptx_load((Str){text, strlen(text)}, "test.ptx", &module, &d->diag);
    if (status != STATUS_OK) device_show(d);
    assert_int_equal(status, STATUS_OK);
    assert_int_equal(sim_load_module(d->sim, 0, module, &d->module, &d->diag), STATUS_OK);
}

static inline void device_open(TestDevice *d, const char *text) {
    device_open_with(d, text, (SimConfig){.threads = 1, .print = device_print_hook, .print_context = d});
}

static inline void device_close(TestDevice *d) {
    sim_destroy(d->sim);
    diag_free(&d->diag);
}

static inline Status device_try(TestDevice *d, const char *kernel, u32 ctas, u32 threads, const void *params) {
    SimKernel *k;
    assert_int_equal(sim_find_kernel(d->sim, d->module, kernel, &k), STATUS_OK);
    SimKernelInfo info;
    Status status = sim_kernel_prepare(d->sim, k, &info, &d->diag);
    if (status != STATUS_OK) return status;
    SimLaunch launch = {.kernel = k, .grid = {ctas, 1, 1}, .block = {threads, 1, 1}, .params = params, .record = true};
    return sim_launch(d->sim, &launch, &(SimLaunchResult){0}, &d->diag);
}

static inline void device_run(TestDevice *d, const char *kernel, u32 ctas, u32 threads, const void *params) {
    Status status = device_try(d, kernel, ctas, threads, params);
    if (status != STATUS_OK) device_show(d);
    assert_int_equal(status, STATUS_OK);
}

// Device memory with the bytes of `data` (NULL: zeros).
static inline DevicePtr device_memory(TestDevice *d, const void *data, u64 size) {
    DevicePtr address;
    assert_int_equal(sim_alloc(d->sim, 0, MEMORY_DEVICE, size, 256, &address), STATUS_OK);
    void *host = sim_host_view(d->sim, address, size, NULL);
    assert_non_null(host);
    if (data) memcpy(host, data, size);
    return address;
}

static inline void *device_view(TestDevice *d, DevicePtr address, u64 size) {
    return sim_host_view(d->sim, address, size, NULL);
}

#endif
