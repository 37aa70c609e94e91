// SPDX-License-Identifier: Apache-2.0
#include "base/testing.h"

#include <string.h>

#include "base/file.h"
#include "binary/binary.h"
#include "binary/fatbin.h"

#define SAMPLES "tests/binary/"

typedef struct Wrapper {
    u32 magic, version;
    const void *data;
    const void *const *extra;
} Wrapper;

static const char runtime_ptx[] = ".version 9.0\n.target sm_121\n.address_size 64\n"
                                  ".visible .func (.param .b32 r) __cudaCDP2LaunchDeviceV2(.param .b64 p) { ret; }\n";
static const char newer_ptx[] = ".version 9.0\n.target sm_121\n.address_size 64\n.visible .func x() { ret; }\n";

// A container with one PTX entry stored raw, as in a program; the caller frees it.
static u8 *pack(const char *text, u32 sm) {
    size_t size = (strlen(text) + 8) & ~(size_t)7;
    u8 *data = mem_zero(1, 16 + 64 + size);
    u32 words[] = {
        FATBIN_MAGIC, 0x00100001, (u32)(64 + size), 0, 0x01010001, 64, (u32)size, 0, 0, 0, 0x00090000, sm, 0, 0, 0x11};
    memcpy(data, words, sizeof words);
    memcpy(data + 80, text, strlen(text));
    return data;
}

static u8 *load(const char *path) {
    FileData file;
    assert_int_equal(file_read(path, &file, NULL), STATUS_OK);
    u8 *copy = mem_alloc(file.size);
    memcpy(copy, file.data, file.size);
    file_release(&file);
    return copy;
}

TEST(a_registered_fat_binary) {
    u8 *data = load(SAMPLES "many_targets.fatbin");
    Wrapper wrapper = {FATBIN_WRAPPER_MAGIC, 1, data, NULL};
    BinaryImage image;
    Diag diag = {0};
    assert_int_equal(binary_ptx_from_wrapper(&wrapper, 90, &image, &diag), STATUS_OK);
    assert_int_equal(image.sm, 90);
    assert_int_equal(image.variant, 'a');
    assert_int_equal(image.isa, 90);
    assert_int_equal(image.objects, 1);
    assert_int_equal(image.ptx_size, strlen(image.ptx));
    assert_non_null(strstr(image.ptx, ".target sm_90a"));
    assert_int_equal(image.cubin_sm, 90);
    assert_memory_equal(image.cubin, "\177ELF", 4);
    binary_image_free(&image);

    assert_int_equal(binary_ptx_from_wrapper(&wrapper, 75, &image, &diag), STATUS_NOT_FOUND);
    assert_null(image.ptx);
    assert_non_null(strstr(diag.entries.data[0].text, "-gencode arch=compute_75,code=compute_75"));
    diag_free(&diag);
    mem_free(data);
}

TEST(separately_compiled_objects_are_linked) {
    u8 *linked = load(SAMPLES "no_ptx.fatbin"), *a = load(SAMPLES "rdc_a.fatbin"), *b = load(SAMPLES "rdc_b.fatbin");
    u8 *runtime = pack(runtime_ptx, 121), *newer = pack(newer_ptx, 121);
    const void *objects[] = {a, runtime, b, NULL, NULL};
    Wrapper wrapper = {FATBIN_WRAPPER_MAGIC, 2, linked, objects};
    BinaryImage image;
    Diag diag = {0};
    assert_int_equal(binary_ptx_from_wrapper(&wrapper, 90, &image, &diag), STATUS_OK);
    assert_int_equal(image.objects, 2);
    assert_true(image.relocatable);
    assert_int_equal(image.sm, 75);
    assert_non_null(strstr(image.ptx, ".visible .entry _Z5firstPf"));
    assert_non_null(strstr(image.ptx, ".visible .entry _Z6secondPd"));
    assert_int_equal(image.skipped.len, 1);
    assert_true(image.skipped.data[0].expected);
    assert_string_equal(image.skipped.data[0].has, "compute_121 PTX");
    assert_int_equal(diag.entries.len, 0);
    binary_image_free(&image);

    objects[3] = newer;
    assert_int_equal(binary_ptx_from_wrapper(&wrapper, 80, &image, &diag), STATUS_OK);
    assert_int_equal(image.skipped.len, 2);
    assert_false(image.skipped.data[1].expected);
    assert_int_equal(diag.entries.len, 1);
    assert_int_equal(diag.entries.data[0].severity, DIAG_WARNING);
    assert_int_equal(image.cubin_sm, 80);
    binary_image_free(&image);
    diag_free(&diag);

    assert_int_equal(binary_ptx_from_wrapper(&wrapper, 121, &image, &diag), STATUS_OK);  // still without the library
    assert_int_equal(image.objects, 3);
    assert_int_equal(image.sm, 121);
    binary_image_free(&image);
    diag_free(&diag);
    u8 *all[] = {linked, a, b, runtime, newer};
    for (u32 i = 0; i < WL_COUNT(all); i++) mem_free(all[i]);
}

TEST(module_images) {
    u8 *container = load(SAMPLES "one_speed.fatbin"), *cubin = load(SAMPLES "figures_90.cubin");
    Wrapper wrapper = {FATBIN_WRAPPER_MAGIC, 1, container, NULL};
    const char *text = "//\n.version 8.0\n.target sm_80\n.address_size 64\n";
    const struct {
        const void *bytes;
        u32 device;
        Status status;
        u32 sm;
    } cases[] = {
        {container, 90, STATUS_OK, 75}, {&wrapper, 90, STATUS_OK, 75},           {cubin, 90, STATUS_NOT_FOUND, 0},
        {text, 90, STATUS_OK, 80},      {text, 75, STATUS_NOT_FOUND, 0},         {"", 90, STATUS_INVALID, 0},
        {"abc", 90, STATUS_INVALID, 0}, {"hello, world", 90, STATUS_INVALID, 0},
    };
    for (u32 i = 0; i < WL_COUNT(cases); i++) {
        BinaryImage image;
        Diag diag = {0};
        assert_int_equal(binary_ptx_from_image(cases[i].bytes, cases[i].device, &image, &diag), cases[i].status);
        assert_int_equal(image.sm, cases[i].sm);
        assert_true((image.ptx != NULL) == (cases[i].status == STATUS_OK));
        assert_true((diag.errors != 0) == (cases[i].status != STATUS_OK));
        if (image.ptx) binary_image_free(&image);
        diag_free(&diag);
    }
    mem_free(container);
    mem_free(cubin);
}

TEST(files_of_every_kind) {
    static const struct {
        const char *path;
        u32 device;
        Status status;
        u32 modules, objects;
        const char *text;
    } cases[] = {
        {SAMPLES "program_shared", 90, STATUS_OK, 1, 1, ".entry _Z5scalePffi"},
        {SAMPLES "program_rdc", 90, STATUS_OK, 1, 2, ".entry _Z6secondPd"},
        {SAMPLES "one_none.fatbin", 75, STATUS_OK, 1, 1, ".entry _Z5scalePffi"},
        {SAMPLES "rdc_a.ptx", 75, STATUS_OK, 1, 1, ".entry _Z5firstPf"},
        {SAMPLES "program_shared", 70, STATUS_NOT_FOUND, 0, 0, "code=compute_70"},
        {SAMPLES "program_rdc", 70, STATUS_NOT_FOUND, 0, 0, "code=compute_70"},
        {SAMPLES "rdc_a.ptx", 70, STATUS_NOT_FOUND, 0, 0, "sm_75"},
        {SAMPLES "no_ptx.fatbin", 90, STATUS_NOT_FOUND, 0, 0, "sm_80 SASS"},
        {SAMPLES "lto.fatbin", 90, STATUS_NOT_FOUND, 0, 0, "LTO-IR"},
        {SAMPLES "figures_90.cubin", 90, STATUS_NOT_FOUND, 0, 0, "machine code only"},
        {SAMPLES "program_static", 90, STATUS_NOT_FOUND, 0, 0, "no CUDA code"},
        {SAMPLES "make.sh", 90, STATUS_INVALID, 0, 0, "neither PTX"},
        {SAMPLES "none", 90, STATUS_NOT_FOUND, 0, 0, "No such file"},
    };
    for (u32 i = 0; i < WL_COUNT(cases); i++) {
        BinaryImages images = {0};
        Diag diag = {0};
        assert_int_equal(binary_ptx_from_file(cases[i].path, cases[i].device, &images, &diag), cases[i].status);
        assert_int_equal(images.len, cases[i].modules);
        const char *text = images.len ? images.data[0].ptx : diag.entries.data[0].text;
        if (!strstr(text, cases[i].text)) fail_msg("%s: %s", cases[i].path, text);
        if (images.len) assert_int_equal(images.data[0].objects, cases[i].objects);
        if (images.len) assert_int_equal(images.data[0].relocatable, cases[i].objects == 2);
        binary_images_free(&images);
        diag_free(&diag);
    }
}

TEST(reports_say_how_a_program_reaches_cuda) {
    static const struct {
        const char *path;
        BinaryRuntime runtime;
        u32 major, wrappers, rdc, ptx;
        bool stripped;
    } cases[] = {
        {SAMPLES "program_shared", RUNTIME_SHARED, 13, 2, 1, 1, true},
        {SAMPLES "program_rdc", RUNTIME_SHARED, 13, 3, 1, 2, true},
        {SAMPLES "program_static", RUNTIME_STATIC, 0, 1, 0, 0, false},
        {SAMPLES "program_stripped", RUNTIME_STATIC_HIDDEN, 0, 1, 0, 0, true},
    };
    BinaryReport report;
    for (u32 i = 0; i < WL_COUNT(cases); i++) {
        assert_int_equal(binary_inspect_file(cases[i].path, &report, NULL), STATUS_OK);
        assert_int_equal(report.runtime, cases[i].runtime);
        assert_int_equal(report.cudart_major, cases[i].major);
        assert_int_equal(report.wrappers, cases[i].wrappers);
        assert_int_equal(report.wrappers_rdc, cases[i].rdc);
        assert_int_equal(report.ptx_entries, cases[i].ptx);
        assert_int_equal(report.stripped, cases[i].stripped);
        assert_true(report.is_executable);
        assert_true((report.remedy[0] != 0) == (cases[i].runtime == RUNTIME_STATIC_HIDDEN));
    }
    assert_int_equal(binary_inspect_file(SAMPLES "program_shared", &report, NULL), STATUS_OK);
    assert_string_equal(report.targets, "sm_75 SASS, compute_75 PTX");
    assert_string_equal(report.build_id, "0123456789abcdef");
    assert_int_equal(binary_inspect_file(SAMPLES "make.sh", &report, NULL), STATUS_FORMAT);
}

TEST(every_allocation_may_fail) {
    FileData file;
    assert_int_equal(file_read(SAMPLES "program_rdc", &file, NULL), STATUS_OK);
    for (u64 n = 0;; n++) {
        u64 left = n;
        BinaryImages images = {0};
        testing_memory_out_after(&left);
        Status status = binary_ptx_from_memory(file.data, file.size, "x", 90, &images, NULL);
        testing_memory_back();
        binary_images_free(&images);
        if (status == STATUS_OK) break;
        assert_int_equal(status, STATUS_NO_MEMORY);
    }
    file_release(&file);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_registered_fat_binary),
        cmocka_unit_test(separately_compiled_objects_are_linked),
        cmocka_unit_test(module_images),
        cmocka_unit_test(files_of_every_kind),
        cmocka_unit_test(reports_say_how_a_program_reaches_cuda),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
