// SPDX-License-Identifier: Apache-2.0
// Numbers as text, in any locale with a decimal point.
#ifndef WL_VIEW_NUMBER_H
#define WL_VIEW_NUMBER_H

#include "base/types.h"

typedef struct NumberText {
    char text[32];
} NumberText;

NumberText number_exact(f64 value);              // 1234567, 0.125; "" when not finite
NumberText number_human(f64 value);              // 1234, 12.3 k, 1.20 M
NumberText number_fixed(f64 value, u32 digits);  // 12.5
NumberText number_time(f64 ns);                  // 1.24 s, 3.10 ms; "-" when it can be no time
NumberText number_bytes(u64 bytes);              // 512 B, 1.50 MiB

#endif
