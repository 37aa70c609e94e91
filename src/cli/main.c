// SPDX-License-Identifier: Apache-2.0
// warplens: finds the subcommand and runs it.
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *text;
} commands[] = {
#define COMMAND(name, function, text) {name, function, text},
#include "cli/commands.def"
#undef COMMAND
};

static void usage(FILE *out) {
    fputs("warplens finds out where a CUDA kernel loses time - on a GPU, or on any machine without one.\n\n"
          "Usage: warplens COMMAND [options]\n\n",
          out);
    for (size_t i = 0; i < WL_COUNT(commands); i++) fprintf(out, "  %-8s %s\n", commands[i].name, commands[i].text);
    fputs("\nBegin with:  warplens run ./app    and then:  warplens report app.1.wlp\n"
          "`warplens COMMAND --help` explains each.\n",
          out);
}

int main(int argc, char **argv) {
    if (argc < 2) {
        usage(stderr);
        return EXIT_USAGE;
    }
    const char *name = argv[1];
    if (!strcmp(name, "--help") || !strcmp(name, "-h") || !strcmp(name, "help")) {
        usage(stdout);
        return EXIT_OK;
    }
    if (!strcmp(name, "--version") || !strcmp(name, "-V")) {
        printf("warplens %s\n", WARPLENS_VERSION);
        return EXIT_OK;
    }
    for (size_t i = 0; i < WL_COUNT(commands); i++)
        if (!strcmp(name, commands[i].name)) return commands[i].run(argc - 1, argv + 1);
    fprintf(stderr, "warplens: there is no command `%s`; `warplens --help` lists them\n", name);
    return EXIT_USAGE;
}
