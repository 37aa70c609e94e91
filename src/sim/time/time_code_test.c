// SPDX-License-Identifier: Apache-2.0
// time_code_build: what small kernels become, and what must hold of every TimeCode.
#include "sim/device_testing.h"
#include "sim/machine.h"
#include "sim/time/time_code_testing.h"
#include "sim/time/time_lower.h"

#include <stdlib.h>

typedef struct Built {
    TestDevice device;
    SimProgram *program;
    TimeCode *code;
} Built;

static void build(Built *b, const char *text, const char *kernel) {
    device_open(&b->device, text);
    set_test_timing(&b->device.gpu);
    const Module *m = sim_module_ptx(b->device.module);
    FuncRef func = module_find_function(m, (Str){kernel, strlen(kernel)});
    assert_int_not_equal(func, WL_NONE);
    assert_int_equal(program_build(b->device.module, func, &b->program, &b->device.diag), STATUS_OK);
    assert_int_equal(time_code_build(b->program, &b->device.gpu, (SimMachineCode){0}, &b->code), STATUS_OK);
}

static void drop(Built *b) {
    time_code_free(b->code);
    program_free(b->program);
    device_close(&b->device);
}

// Blocks and regions cover the program without gaps, operations lie in their regions, slots in their range.
static void check_region(const TimeCode *c, u32 head, u32 *pc, u32 *op) {
    const TimeBlock *first = &c->blocks[head];
    assert_true(first->parts >= 1 && first->parts <= TIME_PARTS);
    assert_true(!first->unrolled_count || first->parts * first->turns <= TIME_PARTS);
    assert_int_equal(first->ops, *op);
    assert_int_equal(first->unrolled, *op + first->op_count);
    for (u32 k = 0; k < first->parts; k++) {
        const TimeBlock *block = &first[k];
        assert_int_equal(block->pc, *pc);
        assert_int_equal(block->part, k);
        assert_int_equal(block->parts, first->parts);
        assert_int_equal(block->ops, first->ops);
        assert_true(block->pc_end > *pc && block->pc_end - *pc <= TIME_BLOCK_MAX);
        for (; *pc < block->pc_end; ++*pc) assert_int_equal(c->block_of[*pc], head + k);
    }
    assert_int_equal(first->pair, first->unrolled + first->unrolled_count);
    assert_int_equal(first->entry, first->pair + first->pair_count);
    for (; *op < first->entry + first->entry_count; ++*op) {
        const TimeOp *o = &c->ops[*op];
        assert_true(o->pc >= first->pc && o->pc < *pc);
        if (first->parts > 1) assert_int_equal(o->extra % first->parts, c->block_of[o->pc] - head);
        if (*op < first->unrolled && first->parts > 1) assert_true(o->extra < first->parts);
        assert_true(o->regs + o->dst_count + o->src_count <= c->reg_count);
        for (u32 k = 0; k < (u32)o->dst_count + o->src_count; k++) assert_true(c->regs[o->regs + k] < c->slots);
    }
}

static void check_shape(const TimeCode *c) {
    u32 pc = 0, op = 0;
    for (u32 b = 0; b < c->block_count; b += c->blocks[b].parts) check_region(c, b, &pc, &op);
    assert_int_equal(pc, c->program->insn_count);
    assert_int_equal(op, c->op_count);
    assert_true(c->registers >= 8 && c->registers <= 255);
}

static const char vector_add[] = PTX_HEAD
    ".visible .entry add(.param .u64 a, .param .u64 b, .param .u64 c, .param .u32 n) {\n"
    "  .reg .b32 %r<9>; .reg .b64 %d<12>; .reg .f32 %f<4>; .reg .pred %p;\n"
    "  ld.param.u64 %d1, [a]; ld.param.u64 %d2, [b]; ld.param.u64 %d3, [c]; ld.param.u32 %r1, [n];\n"
    "  mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x; mad.lo.s32 %r5, %r2, %r3, %r4;\n"
    "  setp.ge.s32 %p, %r5, %r1; @%p bra done;\n"
    "  cvta.to.global.u64 %d4, %d1; mul.wide.s32 %d5, %r5, 4; add.s64 %d6, %d4, %d5;\n"
    "  cvta.to.global.u64 %d7, %d2; add.s64 %d8, %d7, %d5; ld.global.f32 %f1, [%d8]; ld.global.f32 %f2, [%d6];\n"
    "  add.f32 %f3, %f2, %f1; cvta.to.global.u64 %d9, %d3; add.s64 %d10, %d9, %d5; st.global.f32 [%d10], %f3;\n"
    "done: ret;\n}\n";

TEST(a_small_kernel_becomes_what_the_machine_issues) {
    Built b;
    build(&b, vector_add, "add");
    check_shape(b.code);
    u32 wide = 0, moves = 0;
    for (u32 i = 0; i < b.code->op_count; i++) {
        const TimeOp *o = &b.code->ops[i];
        u16 op = b.program->insns[o->pc].form_op;
        wide += op == OP_ADD_INT && o->unit == UNIT_FMAHEAVY;
        moves += op == OP_CVTA || op == OP_MUL_WIDE;
    }
    assert_int_equal(wide, 3);  // address = IMAD.WIDE each
    assert_int_equal(moves, 0);
    drop(&b);
}

static char *read_text(const char *path) {
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    char *text = calloc(1, 1 << 20);
    assert_true(fread(text, 1, (1 << 20) - 1, f) > 0);
    fclose(f);
    return text;
}

// All kernels of a file, and all functions with a body: as a kernel would reach them.
static void check_file(const char *path) {
    char *text = read_text(path);
    TestDevice d;
    device_open(&d, text);
    set_test_timing(&d.gpu);
    const Module *m = sim_module_ptx(d.module);
    for (FuncRef i = 0; i < m->func_count; i++) {
        SimProgram *program;
        TimeCode *code;
        if (!m->funcs[i].is_entry || !m->funcs[i].has_body) continue;
        if (program_build(d.module, i, &program, &d.diag) != STATUS_OK) continue;
        assert_int_equal(time_code_build(program, &d.gpu, (SimMachineCode){0}, &code), STATUS_OK);
        check_shape(code);
        time_code_free(code);
        program_free(program);
    }
    device_close(&d);
    free(text);
}

TEST(every_kernel_has_a_code_of_the_right_shape) {
    static const char *const files[] = {"tests/time/lowering.ptx", "tests/sim/control.ptx", "tests/sim/memory.ptx",
                                        "tests/sim/cluster.ptx"};
    for (u32 i = 0; i < WL_COUNT(files); i++) check_file(files[i]);
}

TEST(what_has_no_use_is_not_issued) {
    Built b;
    build(&b,
          PTX_HEAD ".visible .entry k(.param .u64 out) {\n .reg .b32 %r<9>; .reg .b64 %d<3>;\n"
                   " ld.param.u64 %d1, [out]; mov.u32 %r1, %tid.x; mul.lo.s32 %r2, %r1, %r1; add.s32 %r3, %r2, 1;\n"
                   " ld.global.u32 %r4, [%d1]; xor.b32 %r5, %r4, %r3; st.global.u32 [%d1], %r1; ret;\n}\n",
          "k");
    check_shape(b.code);
    assert_int_equal(b.code->op_count, 6);  // LDC R1, ULDC of the descriptor, LDC of the parameter, S2R, STG, EXIT
    drop(&b);
}

// The order keeps what depends on each other: definitions before uses, stores before loads of the same bytes.
TEST(loads_come_early_but_not_before_a_store_that_may_alias) {
    Built b;
    build(&b,
          PTX_HEAD
          ".visible .entry k(.param .u64 p, .param .u64 q) {\n .reg .b32 %r<9>; .reg .b64 %d<5>;\n"
          " ld.param.u64 %d1, [p]; ld.param.u64 %d2, [q]; ld.global.u64 %d3, [%d1]; ld.global.u64 %d4, [%d2];\n"
          " ld.global.u32 %r1, [%d3]; add.s32 %r2, %r1, 1; mul.lo.s32 %r2, %r2, %r2; st.global.u32 [%d3], %r2;\n"
          " ld.global.u32 %r3, [%d3+4]; ld.global.u32 %r4, [%d4]; ld.shared.u32 %r5, [8];\n"
          " add.s32 %r6, %r3, %r4; add.s32 %r6, %r6, %r5; st.global.u32 [%d3+8], %r6; ret;\n}\n",
          "k");
    check_shape(b.code);
    u32 place[32];
    for (u32 i = 0; i < b.code->op_count; i++) place[b.code->ops[i].pc] = i;
    assert_true(place[8] < place[7]);  // [%d3+4] is not what is stored at [%d3]
    assert_true(place[9] > place[7]);  // any address
    assert_true(place[13] > place[7] && place[13] > place[8]);
    drop(&b);
}

TEST(loads_of_another_space_come_before_a_store) {
    Built b;
    build(&b,
          PTX_HEAD
          ".visible .entry k(.param .u64 p) {\n .reg .b32 %r<9>; .reg .b64 %d<5>;\n"
          " ld.param.u64 %d1, [p]; ld.global.u64 %d3, [%d1]; ld.global.u32 %r1, [%d3]; mul.lo.s32 %r2, %r1, %r1;\n"
          " st.global.u32 [%d3], %r2; ld.shared.u32 %r5, [8]; st.global.u32 [%d3+8], %r5; ret;\n}\n",
          "k");
    u32 place[32];
    for (u32 i = 0; i < b.code->op_count; i++) place[b.code->ops[i].pc] = i;
    assert_true(place[5] < place[4]);
    drop(&b);
}

static u32 count_loads(bool relocatable) {
    Built b;
    Module *m = NULL;
    u32 loads = 0;
    device_open(&b.device, PTX_HEAD
                ".visible .entry k(.param .u64 p) {\n .reg .b32 %r<9>; .reg .b64 %d<3>;\n .shared .align 4 .b8 s[64];\n"
                " ld.param.u64 %d1, [p]; ld.shared.u32 %r1, [s]; ld.shared.u32 %r2, [s+4]; ld.shared.u32 %r3, [s+8];\n"
                " ld.shared.u32 %r4, [s+12]; st.global.v4.u32 [%d1], {%r1, %r2, %r3, %r4}; ret;\n}\n");
    m = (Module *)sim_module_ptx(b.device.module);
    m->relocatable = relocatable;
    assert_int_equal(program_build(b.device.module, 0, &b.program, &b.device.diag), STATUS_OK);
    assert_int_equal(time_code_build(b.program, &b.device.gpu, (SimMachineCode){0}, &b.code), STATUS_OK);
    for (u32 i = 0; i < b.code->op_count; i++) loads += b.code->ops[i].kind == TIME_LOAD;
    drop(&b);
    return loads;
}

// ptxas 13.0, sm_90: one LDS.128; with -c (nvcc -rdc=true) four LDS.
TEST(where_a_linker_places_variables_their_alignment_is_what_they_ask) {
    assert_int_equal(count_loads(false), 1);
    assert_int_equal(count_loads(true), 4);
}

// As ptxas 13.0 loads them, the descriptor of global memory left aside.
TEST(constant_words_side_by_side_are_loaded_at_once) {
    static const struct {
        const char *loads;
        u32 count;
    } rows[] = {
        {"ld.const.u32 %r1, [t]; ld.const.u32 %r2, [t+4]; xor.b32 %r3, %r1, %r2;", 1},
        {"ld.const.u32 %r1, [t+4]; ld.const.u32 %r2, [t]; xor.b32 %r3, %r1, %r2;", 1},
        {"ld.const.u32 %r1, [t+4]; ld.const.u32 %r2, [t+8]; xor.b32 %r3, %r1, %r2;", 2},
        {"ld.const.u32 %r1, [t]; ld.const.u32 %r2, [t+8]; xor.b32 %r3, %r1, %r2;", 2},
        {"ld.param.u32 %r1, [n]; ld.param.u32 %r2, [m]; xor.b32 %r3, %r1, %r2;", 1},
        {"ld.param.u32 %r1, [n]; ld.param.u32 %r2, [m]; st.global.u32 [%d1], %r1; bar.sync 0; mov.u32 %r3, %r2;", 2},
    };
    static const char *const frame = PTX_HEAD
        ".const .align 8 .b8 t[64]; .visible .entry k(.param .u64 a, .param .u32 n, .param .u32 m) { .reg .b32 %%r<9>; "
        ".reg .b64 %%d<3>; ld.param.u64 %%d1, [a]; %s st.global.u32 [%%d1+4], %%r3; ret; }";
    for (u32 i = 0; i < WL_COUNT(rows); i++) {
        Built b;
        char text[1024];
        u32 count = 0;
        snprintf(text, sizeof text, frame, rows[i].loads);
        build(&b, text, "k");
        for (u32 k = 0; k < b.code->op_count; k++) count += b.code->ops[k].kind == TIME_IMMEDIATE;
        assert_int_equal(count, rows[i].count + 1);
        drop(&b);
    }
}

// As ptxas 13.0 has them come for sm_90: by ULDC with a uniform register in its address, or by LDC.
TEST(constants_that_turns_index_come_by_uniform_registers) {
    static const struct {
        const char *turn, *end;
        bool uniform;
    } rows[] = {
        {"ld.const.f32 %f2, [%d2]; fma.rn.f32 %f1, %f1, %f9, %f2; add.s64 %d2, %d2, 4;", "%r3", true},
        {"ld.const.f32 %f2, [%d2]; fma.rn.f32 %f1, %f2, %f2, %f1; add.s64 %d2, %d2, 4;", "%r3", false},
        {"ld.const.f32 %f2, [%d2]; fma.rn.f32 %f1, %f2, 0f40600000, %f1; add.s64 %d2, %d2, 4;", "%r3", false},
        {"ld.const.f32 %f2, [%d2]; st.global.f32 [%d1], %f2; add.s64 %d2, %d2, 4;", "%r3", false},
        {"ld.const.f32 %f2, [%d2]; fma.rn.f32 %f1, %f1, %f9, %f2; add.s64 %d2, %d2, 4;", "%r1", false},
        {"ld.const.f32 %f2, [%d2]; fma.rn.f32 %f1, %f1, %f9, %f2; add.s64 %d2, %d2, -4;", "%r3", false},
        {"setp.gt.f32 %p2, %f1, %f9; @%p2 bra M; ld.const.f32 %f2, [%d2]; fma.rn.f32 %f1, %f1, %f9, %f2; "
         "st.global.f32 [%d1], %f1; M: add.s64 %d2, %d2, 4;",
         "%r3", false},
    };
    static const char *const frame = PTX_HEAD
        ".const .align 8 .f32 t[4096]; .visible .entry k(.param .u64 a, .param .u32 n) { .reg .b32 %%r<9>; .reg .b64 "
        "%%d<3>; .reg .f32 %%f<10>; .reg .pred %%p<3>; ld.param.u64 %%d1, [a]; ld.param.u32 %%r3, [n]; mov.u32 %%r1, "
        "%%tid.x; ld.global.f32 %%f9, [%%d1]; mov.f32 %%f1, 0f00000000; mov.u32 %%r2, 0; mov.u64 %%d2, t; L: %s "
        "add.s32 "
        "%%r2, %%r2, 1; setp.lt.s32 %%p1, %%r2, %s; @%%p1 bra L; st.global.f32 [%%d1+4], %%f1; ret; }";
    for (u32 i = 0; i < WL_COUNT(rows); i++) {
        Built b;
        char text[1024];
        u32 uniform = 0, other = 0;
        snprintf(text, sizeof text, frame, rows[i].turn, rows[i].end);
        build(&b, text, "k");
        for (u32 k = 0; k < b.code->op_count; k++) {
            const TimeOp *op = &b.code->ops[k];
            uniform += op->kind == TIME_IMMEDIATE && op->flags & TIME_INDEXED;
            other += op->kind == TIME_CONST;
        }
        assert_int_equal(uniform > 0, rows[i].uniform);
        assert_int_equal(other > 0, !rows[i].uniform);
        drop(&b);
    }
}

// ptxas 13.0 for sm_90 knows where the module's constants lie: two words side by side come together from a multiple of
// 8, never four, and only where each turn goes on by such a multiple.
TEST(words_of_constants_side_by_side_come_together) {
    static const struct {
        const char *before, *turn;
        u32 loads;
    } rows[] = {
        {"", "ld.const.f32 %f2, [%d2]; ld.const.f32 %f3, [%d2+4]; add.s64 %d2, %d2, 8;", 1},
        {".const .align 4 .b8 z[12];", "ld.const.f32 %f2, [%d2]; ld.const.f32 %f3, [%d2+4]; add.s64 %d2, %d2, 8;", 2},
        {".const .align 4 .b8 z[8];", "ld.const.f32 %f2, [%d2]; ld.const.f32 %f3, [%d2+4]; add.s64 %d2, %d2, 8;", 1},
        {"", "ld.const.f32 %f2, [%d2+4]; ld.const.f32 %f3, [%d2+8]; add.s64 %d2, %d2, 8;", 2},
        {"", "ld.const.f32 %f2, [%d2]; ld.const.f32 %f3, [%d2+4]; add.s64 %d2, %d2, 12;", 2},
        {"",
         "ld.const.f32 %f2, [%d2]; ld.const.f32 %f3, [%d2+4]; ld.const.f32 %f4, [%d2+8]; ld.const.f32 %f5, [%d2+12]; "
         "fma.rn.f32 %f1, %f1, %f9, %f4; fma.rn.f32 %f1, %f1, %f9, %f5; add.s64 %d2, %d2, 16;",
         2},
    };
    static const char *const frame =
        PTX_HEAD "%s .const .align 4 .f32 t[4096]; .visible .entry k(.param .u64 a, .param .u32 n) { .reg .b32 %%r<9>; "
                 ".reg .b64 "
                 "%%d<3>; .reg .f32 %%f<10>; .reg .pred %%p<3>; ld.param.u64 %%d1, [a]; ld.param.u32 %%r3, [n]; "
                 "ld.global.f32 %%f9, [%%d1]; mov.f32 %%f1, 0f00000000; mov.u32 %%r2, 0; mov.u64 %%d2, t; L: .pragma "
                 "\"nounroll\"; %s "
                 "fma.rn.f32 %%f1, %%f1, %%f9, %%f2; fma.rn.f32 %%f1, %%f1, %%f9, %%f3; add.s32 %%r2, %%r2, 1; "
                 "setp.lt.s32 %%p1, %%r2, %%r3; @%%p1 bra L; st.global.f32 [%%d1+4], %%f1; ret; }";
    for (u32 i = 0; i < WL_COUNT(rows); i++) {
        Built b;
        char text[1024];
        u32 loads = 0;
        snprintf(text, sizeof text, frame, rows[i].before, rows[i].turn);
        build(&b, text, "k");
        for (u32 k = 0; k < b.code->op_count; k++) loads += (b.code->ops[k].flags & TIME_INDEXED) != 0;
        assert_int_equal(loads, rows[i].loads);
        drop(&b);
    }
}

// A warp that leaves at once issues what ptxas 13.0 puts before the EXIT: stack pointer, the number, comparison and
// EXIT. Of the parameters one is of two words, one lies in a register that the loop changes.
TEST(parameters_are_loaded_behind_exits) {
    Built b;
    build(&b,
          PTX_HEAD
          ".visible .entry k(.param .u64 a, .param .u32 n, .param .align 8 .b8 v[8]) { .reg .b32 %r<9>; .reg .b64 "
          "%d<9>; .reg .pred %p<3>; ld.param.u64 %d1, [a]; ld.param.u32 %r1, [n]; ld.param.v2.u32 {%r2, %r3}, [v]; "
          "setp.lt.s32 %p1, %r1, 1; @%p1 bra E; mov.u32 %r4, 0; L: ld.global.u32 %r5, [%d1]; add.s32 %r5, %r5, %r2; "
          "xor.b32 %r5, %r5, %r3; st.global.u32 [%d1], %r5; cvt.u64.u32 %d2, %r5; add.s64 %d1, %d1, %d2; add.s32 %r4, "
          "%r4, 1; setp.lt.s32 %p2, %r4, %r1; @%p2 bra L; E: ret; }",
          "k");
    assert_int_equal(b.code->blocks[0].op_count, 4);
    drop(&b);
}

static u32 issued_with(const char *body) {
    Built b;
    char text[1024];
    snprintf(text, sizeof text,
             PTX_HEAD ".const .align 4 .b8 t[64]; .const .align 4 .b8 u[64]; .visible .entry k(.param .u64 a) { .reg "
                      ".b32 %%r<9>; .reg .b64 "
                      "%%d<9>; ld.param.u64 %%d1, [a]; ld.global.u32 %%r1, [%%d1]; mov.u64 %%d2, u; %s "
                      "st.global.u32 [%%d1], %%r1; ret; }",
             body);
    build(&b, text, "k");
    u32 count = b.code->op_count;
    drop(&b);
    return count;
}

// As ptxas 13.0 computes them for sm_90.
TEST(addresses_of_constants_have_32_bits) {
    static const struct {
        const char *body;
        u32 count;
    } rows[] = {
        {"cvt.u64.u32 %d3, %r1; add.s64 %d4, %d2, %d3; ld.const.u8 %r1, [%d4];", 1},
        {"cvt.s64.s32 %d3, %r1; add.s64 %d4, %d2, %d3; ld.const.u8 %r1, [%d4+7];", 1},
        {"cvt.u64.u32 %d3, %r1; and.b64 %d4, %d3, 63; add.s64 %d5, %d2, %d4; ld.const.u8 %r1, [%d5];", 2},
        {"cvt.s64.s32 %d3, %r1; shl.b64 %d4, %d3, 2; add.s64 %d5, %d2, %d4; ld.const.u32 %r1, [%d5];", 2},
        {"cvt.u64.u32 %d3, %r1; and.b64 %d4, %d3, 63; add.s64 %d5, %d2, %d4; ld.const.u8 %r2, [%d5]; mov.u64 %d6, t; "
         "add.s64 %d7, %d6, %d4; ld.const.u8 %r3, [%d7]; add.s32 %r1, %r2, %r3;",
         4},
    };
    u32 bare = issued_with("");
    for (u32 i = 0; i < WL_COUNT(rows); i++) assert_int_equal(issued_with(rows[i].body), bare + rows[i].count);
}

// Chains of special functions, one sum of all: more than there are registers for are under way all the same, eight at
// least, whatever the order of the PTX; ptxas 13.0 takes 32 registers for 24 chains as for 96 (sm_90).
TEST(independent_chains_are_interleaved_within_the_registers) {
    enum { CHAINS = 64, STEPS = 4, ROOM = 8, FIRST = 3 };
    char text[CHAINS * 256 + 1024], *at = text;
    at +=
        sprintf(at, PTX_HEAD ".visible .entry k(.param .u64 p, .param .f32 c) {\n .reg .f32 %%f<400>; .reg .b64 %%d;\n"
                             " ld.param.u64 %%d, [p]; ld.param.f32 %%f1, [c]; mov.f32 %%f2, 0f00000000;\n");
    for (u32 i = 0; i < CHAINS; i++) {
        u32 f = 3 + i * 3;
        at += sprintf(at, "add.f32 %%f%u, %%f1, 0f3f80%04x; lg2.approx.ftz.f32 %%f%u, %%f%u;\n", f, i + 1, f + 1, f);
        at += sprintf(at, "ex2.approx.ftz.f32 %%f%u, %%f%u; add.f32 %%f2, %%f2, %%f%u;\n", f + 2, f + 1, f + 2);
    }
    sprintf(at, "st.global.f32 [%%d], %%f2; ret;\n}\n");
    Built b;
    build(&b, text, "k");
    check_shape(b.code);
    u32 place[FIRST + CHAINS * STEPS + 8];
    for (u32 i = 0; i < b.code->op_count; i++) place[b.code->ops[i].pc] = i;
    for (u32 i = 0; i + ROOM < CHAINS; i++)
        assert_true(place[FIRST + i * STEPS + 3] > place[FIRST + (i + ROOM) * STEPS + 1]);
    assert_true(b.code->registers <= 32);
    drop(&b);
}

static void build_sum(Built *b, u32 loads, const char *address) {
    static char text[8192];
    char *at = text;
    at += sprintf(at,
                  PTX_HEAD ".visible .entry k(.param .u64 p, .param .u32 n) {\n .reg .f32 %%f<99>; .reg .b64 %%d<3>;\n"
                           " .reg .b32 %%r; ld.param.u64 %%d1, [p]; ld.param.u32 %%r, [n]; mul.wide.u32 %%d2, %%r, 4;\n"
                           " mov.f32 %%f0, 0f00000000;\n");
    for (u32 i = 1; i <= loads; i++)
        at += sprintf(at, "ld.global.f32 %%f%u, [%%d1]; %s add.f32 %%f0, %%f0, %%f%u;\n", i, address, i);
    sprintf(at, "st.global.f32 [%%d2], %%f0; ret;\n}\n");
    build(b, text, "k");
    check_shape(b->code);
}

// Loads take scoreboards 2 to 5, the fifth and later ones share the last: ptxas 13.0, sm_90, and whoever reads the
// fourth waits for all behind it.
TEST(loads_share_four_scoreboards) {
    enum { LOADS = 8, ALONE = 3 };
    Built b;
    build_sum(&b, LOADS, "add.s64 %d1, %d1, 4;");
    u32 sums = 0;
    for (u32 i = 0; i < b.code->op_count; i++) {
        const TimeOp *op = &b.code->ops[i];
        if (op->unit != UNIT_FMA) continue;
        assert_int_equal(op->src_count, 2 + (sums == ALONE ? LOADS - ALONE - 1 : 0));
        sums++;
    }
    assert_int_equal(sums, LOADS);
    drop(&b);
}

// A stride that is a parameter lies in uniform registers, and addresses that wait for each other leave no time for
// sums: ptxas 13.0, sm_90, has all 16 loads before the first addition, and 23 of 32 (here up to two more).
TEST(loads_along_a_chain_of_addresses_come_first) {
    for (u32 loads = 16; loads <= 32; loads += 16) {
        Built b;
        build_sum(&b, loads, "add.s64 %d1, %d1, %d2;");
        u32 first = 0;
        for (u32 i = 0; b.code->ops[i].unit != UNIT_FMA; i++) first += b.code->ops[i].kind == TIME_LOAD;
        assert_in_range(first, loads == 16 ? 16 : 21, loads == 16 ? 16 : 25);
        drop(&b);
    }
}

// P0 to P6: a condition that finds them taken waits for what reads one of them for the last time.
TEST(conditions_alive_at_once_have_a_register_each) {
    enum { CONDITIONS = 12, REGISTERS = 7, FIRST = 3, STEPS = 4 };
    char text[CONDITIONS * 256 + 1024], *at = text;
    at += sprintf(at, PTX_HEAD ".visible .entry k(.param .u64 p) {\n .reg .b32 %%r<99>; .reg .pred %%q<99>;\n"
                               " .reg .b64 %%d<3>; ld.param.u64 %%d1, [p]; mov.u32 %%r0, %%tid.x;\n"
                               " ld.global.u32 %%r1, [%%d1];\n");
    for (u32 i = 0; i < CONDITIONS; i++) {
        at += sprintf(at, "and.b32 %%r%u, %%r1, %u; setp.ne.s32 %%q%u, %%r%u, 0;\n", i + 2, 1u << i, i, i + 2);
        at += sprintf(at, "@%%q%u ld.global.u32 %%r%u, [%%d1+%u]; ", i, i + 40, i * 4);
        at += sprintf(at, "@%%q%u st.shared.u32 [%u], %%r%u;\n", i, i * 4, i + 40);
    }
    sprintf(at, "ret;\n}\n");
    Built b;
    build(&b, text, "k");
    check_shape(b.code);
    u32 alive = 0, most = 0;
    for (u32 i = 0; i < b.code->op_count; i++) {
        const TimeOp *op = &b.code->ops[i];
        if (op->pc < FIRST || op->pc >= FIRST + CONDITIONS * STEPS) continue;
        alive -= op->kind == TIME_STORE;
        alive += (op->pc - FIRST) % STEPS == 1 && op->unit == UNIT_ALU;
        if (alive > most) most = alive;
    }
    assert_int_equal(most, REGISTERS);
    drop(&b);
}

// Of a sum of products in shared memory four factors come with one load, the others alone: when four have no room any
// more, single ones do not take what is left, so that the next four are under way in time (ptxas 13.0, sm_90: two sums
// between them and their first one at least; CUDA samples, matrixMul).
TEST(small_loads_leave_room_for_a_wide_one_that_is_due) {
    enum { WIDE = 8, WORDS = 4, BETWEEN = 2, KEPT = 10 };
    char text[WIDE * 512 + KEPT * 128 + 1024], *at = text;
    at += sprintf(at, PTX_HEAD ".visible .entry k(.param .u64 p) {\n .reg .b32 %%r<3>; .reg .f32 %%f<99>;\n"
                               " .reg .b64 %%d; .shared .align 16 .b8 s[8192]; ld.param.u64 %%d, [p];\n"
                               " mov.u32 %%r0, %%tid.x; mov.u32 %%r2, s; mad.lo.s32 %%r1, %%r0, 4, %%r2;\n"
                               " mov.f32 %%f0, 0f00000000;\n");
    for (u32 i = 0; i < KEPT; i++) at += sprintf(at, "ld.global.f32 %%f%u, [%%d+%u];\n", 80 + i, i * 4);
    at += sprintf(at, "bar.sync 0;\n");
    for (u32 i = 0; i < WIDE; i++) {
        u32 f = 1 + i * 2 * WORDS;
        at += sprintf(at, "ld.shared.v4.f32 {%%f%u, %%f%u, %%f%u, %%f%u}, [%%r2+%u];\n", f, f + 1, f + 2, f + 3,
                      4096 + i * 16);
        for (u32 k = 0; k < WORDS; k++)
            at += sprintf(at, "ld.shared.f32 %%f%u, [%%r1+%u]; fma.rn.f32 %%f0, %%f%u, %%f%u, %%f0;\n", f + WORDS + k,
                          (i * WORDS + k) * 128, f + k, f + WORDS + k);
    }
    for (u32 i = 0; i < KEPT; i++) at += sprintf(at, "st.global.f32 [%%d+%u], %%f%u;\n", 64 + i * 4, 80 + i);
    sprintf(at, "st.global.f32 [%%d], %%f0; ret;\n}\n");
    Built b;
    build(&b, text, "k");
    check_shape(b.code);
    u32 sums = 0, loaded = 0;
    for (u32 i = 0; i < b.code->op_count; i++) {
        const TimeOp *op = &b.code->ops[i];
        loaded += op->kind == TIME_LOAD && op->dst_count == WORDS;
        if (op->unit != UNIT_FMA) continue;
        sums++;
        if (sums + BETWEEN < WIDE * WORDS) assert_true(loaded * WORDS > sums + BETWEEN - 1);
    }
    assert_int_equal(sums, WIDE * WORDS);
    drop(&b);
}

// A block of the largest size takes time in proportion: nothing here looks at all pairs.
TEST(a_long_block_is_no_harder_than_short_ones) {
    enum { INSNS = 3 * TIME_BLOCK_MAX };
    char *text = malloc(INSNS * 64 + 1024), *at = text;
    at += sprintf(at, PTX_HEAD ".visible .entry k(.param .u64 p) {\n .reg .b32 %%r<16>; .reg .b64 %%d<3>;\n"
                               " ld.param.u64 %%d1, [p]; ld.global.u64 %%d2, [%%d1]; mov.u32 %%r0, %%tid.x;\n");
    for (u32 i = 0; i < INSNS; i++)
        at += i % 3 == 0   ? sprintf(at, "ld.global.u32 %%r%u, [%%d2+%u];\n", i % 16, i * 4)
              : i % 3 == 1 ? sprintf(at, "add.s32 %%r%u, %%r%u, %%r%u;\n", i % 16, (i + 5) % 16, (i + 15) % 16)
                           : sprintf(at, "st.global.u32 [%%d1+%u], %%r%u;\n", i * 4, (i + 15) % 16);
    sprintf(at, "ret;\n}\n");
    Built b;
    build(&b, text, "k");
    check_shape(b.code);
    assert_true(b.code->block_count >= 4);
    drop(&b);
    free(text);
}

// A side of loads from shared memory, sums and products of them and a store is predicated up to eight instructions, the
// loads among them: ptxas 13.0 for sm_90.
TEST(loads_from_shared_memory_count_among_what_is_predicated) {
    for (u32 loads = 0; loads <= 4; loads++)
        for (u32 more = loads ? loads : 1; more <= 9; more++) {
            char text[4096], *at = text;
            at += sprintf(at, "%s",
                          PTX_HEAD
                          ".visible .entry k(.param .u64 a, .param .u32 n) {\n.reg .b64 %rd<3>;\n.reg .b32 %r<60>;\n"
                          ".reg .pred %p<2>;\n.shared .b32 words[64];\nld.param.u64 %rd1, [a];\nld.param.u32 %r1, "
                          "[n];\nld.global.u32 %r3, [%rd1];\nmov.u32 %r2, %tid.x;\nmov.u32 %r4, words;\n"
                          "add.s32 %r5, %r4, %r3;\nsetp.gt.s32 %p1, %r2, %r1;\n@%p1 bra OVER;\n");
            for (u32 i = 0; i < loads; i++) at += sprintf(at, "ld.shared.u32 %%r%u, [%%r5+%u];\n", 10 + i, 12 * i + 8);
            for (u32 i = 0; i < more; i++)
                at += sprintf(at, "%s %%r%u, %%r%u, %%r%u;\n", i % 2 ? "mul.lo.s32" : "xor.b32", 30 + i, i ? 29 + i : 3,
                              i < loads ? 10 + i : 2);
            sprintf(at,
                    "st.shared.u32 [%%r5+40], %%r%u;\nOVER:\nbar.sync 0;\nld.shared.u32 %%r50, [%%r5+4];\n"
                    "st.global.u32 [%%rd1], %%r50;\nret;\n}\n",
                    29 + more);
            Built b;
            build(&b, text, "k");
            bool predicated = false;
            for (u32 k = 0; k < b.code->block_count; k++) predicated |= b.code->blocks[k].predicated;
            assert_int_equal(predicated, loads + more + 1 <= 8);
            drop(&b);
        }
}

// Every instruction with every first type, in all variants: it has steps, and only those that timing.def knows.
TEST(every_instruction_has_steps) {
    GpuModel gpu = {.sm_version = 90};
    set_test_timing(&gpu);
    for (u16 op = 0; op < OP_COUNT; op++) {
        Form forms[TYPE_COUNT] = {0};
        TimeSteps rows[TYPE_COUNT * VARIANT_COUNT], steps;
        for (u8 t = 0; t < TYPE_COUNT; t++) forms[t] = (Form){.op = op, .types = {t, t}, .type_count = t ? 2 : 0};
        memset(rows, 0xff, sizeof rows);
        Module m = {.forms = forms, .form_count = TYPE_COUNT};
        TimeLower lower = {.module = &m, .gpu = &gpu, .rows = rows};
        for (u32 t = 0; t < TYPE_COUNT; t++)
            for (u32 v = 0; v < VARIANT_COUNT; v++) {
                assert_int_equal(time_steps(&lower, t, (TimeVariant)v, &steps), STATUS_OK);
                assert_true(steps.count >= 1 && steps.count < 100);
                const TimeStep *last = &lower.steps.data[steps.first + steps.count - 1];
                assert_true(last->interval >= 1 && last->unit < UNIT_COUNT);
            }
        vec_free(&lower.steps);
    }
}

TEST(running_out_of_memory_is_reported) {
    Built b;
    build(&b, vector_add, "add");
    Status status = STATUS_NO_MEMORY;
    for (u64 n = 0; status != STATUS_OK; n++) {
        u64 left = n;
        TimeCode *code = NULL;
        testing_memory_out_after(&left);
        status = time_code_build(b.program, &b.device.gpu, (SimMachineCode){0}, &code);
        testing_memory_back();
        assert_true(status == STATUS_OK || status == STATUS_NO_MEMORY);
        if (status == STATUS_OK) time_code_free(code);
    }
    drop(&b);
}

// The greatest stall count behind an operation of `unit`.
static u32 most_gap(const char *body, UnitClass unit) {
    char text[1024];
    Built b = {0};
    snprintf(text, sizeof text, "%s%s%s",
             PTX_HEAD ".visible .entry k(.param .u64 out) {\n.reg .b64 %rd<3>;\n.reg .f32 %f<4>;\n"
                      "ld.param.u64 %rd1, [out];\nld.global.f32 %f1, [%rd1];\nld.global.u64 %rd2, [%rd1];\n",
             body, "ret;\n}\n");
    build(&b, text, "k");
    u32 most = 0;
    for (u32 i = 0; i < b.code->op_count; i++)
        if (b.code->ops[i].unit == unit && b.code->ops[i].gap > most) most = b.code->ops[i].gap;
    drop(&b);
    return most;
}

// What reads a result of fixed latency comes so many cycles behind, stores of f32 one later (cross_latency); what comes
// from a load or a slow unit has a scoreboard, no count.
TEST(stall_counts_are_what_fixed_latencies_leave) {
    assert_int_equal(most_gap("add.f32 %f2, %f1, %f1;\nst.global.f32 [%rd1], %f2;\n", UNIT_FMA), 5);
    assert_int_equal(most_gap("st.global.f32 [%rd1], %f1;\n", UNIT_FMA), 0);
    assert_int_equal(most_gap("fma.rn.f64 %rd2, %rd2, %rd2, %rd2;\nst.global.f64 [%rd1], %rd2;\n", UNIT_FP64), 8);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_small_kernel_becomes_what_the_machine_issues),
        cmocka_unit_test(every_kernel_has_a_code_of_the_right_shape),
        cmocka_unit_test(what_has_no_use_is_not_issued),
        cmocka_unit_test(loads_come_early_but_not_before_a_store_that_may_alias),
        cmocka_unit_test(loads_of_another_space_come_before_a_store),
        cmocka_unit_test(where_a_linker_places_variables_their_alignment_is_what_they_ask),
        cmocka_unit_test(constant_words_side_by_side_are_loaded_at_once),
        cmocka_unit_test(constants_that_turns_index_come_by_uniform_registers),
        cmocka_unit_test(words_of_constants_side_by_side_come_together),
        cmocka_unit_test(parameters_are_loaded_behind_exits),
        cmocka_unit_test(addresses_of_constants_have_32_bits),
        cmocka_unit_test(independent_chains_are_interleaved_within_the_registers),
        cmocka_unit_test(loads_share_four_scoreboards),
        cmocka_unit_test(loads_along_a_chain_of_addresses_come_first),
        cmocka_unit_test(conditions_alive_at_once_have_a_register_each),
        cmocka_unit_test(small_loads_leave_room_for_a_wide_one_that_is_due),
        cmocka_unit_test(a_long_block_is_no_harder_than_short_ones),
        cmocka_unit_test(stall_counts_are_what_fixed_latencies_leave),
        cmocka_unit_test(loads_from_shared_memory_count_among_what_is_predicated),
        cmocka_unit_test(every_instruction_has_steps),
        cmocka_unit_test(running_out_of_memory_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
