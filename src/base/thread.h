// SPDX-License-Identifier: Apache-2.0
// Threads of ours in a program that is not ours.
#ifndef WL_BASE_THREAD_H
#define WL_BASE_THREAD_H

#include <pthread.h>

// Starts a thread to which the kernel gives none of the program's signals: their handlers run on the program's own
// threads. Signals of what the thread itself does wrong (SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT) are
// left: where they are blocked, the kernel ends the process without asking the program's handlers. Threads that it
// starts in turn inherit this. Returns what pthread_create() does.
int thread_start(pthread_t *thread, void *(*run)(void *), void *with);

#endif
