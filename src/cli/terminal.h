// SPDX-License-Identifier: Apache-2.0
// The terminal that stdout goes to, and kernels' names for it.
#ifndef WL_CLI_TERMINAL_H
#define WL_CLI_TERMINAL_H

#include "base/types.h"

u32 terminal_width(void);  // columns; 0 = not known
bool terminal_is_utf8(void);
bool terminal_has_colors(void);

// For ReportOptions.demangle and its like; `context` is a char * that is NULL at first and that the caller frees with
// mem_free.
const char *terminal_demangle(void *context, const char *mangled);

#endif
