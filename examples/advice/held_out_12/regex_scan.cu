// SPDX-License-Identifier: Apache-2.0
//
// Rule: indirect-addressing
// Change: rows of the automaton lie one after the other in one array instead of being found by pointers.
// Why: each character waits for the load of its row's address and then for that of the next state.
#include "../common.h"

#include <queue>
#include <string>

enum { BLOCK = 128, LETTERS = 128, STATES_MAX = 64, ACCEPTING = 0x80 };

#ifdef AFTER
typedef const unsigned char *Rows;
#define ROW(rows, state) ((rows) + (state)*LETTERS)
#else
typedef const unsigned char *const *Rows;
#define ROW(rows, state) ((rows)[state])
#endif

// Counts the matches of a deterministic automaton in each line of a log; character t of all lines lie together.
__global__ void regex_scan(Rows rows, const unsigned char *text, int *matches, int lines, int length) {
    int line = blockIdx.x * BLOCK + threadIdx.x, state = 0, found = 0;
    for (int t = 0; t < length; t++) {
        unsigned letter = text[(size_t)t * lines + line];
        unsigned next = ROW(rows, state)[letter];
        found += next >> 7;
        state = (int)(next & (ACCEPTING - 1));
    }
    matches[line] = found;
}

// The automaton of Aho and Corasick.
static std::vector<unsigned char> automaton(const std::vector<std::string> &words) {
    std::vector<std::vector<int>> to(1, std::vector<int>(LETTERS, -1));
    std::vector<bool> ends(1, false);
    for (const std::string &word : words) {
        int state = 0;
        for (unsigned char c : word) {
            if (to[state][c] < 0) {
                to[state][c] = (int)to.size();
                to.emplace_back(LETTERS, -1);
                ends.push_back(false);
            }
            state = to[state][c];
        }
        ends[state] = true;
    }
    std::vector<int> fallback(to.size(), 0);
    std::queue<int> open;
    open.push(0);
    while (!open.empty()) {
        int state = open.front();
        open.pop();
        for (int c = 0; c < LETTERS; c++) {
            int other = state ? to[fallback[state]][c] : 0;
            if (to[state][c] < 0) {
                to[state][c] = other;
            } else {
                fallback[to[state][c]] = other;
                ends[to[state][c]] = ends[to[state][c]] || ends[other];
                open.push(to[state][c]);
            }
        }
    }
    std::vector<unsigned char> table(STATES_MAX * LETTERS, 0);
    for (size_t s = 0; s < to.size(); s++)
        for (int c = 0; c < LETTERS; c++)
            table[s * LETTERS + c] = (unsigned char)(to[s][c] | (ends[to[s][c]] ? ACCEPTING : 0));
    return table;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "regex_scan");
    int lines = p.small ? 512 : 1 << 17, length = p.small ? 32 : 320;
    const char letters[] = "aabdeilnorst :.5";
    std::vector<unsigned char> table = automaton({"error", "disk", "denied", "lost", "reset", "no route", "to", "::"});
    std::vector<unsigned char> text((size_t)lines * length);
    unsigned seed = 1;
    for (unsigned char &c : text)
        c = (unsigned char)letters[lcg_next(&seed, 16)];
    unsigned char *d_table = device_copy_of(table.data(), table.size()),
                  *d_text = device_copy_of(text.data(), text.size());
    int *d_matches = device_array<int>(lines);
#ifdef AFTER
    Rows rows = d_table;
#else
    std::vector<const unsigned char *> pointers;
    for (int s = 0; s < STATES_MAX; s++)
        pointers.push_back(d_table + s * LETTERS);
    Rows rows = device_copy_of(pointers.data(), pointers.size());
#endif
    pair_time(&p, [&] { regex_scan<<<lines / BLOCK, BLOCK>>>(rows, d_text, d_matches, lines, length); });
    std::vector<int> matches = host_copy_of(d_matches, lines);
    for (int line = 0; line < lines; line += 101) {
        int state = 0, found = 0;
        for (int t = 0; t < length; t++) {
            int next = table[(size_t)state * LETTERS + text[(size_t)t * lines + line]];
            found += next >> 7;
            state = next & (ACCEPTING - 1);
        }
        pair_near(&p, "matches", line, found, matches[line], 0);
    }
    return pair_end(&p);
}
