// SPDX-License-Identifier: Apache-2.0
// Kernels of which the profile holds samples but no code: one note for all of them.
#include "store/sample_profile.h"
#include "store/store_testing.h"

#include <string.h>
#include <unistd.h>

#include "analyze/advice/advice.h"

static void write_run(u32 kernels) {
    StoreWriter *writer = create_profile();
    Sink *sink = store_sink(writer);
    char tail[64];
    RecordSource source = {.source = 1, .provenance = PROVENANCE_SAMPLED};
    size_t size = SAMPLE_TAIL(tail, "CUPTI", "NVIDIA H200", "device 0");
    assert_int_equal(sink_write(sink, RECORD_SOURCE, &source, tail, size), STATUS_OK);
    RecordStallName name = {.source = 1, .stall = STALL_WAIT};
    size = SAMPLE_TAIL(tail, stall_names[STALL_WAIT], "");
    assert_int_equal(sink_write(sink, RECORD_STALL_NAME, &name, tail, size), STATUS_OK);
    for (u32 f = 1; f <= kernels; f++) {
        RecordFunction function = {.function = f, .insn_count = 1, .is_entry = 1};
        RecordSample sample = {.stall = STALL_WAIT, .samples = 10 * f};
        RecordSamples samples = {.function = f, .source = 1, .period = 1024, .count = 1};
        char kernel[8] = {'k', (char)('0' + f), 0};
        assert_int_equal(sink_write(sink, RECORD_FUNCTION, &function, kernel, 3), STATUS_OK);
        assert_int_equal(sample_launch(sink, f, f), STATUS_OK);
        assert_int_equal(sink_write(sink, RECORD_SAMPLES, &samples, &sample, sizeof sample), STATUS_OK);
    }
    assert_int_equal(store_close(writer), STATUS_OK);
}

// Whether the only note begins with `text`.
static bool is_told(u32 kernels, const char *text) {
    Profile *profile;
    KernelViews *views;
    AdviceList *list;
    Arena arena = {0};
    write_run(kernels);
    assert_int_equal(profile_open(path, &profile, NULL), STATUS_OK);
    assert_int_equal(kernel_views_open(profile, &(KernelViewOptions){0}, &views, NULL), STATUS_OK);
    assert_int_equal(advice_make(profile, views, NULL, &arena, &list, NULL), STATUS_OK);
    assert_int_equal(list->count, 0);
    bool told = list->note_count == 1 && !strncmp(list->notes[0], text, strlen(text));
    arena_free(&arena);
    kernel_views_close(views);
    profile_close(profile);
    assert_int_equal(unlink(path), 0);
    return told;
}

TEST(one_reason_is_one_note) {
    assert_true(is_told(1, "k1 is left out: "));
    assert_true(is_told(2, "k2 and 1 more kernel are left out: "));
    assert_true(is_told(3, "k3 and 2 more kernels are left out: "));
}

int main(void) {
    const struct CMUnitTest tests[] = {IN_FOLDER(one_reason_is_one_note)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
