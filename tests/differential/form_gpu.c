// SPDX-License-Identifier: Apache-2.0
// Every form on a GPU and on the simulator.
//   form_gpu count                  candidates by op
//   form_gpu legal                  the candidates that ptxas takes, as rows of forms.inc without a hash
//   form_gpu sim [PART]             which of forms.inc the simulator cannot run, or does not give the recorded result
//   form_gpu text MNEMONIC VARIANT  the kernel
//   form_gpu gpu FOLDER [SECONDS]   forms.inc on both: what differs goes into FOLDER, and forms.inc anew
// Run it in a folder with gpus/.
#include <stdlib.h>
#include <string.h>

#include "campaign.h"
#include "form_record.h"
#include "form_sim.h"

typedef struct Run {
    FormCase *forms;
    u32 count, cap;
    const char *folder, *part;
    FormSim *sim;
    u64 input, output;  // on the GPU
    u64 of_sim[FORM_THREADS * FORM_OUTPUTS], of_gpu[FORM_THREADS * FORM_OUTPUTS], in[FORM_THREADS * FORM_INPUTS];
} Run;

static void keep(void *context, const FormCase *form) {
    Run *r = context;
    if (r->part && !strstr(form->mnemonic, r->part)) return;
    if (r->count == r->cap) {
        r->cap = r->cap ? r->cap * 2 : 1024;
        r->forms = realloc(r->forms, r->cap * sizeof *r->forms);
        if (!r->forms) exit(2);
    }
    r->forms[r->count++] = *form;
}
static void keep_recorded(void *context, const FormCase *form) {
    if (form_record(form)) keep(context, form);
}

// --- what ptxas takes ---------------------------------------------------------------------------------------------
enum { TOGETHER = 400 };
// Asks for forms from `from` on together; marks those on whose lines it complains.
static bool ask(const Run *r, u32 from, u32 n, bool *bad) {
    static u32 first_line[TOGETHER + 1];
    static char text[FORM_TEXT], line[1024];
    FILE *f = fopen("/tmp/forms.ptx", "w");
    if (!f) exit(2);
    u32 at = 1;
    fputs(form_head, f);
    for (const char *p = form_head; *p; p++) at += *p == '\n';
    for (u32 i = 0; i < n; i++) {
        first_line[i] = at;
        if (bad[i] || !form_text(&r->forms[from + i], from + i, text, sizeof text)) continue;
        fputs(text, f);
        for (const char *p = text; *p; p++) at += *p == '\n';
    }
    first_line[n] = at;
    fclose(f);
    FILE *log = popen("ptxas -arch=sm_90 -O0 /tmp/forms.ptx -o /dev/null 2>&1", "r");
    bool clean = true;
    while (log && fgets(line, sizeof line, log)) {
        const char *p = strstr(line, "line ");
        if (!p || strstr(line, "warning") || strstr(line, "info ")) continue;
        u32 number = (u32)atoi(p + 5);
        for (u32 i = 0; i < n; i++)
            if (number >= first_line[i] && number < first_line[i + 1]) {
                bad[i] = true, clean = false;
                if (getenv("FORMS_VERBOSE"))
                    fprintf(stderr, "%s %u: %s", r->forms[from + i].mnemonic, r->forms[from + i].variant, line);
            }
    }
    int rc = log ? pclose(log) : -1;
    if (clean && rc) fprintf(stderr, "ptxas fails without a line from form %u on\n", from);
    return clean;
}
static void legal(Run *r) {
    for (u32 from = 0; from < r->count; from += TOGETHER) {
        bool bad[TOGETHER] = {0};
        u32 n = r->count - from < TOGETHER ? r->count - from : TOGETHER;
        while (!ask(r, from, n, bad)) continue;
        for (u32 i = 0; i < n; i++)
            if (!bad[i]) printf("{\"%s\", %u, 0x0},\n", r->forms[from + i].mnemonic, r->forms[from + i].variant);
        fflush(stdout);
    }
}

// --- both ---------------------------------------------------------------------------------------------------------
static void name(void *context, u32 i, char *text, size_t size) {
    const FormCase *f = &((Run *)context)->forms[i];
    snprintf(text, size, "%s (%u)", f->mnemonic, f->variant);
}
static void text_of(void *context, u32 i, FILE *f) {
    static char text[FORM_TEXT];
    if (form_text(&((Run *)context)->forms[i], i, text, sizeof text)) fputs(text, f);
}
static bool simulate(void *context, u32 i, u64 *hash) {
    Run *r = context;
    char why[1024] = "";
    if (!r->sim) r->sim = form_sim_open();
    const u64 *out = r->sim ? form_sim_run(r->sim, &r->forms[i], why, sizeof why) : NULL;
    if (!out) printf("%s (%u): simulator: %s\n", r->forms[i].mnemonic, r->forms[i].variant, why);
    if (out) memcpy(r->of_sim, out, sizeof r->of_sim);
    *hash = out ? form_hash(r->of_sim) : 0;
    return out != NULL;
}
static bool on_gpu(void *context, u32 i, CampaignGpu *gpu, u64 *hash) {
    Run *r = context;
    char kernel[16];
    const u32 grid[3] = {FORM_THREADS / FORM_BLOCK, 1, 1}, block[3] = {FORM_BLOCK, 1, 1};
    if (!r->input) r->input = driver_memory(gpu, sizeof r->in), r->output = driver_memory(gpu, sizeof r->of_gpu);
    void *values[] = {&r->input, &r->output, r->in};
    snprintf(kernel, sizeof kernel, "f%u", i);
    form_inputs(&r->forms[i], r->in);
    int rc = driver_write(gpu, r->input, r->in, sizeof r->in);
    if (!rc) rc = driver_clear(gpu, r->output, sizeof r->of_gpu);
    if (!rc) rc = driver_launch(gpu, kernel, grid, block, values);
    if (!rc) rc = driver_read(gpu, r->of_gpu, r->output, sizeof r->of_gpu);
    if (rc) printf("%s: GPU error %d\n", r->forms[i].mnemonic, rc);
    *hash = form_hash(r->of_gpu);
    return rc == 0;
}
// All rows of a form that differs, and one line of summary.
static void report(void *context, u32 i) {
    Run *r = context;
    const FormCase *f = &r->forms[i];
    char path[700];
    u64 ignored;
    u32 wrong = 0;
    if (!simulate(context, i, &ignored)) return;
    snprintf(path, sizeof path, "%s/forms_diff.txt", r->folder);
    FILE *o = fopen(path, "a");
    if (!o) return;
    for (u32 t = 0; t < FORM_THREADS; t++) {
        const u64 *g = r->of_gpu + t * FORM_OUTPUTS, *s = r->of_sim + t * FORM_OUTPUTS, *a = r->in + t * FORM_INPUTS;
        if (!memcmp(g, s, FORM_OUTPUTS * 8)) continue;
        if (wrong++ > 40) continue;
        fprintf(o, "%s (%u) thread %u in %llx %llx %llx %llx %llx :", f->mnemonic, f->variant, t,
                (unsigned long long)a[0], (unsigned long long)a[1], (unsigned long long)a[2], (unsigned long long)a[3],
                (unsigned long long)a[7]);
        for (u32 k = 0; k < FORM_OUTPUTS; k++)
            if (g[k] != s[k])
                fprintf(o, " [%u] gpu %llx sim %llx", k, (unsigned long long)g[k], (unsigned long long)s[k]);
        fprintf(o, "\n");
    }
    fclose(o);
    printf("%s (%u): %u of %u differ\n", f->mnemonic, f->variant, wrong, FORM_THREADS);
}

static int sim_all(Run *r) {
    u32 wrong = 0, unrun = 0;
    for (u32 i = 0; i < r->count; i++) {
        u64 hash;
        const FormRecord *rec = form_record(&r->forms[i]);
        if (!simulate(r, i, &hash))
            unrun++;
        else if (rec->hash && rec->hash != hash)
            wrong++, printf("%s (%u): not what the GPU gave\n", rec->mnemonic, rec->variant);
    }
    printf("%u forms: %u not executable, %u wrong\n", r->count, unrun, wrong);
    return wrong || unrun;
}

// forms.inc anew. What was recorded before stays where the GPU has not run; approximations are recorded when they
// agree.
static int record(Run *r, const u64 *gpu, const u64 *sim) {
    char path[700];
    snprintf(path, sizeof path, "%s/forms.inc", r->folder);
    FILE *f = fopen(path, "w");
    for (u32 i = 0; f && i < r->count; i++) {
        const FormRecord *rec = form_record(&r->forms[i]);
        u64 hash = gpu[i] ? gpu[i] : rec->hash;
        if (gpu[i] != sim[i] && form_approximate(&r->forms[i])) hash = 0;
        fprintf(f, "{\"%s\", %u, 0x%llx},\n", rec->mnemonic, rec->variant, (unsigned long long)hash);
    }
    return f ? fclose(f) : 1;
}

int main(int argc, char **argv) {
    static Run r;
    const char *what = argc > 1 ? argv[1] : "";
    bool candidates = !strcmp(what, "count") || !strcmp(what, "legal") || !strcmp(what, "text");
    if (argc > 2) r.part = r.folder = argv[2];
    if (!strcmp(what, "gpu")) r.part = NULL;
    for (u32 op = 0; op < OP_COUNT; op++) {
        u32 before = r.count;
        form_each(op, candidates ? keep : keep_recorded, &r);
        if (!strcmp(what, "count") && r.count > before)
            printf("%-24s %s %u\n", ptx_ops[op].name, ptx_ops[op].sig, r.count - before);
    }
    if (!strcmp(what, "count")) return printf("%u\n", r.count), 0;
    if (!strcmp(what, "legal")) return legal(&r), 0;
    if (!strcmp(what, "sim")) return sim_all(&r);
    if (!strcmp(what, "text")) {
        fputs(form_head, stdout);
        for (u32 i = 0; i < r.count; i++)
            if (!strcmp(r.forms[i].mnemonic, argv[2]) && (argc < 4 || r.forms[i].variant == atoi(argv[3])))
                text_of(&r, i, stdout);
        return 0;
    }
    if (strcmp(what, "gpu") || argc < 3) return puts("form_gpu count|legal|sim|text|gpu"), 2;
    Campaign c = {.count = r.count,
                  .batch = 64,
                  .head = form_head,
                  .level = 3,
                  .context = &r,
                  .name = name,
                  .text = text_of,
                  .simulate = simulate,
                  .on_gpu = on_gpu,
                  .report = report,
                  .shown = 1000};
    if (argc > 3) c.seconds = strtoull(argv[3], NULL, 0);
    u64 *gpu = calloc(r.count, sizeof *gpu), *sim = calloc(r.count, sizeof *sim);
    if (!gpu || !sim) return 2;
    int rc = campaign_run(&c, gpu, sim);
    if (record(&r, gpu, sim)) rc = 2;
    free(gpu);
    free(sim);
    return rc;
}
