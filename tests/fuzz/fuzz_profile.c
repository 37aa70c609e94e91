// SPDX-License-Identifier: Apache-2.0
// Any bytes as a profile: opening, reading, reporting, blaming and advising must neither crash nor read beyond what is
// there.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "analyze/blame.h"
#include "view/advice/advice_report.h"
#include "view/report.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static Status swallow(void *context, const char *data, size_t size) {
    *(size_t *)context += size + (data[0] == 0);
    return STATUS_OK;
}

static void report(Profile *profile) {
    for (u32 i = 0; i < exporter_count * REPORT_SECTION_COUNT; i++) {
        size_t total = 0;
        Output out = {.write = swallow, .context = &total};
        ReportOptions options = {.width = 80, .section = (ReportSection)(i / exporter_count), .units = i % 2};
        const Exporter *exporter = &exporter_table[i % exporter_count];
        if (report_write(profile, exporter, &options, &out, NULL) == STATUS_OK && total == 0) abort();
    }
}

static void blame(Profile *profile) {
    KernelViews *views;
    const KernelView *const *list;
    u32 count;
    KernelViewOptions options = {.gpu_folder = "gpus", .every_function = true};
    if (kernel_views_open(profile, &options, &views, NULL) != STATUS_OK) return;
    if (kernel_views_all(views, 0, &list, &count, NULL) != STATUS_OK) count = 0;
    for (u32 i = 0; i < count; i++) {
        Arena arena = {0};
        Blame *result;
        BlameTruth truth;
        if (blame_kernel(list[i], NULL, &arena, &result) != STATUS_OK) abort();
        if (blame_compare(result, &arena, &truth) != STATUS_OK) abort();
        arena_free(&arena);
    }
    kernel_views_close(views);
}

static void advise(Profile *profile) {
    KernelViews *views;
    AdviceList *list;
    Arena arena = {0};
    KernelViewOptions view_options = {.gpu_folder = "gpus"};
    AdviceOptions options = {.least = 1e-9};
    if (kernel_views_open(profile, &view_options, &views, NULL) != STATUS_OK) return;
    bool made = advice_make(profile, views, &options, &arena, &list, NULL) == STATUS_OK;
    for (u32 i = 0; made && i < advice_exporter_count; i++) {
        size_t total = 0;
        Output out = {.write = swallow, .context = &total};
        AdviceReportOptions report_options = {.width = 80, .verbose = true, .root = "/"};
        const AdviceExporter *exporter = &advice_exporter_table[i];
        if (advice_report_write(profile, list, exporter, &report_options, &out, NULL) == STATUS_OK && total == 0)
            abort();
    }
    arena_free(&arena);
    kernel_views_close(views);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char path[] = "/tmp/wl_fuzz_profile_XXXXXX";
    int file = mkstemp(path);
    if (file < 0 || write(file, data, size) != (ssize_t)size) abort();
    close(file);
    Profile *profile;
    Diag diag = {0};
    Status status = profile_open(path, &profile, &diag);
    if (status != STATUS_OK && diag.errors == 0) abort();
    if (status == STATUS_OK) report(profile);
    if (status == STATUS_OK) blame(profile);
    if (status == STATUS_OK) advise(profile);
    if (status == STATUS_OK) profile_close(profile);
    diag_free(&diag);
    unlink(path);
    return 0;
}
