/* graph/akg/open.c -- names for open dimensions that have to be alike.
 *
 * A file may leave dimensions open (-1) and name none.  Where an operator takes an element of each
 * operand for an element of its result, dimensions at the same place, counted from the last, are one:
 * so one size is asked for, and in a range they go together.  What a file names itself keeps its name.
 */
#include <string.h>

#include "graph/akg/import_int.h"
#include "graph/akg/rows.h"

static void (*const by_element[])(struct hn_akg_call *) = {
	hn_akg_unary,	 hn_akg_square, hn_akg_whole,	  hn_akg_number_is, hn_akg_logical,
	hn_akg_add_least, hn_akg_zeros,	 hn_akg_binary,	  hn_akg_floor_div, hn_akg_mod,
	hn_akg_compare,	 hn_akg_select, hn_akg_select_by, hn_akg_copy,	    hn_akg_mul,
	hn_akg_div,
};

struct dims { /* of all tensors, in sets by a parent each */
	struct hn_names first; /* number of a tensor's first dimension, from 1 */
	uint32_t n, *parent;
	const char **name; /* of a set's first one; NULL: none */
	struct hn_arena *a;
};

static uint32_t find(struct dims *d, uint32_t i)
{
	while (d->parent[i] != i) {
		i = d->parent[i] = d->parent[d->parent[i]];
	}
	return i;
}

/* Number of its first dimension. */
static uint32_t of(struct dims *d, const struct hn_akg_tensor *t)
{
	int32_t *first = hn_names_at(&d->first, t->name, 0);

	if (*first == 0) {
		*first = (int32_t)d->n + 1;
		for (uint32_t k = 0; k < t->rank; k++) {
			d->parent[d->n] = d->n;
			d->n++;
		}
	}
	return (uint32_t)*first - 1;
}

/* The one that is in the file first stands for both. */
static void join(struct dims *d, uint32_t a, uint32_t b)
{
	a = find(d, a);
	b = find(d, b);
	d->parent[a > b ? a : b] = a > b ? b : a;
}

static bool is_by_element(const struct hn_akg_op *op)
{
	const struct hn_akg_row *row = hn_akg_row_find(op->name);

	for (size_t i = 0; row != NULL && op->n_out == 1 && i < HN_COUNT_OF(by_element); i++) {
		if (row->build == by_element[i]) {
			return true;
		}
	}
	return false;
}

static void operator(struct dims *d, const struct hn_akg_op *op)
{
	const struct hn_akg_tensor *y = op->out;

	for (uint32_t i = 0; i < op->n_in; i++) {
		const struct hn_akg_tensor *x = &op->in[i];

		for (uint32_t k = 1; k <= x->rank && k <= y->rank && x->value == NULL; k++) {
			if (x->shape[x->rank - k] == -1 && y->shape[y->rank - k] == -1) {
				join(d, of(d, x) + x->rank - k, of(d, y) + y->rank - k);
			}
		}
	}
}

/* What the file calls one of the set; else, where a second input has one of it, the place of the first. */
static void name_inputs(struct dims *d, const struct hn_akg_kernel *k, const char ***ret)
{
	uint32_t *n = HN_NEW_ARRAY(d->a, uint32_t, d->n + 1);

	for (uint32_t i = 0; i < k->n_in; i++) {
		for (uint32_t j = 0; j < k->in[i].rank; j++) {
			const char *said = k->in[i].symbol != NULL ? k->in[i].symbol[j] : "";
			uint32_t set = find(d, of(d, &k->in[i]) + j);

			n[set] += k->in[i].shape[j] == -1;
			d->name[set] = d->name[set] == NULL && *said != '\0' ? said : d->name[set];
		}
	}
	for (uint32_t i = 0; i < k->n_in; i++) {
		ret[i] = HN_NEW_ARRAY(d->a, const char *, k->in[i].rank + 1);
		for (uint32_t j = 0; j < k->in[i].rank; j++) {
			uint32_t set = find(d, of(d, &k->in[i]) + j);

			if (k->in[i].shape[j] != -1 || (n[set] < 2 && d->name[set] == NULL)) {
				continue;
			}
			if (d->name[set] == NULL) {
				d->name[set] = hn_arena_printf(d->a, "%s:%u", k->in[i].name, j);
			}
			ret[i][j] = d->name[set];
		}
	}
}

const char ***hn_akg_name_open(const struct hn_akg_kernel *k, struct hn_arena *a)
{
	const char ***ret = HN_NEW_ARRAY(a, const char **, k->n_in + 1);
	struct dims d = { .a = a };
	uint32_t n = 0, most = k->n_in;

	for (uint32_t i = 0; i < k->n_in; i++) {
		n += k->in[i].rank;
	}
	for (uint32_t i = 0; i < k->n_op; i++) {
		const struct hn_akg_op *op = &k->op[i];

		most += op->n_in + op->n_out;
		for (uint32_t j = 0; j < op->n_in; j++) {
			n += op->in[j].rank;
		}
		for (uint32_t j = 0; j < op->n_out; j++) {
			n += op->out[j].rank;
		}
	}
	hn_names_init(&d.first, most + 1, a);
	d.parent = HN_NEW_ARRAY(a, uint32_t, n + 1);
	d.name = HN_NEW_ARRAY(a, const char *, n + 1);
	for (uint32_t i = 0; i < k->n_in; i++) { /* so that an input's comes first */
		of(&d, &k->in[i]);
	}
	for (uint32_t i = 0; i < k->n_op; i++) {
		if (is_by_element(&k->op[i])) {
			operator(&d, &k->op[i]);
		}
	}
	name_inputs(&d, k, ret);
	return ret;
}
