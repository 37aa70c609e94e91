// SPDX-License-Identifier: Apache-2.0
// warplens ptx: checks, prints and analyses the PTX of a file.
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "binary/binary.h"
#include "binary/demangle.h"
#include "binary/kernel_name.h"
#include "cli/cli.h"
#include "cli/terminal.h"
#include "flow/flow_dump.h"
#include "view/table.h"

typedef struct PtxArgs {
    const char *path;
    bool dump[FLOW_DUMP_COUNT];
    bool dumps, print, check;
    u32 sm;
    bool has_pattern;
    regex_t pattern;
    const char *pattern_text;
    u32 matches;  // functions of all modules whose name matches
    Table overview;
    Arena cells;
} PtxArgs;

enum { OPT_DUMP = 256, OPT_PRINT, OPT_CHECK, OPT_SM };

static const struct argp_option options[] = {
    {"dump", OPT_DUMP, "KIND,..", 0, "print results of static analyses (see below)", 0},
    {"print", OPT_PRINT, NULL, 0, "print the PTX, for an executable as it was linked from its parts", 0},
    {"check", OPT_CHECK, NULL, 0, "only say whether it is valid", 0},
    {"kernel", 'k', "REGEX", 0, "analyse only functions whose name matches, mangled or not; --print prints all of them",
     0},
    {"sm", OPT_SM, "N", 0, "of an executable, the PTX that a device of this compute capability takes (90)", 0},
    {0}};

static void choose_dumps(PtxArgs *a, const char *list, struct argp_state *state) {
    while (*list) {
        size_t len = strcspn(list, ",");
        u32 dump = flow_dump_find((Str){list, len});
        if (dump == WL_NONE) argp_error(state, "there is no dump `%.*s`; --help lists them", (int)len, list);
        if (dump < FLOW_DUMP_COUNT) a->dump[dump] = a->dumps = true;
        list += len + (list[len] == ',');
    }
}

static error_t parse(int key, char *arg, struct argp_state *state) {
    PtxArgs *a = state->input;
    char why[256];
    switch (key) {
    case OPT_DUMP: choose_dumps(a, arg, state); break;
    case OPT_PRINT: a->print = true; break;
    case OPT_CHECK: a->check = true; break;
    case OPT_SM: {
        u64 sm;
        if (!cli_number("--sm", arg, 10, 999, &sm)) exit(EXIT_USAGE);
        a->sm = (u32)sm;
        break;
    }
    case 'k':
        if (a->has_pattern) regfree(&a->pattern);
        a->pattern_text = arg;
        a->has_pattern = kernel_filter_compile(&a->pattern, arg, why, sizeof why);
        if (!a->has_pattern) exit(cli_fail(EXIT_USAGE, "-k `%.200s`: %s", arg, why));
        break;
    case ARGP_KEY_ARG:
        if (a->path) argp_error(state, "one file at a time");
        a->path = arg;
        break;
    case ARGP_KEY_END:
        if (!a->path) argp_error(state, "which file? warplens ptx FILE.ptx or warplens ptx EXECUTABLE");
        break;
    default: return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

// The table of dumps goes below the options of --help.
static char *help_filter(int key, const char *text, void *input) {
    (void)input;
    if (key != ARGP_KEY_HELP_POST_DOC) return (char *)(uintptr_t)text;
    CliRow rows[FLOW_DUMP_COUNT];
    for (u32 i = 0; i < FLOW_DUMP_COUNT; i++)
        rows[i] = (CliRow){flow_dump_name((FlowDump)i), flow_dump_text((FlowDump)i)};
    return cli_help_table("Without an option, one line per function is printed: branches at which a warp\nmay diverge, "
                          "registers live at once. The dumps:",
                          rows, FLOW_DUMP_COUNT);
}

// --- one module ---------------------------------------------------------------------------------------------------

static bool is_wanted(const PtxArgs *a, const char *name) {
    return !a->has_pattern || kernel_matches(&a->pattern, name);
}

static void write_out(TextBuffer *text) {
    if (text->len) fwrite(text->data, 1, text->len, stdout);
    text->len = 0;
}

static const char *number(PtxArgs *a, u32 value) { return arena_printf(&a->cells, "%u", value); }

static void add_overview(PtxArgs *a, const FlowResults *r) {
    const Function *function = &r->code->module->funcs[r->code->func];
    const char *name = module_text(r->code->module, function->name);
    char *demangled = demangle_name(name);
    const char *shown = demangled ? demangled : name;
    table_cell(&a->overview, function->is_entry ? "kernel" : "function");
    table_cell(&a->overview, number(a, r->code->insn_count));
    table_cell(&a->overview, number(a, r->cfg->block_count));
    table_cell(&a->overview, number(a, r->loops->loop_count));
    table_cell(&a->overview, number(a, bitset_count(&r->divergence->branches)));
    table_cell(&a->overview, number(a, r->pressure.units));
    table_cell(&a->overview, arena_copy_str(&a->cells, (Str){shown, strlen(shown)}));
    mem_free(demangled);
}

// "divergent": branches at which lanes of a warp may part; "registers": of 32 bits, that are live at once.
static void begin_overview(PtxArgs *a) {
    static const char *const headers[] = {"instructions", "blocks", "loops", "divergent", "registers"};
    table_column(&a->overview, (TableColumn){.header = "", .align = TABLE_LEFT});
    for (u32 i = 0; i < WL_COUNT(headers); i++) table_column(&a->overview, (TableColumn){.header = headers[i]});
    table_column(&a->overview, (TableColumn){.header = "name", .align = TABLE_LEFT});
}

static Status print_overview(PtxArgs *a) {
    Output out = output_file(stdout);
    if (a->overview.cells.len) table_print(&a->overview, &out, 0, terminal_has_colors());
    table_free(&a->overview);
    arena_free(&a->cells);
    return out.status;
}

static Status analyse_function(PtxArgs *a, const Module *module, FuncRef func, const CallGraph *calls, Arena *arena,
                               TextBuffer *text) {
    FlowCode *code;
    FlowResults results;
    TRY(flow_from_ptx(module, func, arena, &code));
    TRY(flow_analyse(code, arena, &results));
    results.calls = calls;
    if (!a->dumps) add_overview(a, &results);
    for (u32 i = 0; i < FLOW_DUMP_COUNT; i++) {
        if (!a->dump[i]) continue;
        TRY(flow_dump((FlowDump)i, &results, text));
        write_out(text);
    }
    return STATUS_OK;
}

static Status analyse_module(PtxArgs *a, const Module *module, TextBuffer *text) {
    Arena arena = {0}, function_arena = {0};
    CallGraph *calls;
    Status status = flow_callgraph(module, &arena, &calls);
    for (u32 i = 0; i < module->func_count && status == STATUS_OK; i++) {
        const Function *function = &module->funcs[i];
        if (!function->has_body || !is_wanted(a, module_text(module, function->name))) continue;
        a->matches++;
        status = analyse_function(a, module, i, calls, &function_arena, text);
        arena_reset(&function_arena);
    }
    arena_free(&function_arena);
    arena_free(&arena);
    return status;
}

static Status show_module(PtxArgs *a, Str ptx, const char *name, Diag *diag) {
    Module *module;
    TRY(ptx_load(ptx, name, &module, diag));
    TextBuffer text = {0};
    Status status = STATUS_OK;
    if (a->check)
        printf("%s: valid, PTX %u.%u for sm_%u\n", name, module->version / 10, module->version % 10, module->target_sm);
    if (a->print) status = ptx_print(module, &text);
    write_out(&text);
    if (status == STATUS_OK && (a->dumps || !(a->check || a->print))) status = analyse_module(a, module, &text);
    vec_free(&text);
    module_free(module);
    return status;
}

static Status show_images(PtxArgs *a, Diag *diag) {
    BinaryImages images = {0};
    TRY(binary_ptx_from_file(a->path, a->sm, &images, diag));
    Status status = STATUS_OK;
    for (u32 i = 0; i < images.len; i++) {
        const BinaryImage *image = &images.data[i];
        char name[4096];
        snprintf(name, sizeof name, images.len > 1 ? "%s(%s)" : "%s", a->path, image->name);
        Status one = show_module(a, (Str){image->ptx, image->ptx_size}, name, diag);
        if (status == STATUS_OK) status = one;
    }
    binary_images_free(&images);
    return status;
}

// A file without a NUL is PTX text and is taken as it is, for whatever device; others hold their PTX somewhere.
static Status show_file(PtxArgs *a, Diag *diag) {
    FileData file;
    TRY(file_read(a->path, &file, diag));
    bool is_text = !memchr(file.data, 0, file.size);
    Status status = STATUS_OK;
    if (is_text) status = show_module(a, (Str){(const char *)file.data, file.size}, a->path, diag);
    file_release(&file);
    return is_text ? status : show_images(a, diag);
}

int cmd_ptx(int argc, char **argv) {
    static const struct argp argp = {
        options,     parse, "FILE.ptx|EXECUTABLE", "Checks, prints and analyses the PTX of a file.\v", NULL,
        help_filter, NULL};
    PtxArgs a = {.sm = 90};
    int code = cli_parse(&argp, argc, argv, 0, NULL, &a);
    Diag diag = {0};
    if (code == EXIT_OK) {
        begin_overview(&a);
        Status status = show_file(&a, &diag), printed = print_overview(&a);
        if (status == STATUS_OK) status = printed;
        cli_diag(&diag);
        bool analysed = a.dumps || !(a.check || a.print);
        if (status == STATUS_OK && a.has_pattern && analysed && !a.matches) {
            cli_fail(EXIT_INPUT, "%s: no function matches `%s`", a.path, a.pattern_text);
            diag.errors++;
            status = STATUS_NOT_FOUND;
        }
        if (status != STATUS_OK && diag.errors == 0) cli_fail(EXIT_INPUT, "%s: %s", a.path, status_text(status));
        code = status == STATUS_OK ? EXIT_OK : EXIT_INPUT;
    }
    diag_free(&diag);
    if (a.has_pattern) regfree(&a.pattern);
    return code;
}
