// SPDX-License-Identifier: Apache-2.0
//
// Rule: block-increase
// Change: sixteen blocks share a page instead of one block doing all of it.
// Why: a film has 48 pages, and a GPU has many more multiprocessors than that.
#include "../common.h"

#ifdef AFTER
enum { PER_PAGE = 16 };
#else
enum { PER_PAGE = 1 };
#endif
enum { BLOCK = 256 };

struct Page {
    float black, white, gamma;
};

// Brings each page of a scanned film to full contrast; its edges are sharpened along the lines of the text.
__global__ void __launch_bounds__(BLOCK)
    restore(const unsigned char *film, const Page *pages, unsigned char *out, int width, int height) {
    Page page = pages[blockIdx.x];
    float scale = 1.0f / (page.white - page.black);
    size_t size = (size_t)width * height, first = blockIdx.x * size;
    for (int i = blockIdx.y * BLOCK + threadIdx.x; i < (int)size; i += gridDim.y * BLOCK) {
        int x = i % width;
        float here = film[first + i];
        float left = x > 0 ? film[first + i - 1] : here, right = x < width - 1 ? film[first + i + 1] : here;
        float sharp = here + 0.4f * (2 * here - left - right);
        float light = __saturatef((sharp - page.black) * scale);
        float shown = light > 0 ? exp2f(page.gamma * __log2f(light)) : 0;
        out[first + i] = (unsigned char)(255.0f * shown + 0.5f);
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "microfilm");
    int pages = p.small ? 6 : 48, width = p.small ? 100 : 600, height = p.small ? 64 : 800;
    size_t size = (size_t)width * height, n = size * pages;
    std::vector<unsigned char> film(n);
    lcg_fill(film.data(), n, 1, 256);
    std::vector<float> r = random_floats(3 * pages, 0, 1, 2);
    std::vector<Page> page(pages);
    for (int i = 0; i < pages; i++)
        page[i] = {20 + 30 * r[3 * i], 190 + 40 * r[3 * i + 1], 0.6f + 0.8f * r[3 * i + 2]};
    unsigned char *d_film = device_copy_of(film.data(), n), *d_out = device_array<unsigned char>(n);
    Page *d_page = device_copy_of(page.data(), pages);
    dim3 grid(pages, PER_PAGE);
    pair_time(&p, [&] { restore<<<grid, BLOCK>>>(d_film, d_page, d_out, width, height); });
    std::vector<unsigned char> out = host_copy_of(d_out, n);
    for (size_t i = 0; i < n; i += p.small ? 7 : 97) {
        int x = (int)(i % width);
        double here = film[i], left = x > 0 ? film[i - 1] : here, right = x < width - 1 ? film[i + 1] : here;
        Page q = page[i / size];
        double light = (here + 0.4 * (2 * here - left - right) - q.black) / ((double)q.white - q.black);
        light = pow(std::min(std::max(light, 0.0), 1.0), q.gamma);
        double off = fabs(255 * light - out[i]);  // rounding may go either way
        pair_near(&p, "grey", i, 0, off < 0.51 ? 0 : off, 0);
    }
    return pair_end(&p);
}
