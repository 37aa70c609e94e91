// SPDX-License-Identifier: Apache-2.0
//
// Rule: indirect-addressing
// Change: a table from word form to concept, made once, is looked up instead of form to lemma to synset to concept.
// Why: three dependent loads from large tables, each some hundreds of cycles, become one.
#include "../common.h"

enum { BLOCK = 128 };

struct Lexicon {
    const int *lemma_of_form, *synset_of_lemma, *concept_of_synset;
    const int *concept_of_form;  // the three above, one after the other
};

// A warp scores one document: the mean weight, for the present query, of the concepts that its words stand for.
__global__ void __launch_bounds__(BLOCK)
    synonyms(const int *__restrict__ words, const int *__restrict__ starts, Lexicon lexicon,
             const float *__restrict__ weights, float *__restrict__ scores, int documents) {
    int document = (blockIdx.x * BLOCK + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (document >= documents)
        return;
    int begin = starts[document], end = starts[document + 1];
    float sum = 0;
    for (int i = begin + lane; i < end; i += 32) {
        int form = words[i];
#ifdef AFTER
        int concept_id = lexicon.concept_of_form[form];
#else
        int lemma = lexicon.lemma_of_form[form];
        int synset = lexicon.synset_of_lemma[lemma];
        int concept_id = lexicon.concept_of_synset[synset];
#endif
        sum += weights[concept_id];
    }
    for (int step = 16; step > 0; step /= 2)
        sum += __shfl_xor_sync(~0u, sum, step);
    if (lane == 0)
        scores[document] = sum / (end - begin);
}

static std::vector<int> random_table(int count, int below, unsigned seed) {
    std::vector<int> table(count);
    lcg_fill(table.data(), count, seed, below);
    return table;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "synonyms");
    int documents = p.small ? 300 : 70000, shortest = p.small ? 20 : 110;
    int forms = p.small ? 3000 : 2400000, lemmas = forms / 2, synsets = forms / 3, concepts = p.small ? 50 : 9000;
    std::vector<int> starts(1, 0);
    unsigned seed = 99;
    for (int d = 0; d < documents; d++)
        starts.push_back(starts.back() + shortest + (int)lcg_next(&seed, 60));
    std::vector<int> words = random_table(starts.back(), forms, 6);
    std::vector<int> lemma_of_form = random_table(forms, lemmas, 7), synset_of_lemma = random_table(lemmas, synsets, 8);
    std::vector<int> concept_of_synset = random_table(synsets, concepts, 9), concept_of_form(forms);
    for (int f = 0; f < forms; f++)
        concept_of_form[f] = concept_of_synset[synset_of_lemma[lemma_of_form[f]]];
    std::vector<float> weights = random_floats(concepts, 0, 1, 10);
    Lexicon lexicon = {device_copy_of(lemma_of_form.data(), forms), device_copy_of(synset_of_lemma.data(), lemmas),
                       device_copy_of(concept_of_synset.data(), synsets),
                       device_copy_of(concept_of_form.data(), forms)};
    int *d_words = device_copy_of(words.data(), words.size()), *d_starts = device_copy_of(starts.data(), starts.size());
    float *d_weights = device_copy_of(weights.data(), concepts), *d_scores = device_array<float>(documents);
    int grid = (int)(((size_t)documents * 32 + BLOCK - 1) / BLOCK);
    pair_time(&p, [&] { synonyms<<<grid, BLOCK>>>(d_words, d_starts, lexicon, d_weights, d_scores, documents); });
    std::vector<float> scores = host_copy_of(d_scores, documents);
    for (int d = 0; d < documents; d += 1 + documents / 500) {
        double sum = 0;
        for (int i = starts[d]; i < starts[d + 1]; i++)
            sum += weights[concept_of_form[words[i]]];
        pair_near(&p, "score", d, sum / (starts[d + 1] - starts[d]), scores[d], 1e-4);
    }
    return pair_end(&p);
}
