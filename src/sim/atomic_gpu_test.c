// SPDX-License-Identifier: Apache-2.0
// Atomic additions, minima and maxima of floating-point numbers and of vectors, against what an H200 gave (2026-11-21,
// driver 580, CUDA 13.0): 4096 operands each, a third of them special. The hash is of the memory, then of the old
// values.
#include "sim/device_testing.h"

enum { SLOTS = 4096, THREADS = 256 };

static const struct {
    const char *mnemonic;
    bool halves;  // the operands are pairs of 16-bit numbers
    u64 hash;
} cases[] = {
    {"atom.global.add.v2.f32", false, 0xf2e5453a42b363a9},
    {"atom.global.add.v4.f32", false, 0xb2d569fb7d066a8a},
    {"red.global.add.v4.f32", false, 0x9b9198091813d5b4},
    {"red.global.add.v2.f32", false, 0x364c863d6435f000},
    {"atom.global.add.noftz.v2.f16", true, 0xa2361231a0cebcbe},
    {"atom.global.add.noftz.v4.f16", true, 0x650af496cc4ce190},
    {"atom.global.add.noftz.v8.f16", true, 0x891c0a220f5a681c},
    {"red.global.add.noftz.v8.f16", true, 0x96d43469e05b333e},
    {"atom.global.add.noftz.v2.f16x2", true, 0x650af496cc4ce190},
    {"atom.global.add.noftz.v4.f16x2", true, 0x891c0a220f5a681c},
    {"red.global.add.noftz.v4.f16x2", true, 0x96d43469e05b333e},
    {"atom.global.min.noftz.v2.f16", true, 0x6f638790b5fc77d6},
    {"atom.global.min.noftz.v4.f16", true, 0xee041ed64fab2465},
    {"atom.global.min.noftz.v8.f16", true, 0xa327527c40ec571e},
    {"red.global.min.noftz.v8.f16", true, 0xb50dd285e75a7508},
    {"atom.global.min.noftz.v2.f16x2", true, 0xee041ed64fab2465},
    {"atom.global.min.noftz.v4.f16x2", true, 0xa327527c40ec571e},
    {"red.global.min.noftz.v4.f16x2", true, 0xb50dd285e75a7508},
    {"atom.global.max.noftz.v2.f16", true, 0x3743e537064756e2},
    {"atom.global.max.noftz.v4.f16", true, 0x0607e0669517d721},
    {"atom.global.max.noftz.v8.f16", true, 0xdd3323f8b9dd048f},
    {"red.global.max.noftz.v8.f16", true, 0x5faf5eb9e0ff4b01},
    {"atom.global.max.noftz.v2.f16x2", true, 0x0607e0669517d721},
    {"atom.global.max.noftz.v4.f16x2", true, 0xdd3323f8b9dd048f},
    {"red.global.max.noftz.v4.f16x2", true, 0x5faf5eb9e0ff4b01},
    {"atom.global.add.noftz.v2.bf16", true, 0xeecf32042396f756},
    {"atom.global.add.noftz.v4.bf16", true, 0x8b572a27e0e88a22},
    {"atom.global.add.noftz.v8.bf16", true, 0x04238e8a2f56a8d3},
    {"red.global.add.noftz.v8.bf16", true, 0x786c1fa85ecf0ebd},
    {"atom.global.add.noftz.v2.bf16x2", true, 0x8b572a27e0e88a22},
    {"atom.global.add.noftz.v4.bf16x2", true, 0x04238e8a2f56a8d3},
    {"red.global.add.noftz.v4.bf16x2", true, 0x786c1fa85ecf0ebd},
    {"atom.global.min.noftz.v2.bf16", true, 0x64ac239ec6a830a2},
    {"atom.global.min.noftz.v4.bf16", true, 0xfef8c82916cb3c06},
    {"atom.global.min.noftz.v8.bf16", true, 0x76cba8571cc8cc51},
    {"red.global.min.noftz.v8.bf16", true, 0x52f120a1d1dd7d23},
    {"atom.global.min.noftz.v2.bf16x2", true, 0xfef8c82916cb3c06},
    {"atom.global.min.noftz.v4.bf16x2", true, 0x76cba8571cc8cc51},
    {"red.global.min.noftz.v4.bf16x2", true, 0x52f120a1d1dd7d23},
    {"atom.global.max.noftz.v2.bf16", true, 0x96320f4b7f4a2bc7},
    {"atom.global.max.noftz.v4.bf16", true, 0x9b231ca92a66df0d},
    {"atom.global.max.noftz.v8.bf16", true, 0x815ef46211e190c9},
    {"red.global.max.noftz.v8.bf16", true, 0x4aa99e6e0bb6fa8b},
    {"atom.global.max.noftz.v2.bf16x2", true, 0x9b231ca92a66df0d},
    {"atom.global.max.noftz.v4.bf16x2", true, 0x815ef46211e190c9},
    {"red.global.max.noftz.v4.bf16x2", true, 0x4aa99e6e0bb6fa8b},
    {"atom.global.add.f32", false, 0x4a6a15df0050347c},
    {"red.global.add.f32", false, 0x9eb0ec0fc323baaa},
    {"atom.global.add.noftz.f16", true, 0x119cd4b72a69bb07},
    {"atom.global.add.noftz.bf16", true, 0xade38bf1ae1a56cb},
    {"atom.global.add.noftz.f16x2", true, 0xa2361231a0cebcbe},
    {"atom.global.add.noftz.bf16x2", true, 0xeecf32042396f756},
    {"atom.global.add.f64", false, 0x968dc61821b6f3da},
    {"atom.shared.add.f32", false, 0xb20e21aee03547c1},
    {"atom.shared.add.noftz.f16x2", true, 0xa2361231a0cebcbe},
    {"atom.shared.add.noftz.bf16x2", true, 0xeecf32042396f756},
    {"atom.shared.add.f64", false, 0x99f86190d3db7bc5},
};

// --- operands, by a generator that a program for a GPU had too
// ---------------------------------------------------------
static u32 generator;
static u32 random_u32(void) {
    generator = generator * 1664525u + 1013904223u;
    u32 x = generator;
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    return x ^ x >> 16;
}
static u32 random_f32(void) {
    static const u32 special[] = {0,          0x80000000, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000,
                                  0x7fc00000, 0xffc12345, 0x7f812345, 0x7fffffff, 1,          0x80000001,
                                  0x7fffff,   0x807fffff, 0x800000,   0x80800000, 0x7f7fffff, 0xff7fffff};
    u32 r = random_u32();
    if ((r & 7) < 3) return special[random_u32() % WL_COUNT(special)];
    return (r & 7) == 3 ? random_u32() & 0x80ffffff : random_u32();
}
static u32 random_half(void) {
    static const u16 special[] = {0,      0x8000, 0x3c00, 0xbc00, 0x7c00, 0xfc00, 0x7e00, 0x7d01, 0x7fff, 0xffff,
                                  0x3f80, 0x7f80, 0xff80, 0x7fc0, 1,      0x8001, 0xff81, 0x7bff, 0x7f7f};
    u32 r = random_u32();
    return (r & 7) < 3 ? special[random_u32() % WL_COUNT(special)] : random_u32() & 0xffff;
}
static u32 random_pair(void) {
    u32 low = random_half();
    return low | random_half() << 16;
}
static void make_operands(bool halves, u32 memory[SLOTS][4], u32 operand[SLOTS][4]) {
    generator = 1234;
    for (u32 i = 0; i < SLOTS; i++)
        for (u32 k = 0; k < 4; k++) {
            memory[i][k] = halves ? random_pair() : random_f32();
            operand[i][k] = halves ? random_pair() : random_f32();
            if (random_u32() % 16 == 0) operand[i][k] = memory[i][k];
        }
}

// --- a kernel around one instruction
// -----------------------------------------------------------------------------------
static const char frame[] =
    ".version 8.3\n.target sm_90\n.address_size 64\n"
    ".visible .entry k(.param .u64 memory, .param .u64 operands, .param .u64 old) {\n"
    "  .reg .b64 %%d<12>; .reg .b32 %%r<12>; .reg .b16 %%a<8>, %%b<8>; .shared .align 16 .b8 box[4096];\n"
    "  ld.param.u64 %%d1, [memory]; ld.param.u64 %%d2, [operands]; ld.param.u64 %%d3, [old];\n"
    "  mov.u32 %%r1, %%ctaid.x; mov.u32 %%r2, %%ntid.x; mov.u32 %%r3, %%tid.x; mad.lo.u32 %%r1, %%r1, %%r2, %%r3;\n"
    "  mul.wide.u32 %%d4, %%r1, 16; add.u64 %%d1, %%d1, %%d4; add.u64 %%d2, %%d2, %%d4; add.u64 %%d3, %%d3, %%d4;\n"
    "  mov.u32 %%r10, box; shl.b32 %%r3, %%r3, 4; add.u32 %%r10, %%r10, %%r3;\n"
    "  ld.global.v4.u32 {%%r1, %%r2, %%r3, %%r4}, [%%d1]; st.shared.v4.u32 [%%r10], {%%r1, %%r2, %%r3, %%r4};\n"
    "  ld.global.v4.u32 {%%r5, %%r6, %%r7, %%r8}, [%%d2];\n"
    "  mov.b32 {%%b0, %%b1}, %%r5; mov.b32 {%%b2, %%b3}, %%r6; mov.b32 {%%b4, %%b5}, %%r7; mov.b32 {%%b6, %%b7}, "
    "%%r8;\n"
    "  mov.b64 %%d5, {%%r5, %%r6};\n"
    "  mov.u32 %%r1, 0; mov.u32 %%r2, 0; mov.u32 %%r3, 0; mov.u32 %%r4, 0;\n"
    "  %s\n"
    "  st.global.v4.u32 [%%d3], {%%r1, %%r2, %%r3, %%r4};\n"
    "  %s\n  ret;\n}\n";

static void elements(char *text, size_t size, const char *prefix, u32 first, u32 count) {
    size_t at = (size_t)snprintf(text, size, "%s", count > 1 ? "{" : "");
    for (u32 k = 0; k < count; k++)
        at += (size_t)snprintf(text + at, size - at, "%s%s%u", k ? ", " : "", prefix, first + k);
    snprintf(text + at, size - at, "%s", count > 1 ? "}" : "");
}

static void make_ptx(char *ptx, size_t size, const char *mnemonic) {
    const char *type = strrchr(mnemonic, '.') + 1, *vector = strstr(mnemonic, ".v");
    u32 count = vector ? (u32)(vector[2] - '0') : 1;
    bool shared = strstr(mnemonic, ".shared") != NULL, returns = mnemonic[0] == 'a';
    bool half = strcmp(type, "f16") == 0 || strcmp(type, "bf16") == 0, wide = strcmp(type, "f64") == 0;
    char from[64], to[64], insn[512], pack[128] = "";
    elements(from, sizeof from, half ? "%b" : wide ? "%d" : "%r", half ? 0 : 5, count);
    elements(to, sizeof to, half ? "%a" : wide ? "%d" : "%r", half ? 0 : wide ? 6 : 1, count);
    if (wide) snprintf(pack, sizeof pack, "mov.b64 {%%r1, %%r2}, %%d6;");
    if (half && count == 1) snprintf(pack, sizeof pack, "mov.b32 %%r1, {%%a0, %%a0};");
    for (u32 k = 0; half && k < count / 2; k++) {
        size_t at = strlen(pack);
        snprintf(pack + at, sizeof pack - at, "mov.b32 %%r%u, {%%a%u, %%a%u};", k + 1, 2 * k, 2 * k + 1);
    }
    snprintf(insn, sizeof insn, "%s %s%s[%s], %s; %s", mnemonic, returns ? to : "", returns ? ", " : "",
             shared ? "%r10" : "%d1", from, returns ? pack : "");
    snprintf(ptx, size, frame, insn,
             shared ? "ld.shared.v4.u32 {%r1, %r2, %r3, %r4}, [%r10]; st.global.v4.u32 [%d1], {%r1, %r2, %r3, %r4};"
                    : "");
}

static u64 hash_bytes(u64 h, const u8 *bytes, size_t size) {
    for (size_t i = 0; i < size; i++) h = (h ^ bytes[i]) * 0x100000001b3ull;
    return h;
}

TEST(same_as_an_h200) {
    static u32 memory[SLOTS][4], operand[SLOTS][4];
    u32 wrong = 0;
    for (u32 i = 0; i < WL_COUNT(cases); i++) {
        char ptx[4096];
        TestDevice d;
        make_ptx(ptx, sizeof ptx, cases[i].mnemonic);
        make_operands(cases[i].halves, memory, operand);
        device_open(&d, ptx);
        struct {
            u64 memory, operands, old;
        } params = {device_memory(&d, memory, sizeof memory), device_memory(&d, operand, sizeof operand),
                    device_memory(&d, NULL, sizeof memory)};
        device_run(&d, "k", SLOTS / THREADS, THREADS, &params);
        u64 hash = hash_bytes(0xcbf29ce484222325ull, device_view(&d, params.memory, sizeof memory), sizeof memory);
        hash = hash_bytes(hash, device_view(&d, params.old, sizeof memory), sizeof memory);
        if (hash != cases[i].hash) print_error("%s: not what the GPU gave\n", cases[i].mnemonic), wrong++;
        device_close(&d);
    }
    assert_int_equal(wrong, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(same_as_an_h200)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
