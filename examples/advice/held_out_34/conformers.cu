// SPDX-License-Identifier: Apache-2.0
//
// Rule: divergence
// Change: the terms of the force field are sorted by their kind before they go to the device.
// Why: the topology lists a residue's bond, angle, torsion and pair one after the other, so every warp goes through all
// four branches with a quarter of its lanes; sorted, a warp's terms are of one kind.
#include "../common.h"

enum Kind { BOND, ANGLE, TORSION, PAIR, KINDS };
enum { THREADS = 128 };

// One term of the energy. What the numbers mean depends on the kind: strength and place of a minimum, or the well depth
// and radius of a pair with the product of its charges.
struct Term {
    int kind;
    int atom[4];
    float strength, place, third;
};

struct Vector {
    float x, y, z;
};

__device__ inline Vector between(const float4 &a, const float4 &b) { return {b.x - a.x, b.y - a.y, b.z - a.z}; }

__device__ inline float dot(const Vector &a, const Vector &b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

__device__ inline Vector cross(const Vector &a, const Vector &b) {
    return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

__device__ float energy_of(const Term &t, const float4 *atoms) {
    const float4 a = atoms[t.atom[0]], b = atoms[t.atom[1]];
    switch (t.kind) {
    case BOND: {  // Morse's potential
        const Vector r = between(a, b);
        const float e = 1 - expf(-t.third * (sqrtf(dot(r, r)) - t.place));
        return t.strength * e * e;
    }
    case ANGLE: {
        const float4 c = atoms[t.atom[2]];
        const Vector u = between(b, a), v = between(b, c);
        const float bend = acosf(dot(u, v) / sqrtf(dot(u, u) * dot(v, v))) - t.place;
        return t.strength * bend * bend;
    }
    case TORSION: {
        const float4 c = atoms[t.atom[2]], d = atoms[t.atom[3]];
        const Vector u = between(a, b), v = between(b, c), w = between(c, d), m = cross(u, v), n = cross(v, w);
        const float phi = atan2f(sqrtf(dot(v, v)) * dot(u, n), dot(m, n));
        return t.strength * (1 + cosf(t.third * phi - t.place));
    }
    default: {  // Lennard-Jones and Coulomb, of atoms three bonds apart
        const Vector r = between(a, b);
        const float inverse = 1 / dot(r, r), s = t.place * t.place * inverse, s6 = s * s * s;
        return 4 * t.strength * (s6 * s6 - s6) + 332.06f * t.third * sqrtf(inverse);
    }
    }
}

// The mean energy of every term over the conformers that a sampling run has kept.
__global__ void conformers(const Term *__restrict__ terms, const float4 *__restrict__ atoms, float *__restrict__ mean,
                           int count, int atom_count, int conformer_count) {
    const int i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= count)
        return;
    const Term term = terms[i];
    float sum = 0;
    for (int c = 0; c < conformer_count; c++)
        sum += energy_of(term, atoms + (size_t)c * atom_count);
    mean[i] = sum / conformer_count;
}

static double host_energy(const Term &t, const float4 *atoms) {
    double r[4][3], u[3], v[3], w[3];
    for (int k = 0; k < 4; k++) {
        const float4 &a = atoms[t.atom[k]];
        r[k][0] = a.x, r[k][1] = a.y, r[k][2] = a.z;
    }
    for (int k = 0; k < 3; k++)
        u[k] = r[1][k] - r[0][k], v[k] = r[2][k] - r[1][k], w[k] = r[3][k] - r[2][k];
    const auto inner = [](const double *a, const double *b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; };
    if (t.kind == BOND)
        return t.strength * pow(1 - exp(-t.third * (sqrt(inner(u, u)) - t.place)), 2);
    if (t.kind == ANGLE)
        return t.strength * pow(acos(-inner(u, v) / sqrt(inner(u, u) * inner(v, v))) - t.place, 2);
    if (t.kind == PAIR) {
        double s6 = pow(t.place * t.place / inner(u, u), 3);
        return 4 * t.strength * (s6 * s6 - s6) + 332.06 * t.third / sqrt(inner(u, u));
    }
    const double m[3] = {u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]},
                 n[3] = {v[1] * w[2] - v[2] * w[1], v[2] * w[0] - v[0] * w[2], v[0] * w[1] - v[1] * w[0]};
    return t.strength * (1 + cos(t.third * atan2(sqrt(inner(v, v)) * inner(u, n), inner(m, n)) - t.place));
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "conformers");
    const int molecules = p.small ? 4 : 1700, length = p.small ? 60 : 150, conformer_count = p.small ? 2 : 10;
    const int atom_count = molecules * length;

    // Helices; in every conformer the atoms are a little elsewhere.
    std::vector<float4> atoms((size_t)conformer_count * atom_count);
    unsigned seed = 1969;
    for (size_t i = 0; i < atoms.size(); i++) {
        const int place = i % length, molecule = i % atom_count / length;
        const auto shake = [&] { return 0.4f * (lcg_next(&seed, 4096) / 4096.0f - 0.5f); };
        atoms[i] = {2.3f * cosf(1.745f * place) + 12 * (molecule % 16) + shake(),
                    2.3f * sinf(1.745f * place) + 12 * (molecule / 16 % 16) + shake(), 1.5f * place + shake(), 0};
    }
    std::vector<Term> terms;
    for (int m = 0; m < molecules; m++)
        for (int k = 0; k + 3 < length; k++) {
            const int a = m * length + k;
            const float vary = 0.8f + 0.4f * lcg_next(&seed, 1000) / 1000.0f;
            terms.push_back({BOND, {a, a + 1, a, a}, 60 * vary, 3.8f, 0.9f});
            terms.push_back({ANGLE, {a, a + 1, a + 2, a}, 20 * vary, 1.6f, 0});
            terms.push_back({TORSION, {a, a + 1, a + 2, a + 3}, 3 * vary, 0.9f, 1.0f + k % 3});
            terms.push_back({PAIR, {a, a + 3, a, a}, 0.2f * vary, 4.2f, k % 2 ? 0.02f : -0.03f});
        }
#ifdef AFTER
    std::stable_sort(terms.begin(), terms.end(), [](const Term &a, const Term &b) { return a.kind < b.kind; });
#endif

    const int count = (int)terms.size();
    Term *d_terms = device_copy_of(terms.data(), count);
    float4 *d_atoms = device_copy_of(atoms.data(), atoms.size());
    float *d_mean = device_array<float>(count);
    pair_time(&p, [&] {
        conformers<<<(count + THREADS - 1) / THREADS, THREADS>>>(d_terms, d_atoms, d_mean, count, atom_count,
                                                                 conformer_count);
    });

    std::vector<float> mean = host_copy_of(d_mean, count);
    for (int i = 0; i < count; i += p.small ? 3 : 1009) {
        double sum = 0;
        for (int c = 0; c < conformer_count; c++)
            sum += host_energy(terms[i], atoms.data() + (size_t)c * atom_count);
        pair_near(&p, "mean", i, sum / conformer_count, mean[i], 1e-3);
    }
    return pair_end(&p);
}
