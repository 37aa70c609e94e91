// SPDX-License-Identifier: Apache-2.0
// Which SMs form a GPC. SMs are numbered in the order in which the CTAs of a large grid come to them (an H200:
// bench/hwref/h200-places.tsv): what is in no whole GPC and GPCs of 8 first, as one, then those of 16, then of 18.
#ifndef WL_SIM_GPC_H
#define WL_SIM_GPC_H

#include "gpu/gpu.h"

// 0: the model does not say.
u32 gpc_count(const GpuModel *gpu);
// Below gpc_count; 0 when the model does not say.
u32 gpc_of(const GpuModel *gpu, u32 sm);

// The SM that CTA `cta` of a grid of `ctas`, fewer than there are SMs, is given to on an idle GPU: SMs that are in no
// whole GPC come first, then GPCs take turns while they have a TPC without a CTA, then an SM; neighbours stay together.
// What cluster_size allows is not asked for. WL_NONE when the model does not say.
u32 gpc_place(const GpuModel *gpu, u32 cta, u32 ctas);

#endif
