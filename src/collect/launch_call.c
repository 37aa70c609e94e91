// SPDX-License-Identifier: Apache-2.0
// The parameters of the driver's functions that launch kernels.
#include "collect/collect_inside.h"

static bool is_extended(u32 cbid) { return cbid == CUPTI_LAUNCH_EX || cbid == CUPTI_LAUNCH_EX_PTSZ; }
static bool is_cooperative(u32 cbid) {
    return cbid == CUPTI_LAUNCH_COOPERATIVE || cbid == CUPTI_LAUNCH_COOPERATIVE_PTSZ;
}

bool launch_is_graph(u32 cbid) { return cbid == CUPTI_LAUNCH_GRAPH || cbid == CUPTI_LAUNCH_GRAPH_PTSZ; }

LaunchGiven launch_given(u32 cbid, const CuptiLaunchParameters *p) {
    if (!p || launch_is_graph(cbid) || cbid == CUPTI_LAUNCH_DEVICES) return (LaunchGiven){0};
    if (is_extended(cbid))
        return (LaunchGiven){.shape = p->ex.config ? &p->ex.config->shape : NULL,
                             .config = p->ex.config,
                             .function = p->ex.function,
                             .arguments = p->ex.arguments,
                             .extra = p->ex.extra};
    return (LaunchGiven){.shape = &p->shape,
                         .function = p->function,
                         .arguments = p->arguments,
                         .extra = is_cooperative(cbid) ? NULL : p->extra};
}
