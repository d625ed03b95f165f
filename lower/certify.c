/* lower/certify.c -- the certificate of a legal tree.  See certify.h. */
#include "lower/certify.h"

#include <isl/aff.h>
#include <isl/space.h>
#include <isl/union_map.h>
#include <isl/val.h>
#include <isl/version.h>
#include <stdlib.h>
#include <string.h>

/* Coordinates of a statement: one for the place in each text, one a digit of each loop. */
static uint32_t time_length(const struct hn_poly *p, const struct hn_poly_stmt *s)
{
	return s->n_level + hn_poly_dims(p, s, s->n_loop);
}

static isl_map *time_of(const struct hn_poly *p, const struct hn_poly_stmt *s, uint32_t n)
{
	isl_set *domain = isl_map_domain(isl_map_copy(s->write));
	isl_space *space = isl_set_get_space(domain);
	isl_local_space *ls = isl_local_space_from_space(isl_space_copy(space));
	isl_multi_aff *f = isl_multi_aff_zero(isl_space_map_from_domain_and_range(
		space, isl_space_set_alloc(p->ctx, 0, n)));
	int at = 0, dim = 0;

	for (uint32_t i = 0; i < s->n_level; i++) {
		const struct hn_node *node = s->level[i].node;
		isl_aff *place = isl_aff_zero_on_domain(isl_local_space_copy(ls));

		place = isl_aff_set_constant_si(place, (int)s->level[i].position);
		f = isl_multi_aff_set_aff(f, at++, place);
		for (uint32_t k = 0; node->kind == HN_NODE_LOOP &&
				     k < p->radix[node->loop].n_digit;
		     k++) {
			f = isl_multi_aff_set_aff(
				f, at++,
				isl_aff_var_on_domain(isl_local_space_copy(ls),
						      isl_dim_set, (unsigned)dim++));
		}
	}
	isl_local_space_free(ls);
	return isl_map_intersect_domain(isl_map_from_multi_aff(f), domain);
}

isl_union_map *hn_poly_schedule(const struct hn_poly *p)
{
	isl_union_map *all =
		isl_union_map_empty(isl_space_params_alloc(p->ctx, 0));
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->n_stmt; i++) {
		uint32_t m = time_length(p, &p->stmt[i]);

		n = m > n ? m : n;
	}
	for (uint32_t i = 0; i < p->n_stmt; i++) {
		all = isl_union_map_add_map(all, time_of(p, &p->stmt[i], n));
	}
	return all;
}

int hn_certificate_write(const struct hn_poly *p, struct hn_buf *ret)
{
	static const char *const kind[] = { "compute", "init", "update" };
	isl_union_map *schedule = hn_poly_schedule(p);
	char *text = isl_union_map_to_str(schedule);

	isl_union_map_free(schedule);
	if (!text) {
		return -1;
	}
	hn_buf_puts(ret, "{\"format\":\"" HN_CERTIFICATE_FORMAT
			 "\",\"hone\":\"" HONE_VERSION "\",\"isl\":");
	hn_buf_printf(ret, "\"%.*s\"", (int)strcspn(isl_version(), "\n\"\\"), isl_version());
	hn_buf_puts(ret, ",\"checks\":[\"bounds\",\"coverage\",\"order\",\"sequence\","
			 "\"concurrency\"],\"statements\":[");
	for (uint32_t i = 0; i < p->n_stmt; i++) {
		const struct hn_node *node = p->stmt[i].node;

		hn_buf_printf(ret, "%s\"S%u %s ", i ? "," : "", p->stmt[i].id,
			      kind[node->stmt]);
		struct hn_buf name;

		hn_buf_init(&name);
		hn_buf_json_string(&name, p->tree->dag->op[node->stage]->name);
		hn_buf_puts(ret, name.s + 1); /* its text and closing quote */
		hn_buf_fini(&name);
	}
	hn_buf_puts(ret, "],\"schedule\":");
	hn_buf_json_string(ret, text);
	hn_buf_putc(ret, '}');
	free(text);
	return 0;
}
