// SPDX-License-Identifier: Apache-2.0
#include "base/status.h"

static const char *const names[] = {
#define X(name, text) #name,
    STATUS_TABLE(X)
#undef X
};

static const char *const texts[] = {
#define X(name, text) text,
    STATUS_TABLE(X)
#undef X
};

const char *status_name(Status status) { return (u32)status < WL_COUNT(names) ? names[status] : "unknown status"; }

const char *status_text(Status status) { return (u32)status < WL_COUNT(texts) ? texts[status] : "unknown status"; }
