/* client/explain_cost.c -- what the cost models see of a program (costmodel/features.def), and
 * where the analytic one says its time goes. */
#include "client/explain.h"
#include "costmodel/model.h"
#include "loopstate/nest/looptree.h"

static const struct {
	const char *name, *unit, *text;
} row[HN_N_FEATURE] = {
#define FEATURE(group, name, unit, source, text) { #name, unit, text },
#include "costmodel/features.def"
#undef FEATURE
};

/* Columns of the table, of the features' last group. */
static const struct {
	enum hn_feature feature;
	const char *text, *json;
} part[] = {
	{ HN_FEATURE_compute_cycles, "compute", "compute" },
	{ HN_FEATURE_l2_cycles, "L2 to L1", "l2" },
	{ HN_FEATURE_l3_cycles, "L3 to L2", "l3" },
	{ HN_FEATURE_mem_cycles, "memory", "memory" },
	{ HN_FEATURE_fork_cycles, "parallel", "parallel" },
};

struct naming {
	const struct hn_looptree *tree;
	struct hn_arena *a;
	const char **name;
	uint32_t n;
};

/* In the order of execution, as the features' rows are. */
static void name_statements(struct naming *w, const struct hn_node *node)
{
	static const char *const kind[] = { "", " init", " update" };

	if (node->init) {
		name_statements(w, node->init);
	}
	for (uint32_t i = 0; i < node->n_child; i++) {
		name_statements(w, node->child[i]);
	}
	if (node->kind == HN_NODE_STMT) {
		w->name[w->n++] = hn_arena_printf(w->a, "%s%s",
						  w->tree->dag->op[node->stage]->name,
						  kind[node->stmt]);
	}
}

int hn_explain_cost(const struct hn_state *s, const struct hn_target *target,
		    struct hn_arena *a, struct hn_explain_cost *ret, struct hn_err *err)
{
	const struct hn_looptree *tree;
	int rc = hn_looptree_build(s, a, &tree, err);

	if (rc != 0) {
		return rc;
	}
	if (!hn_features_of(tree, target, a, &ret->features)) {
		return hn_fail(err, HONE_E_UNSUPPORTED,
			       "the program is deeper, or reads more, than the cost model "
			       "looks at");
	}
	struct naming w = { .tree = tree,
			    .a = a,
			    .name = HN_NEW_ARRAY(a, const char *, ret->features.n) };

	for (uint32_t i = 0; i < tree->root->n_child; i++) {
		if (!tree->prepared[tree->root->child[i]->stage]) {
			name_statements(&w, tree->root->child[i]);
		}
	}
	hn_assert(w.n == ret->features.n);
	ret->statement = w.name;
	ret->target = target;
	ret->predicted_ns = 1e9 / hn_model_analytic_score(&ret->features);
	ret->warm_ns = hn_model_analytic_ns(&ret->features, /* cold= */ false);
	return 0;
}

static double value(const struct hn_explain_cost *c, uint32_t i, enum hn_feature f)
{
	return (double)c->features.x[(size_t)i * HN_N_FEATURE + f];
}

void hn_explain_cost_text(const struct hn_explain_cost *c, struct hn_buf *b)
{
	bool caches = c->features.n_kernel == 0;
	size_t n_part = caches ? HN_COUNT_OF(part) : 0;

	hn_buf_puts(b, caches ? "\nwhere the analytic model's cycles go: a statement takes its largest "
				"part, a fifth of the others, and `parallel`\n"
			      : "\nwhere the analytic model's cycles go: statements share their kernel's\n");
	hn_buf_printf(b, "  %-24s %9s %6s", "statement", "cycles", "of all");
	for (size_t k = 0; k < n_part; k++) {
		hn_buf_printf(b, " %9s", part[k].text);
	}
	for (uint32_t i = 0; i < c->features.n; i++) {
		hn_buf_printf(b, "\n  %-24s %9.4g %4.0f %%", c->statement[i],
			      c->features.cycles[i],
			      100 * value(c, i, HN_FEATURE_program_part));
		for (size_t k = 0; k < n_part; k++) {
			hn_buf_printf(b, " %9.4g", value(c, i, part[k].feature));
		}
	}
	hn_buf_putc(b, '\n');
	if (!caches) {
		hn_explain_kernels_text(c, b);
	}
}

void hn_explain_cost_json(const struct hn_explain_cost *c, struct hn_jw *w)
{
	size_t n_part = c->features.n_kernel == 0 ? HN_COUNT_OF(part) : 0;

	hn_jw_list(w, "cycles");
	for (uint32_t i = 0; i < c->features.n; i++) {
		hn_jw_object(w, NULL);
		hn_jw_str(w, "statement", c->statement[i]);
		hn_jw_double(w, "all", c->features.cycles[i]);
		for (size_t k = 0; k < n_part; k++) {
			hn_jw_double(w, part[k].json, value(c, i, part[k].feature));
		}
		hn_jw_end(w);
	}
	hn_jw_end(w);
	if (n_part == 0) {
		hn_explain_kernels_json(c, w);
	}
}

void hn_explain_features_text(const struct hn_explain_cost *c, bool all, struct hn_buf *b)
{
	for (uint32_t i = 0; i < c->features.n; i++) {
		hn_buf_printf(b, "\nfeatures of %s (docs/features.md)%s\n", c->statement[i],
			      all ? "" : ", those that are zero left out");
		for (uint32_t f = 0; f < HN_N_FEATURE; f++) {
			double v = value(c, i, (enum hn_feature)f);

			if (all || v != 0) {
				hn_buf_printf(b, "  %-18s %12.6g %-7s %s\n", row[f].name, v,
					      row[f].unit, row[f].text);
			}
		}
	}
}

void hn_explain_features_json(const struct hn_explain_cost *c, bool all, struct hn_jw *w)
{
	hn_jw_list(w, "features");
	for (uint32_t i = 0; i < c->features.n; i++) {
		hn_jw_object(w, NULL);
		hn_jw_str(w, "statement", c->statement[i]);
		for (uint32_t f = 0; f < HN_N_FEATURE; f++) {
			double v = value(c, i, (enum hn_feature)f);

			if (all || v != 0) {
				hn_jw_object(w, row[f].name);
				hn_jw_double(w, "value", v);
				hn_jw_str(w, "unit", row[f].unit);
				hn_jw_end(w);
			}
		}
		hn_jw_end(w);
	}
	hn_jw_end(w);
}
