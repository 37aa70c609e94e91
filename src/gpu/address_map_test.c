// SPDX-License-Identifier: Apache-2.0
#include "gpu/address_map.h"

#include <stdio.h>
#include <string.h>

#include "base/map.h"
#include "base/testing.h"

static GpuModel model(u64 channels, u64 slices, u64 banks, const char *map) {
    GpuModel g = {.dram_channels = channels, .l2_slices = slices, .dram_banks = banks, .dram_row = 1024};
    snprintf(g.address_map, sizeof g.address_map, "%s", map);
    return g;
}

static AddressMap parse(const GpuModel *g) {
    AddressMap map;
    Diag diag = {0};
    Status status = address_map_parse(g, "test", &map, &diag);
    if (status != STATUS_OK) print_error("%s\n", diag.entries.data[0].text);
    assert_int_equal(status, STATUS_OK);
    diag_free(&diag);
    return map;
}

TEST(bits_choose_channel_and_bank) {
    GpuModel g = model(8, 8, 4, "channel = bits(8:10); bank = bits(14:15)");
    AddressMap map = parse(&g);
    assert_int_equal(map.granule, 256);
    AddressPlace p = address_map_place(&map, 5 << 8 | 2 << 14 | 3u << 16 | 77);
    assert_int_equal(p.channel, 5);
    assert_int_equal(p.slice, 5);
    assert_int_equal(p.bank, 2);
    assert_int_equal(p.local, 2 << 11 | 3 << 13 | 77);
    assert_int_equal(p.row, (3 << 11) / 1024);  // bits 8:10 and 14:15 are taken out
}

TEST(other_bits_may_be_mixed_in) {
    GpuModel g =
        model(8, 16, 4,
              "channel = bits(8:10) ^ bits(13:15) + bits(20) ; slice = local(7)^local(9); bank=local(8:9) ^ hash(14);");
    AddressMap map = parse(&g);
    assert_int_equal(map.granule, 128);
    AddressPlace p = address_map_place(&map, 6 << 8 | 5 << 13 | 1 << 20);
    assert_int_equal(p.channel, ((6 ^ 5) + 1) % 8);
    assert_int_equal(p.slice / 2, p.channel);
}

// (slice, local) and (channel, bank, row, place in the row) each name one address only.
TEST(maps_are_one_to_one) {
    static const struct {
        u64 channels, slices, banks;
        const char *map;
    } maps[] = {
        {8, 8, 4, "channel = bits(8:10); bank = bits(14:15)"},
        {8, 8, 4, "channel = bits(6:8); bank = bits(14:15)"},
        {8, 8, 4, "channel = bits(11:13) ^ bits(16:18); bank = bits(9:10) ^ bits(19:20)"},
        {7, 7, 8, "channel = interleave(8); bank = local(10:12) ^ hash(13)"},
        {47, 94, 16, "slice = interleave(9); bank = local(10:13) ^ hash(14)"},
        {94, 94, 16, "slice = interleave(9); side = parity(12, 13, 15, 17); bank = local(10:13) ^ hash(14)"},
        {94, 94, 16, "slice = interleave(9, 8); side = parity(12, 13, 15, 17); bank = local(10:13) ^ hash(14)"},
        {7, 7, 8, "channel = interleave(8, 6); bank = local(10:12) ^ hash(13)"},
        {46, 92, 16, "slice = interleave(9); side = parity(9); bank = local(10:13) ^ hash(14)"},
        {47, 94, 16, "channel = interleave(9); slice = local(9); bank = local(10:13) ^ hash(14)"},
        {32, 64, 16, "channel = bits(8:12) ^ hash(16); slice = bits(7); bank = bits(13:16)"},
        {1, 1, 8, "bank = bits(13:15)"},
        {1, 4, 1, "slice = local(7:8) ^ hash(9)"},
    };
    enum { COUNT = 20000 };
    for (u32 i = 0; i < WL_COUNT(maps); i++) {
        GpuModel g = model(maps[i].channels, maps[i].slices, maps[i].banks, maps[i].map);
        AddressMap map = parse(&g);
        Map locals = {0}, rows = {0};
        for (u64 k = 0; k < COUNT; k++) {
            u64 address = k * map.granule + (k & 1 ? 1ull << 34 : 0);
            AddressPlace p = address_map_place(&map, address);
            assert_true(p.channel < g.dram_channels && p.slice < g.l2_slices && p.bank < g.dram_banks);
            assert_int_equal(p.slice / (g.l2_slices / g.dram_channels), p.channel);
            u64 *seen = map_get(&locals, p.local * 1024 + p.slice);
            assert_null(seen);
            assert_int_equal(map_put(&locals, p.local * 1024 + p.slice, k), STATUS_OK);
            u64 *row = map_get(&rows, (p.row * 256 + p.bank) * 1024 + p.channel);
            if (row)
                assert_true(++*row <= g.dram_row / map.granule);
            else
                assert_int_equal(map_put(&rows, (p.row * 256 + p.bank) * 1024 + p.channel, 1), STATUS_OK);
        }
        map_free(&locals);
        map_free(&rows);
    }
}

TEST(interleaving_spreads_every_stride) {
    GpuModel g = model(94, 94, 16, "slice = interleave(9); bank = local(10:13) ^ hash(14)");
    AddressMap map = parse(&g);
    for (u64 stride = 512; stride <= 1 << 20; stride *= 2) {
        u32 count[94] = {0}, most = 0;
        for (u64 k = 0; k < 94 * 50; k++) {
            u32 slice = address_map_place(&map, k * stride).slice;
            if (++count[slice] > most) most = count[slice];
        }
        assert_true(most < 90);  // 50 on average
    }
}

// h200-shared-lines.tsv, sides/37/4096_apart: the first lines.
TEST(sides_are_a_parity) {
    GpuModel g =
        model(94, 94, 16, "slice = interleave(9); side = parity(12, 13, 15, 17); bank = local(10:13) ^ hash(14)");
    static const u8 far[] = {1, 0, 0, 1, 1, 0, 0, 1, 0, 1, 1, 0, 0, 1, 1, 0};
    AddressMap map = parse(&g);
    for (u32 i = 0; i < WL_COUNT(far); i++)
        for (u32 at = 0; at < 4096; at += 128) {
            AddressPlace p = address_map_place(&map, i * 4096 + at);
            assert_int_equal(p.slice < 47, far[i]);
        }
}

// h200-atomic-spread.tsv: two lines take a slice's time each (2x128: 4.67 cycles), of eight in a row four are in one
// slice (8x128: 2.34), of four every other pair two (4x256: 2.35).
TEST(blocks_of_two_slices_alternate) {
    GpuModel g = model(94, 94, 16, "slice = interleave(9, 8); side = parity(12, 13); bank = local(10:13) ^ hash(14)");
    AddressMap map = parse(&g);
    assert_int_equal(map.granule, 256);
    for (u64 at = 0; at < 1 << 20; at += 1024) {
        u32 even = address_map_place(&map, at).slice, odd = address_map_place(&map, at + 256).slice;
        assert_true(even != odd);
        for (u32 line = 0; line < 8; line++)
            assert_int_equal(address_map_place(&map, at + line * 128).slice, line & 2 ? odd : even);
    }
}

TEST(mistakes_are_told_with_their_column) {
    static const struct {
        u64 channels, slices, banks;
        const char *map, *text;
    } bad[] = {
        {8, 8, 4, "", "column 1: channel is missing"},
        {8, 8, 4, "slice = interleave(8); side = bits(12); bank = local(14)", "parity(a, b, ...) expected"},
        {8, 8, 4, "slice = interleave(8); side = parity(12; bank = local(14)", "')' expected"},
        {8, 8, 4, "slice = interleave(8); side = parity(12); side = parity(13); bank = local(14:15)", "given twice"},
        {8, 8, 4, "slice = interleave(8); side = parity(7); bank = local(14:15)", "above the interleaved block's"},
        {7, 7, 4, "slice = interleave(8); side = parity(12); bank = local(14:15)", "an even number of channels"},
        {8, 8, 4, "channel = bits(8:10); side = parity(12); bank = bits(14:15)", "sides are of an interleaved slice"},
        {8, 8, 4, "channel = bits(8:10)", "bank is missing"},
        {8, 16, 1, "channel = bits(8:10)", "slice is missing"},
        {8, 8, 4, "chanel = bits(8:10)", "column 1: channel, slice, bank or side"},
        {8, 8, 4, "channel bits(8:10)", "column 9: '=' expected"},
        {8, 8, 4, "channel = bit(8:10)", "column 11: bits(a:b), local(a:b)"},
        {8, 8, 4, "channel = bits 8:10", "column 16: '(' expected"},
        {8, 8, 4, "channel = bits(8:10", "column 20: ')' expected"},
        {8, 8, 4, "channel = bits(x)", "column 16: a bit is a number"},
        {8, 8, 4, "channel = bits(64)", "a bit is a number"},
        {8, 8, 4, "channel = bits(99999999999999999999)", "a bit is a number"},
        {8, 8, 4, "channel = bits(10:8)", "the lower bit comes first"},
        {8, 8, 4, "channel = bits(8:10) bank = bits(14:15)", "column 22: ';' expected"},
        {8, 8, 4, "channel = bits(8:10); channel = bits(8:10)", "given twice"},
        {8, 8, 4, "channel = bits(8:9); bank = bits(14:15)", "not as many bits"},
        {7, 7, 4, "channel = bits(8:10); bank = bits(14:15)", "no power of two"},
        {8, 8, 4, "channel = bits(8:10) ^ bits(10:12); bank = bits(14:15)", "used again"},
        {8, 8, 4, "channel = bits(8:10) ^ hash(9); bank = bits(14:15)", "used again"},
        {8, 8, 4, "channel = bits(8:10); bank = bits(10:11)", "a bit of the first term is the channel's"},
        {8, 8, 4, "channel = local(8:10); bank = bits(14:15)", "local address is what the channel leaves"},
        {8, 8, 4, "channel = bits(4:6); bank = bits(14:15)", "within a sector"},
        {8, 8, 4, "channel = interleave(8, 8); bank = local(14:15)", "below the first"},
        {8, 8, 4, "channel = interleave(8, x); bank = local(14:15)", "a bit is a number"},
        {8, 8, 4, "channel = interleave(8, 4); bank = local(14:15)", "within a sector"},
        {8, 8, 4, "channel = interleave(8) ^ bits(14); bank = local(14:15)", "interleave stands alone"},
        {8, 8, 4, "channel = bits(8:10) ^ interleave(8); bank = local(14:15)", "interleave stands first"},
        {8, 8, 4, "channel = interleave(8); bank = bits(14:15)", "the first term is local"},
        {8, 8, 4, "channel = bits(8:10); bank = interleave(14)", "banks are not interleaved"},
        {8, 8, 4, "channel = bits(8:10); slice = interleave(7); bank = bits(14:15)", "says which channel"},
        {8, 16, 4, "channel = bits(8:10); slice = local(9); bank = local(9:10)", "is the slice's"},
        {8, 12, 4, "channel = bits(8:10); bank = bits(14:15)", "multiple of the channels"},
    };
    for (u32 i = 0; i < WL_COUNT(bad); i++) {
        GpuModel g = model(bad[i].channels, bad[i].slices, bad[i].banks, bad[i].map);
        AddressMap map;
        Diag diag = {0};
        assert_int_equal(address_map_parse(&g, "x.gpu", &map, &diag), STATUS_INVALID);
        assert_true(diag.entries.len == 1);
        assert_string_equal(diag.entries.data[0].file, "x.gpu");
        if (!strstr(diag.entries.data[0].text, bad[i].text))
            fail_msg("%s: %s, not %s", bad[i].map, diag.entries.data[0].text, bad[i].text);
        diag_free(&diag);
    }
}

// Random texts out of the language's pieces: an answer, never a crash.
TEST(any_text_is_answered) {
    static const char *const pieces[] = {"channel",    "slice", "bank", "=",  "bits", "local", "hash",
                                         "interleave", "(",     ")",    ":",  ";",    "^",     "+",
                                         "8",          "10",    "63",   "64", " ",    "x"};
    for (u64 seed = 0; seed < 20000; seed++) {
        char text[256] = "";
        u64 r = hash_u64(seed);
        for (u32 k = 0; k < r % 24; k++) strcat(text, pieces[hash_u64(r + k) % WL_COUNT(pieces)]);
        GpuModel g = model(1 + (r >> 32) % 9, 1 + (r >> 40) % 9, 1 + (r >> 48) % 9, text);
        AddressMap map;
        Diag diag = {0};
        if (address_map_parse(&g, "x", &map, &diag) == STATUS_OK)
            address_map_place(&map, r);
        else
            assert_int_equal(diag.entries.len, 1);
        diag_free(&diag);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bits_choose_channel_and_bank),
        cmocka_unit_test(other_bits_may_be_mixed_in),
        cmocka_unit_test(maps_are_one_to_one),
        cmocka_unit_test(interleaving_spreads_every_stride),
        cmocka_unit_test(sides_are_a_parity),
        cmocka_unit_test(blocks_of_two_slices_alternate),
        cmocka_unit_test(mistakes_are_told_with_their_column),
        cmocka_unit_test(any_text_is_answered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
