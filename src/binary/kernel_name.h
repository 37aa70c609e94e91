// SPDX-License-Identifier: Apache-2.0
// From "void ns::mm<4>(float const*, int)" to "ns::mm<4>".
#ifndef WL_BINARY_KERNEL_NAME_H
#define WL_BINARY_KERNEL_NAME_H

#include "base/types.h"

// The part of a demangled signature that is the function's name with its template arguments: no return type, no
// parameters. A text that is no signature comes back whole.
Str kernel_plain_name(const char *signature);

#endif
