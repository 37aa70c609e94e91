// SPDX-License-Identifier: Apache-2.0
#include "store/file_limit.h"

#include <pthread.h>
#include <sys/resource.h>
#include <time.h>

static sigset_t the_signal(void) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGXFSZ);
    return set;
}

FileLimit file_limit_hold(void) {
    FileLimit limit = {0};
    struct rlimit sizes;
    if (getrlimit(RLIMIT_FSIZE, &sizes) != 0 || sizes.rlim_cur == RLIM_INFINITY) return limit;
    sigset_t set = the_signal();
    limit.held = pthread_sigmask(SIG_BLOCK, &set, &limit.mask) == 0 && !sigismember(&limit.mask, SIGXFSZ);
    return limit;
}

void file_limit_release(const FileLimit *limit) {
    if (!limit->held) return;
    sigset_t set = the_signal();
    const struct timespec now = {0};
    while (sigtimedwait(&set, NULL, &now) == SIGXFSZ) continue;
    pthread_sigmask(SIG_SETMASK, &limit->mask, NULL);
}
