// SPDX-License-Identifier: Apache-2.0
// C++ names of kernels for people. Results are heap strings (mem_free); NULL only when memory is out. A name that is
// not mangled, too long or too deeply nested comes back as it is. Thread-safe.
#ifndef WL_BINARY_DEMANGLE_H
#define WL_BINARY_DEMANGLE_H

#include "base/types.h"

#define DEMANGLE_MAX_INPUT 32768u     // longer names are not demangled
#define DEMANGLE_MAX_OUTPUT 1048576u  // nor those whose readable form is longer

char *demangle_name(const char *mangled);   // "void ns::kernel<float, 4>(float const*, int)"
char *demangle_short(const char *mangled);  // "ns::kernel<float, 4>"
// A message with the short form of every mangled name in it, cut where that is very long.
char *demangle_text(const char *message);

#endif
