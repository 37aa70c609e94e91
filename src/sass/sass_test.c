// SPDX-License-Identifier: Apache-2.0
#include "base/testing.h"

#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "sass/control.h"
#include "sass/latency.h"
#include "sass/sass.h"

// --- control words -----------------------------------------------------------------------------------------------
static void put_word(u8 *insn, u64 low, u64 high) {
    for (u32 i = 0; i < 8; i++) insn[i] = (u8)(low >> (8 * i)), insn[8 + i] = (u8)(high >> (8 * i));
}

TEST(control_words_are_read) {
    static const struct {
        u64 low, high;
        SassControl control;
    } cases[] = {
        // S2R R5, SR_TID.X; LDG.E R25, desc[UR8][R2.64]; STS [R19], R24; IMAD R7, R0, R17.reuse, R5.reuse (sm_90a)
        {0x0000000000057919, 0x000ea20000002100, {1, true, 2, 7, 0, 0}},
        {0x0000000802197981, 0x0000a2000c1e1900, {1, true, 2, 0, 0, 0}},
        {0x0000001813007388, 0x008fe80000000800, {4, false, 7, 7, 8, 0}},
        {0x0000001100077224, 0x180fe200078e0205, {1, false, 7, 7, 0, 6}},
    };
    for (u32 i = 0; i < WL_COUNT(cases); i++) {
        u8 insn[SASS_INSN_BYTES];
        put_word(insn, cases[i].low, cases[i].high);
        SassControl c = sass_control(insn), want = cases[i].control;
        assert_int_equal(c.stall, want.stall);
        assert_int_equal(c.write_barrier, want.write_barrier);
        assert_int_equal(c.read_barrier, want.read_barrier);
        assert_int_equal(c.wait_mask, want.wait_mask);
        assert_int_equal(c.reuse, want.reuse);
    }
}

TEST(control_words_survive_a_round_trip) {
    u64 random = 88172645463325252u;  // xorshift64, Marsaglia 2003
    for (u32 i = 0; i < 10000; i++) {
        u8 insn[SASS_INSN_BYTES], again[SASS_INSN_BYTES];
        for (u32 b = 0; b < SASS_INSN_BYTES; b++) {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            insn[b] = (u8)(random >> 32);
        }
        memcpy(again, insn, sizeof again);
        SassControl control = sass_control(insn);
        sass_set_control(again, (SassControl){.write_barrier = 7, .read_barrier = 7});
        sass_set_control(again, control);
        assert_memory_equal(insn, again, sizeof insn);
    }
}

// --- opcodes -----------------------------------------------------------------------------------------------------
TEST(every_opcode_is_found_by_its_name) {
    for (u32 i = 0; i < SASS_OP_COUNT; i++) {
        char text[64];
        assert_int_equal(sass_find_op((Str){sass_ops[i].name, strlen(sass_ops[i].name)}), i);
        snprintf(text, sizeof text, "%s.E.64", sass_ops[i].name);
        assert_int_equal(sass_find_op((Str){text, strlen(text)}), i);
        if (i) assert_true(strcmp(sass_ops[i - 1].name, sass_ops[i].name) < 0);
    }
    assert_int_equal(sass_find_op(STR("IMADX")), SASS_OP_UNKNOWN);
    assert_int_equal(sass_find_op(STR("")), SASS_OP_UNKNOWN);
    assert_int_equal(sass_find_op(STR(".E")), SASS_OP_UNKNOWN);
}

// --- operands ----------------------------------------------------------------------------------------------------
typedef struct One {
    SassModule module;
    const SassInsn *insn;
    const SassOperand *operands;
} One;

// One instruction, from what the listing has of it: predicate, opcode, operands.
static One read_one(const char *guard, const char *opcode, const char *operands) {
    char json[1024];
    One one;
    snprintf(json, sizeof json,
             "[{\"SM\":{\"version\":{\"major\":9,\"minor\":0}}},[{\"function-name\":\"f\",\"start\":0,\"length\":16,"
             "\"sass-instructions\":[{\"predicate\":\"%s\",\"opcode\":\"%s\",\"operands\":\"%s\"}]}]]",
             guard, opcode, operands);
    assert_int_equal(sass_read(&one.module, (Str){json, strlen(json)}, "one", NULL), STATUS_OK);
    assert_int_equal(one.module.insns.len, 1);
    one.insn = &one.module.insns.data[0];
    one.operands = one.module.operands.data + one.insn->operands;
    return one;
}

// Every register, as "R2:R3" for a written pair and "R2-R3" for a read one, in order of printing.
static void describe_reg(char *out, SassReg reg, bool is_def) {
    static const char *const files[] = {"", "R", "UR", "P", "UP", "B"};
    if (reg.file == SASS_NO_FILE) return;
    sprintf(out + strlen(out), "%s%s", *out ? " " : "", is_def ? "=" : "");
    if (reg.index == SASS_ZERO)
        strcat(out, reg.file == SASS_P || reg.file == SASS_UP ? "T" : "Z");
    else
        sprintf(out + strlen(out), "%s%u", files[reg.file], reg.index);
    if (reg.count > 1) sprintf(out + strlen(out), "+%u", reg.count - 1);
}

static void check_registers(const char *opcode, const char *operands, const char *want) {
    One one = read_one("", opcode, operands);
    char text[512] = "";
    for (u32 i = 0; i < one.insn->operand_count; i++) {
        const SassOperand *o = &one.operands[i];
        describe_reg(text, o->reg, o->is_def);
        describe_reg(text, o->index, false);
        describe_reg(text, o->handle, false);
    }
    if (strcmp(text, want) != 0) print_error("%s %s\n", opcode, operands);
    assert_string_equal(text, want);
    sass_free(&one.module);
}

TEST(registers_and_their_widths) {
    check_registers("IADD3", "R0,P1,R0,0x40,RZ", "=R0 =P1 R0 Z");
    check_registers("IADD3", "R2,P0,PT,R4,R5,RZ", "=R2 =P0 =T R4 R5 Z");
    check_registers("IADD3.X", "R15,RZ,R15,RZ,P1,!PT", "=R15 Z R15 Z P1 T");
    check_registers("IMAD.WIDE.U32", "R2,R5,0x4,R2", "=R2+1 R5 R2+1");
    check_registers("IMAD.WIDE.U32", "R4,P0,R2,R3,R4", "=R4+1 =P0 R2 R3 R4+1");
    check_registers("IMAD.HI.U32", "R3,R3,R9,R2", "=R3 R3 R9 R2+1");
    check_registers("IMAD.MOV.U32", "R8,RZ,RZ,R26", "=R8 Z Z R26");
    check_registers("ISETP.GE.AND", "P0,PT,R17,0x10,PT", "=P0 =T R17 T");
    check_registers("LOP3.LUT", "P0,RZ,R0,0x1,RZ,0xc0,!PT", "=P0 =Z R0 Z T");
    check_registers("LOP3.LUT", "R5,R4,0x1f,RZ,0xc0,!PT", "=R5 R4 Z T");
    check_registers("PLOP3.LUT", "P0,PT,P1,P2,PT,0x80,0x8", "=P0 =T P1 P2 T");
    check_registers("SHFL.IDX", "PT,R5,R4,R7,0x1f", "=T =R5 R4 R7");
    check_registers("VOTE.ANY", "R0,PT,P0", "=R0 =T P0");
    check_registers("VOTE.ALL", "P0,P1", "=P0 P1");
    check_registers("DFMA", "R4,R6,R8,-R10", "=R4+1 R6+1 R8+1 R10+1");
    check_registers("DSETP.GT.AND", "P0,PT,R4,R6,PT", "=P0 =T R4+1 R6+1 T");
    check_registers("F2F.F64.F32", "R2,R0", "=R2+1 R0");
    check_registers("F2F.F32.F64", "R0,R2", "=R0 R2+1");
    check_registers("F2I.F64.TRUNC", "R0,R2", "=R0 R2+1");
    check_registers("F2I.S64.TRUNC", "R2,R0", "=R2+1 R0");
    check_registers("I2F.F64", "R2,R4", "=R2+1 R4");
    check_registers("I2F.U64", "R2,R4", "=R2 R4+1");
    check_registers("CS2R", "R2,SRZ", "=R2+1");
    check_registers("CS2R.32", "R2,SR_CLOCKLO", "=R2");
    check_registers("R2UR", "UR4,R2", "=UR4 R2");
}

TEST(memory_operands_and_their_widths) {
    check_registers("LDG.E", "R0,desc[UR4][R2.64]", "=R0 R2+1 UR4+1");
    check_registers("LDG.E.128.CONSTANT", "R4,desc[UR4][R2.64+0x10]", "=R4+3 R2+1 UR4+1");
    check_registers("LDG.E.SYS", "R0,[R2]", "=R0 R2+1");
    check_registers("LDG.E.64.SYS", "R4,[R2.64+0x8]", "=R4+1 R2+1");
    check_registers("LDS", "R26[R14]", "=R26 R14");
    check_registers("LDS.128", "R8,[R16+0x10]", "=R8+3 R16");
    check_registers("LDS.U.64", "R8,[R16.X8+UR4+0x10]", "=R8+1 R16 UR4");
    check_registers("STG.E.64", "desc[UR8][R12.64],R20", "R12+1 UR8+1 R20+1");
    check_registers("ATOMG.E.ADD.STRONG.GPU", "PT,R0,desc[UR4][R2.64],R5", "=T =R0 R2+1 UR4+1 R5");
    check_registers("ATOMG.E.CAS.64.STRONG.GPU", "PT,R6,[R2],R4,R8", "=T =R6+1 R2+1 R4+1 R8+1");
    check_registers("RED.E.ADD.STRONG.GPU", "desc[UR4][R2.64],R5", "R2+1 UR4+1 R5");
    check_registers("LDC.64", "R2,c[0x0][0x210]", "=R2+1");
    check_registers("LDC", "R2,c[0x3][R4+0x10]", "=R2 R4");
    check_registers("ULDC.64", "UR4,c[0x0][0x208]", "=UR4+1");
    check_registers("LDSM.16.M88.4", "R4,[R8+0x80]", "=R4+3 R8");
    check_registers("LDGSTS.E.BYPASS.128", "[R5+0x10],desc[UR4][R2.64]", "R5 R2+1 UR4+1");
}

TEST(fragments_of_the_matrix_unit) {
    check_registers("HMMA.16816.F32", "R4,R8,R12,R4", "=R4+3 R8+3 R12+1 R4+3");
    check_registers("HMMA.16816.F16", "R4,R8,R12,RZ", "=R4+1 R8+3 R12+1 Z");
    check_registers("HMMA.1688.F32.TF32", "R4,R8,R12,R4", "=R4+3 R8+3 R12+1 R4+3");
    check_registers("IMMA.8816.S8.S8", "R4,R8.ROW,R12.COL,R4", "=R4+1 R8 R12 R4+1");
    check_registers("DMMA.8x8x4", "R4,R8,R10,R4", "=R4+3 R8+1 R10+1 R4+3");
    check_registers("HGMMA.64x64x16.F32", "R24,gdesc[UR4],R24,!UPT,gsb0", "=R24+31 UR4+3 R24+31 T");
}

TEST(constants_addresses_and_numbers) {
    One one = read_one("@!P3", "FFMA", "R0,-|R1|,c[0x0][0x164],1.5");
    assert_int_equal(one.insn->guard.file, SASS_P);
    assert_int_equal(one.insn->guard.index, 3);
    assert_true(one.insn->guard_not);
    assert_true(one.operands[1].negated && one.operands[1].absolute);
    assert_int_equal(one.operands[2].kind, SASS_OPERAND_CONSTANT);
    assert_int_equal(one.operands[2].bank, 0);
    assert_int_equal(one.operands[2].value, 0x164);
    assert_true(one.operands[3].is_float);
    assert_int_equal(one.operands[3].value, 0x3fc00000);
    sass_free(&one.module);
    one = read_one("", "HFMA2.MMA", "R5,-RZ,RZ,-1.5,2.384185791015625e-07");
    assert_int_equal(one.operands[3].value, 0xbe00);
    assert_int_equal(one.operands[4].value, 4);
    sass_free(&one.module);
    one = read_one("", "DADD", "R4,R4,-1");
    assert_int_equal((u64)one.operands[2].value, 0xbff0000000000000u);
    sass_free(&one.module);
    one = read_one("", "FSETP.GT.AND", "P0,PT,R4,+INF,PT");
    assert_int_equal(one.operands[3].value, 0x7f800000);
    sass_free(&one.module);
    one = read_one("", "LDS", "R0,[R2.X4+UR4+-0x8]");
    assert_int_equal(one.operands[1].kind, SASS_OPERAND_ADDRESS);
    assert_int_equal(one.operands[1].scale, 2);
    assert_int_equal(one.operands[1].value, -8);
    assert_int_equal(one.operands[1].index.file, SASS_UR);
    assert_int_equal(sass_access_bytes(one.insn), 4);
    sass_free(&one.module);
    one = read_one("@P0", "BRA", "0x90");
    assert_int_equal(one.operands[0].kind, SASS_OPERAND_TARGET);
    assert_int_equal(one.operands[0].value, 0x90);
    sass_free(&one.module);
    one = read_one("", "IADD3", "R0,R1,-0x80,~R2");
    assert_int_equal(one.operands[2].value, -0x80);
    assert_true(one.operands[3].inverted);
    sass_free(&one.module);
}

TEST(unknown_opcodes_are_counted_and_opaque) {
    One one = read_one("", "FROBNICATE.X", "P0,R3,R4,R5");
    assert_int_equal(one.module.unknown, 1);
    assert_int_equal(one.insn->op, SASS_OP_UNKNOWN);
    assert_true(one.operands[0].is_def && one.operands[1].is_def && !one.operands[2].is_def);
    sass_free(&one.module);
}

// --- listings ----------------------------------------------------------------------------------------------------
TEST(listing_of_a_cubin) {
    FileData file;
    SassModule module;
    assert_int_equal(file_read("tests/sass/app.json", &file, NULL), STATUS_OK);
    assert_int_equal(sass_read(&module, (Str){(char *)file.data, file.size}, "app", NULL), STATUS_OK);
    assert_int_equal(module.sm, 90);
    assert_int_equal(module.functions.len, 3);
    assert_int_equal(module.unknown, 0);
    const SassFunction *mm = sass_find_function(&module, STR("_Z2mmPKfS0_Pfi"));
    assert_non_null(mm);
    assert_int_equal(mm->count, 104);
    assert_string_equal(module.insns.data[mm->first + 40].name, "LDG.E");
    assert_null(sass_find_function(&module, STR("_Z2mm")));
    sass_free(&module);
    file_release(&file);
}

TEST(other_texts_are_refused) {
    static const char *const texts[] = {"", "[", "{}", "[]", "[{}]", "[1,2]", "[[],[]]", "\177ELF"};
    for (u32 i = 0; i < WL_COUNT(texts); i++) {
        SassModule module;
        Diag diag = {0};
        assert_int_equal(sass_read(&module, (Str){texts[i], strlen(texts[i])}, "x", &diag), STATUS_FORMAT);
        assert_int_equal(diag.errors, 1);
        assert_int_equal(module.insns.len, 0);
        diag_free(&diag);
    }
}

TEST(latencies_are_known_from_volta_to_hopper) {
    static const u32 known[] = {70, 72, 75, 80, 86, 87, 89, 90};
    for (u32 i = 0; i < WL_COUNT(known); i++) {
        const SassLatencies *l = sass_latencies(known[i]);
        assert_true(l->known && l->source[0]);
        for (u32 t = 0; t < SASS_TIME_SYNC; t++) assert_in_range(l->cycles[t], 2, 1000);
    }
    assert_false(sass_latencies(100)->known);
    assert_false(sass_latencies(0)->known);
    for (u32 t = 0; t < SASS_TIME_SYNC; t++)
        for (u32 i = 0; i < WL_COUNT(known); i++)
            assert_true(sass_latencies(0)->cycles[t] >= sass_latencies(known[i])->cycles[t]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(control_words_are_read),
        cmocka_unit_test(control_words_survive_a_round_trip),
        cmocka_unit_test(every_opcode_is_found_by_its_name),
        cmocka_unit_test(registers_and_their_widths),
        cmocka_unit_test(memory_operands_and_their_widths),
        cmocka_unit_test(fragments_of_the_matrix_unit),
        cmocka_unit_test(constants_addresses_and_numbers),
        cmocka_unit_test(unknown_opcodes_are_counted_and_opaque),
        cmocka_unit_test(listing_of_a_cubin),
        cmocka_unit_test(other_texts_are_refused),
        cmocka_unit_test(latencies_are_known_from_volta_to_hopper),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
