// SPDX-License-Identifier: Apache-2.0
//
// Rule: vectorised-access
// Change: a thread whitens four neighbouring pixels, which it loads and stores as one uchar4.
// Why: a warp moves only 32 bytes with each load and store, too few to keep memory busy.
#include "../common.h"

enum { BLOCK = 256, PATCH = 64 };

static __host__ __device__ inline unsigned char whiten(unsigned char grey, float black, float gain) {
    return (unsigned char)fminf(fmaxf(((float)grey - black) * gain + 0.5f, 0.0f), 255.0f);
}

// Makes the paper of a scanned page white; light was uneven, so each patch of the page has its own gain.
#ifdef AFTER
__global__ void paper_white(const uchar4 *page, uchar4 *white, const float *gains, float black, int width) {
    int x = blockIdx.x * BLOCK + threadIdx.x, y = blockIdx.y, quads = width / 4;
    if (x >= quads)
        return;
    float gain = gains[y / PATCH * (width / PATCH) + x / (PATCH / 4)];
    uchar4 grey = page[y * quads + x];
    white[y * quads + x] = {whiten(grey.x, black, gain), whiten(grey.y, black, gain), whiten(grey.z, black, gain),
                            whiten(grey.w, black, gain)};
}
#else
__global__ void paper_white(const unsigned char *page, unsigned char *white, const float *gains, float black,
                            int width) {
    int x = blockIdx.x * BLOCK + threadIdx.x, y = blockIdx.y;
    if (x >= width)
        return;
    float gain = gains[y / PATCH * (width / PATCH) + x / PATCH];
    white[y * width + x] = whiten(page[y * width + x], black, gain);
}
#endif

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "paper_white");
    int width = p.small ? 512 : 5120, height = p.small ? 64 : 7168;
    std::vector<unsigned char> page((size_t)width * height);
    lcg_fill(page.data(), page.size(), 1, 256);
    std::vector<float> gains = random_floats((width / PATCH) * (height / PATCH), 1, 1.6f, 2);
    unsigned char *d_page = device_copy_of(page.data(), page.size()),
                  *d_white = device_array<unsigned char>(page.size());
    float *d_gains = device_copy_of(gains.data(), gains.size()), black = 20;
#ifdef AFTER
    dim3 blocks((width / 4 + BLOCK - 1) / BLOCK, height);
    pair_time(
        &p, [&] { paper_white<<<blocks, BLOCK>>>((const uchar4 *)d_page, (uchar4 *)d_white, d_gains, black, width); });
#else
    dim3 blocks((width + BLOCK - 1) / BLOCK, height);
    pair_time(&p, [&] { paper_white<<<blocks, BLOCK>>>(d_page, d_white, d_gains, black, width); });
#endif
    std::vector<unsigned char> white = host_copy_of(d_white, page.size());
    for (size_t i = 0; i < page.size(); i += 1013) {
        size_t x = i % width, y = i / width;
        float gain = gains[y / PATCH * (width / PATCH) + x / PATCH];
        // A value at the edge of two greys may be rounded either way.
        pair_near(&p, "white", i, 0, std::max(abs(whiten(page[i], black, gain) - white[i]), 1) - 1, 0);
    }
    return pair_end(&p);
}
