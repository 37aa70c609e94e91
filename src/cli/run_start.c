// SPDX-License-Identifier: Apache-2.0
// The program's process: started, waited for, and sent the signals that were meant for it.
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/run.h"

// What a shell would have said, had it started the program; like a shell, nothing of an interrupt or a closed pipe.
static void say_signal(int signal) {
    if (isatty(STDERR_FILENO)) fputs("\n", stderr);  // what the program, or its progress line, had begun
    if (signal == SIGINT || signal == SIGPIPE) return;
    fprintf(stderr, "warplens: the program was ended by signal %d (%s)\n", signal, strsignal(signal));
}

static int wait_for(pid_t child) {
    int status;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR) return cli_fail(EXIT_TOOL, "waiting for the program failed: %s", strerror(errno));
    if (WIFEXITED(status)) return WEXITSTATUS(status);
    say_signal(WTERMSIG(status));
    return EXIT_SIGNAL + WTERMSIG(status);
}

static volatile sig_atomic_t running;  // its process, for the handler

static void pass_on(int signal) { kill(running, signal); }

// Who asks warplens to end, and knows nothing of the program, means the program. SIGKILL alone leaves it running.
// `before`: the mask under which both signals come again.
static void pass_signals_on(pid_t child, const sigset_t *before) {
    static const int signals[] = {SIGTERM, SIGHUP};
    running = child;
    for (size_t i = 0; i < WL_COUNT(signals); i++) {
        struct sigaction action;
        if (sigaction(signals[i], NULL, &action) != 0 || action.sa_handler == SIG_IGN) continue;  // nohup
        action = (struct sigaction){.sa_handler = pass_on, .sa_flags = SA_RESTART};
        sigaction(signals[i], &action, NULL);
    }
    sigprocmask(SIG_SETMASK, before, NULL);
}

static sigset_t hold_signals(void) {
    sigset_t held, before;
    sigemptyset(&held);
    sigaddset(&held, SIGTERM);
    sigaddset(&held, SIGHUP);
    sigprocmask(SIG_BLOCK, &held, &before);
    return before;
}

int run_start(char **argv, bool *started) {
    int report[2];
    if (pipe(report) != 0) return cli_fail(EXIT_TOOL, "cannot make a pipe: %s", strerror(errno));
    sigset_t before = hold_signals();
    pid_t child = fork();
    if (child < 0) return cli_fail(EXIT_TOOL, "cannot start a process: %s", strerror(errno));
    if (child == 0) {
        sigprocmask(SIG_SETMASK, &before, NULL);
        close(report[0]);
        // Closed by a successful exec: then the parent reads nothing.
        if (dup3(report[1], 200, O_CLOEXEC) >= 0) close(report[1]), report[1] = 200;
        execvp(argv[0], argv);
        int error = errno;
        ssize_t written = write(report[1], &error, sizeof error);
        _exit(written > 0 ? EXIT_NOT_FOUND : EXIT_TOOL);
    }
    close(report[1]);
    pass_signals_on(child, &before);
    // Interrupts from the terminal reach the program too; we outlive it to pass its code on.
    signal(SIGINT, SIG_IGN);
    signal(SIGQUIT, SIG_IGN);
    int error = 0;
    ssize_t got = read(report[0], &error, sizeof error);
    close(report[0]);
    int code = wait_for(child);
    *started = got != sizeof error;
    if (*started) return code;
    return cli_fail(error == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE, "cannot run `%s`: %s", argv[0],
                    strerror(error));
}
