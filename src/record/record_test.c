// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// cmocka.h needs the four above
#include <cmocka.h>

#include <string.h>

#include "record/record.h"

static void tables_cover_every_kind(void **state) {
    (void)state;
    for (u32 i = 0; i < RECORD_KIND_COUNT; i++) {
        assert_true(record_fixed_size((RecordKind)i) >= 4);
        assert_true(strcmp(record_name((RecordKind)i), "unknown") != 0);
    }
    assert_int_equal(record_fixed_size(RECORD_LAUNCH), sizeof(RecordLaunch));
    assert_string_equal(record_name(RECORD_LAUNCH_END), "LAUNCH_END");
    assert_int_equal(record_fixed_size(RECORD_KIND_COUNT), 0);
    assert_string_equal(record_name((RecordKind)999), "unknown");
    assert_string_equal(provenance_name(PROVENANCE_SIMULATED), "simulated");
    assert_string_equal(provenance_name(PROVENANCE_COUNT), "unknown");
}

// Records are handed over as bytes: padding would carry whatever was in memory into a profile.
static void records_have_no_padding(void **state) {
    (void)state;
    assert_int_equal(sizeof(RecordLaunch), 24 + 36 + 4 + 8);
    assert_int_equal(sizeof(RecordLaunchArguments), 8);
    assert_int_equal(sizeof(RecordPcCount), 16);
    assert_int_equal(sizeof(RecordCount), 16);
    assert_int_equal(sizeof(RecordInsn), 32);
    assert_int_equal(sizeof(RecordLaunchTime), 8 + 4 * 8 + 16 + 16);
    assert_int_equal(sizeof(RecordLaunchEstimate), 32);
    assert_int_equal(sizeof(RecordTimeline), 32 + 24);
    assert_int_equal(sizeof(RecordStallCause), 32);
}

static void units_have_names(void **state) {
    (void)state;
    for (u32 i = 0; i < TIMELINE_UNIT_COUNT; i++) {
        const char *name = timeline_unit_name((TimelineUnit)i);
        assert_int_equal(timeline_unit_find(name), i);
        assert_true(timeline_unit_scope((TimelineUnit)i) >= 'A');
    }
    assert_int_equal(timeline_unit_find("toaster"), TIMELINE_UNIT_COUNT);
    assert_string_equal(timeline_unit_name(TIMELINE_UNIT_COUNT), "unknown");
}

static void no_sink_takes_everything(void **state) {
    (void)state;
    RecordMeta meta = {0};
    assert_int_equal(sink_write(NULL, RECORD_META, &meta, "a\0b", 4), STATUS_OK);
    assert_int_equal(sink_flush(NULL), STATUS_OK);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_cover_every_kind),
        cmocka_unit_test(records_have_no_padding),
        cmocka_unit_test(units_have_names),
        cmocka_unit_test(no_sink_takes_everything),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
