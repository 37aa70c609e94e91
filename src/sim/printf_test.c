// SPDX-License-Identifier: Apache-2.0
// Device printf against the host's, with arguments packed as nvcc packs them.
#include <math.h>

#include "sim/device_testing.h"

static const char ptx[] =
    PTX_HEAD ".extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 a);\n"
             ".visible .entry print(.param .u64 format, .param .u64 args, .param .u64 results) {\n"
             "  .reg .b64 %d<5>; .reg .b32 %r<3>;\n"
             "  ld.param.u64 %d1, [format]; ld.param.u64 %d2, [args]; ld.param.u64 %d3, [results];\n"
             "  { .param .b64 p0; .param .b64 p1; .param .b32 q;\n"
             "    st.param.b64 [p0+0], %d1; st.param.b64 [p1+0], %d2;\n"
             "    call.uni (q), vprintf, (p0, p1);\n"
             "    ld.param.b32 %r1, [q+0]; }\n"
             "  mov.u32 %r2, %tid.x; mul.wide.u32 %d4, %r2, 4; add.u64 %d4, %d3, %d4; st.global.u32 [%d4], %r1;\n"
             "  ret;\n}\n";

typedef struct Pack {  // the argument block
    u8 bytes[512];
    u32 size;
} Pack;

static void pack(Pack *p, const void *value, u32 size) {
    p->size = (p->size + size - 1) / size * size;
    memcpy(p->bytes + p->size, value, size);
    p->size += size;
}
static void pack_int(Pack *p, int value) { pack(p, &value, 4); }
static void pack_long(Pack *p, long long value) { pack(p, &value, 8); }
static void pack_double(Pack *p, double value) { pack(p, &value, 8); }

// Prints by one thread; returns vprintf's result.
static i32 print(TestDevice *d, const char *format, const Pack *p) {
    struct {
        u64 format, args, results;
    } params = {device_memory(d, format, strlen(format) + 1), device_memory(d, p->bytes, sizeof p->bytes),
                device_memory(d, NULL, 256)};
    d->printed_size = 0;
    d->printed[0] = 0;
    device_run(d, "print", 1, 1, &params);
    return *(i32 *)device_view(d, params.results, 4);
}

#define EXPECT(d, p, count, format, ...)                        \
    do {                                                        \
        char wanted_[1024];                                     \
        snprintf(wanted_, sizeof wanted_, format, __VA_ARGS__); \
        assert_int_equal(print(d, format, p), count);           \
        assert_string_equal((d)->printed, wanted_);             \
    } while (0)

TEST(integers) {
    TestDevice d;
    device_open(&d, ptx);
    Pack p = {0};
    pack_int(&p, -5), pack_int(&p, 42), pack_int(&p, 255), pack_int(&p, 8);
    EXPECT(&d, &p, 4, "%d|%-8u|%#010x|%o\n", -5, 42u, 255u, 8u);
    EXPECT(&d, &p, 3, "%5.3i %X %% % d", -5, 42u, 255);
    Pack q = {0};
    pack_int(&q, 300), pack_int(&q, 70000), pack_long(&q, 1ll << 40), pack_int(&q, 7), pack_long(&q, -1);
    EXPECT(&d, &q, 5, "%hhd %hd %lld %c %lu", (signed char)300, (short)70000, 1ll << 40, 7, -1ul);
    EXPECT(&d, &q, 5, "%hhu %hx %llu %d %ld", (unsigned char)300, (unsigned short)70000, 1ull << 40, 7, -1l);
    Pack w = {0};
    pack_int(&w, -9), pack_int(&w, 5);
    EXPECT(&d, &w, 2, "[%*.3d]", -9, 5);
    device_close(&d);
}

TEST(floats_and_pointers) {
    TestDevice d;
    device_open(&d, ptx);
    Pack p = {0};
    pack_double(&p, 3.14159), pack_int(&p, 1), pack_double(&p, -1e-10), pack_double(&p, 1e30), pack_long(&p, 0x7f00),
        pack_double(&p, (double)INFINITY);
    EXPECT(&d, &p, 6, "%8.3f|%c|%-14e|%G|%p|%a", 3.14159, 1, -1e-10, 1e30, (void *)0x7f00, (double)INFINITY);
    device_close(&d);
}

TEST(strings) {
    TestDevice d;
    device_open(&d, ptx);
    Pack p = {0};
    pack_long(&p, (long long)device_memory(&d, "hello world", 12));
    pack_long(&p, (long long)device_memory(&d, "abc", 3));  // no terminator: the precision keeps away from the end
    pack_long(&p, 0);
    EXPECT(&d, &p, 3, "%s|%-6.3s|%s", "hello world", "abc", "(null)");
    char longer[3000];
    memset(longer, 'x', sizeof longer - 1);
    longer[sizeof longer - 1] = 0;
    Pack q = {0};
    pack_long(&q, (long long)device_memory(&d, longer, sizeof longer));
    assert_int_equal(print(&d, "%s", &q), 1);
    assert_int_equal(d.printed_size, sizeof longer - 1);
    device_close(&d);
}

TEST(odd_formats_are_text) {
    TestDevice d;
    device_open(&d, ptx);
    Pack p = {0};
    pack_int(&p, 1);
    assert_int_equal(print(&d, "%d %q 100% ", &p), 1);
    assert_string_equal(d.printed, "1 %q 100% ");
    assert_int_equal(print(&d, "plain", &p), 0);
    assert_string_equal(d.printed, "plain");
    assert_int_equal(print(&d, "%", &p), 0);
    assert_string_equal(d.printed, "%");
    // What an H200 printed for them (2026-11-21, driver 580, CUDA 13.0), but for %n, which ends the program there.
    static const struct {
        const char *format, *printed;
    } odd[] = {{"%n", "%n"},
               {"[%.*f] %d", "[%.*f] 1"},
               {"[%*.*f]", "[%*.*f]"},
               {"[%5%][%%]", "[%5%][%]"},
               {"[%zu][%zd] %d", "[%zu][%zd] 1"},
               {"[%td][%jd]", "[%td][%jd]"},
               {"Lf [%Lf]", "Lf [%Lf]"},
               {"bad [%y] tail %d", "bad [%y] tail 1"},
               {"pos [%1$d][%2$d]", "pos [%1$d][%2$d]"},
               {"end %", "end %"},
               {"%'d", "%'d"}};
    for (u32 i = 0; i < WL_COUNT(odd); i++) {
        assert_in_range(print(&d, odd[i].format, &p), 0, 1);
        assert_string_equal(d.printed, odd[i].printed);
    }
    device_close(&d);
}

TEST(lanes_in_order) {
    TestDevice d;
    device_open(&d, ptx);
    struct {
        u64 format, args, results;
    } params = {device_memory(&d, ".\n", 3), 0, device_memory(&d, NULL, 512)};
    device_run(&d, "print", 1, 40, &params);
    assert_int_equal(d.printed_size, 80);
    params.format = 0;
    device_run(&d, "print", 1, 1, &params);
    assert_int_equal(*(i32 *)device_view(&d, params.results, 4), -1);
    device_close(&d);
}

TEST(bad_pointers_fault) {
    TestDevice d;
    device_open(&d, ptx);
    struct {
        u64 format, args, results;
    } params = {device_memory(&d, "%s", 3), 0, device_memory(&d, NULL, 512)};
    u64 bad = 0x1234;
    params.args = device_memory(&d, &bad, 8);
    assert_int_equal(device_try(&d, "print", 1, 1, &params), STATUS_FAULT);
    params.args = 0x10;
    assert_int_equal(device_try(&d, "print", 1, 1, &params), STATUS_FAULT);
    params.format = 0x20;
    assert_int_equal(device_try(&d, "print", 1, 1, &params), STATUS_FAULT);
    device_close(&d);
}

// How long it takes `ctas` warps of `threads` threads to print a text, whose arguments are zeros and pointers to
// "abcd".
static u64 cycles_print(const char *format, u32 ctas, u32 threads, const GpuModel **gpu) {
    static TestDevice d;
    device_open_with(&d, ptx, (SimConfig){.threads = 1, .timing = true});
    u64 args[4] = {device_memory(&d, "abcd", 5)};
    struct {
        u64 format, args, results;
    } params = {device_memory(&d, format, strlen(format) + 1), device_memory(&d, args, sizeof args),
                device_memory(&d, NULL, 256)};
    SimLaunch launch = {.grid = {ctas, 1, 1}, .block = {threads, 1, 1}, .params = &params};
    SimLaunchResult result = {0};
    assert_int_equal(sim_find_kernel(d.sim, d.module, "print", &launch.kernel), STATUS_OK);
    assert_int_equal(sim_launch(d.sim, &launch, &result, &d.diag), STATUS_OK);
    device_close(&d);
    *gpu = &d.gpu;
    return result.cycles;
}

#define ABOUT(value, wanted) assert_in_range(value, (wanted)-600, (wanted) + 600)

// bench/hwref/h200-printf.tsv: by lanes, by the characters that are read, and warps one after the other.
TEST(printing_takes_time) {
    const GpuModel *gpu;
    u64 one = cycles_print("x", 1, 1, &gpu);
    assert_in_range(one, gpu->print, gpu->print + 6000);
    ABOUT(cycles_print("x", 1, 32, &gpu), one + 31 * gpu->print_lane);
    ABOUT(cycles_print("0123456789", 1, 1, &gpu), one + 9 * gpu->print_character);
    ABOUT(cycles_print("%d%d", 1, 1, &gpu), one + gpu->print_character);
    ABOUT(cycles_print("%s", 1, 1, &gpu), one + 8 * gpu->print_character);
    ABOUT(cycles_print("x", 9, 1, &gpu), one + 8 * (gpu->print_interval + gpu->print_interval_lane));
    ABOUT(cycles_print("x", 3, 4, &gpu),
          one + 3 * gpu->print_lane + 2 * (gpu->print_interval + 4 * gpu->print_interval_lane));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers),
        cmocka_unit_test(floats_and_pointers),
        cmocka_unit_test(strings),
        cmocka_unit_test(odd_formats_are_text),
        cmocka_unit_test(lanes_in_order),
        cmocka_unit_test(bad_pointers_fault),
        cmocka_unit_test(printing_takes_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
