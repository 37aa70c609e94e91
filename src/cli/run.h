// SPDX-License-Identifier: Apache-2.0
// For cmd_run.c: what concerns runs on a GPU, and the program's process.
#ifndef WL_CLI_RUN_H
#define WL_CLI_RUN_H

#include "base/diag.h"

// There is an NVIDIA GPU that this process may use.
bool run_gpu_present(void);
// The exponent of "2^N" (or of the power of two itself, "4096"); 0: neither, or out of bounds.
u32 run_period(const char *text);
// "auto" -> 0, "200us" -> 200000 ns. False: neither, or out of bounds.
bool run_interval(const char *text, u64 *ns);
// Completes the profile of a program that has ended: what the collector leaves for later.
WL_MUST_USE Status run_finish(const char *path, Diag *diag);

// Tries the best pieces of advice of the profile of a program that has run on the simulator (run_try.c); its settings
// are still in the environment. Problems are told on stderr.
enum { RUN_MOST_TRIALS = 64 };
typedef struct RunTry {
    const char *output;
    char **argv;
    u32 most;  // pieces of advice, at most RUN_MOST_TRIALS
    bool quiet;
} RunTry;
void run_try(const RunTry *run);

// Runs argv[0] and waits for its end; returns its exit code, EXIT_SIGNAL + N after signal N, or one of our own after a
// message. *started: the program was executed.
int run_start(char **argv, bool *started);

#endif
