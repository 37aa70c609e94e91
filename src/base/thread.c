// SPDX-License-Identifier: Apache-2.0
#include "base/thread.h"

#include <signal.h>

#include "base/types.h"

int thread_start(pthread_t *thread, void *(*run)(void *), void *with) {
    static const int own[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT};
    sigset_t others, before;
    sigfillset(&others);
    for (u32 i = 0; i < WL_COUNT(own); i++) sigdelset(&others, own[i]);
    pthread_sigmask(SIG_SETMASK, &others, &before);
    int error = pthread_create(thread, NULL, run, with);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}
