// SPDX-License-Identifier: Apache-2.0
#include "base/testing.h"

#include <string.h>

#include "base/file.h"
#include "binary/cubin.h"

#define SAMPLES "tests/binary/"

// What ptxas -v of CUDA 13.0 printed (constants: 8 bytes of parameters behind the driver's own).
TEST(figures_are_those_of_ptxas) {
    static const struct {
        const char *path, *name;
        u32 sm, registers, shared, frame, params, barriers, threads;
    } cases[] = {
        {SAMPLES "figures_75.cubin", "_Z3bigPfid", 75, 54, 256, 80, 24, 1, 128},
        {SAMPLES "figures_75.cubin", "_Z5smallIiEvPT_", 75, 8, 0, 0, 8, 0, 0},
        {SAMPLES "figures_90.cubin", "_Z3bigPfid", 90, 32, 256, 80, 24, 1, 128},
        {SAMPLES "figures_90.cubin", "_Z5smallIiEvPT_", 90, 10, 0, 0, 8, 0, 0},
    };
    for (u32 i = 0; i < WL_COUNT(cases); i++) {
        FileData file;
        Cubin cubin;
        assert_int_equal(file_read(cases[i].path, &file, NULL), STATUS_OK);
        assert_int_equal(cubin_open(&cubin, file.data, file.size, cases[i].path, NULL), STATUS_OK);
        assert_int_equal(cubin.sm, cases[i].sm);
        assert_int_equal(cubin.functions.len, 2);
        assert_int_equal(cubin.global_size, 400);
        assert_int_equal(cubin.global_constant_size, 32);
        const CubinFunction *f = cubin_find_function(&cubin, (Str){cases[i].name, strlen(cases[i].name)});
        assert_non_null(f);
        assert_true(f->is_entry);
        assert_int_equal(f->registers, cases[i].registers);
        assert_int_equal(f->shared_size, cases[i].shared);
        assert_int_equal(f->local_size, cases[i].frame);
        assert_int_equal(f->param_size, cases[i].params);
        assert_int_equal(f->barriers, cases[i].barriers);
        assert_int_equal(f->max_threads, cases[i].threads);
        assert_true(f->constant_size >= 352 + f->param_size);
        assert_int_equal(f->code_size % 16, 0);
        assert_true(f->code >= file.data && f->code + f->code_size <= file.data + file.size);
        assert_null(cubin_find_function(&cubin, STR("none")));
        cubin_close(&cubin);
        file_release(&file);
    }
}

TEST(lines_lead_to_the_source) {
    FileData file;
    Cubin cubin;
    assert_int_equal(file_read(SAMPLES "figures_90.cubin", &file, NULL), STATUS_OK);
    assert_int_equal(cubin_open(&cubin, file.data, file.size, NULL, NULL), STATUS_OK);
    const CubinFunction *big = cubin_find_function(&cubin, STR("_Z3bigPfid"));
    const CubinFunction *small = cubin_find_function(&cubin, STR("_Z5smallIiEvPT_"));
    u32 seen = 0;
    for (u64 at = 0; at < big->code_size; at += 16) {
        const CubinLine *line = cubin_find_line(&cubin, big, at);
        assert_non_null(line);
        assert_string_equal(cubin.files.data[line->file], "figures.cu");
        assert_in_range(line->line, 3, 11);
        seen |= 1u << line->line;
    }
    assert_int_equal(seen & (1u << 7), 1u << 7);    // the loop
    assert_int_equal(seen & (1u << 10), 1u << 10);  // the store
    assert_null(cubin_find_line(&cubin, big, big->code_size));
    assert_int_equal(cubin_find_line(&cubin, small, 0x10)->line, 12);
    cubin_close(&cubin);
    file_release(&file);
}

// tests/sass/kernels.cu: line 8 is square(), 9 distance2(), which calls it, 13 the kernel's call of that.
TEST(inlined_places_know_their_call) {
    FileData file;
    Cubin cubin;
    u32 seen[3] = {0};
    assert_int_equal(file_read("tests/sass/kernels_90.cubin", &file, NULL), STATUS_OK);
    assert_int_equal(cubin_open(&cubin, file.data, file.size, NULL, NULL), STATUS_OK);
    const CubinFunction *f = cubin_find_function(&cubin, STR("inlined"));
    for (u64 at = 0; at < f->code_size; at += 16) {
        const CubinLine *line = cubin_find_line(&cubin, f, at);
        assert_non_null(line);
        assert_in_range(line->inlined, 0, 2);
        seen[line->inlined]++;
        assert_int_equal(line->line == 8, line->inlined == 2);
        assert_int_equal(line->line == 9, line->inlined == 1);
        if (!line->inlined) continue;
        assert_int_equal(line->call_line, 13);
        assert_int_equal(line->call_file, line->file);
    }
    assert_true(seen[0] && seen[1] && seen[2]);
    cubin_close(&cubin);
    file_release(&file);
}

TEST(parameters_and_jumps) {
    static const u32 offsets[] = {0, 8, 16, 24, 32}, sizes[] = {8, 8, 8, 8, 4};
    static const struct {
        const char *path;
        u32 base;
    } cases[] = {{"tests/sass/kernels_80.cubin", 0x160},
                 {"tests/sass/kernels_90.cubin", 0x210},
                 {"tests/sass/kernels_120.cubin", 0x380}};
    for (u32 i = 0; i < WL_COUNT(cases); i++) {
        FileData file;
        Cubin cubin;
        assert_int_equal(file_read(cases[i].path, &file, NULL), STATUS_OK);
        assert_int_equal(cubin_open(&cubin, file.data, file.size, NULL, NULL), STATUS_OK);
        const CubinFunction *f = cubin_find_function(&cubin, STR("quotient"));
        assert_int_equal(f->param_base, cases[i].base);
        assert_int_equal(f->param_count, 5);
        for (u32 p = 0; p < 5; p++) {
            assert_int_equal(cubin.params.data[f->first_param + p].offset, offsets[p]);
            assert_int_equal(cubin.params.data[f->first_param + p].size, sizes[p]);
        }
        assert_int_equal(f->jump_count, 0);
        const CubinFunction *cases_of = cubin_find_function(&cubin, STR("cases"));
        assert_in_range(cases_of->jump_count, 6, 16);
        for (u32 j = 0; j < cases_of->jump_count; j++) {
            const CubinJump *jump = &cubin.jumps.data[cases_of->first_jump + j];
            assert_true(jump->from < cases_of->code_size && jump->from % 16 == 0);
            assert_true(jump->to < cases_of->code_size && jump->to % 16 == 0);
        }
        cubin_close(&cubin);
        file_release(&file);
    }
}

TEST(other_files_are_refused) {
    FileData file;
    Cubin cubin;
    Diag diag = {0};
    assert_int_equal(file_read(SAMPLES "program_static", &file, NULL), STATUS_OK);
    assert_int_equal(cubin_open(&cubin, file.data, file.size, "p", &diag), STATUS_INVALID);
    assert_int_equal(cubin_open(&cubin, file.data, 3, "p", &diag), STATUS_FORMAT);
    assert_int_equal(diag.errors, 2);
    diag_free(&diag);
    file_release(&file);
}

static void digest(const u8 *data, size_t size) {
    Cubin cubin;
    if (cubin_open(&cubin, data, size, "x", NULL) != STATUS_OK) return;
    for (u32 i = 0; i < cubin.functions.len; i++) {
        const CubinFunction *function = &cubin.functions.data[i];
        const CubinLine *line = cubin_find_line(&cubin, function, 64);
        if (line && line->file != WL_NONE) assert_true(line->file < cubin.files.len);
        if (function->code_size) assert_true(function->code[function->code_size - 1] <= 255);
    }
    cubin_close(&cubin);
}

TEST(damaged_files_never_crash) {
    FileData file;
    assert_int_equal(file_read(SAMPLES "figures_90.cubin", &file, NULL), STATUS_OK);
    for (size_t cut = 1; cut < file.size; cut += 97) {
        u8 *part = mem_alloc(cut);
        memcpy(part, file.data, cut);
        digest(part, cut);
        mem_free(part);
    }
    u8 *copy = mem_alloc(file.size);
    memcpy(copy, file.data, file.size);
    for (size_t at = 0; at < file.size; at += at < 64 ? 1 : 3) {
        copy[at] ^= 0x81;
        digest(copy, file.size);
        copy[at] ^= 0x81;
    }
    mem_free(copy);
    file_release(&file);
}

TEST(every_allocation_may_fail) {
    FileData file;
    assert_int_equal(file_read(SAMPLES "figures_75.cubin", &file, NULL), STATUS_OK);
    for (u64 n = 0;; n++) {
        u64 left = n;
        Cubin cubin;
        testing_memory_out_after(&left);
        Status status = cubin_open(&cubin, file.data, file.size, "x", NULL);
        testing_memory_back();
        cubin_close(&cubin);
        if (status == STATUS_OK) break;
        assert_int_equal(status, STATUS_NO_MEMORY);
    }
    file_release(&file);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_are_those_of_ptxas),     cmocka_unit_test(lines_lead_to_the_source),
        cmocka_unit_test(inlined_places_know_their_call), cmocka_unit_test(parameters_and_jumps),
        cmocka_unit_test(other_files_are_refused),        cmocka_unit_test(damaged_files_never_crash),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
