// SPDX-License-Identifier: Apache-2.0
// The 8-bit floating-point formats e4m3 (no infinities, largest 448) and e5m2 (largest 57344), shared by conversions
// and matrices.
#ifndef WL_SIM_EXEC_FP8_H
#define WL_SIM_EXEC_FP8_H

#include "base/types.h"
#include "sim/exec.h"

typedef enum Fp8 { FP8_E4M3, FP8_E5M2 } Fp8;

#define fp8_of_f32 SIM_ISA_NAME(fp8_of_f32)
#define fp8_to_f32 SIM_ISA_NAME(fp8_to_f32)

// Nearest even; what is too large becomes the largest finite number (.satfinite), NaN 0x7f.
u8 fp8_of_f32(Fp8 format, f32 value);
f32 fp8_to_f32(Fp8 format, u8 code);

#endif
