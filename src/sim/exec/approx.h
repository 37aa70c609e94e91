// SPDX-License-Identifier: Apache-2.0
// The approximations of approx.c; selectors of float_div.c hand some of them out.
#ifndef WL_SIM_EXEC_APPROX_H
#define WL_SIM_EXEC_APPROX_H

#include "sim/exec/lanes.h"

#define APPROX_FN(name) SIM_ISA_NAME(approx_##name)
void APPROX_FN(div_f32)(Exec *x, const SimInsn *in, u32 mask);
void APPROX_FN(div_f32_ftz)(Exec *x, const SimInsn *in, u32 mask);
void APPROX_FN(div_full_f32)(Exec *x, const SimInsn *in, u32 mask);
void APPROX_FN(div_full_f32_ftz)(Exec *x, const SimInsn *in, u32 mask);
ExecFn APPROX_FN(contracted_division)(const ExecShape *shape);  // a sum that takes one of these quotients
void APPROX_FN(rcp_f32)(Exec *x, const SimInsn *in, u32 mask);
void APPROX_FN(rcp_f32_ftz)(Exec *x, const SimInsn *in, u32 mask);
void APPROX_FN(rcp_f64)(Exec *x, const SimInsn *in, u32 mask);
void APPROX_FN(sqrt_f32)(Exec *x, const SimInsn *in, u32 mask);
void APPROX_FN(sqrt_f32_ftz)(Exec *x, const SimInsn *in, u32 mask);
void APPROX_FN(rsqrt_f32)(Exec *x, const SimInsn *in, u32 mask);
void APPROX_FN(rsqrt_f32_ftz)(Exec *x, const SimInsn *in, u32 mask);
void APPROX_FN(rsqrt_f64_ftz)(Exec *x, const SimInsn *in, u32 mask);
void APPROX_FN(sin_f32)(Exec *x, const SimInsn *in, u32 mask);
void APPROX_FN(cos_f32)(Exec *x, const SimInsn *in, u32 mask);
void APPROX_FN(tanh_f32)(Exec *x, const SimInsn *in, u32 mask);
void APPROX_FN(lg2_f32)(Exec *x, const SimInsn *in, u32 mask);
void APPROX_FN(lg2_f32_ftz)(Exec *x, const SimInsn *in, u32 mask);
void APPROX_FN(ex2_f32)(Exec *x, const SimInsn *in, u32 mask);
void APPROX_FN(ex2_f32_ftz)(Exec *x, const SimInsn *in, u32 mask);

#endif
