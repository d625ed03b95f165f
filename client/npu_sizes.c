/* client/npu_sizes.c -- `hone npu` of programs with sizes: for which sizes each is, and how long a launch
 * takes at those that --dim gives, or at some of the range.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/jw.h"
#include "client/npu.h"
#include "target/npu/npu_form.h"
#include "target/npu/npu_launch.h"

#define LAUNCHES 12

int hn_npu_sizes_given(const struct hn_opts *o, const struct hn_npu_program *p, int64_t *ret, uint32_t *ret_n,
		       struct hn_err *err)
{
	uint32_t seen = 0;

	for (uint32_t i = 0; i < o->dim.n; i++) {
		const char *word = o->dim.word[i], *equals = strchr(word, '=');
		size_t n = equals != NULL ? (size_t)(equals - word) : strlen(word);
		uint32_t k = 0;
		char *end;

		while (k < p->n_size && (strlen(p->size[k].name) != n || memcmp(p->size[k].name, word, n) != 0)) {
			k++;
		}
		if (k == p->n_size) {
			return hn_fail(err, HONE_E_INVALID, "--dim %.80s: %s has no size of that name", word, p->what);
		}
		errno = 0;
		ret[k] = equals != NULL ? strtoll(equals + 1, &end, 10) : 0;
		if (equals == NULL || end == equals + 1 || *end != '\0' || errno != 0) {
			return hn_fail(err, HONE_E_INVALID, "--dim %.80s: a launch wants a number, as %s=%" PRId64, word,
				       p->size[k].name, p->size[k].hi);
		}
		seen |= 1u << k;
	}
	*ret_n = (uint32_t)__builtin_popcount(seen);
	for (uint32_t k = 0; k < p->n_size && seen != 0; k++) {
		if ((seen >> k & 1) == 0) {
			return hn_fail(err, HONE_E_INVALID, "%s: --dim %s=.. is missing: %" PRId64 " to %" PRId64, p->what,
				       p->size[k].name, p->size[k].lo, p->size[k].hi);
		}
	}
	return 0;
}

/* Sizes for launch i of LAUNCHES: from the least to the largest, each about as many times the one before. */
static void some(const struct hn_npu_program *p, uint32_t i, int64_t *ret)
{
	for (uint32_t k = 0; k < p->n_size; k++) {
		double lo = (double)p->size[k].lo, hi = (double)p->size[k].hi, begin = lo > 0 ? lo : 1;
		double v = round(begin * pow(hi / begin, (double)i / (LAUNCHES - 1)));

		ret[k] = i == 0 ? p->size[k].lo : i + 1 == LAUNCHES || v >= hi ? p->size[k].hi : (int64_t)v;
	}
}

int hn_npu_launched(const struct hn_npu_program *const *p, uint32_t n, const int64_t *value,
		    const struct hn_npu_profile *m, struct hn_npu_launched *ret, struct hn_err *err)
{
	struct hn_npu_options options = { .judge = true };
	const struct hn_npu_program *at;
	struct hn_arena a;
	int rc;

	hn_arena_init(&a, 0);
	at = p[0];
	rc = value == NULL ? 0 : hn_npu_launch_first(p, n, value, &a, &at, err);
	rc = rc ? rc : hn_npu_run(at, m, &options, &a, &ret->r, err);
	ret->judged = rc != -HONE_E_QUOTA;
	if (rc == -HONE_E_QUOTA) { /* more than races are looked for in */
		options.judge = false;
		rc = hn_npu_run(at, m, &options, &a, &ret->r, err);
	}
	for (uint32_t i = 0; i < n && rc == 0; i++) {
		ret->program = p[i]->section == at->section ? i : ret->program;
	}
	hn_arena_fini(&a);
	return rc;
}

struct launch {
	int64_t value[HN_NPU_MOST_SIZES];
	struct hn_npu_launched at;
};

static void put_condition(const struct hn_npu_program *p, struct hn_buf *b)
{
	for (uint32_t i = 0; i < p->n_size; i++) {
		hn_buf_printf(b, "%s%s = %" PRId64 "..%" PRId64, i > 0 ? ", " : "", p->size[i].name, p->size[i].lo,
			      p->size[i].hi);
	}
	for (uint32_t i = 0; i < p->n_where; i++) {
		hn_buf_puts(b, i > 0 ? " and " : " where ");
		hn_npu_where_print(p, &p->where[i], b);
	}
}

static uint32_t n_insn(const struct hn_npu_program *p)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->n_section; i++) {
		n += p->section[i].n_insn;
	}
	return n;
}

static void put_table(const struct hn_npu_program *const *p, uint32_t n, const struct hn_npu_profile *m,
		      const struct launch *l, uint32_t n_launch, struct hn_buf *b)
{
	hn_buf_printf(b, "%s on %s: %u program%s (simulated by a model, docs/npu.md)\n", p[0]->what, m->name, n,
		      n > 1 ? "s, the first that fits is taken" : "");
	for (uint32_t i = 0; i < n; i++) {
		hn_buf_printf(b, "  %u: %u instructions, for ", i + 1, n_insn(p[i]));
		put_condition(p[i], b);
		hn_buf_putc(b, '\n');
	}
	for (uint32_t k = 0; k < p[0]->n_size; k++) {
		hn_buf_printf(b, "%12s", p[0]->size[k].name);
	}
	hn_buf_puts(b, "  program      cycles         us\n");
	for (uint32_t i = 0; i < n_launch; i++) {
		for (uint32_t k = 0; k < p[0]->n_size; k++) {
			hn_buf_printf(b, "%12" PRId64, l[i].value[k]);
		}
		hn_buf_printf(b, "  %7u  %10" PRId64 "  %9.2f%s\n", l[i].at.program + 1, l[i].at.r.cycles,
			      (double)l[i].at.r.cycles / (double)m->mhz,
			      l[i].at.judged ? "" : "  too large to look for races");
	}
	hn_buf_puts(b, "no race, in any order of the pipes\n");
}

static void put_json(const struct hn_npu_program *const *p, uint32_t n, const struct hn_npu_profile *m,
		     const struct launch *l, uint32_t n_launch, struct hn_buf *b)
{
	struct hn_buf condition;
	struct hn_jw w;

	hn_buf_init(&condition);
	hn_jw_init(&w, b);
	hn_jw_object(&w, NULL);
	hn_jw_str(&w, "name", p[0]->what);
	hn_jw_str(&w, "profile", m->name);
	hn_jw_list(&w, "programs");
	for (uint32_t i = 0; i < n; i++) {
		hn_buf_reset(&condition);
		put_condition(p[i], &condition);
		hn_jw_object(&w, NULL);
		hn_jw_str(&w, "for", condition.s);
		hn_jw_uint(&w, "instructions", n_insn(p[i]));
		hn_jw_end(&w);
	}
	hn_jw_end(&w);
	hn_jw_list(&w, "launches");
	for (uint32_t i = 0; i < n_launch; i++) {
		hn_jw_object(&w, NULL);
		for (uint32_t k = 0; k < p[0]->n_size; k++) {
			hn_jw_int(&w, p[0]->size[k].name, l[i].value[k]);
		}
		hn_jw_uint(&w, "program", l[i].at.program + 1);
		hn_jw_bool(&w, "judged", l[i].at.judged);
		hn_npu_put_members(m, &l[i].at.r, &w);
		hn_jw_end(&w);
	}
	hn_jw_end(&w);
	hn_jw_end(&w);
	hn_jw_done(&w);
	hn_buf_putc(b, '\n');
	hn_buf_fini(&condition);
}

int hn_npu_sizes_show(const struct hn_opts *o, const struct hn_npu_program *const *p, uint32_t n,
		      const struct hn_npu_profile *m, struct hn_buf *b, struct hn_err *err)
{
	struct launch l[LAUNCHES] = { { .value = { 0 } } };
	uint32_t n_launch = 0;
	int rc = 0;

	for (uint32_t i = 0; i < LAUNCHES && rc == 0; i++) {
		struct launch *at = &l[n_launch];

		some(p[0], i, at->value);
		if (n_launch == 0 || memcmp(at->value, at[-1].value, p[0]->n_size * sizeof(at->value[0])) != 0) {
			rc = hn_npu_launched(p, n, at->value, m, &at->at, err);
			n_launch++;
		}
	}
	if (rc != 0) {
		return rc;
	}
	(o->json ? put_json : put_table)(p, n, m, l, n_launch, b);
	return 0;
}
