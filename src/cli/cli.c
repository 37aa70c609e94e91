// SPDX-License-Identifier: Apache-2.0
#include "cli/cli.h"

#include <errno.h>
#include <inttypes.h>
#include <libgen.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "binary/demangle.h"

static void show_diag(const Diag *diag, bool readable) {
    char line[8192];
    for (u32 i = 0; i < diag->entries.len; i++) {
        diag_format(&diag->entries.data[i], line, sizeof line);
        char *plain = readable ? demangle_text(line) : NULL;
        fprintf(stderr, "warplens: %s\n", plain ? plain : line);
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

bool cli_number(const char *option, const char *text, u64 least, u64 most, u64 *value) {
    char *end;
    errno = 0;
    u64 number = strtoull(text, &end, 10);
    if (value) *value = number;
    bool whole = *text >= '0' && *text <= '9' && !*end && errno == 0;
    if (whole && number >= least && number <= most) return true;
    if (!whole)
        cli_fail(EXIT_USAGE, "%s takes a whole number, not `%s`", option, text);
    else
        cli_fail(EXIT_USAGE, "%s goes from %" PRIu64 " to %" PRIu64 ", not `%s`", option, least, most, text);
    return false;
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

int cli_parse(const struct argp *argp, int argc, char **argv, unsigned flags, int *rest, void *input) {
    char name[64];
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
