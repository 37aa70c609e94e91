// SPDX-License-Identifier: Apache-2.0
// The tables are consistent, and mnemonics decode to what they should.
#include <stdio.h>
#include <string.h>

#include "base/testing.h"

#include "ptx/form.h"

TEST(every_row_compiles) {
    for (u16 op = 0; op < OP_COUNT; op++) {
        char problem[200] = "";
        if (!form_check_row(op, problem, sizeof problem)) fail_msg("%s", problem);
        assert_non_null(ptx_ops[op].name);
        assert_true(ptx_ops[op].isa >= 10 && ptx_ops[op].isa <= 90);
        assert_true(ptx_ops[op].sm >= 10);
    }
}

TEST(modifiers_are_distinct_within_a_class) {
    for (u32 i = 1; i < MOD_TOKEN_COUNT; i++) {
        assert_int_equal(ptx_mods[i].text[0], '.');
        for (u32 k = i + 1; k < MOD_TOKEN_COUNT; k++) {
            bool same = ptx_mods[i].class == ptx_mods[k].class && strcmp(ptx_mods[i].text, ptx_mods[k].text) == 0;
            if (same) fail_msg("%s twice in a class", ptx_mods[i].text);
        }
    }
}

TEST(types_and_special_registers_are_distinct) {
    for (u32 i = 1; i < TYPE_COUNT; i++) {
        assert_true(ptx_types[i].bits > 0 && ptx_types[i].class != TYPE_CLASS_NONE);
        for (u32 k = i + 1; k < TYPE_COUNT; k++) assert_string_not_equal(ptx_types[i].text, ptx_types[k].text);
    }
    for (u32 i = 0; i < SREG_COUNT; i++) {
        assert_int_equal(ptx_sregs[i].text[0], '%');
        for (u32 k = i + 1; k < SREG_COUNT; k++) assert_string_not_equal(ptx_sregs[i].text, ptx_sregs[k].text);
    }
}

// Operand shapes as letters: s scalar, v vector, a address, g group, p pair.
static u32 shapes_of(const char *letters) {
    static const char known[] = "-svagp_";
    u32 shapes = 0;
    for (u32 i = 0; letters[i]; i++) shapes |= (u32)(strchr(known, letters[i]) - known) << i * SHAPE_BITS;
    return shapes;
}

static Form decode(const char *mnemonic, const char *shapes) {
    Form form;
    Str where;
    FormProblem problem = form_decode((Str){mnemonic, strlen(mnemonic)}, shapes_of(shapes), &form, &where);
    if (problem != FORM_OK) fail_msg("%s: problem %d at '%.*s'", mnemonic, problem, (int)where.len, where.data);
    return form;
}

TEST(mnemonics_choose_their_rows) {
    static const struct {
        const char *mnemonic, *shapes;
        u16 op;
    } cases[] = {
        {"add.s32", "sss", OP_ADD_INT},
        {"add.sat.s32", "sss", OP_ADD_INT},
        {"add.cc.u32", "sss", OP_ADD_CC},
        {"add.rn.ftz.f32", "sss", OP_ADD_F},
        {"add.f64", "sss", OP_ADD_F64},
        {"add.rn.bf16x2", "sss", OP_ADD_HALF},
        {"add.rn.f32.f16", "sss", OP_ADD_MIXED},
        {"mul.wide.s32", "sss", OP_MUL_WIDE},
        {"mad.lo.cc.u32", "ssss", OP_MAD_CC},
        {"min.f32", "sss", OP_MIN_F},
        {"min.f32", "ssss", OP_MIN3_F},
        {"mov.b64", "ss", OP_MOV},
        {"mov.b64", "sv", OP_MOV_PACK},
        {"mov.b64", "vs", OP_MOV_UNPACK},
        {"cvt.u16.u32", "ss", OP_CVT_INT},
        {"cvt.rzi.s32.f32", "ss", OP_CVT_F},
        {"cvt.rna.tf32.f32", "ss", OP_CVT_TF32},
        {"cvt.rn.f16x2.f32", "sss", OP_CVT_HALFX2},
        {"cvt.rn.satfinite.e4m3x2.f32", "sss", OP_CVT_FP8X2},
        {"cvt.rs.satfinite.e2m1x4.f32", "svs", OP_CVT_FPX4_RS},
        {"cvt.pack.sat.u8.s32.b32", "ssss", OP_CVT_PACK_MERGE},
        {"vote.ballot.sync.b32", "sss", OP_VOTE_BALLOT_SYNC},
        {"vote.all.pred", "ss", OP_VOTE},
        {"atom.add.release.gpu.u32", "sas", OP_ATOM},
        {"atom.global.cas.b64", "sass", OP_ATOM_CAS},
        {"bar.red.popc.u32", "sss", OP_BAR_RED_POPC},
        {"bar.red.or.pred", "ssss", OP_BAR_RED},
        {"call.uni", "gsg", OP_CALL},
        {"call", "sgs", OP_CALL},
        {"lop3.or.b32", "psssss", OP_LOP3_BOOL},
        {"fence.proxy.async.shared::cta", "", OP_FENCE_PROXY},
        {"fence.acq_rel.gpu", "", OP_FENCE},
        {"mma.sp::ordered_metadata.sync.aligned.m16n8k128.row.col.s32.s4.s4.s32.satfinite", "vvvvss", OP_MMA_SP},
        {"wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16", "vsssssss", OP_WGMMA},
        {"tcgen05.mma.cta_group::1.kind::f16", "asssvs", OP_TCGEN05_MMA},
        {"tcgen05.mma.cta_group::1.kind::f16", "aasss", OP_TCGEN05_MMA_TMEM},
        {"tcgen05.wait::ld.sync.aligned", "", OP_TCGEN05_WAIT_LD},
        {"cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint", "aaas",
         OP_CP_TENSOR_LOAD},
        {"tex.1d.v4.f32.s32", "va", OP_TEX},
        {"vabsdiff4.u32.u32.u32.add", "ssss", OP_VABSDIFF4},
        {"createpolicy.fractional.L2::evict_first.L2::evict_unchanged.b64", "s", OP_CREATEPOLICY_FRACTIONAL},
    };
    for (u32 i = 0; i < WL_COUNT(cases); i++) {
        Form form = decode(cases[i].mnemonic, cases[i].shapes);
        if (form.op != cases[i].op) fail_msg("%s: row %u, not %u", cases[i].mnemonic, form.op, cases[i].op);
    }
}

TEST(modifiers_land_in_their_fields) {
    Form ld = decode("ld.global.nc.L1::evict_last.L2::cache_hint.v4.f32", "vas");
    assert_int_equal(ld.space, SPACE_GLOBAL);
    assert_int_equal(ld.vector, 4);
    assert_int_equal(ld.types[0], TYPE_F32);
    assert_int_equal(ld.mods[MOD_NC], NC_NC);
    assert_int_equal(ld.mods[MOD_EVICT1], EVICT1_LAST);
    assert_int_equal(ld.mods[MOD_CACHE_HINT], CACHE_HINT_L2);
    assert_int_equal(ld.spec_count, 3);
    assert_int_equal(ld.specs[0].access, ACCESS_WRITE);
    assert_int_equal(ld.specs[0].vector, 4);
    assert_true(ld.specs[0].wide);

    Form wmma = decode("wmma.mma.sync.aligned.row.col.m16n16k16.f32.f16", "vvvv");
    assert_int_equal(wmma.mods[MOD_LAYOUT], LAYOUT_ROW);
    assert_int_equal(wmma.mods[MOD_LAYOUT_B], LAYOUT_B_COL);
    assert_int_equal(wmma.types[0], TYPE_F32);
    assert_int_equal(wmma.types[1], TYPE_F16);

    Form copy = decode("cp.async.cg.shared.global", "aas");
    assert_int_equal(copy.space, SPACE_SHARED);
    assert_int_equal(copy.space2, SPACE_GLOBAL);

    Form wide = decode("mad.wide.s32", "ssss");
    assert_int_equal(wide.specs[0].type, TYPE_S64);
    assert_int_equal(wide.specs[3].type, TYPE_S64);
}

TEST(wrong_mnemonics_are_refused) {
    static const struct {
        const char *mnemonic, *shapes;
        FormProblem problem;
    } cases[] = {
        {"frob.u32", "ss", FORM_UNKNOWN_OP},
        {"add.f32.f32.f32", "sss", FORM_UNKNOWN_MOD},
        {"mul.s32", "sss", FORM_MISSING_MOD},
        {"add.s32", "ss", FORM_OPERANDS},
        {"setp.eq.s32", "ssss", FORM_OPERANDS},
        {"cvt.rn.f32.f16x2", "ss", FORM_UNKNOWN_MOD},
        {"ld.global.u32", "sas", FORM_OPERANDS},
        {"", "", FORM_UNKNOWN_OP},
        {"cp.async.global.shared", "aas", FORM_UNKNOWN_MOD},
    };
    for (u32 i = 0; i < WL_COUNT(cases); i++) {
        Form form;
        Str where;
        Str mnemonic = {cases[i].mnemonic, strlen(cases[i].mnemonic)};
        FormProblem problem = form_decode(mnemonic, shapes_of(cases[i].shapes), &form, &where);
        if (problem != cases[i].problem) fail_msg("%s: %d, not %d", cases[i].mnemonic, problem, cases[i].problem);
    }
}

// One spelling per row, made from its grammar: every required word with its first choice.
static void spell(u16 op, char *text, size_t size) {
    size_t len = (size_t)snprintf(text, size, "%s", ptx_ops[op].name);
    for (const char *at = ptx_ops[op].mods; *at;) {
        size_t word = strcspn(at, " ");
        bool optional = at[word - 1] == '?';
        const char *list = memchr(at, '(', word);
        char first[40] = "";
        if (at[0] == '.')
            snprintf(first, sizeof first, "%.*s", (int)word, at);
        else if (list)
            snprintf(first, sizeof first, ".%.*s", (int)strcspn(list + 1, ",)"), list + 1);
        if (strcmp(first, ".shared_cluster") == 0) strcpy(first, ".shared::cluster");
        if (!optional && first[0]) len += (size_t)snprintf(text + len, size - len, "%s", first);
        at += word;
        while (*at == ' ') at++;
    }
}

// Rows whose required words have lists decode without an unknown name or modifier.
TEST(every_row_is_reachable) {
    for (u16 op = 0; op < OP_COUNT; op++) {
        char text[300];
        spell(op, text, sizeof text);
        Form form;
        Str where;
        FormProblem problem = form_decode((Str){text, strlen(text)}, 0, &form, &where);
        if (problem == FORM_UNKNOWN_OP || problem == FORM_UNKNOWN_MOD) fail_msg("%s: problem %d", text, problem);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_compiles),
        cmocka_unit_test(modifiers_are_distinct_within_a_class),
        cmocka_unit_test(types_and_special_registers_are_distinct),
        cmocka_unit_test(mnemonics_choose_their_rows),
        cmocka_unit_test(modifiers_land_in_their_fields),
        cmocka_unit_test(wrong_mnemonics_are_refused),
        cmocka_unit_test(every_row_is_reachable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
