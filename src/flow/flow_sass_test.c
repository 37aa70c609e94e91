// SPDX-License-Identifier: Apache-2.0
// What flow_from_sass makes of machine code: small functions written here, and what ptxas made of
// tests/sass/kernels.cu.
#include "base/testing.h"

#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "flow/flow_results.h"
#include "flow/flow_testing.h"
#include "flow/flow_util.h"
#include "sass/control.h"

// --- functions of lines --------------------------------------------------------------------------------------------
typedef struct Made {
    SassModule module;
    Arena arena;
    FlowCode *code;
    FlowResults flow;
} Made;

static const FlowParam params[] = {{0, 8}, {8, 8}, {16, 4}, {20, 4}};

// Lines as of sass_of_lines(); jumps end with {0, 0}.
static void make_with(Made *m, const char *const *lines, const FlowJump *jumps, const u8 *control,
                      size_t control_size) {
    *m = (Made){0};
    u32 jump_count = 0;
    while (jumps && jumps[jump_count].to) jump_count++;
    sass_of_lines(&m->module, lines);
    FlowSassSource source = {.module = &m->module,
                             .code = control,
                             .code_size = control_size,
                             .is_entry = true,
                             .param_base = 0x210,
                             .params = params,
                             .param_count = WL_COUNT(params),
                             .jumps = jumps,
                             .jump_count = jump_count};
    assert_int_equal(flow_from_sass(&source, &m->arena, &m->code), STATUS_OK);
    assert_int_equal(flow_analyse(m->code, &m->arena, &m->flow), STATUS_OK);
}
#define MAKE(m, ...) make_with((m), (const char *const[]){__VA_ARGS__, NULL}, NULL, NULL, 0)

static void done(Made *m) {
    arena_free(&m->arena);
    sass_free(&m->module);
}

// The address of the n-th access as a polynomial.
static void check_access(const Made *m, u32 n, const char *want) {
    const Affine *affine = m->flow.affine;
    TextBuffer text = {0};
    assert_true(n < affine->access_count);
    assert_int_equal(affine_print(affine, affine->accesses[n].form, affine->accesses[n].base, &text), STATUS_OK);
    assert_int_equal(vec_push(&text, 0), STATUS_OK);
    assert_string_equal(text.data, want);
    vec_free(&text);
}

// --- arithmetic ----------------------------------------------------------------------------------------------------
TEST(addresses_of_hopper) {
    Made m;
    MAKE(&m, "|S2R|R5,SR_TID.X", "|S2UR|UR6,SR_CTAID.X", "|ULDC|UR4,c[0x0][0x0]", "|LDC.64|R2,c[0x0][0x210]",
         "|ULDC.64|UR8,c[0x0][0x220]", "|IMAD|R5,R5,UR8,R5", "|IMAD|R0,R4,UR9,R5", "|IMAD|R7,R7,RZ,R5",
         "|IMAD.WIDE|R2,R7,0x4,R2", "|LDG.E|R0,desc[UR4][R2.64+0x8]", "|EXIT|");
    check_access(&m, 0, "param0 + 4*tid.x*param2 + 4*tid.x + 8");
    assert_int_equal(m.flow.affine->accesses[0].stride_kind[0], AFFINE_STRIDE_SYMBOLIC);
    done(&m);
}

TEST(sizes_of_ctas_have_several_names) {
    Made m;
    MAKE(&m, "|S2R|R0,SR_TID.X", "|S2UR|UR4,SR_CTAID.X", "|LDC|R3,c[0x0][RZ]", "|IMAD|R0,R3,UR4,R0",
         "|LDC.64|R4,c[0x0][0x210]", "|IMAD.WIDE|R4,R0,0x4,R4", "|LDG.E|R6,[R4.64]", "|EXIT|");
    check_access(&m, 0, "param0 + 4*tid.x + 4*ctaid.x*ntid.x");
    done(&m);
}

TEST(addresses_with_carries) {
    Made m;
    MAKE(&m, "|S2R|R0,SR_TID.X", "|LEA|R2,P0,R0,c[0x0][0x210],0x2", "|LEA.HI.X|R3,R0,c[0x0][0x214],RZ,0x2,P0",
         "|IADD3|R4,P1,R2,0x100,RZ", "|IADD3.X|R5,RZ,R3,RZ,P1,!PT", "|LDG.E|R6,[R4.64]", "|IADD3|R8,P1,R2,R0,R0",
         "|STG.E.128|[R8.64],R4", "|EXIT|");
    check_access(&m, 0, "param0 + 4*tid.x + 256");
    check_access(&m, 1, "param0 + 6*tid.x");
    assert_int_equal(m.flow.affine->accesses[1].bytes, 16);
    assert_int_equal(m.flow.affine->accesses[0].stride[0], 4);
    done(&m);
}

TEST(addresses_in_shared_memory) {
    Made m;
    MAKE(&m, "|S2R|R0,SR_TID.X", "|UMOV|UR4,0x400", "|SHF.L.U32|R1,R0,0x3,RZ", "|LDS.64|R2,[R1+UR4+0x10]",
         "|LDS|R4[R0.X4+0x20]", "|STS|[UR4],R4", "|EXIT|");
    check_access(&m, 0, "8*tid.x + 1040");
    check_access(&m, 1, "4*tid.x + 32");
    check_access(&m, 2, "1024");
    assert_true(m.flow.affine->accesses[2].uniform && !m.flow.affine->accesses[0].uniform);
    done(&m);
}

TEST(numbers_come_in_many_guises) {
    Made m;
    MAKE(&m, "|HFMA2.MMA|R1,-RZ,RZ,0,2.384185791015625e-07", "|S2R|R0,SR_TID.X", "|IMAD.MOV.U32|R2,RZ,RZ,R0",
         "|IADD3|R3,-R1,R2,RZ", "|IMAD.IADD|R3,R3,0x1,-R0", "|IMAD|R3,R0,R1,R3", "|VIADD|R3,R3,0xfffffff0",
         "|IMAD.SHL.U32|R3,R3,0x2,RZ", "|LDS|R5,[R3]", "|EXIT|");
    check_access(&m, 0, "8*tid.x - 40");
    done(&m);
}

TEST(loops_are_counted) {
    Made m;
    MAKE(&m, "|MOV|R0,RZ", "|IADD3|R0,R0,0x2,RZ", "|ISETP.GE.AND|P0,PT,R0,0x14,PT", "@!P0|BRA|0x10", "|EXIT|");
    assert_int_equal(m.flow.loops->loop_count, 1);
    assert_int_equal(m.flow.loops->loops[0].trip_count, 10);
    done(&m);
}

// A uniform counter is compared into a uniform predicate, which the branch has a copy of.
TEST(uniform_loops_are_counted) {
    Made m;
    MAKE(&m, "|UMOV|UR4,URZ", "|UIADD3|UR4,UR4,0x2,URZ", "|UISETP.GE.AND|UP0,UPT,UR4,0x14,UPT",
         "|PLOP3.LUT|P0,PT,PT,PT,UP0,0x80,0x0", "@!P0|BRA|0x10", "|EXIT|");
    assert_int_equal(m.flow.loops->loops[0].trip_count, 10);
    done(&m);
    MAKE(&m, "|UMOV|UR4,URZ", "|UIADD3|UR4,UR4,0x2,URZ", "|UISETP.GE.AND|UP0,UPT,UR4,0x14,UPT",
         "|PLOP3.LUT|P0,PT,P1,PT,UP0,0x80,0x0", "@!P0|BRA|0x10", "|EXIT|");  // both
    assert_int_equal(m.flow.loops->loops[0].trip_count, -1);
    done(&m);
    MAKE(&m, "|UMOV|UR4,URZ", "|UIADD3|UR4,UR4,0x2,URZ", "|UISETP.GE.AND|UP0,UPT,UR4,0x14,UPT",
         "|PLOP3.LUT|P0,PT,PT,PT,UP0,0x8,0x0", "@!P0|BRA|0x10", "|EXIT|");  // another table
    assert_int_equal(m.flow.loops->loops[0].trip_count, -1);
    done(&m);
}

// --- definitions and uses --------------------------------------------------------------------------------------------
static u32 def_of(const Made *m, u32 pc, u32 nth) {
    assert_true(nth < m->code->insns[pc].defs);
    return m->code->operands[m->code->insns[pc].operands + nth].id;
}
static bool uses(const Made *m, u32 pc, u32 value) {
    const FlowInsn *in = &m->code->insns[pc];
    for (u32 u = 0; u < in->uses; u++) {
        const FlowOperand *o = &m->code->operands[in->operands + in->defs + u];
        if (o->kind == FLOW_VALUE && o->id == value) return true;
    }
    return false;
}

TEST(pairs_fragments_and_predicates) {
    Made m;
    MAKE(&m, "|DFMA|R4,R6,R8,R10", "|DADD|R2,R4,R4", "|HMMA.16816.F32|R12,R4,R2,RZ", "|FADD|R0,R15,R12",
         "|ISETP.GT.AND|P0,P1,R0,R4,PT", "@P1|IADD3|R1,P2,R0,0x1,RZ", "|IADD3.X|R2,R2,R2,RZ,P2,!PT", "|R2P|PR,R2,0x3",
         "@P1|EXIT|", "|P2R|R3,PR,RZ,0x7f", "|EXIT|");
    assert_int_equal(m.code->insns[0].defs, 2);
    assert_true(uses(&m, 1, def_of(&m, 0, 0)) && uses(&m, 1, def_of(&m, 0, 1)));
    assert_true(uses(&m, 2, def_of(&m, 0, 0)) && uses(&m, 2, def_of(&m, 0, 1)) && uses(&m, 2, def_of(&m, 1, 1)));
    assert_int_equal(m.code->insns[2].defs, 4);
    assert_true(uses(&m, 3, def_of(&m, 2, 0)) && uses(&m, 3, def_of(&m, 2, 3)));
    assert_int_equal(m.code->insns[4].defs, 2);
    assert_int_equal(m.code->insns[5].guard, def_of(&m, 4, 1));
    assert_true(uses(&m, 6, def_of(&m, 5, 1)));
    assert_int_equal(m.code->insns[7].defs, 2);  // P0 and P1 by the mask
    assert_int_equal(m.code->insns[8].guard, def_of(&m, 7, 1));
    assert_true(uses(&m, 9, def_of(&m, 7, 0)));
    done(&m);
}

TEST(unknown_opcodes_keep_what_was_there) {
    Made m;
    MAKE(&m, "|MOV|R0,0x1", "|FROBNICATE|R0,R1", "|STS|[RZ],R0", "|EXIT|");
    assert_true(uses(&m, 1, def_of(&m, 0, 0)));
    assert_true(m.code->insns[1].has_effects);
    done(&m);
}

TEST(divergence_knows_the_uniform_units) {
    Made m;
    MAKE(&m, "|S2R|R0,SR_TID.X", "|R2UR|UR4,R0", "|LDC|R1,c[0x0][0x220]", "|SHFL.IDX|PT,R2,R1,RZ,0x1f",
         "|VOTE.ANY|R3,PT,PT", "|LDG.E|R4,[UR4]", "|S2R|R5,SR_SOMETHING", "|EXIT|");
    static const bool differs[] = {true, false, false, true, false, false, true};
    for (u32 pc = 0; pc < WL_COUNT(differs); pc++)
        assert_int_equal(divergence_of_result(m.flow.divergence, pc), differs[pc]);
    done(&m);
}

// --- control -------------------------------------------------------------------------------------------------------
static void check_succs(const Made *m, u32 pc, u32 count, u32 first, u32 second) {
    const Cfg *cfg = m->flow.cfg;
    const FlowBlock *block = &cfg->blocks[cfg->block_of[pc]];
    assert_int_equal(block->succ_count, count);
    if (count > 0) assert_int_equal(cfg->blocks[cfg->edges[block->succs]].first, first);
    if (count > 1) assert_int_equal(cfg->blocks[cfg->edges[block->succs + 1]].first, second);
}

TEST(branches_go_where_they_say) {
    static const FlowJump jumps[] = {{0x50, 0x70}, {0x50, 0x60}, {0, 0}};
    Made m;
    make_with(&m,
              (const char *const[]){"@P0|BRA|0x30", "|BRA|P1,0x50", "|BRA.DIV|UR4,0x50", "@!P0|EXIT|", "|BRA.U|UP0,0x0",
                                    "|BRX|R2,-0x60", "|EXIT|", "|RET.REL.NODEC|R20,0x0", NULL},
              jumps, NULL, 0);
    check_succs(&m, 0, 2, 3, 1);
    check_succs(&m, 1, 2, 5, 2);
    check_succs(&m, 2, 2, 5, 3);
    check_succs(&m, 3, 1, 4, 0);
    assert_true(m.flow.cfg->blocks[m.flow.cfg->block_of[3]].leaves);
    check_succs(&m, 4, 2, 0, 5);
    check_succs(&m, 5, 2, 7, 6);
    check_succs(&m, 7, 0, 0, 0);
    done(&m);
}

// A loop with the long way of a division behind the kernel's end: what is called once comes back, and lanes that go
// there do not leave the loop; what is called twice may come from anywhere.
TEST(routines_called_once_return) {
    Made m;
    MAKE(&m, "|S2R|R0,SR_TID.X", "|FCHK|P0,R0,R1", "@!P0|BRA|0x50", "|MOV|R2,0x50", "|CALL.REL.NOINC|0x90",
         "|IADD3|R4,R4,0x1,RZ", "|ISETP.NE.AND|P1,PT,R4,0x8,PT", "@P1|BRA|0x10", "|EXIT|", "|MOV|R0,R1",
         "|RET.REL.NODEC|R2,0x0");
    check_succs(&m, 4, 1, 9, 0);
    check_succs(&m, 10, 1, 5, 0);
    assert_int_equal(m.flow.loops->loop_count, 1);
    assert_true(flow_loop_has(m.flow.loops, 0, m.flow.cfg->block_of[10]));
    assert_false(bitset_has(&m.flow.divergence->temporal, 0));
    done(&m);
    MAKE(&m, "|CALL.REL.NOINC|0x40", "|NOP|", "|CALL.REL.NOINC|0x40", "|EXIT|", "|MOV|R0,R1", "|RET.REL.NODEC|R2,0x0");
    check_succs(&m, 0, 2, 4, 1);
    check_succs(&m, 2, 2, 4, 3);
    check_succs(&m, 5, 0, 0, 0);
    done(&m);
    MAKE(&m, "|CALL.REL.NOINC|0x60", "|NOP|", "|CALL.REL.NOINC|0x40", "|EXIT|", "|MOV|R0,R1", "|RET.REL.NODEC|R2,0x0",
         "|MOV|R4,R1", "|RET.REL.NODEC|R2,0x0");
    check_succs(&m, 5, 1, 3, 0);  // two routines, the first one behind the second
    check_succs(&m, 7, 1, 1, 0);
    assert_int_equal(m.flow.loops->loop_count, 0);
    done(&m);
}

// Called at several places it is not known to go back to either, but a loop is not left by it.
TEST(loops_with_calls_are_counted) {
    Made m;
    MAKE(&m, "|MOV|R0,RZ", "|IADD3|R0,R0,0x2,RZ", "|ISETP.GE.AND|P0,PT,R0,0x14,PT", "|CALL.REL.NOINC|0x70",
         "|CALL.REL.NOINC|0x70", "@!P0|BRA|0x10", "|EXIT|", "|MOV|R4,R1", "|RET.REL.NODEC|R2,0x0");
    assert_int_equal(m.flow.loops->loop_count, 1);
    assert_int_equal(m.flow.loops->loops[0].trip_count, 10);
    done(&m);
}

TEST(what_is_never_done_has_no_effect) {
    Made m;
    MAKE(&m, "|MOV|R0,0x1", "@!PT|BRA|0x40", "@!PT|MOV|R0,R1", "|STS|[RZ],R0", "|EXIT|");
    assert_int_equal(m.flow.cfg->block_count, 1);
    assert_int_equal(m.code->insns[2].defs, 0);
    assert_true(uses(&m, 3, def_of(&m, 0, 0)));
    done(&m);
}

TEST(indirect_branch_without_a_table) {
    Made m;
    MAKE(&m, "|BRX|R2,-0x10", "|EXIT|", "|MOV|R0,R1", "|EXIT|", "|BRA|0x40", "|NOP|");
    check_succs(&m, 0, 2, 1, 2);  // not the endless branch behind the code, not the padding
    done(&m);
}

TEST(control_words_are_carried_along) {
    u8 control[5 * SASS_INSN_BYTES] = {0};
    for (u32 i = 0; i < 5; i++)
        sass_set_control(control + i * SASS_INSN_BYTES, (SassControl){.stall = (u8)(i + 1),
                                                                      .write_barrier = i == 0 ? 3 : 7,
                                                                      .read_barrier = 7,
                                                                      .wait_mask = i == 1 ? 8 : 0});
    Made m;
    make_with(
        &m, (const char *const[]){"|LDG.E|R0,[R2]", "|MOV|R1,R0", "|LDGDEPBAR|", "|DEPBAR.LE|SB0,0x1", "|EXIT|", NULL},
        NULL, control, sizeof control);
    assert_non_null(m.code->issue);
    assert_int_equal(m.code->issue[0].write_barrier, 3);
    assert_int_equal(m.code->issue[1].wait_mask, 8);
    assert_int_equal(m.code->issue[2].stall, 3);
    assert_int_equal(m.code->issue[3].wait_mask, 1);  // by its operand
    done(&m);
    make_with(&m, (const char *const[]){"|EXIT|", "|EXIT|", NULL}, NULL, control, SASS_INSN_BYTES);
    assert_null(m.code->issue);  // of other code
    done(&m);
}

// --- memory --------------------------------------------------------------------------------------------------------
static Status read_and_analyse(Str json) {
    SassModule module;
    TRY(sass_read(&module, json, "app", NULL));
    Status status = STATUS_OK;
    for (u32 f = 0; f < module.functions.len && status == STATUS_OK; f++) {
        FlowSassSource source = {.module = &module, .function = f, .param_base = 0x210};
        Arena arena = {0};
        FlowCode *code;
        FlowResults results;
        status = flow_from_sass(&source, &arena, &code);
        if (status == STATUS_OK) status = flow_analyse(code, &arena, &results);
        arena_free(&arena);
    }
    sass_free(&module);
    return status;
}

TEST(every_allocation_may_fail) {
    FileData file;
    assert_int_equal(file_read("tests/sass/app.json", &file, NULL), STATUS_OK);
    Str json = {(char *)file.data, file.size};
    Status status = STATUS_NO_MEMORY;
    for (u64 n = 0; status != STATUS_OK; n++) {
        u64 left = n;
        assert_true(n < 100000);
        testing_memory_out_after(&left);
        status = read_and_analyse(json);
        testing_memory_back();
        if (status != STATUS_OK) assert_int_equal(status, STATUS_NO_MEMORY);
    }
    file_release(&file);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses_of_hopper),
        cmocka_unit_test(sizes_of_ctas_have_several_names),
        cmocka_unit_test(addresses_with_carries),
        cmocka_unit_test(addresses_in_shared_memory),
        cmocka_unit_test(numbers_come_in_many_guises),
        cmocka_unit_test(loops_are_counted),
        cmocka_unit_test(uniform_loops_are_counted),
        cmocka_unit_test(pairs_fragments_and_predicates),
        cmocka_unit_test(unknown_opcodes_keep_what_was_there),
        cmocka_unit_test(divergence_knows_the_uniform_units),
        cmocka_unit_test(branches_go_where_they_say),
        cmocka_unit_test(routines_called_once_return),
        cmocka_unit_test(loops_with_calls_are_counted),
        cmocka_unit_test(what_is_never_done_has_no_effect),
        cmocka_unit_test(indirect_branch_without_a_table),
        cmocka_unit_test(control_words_are_carried_along),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
