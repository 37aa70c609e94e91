// SPDX-License-Identifier: Apache-2.0
// The functions of exec/ against results recorded on an H200 (exec_cases.inc), both instruction sets of the
// host against each other, partial masks, and registers that are source and destination at once.
#include "base/testing.h"

#include "sim/exec_cases.h"
#include "sim/machine.h"
#include "sim/warp.h"

static u64 inputs[CASE_LANES * CASE_INPUTS], first[CASE_LANES * CASE_OUTPUTS], second[CASE_LANES * CASE_OUTPUTS];

static const ExecSelect *tables[2];
static u32 table_count;

static int find_tables(void **state) {
    (void)state;
    table_count = testing_tables(tables);
    return 0;
}

// Runs a case for the lanes of `mask` in each warp. `alias`: the first source register is the destination, where they
// are of one size.
typedef struct Setting {
    u32 mask;
    bool alias;
} Setting;

static bool run_case(const ExecCase *c, const ExecSelect *table, Setting setting, u64 *out) {
    static CaseCode code;
    static TestFrame t;
    if (!case_select(c, table, &code)) {
        print_error("%s: not executable\n", c->mnemonic);
        return false;
    }
    SimProgram program = {.lists = code.list};
    Grid grid = {.program = &program};
    SimOperand dst = code.insn.dst;
    if (setting.alias) code.insn.dst = code.insn.src[0];
    testing_frame(&t);
    t.x.grid = &grid;
    for (u32 lane = 0; lane < CASE_LANES; lane += LANES) {
        case_load(&code, &t, inputs + lane * CASE_INPUTS);
        t.pred[4] = t.pred[5] = 0x12345678;
        for (u32 r = CASE_DST; r < TESTING_REGS; r++)
            for (u32 l = 0; l < LANES; l++) t.r32[r][l] = 0xdeadbeef, t.r64[r][l] = 0xdeadbeefdeadbeef;
        code.fn(&t.x, &code.insn, setting.mask);
        if (setting.alias) {  // case_results looks where the destination was
            memcpy(exec_operand(&t.x, dst), exec_operand(&t.x, code.insn.src[0]), dst >> 30 & 1 ? 256 : 128);
        }
        case_results(&code, &t, out + lane * CASE_OUTPUTS);
    }
    return true;
}

TEST(same_as_the_gpu) {
    u32 wrong = 0;
    for (u32 i = 0; i < WL_COUNT(exec_cases); i++) {
        const ExecCase *c = &exec_cases[i];
        case_inputs(c, inputs);
        for (u32 k = 0; k < table_count; k++) {
            if (!run_case(c, tables[k], (Setting){.mask = FULL_MASK}, k ? second : first))
                wrong++;
            else if (c->hash && case_hash(k ? second : first) != c->hash) {
                print_error("%s %s: not what the GPU gave (%s)\n", c->mnemonic, c->operands, k ? "v3" : "base");
                wrong++;
            }
        }
        if (table_count == 2 && memcmp(first, second, sizeof first)) {
            print_error("%s %s: base and v3 differ\n", c->mnemonic, c->operands);
            wrong++;
        }
    }
    assert_int_equal(wrong, 0);
}

static bool exchanges_lanes(const ExecCase *c) {
    CaseKinds k = case_kinds(c);
    return k.matrix || strchr(k.src, 'm') || !strncmp(c->mnemonic, "movmatrix", 9);
}

TEST(inactive_lanes_keep_their_values) {
    enum { MASK = 0x80c30f5a };
    u32 wrong = 0;
    for (u32 i = 0; i < WL_COUNT(exec_cases); i++) {
        const ExecCase *c = &exec_cases[i];
        CaseKinds kinds = case_kinds(c);
        bool exchanges = exchanges_lanes(c);
        case_inputs(c, inputs);
        for (u32 k = 0; k < table_count; k++) {
            if (!run_case(c, tables[k], (Setting){.mask = FULL_MASK}, first)) continue;
            run_case(c, tables[k], (Setting){.mask = MASK}, second);
            bool ok = true;
            for (u32 lane = 0; lane < CASE_LANES; lane++) {
                u64 *full = first + lane * CASE_OUTPUTS, *part = second + lane * CASE_OUTPUTS;
                if (MASK >> (lane % LANES) & 1) {
                    if (!exchanges) ok &= !memcmp(full, part, CASE_OUTPUTS * 8);
                    continue;
                }
                char d = kinds.dst[0];
                u64 bit = 0x12345678 >> (lane % LANES) & 1;
                ok &= part[0] == (d == 'p' || d == 'D' ? bit
                                  : case_is_wide(d)    ? 0xdeadbeefdeadbeef
                                  : d == 't'           ? 0xbeef
                                                       : 0xdeadbeef);
                if (!kinds.matrix && (d == 'P' || d == 'D')) ok &= part[1] == bit;
            }
            if (!ok)
                print_error("%s %s: wrong with a partial mask (%s)\n", c->mnemonic, c->operands, k ? "v3" : "base"),
                    wrong++;
        }
    }
    assert_int_equal(wrong, 0);
}

TEST(source_may_be_destination) {
    u32 wrong = 0, tried = 0;
    for (u32 i = 0; i < WL_COUNT(exec_cases); i++) {
        const ExecCase *c = &exec_cases[i];
        CaseKinds k = case_kinds(c);
        bool registers = !k.matrix && strchr("rxtP", k.dst[0]) && k.src[0] != 'q';
        if (!registers || case_is_wide(k.dst[0]) != case_is_wide(k.src[0])) continue;
        case_inputs(c, inputs);
        for (u32 n = 0; n < table_count; n++) {
            if (!run_case(c, tables[n], (Setting){.mask = FULL_MASK}, first)) continue;
            run_case(c, tables[n], (Setting){.mask = FULL_MASK, .alias = true}, second);
            tried++;
            if (memcmp(first, second, sizeof first))
                print_error("%s %s: wrong in place (%s)\n", c->mnemonic, c->operands, n ? "v3" : "base"), wrong++;
        }
    }
    assert_true(tried > 500);
    assert_int_equal(wrong, 0);
}

// What ops.def calls executable has a selector, in both instruction sets.
TEST(base_and_v3_know_the_same_ops) {
    for (u32 op = 0; op < OP_COUNT; op++) {
        assert_int_equal(ptx_ops[op].executable, exec_table_base[op] != NULL);
#if SIM_HAS_V3
        assert_int_equal(exec_table_base[op] != NULL, exec_table_v3[op] != NULL);
#endif
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_as_the_gpu),
        cmocka_unit_test(inactive_lanes_keep_their_values),
        cmocka_unit_test(source_may_be_destination),
        cmocka_unit_test(base_and_v3_know_the_same_ops),
    };
    return cmocka_run_group_tests(tests, find_tables, NULL);
}
