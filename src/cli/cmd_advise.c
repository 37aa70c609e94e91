// SPDX-License-Identifier: Apache-2.0
// warplens advise: what to change in the kernels of a profile, as text, JSON or SARIF.
#include <errno.h>
#include <limits.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "binary/kernel_name.h"
#include "cli/advise.h"
#include "cli/cli.h"
#include "cli/terminal.h"
#include "view/advice/advice_report.h"

enum { OPT_FORMAT = 256, OPT_JSON, OPT_SARIF, OPT_RULE, OPT_NO_RULE, OPT_LIST_RULES, OPT_TOP, OPT_LEAST };

#define LEAST_OF_ALL 1e-9  // for --least 0: AdviceOptions.least 0 is its default

typedef struct AdviseArgs {
    const char *path, *format, *regex, *output;
    bool list_rules, force;
    Vec(const char *) only, except;
    AdviceOptions advice;
    AdviceReportOptions report;
    regex_t filter;
    char *demangled;
} AdviseArgs;

static const struct argp_option options[] = {
    {"verbose", 'v', NULL, 0, "evidence, places in the source and examples for each piece of advice", 0},
    {"top", OPT_TOP, "N", 0, "the N best pieces of advice (default: 8 in the text, else all)", 0},
    {"kernel", 'k', "REGEX", 0, "only kernels whose name matches", 0},
    {"rule", OPT_RULE, "NAME", 0, "only advice of this rule (may be given several times)", 0},
    {"no-rule", OPT_NO_RULE, "NAME", 0, "no advice of this rule (may be given several times)", 0},
    {"list-rules", OPT_LIST_RULES, NULL, 0, "the rules, and how they did on known programs", 0},
    {"least", OPT_LEAST, "PERCENT", 0, "only advice that should make the program this much faster (default 1)", 0},
    {"format", OPT_FORMAT, "text|json|sarif", 0, "text (default), JSON (schema warplens-advice/1) or SARIF 2.1.0", 0},
    {"json", OPT_JSON, NULL, 0, "short for --format json", 0},
    {"sarif", OPT_SARIF, NULL, 0, "short for --format sarif", 0},
    {"output", 'o', "FILE", 0, "write there, not to stdout", 0},
    {"force", 'f', NULL, 0, "replace an existing FILE", 0},
    {0}};

static f64 percent(struct argp_state *state, const char *text) {
    char *end;
    f64 value = strtod(text, &end);
    if (end == text || *end || !(value >= 0 && value <= 1e6))
        argp_error(state, "--least takes a percentage like 5 or 0.5, not `%s`", text);
    return value > 0 ? value / 100 : LEAST_OF_ALL;
}

static u32 count(const char *text) {
    u64 value;
    if (!cli_number("--top", text, 1, 1000000, &value)) exit(EXIT_USAGE);
    return (u32)value;
}

static error_t parse(int key, char *arg, struct argp_state *state) {
    AdviseArgs *a = state->input;
    Status status = STATUS_OK;
    switch (key) {
    case 'v': a->report.verbose = true; break;
    case 'k': a->regex = arg; break;
    case 'o': a->output = arg; break;
    case 'f': a->force = true; break;
    case OPT_TOP: a->report.top = count(arg); break;
    case OPT_RULE: status = vec_push(&a->only, arg); break;
    case OPT_NO_RULE: status = vec_push(&a->except, arg); break;
    case OPT_LIST_RULES: a->list_rules = true; break;
    case OPT_LEAST: a->advice.least = percent(state, arg); break;
    case OPT_FORMAT: a->format = arg; break;
    case OPT_JSON: a->format = "json"; break;
    case OPT_SARIF: a->format = "sarif"; break;
    case ARGP_KEY_ARG:
        if (a->path) argp_error(state, "one profile at a time");
        a->path = arg;
        break;
    case ARGP_KEY_END:
        if (!a->path && !a->list_rules) argp_error(state, "which profile? warplens advise FILE.wlp");
        break;
    default: return ARGP_ERR_UNKNOWN;
    }
    return status == STATUS_OK ? 0 : ENOMEM;
}

// --- kernels to look at -------------------------------------------------------------------------------------------
static bool is_wanted(void *context, const ProfileFunction *function) {
    AdviseArgs *a = context;
    return kernel_matches(&a->filter, function->name);
}

static int compile_filter(AdviseArgs *a) {
    char why[256];
    if (!a->regex) return EXIT_OK;
    if (!kernel_filter_compile(&a->filter, a->regex, why, sizeof why))
        return cli_fail(EXIT_USAGE, "-k `%.200s`: %s", a->regex, why);
    a->advice.wanted = is_wanted;
    a->advice.context = a;
    return EXIT_OK;
}

// --- output -------------------------------------------------------------------------------------------------------
// What cannot be made again is not written over, also with -f.
static bool is_database(const char *path) {
    static const char magic[] = "SQLite format 3";
    char head[sizeof magic] = "";
    FILE *file = fopen(path, "rb");
    bool is = file && fread(head, 1, sizeof head, file) == sizeof head && memcmp(head, magic, sizeof magic) == 0;
    if (file) fclose(file);
    return is;
}

// Everything is in `text` before the file is touched, so that a failure leaves an existing one as it is.
static int save(const AdviseArgs *a, const char *text, size_t size) {
    if (!a->output) return fwrite(text, 1, size, stdout) == size ? EXIT_OK : EXIT_INPUT;  // main tells of stdout
    if (a->force && is_database(a->output))
        return cli_fail(EXIT_INPUT, "%s is a profile, which advice does not replace; -o names another file", a->output);
    FILE *file = fopen(a->output, a->force ? "w" : "wx");
    if (!file && errno == EEXIST)
        return cli_fail(EXIT_INPUT, "%s exists; -f replaces it, -o names another file", a->output);
    if (!file) return cli_fail(EXIT_INPUT, "%s cannot be written: %s", a->output, strerror(errno));
    bool good = fwrite(text, 1, size, file) == size;
    good &= fclose(file) == 0;
    return good ? EXIT_OK : cli_fail(EXIT_INPUT, "%s cannot be written: %s", a->output, strerror(errno));
}

static Status write_all(AdviseArgs *a, const AdviceExporter *exporter, Output *out, Diag *diag) {
    if (a->list_rules) return advice_rules_write(&a->report, strcmp(a->format, "json") == 0, out);
    return advise_profile(a->path, &a->advice, exporter, &a->report, out, diag);
}

static int write_advice(AdviseArgs *a, const AdviceExporter *exporter) {
    char *text = NULL;
    size_t size = 0;
    Diag diag = {0};
    FILE *stream = open_memstream(&text, &size);
    if (!stream) return cli_fail(EXIT_INPUT, "out of memory");
    Output out = output_file(stream);
    Status status = write_all(a, exporter, &out, &diag);
    fclose(stream);
    if (status != STATUS_OK) cli_diag(&diag);  // what was merely missing is in the list's own notes
    if (status != STATUS_OK && !diag.errors) cli_fail(EXIT_INPUT, "%s: %s", a->path, status_text(status));
    diag_free(&diag);
    int code = status == STATUS_OK ? save(a, text, size) : cli_exit_code(status);
    free(text);
    return code;
}

// Options that need to be seen together; what is refused here is wrong usage.
static int check(AdviseArgs *a, const AdviceExporter *exporter) {
    if (!exporter)
        return cli_fail(EXIT_USAGE, "there is no format `%s`; the formats are text, json and sarif", a->format);
    if (a->list_rules && !strcmp(a->format, "sarif")) return cli_fail(EXIT_USAGE, "--list-rules comes as text or json");
    if (a->force && !a->output) return cli_fail(EXIT_USAGE, "-f needs -o FILE");
    return compile_filter(a);
}

int cmd_advise(int argc, char **argv) {
    static const struct argp argp = {options,
                                     parse,
                                     "FILE.wlp",
                                     "Says what to change in the kernels of a profile made by `warplens run --timing`, "
                                     "best first, and how much faster they should then be.",
                                     NULL,
                                     NULL,
                                     NULL};
    char root[PATH_MAX];
    AdviseArgs a = {.format = "text"};
    a.report = (AdviceReportOptions){
        .demangle = terminal_demangle, .demangle_context = &a.demangled, .root = getcwd(root, sizeof root)};
    int code = cli_parse(&argp, argc, argv, 0, NULL, &a);
    if (code != EXIT_OK) return code;
    const AdviceExporter *exporter = advice_exporter_find(a.format);
    code = check(&a, exporter);
    a.report.path = a.path;
    a.report.width = a.output ? 0 : terminal_width();
    a.report.color = !a.output && terminal_has_colors();
    a.advice.only = a.only.data, a.advice.only_count = a.only.len;
    a.advice.except = a.except.data, a.advice.except_count = a.except.len;
    if (code == EXIT_OK) code = write_advice(&a, exporter);
    if (a.advice.wanted) regfree(&a.filter);
    vec_free(&a.only);
    vec_free(&a.except);
    mem_free(a.demangled);
    return code;
}
