// SPDX-License-Identifier: Apache-2.0
//
// Rule: atomic-contention
// Change: a thread sums a run of voxels of the same label in registers and adds it once, where the label changes.
// Why: neighbouring voxels belong to the same lesion, so nearly all atomics of a moment go to the same few words and
// are done one after the other; runs are tens of voxels long, so there are far fewer of them afterwards.
#include "../common.h"

// Volume, total uptake and peak uptake of every lesion in the tissues of a segmented PET scan.
constexpr int MAX_LESIONS = 64;  // label 0 is healthy tissue
constexpr int DEPTH = 32;        // slices that a thread walks through
constexpr int THREADS = 256;

struct LesionTable {
    unsigned voxels[MAX_LESIONS], uptake[MAX_LESIONS], peak[MAX_LESIONS];
};

__device__ __forceinline__ void add_to_lesion(LesionTable *table, int label, unsigned voxels, unsigned uptake,
                                              unsigned peak) {
    if (label == 0)
        return;
    atomicAdd(&table->voxels[label], voxels);
    atomicAdd(&table->uptake[label], uptake);
    atomicMax(&table->peak[label], peak);
}

__global__ void __launch_bounds__(THREADS)
    measure_lesions(LesionTable *table, const unsigned char *__restrict__ labels,
                    const unsigned short *__restrict__ scan, int nx, int ny, int nz) {
    int pixel = blockIdx.x * THREADS + threadIdx.x;
    if (pixel >= nx * ny)
        return;
    size_t slice = (size_t)nx * ny;
    int first = blockIdx.y * DEPTH, last = min(first + DEPTH, nz);
#ifdef AFTER
    int run_label = 0;
    unsigned run_voxels = 0, run_uptake = 0, run_peak = 0;
#endif
    for (int z = first; z < last; z++) {
        int label = labels[z * slice + pixel];
        unsigned uptake = scan[z * slice + pixel];
#ifdef AFTER
        if (label != run_label) {
            add_to_lesion(table, run_label, run_voxels, run_uptake, run_peak);
            run_label = label;
            run_voxels = run_uptake = run_peak = 0;
        }
        run_voxels++;
        run_uptake += uptake;
        run_peak = max(run_peak, uptake);
    }
    add_to_lesion(table, run_label, run_voxels, run_uptake, run_peak);
#else
        add_to_lesion(table, label, 1, uptake, uptake);
    }
#endif
}

static std::vector<unsigned char> make_labels(int nx, int ny, int nz, int lesions) {
    std::vector<unsigned char> labels((size_t)nx * ny * nz);
    unsigned seed = 31;
    for (int label = 1; label <= lesions; label++) {
        int cx = lcg_next(&seed, nx), cy = lcg_next(&seed, ny), cz = lcg_next(&seed, nz);
        int radius = nx / 12 + lcg_next(&seed, nx / 12);
        for (int z = std::max(cz - radius, 0); z < std::min(cz + radius, nz); z++)
            for (int y = std::max(cy - radius, 0); y < std::min(cy + radius, ny); y++)
                for (int x = std::max(cx - radius, 0); x < std::min(cx + radius, nx); x++) {
                    int dx = x - cx, dy = y - cy, dz = z - cz;
                    if (dx * dx + dy * dy + dz * dz < radius * radius)
                        labels[((size_t)z * ny + y) * nx + x] = label;
                }
    }
    return labels;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "tissues");
    int nx = p.small ? 48 : 320, ny = p.small ? 32 : 320, nz = p.small ? 40 : 192;
    int lesions = p.small ? 6 : 48;
    size_t voxels = (size_t)nx * ny * nz;
    std::vector<unsigned char> labels = make_labels(nx, ny, nz, lesions);
    std::vector<unsigned short> scan(voxels);
    unsigned seed = 32;
    for (size_t i = 0; i < voxels; i++)
        scan[i] = lcg_next(&seed, 200) + (labels[i] ? 300 + 5 * labels[i] : 0);

    unsigned char *d_labels = device_copy_of(labels.data(), voxels);
    unsigned short *d_scan = device_copy_of(scan.data(), voxels);
    LesionTable *d_table = device_array<LesionTable>(1);

    dim3 grid((nx * ny + THREADS - 1) / THREADS, (nz + DEPTH - 1) / DEPTH);
    pair_time(&p, [&] {
        CUDA_CHECK(cudaMemsetAsync(d_table, 0, sizeof(LesionTable)));
        measure_lesions<<<grid, THREADS>>>(d_table, d_labels, d_scan, nx, ny, nz);
    });

    LesionTable expected = {{0}, {0}, {0}}, got = host_copy_of(d_table, 1)[0];
    for (size_t i = 0; i < voxels; i++) {
        int label = labels[i];
        if (label == 0)
            continue;
        expected.voxels[label]++;
        expected.uptake[label] += scan[i];
        expected.peak[label] = std::max(expected.peak[label], (unsigned)scan[i]);
    }
    for (int label = 0; label < MAX_LESIONS; label++) {
        pair_near(&p, "voxels", label, expected.voxels[label], got.voxels[label], 0);
        pair_near(&p, "uptake", label, expected.uptake[label], got.uptake[label], 0);
        pair_near(&p, "peak", label, expected.peak[label], got.peak[label], 0);
    }
    CUDA_CHECK(cudaFree(d_labels));
    CUDA_CHECK(cudaFree(d_scan));
    CUDA_CHECK(cudaFree(d_table));
    return pair_end(&p);
}
