// SPDX-License-Identifier: Apache-2.0
// How many machine instructions are issued for each of the snippets of tests/time/idioms.tsv, beside what ptxas makes
// of them: never another number than the file says, and for three of four of them ptxas' own. --update renews the
// file's.
#include <stdlib.h>

#include "base/golden_testing.h"
#include "flow/flow_text.h"
#include "sim/device_testing.h"
#include "sim/machine.h"
#include "sim/time/time_code.h"

enum { ROWS_MAX = 1024, FRAMES_MAX = 8, COLUMNS = 5 };
static const char *const path = "tests/time/idioms.tsv";

typedef struct Row {
    char *column[COLUMNS];  // frame, name, instructions of ptxas ("-": not comparable), ours, PTX
} Row;

typedef struct Table {
    char *text;              // the file's, taken apart
    char *head;              // of every kernel: parameters, registers
    Row frames[FRAMES_MAX];  // letter, text before a snippet, text behind it
    u32 frame_count;
    Row rows[ROWS_MAX];
    u32 row_count;
} Table;

static void split(char *line, Row *row) {
    for (u32 k = 0; k < COLUMNS; k++) {
        row->column[k] = line;
        char *tab = line ? strchr(line, '\t') : NULL;
        if (tab) *tab = 0;
        line = tab ? tab + 1 : NULL;
    }
}

static void read_table(Table *t) {
    FileData file;
    Diag diag = {0};
    memset(t, 0, sizeof *t);
    assert_int_equal(file_read(path, &file, &diag), STATUS_OK);
    t->text = strndup((const char *)file.data, file.size);
    file_release(&file);
    char *rest = t->text;
    for (char *line; (line = strsep(&rest, "\n"));) {
        if (line[0] == '#' && line[1] == '!') t->head = line + 2;
        if (line[0] == '#' && line[1] == ':' && t->frame_count < FRAMES_MAX)
            split(line + 2, &t->frames[t->frame_count++]);
        if (line[0] && line[0] != '#' && t->row_count < ROWS_MAX) split(line, &t->rows[t->row_count++]);
    }
    assert_true(t->head && t->frame_count && t->row_count && t->row_count < ROWS_MAX);
}

static const Row *frame_of(const Table *t, const char *letter) {
    for (u32 i = 0; i < t->frame_count; i++)
        if (strcmp(t->frames[i].column[0], letter) == 0) return &t->frames[i];
    return NULL;
}

static void print_kernel(FlowText *out, const Table *t, const Row *frame, const char *body, const char *behind) {
    flow_print(out, ".visible .entry k%s\n%s %s %s ret; }\n", t->head, frame->column[1], body, behind);
}

// What a kernel of a module of its own issues.
static u32 issued(const Table *t, const Row *frame, const char *body, const char *behind) {
    TextBuffer text = {0};
    FlowText out = {.out = &text};
    TestDevice d;
    SimProgram *program;
    TimeCode *code;
    u32 count = 0;
    flow_print(&out, ".version 8.0\n.target sm_90\n.address_size 64\n");
    print_kernel(&out, t, frame, body, behind);
    assert_int_equal(vec_push(&text, 0), STATUS_OK);
    device_open(&d, text.data);
    assert_int_equal(program_build(d.module, 0, &program, &d.diag), STATUS_OK);
    assert_int_equal(time_code_build(program, &d.gpu, 0, &code), STATUS_OK);
    for (u32 b = 0; b < code->block_count; b++) count += code->blocks[b].op_count;
    time_code_free(code);
    program_free(program);
    device_close(&d);
    vec_free(&text);
    return count;
}

// The frame alone stores what it loaded: %r10 for %r13.
static u32 issued_bare(const Table *t, const Row *frame) {
    char behind[512];
    snprintf(behind, sizeof behind, "%s", frame->column[2]);
    for (char *at = behind; (at = strstr(at, "13"));) at[1] = '0';
    return issued(t, frame, "", behind);
}

static void rewrite(const Table *t, const u32 *ours) {
    FileData file;
    Diag diag = {0};
    assert_int_equal(file_read(path, &file, &diag), STATUS_OK);
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    for (const char *at = (const char *)file.data, *end = at + file.size, *next; at < end && *at == '#'; at = next) {
        next = (const char *)memchr(at, 10, (size_t)(end - at)) + 1;
        fwrite(at, 1, (size_t)(next - at), out);
    }
    for (u32 i = 0; i < t->row_count; i++)
        fprintf(out, "%s\t%s\t%s\t%d\t%s\n", t->rows[i].column[0], t->rows[i].column[1], t->rows[i].column[2],
                (int)ours[i], t->rows[i].column[4]);
    fclose(out);
    file_release(&file);
}

TEST(snippets_cost_what_ptxas_makes_of_them) {
    static Table t;
    static u32 ours[ROWS_MAX];
    u32 bare[FRAMES_MAX], comparable = 0, equal = 0, wrong = 0;
    read_table(&t);
    for (u32 i = 0; i < t.frame_count; i++) bare[i] = issued_bare(&t, &t.frames[i]);
    for (u32 i = 0; i < t.row_count; i++) {
        const Row *row = &t.rows[i], *frame = frame_of(&t, row->column[0]);
        assert_true(frame && row->column[4]);
        ours[i] = issued(&t, frame, row->column[4], frame->column[2]) - bare[frame - t.frames];
        i32 ptxas = atoi(row->column[2]);
        bool compares = row->column[2][0] != '-' || row->column[2][1];
        comparable += compares;
        equal += compares && (i32)ours[i] == ptxas;
        if ((i32)ours[i] == atoi(row->column[3])) continue;
        print_message("%s: %d issued, the table says %s, ptxas makes %s\n", row->column[1], (i32)ours[i],
                      row->column[3], row->column[2]);
        wrong++;
    }
    print_message("%u of %u snippets as ptxas makes them\n", equal, comparable);
    if (golden_update)
        rewrite(&t, ours);
    else
        assert_int_equal(wrong, 0);
    assert_true(equal * 4 >= comparable * 3);
    free(t.text);
}

int main(int argc, char **argv) {
    golden_arguments(argc, argv);
    const struct CMUnitTest tests[] = {cmocka_unit_test(snippets_cost_what_ptxas_makes_of_them)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
