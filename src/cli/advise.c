// SPDX-License-Identifier: Apache-2.0
#include "cli/advise.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/shell.h"
#include "cli/cli.h"
#include "cli/terminal.h"

enum { BRIEF_KERNELS = 8, BRIEF_SECONDS = 5 };
static const char prefix[] = "warplens: ";

static Status make(Profile *profile, const AdviceOptions *options, KernelViews **views, Arena *arena, AdviceList **list,
                   Diag *diag) {
    char folder[PATH_MAX] = "";
    KernelViewOptions view_options = {0};
    if (cli_find_file("share/warplens/gpus", folder, sizeof folder)) view_options.gpu_folder = folder;
    TRY(kernel_views_open(profile, &view_options, views, diag));
    return advice_make(profile, *views, options, arena, list, diag);
}

Status advise_profile(const char *path, const AdviceOptions *options, const AdviceExporter *exporter,
                      const AdviceReportOptions *report, Output *out, Diag *diag) {
    Profile *profile;
    KernelViews *views = NULL;
    AdviceList *list = NULL;
    Arena arena = {0};
    TRY(profile_open(path, &profile, diag));
    Status status = make(profile, options, &views, &arena, &list, diag);
    if (status == STATUS_OK)
        status = exporter ? advice_report_write(profile, list, exporter, report, out, diag)
                          : advice_report_brief(profile, list, report, prefix, out, diag);
    const char *word = shell_word(&arena, path);
    if (!word) status = STATUS_NO_MEMORY;
    if (status == STATUS_OK && !exporter && list->kernel_count && !report->alone)
        output_printf(out, "%s`warplens advise %s` says why and how\n", prefix, word);
    arena_free(&arena);
    kernel_views_close(views);
    profile_close(profile);
    return status;
}

Status advise_each(const char *path, AdviseUse *use, void *context, Diag *diag) {
    Profile *profile;
    KernelViews *views = NULL;
    AdviceList *list = NULL;
    Arena arena = {0};
    TRY(profile_open(path, &profile, diag));
    AdviceOptions options = {.most_kernels = BRIEF_KERNELS};
    Status status = make(profile, &options, &views, &arena, &list, diag);
    if (status == STATUS_OK) status = use(profile, list, context, diag);
    arena_free(&arena);
    kernel_views_close(views);
    profile_close(profile);
    return status;
}

// Everything is made before the first word is printed: advice comes whole or not at all.
static void print_brief(const char *path, bool kept) {
    char *demangled = NULL, *text = NULL, root[PATH_MAX];
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    if (!stream) return;
    Output out = output_file(stream);
    AdviceOptions options = {.most_kernels = BRIEF_KERNELS};
    AdviceReportOptions report = {.demangle = terminal_demangle,
                                  .demangle_context = &demangled,
                                  .root = getcwd(root, sizeof root),
                                  .alone = !kept};
    Status status = advise_profile(path, &options, NULL, &report, &out, NULL);
    fclose(stream);
    if (status == STATUS_OK) fwrite(text, 1, size, stderr);
    free(text);
    mem_free(demangled);
}

void advise_briefly(const char *path, bool kept) {
    fflush(NULL);
    pid_t child = fork();
    if (child < 0) return;
    if (child == 0) {
        signal(SIGINT, SIG_DFL);  // `run` itself ignores it
        alarm(BRIEF_SECONDS);
        print_brief(path, kept);
        _exit(EXIT_OK);
    }
    waitpid(child, NULL, 0);
}
