// SPDX-License-Identifier: Apache-2.0
// Texture fetches against the bits that an H200 returned (texture_cases.inc): all geometries, formats, address modes,
// filters, offsets, levels, gradients and gathers.
#include "sim/device_testing.h"
#include "sim/texture_cases.h"

// All modes of one case; the hash of their hashes.
static u64 run_case(const char *fetch, const CaseResource *r, const CaseFormat *f) {
    static u8 texels[8 * 8 * 12 * 16];
    char ptx[4096];
    TestDevice d;
    case_ptx(ptx, sizeof ptx, fetch, f);
    device_open(&d, ptx);
    SimTexture t = case_texture(r, f);
    case_fill(texels, r, f);
    t.data = device_memory(&d, texels, (u64)case_texels(r) * case_texel_bytes(f));
    u64 points = device_memory(&d, NULL, CASE_POINTS * sizeof(CasePoint)),
        out = device_memory(&d, NULL, CASE_POINTS * 16);
    u64 hash = 0;
    for (u32 mode = 0; mode < 16; mode++) {
        u32 address = mode & 3, filter = mode >> 2 & 1;
        if (!case_has_mode(r, f, mode >> 3, filter, address)) continue;
        t.normalized_coords = mode >> 3;
        t.filter = (u8)filter;
        memset(t.address, (int)address, sizeof t.address);
        struct {
            u64 texture, points, out;
        } params = {0, points, out};
        assert_int_equal(sim_texture_create(d.sim, &t, &params.texture), STATUS_OK);
        case_points(r, t.normalized_coords, address * 10 + filter, device_view(&d, points, 1));
        device_run(&d, "fetch", 1, CASE_POINTS, &params);
        hash = hash * 31 + case_hash_words(device_view(&d, out, CASE_POINTS * 16), CASE_POINTS * 4);
        assert_int_equal(sim_texture_destroy(d.sim, params.texture), STATUS_OK);
    }
    device_close(&d);
    return hash;
}

TEST(same_as_an_h200) {
    u32 wrong = 0;
    for (u32 i = 0; i < WL_COUNT(texture_cases); i++) {
        const TextureCase *c = &texture_cases[i];
        const CaseResource *r = NULL;
        const CaseFormat *f = NULL;
        for (u32 k = 0; k < WL_COUNT(case_resources); k++)
            if (strcmp(case_resources[k].name, c->resource) == 0) r = &case_resources[k];
        for (u32 k = 0; k < WL_COUNT(case_formats); k++)
            if (strcmp(case_formats[k].name, c->format) == 0) f = &case_formats[k];
        assert_true(r && f);
        if (run_case(c->fetch, r, f) == c->hash) continue;
        print_error("%s of %s, %s: not what the GPU gave\n", c->fetch, c->resource, c->format);
        wrong++;
    }
    assert_int_equal(wrong, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(same_as_an_h200)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
