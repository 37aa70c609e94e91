// SPDX-License-Identifier: Apache-2.0
//
// Rule: fast-math
// Change: the exponential and the quotients of the pair energy use __expf() and __fdividef(), the root rsqrtf().
// Why: the precise versions are many instructions (scaling, Newton steps, slow paths), and docking scores need no more
// than three digits.
#include "../common.h"

// Scores docking poses: the interaction energy of every atom of a ligand, in every pose, with all atoms of the
// receptor. Lennard-Jones 12-6 and Coulomb's law with the distance-dependent dielectric of Mehler and Solmajer.

constexpr int TILE = 128;  // receptor atoms in shared memory at a time, and threads of a CTA
constexpr float COULOMB = 332.06f;

struct Atom {
    float x, y, z, charge;
};

struct Pose {
    float x, y, z;      // shift
    float cosine, sine; // turn about the z axis
};

#ifdef AFTER
__device__ inline float quotient(float a, float b) { return __fdividef(a, b); }
__device__ inline float exponential(float x) { return __expf(x); }
__device__ inline float root(float x) { return x * rsqrtf(x); }
#else
__device__ inline float quotient(float a, float b) { return a / b; }
__device__ inline float exponential(float x) { return expf(x); }
__device__ inline float root(float x) { return sqrtf(x); }
#endif

__device__ inline float pair_energy(float r2, float charges) {
    float r = root(r2);
    float dielectric = -8.5525f + quotient(86.9525f, 1.0f + 7.7839f * exponential(-0.3153f * r));
    float s2 = quotient(11.56f, r2);  // (3.4 angstrom / r)^2
    float s6 = s2 * s2 * s2;
    return 0.4f * (s6 * s6 - s6) + quotient(COULOMB * charges, dielectric * r);
}

__global__ void __launch_bounds__(TILE)
score_poses(const Atom *__restrict__ ligand, int ligand_atoms, const Pose *__restrict__ poses, int total,
            const Atom *__restrict__ receptor, int receptor_atoms, float *__restrict__ energy) {
    __shared__ Atom tile[TILE];
    int index = blockIdx.x * TILE + threadIdx.x;
    int clipped = min(index, total - 1);
    Atom atom = ligand[clipped % ligand_atoms];
    Pose pose = poses[clipped / ligand_atoms];
    float x = pose.cosine * atom.x - pose.sine * atom.y + pose.x;
    float y = pose.sine * atom.x + pose.cosine * atom.y + pose.y;
    float z = atom.z + pose.z;

    float sum = 0.0f;
    for (int base = 0; base < receptor_atoms; base += TILE) {
        int mine = base + threadIdx.x;
        if (mine < receptor_atoms)
            tile[threadIdx.x] = receptor[mine];
        __syncthreads();
        int count = min(TILE, receptor_atoms - base);
        for (int j = 0; j < count; j++) {
            Atom other = tile[j];
            float dx = other.x - x, dy = other.y - y, dz = other.z - z;
            float r2 = fmaxf(dx * dx + dy * dy + dz * dz, 4.0f);
            sum += pair_energy(r2, atom.charge * other.charge);
        }
        __syncthreads();
    }
    if (index < total)
        energy[index] = sum;
}

static double energy_on_cpu(const Atom &atom, const Pose &pose, const std::vector<Atom> &receptor) {
    double x = pose.cosine * atom.x - pose.sine * atom.y + pose.x;
    double y = pose.sine * atom.x + pose.cosine * atom.y + pose.y;
    double z = atom.z + pose.z;
    double sum = 0;
    for (const Atom &other : receptor) {
        double dx = other.x - x, dy = other.y - y, dz = other.z - z;
        double r2 = std::max(dx * dx + dy * dy + dz * dz, 4.0), r = sqrt(r2);
        double dielectric = -8.5525 + 86.9525 / (1 + 7.7839 * exp(-0.3153 * r));
        double s2 = 11.56 / r2, s6 = s2 * s2 * s2;
        sum += 0.4 * (s6 * s6 - s6) + COULOMB * atom.charge * other.charge / (dielectric * r);
    }
    return sum;
}

static std::vector<Atom> random_atoms(int count, float extent, unsigned seed) {
    std::vector<float> f = random_floats((size_t)count * 4, -1.0f, 1.0f, seed);
    std::vector<Atom> atoms(count);
    for (int i = 0; i < count; i++)
        atoms[i] = {extent * f[4 * i], extent * f[4 * i + 1], extent * f[4 * i + 2], 0.4f * f[4 * i + 3]};
    return atoms;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "ligands");
    const int ligand_atoms = p.small ? 20 : 37;
    const int pose_count = p.small ? 16 : 5000;
    const int receptor_atoms = p.small ? 150 : 1400;
    const int total = ligand_atoms * pose_count;
    std::vector<Atom> ligand = random_atoms(ligand_atoms, 5.0f, 5);
    std::vector<Atom> receptor = random_atoms(receptor_atoms, 14.0f, 6);
    std::vector<float> f = random_floats((size_t)pose_count * 4, -1.0f, 1.0f, 7);
    std::vector<Pose> poses(pose_count);
    for (int i = 0; i < pose_count; i++)
        poses[i] = {3 * f[4 * i], 3 * f[4 * i + 1], 3 * f[4 * i + 2], cosf(3.14f * f[4 * i + 3]),
                    sinf(3.14f * f[4 * i + 3])};

    Atom *d_ligand = device_copy_of(ligand.data(), ligand_atoms);
    Atom *d_receptor = device_copy_of(receptor.data(), receptor_atoms);
    Pose *d_poses = device_copy_of(poses.data(), pose_count);
    float *d_energy = device_array<float>(total);
    int blocks = (total + TILE - 1) / TILE;
    pair_time(&p, [&] {
        score_poses<<<blocks, TILE>>>(d_ligand, ligand_atoms, d_poses, total, d_receptor, receptor_atoms, d_energy);
    });

    std::vector<float> energy = host_copy_of(d_energy, total);
    for (int i = 0; i < total; i += p.small ? 1 : 301)
        pair_near(&p, "energy", i, energy_on_cpu(ligand[i % ligand_atoms], poses[i / ligand_atoms], receptor),
                  energy[i], 5e-3);
    CUDA_CHECK(cudaFree(d_ligand));
    CUDA_CHECK(cudaFree(d_receptor));
    CUDA_CHECK(cudaFree(d_poses));
    CUDA_CHECK(cudaFree(d_energy));
    return pair_end(&p);
}
