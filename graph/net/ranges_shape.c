/* graph/net/ranges_shape.c -- what sizes make of the dimensions of inputs and outputs. */
#include "graph/net/ranges_int.h"

/* The values are those of inputs, or of outputs. */
struct side {
	const int32_t *v;
	uint32_t n;
};

static struct side side_of(const struct hn_graph *g, bool outputs)
{
	return outputs ? (struct side){ g->output, g->n_output } : (struct side){ g->input, g->n_input };
}

struct hn_lift_form **hn_ranges_shapes(const struct hn_ranges_finder *f, const int64_t *most,
				       const struct hn_graph *g, bool outputs,
				       const struct hn_net *below)
{
	struct side s = side_of(g, outputs);
	struct hn_lift_form **form = HN_NEW_ARRAY(f->a, struct hn_lift_form *, s.n);

	for (uint32_t i = 0; i < s.n; i++) {
		const struct hn_gvalue *x = &g->value[s.v[i]];

		form[i] = HN_NEW_ARRAY(f->a, struct hn_lift_form, x->rank + 1);
		for (uint32_t d = 0; d < x->rank; d++) {
			const int64_t *other[HN_LIFT_BELOW] = { NULL };

			for (uint32_t k = 0; k < HN_LIFT_BELOW; k++) {
				const struct hn_graph *h = below[k].g;

				other[k] = h == NULL
						   ? NULL
						   : &h->value[side_of(h, outputs).v[i]].shape[d];
			}
			form[i][d] = hn_lift_form_of(most, f->n_size, x->shape[d], other);
		}
	}
	return form;
}

bool hn_ranges_have_shapes(const struct hn_ranges_finder *f, struct hn_lift_form *const *form,
			   const struct hn_graph *g, bool outputs, const int64_t *size)
{
	struct side s = side_of(g, outputs);

	for (uint32_t i = 0; i < s.n; i++) {
		const struct hn_gvalue *x = &g->value[s.v[i]];

		for (uint32_t d = 0; d < x->rank; d++) {
			if (hn_lift_value(&form[i][d], size, f->n_size) != x->shape[d]) {
				return false;
			}
		}
	}
	return true;
}

const char *const **hn_ranges_shape_texts(const struct hn_ranges_finder *f,
					  struct hn_lift_form *const *form,
					  const struct hn_graph *g, bool outputs)
{
	struct side s = side_of(g, outputs);
	const char *const **ret = HN_NEW_ARRAY(f->a, const char *const *, s.n);
	const char *name[HN_NET_MAX_SIZES];
	int64_t step[HN_NET_MAX_SIZES];

	for (uint32_t k = 0; k < f->n_size; k++) {
		name[k] = f->size[k].name;
		step[k] = f->size[k].step;
	}
	for (uint32_t i = 0; i < s.n; i++) {
		uint32_t rank = g->value[s.v[i]].rank;
		const char **text = HN_NEW_ARRAY(f->a, const char *, rank + 1);

		for (uint32_t d = 0; d < rank; d++) {
			struct hn_buf b;

			hn_buf_init(&b);
			hn_lift_write_form(&form[i][d], name, step, f->n_size, &b);
			text[d] = hn_arena_strndup(f->a, b.s, b.n);
			hn_buf_fini(&b);
		}
		ret[i] = text;
	}
	return ret;
}
