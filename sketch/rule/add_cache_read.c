/* rule/add_cache_read.c -- what a tiled stage reads is first copied to shared memory, one
 * piece for each run of its outermost reduction tile.
 *
 * TVM stops the program at a reader without a reduction loop; here such a reader goes on
 * reading the source.  Source: TVM auto_scheduler, RuleAddCacheRead. */
#include <ctype.h>
#include <string.h>

#include "sketch/sketch_int.h"

#define KEY "auto_scheduler_no_split_at_inner"

static bool reads_directly(const struct hn_state *s, int32_t reader, int32_t stage)
{
	const struct hn_op_access *acc = &s->access->op[reader];

	for (uint32_t i = 0; i < acc->n_producer; i++) {
		if (acc->producer[i] == stage) {
			return true;
		}
	}
	return false;
}

static enum hn_rule_answer meets(const struct hn_rule_ctx *ctx, const struct hn_state *s,
				 int32_t stage)
{
	int32_t reader;

	(void)ctx;
	if (hn_state_consumers(s, stage, &reader, 1) == 0 ||
	    !hn_stage_needs_tiling(s, reader) ||
	    hn_stage_cross_thread_reduced(s, reader) ||
	    !reads_directly(s, reader, stage)) {
		return HN_RULE_SKIP;
	}
	return HN_RULE_APPLY_AND_STOP;
}

struct axes { /* names of the axes met so far */
	uint32_t n;
	struct {
		const char *s;
		size_t len;
	} name[HN_DAG_MAX_ITERS];
};

static void meet(struct axes *seen, const char *name, size_t len)
{
	for (uint32_t i = 0; i < seen->n; i++) {
		if (seen->name[i].len == len && memcmp(seen->name[i].s, name, len) == 0) {
			return;
		}
	}
	if (seen->n < HN_COUNT_OF(seen->name)) {
		seen->name[seen->n].s = name;
		seen->name[seen->n++].len = len;
	}
}

/* The axes in a loop's name: "ry@rx@.0" is of ry and rx. */
static void meet_all(struct axes *seen, const char *loop)
{
	while (*loop) {
		size_t len = strcspn(loop, "@.");
		if (len > 0 && !isdigit((unsigned char)*loop)) {
			meet(seen, loop, len);
		}
		loop += len + (loop[len] != 0);
	}
}

/* The reader's last reduction loop of its outermost reduction tile: the first at which
 * all reduction axes have been met (those never split apart); -1 when it has none. */
static int32_t place_in(const struct hn_state *s, int32_t reader)
{
	const struct hn_stage *st = s->stage[reader];
	const struct hn_op *op = hn_stage_op(s, reader);
	struct axes seen = { 0 };
	uint32_t want = 0;

	for (uint32_t i = op->n_spatial; i < op->n_spatial + op->n_reduce; i++) {
		want += !hn_stage_attr_names(s, reader, KEY, op->axis[i].name);
	}
	for (uint32_t i = 0; i < st->n_iter; i++) {
		if (st->iter[i].kind != HN_ITER_REDUCE) {
			continue;
		}
		meet_all(&seen, st->iter[i].name);
		if (want == 0 || seen.n == want) {
			return (int32_t)i;
		}
	}
	return -1;
}

static void derive(const struct hn_rule_ctx *ctx, const struct hn_state *s, int32_t stage,
		   struct hn_rule_results *ret)
{
	int32_t reader[HN_DAG_MAX_OPS];
	uint32_t n = hn_state_consumers(s, stage, reader, HN_COUNT_OF(reader));
	struct hn_chain c = { .s = s, .a = ctx->arena };
	int32_t copies = 0;

	for (uint32_t i = 0; i < n && i < HN_COUNT_OF(reader) && !c.failed; i++) {
		int32_t to = reader[i] + copies, at = place_in(c.s, to);
		if (at < 0) {
			continue;
		}
		hn_chain_cache_read(&c, stage, "shared", to);
		hn_chain_compute_at(&c, stage + 1, to + 1, at);
		copies++;
	}
	if (copies > 0) {
		hn_chain_result(&c, stage, ret);
	}
}

extern const struct hn_rule_ops hn_rule_add_cache_read;
const struct hn_rule_ops hn_rule_add_cache_read = { "add_cache_read", meets, derive };
