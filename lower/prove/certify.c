/* lower/prove/certify.c -- the certificate of a legal tree.  See certify.h. */
#include "lower/prove/certify.h"

#include <isl/version.h>
#include <string.h>

#include "base/jw.h"
#include "loopstate/nest/ring.h"
#include "lower/prove/poly_isolate.h"

/* Coordinates of a loop: its digits; where some of it is ahead of the rest, the turn. */
static uint32_t turn_length(const struct hn_poly *p, const struct hn_node *loop)
{
	return hn_ring_uneven(loop) ? 1 : p->radix[loop->loop].n_digit;
}

/* Coordinates of a statement: one for the place in each text, and those of each loop. */
static uint32_t time_length(const struct hn_poly *p, const struct hn_poly_stmt *s)
{
	uint32_t n = s->n_level;

	for (uint32_t i = 0; i < s->n_loop; i++) {
		n += turn_length(p, s->loop[i]);
	}
	return n;
}

static void put_time(const struct hn_poly *p, const struct hn_poly_stmt *s, uint32_t n,
		     struct hn_buf *ret)
{
	uint32_t loop = 0;

	hn_buf_puts(ret, " -> [");
	for (uint32_t i = 0; i < s->n_level; i++) {
		const struct hn_node *node = s->level[i].node;

		hn_buf_printf(ret, "%s%u", i > 0 ? ", " : "", s->level[i].position);
		if (node->kind != HN_NODE_LOOP) {
			continue;
		}
		if (hn_ring_uneven(node)) {
			hn_buf_puts(ret, ", ");
			hn_poly_put_turn(p, s, loop, ret);
		}
		for (uint32_t k = 0; k < p->radix[node->loop].n_digit && !hn_ring_uneven(node);
		     k++) {
			hn_buf_printf(ret, ", l%d_%u", node->loop, k);
		}
		loop++;
	}
	for (uint32_t i = time_length(p, s); i < n; i++) {
		hn_buf_puts(ret, ", 0");
	}
	hn_buf_putc(ret, ']');
}

static void put_ranges(const struct hn_poly *p, const struct hn_poly_stmt *s,
		       struct hn_buf *ret)
{
	const char *and = " : ";

	for (uint32_t i = 0; i < s->n_loop; i++) {
		int32_t l = s->loop[i]->loop;

		for (uint32_t k = 0; k < p->radix[l].n_digit; k++, and = " and ") {
			hn_buf_printf(ret, "%s0 <= l%d_%u <= %lld", and, l, k,
				      (long long)hn_digit_range(&p->radix[l], k) - 1);
		}
	}
}

void hn_poly_schedule(const struct hn_poly *p, struct hn_buf *ret)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->n_stmt; i++) {
		uint32_t m = time_length(p, &p->stmt[i]);

		n = m > n ? m : n;
	}
	hn_buf_puts(ret, "{ ");
	for (uint32_t i = 0; i < p->n_stmt; i++) {
		hn_buf_puts(ret, i > 0 ? "; " : "");
		hn_poly_put_instance(p, &p->stmt[i], ret);
		put_time(p, &p->stmt[i], n, ret);
		put_ranges(p, &p->stmt[i], ret);
	}
	hn_buf_puts(ret, " }");
}

/* What was proved was proved for all of these. */
static void put_sizes(const struct hn_sizes *sizes, struct hn_jw *w)
{
	if (!sizes || sizes->n == 0) {
		return;
	}
	hn_jw_list(w, "for_all_sizes");
	for (uint32_t k = 0; k < sizes->n; k++) {
		hn_jw_list(w, NULL);
		hn_jw_str(w, NULL, sizes->size[k].name);
		hn_jw_int(w, NULL, sizes->size[k].lo);
		hn_jw_int(w, NULL, sizes->size[k].hi);
		hn_jw_end(w);
	}
	hn_jw_end(w);
}

/* Stages that are not what they were, each with what it was shown to be. */
static void put_equal(const struct hn_equal *equal, struct hn_jw *w)
{
	if (equal->n == 0) {
		return;
	}
	hn_jw_list(w, "equal");
	for (uint32_t i = 0; i < equal->n; i++) {
		const struct hn_equal_row *row = &equal->row[i];

		hn_jw_object(w, NULL);
		hn_jw_str(w, "stage", row->stage);
		if (row->is) {
			hn_jw_str(w, "is", row->is);
		} else {
			hn_jw_null(w, "is");
		}
		hn_jw_str(w, "rule", row->rule);
		hn_jw_str(w, "by", row->by);
		hn_jw_end(w);
	}
	hn_jw_end(w);
}

int hn_certificate_write(const struct hn_poly *p, const struct hn_equal *equal, struct hn_buf *ret)
{
	static const char *const checks[] = { "bounds", "coverage", "order", "sequence",
					      "concurrency", "equality" };
	struct hn_buf schedule;
	struct hn_jw w;

	hn_buf_init(&schedule);
	hn_poly_schedule(p, &schedule);
	hn_jw_init(&w, ret);
	hn_jw_object(&w, NULL);
	hn_jw_str(&w, "format", HN_CERTIFICATE_FORMAT);
	hn_jw_str(&w, "hone", HONE_VERSION);
	hn_jw_strf(&w, "isl", "%.*s", (int)strcspn(isl_version(), "\n\"\\"), isl_version());
	hn_jw_list(&w, "checks");
	for (size_t i = 0; i < HN_COUNT_OF(checks); i++) {
		hn_jw_str(&w, NULL, checks[i]);
	}
	hn_jw_end(&w);
	hn_jw_list(&w, "statements");
	for (uint32_t i = 0; i < p->n_stmt; i++) {
		const struct hn_node *node = p->stmt[i].node;

		hn_jw_strf(&w, NULL, "S%u %s %s", p->stmt[i].id, hn_poly_kind(&p->stmt[i]),
			   p->tree->dag->op[node->stage]->name);
	}
	hn_jw_end(&w);
	put_equal(equal, &w);
	put_sizes(p->tree->dag->sizes, &w);
	hn_jw_str(&w, "schedule", schedule.s);
	hn_jw_end(&w);
	hn_buf_fini(&schedule);
	return ret->failed ? -1 : 0;
}
