// SPDX-License-Identifier: Apache-2.0
// How many machine instructions are issued for each of the snippets of tests/time/idioms.tsv, beside what ptxas makes
// of them: never another number than the file says, and for three of four of them ptxas' own. --update renews the
// file's.
#include "sim/time/time_table_testing.h"

static const char *const path = "tests/time/idioms.tsv";

enum { FRAMES_MAX = 8 };

// What stands around snippets, from the comments "#!" (parameters and registers of all) and "#:".
typedef struct Frame {
    char *text;        // the others' memory
    const char *head;  // of the kernel
    TestRow row;       // name, text before a snippet, text behind it
    u32 bare;          // issued without one
} Frame;

typedef struct Frames {
    Frame frame[FRAMES_MAX];
    u32 count;
} Frames;

static u32 issued(const Frame *f, const char *snippet, const char *behind) {
    TestCode c;
    u32 count = 0;
    size_t room = strlen(f->head) + strlen(f->text) + strlen(f->row.column[1]) + strlen(snippet) + strlen(behind) + 64;
    char *kernel = malloc(room);
    snprintf(kernel, room, ".visible .entry k%s\n%s %s %s ret; }\n", f->head, f->row.column[1], snippet, behind);
    test_code_build(&c, kernel);
    for (u32 b = 0; b < c.code->block_count; b += c.code->blocks[b].parts) count += c.code->blocks[b].op_count;
    test_code_drop(&c);
    free(kernel);
    return count;
}

// The frame alone stores what it loaded: %r10 for %r13.
static u32 issued_bare(const Frame *f) {
    char *behind = strdup(f->row.column[2]);
    for (char *at = behind; (at = strstr(at, "13"));) at[1] = '0';
    u32 count = issued(f, "", behind);
    free(behind);
    return count;
}

static void read_frames(const TestTable *t, Frames *frames) {
    const char *head = NULL;
    frames->count = 0;
    for (u32 i = 0; i < t->comment_count; i++) {
        char *line = t->comments[i];
        if (line[1] == '!') head = line + 2;
        if (line[1] != ':') continue;
        assert_true(head && frames->count < FRAMES_MAX);
        Frame *f = &frames->frame[frames->count++];
        *f = (Frame){.text = strdup(line + 2), .head = head};
        f->row = table_split(f->text);
        f->bare = issued_bare(f);
    }
}

static const Frame *frame_of(const Frames *frames, const TestRow *row) {
    for (u32 i = 0; i < frames->count; i++)
        if (strcmp(frames->frame[i].row.column[0], row->column[COLUMN_FRAME]) == 0) return &frames->frame[i];
    fail_msg("no frame %s", row->column[COLUMN_FRAME]);
    return NULL;
}

TEST(snippets_cost_what_ptxas_makes_of_them) {
    static TestTable t;
    static i32 ours[TABLE_ROWS];
    Frames frames;
    u32 comparable = 0, equal = 0;
    table_read(&t, path);
    read_frames(&t, &frames);
    for (u32 i = 0; i < t.row_count; i++) {
        const TestRow *row = &t.rows[i];
        const Frame *frame = frame_of(&frames, row);
        ours[i] = (i32)(issued(frame, row->column[COLUMN_PTX], frame->row.column[2]) - frame->bare);
        bool compares = strcmp(row->column[COLUMN_PTXAS], "-") != 0;
        comparable += compares;
        equal += compares && ours[i] == atoi(row->column[COLUMN_PTXAS]);
    }
    print_message("%u of %u snippets as ptxas makes them\n", equal, comparable);
    table_check(&t, path, ours);
    assert_true(equal * 4 >= comparable * 3);
    for (u32 i = 0; i < frames.count; i++) free(frames.frame[i].text);
    free(t.text);
}

int main(int argc, char **argv) {
    golden_arguments(argc, argv);
    const struct CMUnitTest tests[] = {cmocka_unit_test(snippets_cost_what_ptxas_makes_of_them)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
