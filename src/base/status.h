// SPDX-License-Identifier: Apache-2.0
// What a fallible function returns. Details of bad input go to a Diag list (diag.h), never into a Status.
#ifndef WL_BASE_STATUS_H
#define WL_BASE_STATUS_H

#include "base/types.h"

// name, text for people
#define STATUS_TABLE(X)                                                 \
    X(OK, "ok")                                                         \
    X(NO_MEMORY, "out of memory")                                       \
    X(INVALID, "invalid argument or input")                             \
    X(FORMAT, "damaged or malformed file")                              \
    X(VERSION, "written by a newer version")                            \
    X(UNSUPPORTED, "not supported")                                     \
    X(NOT_FOUND, "not found")                                           \
    X(EXISTS, "already exists")                                         \
    X(IO, "input/output error")                                         \
    X(NO_SPACE, "the disk is full, or a limit on files is reached")     \
    X(LIMIT, "a limit was exceeded")                                    \
    X(FAULT, "the simulated program made an invalid access or trapped") \
    X(DEADLOCK, "the simulated program cannot make progress")           \
    X(CANCELLED, "cancelled")

typedef enum Status {
#define X(name, text) STATUS_##name,
    STATUS_TABLE(X)
#undef X
} Status;

// The name ("NO_MEMORY") and the text of a status; "unknown status" outside the table.
const char *status_name(Status status);
const char *status_text(Status status);

// Returns from the calling function when `expression` is not STATUS_OK.
#define TRY(expression)                                                \
    do {                                                               \
        Status try_status_ = (expression);                             \
        if (WL_UNLIKELY(try_status_ != STATUS_OK)) return try_status_; \
    } while (0)

#endif
