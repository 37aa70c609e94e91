// SPDX-License-Identifier: Apache-2.0
// Any bytes as PTX, further than fuzz_ptx: what verifies is analysed, and each kernel lowered, for the simulator and
// for its timing, or refused with a message.
#include <stdint.h>
#include <stdlib.h>

#include "flow/flow_dump.h"
#include "ptx/ptx.h"
#include "sim/machine.h"
#include "sim/time/time_code_print.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const gpus[] = {"h200", "v100", "quadro-fx5800"};

static void analyse(const Module *module, FuncRef func, TextBuffer *text) {
    Arena arena = {0};
    FlowCode *code;
    FlowResults results;
    CallGraph *calls;
    if (flow_from_ptx(module, func, &arena, &code) != STATUS_OK) abort();
    if (flow_analyse(code, &arena, &results) != STATUS_OK) abort();
    if (flow_callgraph(module, &arena, &calls) != STATUS_OK) abort();
    results.calls = calls;
    for (u32 i = 0; i < FLOW_DUMP_COUNT; i++)
        if (flow_dump((FlowDump)i, &results, text) != STATUS_OK) abort();
    arena_free(&arena);
    text->len = 0;
}

static void lower(SimModule *module, FuncRef func, const GpuModel *gpu, TextBuffer *text) {
    Diag diag = {0};
    SimProgram *program;
    TimeCode *code;
    Status status = program_build(module, func, &program, &diag);
    if (status != STATUS_OK && diag.errors == 0) abort();
    if (status == STATUS_OK) {
        if (time_code_build(program, gpu, (SimMachineCode){0}, &code) != STATUS_OK) abort();
        if (time_code_print(code, text) != STATUS_OK) abort();
        time_code_free(code);
        program_free(program);
    }
    diag_free(&diag);
    text->len = 0;
}

static void look_at(SimModule *module, const GpuModel *gpu) {
    const Module *ptx = sim_module_ptx(module);
    TextBuffer text = {0};
    for (FuncRef i = 0; i < ptx->func_count; i++) {
        if (!ptx->funcs[i].has_body) continue;
        analyse(ptx, i, &text);
        if (ptx->funcs[i].is_entry) lower(module, i, gpu, &text);
    }
    vec_free(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    Diag diag = {0};
    GpuModel gpu;
    Sim *sim;
    SimModule *loaded;
    Module *module;
    if (ptx_load((Str){(const char *)data, size}, "input", &module, &diag) != STATUS_OK) {
        diag_free(&diag);
        return 0;
    }
    if (gpu_load("gpus", gpus[size % WL_COUNT(gpus)], &gpu, &diag) != STATUS_OK) abort();
    SimConfig config = {.gpu = &gpu, .devices = 1, .threads = 1};
    if (sim_create(&config, &sim) != STATUS_OK) abort();
    Status status = sim_load_module(sim, 0, module, &loaded, &diag);
    if (status == STATUS_OK)
        look_at(loaded, &gpu);
    else
        module_free(module);
    sim_destroy(sim);
    diag_free(&diag);
    return 0;
}
