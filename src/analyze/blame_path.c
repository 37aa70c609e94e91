// SPDX-License-Identifier: Apache-2.0
// How far apart two instructions are, in machine instructions issued, and what lies on every way from one to the other.
// Lengths go from the end of one block to all others in two sweeps over the blocks in reverse post-order: along forward
// edges, then once more from where an edge led back. No way takes two edges back.
#include <math.h>

#include "analyze/blame_inside.h"

enum { SEARCH_LIMIT = 512 };  // blocks looked at to prove that there is no way around

Status blame_path_init(Blamer *b) {
    PathFinder *p = &b->paths;
    u32 count = b->flow->cfg->block_count + 1;
    p->from = WL_NONE;
    for (u32 k = 0; k < 2; k++) {
        p->least[k] = ARENA_ARRAY(&b->scratch, f32, count);
        p->most[k] = ARENA_ARRAY(&b->scratch, f32, count);
        if (!p->least[k] || !p->most[k]) return STATUS_NO_MEMORY;
    }
    p->queue = ARENA_ARRAY(&b->scratch, u32, count);
    p->stamp = ARENA_ARRAY(&b->scratch, u32, count);
    return p->queue && p->stamp ? STATUS_OK : STATUS_NO_MEMORY;
}

static void reach(PathFinder *p, u32 sweep, u32 block, f32 least, f32 most) {
    bool first = p->least[sweep][block] < 0;
    if (first || least < p->least[sweep][block]) p->least[sweep][block] = least;
    if (first || most > p->most[sweep][block]) p->most[sweep][block] = most;
}

static void reach_succs(const Blamer *b, PathFinder *p, u32 sweep, u32 block, f32 least, f32 most) {
    const Cfg *cfg = b->flow->cfg;
    const FlowBlock *from = &cfg->blocks[block];
    for (u32 s = 0; s < from->succ_count; s++) {
        u32 to = cfg->edges[from->succs + s];
        bool back = cfg->rpo_index[to] <= cfg->rpo_index[block];
        if (!back) reach(p, sweep, to, least, most);
        if (back && sweep == 0) reach(p, 1, to, least, most);
    }
}

static void sweep_from(Blamer *b, u32 from) {
    PathFinder *p = &b->paths;
    const Cfg *cfg = b->flow->cfg;
    for (u32 i = 0; i < cfg->block_count; i++) p->least[0][i] = p->least[1][i] = -1;
    p->from = from;
    reach_succs(b, p, 0, from, 0, 0);
    for (u32 sweep = 0; sweep < 2; sweep++) {
        for (u32 i = sweep ? 0 : cfg->rpo_index[from] + 1; i < cfg->rpo_count; i++) {
            u32 block = cfg->rpo[i];
            if (p->least[sweep][block] < 0) continue;
            f32 length = b->block_length[block];
            reach_succs(b, p, sweep, block, p->least[sweep][block] + length, p->most[sweep][block] + length);
        }
    }
}

// Blocks that the machine has made one of stand in each other: a way forward is no longer than what lies between.
static PathLength by_place(const Blamer *b, u32 def, u32 use, PathLength length) {
    const f64 *place = b->view->place;
    if (!place || place[use] <= place[def]) return length;
    f64 between = place[use] - place[def] - ((f64)b->insns[use].steps + (f64)b->insns[def].steps) / 2 + 1;
    f32 bound = (f32)fmax(between, 1);
    return (PathLength){fminf(length.least, bound), fminf(length.most, bound), true};
}

PathLength blame_path_in_block(const Blamer *b, u32 def, u32 use) {
    f32 length = b->before[use] - b->before[def] - b->insns[def].steps + 1;
    return (PathLength){length > 1 ? length : 1, length > 1 ? length : 1, true};
}

PathLength blame_path(Blamer *b, u32 def, u32 use) {
    const Cfg *cfg = b->flow->cfg;
    u32 from = cfg->block_of[def], to = cfg->block_of[use];
    if (from == to && def < use) return blame_path_in_block(b, def, use);
    if (!cfg->blocks[from].reachable || !cfg->blocks[to].reachable) return (PathLength){0};
    if (b->paths.from != from) sweep_from(b, from);
    PathFinder *p = &b->paths;
    u32 sweep = p->least[0][to] >= 0 && from != to ? 0 : 1;
    if (p->least[sweep][to] < 0) return (PathLength){0};
    f32 ends = b->block_length[from] - b->before[def] - b->insns[def].steps + b->before[use] + 1;
    PathLength length = {p->least[sweep][to] + ends, p->most[sweep][to] + ends, true};
    return sweep == 0 ? by_place(b, def, use, length) : length;
}

// A way from the end of block `from` to the begin of `to` that does not enter `avoided`; true also when it was not
// found out.
static bool has_way_around(Blamer *b, u32 from, u32 to, u32 avoided) {
    PathFinder *p = &b->paths;
    const Cfg *cfg = b->flow->cfg;
    u32 round = ++p->round, head = 0, tail = 0;
    for (u32 block = from;; block = p->queue[head++]) {
        const FlowBlock *at = &cfg->blocks[block];
        for (u32 s = 0; s < at->succ_count; s++) {
            u32 next = cfg->edges[at->succs + s];
            if (next == avoided || p->stamp[next] == round) continue;
            if (next == to || tail >= SEARCH_LIMIT) return true;
            p->stamp[next] = round;
            p->queue[tail++] = next;
        }
        if (head == tail) return false;
    }
}

// Whether the machine issues `a` before `c`, both of one block.
static bool is_before(const Blamer *b, u32 a, u32 c) {
    return b->before[a] < b->before[c] || (b->before[a] == b->before[c] && a < c);
}

bool blame_on_every_path(Blamer *b, u32 def, u32 between, u32 use) {
    const FlowResults *f = b->flow;
    u32 d = f->cfg->block_of[def], k = f->cfg->block_of[between], u = f->cfg->block_of[use];
    if (between == use || between == def) return false;
    bool straight = d == u && def < use;
    if (straight) return k == d && between > def && is_before(b, between, use);
    if (k == u && is_before(b, between, use)) return true;  // entered from above
    if (k == d && between > def) return true;
    if (k == u || k == d) return false;
    if (!f->cfg->blocks[k].reachable) return false;
    bool above = dom_dominates(f->dominators, k, u), below = dom_dominates(f->postdominators, k, d);
    if (!above && !below) return false;
    if (above && !dom_dominates(f->dominators, k, d)) return true;
    if (below && !dom_dominates(f->postdominators, k, u)) return true;
    return !has_way_around(b, d, u, k);
}
