// SPDX-License-Identifier: Apache-2.0
// Whose value stays where lanes of a store meet: what an H200 says (bench/hwref/h200-shared-turns.tsv, rows `stays/`).
#include "sim/device_testing.h"

static const char one_store[] = PTX_HEAD
    ".visible .entry meet(.param .u64 out, .param .u64 global, .param .u32 mask) {\n"
    "  .reg .b64 %%d<9>; .reg .b32 %%r<9>; .reg .b16 %%h<9>; .reg .pred %%p<9>; .shared .align 16 .b8 near[16];\n"
    "  ld.param.u64 %%d1, [out]; ld.param.u64 %%d2, [global]; ld.param.u32 %%r1, [mask];\n"
    "  mov.u32 %%r2, %%tid.x; shr.u32 %%r3, %%r1, %%r2; and.b32 %%r3, %%r3, 1; setp.ne.u32 %%p1, %%r3, 0;\n"
    "  setp.eq.u32 %%p2, %%r2, 0; mov.u32 %%r4, near; cvt.u64.u32 %%d4, %%r2; cvt.u16.u32 %%h4, %%r2;\n"
    "  @%%p1 st.shared.%1$s [%%r4], %2$s; @%%p1 st.global.%1$s [%%d2], %2$s; bar.warp.sync -1;\n"
    "  ld.shared.u8 %%r5, [%%r4]; ld.global.u8 %%r6, [%%d2];\n"
    "  @%%p2 st.global.u32 [%%d1], %%r5; @%%p2 st.global.u32 [%%d1+4], %%r6; ret;\n}\n";

// Lanes of `mask` store their number as `type` to one place of shared and one of global memory.
static void expect_stays(const char *type, u32 mask, u32 shared, u32 global) {
    static const struct {
        const char *name, *form, *value;
    } forms[] = {{"u8", "u8", "%h4"},
                 {"u16", "u16", "%h4"},
                 {"u32", "u32", "%r2"},
                 {"u64", "u64", "%d4"},
                 {"u32 by two", "v2.u32", "{%r2, %r2}"},
                 {"u32 by four", "v4.u32", "{%r2, %r2, %r2, %r2}"}};
    u32 k = 0;
    while (k < WL_COUNT(forms) && strcmp(forms[k].name, type)) k++;
    assert_in_range(k, 0, WL_COUNT(forms) - 1);
    char text[2048];
    snprintf(text, sizeof text, one_store, forms[k].form, forms[k].value);
    TestDevice d;
    device_open(&d, text);
    struct {
        u64 out, global;
        u32 mask;
    } params = {device_memory(&d, NULL, 64), device_memory(&d, NULL, 64), mask};
    device_run(&d, "meet", 1, 32, &params);
    const u32 *stays = device_view(&d, params.out, 8);
    assert_int_equal(stays[0], shared);
    assert_int_equal(stays[1], global);
    device_close(&d);
}

TEST(the_lanes_of_an_h200_stay) {
    FILE *table = fopen("bench/hwref/h200-shared-turns.tsv", "r");
    assert_non_null(table);
    char line[256], type[16];
    u32 mask, shared, global, rows = 0;
    while (fgets(line, sizeof line, table)) {
        if (sscanf(line, "stays/%15[^/]/%x\tshared %u\tglobal %u", type, &mask, &shared, &global) != 4) continue;
        expect_stays(type, mask, shared, global);
        rows++;
    }
    fclose(table);
    assert_int_equal(rows, 24);
}

// Vectors go by as many parts of the warp as single values of their size; of 16 bytes only `stays/v4` was measured.
TEST(vectors_go_by_parts_of_the_warp) {
    expect_stays("u32 by two", 0xffffffff, 16, 16);
    expect_stays("u32 by four", 0xff, 0, 0);
    expect_stays("u32 by four", 0x3f2, 8, 8);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_lanes_of_an_h200_stay),
                                       cmocka_unit_test(vectors_go_by_parts_of_the_warp)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
