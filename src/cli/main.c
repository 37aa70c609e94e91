// SPDX-License-Identifier: Apache-2.0
// warplens: finds the subcommand and runs it.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/near.h"
#include "cli/cli.h"
#include "store/store.h"

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
    fputs("warplens tells what to change in the kernels of a CUDA program, and what they did, line by line; no GPU "
          "needed.\n\n"
          "Usage: warplens COMMAND [options]\n\n",
          out);
    for (size_t i = 0; i < WL_COUNT(commands); i++) fprintf(out, "  %-8s %s\n", commands[i].name, commands[i].text);
    fputs("\nBegin with:  warplens run --timing ./app    and then:  warplens advise app.1.wlp\n"
          "`warplens COMMAND --help` explains each.\n",
          out);
}

// What was printed must not be lost in silence, whoever ends the process.
static void finish_output(void) {
    if (fflush(stdout) == 0 && !ferror(stdout)) return;
    cli_fail(EXIT_INPUT, "standard output could not be written: %s", errno ? strerror(errno) : "input/output error");
    _exit(EXIT_INPUT);
}

static int run_command(int argc, char **argv) {
    Near near = {.word = argv[0]};
    for (size_t i = 0; i < WL_COUNT(commands); i++) {
        if (!strcmp(argv[0], commands[i].name)) return commands[i].run(argc, argv);
        near_try(&near, commands[i].name);
    }
    const char *meant = near_result(&near);
    return cli_fail(EXIT_USAGE, "there is no command `%s`%s%s%s `warplens --help` lists them", argv[0],
                    meant ? "; did you mean `" : ";", meant ? meant : "", meant ? "`?" : "");
}

int main(int argc, char **argv) {
    if (argc < 2) {
        usage(stderr);
        return EXIT_USAGE;
    }
    atexit(finish_output);
    store_own_process();
    const char *name = argv[1];
    bool help = !strcmp(name, "help");
    if (help && argc > 2) return run_command(2, (char *[]){argv[2], (char[]){"--help"}, NULL});
    if (help || !strcmp(name, "--help") || !strcmp(name, "-h")) {
        usage(stdout);
        return EXIT_OK;
    }
    if (!strcmp(name, "--version") || !strcmp(name, "-V")) {
        printf("warplens %s\n", WARPLENS_VERSION);
        return EXIT_OK;
    }
    return run_command(argc - 1, argv + 1);
}
