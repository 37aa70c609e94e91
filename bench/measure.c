// SPDX-License-Identifier: Apache-2.0
// measure COMMAND [ARGS...]: runs it and prints on stderr its last line "seconds user_seconds peak_kB". Small, so that
// the peak is the command's own: what starts a process is part of that process's peak.
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

int main(int argc, char **argv) {
    if (argc < 2) return 2;
    double begin = now();
    pid_t child = fork();
    if (child == 0) {
        execvp(argv[1], argv + 1);
        perror(argv[1]);
        _exit(127);
    }
    int status;
    struct rusage usage;
    if (child < 0 || wait4(child, &status, 0, &usage) < 0) return 125;
    fprintf(stderr, "%.6f %.6f %ld\n", now() - begin,
            (double)usage.ru_utime.tv_sec + (double)usage.ru_utime.tv_usec * 1e-6, usage.ru_maxrss);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
