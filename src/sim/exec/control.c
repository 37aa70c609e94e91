// SPDX-License-Identifier: Apache-2.0
// Instructions that the warp loop itself carries out (warp.c, barrier.c): they are executable and have no function.
#include "sim/exec.h"

#define IN_THE_LOOP(name) \
    EXEC_SELECT(name) { return (void)shape, (void)in, NULL; }

IN_THE_LOOP(bra)
IN_THE_LOOP(brx)
IN_THE_LOOP(call)
IN_THE_LOOP(ret)
IN_THE_LOOP(exit)
IN_THE_LOOP(trap)
IN_THE_LOOP(bar_sync)
IN_THE_LOOP(bar_arrive)
IN_THE_LOOP(bar_red)
IN_THE_LOOP(bar_warp_sync)
IN_THE_LOOP(barrier_cluster_arrive)
IN_THE_LOOP(barrier_cluster_wait)
