// SPDX-License-Identifier: Apache-2.0
// Writing beyond RLIMIT_FSIZE sends SIGXFSZ, which ends the process unless it is blocked. To the program whose process
// the store writes in that must not happen: between hold and release such a write only fails, and nothing stays
// pending.
#ifndef WL_STORE_FILE_LIMIT_H
#define WL_STORE_FILE_LIMIT_H

#include <signal.h>
#include <stdbool.h>

typedef struct FileLimit {
    bool held;      // there is a limit, and the program had not blocked the signal itself
    sigset_t mask;  // of the thread before
} FileLimit;

// Both in the same thread; one call more where files have no limit.
FileLimit file_limit_hold(void);
void file_limit_release(const FileLimit *limit);

#endif
