// SPDX-License-Identifier: Apache-2.0
// Vector registers (.reg .v2, .v4): whole, by element, and as what mov packs and unpacks.
#include "sim/device_testing.h"

enum { THREADS = 32 };

static const char text[] =
    ".version 8.3\n.target sm_90\n.address_size 64\n"
    ".visible .entry k(.param .u64 in, .param .u64 out, .param .align 16 .v4 .u32 add) {\n"
    "  .reg .v4 .f32 %v, %w, %x<5>; .reg .v2 .f32 %half; .reg .v2 .b16 %h<3>; .reg .v2 .u32 %pair; .reg .v4 .u32 %id;\n"
    "  .reg .f32 %f<9>; .reg .b32 %r<9>; .reg .b64 %d<9>; .reg .b128 %q<3>; .reg .pred %p<3>;\n"
    "  ld.param.u64 %d1, [in]; ld.param.u64 %d2, [out];\n"
    "  mov.v4.u32 %id, %tid;\n"
    "  mul.wide.u32 %d3, %id.x, 16; add.u64 %d1, %d1, %d3;\n"
    "  mul.wide.u32 %d3, %id.x, 64; add.u64 %d2, %d2, %d3;\n"
    "  ld.global.v4.f32 %v, [%d1];\n"
    // 0: turned around in place, and one element written under a guard
    "  mov.v4.f32 %w, %v;\n"
    "  mov.v4.f32 %w, {%w.w, %w.z, %w.y, %w.x};\n"
    "  setp.lt.u32 %p1, %id.x, 8;\n"
    "  @%p1 add.f32 %w.y, %v.x, %v.a;\n"
    "  st.global.v4.f32 [%d2], %w;\n"
    // 16: through 128 and 64 bits
    "  mov.b128 %q1, %v; mov.b128 %x3, %q1;\n"
    "  mov.v2.f32 %half, {%x3.z, %x3.w}; mov.b64 %d4, %half; mov.b64 %pair, %d4;\n"
    "  mov.b32 %h1, %pair.y; mov.b32 %r1, {%h1.y, %h1.x};\n"
    "  mov.b32 %x3.x, %r1;\n"
    "  st.global.v4.f32 [%d2+16], %x3;\n"
    // 32: mixed lists, and a loop that carries a vector
    "  mov.u32 %r2, 0;\n"
    "loop:\n"
    "  mov.v4.f32 %v, {%v.y, %v.z, %v.w, %v.x};\n"
    "  add.u32 %r2, %r2, 1; setp.le.u32 %p1, %r2, %id.x; @%p1 bra loop;\n"
    "  st.global.v2.f32 [%d2+32], {%v.x, %v.y};\n"
    "  st.global.v2.u32 [%d2+40], {%id.y, %id.z};\n"
    // 48: a vector parameter
    "  ld.param.v4.u32 %id, [add];\n"
    "  st.global.v4.u32 [%d2+48], %id;\n"
    "  ret;\n}\n";

TEST(vector_registers) {
    TestDevice d;
    f32 in[THREADS][4];
    for (u32 i = 0; i < THREADS * 4; i++) in[i / 4][i % 4] = (f32)i + 0.5f;
    device_open(&d, text);
    struct {
        u64 in, out;
        u32 add[4];
    } params = {device_memory(&d, in, sizeof in), device_memory(&d, NULL, THREADS * 64), {7, 8, 9, 10}};
    device_run(&d, "k", 1, THREADS, &params);
    for (u32 t = 0; t < THREADS; t++) {
        f32 f[12];
        u32 bits[16];
        memcpy(f, device_view(&d, params.out + t * 64, 64), sizeof f);
        memcpy(bits, device_view(&d, params.out + t * 64, 64), sizeof bits);
        const f32 *v = in[t];
        assert_true(f[0] == v[3] && f[2] == v[1] && f[3] == v[0]);
        assert_true(f[1] == (t < 8 ? v[0] + v[3] : v[2]));
        u32 last;
        memcpy(&last, &v[3], 4);
        assert_int_equal(bits[4], last >> 16 | last << 16);
        assert_true(f[5] == v[1] && f[6] == v[2] && f[7] == v[3]);
        assert_true(f[8] == v[(t + 1) % 4] && f[9] == v[(t + 2) % 4]);
        assert_true(bits[10] == 0 && bits[11] == 0);
        for (u32 k = 0; k < 4; k++) assert_int_equal(bits[12 + k], 7 + k);
    }
    device_close(&d);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(vector_registers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
