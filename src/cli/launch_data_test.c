// SPDX-License-Identifier: Apache-2.0
// The content of buffers does not depend on the parts in which it is made.
#include <string.h>

#include "base/testing.h"
#include "cli/launch_spec.h"

enum { COUNT = 1000, BYTES = COUNT * 8 };

static LaunchSpec parse(const char *text) {
    LaunchSpec spec;
    Diag diag = {0};
    assert_int_equal(launch_spec_parse("test.launch", (Str){text, strlen(text)}, &spec, &diag), STATUS_OK);
    diag_free(&diag);
    return spec;
}

static void fill_in_parts(const SpecBuffer *b, u64 each, u8 *to) {
    memset(to, 0, BYTES);
    for (u64 at = 0; at < b->count; at += each)
        spec_fill(b, at, b->count - at < each ? b->count - at : each, to + at * spec_type_size(b->type));
}

TEST(content_is_the_same_in_parts) {
    static const u64 parts[] = {1, 7, 256, 999};
    LaunchSpec spec = parse("buffer a f32 1000 iota -3 0.1\n"
                            "buffer b u8 1000 iota\n"
                            "buffer c f64 1000 lcg 12345 1000\n"
                            "buffer d s16 1000 lcg 7\n"
                            "buffer e f16 1000 fill 1.5\n"
                            "buffer f u64 1000 lcg 99 17\n"
                            "buffer g s32 1000\n"
                            "kernel k\ngrid 1\nblock 1\n");
    for (u32 i = 0; i < spec.buffers.len; i++) {
        u8 whole[BYTES], pieces[BYTES];
        fill_in_parts(&spec.buffers.data[i], COUNT, whole);
        for (u32 p = 0; p < WL_COUNT(parts); p++) {
            fill_in_parts(&spec.buffers.data[i], parts[p], pieces);
            assert_memory_equal(whole, pieces, sizeof whole);
        }
    }
    launch_spec_free(&spec);
}

// By hand: x = x * 1664525 + 1013904223 from 1, (x >> 8) % 100; 256 and more are no u8; what does not fit stays zero.
TEST(values_are_those_of_the_page) {
    LaunchSpec spec = parse("buffer a u32 3 lcg 1 100\n"
                            "buffer b u8 1000 iota 254\n"
                            "buffer c f32 4 iota 1 0.5\n"
                            "kernel k\ngrid 1\nblock 1\n");
    u32 numbers[3];
    u8 bytes[4] = {0};
    f32 floats[2];
    spec_fill(&spec.buffers.data[0], 0, 3, (u8 *)numbers);
    assert_int_equal(numbers[0], (1015568748u >> 8) % 100);
    assert_int_equal(numbers[1], (1586005467u >> 8) % 100);
    assert_int_equal(numbers[2], (2165703038u >> 8) % 100);
    spec_fill(&spec.buffers.data[1], 0, 4, bytes);
    assert_memory_equal(bytes, ((u8[]){254, 255, 0, 0}), 4);
    spec_fill(&spec.buffers.data[2], 2, 2, (u8 *)floats);
    assert_true(floats[0] == 2 && floats[1] == 2.5f);
    launch_spec_free(&spec);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(content_is_the_same_in_parts),
                                       cmocka_unit_test(values_are_those_of_the_page)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
