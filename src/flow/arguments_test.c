// SPDX-License-Identifier: Apache-2.0
// What launches were given as numbers in addresses and turns of loops.
#include "flow/arguments.h"

#include <string.h>

#include "base/testing.h"
#include "flow/flow_results.h"
#include "ptx/ptx.h"

// p: a pointer, n: a pitch and a number of turns, s: a structure of a pointer and a number, at bytes 16 to 31.
static const char kernel[] =
    ".version 8.3\n.target sm_90\n.address_size 64\n"
    ".visible .entry k(.param .u64 p, .param .u32 n, .param .align 8 .b8 s[16]) {\n"
    ".reg .b64 %rd<8>; .reg .b32 %r<12>; .reg .pred %p<2>;\n"
    "ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [n]; ld.param.u64 %rd2, [s]; ld.param.u32 %r2, [s+8];\n"
    "mov.u32 %r3, %tid.x; mul.lo.s32 %r4, %r3, %r1; mul.wide.s32 %rd3, %r4, 4; add.s64 %rd4, %rd1, %rd3;\n"
    "and.b32 %r5, %r1, 3; sub.s32 %r6, %r1, %r5; mov.u32 %r7, 0;\n"
    "turn:\nst.global.u32 [%rd4], %r7;\nst.global.u32 [%rd2], %r2;\n"
    "add.s32 %r7, %r7, 4; setp.lt.s32 %p1, %r7, %r6; @%p1 bra turn; ret; }\n";

typedef struct Launched {
    Arena arena;
    Module *module;
    FlowResults flow;
    u8 bytes[32];
    bool known[32];
    FlowArguments arguments;
} Launched;

static void launch(Launched *l, u32 n) {
    static const u64 pointer = 0x7f0000001000;
    FlowCode *code;
    *l = (Launched){.arguments = {.size = 32}};
    l->arguments.bytes = l->bytes;
    l->arguments.known = l->known;
    memcpy(l->bytes, &pointer, 8);
    memcpy(l->bytes + 8, &n, 4);
    memcpy(l->bytes + 16, &pointer, 8);
    l->bytes[24] = 7;
    memset(l->known, true, 16);  // of the structure, the number only
    memset(l->known + 24, true, 8);
    assert_int_equal(ptx_parse((Str){kernel, strlen(kernel)}, "k.ptx", &l->module, NULL), STATUS_OK);
    assert_int_equal(flow_from_ptx(l->module, 0, &l->arena, &code), STATUS_OK);
    assert_int_equal(flow_analyse(code, &l->arena, &l->flow), STATUS_OK);
}

static void forget(Launched *l) {
    arena_free(&l->arena);
    module_free(l->module);
}

TEST(what_is_a_number) {
    Launched l;
    launch(&l, 60);
    const FlowCode *code = l.flow.code;
    u32 first = code->first_param;
    i64 value = 0;
    assert_int_equal(code->param_count, 3);
    assert_int_equal(code->params[2].offset, 16);
    assert_false(flow_argument(code, &l.arguments, first, 0, 8, &value));  // a pointer
    assert_true(flow_argument(code, &l.arguments, first + 1, 0, 4, &value) && value == 60);
    assert_false(flow_argument(code, &l.arguments, first + 1, 0, 8, &value));  // beyond it
    assert_false(flow_argument(code, &l.arguments, first + 2, 0, 4, &value));  // half of a pointer
    assert_true(flow_argument(code, &l.arguments, first + 2, 8, 4, &value) && value == 7);
    assert_true(flow_argument(code, &l.arguments, first + 2, 8, 8, &value) && value == 7);
    assert_false(flow_argument(code, &l.arguments, first + 2, 12, 8, &value));
    assert_false(flow_argument(code, &l.arguments, first + 3, 0, 4, &value));
    assert_false(flow_argument(code, NULL, first + 1, 0, 4, &value));
    l.arguments.size = 11;  // cut off
    assert_false(flow_argument(code, &l.arguments, first + 1, 0, 4, &value));
    forget(&l);
}

TEST(numbers_are_constants) {
    Launched l;
    launch(&l, 63);
    const AffineAccess *store = &l.flow.affine->accesses[0];
    assert_int_equal(store->stride_kind[0], AFFINE_STRIDE_SYMBOLIC);
    assert_int_equal(l.flow.loops->loops[0].trip_count, -1);
    assert_int_equal(l.flow.loops->loops[0].launch_trips, -1);
    assert_int_equal(flow_take_arguments(&l.flow, &l.arguments, &l.arena), STATUS_OK);
    store = &l.flow.affine->accesses[0];
    assert_int_equal(store->stride_kind[0], AFFINE_STRIDE_CONSTANT);
    assert_int_equal(store->stride[0], 4 * 63);
    assert_true(store->base != WL_NONE && l.flow.affine->factors[store->base].kind == AFFINE_PARAMETER);
    assert_int_equal(l.flow.loops->loops[0].trip_count, -1);  // which the compiler did not know
    assert_int_equal(l.flow.loops->loops[0].launch_trips, 15);
    // What the code says of any launch stays, in the same places.
    assert_int_equal(l.flow.written->accesses[0].stride_kind[0], AFFINE_STRIDE_SYMBOLIC);
    assert_int_equal(l.flow.written->access_count, l.flow.affine->access_count);
    forget(&l);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_a_number), cmocka_unit_test(numbers_are_constants)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
