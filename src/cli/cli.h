// SPDX-License-Identifier: Apache-2.0
// What the subcommands share. Each is one file cmd_<name>.c and one row of commands.def; argv[0] is the command's name.
// Exit codes: 0 good, 1 a problem with the input or a failed check, 2 wrong usage. `warplens run` passes the program's
// own code on, and has 125 for its own failures, 126 when the program cannot be executed, 127 when there is no such
// program.
#ifndef WL_CLI_CLI_H
#define WL_CLI_CLI_H

#include <argp.h>

#include "base/diag.h"
#include "base/log.h"
#include "gpu/gpu.h"

enum { EXIT_OK = 0, EXIT_INPUT = 1, EXIT_USAGE = 2, EXIT_TOOL = 125, EXIT_NOT_EXECUTABLE = 126, EXIT_NOT_FOUND = 127 };
enum { EXIT_SIGNAL = 128 };  // plus its number: the program was ended by a signal

#define COMMAND(name, function, text) int function(int argc, char **argv);
#include "cli/commands.def"
#undef COMMAND

// Prints all entries on stderr, one line each, "warplens: " before the first.
void cli_diag(const Diag *diag);
void cli_diag_readable(const Diag *diag);  // with kernels' names as in the source
// "warplens <command>: message" on stderr; returns `code`.
int cli_fail(int code, const char *format, ...) WL_PRINTF(2, 3);
// What a command ends with whose work ended so: an argument that only the profile tells to be wrong is wrong usage.
int cli_exit_code(Status status);

// A whole number within bounds; otherwise says so and returns false. `value` may be NULL.
bool cli_number(const char *option, const char *text, u64 least, u64 most, u64 *value);

// A file that belongs to the installation, found from where this executable lies: "lib/libcudart.so.13",
// "share/warplens/gpus". False when there is none.
bool cli_find_file(const char *relative, char *path, size_t size);

// A folder for files that nobody is to see, below $TMPDIR; false: it cannot be made, see errno.
bool cli_make_scratch(char *folder, size_t size);
void cli_remove_scratch(const char *folder);  // with the files in it

// Parses with argp under the name "warplens <argv[0]>". Usage errors exit with EXIT_USAGE.
int cli_parse(const struct argp *argp, int argc, char **argv, unsigned flags, int *rest, void *input);

// A table that goes below the options of --help, as argp's help_filter has to return it (malloc'ed): a sentence, then a
// row a name.
typedef struct CliRow {
    const char *name, *text;
} CliRow;
char *cli_help_table(const char *sentence, const CliRow *rows, u32 count);

// Loads a model by name from the installation's folder, or by path.
Status cli_load_gpu(const char *id, GpuModel *gpu, Diag *diag);

#endif
