// SPDX-License-Identifier: Apache-2.0
// docs/profile-format.md: its queries run, and it names every table and view. Runs in the source root, as all tests do.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// cmocka.h needs the four above
#include <cmocka.h>

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "store/sample_profile.h"
#include "store/store.h"

static char path[64];
static FileData page;
static sqlite3 *db;

static int set_up(void **state) {
    (void)state;
    StoreWriter *writer;
    SampleSpec spec = {.functions = 2, .lines = 3, .launches = 2, .metrics = 100, .timing = true};
    strcpy(path, "/tmp/wl_doc_XXXXXX");
    int file = mkstemp(path);
    if (file < 0) return -1;
    close(file);
    if (file_read("docs/profile-format.md", &page, NULL) != STATUS_OK) return -1;
    if (store_create(path, true, &writer, NULL) != STATUS_OK) return -1;
    if (sample_run(store_sink(writer), &spec) != STATUS_OK || store_close(writer) != STATUS_OK) return -1;
    return sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL);
}

static int tear_down(void **state) {
    (void)state;
    sqlite3_close(db);
    file_release(&page);
    return unlink(path);
}

static void queries_run(void **state) {
    (void)state;
    u32 blocks = 0;
    for (const char *at = strstr((char *)page.data, "```sql\n"); at; at = strstr(at, "```sql\n")) {
        at += strlen("```sql\n");
        const char *end = strstr(at, "```");
        assert_non_null(end);
        char *sql = strndup(at, (size_t)(end - at)), *error = NULL;
        if (sqlite3_exec(db, sql, NULL, NULL, &error) != SQLITE_OK) fail_msg("%s\n%s", error, sql);
        free(sql);
        blocks++;
        at = end;
    }
    assert_int_equal(blocks, 9);
}

static void page_names_every_table(void **state) {
    (void)state;
    sqlite3_stmt *statement;
    const char *sql = "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')";
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &statement, NULL), SQLITE_OK);
    while (sqlite3_step(statement) == SQLITE_ROW) {
        char quoted[64];
        snprintf(quoted, sizeof quoted, "`%s`", (const char *)sqlite3_column_text(statement, 0));
        if (!strstr((char *)page.data, quoted)) fail_msg("docs/profile-format.md does not name %s", quoted);
    }
    sqlite3_finalize(statement);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(queries_run),
        cmocka_unit_test(page_names_every_table),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
