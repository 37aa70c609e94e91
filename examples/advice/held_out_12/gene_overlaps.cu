// SPDX-License-Identifier: Apache-2.0
//
// Rule: occupancy-up
// Change: stacks are as deep as the tree needs.
// Why: stacks of 64 places for each thread fill shared memory when less than half of the threads are on an SM.
#include "../common.h"

enum { BLOCK = 128 };

#ifdef AFTER
enum { STACK = 20 };
#else
enum { STACK = 64 };
#endif

struct Gene {
    int start, end, last_end, name;  // last_end: of all genes below this one in the tree
};

// Counts the genes that each sequenced read overlaps. The tree lies level by level: below k are 2k + 1 and 2k + 2.
__global__ void gene_overlaps(const int4 *genes, const int2 *reads, int2 *found, int count) {
    __shared__ int stack[STACK][BLOCK];
    int me = threadIdx.x, i = blockIdx.x * BLOCK + me, depth = 1, overlaps = 0, names = 0;
    int2 read = reads[i];
    stack[0][me] = 0;
    while (depth > 0) {
        int at = stack[--depth][me];
        int4 gene = genes[at];
        if (gene.z < read.x)
            continue;
        if (gene.x <= read.y) {
            if (gene.y >= read.x) {
                overlaps++;
                names ^= gene.w;
            }
            if (2 * at + 2 < count)
                stack[depth++][me] = 2 * at + 2;
        }
        if (2 * at + 1 < count)
            stack[depth++][me] = 2 * at + 1;
    }
    found[i] = make_int2(overlaps, names);
}

static int lay_out(std::vector<Gene> *tree, const std::vector<Gene> &sorted, int at, int next) {
    if (at >= (int)sorted.size())
        return next;
    next = lay_out(tree, sorted, 2 * at + 1, next);
    (*tree)[at] = sorted[next++];
    return lay_out(tree, sorted, 2 * at + 2, next);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "gene_overlaps");
    int count = (p.small ? 1 << 9 : 1 << 17) - 1, n = p.small ? 1 << 10 : 1 << 20;
    unsigned seed = 1, span = (unsigned)count * 100;
    std::vector<Gene> sorted(count), tree(count);
    for (int k = 0; k < count; k++) {
        sorted[k].start = k * 100 + (int)lcg_next(&seed, 90);
        sorted[k].end = sorted[k].last_end = sorted[k].start + 20 + (int)lcg_next(&seed, 200);
        sorted[k].name = (int)lcg_next(&seed, 1 << 20);
    }
    lay_out(&tree, sorted, 0, 0);
    for (int k = count - 1; k > 0; k--)
        tree[(k - 1) / 2].last_end = std::max(tree[(k - 1) / 2].last_end, tree[k].last_end);
    std::vector<int2> reads(n);
    for (int2 &read : reads) {
        read.x = (int)lcg_next(&seed, span);
        read.y = read.x + 75;
    }
    int4 *d_genes = (int4 *)device_copy_of(tree.data(), count);
    int2 *d_reads = device_copy_of(reads.data(), n), *d_found = device_array<int2>(n);
    pair_time(&p, [&] { gene_overlaps<<<n / BLOCK, BLOCK>>>(d_genes, d_reads, d_found, count); });
    std::vector<int2> found = host_copy_of(d_found, n);
    for (int i = 0; i < n; i += p.small ? 11 : 10007) {
        int overlaps = 0, names = 0;
        for (const Gene &gene : sorted)
            if (gene.start <= reads[i].y && gene.end >= reads[i].x) {
                overlaps++;
                names ^= gene.name;
            }
        pair_near(&p, "overlaps", i, overlaps, found[i].x, 0);
        pair_near(&p, "names", i, names, found[i].y, 0);
    }
    return pair_end(&p);
}
