// SPDX-License-Identifier: Apache-2.0
//
// Rule: memory-transactions
// Change: a node is read by one load of 16 bytes instead of four loads of 4 bytes.
// Why: the nodes of a warp are in up to 32 different lines; each of the four loads visits all of these lines anew.
#include "../common.h"

enum { BLOCK = 256, MATERIALS = 4 };

// Finite elements: heat conducted from a dental implant into the jaw, on an unstructured mesh of tetrahedra. A node has
// four floats in a row: its place and its temperature. Nodes and elements are in no order, as the mesher left them.
struct Conductivity {
    float of[MATERIALS];  // implant, enamel, bone, gum
};

struct Node {
    float x, y, z, temperature;
};

static __device__ Node load_node(const float *nodes, int i) {
#ifdef AFTER
    float4 v = *(const float4 *)(nodes + 4 * (size_t)i);
    Node n = {v.x, v.y, v.z, v.w};
#else
    const float *v = nodes + 4 * (size_t)i;
    Node n = {v[0], v[1], v[2], v[3]};
#endif
    return n;
}

static __host__ __device__ Node minus(Node a, Node b) {
    Node d = {a.x - b.x, a.y - b.y, a.z - b.z, a.temperature - b.temperature};
    return d;
}

static __host__ __device__ Node cross(Node a, Node b) {
    Node c = {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x, 0};
    return c;
}

struct Element {
    float energy, volume;
};

// Energy of the linear element: conductivity * |gradient|^2 * volume / 2.
static __host__ __device__ Element element_energy(Node a, Node b, Node c, Node d, float conductivity) {
    Node u = minus(b, a), v = minus(c, a), w = minus(d, a);
    Node vw = cross(v, w), wu = cross(w, u), uv = cross(u, v);
    float six = u.x * vw.x + u.y * vw.y + u.z * vw.z;  // six times the volume, with a sign
    float gx = u.temperature * vw.x + v.temperature * wu.x + w.temperature * uv.x;
    float gy = u.temperature * vw.y + v.temperature * wu.y + w.temperature * uv.y;
    float gz = u.temperature * vw.z + v.temperature * wu.z + w.temperature * uv.z;
    float volume = fabsf(six) / 6;
    Element e = {0.5f * conductivity * (gx * gx + gy * gy + gz * gz) / (six * six) * volume, volume};
    return e;
}

__global__ void conduct(const float *nodes, const int4 *corners, const unsigned char *material, Conductivity k,
                        Element *out, int elements) {
    int e = blockIdx.x * BLOCK + threadIdx.x;
    if (e >= elements)
        return;
    int4 at = corners[e];
    Node a = load_node(nodes, at.x), b = load_node(nodes, at.y), c = load_node(nodes, at.z), d = load_node(nodes, at.w);
    out[e] = element_energy(a, b, c, d, k.of[material[e] % MATERIALS]);
}

// Any order of 0 ... count - 1.
static std::vector<int> shuffled(int count, unsigned seed) {
    std::vector<int> order(count);
    for (int i = 0; i < count; i++)
        order[i] = i;
    for (int i = count - 1; i > 0; i--)
        std::swap(order[i], order[lcg_next(&seed, i + 1)]);
    return order;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "implants");
    const int side = p.small ? 26 : 70, nodes = (side + 1) * (side + 1) * (side + 1), elements = 6 * side * side * side;
    // A block of cubes, every cube cut into six tetrahedra along a diagonal, with the inner nodes moved a little.
    std::vector<int> place = shuffled(nodes, 1), turn = shuffled(elements, 2);
    std::vector<float> move = random_floats(3 * (size_t)nodes, -0.15f, 0.15f, 3),
                       heat = random_floats(nodes, 30, 60, 4), node(4 * (size_t)nodes);
    for (int z = 0, i = 0; z <= side; z++)
        for (int y = 0; y <= side; y++)
            for (int x = 0; x <= side; x++, i++) {
                float *n = &node[4 * (size_t)place[i]];
                n[0] = x + move[3 * i];
                n[1] = y + move[3 * i + 1];
                n[2] = z + move[3 * i + 2];
                n[3] = heat[i];
            }
    static const int path[6][2] = {{1, 3}, {1, 5}, {2, 3}, {2, 6}, {4, 5}, {4, 6}};
    std::vector<int4> corners(elements);
    std::vector<unsigned char> material(elements);
    for (int cube = 0, e = 0; cube < side * side * side; cube++)
        for (int t = 0; t < 6; t++, e++) {
            int x = cube % side, y = cube / side % side, z = cube / side / side;
            int corner[4] = {0, path[t][0], path[t][1], 7};
            for (int &c : corner)
                c = place[(x + (c & 1)) + (side + 1) * ((y + (c >> 1 & 1)) + (side + 1) * (z + (c >> 2)))];
            corners[turn[e]] = make_int4(corner[0], corner[1], corner[2], corner[3]);
            material[turn[e]] = (unsigned char)(x * MATERIALS / side);
        }
    Conductivity k = {{21.9f, 0.93f, 0.58f, 0.49f}};
    float *d_node = device_copy_of(node.data(), node.size());
    int4 *d_corners = device_copy_of(corners.data(), elements);
    unsigned char *d_material = device_copy_of(material.data(), elements);
    Element *d_out = device_array<Element>(elements);
    int blocks = (elements + BLOCK - 1) / BLOCK;
    pair_time(&p, [&] { conduct<<<blocks, BLOCK>>>(d_node, d_corners, d_material, k, d_out, elements); });

    std::vector<Element> out = host_copy_of(d_out, elements);
    for (int e = 0; e < elements; e += 191) {
        Node n[4];
        const int at[4] = {corners[e].x, corners[e].y, corners[e].z, corners[e].w};
        for (int c = 0; c < 4; c++)
            memcpy(&n[c], &node[4 * (size_t)at[c]], sizeof(Node));
        Element expected = element_energy(n[0], n[1], n[2], n[3], k.of[material[e]]);
        pair_near(&p, "energy", e, expected.energy, out[e].energy, 1e-3);
        pair_near(&p, "volume", e, expected.volume, out[e].volume, 1e-4);
    }
    CUDA_CHECK(cudaFree(d_node));
    CUDA_CHECK(cudaFree(d_corners));
    CUDA_CHECK(cudaFree(d_material));
    CUDA_CHECK(cudaFree(d_out));
    return pair_end(&p);
}
