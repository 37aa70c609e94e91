// SPDX-License-Identifier: Apache-2.0
// From "void ns::mm<4>(float const*, int)" to "ns::mm<4>", and which kernels -k means.
#ifndef WL_BINARY_KERNEL_NAME_H
#define WL_BINARY_KERNEL_NAME_H

#include <regex.h>

#include "base/types.h"

// The part of a demangled signature that is the function's name with its template arguments: no return type, no
// parameters. A text that is no signature comes back whole.
Str kernel_plain_name(const char *signature);

// Compiles a POSIX extended regular expression; what "regex:" begins is one, too, as elsewhere. False: `why` says what
// is wrong. What the C library would need endless memory or stack for is refused.
bool kernel_filter_compile(regex_t *filter, const char *pattern, char *why, size_t size);
// Whether the filter matches the mangled name, the signature or the name alone.
bool kernel_name_matches(const regex_t *filter, const char *mangled, const char *signature);
bool kernel_matches(const regex_t *filter, const char *mangled);  // demangles it first

#endif
