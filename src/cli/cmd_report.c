// SPDX-License-Identifier: Apache-2.0
// warplens report: a profile as text, JSON or CSV on stdout.
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/cli.h"
#include "cli/terminal.h"
#include "view/report.h"

typedef struct ReportArgs {
    const char *path, *format;
    ReportOptions options;
} ReportArgs;

enum { OPT_SECTION = 256, OPT_FORMAT, OPT_CSV, OPT_JSON, OPT_LINES, OPT_SORT, OPT_UNITS };

static const struct argp_option options[] = {
    {"section", OPT_SECTION, "NAME", 0, "only this part (see below)", 0},
    {"format", OPT_FORMAT, "text|json|csv", 0, "text (default), JSON (schema warplens-report/1) or CSV", 0},
    {"json", OPT_JSON, NULL, 0, "short for --format json", 0},
    {"csv", OPT_CSV, NULL, 0, "short for --format csv", 0},
    {"kernel", 'k', "REGEX", 0, "only kernels whose name matches", 0},
    {"lines", OPT_LINES, "N", 0, "source lines per kernel in the text (default 20)", 0},
    {"units", OPT_UNITS, NULL, 0, "timelines of every SM, L2 slice, DRAM channel, ... in JSON and CSV", 0},
    {"sort", OPT_SORT, "METRIC", 0, "order by this metric or column, highest first", 0},
    {0}};

static error_t parse(int key, char *arg, struct argp_state *state) {
    ReportArgs *a = state->input;
    switch (key) {
    case OPT_SECTION:
        a->options.section = report_section(arg);
        if (a->options.section == REPORT_SECTION_COUNT)
            argp_error(state, "--section takes one of the names that --help lists, not `%s`", arg);
        break;
    case OPT_FORMAT: a->format = arg; break;
    case OPT_JSON: a->format = "json"; break;
    case OPT_CSV: a->format = "csv"; break;
    case 'k': a->options.kernel_regex = arg; break;
    case OPT_LINES: {
        u64 lines;
        if (!cli_number("--lines", arg, 1, 1000000, &lines)) exit(EXIT_USAGE);
        a->options.lines = (u32)lines;
        break;
    }
    case OPT_UNITS: a->options.units = true; break;
    case OPT_SORT: a->options.sort = arg; break;
    case ARGP_KEY_ARG:
        if (a->path) argp_error(state, "one profile at a time");
        a->path = arg;
        break;
    case ARGP_KEY_END:
        if (!a->path) argp_error(state, "which profile? warplens report FILE.wlp");
        break;
    default: return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

// The table of sections goes below the options of --help.
static char *help_filter(int key, const char *text, void *input) {
    static const CliRow rows[] = {
#define SECTION(id, name, text) {name, text},
#include "view/sections.def"
#undef SECTION
    };
    (void)input;
    if (key != ARGP_KEY_HELP_POST_DOC) return (char *)(uintptr_t)text;
    return cli_help_table("The sections:", rows, WL_COUNT(rows));
}

static Status show(const ReportArgs *a, const Exporter *exporter, Diag *diag) {
    Profile *profile;
    TRY(profile_open(a->path, &profile, diag));
    Output out = output_file(stdout);
    Status status = report_write(profile, exporter, &a->options, &out, diag);
    profile_close(profile);
    return status;
}

int cmd_report(int argc, char **argv) {
    static const struct argp argp = {options, parse,       "FILE.wlp", "Shows what a profile holds.\v",
                                     NULL,    help_filter, NULL};
    char *demangled = NULL;
    ReportArgs a = {.format = "text",
                    .options = {.demangle = terminal_demangle,
                                .demangle_context = &demangled,
                                .width = terminal_width(),
                                .ascii = !terminal_is_utf8(),
                                .color = terminal_has_colors()}};
    int code = cli_parse(&argp, argc, argv, 0, NULL, &a);
    if (code != EXIT_OK) return code;
    const Exporter *exporter = exporter_find(a.format);
    if (!exporter) return cli_fail(EXIT_USAGE, "there is no format `%s`; the formats are text, json and csv", a.format);
    a.options.path = a.path;
    char folder[PATH_MAX] = "";
    if (cli_find_file("share/warplens/gpus", folder, sizeof folder)) a.options.gpu_folder = folder;
    Diag diag = {0};
    Status status = show(&a, exporter, &diag);
    cli_diag(&diag);
    bool told = diag.errors || ferror(stdout);  // main tells of stdout
    if (status != STATUS_OK && !told) cli_fail(EXIT_INPUT, "%s: %s", a.path, status_text(status));
    diag_free(&diag);
    mem_free(demangled);
    return cli_exit_code(status);
}
