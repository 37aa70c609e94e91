// SPDX-License-Identifier: Apache-2.0
//
// Rule: redundant-loads
// Change: a patient's parameters are copied into registers before the days begin.
// Why: the day's volume is stored through a pointer that might point at the parameters, so the compiler reads six of
// them again every day, and with 32 bytes from patient to patient each read touches eight cache lines.
#include "../common.h"

// A virtual patient, drawn from the fit to the last trial. Volumes in cubic centimetres, rates per day.
struct Patient {
    float sensitive, resistant;  // volumes at the start
    float growth, capacity;      // Gompertz growth towards the capacity
    float kill, half_effect;     // of the drug at a high concentration; the concentration of half of that
    float clearance, mutation;   // of the drug; from sensitive to resistant
};

// The course of the tumours of a virtual trial: sensitive and resistant cells grow towards a common capacity, and a
// drug kills the sensitive ones. dose[day]: the protocol. volume[day][patient]: what a scan would show.
__global__ void tumours(const Patient *patients, const float *dose, float *volume, float *nadir, int count, int days) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
#ifdef AFTER
    const Patient patient = patients[i];
#else
    const Patient &patient = patients[i];
#endif
    float sensitive = patient.sensitive, resistant = patient.resistant, drug = 0, smallest = sensitive + resistant;
    for (int day = 0; day < days; day++) {
        drug = drug * (1 - patient.clearance) + dose[day];
        const float growth = patient.growth * __logf(patient.capacity / (sensitive + resistant));
        const float effect = patient.kill * drug / (drug + patient.half_effect);
        const float mutated = patient.mutation * sensitive;
        sensitive = fmaxf(sensitive + sensitive * (growth - effect) - mutated, 0);
        resistant += resistant * growth + mutated;
        const float now = sensitive + resistant;
        smallest = fminf(smallest, now);
        volume[(size_t)day * count + i] = now;
    }
    nadir[i] = smallest;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "tumours");
    const int count = p.small ? 500 : 200000, days = p.small ? 30 : 196;

    unsigned seed = 21;
    auto between = [&](float low, float high) { return low + (high - low) * lcg_next(&seed, 10000) / 10000.0f; };
    std::vector<Patient> patients(count);
    for (Patient &patient : patients)
        patient = {between(3, 40),        between(0.01f, 0.5f), between(0.006f, 0.03f), between(300, 900),
                   between(0.04f, 0.16f), between(0.4f, 2),     between(0.15f, 0.5f),   between(1e-5f, 4e-4f)};
    // Three weeks of an infusion every week, then a week without.
    std::vector<float> dose(days, 0.0f);
    for (int day = 0; day < days; day += 7)
        if (day % 28 < 21)
            dose[day] = 4;

    Patient *d_patients = device_copy_of(patients.data(), count);
    float *d_dose = device_copy_of(dose.data(), days), *d_volume = device_array<float>((size_t)days * count),
          *d_nadir = device_array<float>(count);
    pair_time(&p, [&] { tumours<<<(count + 127) / 128, 128>>>(d_patients, d_dose, d_volume, d_nadir, count, days); });

    std::vector<float> volume = host_copy_of(d_volume, (size_t)days * count), nadir = host_copy_of(d_nadir, count);
    for (int i = 0; i < count; i += p.small ? 13 : 1009) {
        const Patient &patient = patients[i];
        double sensitive = patient.sensitive, resistant = patient.resistant, drug = 0, smallest = sensitive + resistant;
        for (int day = 0; day < days; day++) {
            drug = drug * (1 - (double)patient.clearance) + dose[day];
            double growth = patient.growth * log(patient.capacity / (sensitive + resistant));
            double effect = patient.kill * drug / (drug + patient.half_effect), mutated = patient.mutation * sensitive;
            sensitive = std::max(0.0, sensitive + sensitive * (growth - effect) - mutated);
            resistant += resistant * growth + mutated;
            smallest = std::min(smallest, sensitive + resistant);
            pair_near(&p, "volume", (size_t)day * count + i, sensitive + resistant, volume[(size_t)day * count + i],
                      1e-3);
        }
        pair_near(&p, "nadir", i, smallest, nadir[i], 1e-3);
    }
    return pair_end(&p);
}
