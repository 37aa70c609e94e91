// SPDX-License-Identifier: Apache-2.0
#include "base/testing.h"

#include <elf.h>
#include <string.h>

#include "base/file.h"
#include "binary/elf.h"

#define SAMPLES "tests/binary/"

static bool count_functions(void *context, const ElfSymbol *symbol) {
    *(u32 *)context += symbol->type == STT_FUNC && symbol->section != SHN_UNDEF;
    return true;
}

TEST(sections_and_dynamic_entries) {
    ElfFile *file;
    ElfSection section;
    char id[65];
    assert_int_equal(elf_file_open(SAMPLES "program_shared", &file, NULL), STATUS_OK);
    assert_int_equal(elf_file_machine(file), EM_X86_64);
    assert_true(elf_file_is_pie(file));
    assert_false(elf_file_has_table(file, ELF_SYMTAB));
    assert_true(elf_file_has_table(file, ELF_DYNSYM));
    assert_true(elf_file_find_section(file, ".nv_fatbin", &section));
    assert_true(section.size > 500 && section.data);
    assert_true(elf_file_find_section(file, ".nvFatBinSegment", &section));
    assert_int_equal(section.size % 24, 0);
    assert_false(elf_file_find_section(file, ".no_such", &section));
    assert_false(elf_file_section(file, elf_file_sections(file), &section));
    assert_string_equal(elf_file_needed(file, 0), "libcudart.so.13");
    assert_null(elf_file_needed(file, 100));
    assert_true(elf_file_build_id(file, id, sizeof id));
    assert_string_equal(id, "0123456789abcdef");
    assert_true(elf_file_build_id(file, id, 9));
    assert_string_equal(id, "01234567");
    elf_file_close(file);
}

TEST(symbols_by_name) {
    ElfFile *file;
    ElfSymbol symbol;
    u32 functions = 0;
    assert_int_equal(elf_file_open(SAMPLES "program_static", &file, NULL), STATUS_OK);
    assert_true(elf_file_find_symbol(file, ELF_SYMTAB, "__cudaRegisterFatBinary", &symbol));
    assert_int_equal(symbol.binding, STB_LOCAL);
    assert_true(symbol.size > 0);
    assert_false(elf_file_find_symbol(file, ELF_SYMTAB, "cudaFree", &symbol));
    assert_false(elf_file_find_symbol(file, ELF_DYNSYM, "cudaMalloc", &symbol));
    elf_file_visit_symbols(file, ELF_SYMTAB, count_functions, &functions);
    assert_int_equal(functions, 3);
    assert_false(elf_file_is_pie(file));
    assert_null(elf_file_needed(file, 0));
    elf_file_close(file);
}

// Not static and with a use that the compiler cannot see through: must be in .symtab of this very program.
__attribute__((noinline)) int elf_test_marker(int value);
int elf_test_marker(int value) { return value * 3 + 1; }

static bool want_marker(void *context, const char *name) {
    (void)context;
    return strcmp(name, "elf_test_marker") == 0;
}

TEST(this_program) {
    ElfFile *file;
    u64 bias;
    ElfTargets targets = {0};
    assert_int_equal(elf_file_open_self(&file, &bias, NULL), STATUS_OK);
    assert_int_equal(elf_file_find_targets(file, bias, want_marker, NULL, &targets), STATUS_OK);
    assert_int_equal(targets.len, 1);
    assert_ptr_equal(targets.data[0].address, (void *)(uintptr_t)elf_test_marker);
    assert_true(targets.data[0].size > 0);
    vec_free(&targets);
    elf_file_close(file);
}

TEST(what_is_not_elf) {
    static const struct {
        const char *data;
        size_t size;
        const char *text;
    } cases[] = {
        {"", 0, "not an ELF file"},
        {"\177ELF", 4, "not an ELF file"},
        {"not an elf file at all", 22, "not an ELF file"},
        {"\177ELF\1\1\1\0\0\0\0\0\0\0\0\0", 16, "64-bit"},
        {"\177ELF\2\2\1\0\0\0\0\0\0\0\0\0", 16, "64-bit"},
        {"\177ELF\2\1\1\0\0\0\0\0\0\0\0\0", 16, "does not add up"},
    };
    for (u32 i = 0; i < WL_COUNT(cases); i++) {
        u8 *copy = mem_alloc(cases[i].size + !cases[i].size);
        memcpy(copy, cases[i].data, cases[i].size);
        ElfFile *file;
        Diag diag = {0};
        assert_int_equal(elf_file_from_memory(copy, cases[i].size, "x", &file, &diag), STATUS_FORMAT);
        assert_null(file);
        if (!strstr(diag.entries.data[0].text, cases[i].text)) fail_msg("%s", diag.entries.data[0].text);
        assert_int_equal(diag.entries.data[0].offset, 0);
        diag_free(&diag);
        mem_free(copy);
    }
    ElfFile *file;
    assert_int_equal(elf_file_open("no/such/file", &file, NULL), STATUS_NOT_FOUND);
}

static void digest(const u8 *data, size_t size) {
    ElfFile *file;
    ElfSection section;
    ElfSymbol symbol;
    char id[65];
    if (elf_file_from_memory(data, size, "x", &file, NULL) != STATUS_OK) return;
    u64 sum = 0;
    for (u32 i = 0; i < elf_file_sections(file) && i < 1000; i++)
        if (elf_file_section(file, i, &section) && section.data && section.size)
            sum += section.data[0] + section.data[section.size - 1] + strlen(section.name);
    elf_file_find_symbol(file, ELF_SYMTAB, "none", &symbol);
    elf_file_find_symbol(file, ELF_DYNSYM, "none", &symbol);
    elf_file_needed(file, (u32)(sum & 1));
    elf_file_is_pie(file);
    elf_file_build_id(file, id, sizeof id);
    elf_file_close(file);
}

TEST(damaged_files_never_crash) {
    FileData file;
    assert_int_equal(file_read(SAMPLES "program_static", &file, NULL), STATUS_OK);
    for (size_t cut = 1; cut < file.size; cut += cut < 256 ? 1 : 61) {
        u8 *part = mem_alloc(cut);
        memcpy(part, file.data, cut);
        digest(part, cut);
        mem_free(part);
    }
    u8 *copy = mem_alloc(file.size);
    memcpy(copy, file.data, file.size);
    for (size_t at = 0; at < file.size; at += at >= 64 && at < file.size - 1024 ? 7 : 1) {
        copy[at] ^= 0xff;
        digest(copy, file.size);
        copy[at] ^= 0xff;
    }
    mem_free(copy);
    file_release(&file);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sections_and_dynamic_entries),
        cmocka_unit_test(symbols_by_name),
        cmocka_unit_test(this_program),
        cmocka_unit_test(what_is_not_elf),
        cmocka_unit_test(damaged_files_never_crash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
