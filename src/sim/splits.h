// SPDX-License-Identifier: Apache-2.0
// Shared by warp.c and splits.c: how lanes of a warp part and meet. Frames and convergence points count who names them.
#ifndef WL_SIM_SPLITS_H
#define WL_SIM_SPLITS_H

#include "sim/warp.h"

// WL_NONE: no memory.
u32 frame_new(Warp *w, Frame frame);
void frame_release(Warp *w, u32 at);

// A point at `pc` of `frame` under `parent`; takes over one reference to `parent`, adds one to `frame`. refs starts at
// 0. WL_NONE: no memory.
u32 conv_new(Warp *w, Conv conv);
void conv_release(Warp *w, u32 at);
// Lanes leave for good (exit, or a return past inner points): nobody waits for them below `until`.
void conv_forget(Warp *w, u32 conv, u32 until, u32 lanes);

// A new split that shares frame and convergence point with `like`.
Split *split_add(Warp *w, Split like);
void split_remove(Warp *w, u32 at);
// Lanes of the warp's one split part: from now on there is room for a split of each lane. Where the split is; NULL: no
// memory.
Split *splits_part(Warp *w);

// Splits `s` in two at a divergent branch: `taken` lanes go to `target`, the rest stay in `s` at `fall`. False: no
// memory.
bool split_diverge(const Exec *x, Warp *w, Split *s, u32 taken, u32 target, u32 fall, const SimInsn *in);
// The split waits for the rest where it stands at a convergence point, or goes on, if it was the last. True when the
// set of splits has changed.
bool split_arrive(const Exec *x, Warp *w, u32 at, const SimInsn *in);
// Lets lanes that wait at the innermost point of some blocked or spinning split go on without the others (Volta and
// later). Whether there were any.
bool warp_let_go(Warp *w, const Split *s);
// YIELD: nobody waits for these lanes any more, but at the return of a call.
void leave_meetings(Warp *w, Split *s);

#endif
