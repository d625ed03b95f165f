/* te_text.c -- the simulation of TE's stages, and the words its Python is made of. */
#include "loopstate/state/te_text.h"

#include <inttypes.h>
#include <string.h>

#include "loopstate/state/te_int.h"

/* TVM's CleanName; one pass does, as no replacement makes a new match. */
void hn_te_put_word(struct hn_te *te, const char *name)
{
	while (*name != '\0') {
		if (*name == '.' || *name == '@') {
			hn_buf_putc(te->buf, '_');
			name++;
		} else if (strncmp(name, "outer", 5) == 0 ||
			   strncmp(name, "inner", 5) == 0) {
			hn_buf_putc(te->buf, *name);
			name += 5;
		} else {
			hn_buf_putc(te->buf, *name++);
		}
	}
}

void hn_te_put_op(struct hn_te *te, const struct hn_state *s, int32_t stage)
{
	hn_te_put_word(te, s->dag->op[stage]->name);
}

void hn_te_put_name(struct hn_te *te, const struct hn_state *s, int32_t stage,
		    const char *axis)
{
	hn_te_put_op(te, s, stage);
	hn_buf_putc(te->buf, '_');
	hn_te_put_word(te, axis);
}

void hn_te_put_axis(struct hn_te *te, const struct hn_state *s, int32_t stage,
		    int64_t iter)
{
	hn_te_put_name(te, s, stage, te->stage[stage].axis[iter]);
}

void hn_te_call(struct hn_te *te, int32_t stage, const char *verb)
{
	hn_buf_puts(te->buf, "s[");
	hn_te_put_op(te, te->before, stage);
	hn_buf_printf(te->buf, "].%s(", verb);
}

void hn_te_put_axes(struct hn_te *te, const struct hn_state *s, int32_t stage)
{
	for (uint32_t i = 0; i < te->stage[stage].n; i++) {
		hn_buf_puts(te->buf, i > 0 ? ", " : "");
		hn_te_put_axis(te, s, stage, i);
	}
}

void hn_te_unpack(struct hn_te *te, int32_t stage)
{
	hn_te_put_axes(te, te->after, stage);
	hn_buf_puts(te->buf, " = tuple(");
	hn_te_put_op(te, te->after, stage);
	hn_buf_puts(te->buf, ".op.axis) + tuple(");
	hn_te_put_op(te, te->after, stage);
	hn_buf_puts(te->buf, ".op.reduce_axis)\n");
}

const char *hn_te_join(struct hn_te *te, const char *x, const char *y)
{
	size_t n_x = strlen(x), n_y = strlen(y);

	if (te->failed || n_x + n_y > HN_TE_MAX_NAME || hn_arena_over(te->a)) {
		te->failed = true;
		return "";
	}
	char *text = hn_arena_alloc(te->a, n_x + n_y + 1);

	memcpy(text, x, n_x);
	memcpy(text + n_x, y, n_y + 1);
	return text;
}

void hn_te_replace(struct hn_te *te, int32_t stage, uint32_t first, uint32_t n_old,
		   const char *const *axis, uint32_t n)
{
	struct hn_te_stage *st = &te->stage[stage];
	uint32_t n_new = st->n - n_old + n;
	const char **to = HN_NEW_ARRAY(te->a, const char *, n_new);

	for (uint32_t i = 0; i < n_new; i++) {
		to[i] = i < first	? st->axis[i]
			: i < first + n ? axis[i - first]
					: st->axis[i - n + n_old];
	}
	st->axis = to;
	st->n = n_new;
}

void hn_te_refresh(struct hn_te *te, int32_t stage)
{
	const struct hn_stage *fresh = te->after->stage[stage];
	const char **axis = HN_NEW_ARRAY(te->a, const char *, fresh->n_iter);

	for (uint32_t i = 0; i < fresh->n_iter; i++) {
		axis[i] = fresh->iter[i].name;
	}
	te->stage[stage] = (struct hn_te_stage){ fresh->n_iter, axis };
}

void hn_te_insert(struct hn_te *te, int32_t at)
{
	struct hn_te_stage *to = HN_NEW_ARRAY(te->a, struct hn_te_stage, te->n_stage + 1);
	uint32_t i_at = (uint32_t)at;

	memcpy(to, te->stage, i_at * sizeof(*to));
	memcpy(to + i_at + 1, te->stage + i_at, (te->n_stage - i_at) * sizeof(*to));
	te->stage = to;
	te->n_stage++;
	hn_te_refresh(te, at);
}

/* One of the cuts that a split is made of: which parts it names, what it cuts. */
static void put_cut(struct hn_te *te, int32_t stage, const char *const part[3],
		    const char *how, int64_t len)
{
	hn_te_put_name(te, te->before, stage, part[0]);
	hn_buf_puts(te->buf, ", ");
	hn_te_put_name(te, te->before, stage, part[1]);
	hn_buf_puts(te->buf, " = ");
	hn_te_call(te, stage, "split");
	hn_te_put_name(te, te->before, stage, part[2]);
	hn_buf_printf(te->buf, ", %s=", how);
	if (len == HN_HOLE) {
		hn_buf_puts(te->buf, "None");
	} else {
		hn_buf_printf(te->buf, "%" PRId64, len);
	}
	hn_buf_puts(te->buf, ")\n");
}

/* TE cuts a split's parts off one at a time.  A cut's line names the two parts next to it
 * as the *finished* split calls them (the outer one of all but the last cut is cut
 * again, as x_o_i): so Ansor prints it. */
void hn_te_split(struct hn_te *te, const struct hn_step *step, const int64_t *len,
		 uint32_t n, bool inner_to_outer)
{
	uint32_t iter = (uint32_t)step->a[HN_SP_ITER];
	const char *const cut = inner_to_outer ? ".inner" : ".outer";
	const char *const left = inner_to_outer ? ".outer" : ".inner";
	const char *rest = te->stage[step->stage].axis[iter], *whole = rest;
	const char **part = HN_NEW_ARRAY(te->a, const char *, n + 1);

	for (uint32_t i = 0; i < n; i++) {
		part[inner_to_outer ? n - i : i] = hn_te_join(te, rest, cut);
		rest = hn_te_join(te, rest, left);
	}
	part[inner_to_outer ? 0 : n] = rest;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t k = inner_to_outer ? n - 1 - i : i;

		put_cut(te, step->stage,
			(const char *const[]){ part[k], part[k + 1], whole },
			inner_to_outer ? "factor" : "nparts", len[k]);
		whole = part[inner_to_outer ? k : k + 1];
	}
	hn_te_replace(te, step->stage, iter, 1, part, n + 1);
}

/* The simulation has kept up with the replay, and stays small. */
static int check_step(const struct hn_te *te, struct hn_err *err)
{
	hn_assert(te->n_stage == te->after->n_stage);
	for (uint32_t i = 0; i < te->n_stage; i++) {
		hn_assert(te->stage[i].n == te->after->stage[i]->n_iter);
	}
	if (te->failed || te->buf->failed || te->buf->n > HN_TE_MAX_BYTES ||
	    hn_arena_over(te->a)) {
		return hn_fail(err, HONE_E_QUOTA,
			       "as Python schedule calls it is too long");
	}
	return 0;
}

static int put_step(struct hn_te *te, const struct hn_trace *trace, uint32_t i,
		    struct hn_err *err)
{
	const struct hn_step *step = trace->step[i];
	const struct hn_step_ops *ops = hn_step_ops((enum hn_step_kind)step->kind);
	struct hn_trace *prefix = HN_NEW(te->a, struct hn_trace);

	*prefix = (struct hn_trace){ i + 1, trace->step };
	int rc = hn_state_replay_from(te->before, prefix, te->a, &te->after, err);

	if (rc != 0) {
		return rc;
	}
	if (ops->te == NULL) {
		return hn_fail(
			err, HONE_E_UNSUPPORTED,
			"step %u: %s is no step of Ansor's and has no form in Python",
			(unsigned)i, ops->tag);
	}
	ops->te(te, step);
	te->before = te->after;
	return check_step(te, err);
}

int hn_te_print(const struct hn_state *s, const struct hn_trace *trace,
		struct hn_arena *a, struct hn_buf *buf, struct hn_err *err)
{
	struct hn_te te = { .before = s,
			    .after = s,
			    .n_stage = s->n_stage,
			    .stage = HN_NEW_ARRAY(a, struct hn_te_stage, s->n_stage),
			    .a = a,
			    .buf = buf };
	int rc = 0;

	for (int32_t i = 0; i < (int32_t)s->n_stage; i++) {
		hn_te_refresh(&te, i);
		if (s->dag->op[i]->kind != HN_OP_PLACEHOLDER) {
			hn_te_unpack(&te, i);
		}
	}
	for (uint32_t i = 0; i < trace->n_step && rc == 0; i++) {
		rc = put_step(&te, trace, i, err);
	}
	return rc;
}
