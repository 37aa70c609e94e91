// SPDX-License-Identifier: Apache-2.0
// The .approx and .full instructions give the bits of an H200, in both instruction sets of the host.
#include "base/testing.h"

#include "sim/exec_approx_cases.h"

static u32 failures(const ExecSelect *table, const char *name) {
    static ApproxRun run;
    u32 wrong = 0;
    for (u32 i = 0; i < WL_COUNT(approx_cases); i++) {
        const ApproxCase *c = &approx_cases[i];
        u64 got = approx_start(c, table, &run) ? approx_part(&run) : 0;
        if (got != c->part) {
            print_error("%s (%s): 0x%llx\n", c->mnemonic, name, (unsigned long long)got);
            wrong++;
        }
    }
    return wrong;
}

TEST(base_gives_the_bits_of_the_gpu) { assert_int_equal(failures(exec_table_base, "base"), 0); }

TEST(v3_gives_the_bits_of_the_gpu) {
#if SIM_HAS_V3
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) skip();
    assert_int_equal(failures(exec_table_v3, "v3"), 0);
#else
    skip();
#endif
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(base_gives_the_bits_of_the_gpu),
        cmocka_unit_test(v3_gives_the_bits_of_the_gpu),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
