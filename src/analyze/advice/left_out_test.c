// SPDX-License-Identifier: Apache-2.0
// What advice says of what it could not look at: kernels of which the profile holds samples but no code, launches that
// were recorded without their times, a GPU of which there is no model (as no folder with models is named here), grids
// that are smaller than the GPU.
#include "store/sample_profile.h"
#include "store/store_testing.h"

#include <string.h>
#include <unistd.h>

#include "analyze/advice/advice.h"

// The second of a kernel's three launches has no time, nor has any of the last kernel when there are several.
static void write_launches(Sink *sink, u32 function, bool last) {
    for (u32 i = 0; i < 3; i++) {
        RecordLaunchDone launch = {.launch = function * 3 + i, .function = function, .source = 1};
        bool timed = i != 1 && !last;
        for (u32 d = 0; d < 3; d++) launch.grid[d] = launch.block[d] = d ? 1 : 32;
        launch.begin_ns = timed ? 1000 * (i + 1) : 0;
        launch.end_ns = timed ? launch.begin_ns + 100 : 0;
        assert_int_equal(sink_write(sink, RECORD_LAUNCH_DONE, &launch, NULL, 0), STATUS_OK);
    }
}

static void write_run(u32 kernels, bool on_gpu) {
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
        if (on_gpu) write_launches(sink, f, f > 1 && f == kernels);
        if (!on_gpu) assert_int_equal(sample_launch(sink, f, f), STATUS_OK);
        assert_int_equal(sink_write(sink, RECORD_SAMPLES, &samples, &sample, sizeof sample), STATUS_OK);
    }
    assert_int_equal(store_close(writer), STATUS_OK);
}

static const char *gpu_folder;

// Whether there are `count` notes, of which one begins with `text`.
static bool is_told(u32 kernels, bool on_gpu, u32 count, const char *text) {
    Profile *profile;
    KernelViews *views;
    AdviceList *list;
    Arena arena = {0};
    write_run(kernels, on_gpu);
    assert_int_equal(profile_open(path, &profile, NULL), STATUS_OK);
    assert_int_equal(kernel_views_open(profile, &(KernelViewOptions){.gpu_folder = gpu_folder}, &views, NULL),
                     STATUS_OK);
    assert_int_equal(advice_make(profile, views, NULL, &arena, &list, NULL), STATUS_OK);
    assert_int_equal(list->count, 0);
    if (on_gpu && kernels == 2) {  // 100 ns each of three launches with 10 samples: twice as long with 20
        assert_int_equal(list->kernel_count, 2);
        assert_float_equal(list->kernels[0].view->launches.total_ns, 600, 1e-9);
        assert_float_equal(list->kernels[0].view->launches.error_ns, 600, 1e-9);
        assert_float_equal(list->kernels[1].view->launches.share, 1.0 / 3, 1e-9);
    }
    bool told = false;
    for (u32 i = 0; i < list->note_count; i++) told |= !strncmp(list->notes[i], text, strlen(text));
    told &= list->note_count == count;
    arena_free(&arena);
    kernel_views_close(views);
    profile_close(profile);
    assert_int_equal(unlink(path), 0);
    return told;
}

TEST(one_reason_is_one_note) {
    assert_true(is_told(1, false, 2, "k1 is left out: "));
    assert_true(is_told(2, false, 2, "k2 and 1 more kernel are left out: "));
    assert_true(is_told(3, false, 2, "k3 and 2 more kernels are left out: "));
}

TEST(launches_without_times_are_told) {
    assert_true(is_told(1, true, 3, "1 of 3 launches were recorded without their times"));
    assert_true(is_told(2, true, 4, "1 of 6 launches were recorded without their times"));
    assert_true(is_told(2, true, 4, "3 of 6 launches are of kernels without any time"));
}

TEST(a_gpu_without_a_model_is_told) {
    assert_true(is_told(1, true, 3, "there is no model of NVIDIA H200 in share/warplens/gpus: "));
}

// 32 CTAs on 132 SMs.
TEST(grids_that_leave_sms_idle_are_told) {
    gpu_folder = "gpus";
    assert_true(is_told(1, true, 3,
                        "100 % of the time of kernels is that of grids with fewer CTAs than the GPU has SMs (132)"));
    gpu_folder = NULL;
}

int main(void) {
    const struct CMUnitTest tests[] = {IN_FOLDER(one_reason_is_one_note), IN_FOLDER(launches_without_times_are_told),
                                       IN_FOLDER(a_gpu_without_a_model_is_told),
                                       IN_FOLDER(grids_that_leave_sms_idle_are_told)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
