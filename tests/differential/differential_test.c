// SPDX-License-Identifier: Apache-2.0
// What an H200 gave (tests/differential/forms.inc, random.hashes), given by the simulator too. Random programs: one of
// STEP here, all of them in `make differential`. No form is missing.
#include "base/testing.h"

#include <stdlib.h>
#include <string.h>

#include "form_record.h"
#include "form_sim.h"
#include "random_record.h"
#include "random_sim.h"

#if defined(__SANITIZE_ADDRESS__)
enum { STEP = 199, FORM_STEP = 13 };
#else
enum { STEP = 4, FORM_STEP = 1 };
#endif

typedef struct Forms {
    FormSim *sim;
    u32 of_op, seen, run, wrong;
} Forms;

static void run_form(void *context, const FormCase *form) {
    Forms *f = context;
    const FormRecord *record = form_record(form);
    char why[1024] = "";
    if (!record) return;
    f->of_op++;
    if (f->seen++ % FORM_STEP) return;
    const u64 *out = form_sim_run(f->sim, form, why, sizeof why);
    f->run++;
    if (out && (!record->hash || record->hash == form_hash(out))) return;
    print_error("%s (variant %u): %s\n", form->mnemonic, form->variant, out ? "not what the GPU gave" : why);
    f->wrong++;
}

TEST(every_form_gives_what_the_gpu_gave) {
    Forms f = {.sim = form_sim_open()};
    assert_non_null(f.sim);
    for (u32 op = 0; op < OP_COUNT; op++) form_each(op, run_form, &f);
    form_sim_close(f.sim);
    assert_int_equal(f.wrong, 0);
    assert_int_equal(f.seen, form_record_count());  // none of them is gone from ops.def
}

static void count_form(void *context, const FormCase *form) { *(u32 *)context += form_record(form) != NULL; }

TEST(every_executable_op_has_forms) {
    u32 missing = 0;
    for (u32 op = 0; op < OP_COUNT; op++) {
        u32 forms = 0;
        if (!ptx_ops[op].executable || form_excluded(op)) continue;
        form_each(op, count_form, &forms);
        if (!forms) print_error("%s %s: no form in forms.inc\n", ptx_ops[op].name, ptx_ops[op].mods), missing++;
    }
    assert_int_equal(missing, 0);
}

static RandomResult result;

static bool unexplained(u32 program) {
    static const u32 programs[] = {
#include "random_unexplained.inc"
    };
    for (u32 i = 0; i < WL_COUNT(programs); i++)
        if (programs[i] == program) return true;
    return false;
}

TEST(random_programs_give_what_the_gpu_gave) {
    u32 count, wrong = 0, run = 0;
    u32 *hashes = random_recorded(NULL, &count);
    RandomSim *sim = random_sim_open();
    assert_non_null(sim);
    assert_non_null(hashes);
    for (u32 i = 0; i < count; i += STEP) {
        RandomProgram p;
        char why[1024];
        if (!hashes[i]) continue;
        assert_true(random_program(RANDOM_FIRST + i, NULL, &p));
        bool ok = random_sim_run(sim, &p, &result, why, sizeof why);
        if (!ok) print_error("seed %u: %s\n", RANDOM_FIRST + i, why);
        bool equal = ok && random_short_hash(random_hash(&p, result.acc, result.slots, result.out)) == hashes[i];
        if (ok && equal == unexplained(i))
            print_error("seed %u: %s\n", RANDOM_FIRST + i,
                        equal ? "equal now: take it out of random_unexplained.inc" : "not what the GPU gave"),
                ok = false;
        wrong += !ok, run++;
        random_free(&p);
    }
    random_sim_close(sim);
    free(hashes);
    assert_true(run > 99);
    assert_int_equal(wrong, 0);
}

// Statements can be left out one by one: what is left is still a program.
TEST(programs_shrink) {
    static u8 mask[4096];
    RandomSim *sim = random_sim_open();
    assert_non_null(sim);
    for (u64 seed = 1; seed <= 20; seed++) {
        RandomCut cut = {mask, sizeof mask};
        RandomProgram whole, part;
        char why[1024];
        assert_true(random_program(seed, NULL, &whole));
        for (u32 i = 0; i < sizeof mask; i++) mask[i] = (u8)(i * seed % 3 == 0);
        assert_true(random_program(seed, &cut, &part));
        assert_int_equal(part.statements, whole.statements);
        assert_true(part.size < whole.size);
        if (!random_sim_run(sim, &part, &result, why, sizeof why)) fail_msg("seed %u: %s", (u32)seed, why);
        random_free(&whole);
        random_free(&part);
    }
    random_sim_close(sim);
}

// Apart, a program computes the same.
TEST(programs_come_apart) {
    RandomSim *sim = random_sim_open();
    assert_non_null(sim);
    for (u64 seed = 1; seed <= 40; seed++) {
        RandomProgram p;
        char why[1024];
        u64 hash[2];
        size_t size = 0;
        for (u32 apart = 0; apart < 2; apart++) {
            assert_true(random_program(seed, NULL, &p));
            if (apart) assert_true(random_apart(&p) && p.size > size * 5 / 4);
            if (!random_sim_run(sim, &p, &result, why, sizeof why)) fail_msg("seed %u: %s", (u32)seed, why);
            hash[apart] = random_hash(&p, result.acc, result.slots, result.out);
            size = p.size;
            random_free(&p);
        }
        assert_int_equal(hash[0], hash[1]);
    }
    random_sim_close(sim);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_form_gives_what_the_gpu_gave),
        cmocka_unit_test(every_executable_op_has_forms),
        cmocka_unit_test(random_programs_give_what_the_gpu_gave),
        cmocka_unit_test(programs_shrink),
        cmocka_unit_test(programs_come_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
