// SPDX-License-Identifier: Apache-2.0
//
// Rule: warp-balance
// Change: the warps of a CTA take every eighth term of the glossary, not 32 neighbouring ones each.
// Why: terms are in order of falling frequency, as an index keeps them, so the first warp had more than three times
// its share of the postings and the other seven waited for it.
#include "../common.h"

constexpr int THREADS = 256, WARPS = THREADS / 32;

// What a shard gives back: its best document and how many documents are worth a second look.
struct Found {
    unsigned score, document, promising;
};

// Which documents belong to a field of knowledge? Those that use the words of its glossary. A CTA has one shard of the
// index and keeps the scores of the shard's documents in shared memory. The postings of term t in that shard are
// postings[start[t]] to postings[start[t + 1] - 1]: the document, and in the low byte how much the term matters in it.
__global__ void search(const unsigned *__restrict__ postings, const int *__restrict__ starts,
                       const unsigned short *__restrict__ weights, int terms, int documents, unsigned promising_from,
                       Found *__restrict__ found) {
    extern __shared__ unsigned scores[];
    __shared__ Found of_warp[WARPS];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int *start = starts + (size_t)blockIdx.x * (terms + 1);
    for (int d = threadIdx.x; d < documents; d += THREADS)
        scores[d] = 0;
    __syncthreads();

#ifdef AFTER
    for (int term = warp; term < terms; term += WARPS) {
#else
    for (int term = warp * terms / WARPS; term < (warp + 1) * terms / WARPS; term++) {
#endif
        const unsigned weight = weights[term];
        const int end = start[term + 1];
        for (int i = start[term] + lane; i < end; i += 32) {
            const unsigned posting = postings[i];
            atomicAdd(&scores[posting >> 8], (posting & 255) * weight);
        }
    }
    __syncthreads();

    Found best = {0, 0, 0};
    for (int d = threadIdx.x; d < documents; d += THREADS) {
        const unsigned score = scores[d];
        best.promising += score >= promising_from;
        if (score > best.score) {
            best.score = score;
            best.document = d;
        }
    }
    const unsigned top = __reduce_max_sync(~0u, best.score);
    const unsigned first = __reduce_min_sync(~0u, best.score == top ? best.document : ~0u);
    const unsigned promising = __reduce_add_sync(~0u, best.promising);
    if (lane == 0)
        of_warp[warp] = {top, first, promising};
    __syncthreads();
    if (threadIdx.x == 0) {
        best = of_warp[0];
        for (int w = 1; w < WARPS; w++) {
            const Found other = of_warp[w];
            if (other.score > best.score || (other.score == best.score && other.document < best.document)) {
                best.score = other.score;
                best.document = other.document;
            }
            best.promising += other.promising;
        }
        found[blockIdx.x] = best;
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "glossaries");
    const int shards = p.small ? 24 : 528, terms = p.small ? 64 : 256, documents = p.small ? 2048 : 24576;
    const unsigned promising_from = p.small ? 10000 : 9000;

    // Zipf: the term of rank r is in about 1 / r as many documents as the first.
    std::vector<int> starts;
    std::vector<unsigned> postings;
    unsigned seed = 1604;
    for (int shard = 0; shard < shards; shard++)
        for (int term = 0; term <= terms; term++) {
            starts.push_back((int)postings.size());
            if (term == terms)
                break;
            const double share = (p.small ? 2.5 : 0.7) / (term + 11);
            const unsigned most = (unsigned)(2 / share) - 1;
            for (unsigned d = lcg_next(&seed, most); d < (unsigned)documents; d += 1 + lcg_next(&seed, most))
                postings.push_back(d << 8 | (1 + (seed >> 5) % 100));
        }
    // Rare words tell more.
    std::vector<unsigned short> weights(terms);
    for (int term = 0; term < terms; term++)
        weights[term] = (unsigned short)(8 * log2(term + 3.0));

    unsigned *d_postings = device_copy_of(postings.data(), postings.size());
    int *d_starts = device_copy_of(starts.data(), starts.size());
    unsigned short *d_weights = device_copy_of(weights.data(), terms);
    Found *d_found = device_array<Found>(shards);
    const int shared = documents * (int)sizeof(unsigned);
    CUDA_CHECK(cudaFuncSetAttribute(search, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
    pair_time(&p, [&] {
        search<<<shards, THREADS, shared>>>(d_postings, d_starts, d_weights, terms, documents, promising_from, d_found);
    });

    std::vector<Found> found = host_copy_of(d_found, shards);
    for (int shard = 0; shard < shards; shard += p.small ? 1 : 7) {
        std::vector<unsigned> scores(documents, 0);
        const int *start = &starts[(size_t)shard * (terms + 1)];
        for (int term = 0; term < terms; term++)
            for (int i = start[term]; i < start[term + 1]; i++)
                scores[postings[i] >> 8] += (postings[i] & 255) * weights[term];
        const size_t best = std::max_element(scores.begin(), scores.end()) - scores.begin();
        const double promising = (double)std::count_if(scores.begin(), scores.end(),
                                                       [&](unsigned score) { return score >= promising_from; });
        pair_near(&p, "score", shard, scores[best], found[shard].score, 0);
        pair_near(&p, "document", shard, (double)best, found[shard].document, 0);
        pair_near(&p, "promising", shard, promising, found[shard].promising, 0);
    }
    return pair_end(&p);
}
