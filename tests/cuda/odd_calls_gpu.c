// SPDX-License-Identifier: Apache-2.0
// Asks the runtime of a real GPU the odd calls, and prints h200_calls.txt. Built and run by ask_h200.sh, with NVIDIA's
// libcudart and kernels of nvcc (odd_kernels.cu).   odd_calls_gpu FILE
#include <setjmp.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

const void *k_increment(void), *k_bounded(void), *k_trap(void), *k_assert(void), *s_table(void);
#define K_INCREMENT k_increment()
#define K_BOUNDED k_bounded()
#define K_TRAP k_trap()
#define K_ASSERT k_assert()
#define S_TABLE s_table()

static sigjmp_buf crashed;
#define GUARD(statement)            \
    if (sigsetjmp(crashed, 1) == 0) \
        statement;                  \
    else                            \
        fprintf(answers, "crash\n")
#include "odd_state.h"

static void on_crash(int signal_number) {
    (void)signal_number;
    siglongjmp(crashed, 1);
}

static void ask(const char *path, unsigned section) {
    answers = fopen(path, "a");
    if (!answers) _exit(2);
    alarm(20);
    odd_begin();
    signal(SIGSEGV, on_crash);
    signal(SIGABRT, on_crash);
    fprintf(answers, "== %s\n", sections[section].name);
    sections[section].ask();
    fclose(answers);
    _exit(0);
}

int main(int argc, char **argv) {
    if (argc != 2) return 2;
    for (unsigned i = 0; i < sizeof sections / sizeof *sections; i++) {
        pid_t pid = fork();
        int ended = 1;
        if (pid == 0) ask(argv[1], i);
        if (waitpid(pid, &ended, 0) != pid || ended) printf("%s did not end well: %d\n", sections[i].name, ended);
    }
    return 0;
}
