// SPDX-License-Identifier: Apache-2.0
// docs/metrics.md is what the catalogue says. Runs in the source root, as all tests do.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// cmocka.h needs the four above
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "metric/metric.h"

static void page_is_current(void **state) {
    (void)state;
    assert_int_equal(system("tools/gen_metrics_doc.sh | diff -u docs/metrics.md - >&2"), 0);
}

// The script reads the rows as text: each must be one line of the usual form.
static void page_has_every_metric(void **state) {
    (void)state;
    static char page[1 << 18];
    FILE *file = fopen("docs/metrics.md", "r");
    assert_non_null(file);
    page[fread(page, 1, sizeof page - 1, file)] = '\0';
    fclose(file);
    for (u32 i = 0; i < METRIC_COUNT; i++) {
        char row[256];
        snprintf(row, sizeof row, "| `%s` | %s | ", metric_table[i].name, metric_table[i].unit);
        if (!strstr(page, row)) fail_msg("docs/metrics.md: no row for %s", metric_table[i].name);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(page_is_current),
        cmocka_unit_test(page_has_every_metric),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
