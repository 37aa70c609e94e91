// SPDX-License-Identifier: Apache-2.0
// Tensor maps are refused for every broken rule of the driver API's documentation, and only then.
#include "sim/tensor_map.h"

#include <string.h>

#include "base/testing.h"

typedef struct Case {
    TensorMapSpec spec;
    u64 dims[5], strides[4];
    u32 steps[5], box[5];
} Case;

static _Alignas(64) u8 map[TENSOR_MAP_BYTES];

static Case good(u32 rank) {
    Case c = {.spec = {.type = TENSOR_F32, .rank = rank, .address = 0x10000},
              .dims = {64, 32, 16, 8, 4},
              .strides = {256, 8192, 131072, 1048576},
              .steps = {1, 1, 1, 1, 1},
              .box = {32, 8, 4, 2, 1}};
    return c;
}

static Status tiled(Case *c) {
    c->spec.dims = c->dims;
    c->spec.strides = c->strides;
    c->spec.element_strides = c->steps;
    return sim_tensor_map_encode_tiled(map, &c->spec, c->box);
}

static Status im2col(Case *c, i32 low, i32 high, u32 channels, u32 pixels) {
    i32 lower[3] = {low, low, low}, upper[3] = {high, high, high};
    c->spec.dims = c->dims;
    c->spec.strides = c->strides;
    c->spec.element_strides = c->steps;
    return sim_tensor_map_encode_im2col(map, &c->spec, lower, upper, channels, pixels);
}

#define REFUSED(change)                              \
    do {                                             \
        Case c = good(3);                            \
        change;                                      \
        assert_int_equal(tiled(&c), STATUS_INVALID); \
    } while (0)
#define TAKEN(change)                           \
    do {                                        \
        Case c = good(3);                       \
        change;                                 \
        assert_int_equal(tiled(&c), STATUS_OK); \
    } while (0)

TEST(tiled_rules) {
    for (u32 rank = 1; rank <= 5; rank++) {
        Case c = good(rank);
        assert_int_equal(tiled(&c), STATUS_OK);
    }
    REFUSED(c.spec.rank = 0);
    REFUSED(c.spec.rank = 6);
    REFUSED(c.spec.type = TENSOR_TYPE_COUNT);
    REFUSED(c.spec.address += 8);
    REFUSED(c.dims[1] = 0);
    REFUSED(c.dims[1] = (1ull << 32) + 1);
    TAKEN(c.dims[1] = 1ull << 32);
    REFUSED(c.strides[0] = 264);
    REFUSED(c.strides[1] = 1ull << 40);
    REFUSED(c.box[2] = 0);
    REFUSED(c.box[2] = 257);
    REFUSED(c.box[0] = 3);
    REFUSED(c.steps[1] = 0);
    REFUSED(c.steps[1] = 9);
    REFUSED(c.spec.interleave = 3);
    REFUSED(c.spec.swizzle = TENSOR_SWIZZLE_COUNT);
    REFUSED(c.spec.l2_promotion = 4);
    REFUSED(c.spec.fill = 2);
    TAKEN(c.spec.swizzle = TENSOR_SWIZZLE_128B);
    REFUSED(c.spec.swizzle = TENSOR_SWIZZLE_64B);
    TAKEN(c.spec.swizzle = TENSOR_SWIZZLE_64B; c.box[0] = 16);
    TAKEN(c.spec.fill = TENSOR_FILL_NAN);
    REFUSED(c.spec.fill = TENSOR_FILL_NAN; c.spec.type = TENSOR_S32);
    REFUSED(c.spec.swizzle = TENSOR_SWIZZLE_128B_ATOM_32B);
    TAKEN(c.spec.swizzle = TENSOR_SWIZZLE_128B_ATOM_32B; c.spec.sm_version = 100);
    REFUSED(c.box[1] = c.box[2] = 256);
    TAKEN(c.spec.interleave = TENSOR_INTERLEAVE_32B; c.spec.swizzle = TENSOR_SWIZZLE_32B);
    REFUSED(c.spec.interleave = TENSOR_INTERLEAVE_32B; c.spec.swizzle = TENSOR_SWIZZLE_32B; c.spec.address += 16);
    REFUSED(c.spec.interleave = TENSOR_INTERLEAVE_16B; c.spec.rank = 2);
}

TEST(im2col_rules) {
    Case c = good(2);
    assert_int_equal(im2col(&c, 0, 0, 32, 64), STATUS_INVALID);
    for (u32 rank = 3; rank <= 5; rank++) {
        c = good(rank);
        assert_int_equal(im2col(&c, -1, -1, 32, 64), STATUS_OK);
        assert_int_equal(im2col(&c, 0, 0, 32, 1025), STATUS_INVALID);
        assert_int_equal(im2col(&c, 0, 0, 32, 0), STATUS_INVALID);
        assert_int_equal(im2col(&c, 0, 0, 257, 1), STATUS_INVALID);
    }
    assert_int_equal(im2col(&c, -16, 0, 32, 64), STATUS_OK);
    assert_int_equal(im2col(&c, -17, 0, 32, 64), STATUS_INVALID);
    assert_int_equal(im2col(&c, 0, 16, 32, 64), STATUS_INVALID);
    assert_int_equal(im2col(&c, 0, -9, 32, 64), STATUS_INVALID);  // an empty box
}

TEST(addresses_are_replaced) {
    Case c = good(2);
    TensorMap m;
    assert_int_equal(tiled(&c), STATUS_OK);
    assert_int_equal(sim_tensor_map_replace_address(map, 0x20000), STATUS_OK);
    memcpy(&m, map, sizeof m);
    assert_int_equal(m.address, 0x20000);
    assert_int_equal(sim_tensor_map_replace_address(map, 0x20001), STATUS_INVALID);
    memset(map, 0, sizeof map);
    assert_int_equal(sim_tensor_map_replace_address(map, 0x20000), STATUS_INVALID);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tiled_rules),
        cmocka_unit_test(im2col_rules),
        cmocka_unit_test(addresses_are_replaced),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
