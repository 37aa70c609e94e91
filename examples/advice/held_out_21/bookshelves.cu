// SPDX-License-Identifier: Apache-2.0
//
// Rule: indirect-addressing
// Change: a book is found by shelf times slots plus slot in one array instead of through a pointer to its shelf.
// Why: the pointer is loaded first, from a place that depends on the data, and the book can only be loaded after it.
#include "../common.h"

enum { BLOCK = 256, SLOTS = 256 };

// What readers carried home: for each reader the shelves and slots of the books they took, in order; the total and the
// largest number of pages, and how often they went on to a longer book. One thread per reader.
__global__ void carried(const unsigned short *const *shelves, const unsigned short *all, const unsigned short *shelf,
                        const unsigned char *slot, int *pages, int *longest, int *longer, int n, int books) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= n)
        return;
    int sum = 0, most = 0, last = 0, ups = 0;
    for (int b = 0; b < books; b++) {
        size_t at = (size_t)b * n + i;
#ifdef AFTER
        int book = all[(int)shelf[at] * SLOTS + slot[at]];
#else
        int book = shelves[shelf[at]][slot[at]];
#endif
        sum += book;
        most = max(most, book);
        ups += book > last;
        last = book;
    }
    pages[i] = sum;
    longest[i] = most;
    longer[i] = ups;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "bookshelves");
    int n = p.small ? 2048 : 132 * 4096, books = p.small ? 6 : 14, shelf_count = p.small ? 40 : 6000;
    size_t count = (size_t)n * books;
    std::vector<unsigned short> all((size_t)shelf_count * SLOTS), shelf(count);
    std::vector<unsigned char> slot(count);
    lcg_fill(all.data(), all.size(), 1, 900);
    lcg_fill(shelf.data(), count, 2, shelf_count);
    lcg_fill(slot.data(), count, 3, SLOTS);
    unsigned short *d_all = device_copy_of(all.data(), all.size()), *d_shelf = device_copy_of(shelf.data(), count);
    unsigned char *d_slot = device_copy_of(slot.data(), count);
    std::vector<const unsigned short *> shelves(shelf_count);
    for (int s = 0; s < shelf_count; s++)
        shelves[s] = d_all + (size_t)s * SLOTS;
    const unsigned short **d_shelves = device_copy_of(shelves.data(), shelf_count);
    int *d_pages = device_array<int>(n), *d_longest = device_array<int>(n), *d_longer = device_array<int>(n);
    pair_time(&p, [&] {
        carried<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(d_shelves, d_all, d_shelf, d_slot, d_pages, d_longest, d_longer, n,
                                                    books);
    });
    std::vector<int> pages = host_copy_of(d_pages, n), longest = host_copy_of(d_longest, n),
                     longer = host_copy_of(d_longer, n);
    for (int i = 0; i < n; i += p.small ? 1 : 11) {
        int sum = 0, most = 0, last = 0, ups = 0;
        for (int b = 0; b < books; b++) {
            size_t at = (size_t)b * n + i;
            int book = all[(size_t)shelf[at] * SLOTS + slot[at]];
            sum += book;
            most = std::max(most, book);
            ups += book > last;
            last = book;
        }
        pair_near(&p, "pages", i, sum, pages[i], 1e-9);
        pair_near(&p, "longest", i, most, longest[i], 1e-9);
        pair_near(&p, "longer", i, ups, longer[i], 1e-9);
    }
    return pair_end(&p);
}
