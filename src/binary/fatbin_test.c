// SPDX-License-Identifier: Apache-2.0
#include "base/testing.h"

#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "binary/fatbin.h"

#define SAMPLES "tests/binary/"

// A file in a block of exactly its size, so that a sanitizer sees every read past it.
static u8 *load(const char *path, size_t *size) {
    FileData file;
    assert_int_equal(file_read(path, &file, NULL), STATUS_OK);
    u8 *copy = mem_alloc(file.size);
    assert_non_null(copy);
    memcpy(copy, file.data, file.size);
    *size = file.size;
    file_release(&file);
    return copy;
}

// Parses, unpacks all and looks for everything; true when no step complained.
static bool digest(const u8 *data, size_t size) {
    Fatbin fatbin = {0};
    Diag diag = {0};
    char text[256];
    bool good = fatbin_parse(&fatbin, data, size, &diag) == STATUS_OK;
    if (!good) assert_true(diag.errors > 0 || fatbin.entries.len == 0);
    for (u32 i = 0; i < fatbin.entries.len; i++) {
        u8 *bytes;
        size_t length;
        Status status = fatbin_unpack(&fatbin, &fatbin.entries.data[i], &bytes, &length, &diag);
        good = good && status == STATUS_OK;
        mem_free(bytes);
    }
    fatbin_describe(&fatbin, WL_NONE, text, sizeof text);
    fatbin_find_ptx(&fatbin, 0, 90);
    fatbin_free(&fatbin);
    diag_free(&diag);
    return good;
}

TEST(all_compress_modes_give_the_same_ptx) {
    static const char *const modes[] = {"none", "speed", "balance", "size"};
    static const FatbinCodec codecs[] = {FATBIN_STORED, FATBIN_LZ4, FATBIN_ZSTD, FATBIN_ZSTD};
    char first[2048] = "";
    for (u32 i = 0; i < WL_COUNT(modes); i++) {
        char path[64];
        snprintf(path, sizeof path, SAMPLES "one_%s.fatbin", modes[i]);
        size_t size, length;
        u8 *data = load(path, &size), *text;
        Fatbin fatbin = {0};
        const FatbinEntry *entry;
        assert_int_equal(fatbin_parse(&fatbin, data, size, NULL), STATUS_OK);
        assert_int_equal(fatbin.objects, 1);
        assert_int_equal(fatbin.entries.len, 2);
        assert_int_equal(fatbin_choose_ptx(&fatbin, 0, 90, &entry, NULL), STATUS_OK);
        assert_int_equal(entry->codec, codecs[i]);
        assert_int_equal(entry->sm, 75);
        assert_int_equal(entry->isa, 90);
        assert_int_equal(entry->flags & FATBIN_64BIT, FATBIN_64BIT);
        assert_int_equal(fatbin_unpack(&fatbin, entry, &text, &length, NULL), STATUS_OK);
        assert_true(strlen((char *)text) > 500 && strlen((char *)text) < sizeof first);
        if (i == 0) strcpy(first, (char *)text);
        assert_string_equal(first, (char *)text);
        assert_non_null(strstr(first, ".visible .entry _Z5scalePffi"));
        mem_free(text);
        fatbin_free(&fatbin);
        mem_free(data);
    }
}

TEST(the_best_target_is_chosen) {
    static const struct {
        u32 device, sm;
        char variant;
    } cases[] = {
        {80, 80, 0},     {86, 80, 0},  {89, 80, 0},  {90, 90, 'a'}, {100, 100, 'f'},
        {103, 100, 'f'}, {110, 80, 0}, {120, 80, 0}, {13, 80, 0},   {32, 80, 0},
    };
    size_t size;
    u8 *data = load(SAMPLES "many_targets.fatbin", &size);
    Fatbin fatbin = {.name = "many"};
    Diag diag = {0};
    const FatbinEntry *entry;
    assert_int_equal(fatbin_parse(&fatbin, data, size, &diag), STATUS_OK);
    for (u32 i = 0; i < WL_COUNT(cases); i++) {
        assert_int_equal(fatbin_choose_ptx(&fatbin, WL_NONE, cases[i].device, &entry, &diag), STATUS_OK);
        assert_int_equal(entry->sm, cases[i].sm);
        assert_int_equal(entry->variant, cases[i].variant);
    }
    assert_int_equal(diag.entries.len, 0);
    assert_int_equal(fatbin_choose_ptx(&fatbin, WL_NONE, 75, &entry, &diag), STATUS_NOT_FOUND);
    assert_non_null(strstr(diag.entries.data[0].text, "-gencode arch=compute_75,code=compute_75"));
    assert_non_null(strstr(diag.entries.data[0].text, "sm_90a SASS"));
    assert_non_null(strstr(diag.entries.data[0].text, "compute_100f PTX"));
    assert_int_equal(fatbin_find_cubin(&fatbin, WL_NONE, 86)->sm, 80);
    assert_int_equal(fatbin_find_cubin(&fatbin, WL_NONE, 90)->variant, 'a');
    assert_null(fatbin_find_cubin(&fatbin, WL_NONE, 120));
    diag_free(&diag);
    fatbin_free(&fatbin);
    mem_free(data);
}

TEST(machine_code_and_lto_hold_no_ptx) {
    static const char *const files[] = {SAMPLES "no_ptx.fatbin", SAMPLES "lto.fatbin"};
    static const char *const has[] = {"sm_80 SASS", "lto_80 LTO-IR"};
    for (u32 i = 0; i < WL_COUNT(files); i++) {
        size_t size;
        u8 *data = load(files[i], &size);
        Fatbin fatbin = {0};
        Diag diag = {0};
        const FatbinEntry *entry;
        assert_int_equal(fatbin_parse(&fatbin, data, size, &diag), STATUS_OK);
        assert_int_equal(fatbin_choose_ptx(&fatbin, WL_NONE, 80, &entry, &diag), STATUS_NOT_FOUND);
        assert_non_null(strstr(diag.entries.data[0].text, has[i]));
        diag_free(&diag);
        fatbin_free(&fatbin);
        mem_free(data);
    }
}

TEST(wrappers_of_both_versions) {
    struct {
        u32 magic, version;
        const void *data;
        const void *const *extra;
    } wrapper = {FATBIN_WRAPPER_MAGIC, 1};
    size_t size;
    u8 *linked = load(SAMPLES "no_ptx.fatbin", &size), *a = load(SAMPLES "rdc_a.fatbin", &size);
    u8 *b = load(SAMPLES "rdc_b.fatbin", &size);
    const void *objects[] = {a, b, NULL};
    Fatbin fatbin = {0};
    Diag diag = {0};
    wrapper.data = a;
    assert_int_equal(fatbin_parse_wrapper(&fatbin, &wrapper, &diag), STATUS_OK);
    assert_int_equal(fatbin.objects, 1);
    assert_int_equal(fatbin.wrapper, 1);
    fatbin_free(&fatbin);

    wrapper.version = 2;
    wrapper.data = linked;
    wrapper.extra = objects;
    assert_int_equal(fatbin_parse_wrapper(&fatbin, &wrapper, &diag), STATUS_OK);
    assert_int_equal(fatbin.objects, 2);
    assert_int_equal(fatbin.wrapper, 2);
    assert_non_null(fatbin_find_ptx(&fatbin, 1, 75));
    fatbin_free(&fatbin);

    wrapper.extra = objects + 2;  // no objects: the linked container
    assert_int_equal(fatbin_parse_wrapper(&fatbin, &wrapper, &diag), STATUS_OK);
    assert_int_equal(fatbin.objects, 1);
    assert_null(fatbin_find_ptx(&fatbin, 0, 90));
    fatbin_free(&fatbin);

    wrapper.version = 3;
    assert_int_equal(fatbin_parse_wrapper(&fatbin, &wrapper, &diag), STATUS_UNSUPPORTED);
    wrapper.magic = 1;
    assert_int_equal(fatbin_parse_wrapper(&fatbin, &wrapper, &diag), STATUS_FORMAT);
    assert_int_equal(diag.errors, 2);
    fatbin_free(&fatbin);
    diag_free(&diag);
    mem_free(linked);
    mem_free(a);
    mem_free(b);
}

TEST(several_containers_with_padding) {
    size_t size;
    u8 *data = load(SAMPLES "one_size.fatbin", &size);
    u8 *both = mem_zero(1, 2 * size + 24);
    memcpy(both + 8, data, size);
    memcpy(both + 16 + size, data, size);
    Fatbin fatbin = {0};
    assert_int_equal(fatbin_parse(&fatbin, both, 2 * size + 24, NULL), STATUS_OK);
    assert_int_equal(fatbin.objects, 2);
    assert_int_equal(fatbin.entries.data[3].object, 1);
    assert_ptr_equal(fatbin_find_ptx(&fatbin, 1, 90), &fatbin.entries.data[3]);
    fatbin_free(&fatbin);
    mem_free(both);
    mem_free(data);
}

TEST(no_prefix_of_a_container_is_read_past_its_end) {
    size_t size;
    u8 *data = load(SAMPLES "one_size.fatbin", &size);
    assert_true(digest(data, size));
    for (size_t cut = 1; cut < size; cut++) {
        u8 *part = mem_alloc(cut);
        memcpy(part, data, cut);
        assert_false(digest(part, cut));
        mem_free(part);
    }
    mem_free(data);
}

TEST(damaged_bytes_never_crash) {
    static const u8 values[] = {0x00, 0x01, 0x7f, 0x80, 0xff};
    static const char *const files[] = {SAMPLES "one_size.fatbin", SAMPLES "one_speed.fatbin", SAMPLES "rdc_a.fatbin"};
    for (u32 f = 0; f < WL_COUNT(files); f++) {
        size_t size;
        u8 *data = load(files[f], &size);
        for (size_t at = 0; at < size; at++) {
            u8 old = data[at];
            for (u32 v = 0; v < WL_COUNT(values); v++) {
                if (at >= 16 && (at - 16) % 64 > 16 && v != at % WL_COUNT(values)) continue;
                data[at] = values[v];
                digest(data, size);
            }
            data[at] = old;
        }
        mem_free(data);
    }
}

static void put(u8 *at, u64 value, u32 bytes) {
    for (u32 i = 0; i < bytes; i++) at[i] = (u8)(value >> (8 * i));
}

// What is wrong, where the message points, and how the header is damaged.
TEST(messages_point_at_the_damage) {
    static const struct {
        u32 at, bytes;
        u64 value, offset;
        Status status;
        const char *text;
    } cases[] = {
        {0x04, 2, 9, 0x04, STATUS_UNSUPPORTED, "version 9"},
        {0x06, 2, 8, 0x06, STATUS_FORMAT, "container header size"},
        {0x08, 8, ~0ull, 0x08, STATUS_FORMAT, "container longer"},
        {0x08, 8, 0x20, 0x10, STATUS_FORMAT, "entry header cut off"},
        {0x14, 4, 0, 0x14, STATUS_FORMAT, "entry header size"},
        {0x14, 4, 0xffffffff, 0x14, STATUS_FORMAT, "entry header size"},
        {0x18, 8, ~0ull - 0x3f, 0x18, STATUS_FORMAT, "entry larger"},
        {0x20, 4, 0x7fffffff, 0x20, STATUS_FORMAT, "compressed size"},
        {0x34, 4, 0x41, 0x30, STATUS_FORMAT, "identifier"},
    };
    size_t size;
    u8 *data = load(SAMPLES "one_size.fatbin", &size);
    u8 *copy = mem_alloc(size);
    for (u32 i = 0; i < WL_COUNT(cases); i++) {
        Fatbin fatbin = {0};
        Diag diag = {0};
        memcpy(copy, data, size);
        put(copy + cases[i].at, cases[i].value, cases[i].bytes);
        assert_int_equal(fatbin_parse(&fatbin, copy, size, &diag), cases[i].status);
        assert_int_equal(diag.entries.len, 1);
        assert_int_equal(diag.entries.data[0].offset, cases[i].offset);
        assert_non_null(strstr(diag.entries.data[0].text, cases[i].text));
        fatbin_free(&fatbin);
        diag_free(&diag);
    }
    mem_free(copy);
    mem_free(data);
}

TEST(sizes_that_do_not_match_and_bombs_are_refused) {
    static const struct {
        u64 size;
        Status status;
    } cases[] = {
        {0, STATUS_FORMAT},         {1, STATUS_FORMAT},         {1 << 20, STATUS_FORMAT},
        {1ull << 29, STATUS_LIMIT}, {1ull << 40, STATUS_LIMIT}, {~0ull, STATUS_LIMIT},
    };
    static const char *const files[] = {SAMPLES "one_size.fatbin", SAMPLES "one_speed.fatbin"};
    for (u32 i = 0; i < WL_COUNT(cases) * WL_COUNT(files); i++) {
        size_t size, length;
        u8 *data = load(files[i / WL_COUNT(cases)], &size), *bytes;
        Fatbin fatbin = {0};
        Diag diag = {0};
        assert_int_equal(fatbin_parse(&fatbin, data, size, &diag), STATUS_OK);
        FatbinEntry entry = *fatbin_find_ptx(&fatbin, 0, 90);
        entry.size = cases[i % WL_COUNT(cases)].size;
        assert_int_equal(fatbin_unpack(&fatbin, &entry, &bytes, &length, &diag), cases[i % WL_COUNT(cases)].status);
        assert_null(bytes);
        assert_int_equal(diag.entries.data[0].offset, entry.offset);
        fatbin_free(&fatbin);
        diag_free(&diag);
        mem_free(data);
    }
}

TEST(every_allocation_may_fail) {
    size_t size;
    u8 *data = load(SAMPLES "many_targets.fatbin", &size);
    for (u64 n = 0;; n++) {
        u64 left = n;
        u8 *bytes = NULL;
        size_t length;
        Fatbin fatbin = {0};
        testing_memory_out_after(&left);
        Status status = fatbin_parse(&fatbin, data, size, NULL);
        if (status == STATUS_OK) status = fatbin_unpack(&fatbin, &fatbin.entries.data[0], &bytes, &length, NULL);
        testing_memory_back();
        mem_free(bytes);
        fatbin_free(&fatbin);
        if (status == STATUS_OK) break;
        assert_int_equal(status, STATUS_NO_MEMORY);
    }
    mem_free(data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_compress_modes_give_the_same_ptx),
        cmocka_unit_test(the_best_target_is_chosen),
        cmocka_unit_test(machine_code_and_lto_hold_no_ptx),
        cmocka_unit_test(wrappers_of_both_versions),
        cmocka_unit_test(several_containers_with_padding),
        cmocka_unit_test(no_prefix_of_a_container_is_read_past_its_end),
        cmocka_unit_test(damaged_bytes_never_crash),
        cmocka_unit_test(messages_point_at_the_damage),
        cmocka_unit_test(sizes_that_do_not_match_and_bombs_are_refused),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
