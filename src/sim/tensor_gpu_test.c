// SPDX-License-Identifier: Apache-2.0
// Bulk and tensor copies do what they did on an H200: generated cases with the hashes of its memory afterwards
// (tests/sim/tensor_gpu.c recorded them: 2026-11-21, NVIDIA H200, driver 580, CUDA 13.0). im2col stores are fewer: it
// ran into the faults of boxes that reach out of the tensor.
#include "sim/device_testing.h"
#include "sim/tensor_cases.h"

typedef struct Recorded {
    u32 kind, index;
    i32 code;    // 0, CUDA_ERROR_INVALID_VALUE for the map, or the fault
    u32 status;  // 1: the copy completed
    u64 hash;
} Recorded;

static const Recorded recorded[] = {
#include "sim/tensor_cases.inc"
};

static Recorded run_case(TensorCase *c) {
    static u8 area[CASE_HEAD_BYTES + CASE_AREA_BYTES], memory[CASE_TENSOR_BYTES];
    static char text[8192];
    Recorded r = {.kind = c->kind};
    struct {
        u8 map[TENSOR_MAP_BYTES];
        u64 io, tensor;
    } params;
    TestDevice d;
    case_kernel(c, text, sizeof text);
    device_open(&d, text);
    case_fill(memory, sizeof memory, c->seed + 1, c->spec.type);
    case_head(c, area);
    case_fill(area + CASE_HEAD_BYTES, CASE_AREA_BYTES, c->seed + 2, c->spec.type);
    params.tensor = device_memory(&d, memory, sizeof memory);
    params.io = device_memory(&d, area, sizeof area);
    _Alignas(64) u8 map[TENSOR_MAP_BYTES];
    if (case_map(c, params.tensor, map) != STATUS_OK) {
        r.code = 1;
    } else {
        memcpy(params.map, map, sizeof map);
        SimKernel *k;
        assert_int_equal(sim_find_kernel(d.sim, d.module, "k", &k), STATUS_OK);
        SimLaunch launch = {.kernel = k,
                            .grid = {1, 1, 1},
                            .block = {128, 1, 1},
                            .cluster = {1, 1, 1},
                            .dynamic_shared_bytes = CASE_AREA_BYTES,
                            .params = &params};
        Status status = sim_launch(d.sim, &launch, NULL, &d.diag);
        if (status != STATUS_OK && status != STATUS_FAULT) device_show(&d);
        r.code = status == STATUS_OK ? 0 : status == STATUS_FAULT ? (i32)sim_fault_code(d.sim) : -1;
        const u8 *after = device_view(&d, params.io, sizeof area),
                 *tensor = device_view(&d, params.tensor, sizeof memory);
        memcpy(&r.status, after + 64, 4);
        r.hash = case_hash(case_hash(1, tensor, sizeof memory), after + CASE_HEAD_BYTES, CASE_AREA_BYTES);
    }
    device_close(&d);
    return r;
}

TEST(cases_are_as_recorded) {
    u32 wrong = 0;
    for (u32 i = 0; i < WL_COUNT(recorded); i++) {
        const Recorded *r = &recorded[i];
        TensorCase c;
        case_make(&c, (TensorCaseKind)r->kind, r->index);
        Recorded got = run_case(&c);
        bool same = got.code == r->code && (r->code || (got.status == r->status && got.hash == r->hash));
        if (same) continue;
        wrong++;
        print_message("kind %u case %u: code %d status %u, on the GPU code %d status %u%s\n", r->kind, r->index,
                      got.code, got.status, r->code, r->status, got.hash == r->hash ? "" : ", other bytes");
    }
    assert_int_equal(wrong, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cases_are_as_recorded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
