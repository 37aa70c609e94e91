// SPDX-License-Identifier: Apache-2.0
#include "view/report.h"

#include <string.h>

#include "view/report_data.h"

const Exporter exporter_table[] = {
#define EXPORTER(name, extension, function, text) {name, extension, text, function},
#include "view/exporters.def"
#undef EXPORTER
};
const u32 exporter_count = WL_COUNT(exporter_table);

const Exporter *exporter_find(const char *name) {
    for (u32 i = 0; i < exporter_count; i++) {
        if (strcmp(exporter_table[i].name, name) == 0) return &exporter_table[i];
    }
    return NULL;
}

ReportSection report_section(const char *name) {
    static const char *const names[] = {
#define SECTION(id, name, text) [REPORT_##id] = name,
#include "view/sections.def"
#undef SECTION
    };
    for (u32 i = 1; i < WL_COUNT(names); i++) {
        if (strcmp(names[i], name) == 0) return (ReportSection)i;
    }
    return REPORT_SECTION_COUNT;
}

Status report_write(Profile *profile, const Exporter *exporter, const ReportOptions *options, Output *out, Diag *diag) {
    Arena arena = {0};
    Report report;
    static const ReportOptions defaults = {0};
    if (options && (u32)options->section >= REPORT_SECTION_COUNT) {
        diag_text(diag, DIAG_ERROR, NULL, 0, 0, "no such section of a report");
        return STATUS_INVALID;
    }
    Status status = report_load(profile, options ? options : &defaults, &arena, &report, diag);
    if (status == STATUS_OK) status = exporter->write(&report, out, diag);
    if (status == STATUS_OK) status = out->status;
    if (status == STATUS_IO && out->status == STATUS_IO)
        diag_text(diag, DIAG_ERROR, NULL, 0, 0, "cannot write the report");
    arena_free(&arena);
    return status;
}
