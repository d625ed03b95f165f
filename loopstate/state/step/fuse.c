/* step/fuse.c -- FU: neighbouring loops become one.
 *
 * Only the last of them may hold attached stages.  An empty list gives a stage without
 * loops one loop of one iteration to annotate; in a stage that has loops it comes
 * outermost (Ansor forgets the stage's other loops there, though they run: repeated only
 * when its records are replayed as it would).
 */
#include "loopstate/state/step.h"

#include <inttypes.h>
#include <string.h>

#include "base/arith.h"
#include "loopstate/state/attach.h"
#include "loopstate/state/state_int.h"
#include "loopstate/state/te_int.h"

static int check_attachments(const struct hn_state *s, const struct hn_step *step,
			     struct hn_err *err)
{
	for (uint32_t i = 0; i + 1 < step->n_list; i++) {
		const struct hn_attached *at =
			hn_state_attached_at(s, step->stage, (int32_t)step->list[i]);

		if (at != NULL) {
			return hn_step_refuse(s, step, err,
					      "stage %d is attached at iterator %" PRId64
					      ", which is not the last of those fused",
					      (int)at->child[0], step->list[i]);
		}
	}
	return 0;
}

static int check_size(const struct hn_state *s, const struct hn_step *step,
		      struct hn_err *err)
{
	const struct hn_iter *it = s->stage[step->stage]->iter;
	int64_t extent = 1;
	size_t n_name = 0;

	for (uint32_t i = 0; i < step->n_list; i++) {
		const struct hn_iter *part = &it[step->list[i]];

		n_name += strlen(part->name) + 1;
		if (part->extent != HN_EXTENT_UNKNOWN) {
			extent = hn_mul_sat(extent, part->extent);
		}
	}
	if (extent >= HN_EXTENT_MAX) {
		return hn_step_refuse(s, step, err, "the fused loop is longer than 2^62");
	}
	if (n_name > HN_STATE_MAX_NAME ||
	    s->stage[step->stage]->n_rel >= HN_STAGE_MAX_RELS) {
		return hn_step_refuse(s, step, err, "split and fused too often");
	}
	return 0;
}

static int fuse_check(const struct hn_state *s, const struct hn_step *step,
		      struct hn_err *err)
{
	int rc = hn_step_check_looped(s, step, err);

	if (rc != 0) {
		return rc;
	}
	uint32_t n_iter = s->stage[step->stage]->n_iter;

	if (step->n_list == 0 && n_iter >= HN_STAGE_MAX_ITERS) {
		return hn_step_refuse(s, step, err, "more than %d iterators",
				      HN_STAGE_MAX_ITERS);
	}
	for (uint32_t i = 0; i < step->n_list; i++) {
		if (step->list[i] < 0 || step->list[i] >= n_iter) {
			return hn_step_refuse(s, step, err,
					      "iterator %" PRId64
					      ": the stage has %" PRIu32,
					      step->list[i], n_iter);
		}
		if (i > 0 && step->list[i] != step->list[i - 1] + 1) {
			return hn_step_refuse(
				s, step, err,
				"iterators must be neighbours, outermost first");
		}
	}
	rc = check_attachments(s, step, err);
	return rc != 0 ? rc : check_size(s, step, err);
}

static const char *fused_name(const struct hn_iter *it, uint32_t n, struct hn_arena *a)
{
	size_t n_name = 0;

	for (uint32_t i = 0; i < n; i++) {
		n_name += strlen(it[i].name) + 1;
	}
	char *name = hn_arena_alloc(a, n_name + 1), *end = name;

	for (uint32_t i = 0; i < n; i++) {
		size_t len = strlen(it[i].name);

		memcpy(end, it[i].name, len);
		end[len] = '@';
		end += len + 1;
	}
	return name;
}

static struct hn_iter fused_iter(const struct hn_iter *it, uint32_t n, int32_t var,
				 struct hn_arena *a)
{
	struct hn_iter fused = {
		.name = fused_name(it, n, a),
		.kind = n > 0 ? it[0].kind : HN_ITER_SPECIAL,
		.var = var,
		.extent = 1,
	};

	for (uint32_t i = 0; i < n; i++) {
		if (it[i].kind != fused.kind) {
			fused.kind = HN_ITER_MIXED;
		}
		if (it[i].extent == HN_EXTENT_UNKNOWN ||
		    fused.extent == HN_EXTENT_UNKNOWN) {
			fused.extent = HN_EXTENT_UNKNOWN;
		} else {
			fused.extent *= it[i].extent;
		}
	}
	return fused;
}

static void add_relation(struct hn_stage *st, const struct hn_iter *it, uint32_t n,
			 struct hn_arena *a)
{
	int32_t *part = HN_NEW_ARRAY(a, int32_t, n);

	for (uint32_t i = 0; i < n; i++) {
		part[i] = it[i].var;
	}
	*hn_stage_add_rel(st, a) = (struct hn_rel){
		.kind = HN_REL_FUSE, .n = n, .parent = (int32_t)st->n_var, .part = part
	};
	st->n_var++;
}

static const struct hn_state *fuse_apply(const struct hn_state *s,
					 const struct hn_step *step, struct hn_arena *a)
{
	struct hn_state *n = hn_state_dup(s, a);
	struct hn_stage *st = hn_state_own_stage(n, step->stage, a);
	const struct hn_iter *old = st->iter;
	uint32_t n_old = st->n_iter, n_fused = step->n_list;
	uint32_t first = n_fused > 0 ? (uint32_t)step->list[0] : 0,
		 behind = first + n_fused;
	struct hn_iter *iter = HN_NEW_ARRAY(a, struct hn_iter, n_old + 1);
	int32_t to[HN_STAGE_MAX_ITERS];

	bool hides = n_fused == 0 && s->mode == HN_REPLAY_ANSOR;

	for (uint32_t i = 0; i < n_old; i++) {
		to[i] = (int32_t)(i < first ? i : i < behind ? first : i - n_fused + 1);
		if (i < first || i >= behind) {
			iter[to[i]] = old[i];
			iter[to[i]].hidden |= hides;
		}
	}
	iter[first] = fused_iter(old + first, n_fused, (int32_t)st->n_var, a);
	add_relation(st, old + first, n_fused, a);
	st->iter = iter;
	st->n_iter = n_old - n_fused + 1;
	hn_attach_renumber(n, step->stage, to, a);
	return n;
}

static void fuse_explain(const struct hn_state *s, const struct hn_step *step,
			 struct hn_buf *buf)
{
	const char *name = hn_state_op(s, step->stage)->name;

	if (step->n_list == 0) {
		hn_buf_printf(buf, "give %s a loop of one iteration", name);
		return;
	}
	hn_buf_printf(buf, "make one loop of");
	for (uint32_t i = 0; i < step->n_list; i++) {
		hn_buf_printf(buf, "%s %s", i > 0 ? "," : "",
			      s->stage[step->stage]->iter[step->list[i]].name);
	}
	hn_buf_printf(buf, " of %s", name);
}

static void fuse_te(struct hn_te *te, const struct hn_step *step)
{
	const char *const *axis = te->stage[step->stage].axis;
	uint32_t first = step->n_list > 0 ? (uint32_t)step->list[0] : 0;
	uint32_t n_iter = te->stage[step->stage].n;
	const char *fused = step->n_list > 0 ? axis[first] : "singleton";

	for (uint32_t i = 1; i < step->n_list; i++) {
		fused = hn_te_join(te, fused, ".");
		fused = hn_te_join(te, fused, axis[first + i]);
		fused = hn_te_join(te, fused, ".fused");
	}
	hn_te_put_name(te, te->before, step->stage, fused);
	hn_buf_puts(te->buf, " = ");
	hn_te_call(te, step->stage, "fuse");
	for (uint32_t i = 0; i < step->n_list; i++) {
		hn_buf_puts(te->buf, i > 0 ? ", " : "");
		hn_te_put_axis(te, te->before, step->stage, step->list[i]);
	}
	hn_buf_puts(te->buf, ")\n");
	hn_te_replace(te, step->stage, first,
		      n_iter - te->after->stage[step->stage]->n_iter + 1, &fused, 1);
}

const struct hn_step_ops hn_step_fuse = {
	.tag = "FU",
	.name = "fuse",
	.field = { { HN_FIELD_STAGE, "stage" }, { HN_FIELD_LIST, "iters" } },
	.check = fuse_check,
	.apply = fuse_apply,
	.explain = fuse_explain,
	.te = fuse_te,
};
