// SPDX-License-Identifier: Apache-2.0
// docs/support.md is what ops.def says. Runs in the source root, as all tests do.
#include "base/testing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/ops.h"

TEST(page_is_current) { assert_int_equal(system("tools/gen_support_doc.sh | diff -u docs/support.md - >&2"), 0); }

// The script reads the rows as text: each must be one line of the usual form.
TEST(page_has_every_row) {
    static char page[1 << 18];
    FILE *file = fopen("docs/support.md", "r");
    assert_non_null(file);
    page[fread(page, 1, sizeof page - 1, file)] = '\0';
    fclose(file);
    for (u32 op = 0; op < OP_COUNT; op++) {
        char row[1024];
        const OpInfo *info = &ptx_ops[op];
        const char *tick = info->mods[0] ? "`" : "";
        snprintf(row, sizeof row, "| `%s` | %s%s%s | %u.%u | sm_%u | %s", info->name, tick, info->mods, tick,
                 info->isa / 10u, info->isa % 10u, info->sm, info->executable ? "yes" : "no: ");
        if (!strstr(page, row)) fail_msg("docs/support.md lacks %s", row);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(page_is_current), cmocka_unit_test(page_has_every_row)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
