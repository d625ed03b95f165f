/* graph/op/einsum.c -- sums of products, by names of dimensions.
 *
 * `einsum` has the attribute equation, without blanks and with a letter for every dimension: those
 * of an ellipsis are digits.  "0ij,0jk->0ik" is a product of matrices.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "graph/op/build.h"
#include "graph/op/rows.h"
#include "graph/op/sum.h"

#define MAX_OPERANDS 8u
#define MAX_EQUATION (MAX_OPERANDS * (HN_GRAPH_MAX_RANK + 1) + HN_GRAPH_MAX_RANK + 4)

/* An equation as it is written down. */
struct equation {
	char text[MAX_EQUATION];
	size_t n;
	uint32_t ellipsis; /* dimensions that the widest one stands for */
};

static bool put(struct equation *e, char letter)
{
	if (e->n + 1 >= sizeof(e->text)) {
		return false;
	}
	e->text[e->n++] = letter;
	e->text[e->n] = '\0';
	return true;
}

/* Letters of a term, without the ellipsis. */
static uint32_t letters(const char *term, size_t n)
{
	uint32_t count = 0;

	for (size_t i = 0; i < n; i++) {
		count += isalpha((unsigned char)term[i]) != 0;
	}
	return count;
}

/* One term; its ellipsis stands for `wide` dimensions, the last ones of all. */
static bool put_term(struct equation *e, const char *term, size_t n, uint32_t wide)
{
	for (size_t i = 0; i < n; i++) {
		if (strncmp(term + i, "...", 3) == 0 && i + 3 <= n) {
			for (uint32_t k = 0; k < wide; k++) {
				if (!put(e, (char)('0' + e->ellipsis - wide + k))) {
					return false;
				}
			}
			i += 2;
		} else if (term[i] != ' ' &&
			   (!isalpha((unsigned char)term[i]) || !put(e, term[i]))) {
			return false;
		}
	}
	return true;
}

static const char *end_of_term(const char *p)
{
	while (*p != '\0' && *p != ',' && strncmp(p, "->", 2) != 0) {
		p++;
	}
	return p;
}

static bool has_ellipsis(const char *term, size_t n)
{
	for (size_t i = 0; i + 3 <= n; i++) {
		if (strncmp(term + i, "...", 3) == 0) {
			return true;
		}
	}
	return false;
}

/* How many dimensions operand i leaves to its ellipsis; -1: they do not fit. */
static int32_t wide_of(const struct hn_gcall *c, uint32_t i, const char *term, size_t n)
{
	int32_t wide = i < c->node->n_in ? (int32_t)hn_gcall_in(c, i)->rank -
						   (int32_t)letters(term, n)
					 : -1;

	return wide > 0 && !has_ellipsis(term, n) ? -1 : wide;
}

/* Without "->": the ellipsis, then letters that are there once, by the alphabet. */
static bool put_implied(struct equation *e)
{
	size_t n = e->n;

	if (!put(e, '-') || !put(e, '>')) {
		return false;
	}
	for (uint32_t k = 0; k < e->ellipsis; k++) {
		if (!put(e, (char)('0' + k))) {
			return false;
		}
	}
	for (char letter = 'A'; letter <= 'z'; letter++) {
		uint32_t count = 0;

		for (size_t i = 0; i < n; i++) {
			count += e->text[i] == letter;
		}
		if (count == 1 && isalpha((unsigned char)letter) && !put(e, letter)) {
			return false;
		}
	}
	return true;
}

/* Operands' terms; *ret_rest is what is behind them.  Two passes: the widest ellipsis first. */
static bool put_operands(const struct hn_gcall *c, const char *text, struct equation *e,
			 const char **ret_rest)
{
	for (int pass = 0; pass < 2; pass++) {
		const char *p = text;

		for (uint32_t i = 0;; i++) {
			const char *end = end_of_term(p);
			int32_t wide = wide_of(c, i, p, (size_t)(end - p));

			if (wide < 0) {
				return false;
			}
			if (pass == 0) {
				e->ellipsis = (uint32_t)wide > e->ellipsis
						      ? (uint32_t)wide
						      : e->ellipsis;
			} else if (!put_term(e, p, (size_t)(end - p), (uint32_t)wide) ||
				   (*end == ',' && !put(e, ','))) {
				return false;
			}
			*ret_rest = end;
			if (*end != ',') {
				if (i + 1 != c->node->n_in) {
					return false;
				}
				break;
			}
			p = end + 1;
		}
	}
	return true;
}

static bool read_equation(const struct hn_gcall *c, struct equation *e)
{
	const char *rest;

	*e = (struct equation){ .n = 0 };
	if (!put_operands(c, hn_gattr_string(c->node, "equation", ""), e, &rest)) {
		return false;
	}
	if (*rest == '\0') {
		return put_implied(e);
	}
	return put(e, '-') && put(e, '>') && strpbrk(rest + 2, ",>") == NULL &&
	       put_term(e, rest + 2, strlen(rest + 2),
			has_ellipsis(rest + 2, strlen(rest + 2)) ? e->ellipsis : 0);
}

int32_t hn_einsum_expand(const struct hn_gcall *c)
{
	struct hn_gattr attr;
	struct equation e;

	for (uint32_t i = 0; i < c->node->n_in; i++) {
		if (hn_gcall_in(c, i) == NULL || c->node->n_in > MAX_OPERANDS) {
			return hn_graph_fail(c->g, HONE_E_UNSUPPORTED,
					     "Einsum of %u operands", c->node->n_in);
		}
	}
	if (!read_equation(c, &e)) {
		return hn_graph_fail(c->g, HONE_E_INVALID, "Einsum: equation %.80s",
				     hn_gattr_string(c->node, "equation", ""));
	}
	attr = hn_attr_string("equation", e.text);
	return hn_graph_add(c->g, "einsum", c->node->n_in, c->node->in, 1, &attr);
}

static const char *result_of(const char *equation)
{
	return strstr(equation, "->") + 2;
}

/* The extent of a letter: the largest of all, which may be 1 elsewhere; 0 of no operand. */
static int64_t extent_of(const struct hn_graph *g, const struct hn_gnode *n, char letter,
			 bool *ret_fits)
{
	const char *p = hn_gattr_string(n, "equation", "->");
	int64_t extent = 0;

	for (uint32_t i = 0, d = 0; *p != '-'; p++) {
		if (*p == ',') {
			i++;
			d = 0;
		} else {
			int64_t here = g->value[n->in[i]].shape[d++];

			if (*p == letter) {
				*ret_fits &= extent <= 1 || here == 1 || here == extent;
				extent = extent == 0 || extent == 1 ? here : extent;
			}
		}
	}
	return extent;
}

bool hn_einsum_infer(const struct hn_gcall *c, struct hn_gshape *ret)
{
	const char *equation = hn_gattr_string(c->node, "equation", "->");
	const char *result = result_of(equation);
	const struct hn_gvalue *x = hn_gcall_in(c, 0);
	enum hn_dtype t = x->dtype, sum;
	bool fits = strlen(result) <= HN_GRAPH_MAX_RANK;

	for (uint32_t i = 1; i < c->node->n_in; i++) {
		t = hn_gcall_in(c, i)->dtype == x->dtype ? t : HN_N_DTYPE;
	}
	sum = t != HN_N_DTYPE ? hn_sum_result(c->node, t, t) : t;
	fits = fits && t != HN_N_DTYPE && (sum == t || hn_is_float(x));
	*ret = (struct hn_gshape){ .dtype = (uint8_t)sum };
	for (const char *p = equation; fits && p < result - 2; p++) {
		fits &= *p == ',' || extent_of(c->g, c->node, *p, &fits) > 0;
	}
	for (const char *p = result; fits && *p != '\0'; p++) {
		int64_t extent = extent_of(c->g, c->node, *p, &fits);

		fits &= extent > 0 && strchr(p + 1, *p) == NULL;
		ret->dim[ret->rank++] = extent;
	}
	if (!fits) {
		hn_graph_fail(c->g, HONE_E_INVALID, "Einsum: operands of %s do not fit",
			      equation);
	}
	return fits;
}

/* The index of a letter: the result's, or a summed one. */
static void index_of(hn_say_index *ret, const char *result, char letter)
{
	const char *at = strchr(result, letter);

	if (at != NULL) {
		snprintf(*ret, sizeof(*ret), "i%u", (unsigned)(at - result));
	} else {
		snprintf(*ret, sizeof(*ret), "k_%c", letter);
	}
}

/* Operand i's element; the term at `p`.  Returns what is behind it. */
static const char *put_factor(struct hn_say *s, const struct hn_gnode *n, uint32_t i,
			      const char *p, const char *result)
{
	const struct hn_gvalue *x = &s->g->value[n->in[i]];
	hn_say_index index[HN_GRAPH_MAX_RANK];

	for (uint32_t d = 0; d < x->rank; d++) {
		bool fits = true;

		index_of(&index[d], result, p[d]);
		if (x->shape[d] == 1 && extent_of(s->g, n, p[d], &fits) != 1) {
			snprintf(index[d], sizeof(index[d]), "0");
		}
	}
	hn_say_text(s, "%s", i > 0 ? " * " : "");
	hn_sum_open(s, n->out[0], x->dtype);
	hn_say_load(s, n->in[i], index);
	hn_sum_close(s, n->out[0], x->dtype);
	return p + x->rank + 1;
}

void hn_einsum_say(struct hn_say *s, const struct hn_gnode *n)
{
	const char *equation = hn_gattr_string(n, "equation", "->"), *p = equation;
	const char *result = result_of(equation);
	hn_say_index index[HN_GRAPH_MAX_RANK], summed;
	bool sum = false, fits = true;
	uint32_t temp;

	for (p = equation; p < result - 2; p++) {
		sum |= *p != ',' && strchr(result, *p) == NULL;
	}
	hn_say_indices(index, s->g->value[n->out[0]].rank);
	temp = hn_sum_left(s, n->out[0], index);
	hn_say_text(s, sum ? " +=! " : " = ");
	p = equation;
	for (uint32_t i = 0; i < n->n_in; i++) {
		p = put_factor(s, n, i, p, result);
	}
	hn_say_where(s, n->out[0], index);
	for (p = equation; p < result - 2; p++) {
		if (*p != ',' && strchr(result, *p) == NULL &&
		    memchr(equation, *p, (size_t)(p - equation)) == NULL) {
			index_of(&summed, result, *p);
			hn_say_range(s, summed, extent_of(s->g, n, *p, &fits));
		}
	}
	hn_say_end(s);
	hn_sum_end(s, n->out[0], temp, index);
}
