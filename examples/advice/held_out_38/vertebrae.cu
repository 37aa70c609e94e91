// SPDX-License-Identifier: Apache-2.0
//
// Rule: indirect-addressing
// Change: the eight corners of an element are computed from its number, not loaded from the mesh's list of corners.
// Why: elements are the voxels of a scan and nodes are numbered along x, y, z, so that the list says nothing new; its
// 32 bytes an element are more than half of what the kernel reads.
#include "../common.h"

// Bones under load: the strain energy and the equivalent stress at the centre of every element of a vertebra's
// finite-element model (each voxel of the scan one hexahedron), from the displacements that the solver found.
constexpr int THREADS = 256;

struct Mesh {
    int nx, ny, nz;  // elements along each axis; one node more
    float edge;      // mm
};

struct __align__(16) Corners {
    int node[8];  // x varies fastest, then y, then z
};

struct Result {
    float energy;  // mJ/mm^3
    float stress;  // von Mises, MPa
};

__host__ __device__ inline Corners corners_of(int element, const Mesh &m) {
    int row = element / m.nx, x = element - row * m.nx;
    int z = row / m.ny, y = row - z * m.ny;
    int wide = m.nx + 1, plane = wide * (m.ny + 1);
    int first = z * plane + y * wide + x;
    return {{first, first + 1, first + wide, first + wide + 1, first + plane, first + plane + 1, first + plane + wide,
             first + plane + wide + 1}};
}

// density: mineral content of the voxel, relative; the modulus goes with its square.
__host__ __device__ inline Result assess(const Corners &c, const float4 *displacements, float density, float edge) {
    float3 along[3] = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}};  // derivatives of the displacement by x, y, z
#pragma unroll
    for (int n = 0; n < 8; n++) {
        float4 u = displacements[c.node[n]];
#pragma unroll
        for (int axis = 0; axis < 3; axis++) {
            float sign = n >> axis & 1 ? 1.0f : -1.0f;
            along[axis].x += sign * u.x;
            along[axis].y += sign * u.y;
            along[axis].z += sign * u.z;
        }
    }
    float scale = 0.25f / edge;
    float xx = scale * along[0].x, yy = scale * along[1].y, zz = scale * along[2].z;
    float xy = scale * (along[0].y + along[1].x), yz = scale * (along[1].z + along[2].y);
    float zx = scale * (along[2].x + along[0].z);
    const float poisson = 0.3f;
    float modulus = 6850.0f * density * density + 1.0f;
    float lambda = modulus * poisson / ((1 + poisson) * (1 - 2 * poisson)), mu = modulus / (2 * (1 + poisson));
    float trace = xx + yy + zz;
    float sx = lambda * trace + 2 * mu * xx, sy = lambda * trace + 2 * mu * yy, sz = lambda * trace + 2 * mu * zz;
    float txy = mu * xy, tyz = mu * yz, tzx = mu * zx;
    Result r;
    r.energy = 0.5f * (sx * xx + sy * yy + sz * zz + txy * xy + tyz * yz + tzx * zx);
    float shear = txy * txy + tyz * tyz + tzx * tzx;
    float apart = (sx - sy) * (sx - sy) + (sy - sz) * (sy - sz) + (sz - sx) * (sz - sx);
    r.stress = sqrtf(0.5f * apart + 3 * shear);
    return r;
}

__global__ void __launch_bounds__(THREADS)
    assess_bone(Result *__restrict__ results, [[maybe_unused]] const Corners *__restrict__ corners,
                const float4 *__restrict__ displacements, const float *__restrict__ density, Mesh mesh, int elements) {
    int e = blockIdx.x * THREADS + threadIdx.x;
    if (e >= elements)
        return;
#ifdef AFTER
    Corners mine = corners_of(e, mesh);
#else
    Corners mine = corners[e];
#endif
    results[e] = assess(mine, displacements, density[e], mesh.edge);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "vertebrae");
    Mesh mesh = p.small ? Mesh{20, 9, 7, 0.3f} : Mesh{220, 180, 160, 0.3f};
    int elements = mesh.nx * mesh.ny * mesh.nz, nodes = (mesh.nx + 1) * (mesh.ny + 1) * (mesh.nz + 1);
    std::vector<Corners> corners(elements);
    for (int e = 0; e < elements; e++)
        corners[e] = corners_of(e, mesh);
    std::vector<float> density = random_floats(elements, 0.05f, 0.9f, 55);
    std::vector<float4> displacements(nodes);
    unsigned seed = 56;
    for (int n = 0; n < nodes; n++) {
        float height = mesh.edge * (n / ((mesh.nx + 1) * (mesh.ny + 1)));
        float noise = 0.0001f * lcg_next(&seed, 100), other = 0.0001f * lcg_next(&seed, 100);
        displacements[n] = {noise, other - 0.5f * noise, -0.01f * height + 0.3f * other, 0};
    }

#ifdef AFTER
    Corners *d_corners = NULL;
#else
    Corners *d_corners = device_copy_of(corners.data(), elements);
#endif
    float *d_density = device_copy_of(density.data(), elements);
    float4 *d_displacements = device_copy_of(displacements.data(), nodes);
    Result *d_results = device_array<Result>(elements);

    int blocks = (elements + THREADS - 1) / THREADS;
    pair_time(&p, [&] {
        assess_bone<<<blocks, THREADS>>>(d_results, d_corners, d_displacements, d_density, mesh, elements);
    });

    std::vector<Result> results = host_copy_of(d_results, elements);
    for (int e = 0; e < elements; e += p.small ? 1 : 53) {
        Result expected = assess(corners[e], displacements.data(), density[e], mesh.edge);
        pair_near(&p, "energy", e, expected.energy, results[e].energy, 1e-3);
        pair_near(&p, "stress", e, expected.stress, results[e].stress, 1e-3);
    }
    CUDA_CHECK(cudaFree(d_corners));
    CUDA_CHECK(cudaFree(d_density));
    CUDA_CHECK(cudaFree(d_displacements));
    CUDA_CHECK(cudaFree(d_results));
    return pair_end(&p);
}
