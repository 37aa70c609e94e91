// SPDX-License-Identifier: Apache-2.0
#include "cli/cli.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/near.h"
#include "binary/demangle.h"
#include "view/utf8.h"
#include "view/wrap.h"

// What a damaged file holds must not reach the terminal as it is.
static void show_lines(const char *text) {
    Arena arena = {0};
    for (size_t size; size = strcspn(text, "\n"), true; text += size + 1) {
        const char *clean = utf8_clean(&arena, (Str){text, size}, true);
        fprintf(stderr, "%s\n", clean ? clean : "...");
        if (!text[size]) break;
    }
    arena_free(&arena);
}

static void show_diag(const Diag *diag, bool readable) {
    char line[8192];
    for (u32 i = 0; i < diag->entries.len; i++) {
        diag_format(&diag->entries.data[i], line, sizeof line);
        char *plain = readable ? demangle_text(line) : NULL;
        fputs("warplens: ", stderr);
        show_lines(plain ? plain : line);
        mem_free(plain);
    }
    if (diag->dropped) fprintf(stderr, "warplens: ... and %u more\n", diag->dropped);
}

void cli_diag(const Diag *diag) { show_diag(diag, false); }
void cli_diag_readable(const Diag *diag) { show_diag(diag, true); }

int cli_fail(int code, const char *format, ...) {
    va_list args;
    va_start(args, format);
    fputs("warplens: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    return code;
}

int cli_exit_code(Status status) {
    if (status == STATUS_OK) return EXIT_OK;
    return status == STATUS_INVALID ? EXIT_USAGE : EXIT_INPUT;
}

bool cli_number(const char *option, const char *text, u64 least, u64 most, u64 *value) {
    char *end;
    errno = 0;
    u64 number = strtoull(text, &end, 10);
    if (value) *value = number;
    bool whole = *text >= '0' && *text <= '9' && !*end && errno == 0;
    if (whole && number >= least && number <= most) return true;
    if (!whole && errno != ERANGE)
        cli_fail(EXIT_USAGE, "%s takes a whole number, not `%s`", option, text);
    else
        cli_fail(EXIT_USAGE, "%s goes from %" PRIu64 " to %" PRIu64 ", not `%s`", option, least, most, text);
    return false;
}

bool cli_make_scratch(char *folder, size_t size) {
    const char *below = getenv("TMPDIR");
    snprintf(folder, size, "%s/warplens.XXXXXX", below && *below ? below : "/tmp");
    return mkdtemp(folder) != NULL;
}

void cli_remove_scratch(const char *folder) {
    DIR *opened = opendir(folder);
    for (const struct dirent *entry; opened && (entry = readdir(opened));)
        if (*entry->d_name != '.') unlinkat(dirfd(opened), entry->d_name, 0);
    if (opened) closedir(opened);
    rmdir(folder);
}

bool cli_find_file(const char *relative, char *path, size_t size) {
    char self[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    if (n <= 0) return false;
    self[n] = 0;
    const char *root = dirname(dirname(self));
    // Beside a build the libraries are in lib/, in an installation in lib/warplens/.
    const char *below = strncmp(relative, "lib/", 4) ? NULL : relative + 4;
    if (below) {
        snprintf(path, size, "%s/lib/warplens/%s", root, below);
        if (access(path, R_OK) == 0) return true;
    }
    snprintf(path, size, "%s/%s", root, relative);
    return access(path, R_OK) == 0;
}

// -h, which argp does not have.
static error_t parse_help(int key, char *arg, struct argp_state *state) {
    (void)arg;
    if (key != 'h') return ARGP_ERR_UNKNOWN;
    argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
    return 0;
}

// Headings of groups have neither name nor key.
static bool is_end(const struct argp_option *o) { return !o->name && !o->key && !o->doc; }

// The option of this name or, as getopt_long allows, this beginning of its name. `options` may be NULL.
static const struct argp_option *find_option(const struct argp_option *options, const char *word, Near *near) {
    const struct argp_option *found = NULL;
    for (const struct argp_option *o = options; o && !is_end(o); o++) {
        if (!o->name) continue;
        if (!found && !strncmp(o->name, word, strlen(word))) found = o;
        near_try(near, o->name);
    }
    return found;
}

// True: the option has its value in the next argument. `letters`: "fo" of "-fo".
static bool short_takes_next(const struct argp_option *options, const char *letters) {
    for (; *letters; letters++)
        for (const struct argp_option *o = options; o && !is_end(o); o++)
            if (o->key == *letters && o->arg && !(o->flags & OPTION_ARG_OPTIONAL)) return !letters[1];
    return false;
}

// False, after saying which one was probably meant: there is no such option. `word`: without dashes and value.
static bool check_long(const struct argp *argp, const char *command, const char *word,
                       const struct argp_option **option) {
    static const struct argp_option own[] = {{"help", 0, NULL, 0, NULL, 0}, {"usage", 0, NULL, 0, NULL, 0}, {0}};
    Near near = {.word = word};
    *option = find_option(argp->options, word, &near);
    if (*option || find_option(own, word, &near)) return true;
    const char *meant = near_result(&near);
    cli_fail(EXIT_USAGE, "%s has no option `--%s`%s%s%s `warplens %s --help` lists them", command, word,
             meant ? "; did you mean `--" : ";", meant ? meant : "", meant ? "`?" : "", command);
    return false;
}

// Before argp, which does not say what was meant. Values of options and what follows "--" are passed over.
static bool check_options(const struct argp *argp, int argc, char **argv, unsigned flags) {
    for (int i = 1; i < argc && strcmp(argv[i], "--"); i++) {
        const char *arg = argv[i];
        char word[64];
        const struct argp_option *option;
        if (arg[0] != '-' || !arg[1]) {
            if (flags & ARGP_IN_ORDER) return true;
        } else if (arg[1] != '-') {
            i += short_takes_next(argp->options, arg + 1);
        } else {
            snprintf(word, sizeof word, "%.*s", (int)strcspn(arg + 2, "="), arg + 2);
            if (!check_long(argp, argv[0], word, &option)) return false;
            i += option && option->arg && !(option->flags & OPTION_ARG_OPTIONAL) && !strchr(arg, '=');
        }
    }
    return true;
}

int cli_parse(const struct argp *argp, int argc, char **argv, unsigned flags, int *rest, void *input) {
    char name[64];
    if (!check_options(argp, argc, argv, flags)) return EXIT_USAGE;
    snprintf(name, sizeof name, "warplens %s", argv[0]);
    char *command = argv[0];
    argv[0] = name;
    argp_err_exit_status = EXIT_USAGE;
    static const struct argp_option help_option[] = {{NULL, 'h', NULL, OPTION_HIDDEN, NULL, -1}, {0}};
    static const struct argp help = {help_option, parse_help, NULL, NULL, NULL, NULL, NULL};
    static const struct argp_child children[] = {{&help, 0, NULL, 0}, {0}};
    struct argp with_help = *argp;
    with_help.children = children;
    int error = argp_parse(&with_help, argc, argv, flags, rest, input);
    argv[0] = command;
    return error ? EXIT_USAGE : EXIT_OK;
}

char *cli_help_table(const char *sentence, const CliRow *rows, u32 count) {
    enum { NAME = 11, INDENT = NAME + 3, WIDTH = 77 };
    char *help = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&help, &size);
    if (!stream) return NULL;
    Output out = output_file(stream);
    output_printf(&out, "%s\n", sentence);
    for (u32 i = 0; i < count; i++) {
        output_printf(&out, "  %-*s ", NAME, rows[i].name);
        wrap_text(&out, rows[i].text, INDENT, WIDTH);
    }
    fclose(stream);
    return help;
}

// Adds which models there are to the message that one is not.
static void name_models(const char *folder, Diag *diag) {
    char **ids, names[512] = "";
    u32 count;
    Diag unused = {0};
    if (gpu_list(folder, &ids, &count, &unused) == STATUS_OK && diag->entries.len) {
        for (u32 i = 0; i < count; i++)
            snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", i ? ", " : "", ids[i]);
        gpu_list_free(ids, count);
        DiagEntry *last = &diag->entries.data[diag->entries.len - 1];
        const char *text = arena_printf(&diag->arena, "%s; there are %s", last->text, names);
        if (text) last->text = text;
    }
    diag_free(&unused);
}

Status cli_load_gpu(const char *id, GpuModel *gpu, Diag *diag) {
    char folder[PATH_MAX] = "";
    if (!cli_find_file("share/warplens/gpus", folder, sizeof folder) && !strchr(id, '/')) {
        diag_text(diag, DIAG_ERROR, NULL, 0, 0,
                  "the folder share/warplens/gpus with the GPU models is missing from this installation");
        return STATUS_NOT_FOUND;
    }
    Status status = gpu_load(folder, id, gpu, diag);
    if (status == STATUS_NOT_FOUND) name_models(folder, diag);
    return status;
}
