// SPDX-License-Identifier: Apache-2.0
// For tests of profiles: a folder for each test, and the path of the profile in it.
#ifndef WL_STORE_STORE_TESTING_H
#define WL_STORE_STORE_TESTING_H

#include "base/testing.h"

#include <stdio.h>
#include <stdlib.h>

#include "store/store.h"

static char folder[64];
static char path[128];

static int make_folder(void **state) {
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/wl_store_XXXXXX");
    if (!mkdtemp(folder)) return -1;
    snprintf(path, sizeof path, "%s/run %%41?#.wlp", folder);  // characters that URIs give meaning to
    return 0;
}

static int remove_folder(void **state) {
    (void)state;
    char command[192];
    snprintf(command, sizeof command, "chmod -R u+w '%s'; rm -rf '%s'", folder, folder);
    return system(command);
}

static inline StoreWriter *create_profile(void) {
    StoreWriter *writer = NULL;
    Diag diag = {0};
    assert_int_equal(store_create(path, true, &writer, &diag), STATUS_OK);
    assert_int_equal(diag.entries.len, 0);
    return writer;
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)

#endif
