// SPDX-License-Identifier: Apache-2.0
#include "flow/flow_results.h"

Status flow_analyse(const FlowCode *code, Arena *arena, FlowResults *r) {
    *r = (FlowResults){.code = code};
    TRY(flow_cfg(code, arena, &r->cfg));
    TRY(flow_dominators(r->cfg, arena, &r->dominators));
    TRY(flow_postdominators(r->cfg, arena, &r->postdominators));
    TRY(flow_loops(r->cfg, r->dominators, arena, &r->loops));
    TRY(flow_liveness(r->cfg, arena, &r->liveness));
    TRY(flow_pressure(r->liveness, &r->pressure));
    TRY(flow_chains(r->liveness, arena, &r->chains));
    TRY(flow_divergence(r->chains, r->loops, r->postdominators, arena, &r->divergence));
    TRY(flow_affine(r->chains, r->loops, r->divergence, NULL, arena, &r->affine));
    r->written = r->affine;
    flow_trip_counts(r->affine, r->dominators, r->loops);
    return STATUS_OK;
}

Status flow_take_arguments(FlowResults *r, const FlowArguments *arguments, Arena *arena) {
    TRY(flow_affine(r->chains, r->loops, r->divergence, arguments, arena, &r->affine));
    r->arguments = arguments;
    flow_launch_trips(r->affine, r->dominators, r->loops);
    return STATUS_OK;
}
