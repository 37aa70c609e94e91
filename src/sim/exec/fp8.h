// SPDX-License-Identifier: Apache-2.0
// Floating-point formats of at most 8 bits, shared by conversions and matrices: e4m3 (no infinities, largest 448), e5m2
// (largest 57344); e2m3 (7.5), e3m2 (28) and e2m1 (6), which have neither infinities nor NaN. PTX ISA 5.2.3.
#ifndef WL_SIM_EXEC_FP8_H
#define WL_SIM_EXEC_FP8_H

#include "base/types.h"
#include "sim/exec.h"

typedef enum Fp8 { FP8_E4M3, FP8_E5M2, FP6_E2M3, FP6_E3M2, FP4_E2M1 } Fp8;

#define fp8_of_f32 SIM_ISA_NAME(fp8_of_f32)
#define fp8_to_f32 SIM_ISA_NAME(fp8_to_f32)

// Nearest even; what is too large becomes the largest finite number (.satfinite), NaN 0x7f, or the largest positive
// number where the format has no NaN.
u8 fp8_of_f32(Fp8 format, f32 value);
f32 fp8_to_f32(Fp8 format, u8 code);

#endif
