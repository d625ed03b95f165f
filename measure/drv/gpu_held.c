/* gpu_held.c -- the arguments of a workload on the device, kept from candidate to candidate, and
 * what is looked at there after a run: the outputs, the bytes beside all buffers, and whether the
 * inputs are what they were. */
#include "measure/drv/gpu_int.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure/board/poison.h"

struct held_arg {
	struct gpu_memory *memory;
	uint8_t *host;	/* all of it, guards too, as it was read last; NULL before that */
	uint8_t *right; /* an output that was found right; NULL = none was */
	uint32_t right_set;
};

struct gpu_held {
	const struct gpu_ops *ops;
	void *dev;
	const struct cpu_workload *w;
	uint32_t n;
	struct held_arg *arg;
	uint32_t set; /* whose inputs are there; HN_INPUT_SETS = nobody's */
};

struct gpu_held *gpu_held_new(const struct gpu_ops *ops, void *dev)
{
	struct gpu_held *h = calloc(1, sizeof *h);

	hn_assert(h != NULL);
	h->ops = ops;
	h->dev = dev;
	return h;
}

static void drop(struct gpu_held *h)
{
	for (uint32_t i = 0; i < h->n; i++) {
		if (h->arg[i].memory != NULL) {
			h->ops->release(h->dev, h->arg[i].memory);
		}
		free(h->arg[i].host);
		free(h->arg[i].right);
	}
	free(h->arg);
	h->arg = NULL;
	h->n = 0;
	h->w = NULL;
}

void gpu_held_forget(struct gpu_held *h)
{
	drop(h);
}

static size_t whole(const struct gpu_held *h, uint32_t i)
{
	return (size_t)h->w->tensor[i].bytes + 2 * GPU_GUARD;
}

enum hn_verdict gpu_held_take(struct gpu_held *h, const struct cpu_workload *w,
			      struct hn_err *err)
{
	enum hn_verdict v = HN_VERDICT_OK;

	if (h->w != w) {
		drop(h);
		h->arg = calloc(w->n_tensor, sizeof *h->arg);
		h->n = h->arg != NULL ? w->n_tensor : 0;
		h->w = w;
		h->set = HN_INPUT_SETS;
		v = h->n == w->n_tensor ? v : HN_VERDICT_OOM;
	}
	for (uint32_t i = 0; i < h->n && v == HN_VERDICT_OK; i++) {
		struct held_arg *a = &h->arg[i];

		if (a->memory != NULL) {
			continue;
		}
		a->host = malloc(whole(h, i));
		v = a->host == NULL ? HN_VERDICT_OOM
				    : h->ops->alloc(h->dev, w->tensor[i].bytes, &a->memory, err);
		if (v == HN_VERDICT_OK) {
			v = h->ops->fill(h->dev, a->memory, 0, HN_REDZONE_CANARY, whole(h, i),
					 err);
		}
	}
	v = v == HN_VERDICT_OK ? gpu_held_inputs(h, 0, err) : v;
	if (v != HN_VERDICT_OK) {
		drop(h);
	}
	return v;
}

struct gpu_memory *gpu_held_memory(const struct gpu_held *h, uint32_t arg)
{
	return h->arg[arg].memory;
}

static const uint8_t *contents(const struct gpu_held *h, uint32_t i, uint32_t set)
{
	const struct cpu_buffer *b = &h->w->buffer[i];

	return set > 0 ? b->further[set].data : b->exact.data;
}

enum hn_verdict gpu_held_inputs(struct gpu_held *h, uint32_t set, struct hn_err *err)
{
	enum hn_verdict v = HN_VERDICT_OK;

	for (uint32_t i = 0; i < h->n && v == HN_VERDICT_OK && h->set != set; i++) {
		if (!h->w->tensor[i].output) {
			v = h->ops->write(h->dev, h->arg[i].memory, GPU_GUARD, contents(h, i, set),
					  (size_t)h->w->tensor[i].bytes, err);
		}
	}
	h->set = v == HN_VERDICT_OK ? set : HN_INPUT_SETS;
	return v;
}

enum hn_verdict gpu_held_poison(struct gpu_held *h, int byte, uint32_t set, struct hn_rng *r,
				struct hn_err *err)
{
	enum hn_verdict v = HN_VERDICT_OK;

	for (uint32_t i = 0; i < h->n && v == HN_VERDICT_OK; i++) {
		const struct hn_tensor *t = &h->w->tensor[i];
		const struct cpu_buffer *b = &h->w->buffer[i];
		struct held_arg *a = &h->arg[i];

		if (!t->output) {
			continue;
		}
		if (byte >= 0) {
			v = h->ops->fill(h->dev, a->memory, GPU_GUARD, (uint8_t)byte,
					 (size_t)t->bytes, err);
			continue;
		}
		hn_poison_all(t, b->reference[set].data, b->scale[set], r, a->host + GPU_GUARD);
		v = h->ops->write(h->dev, a->memory, GPU_GUARD, a->host + GPU_GUARD,
				  (size_t)t->bytes, err);
	}
	return v;
}

static bool intact(const uint8_t *guard)
{
	for (size_t i = 0; i < GPU_GUARD; i++) {
		if (guard[i] != HN_REDZONE_CANARY) {
			return false;
		}
	}
	return true;
}

/* Bring argument i here, and look at what lies beside it. */
static enum hn_verdict fetch(struct gpu_held *h, uint32_t i, char *text, size_t n)
{
	const struct hn_tensor *t = &h->w->tensor[i];
	struct held_arg *a = &h->arg[i];
	struct hn_err err = {0};
	enum hn_verdict v = h->ops->read(h->dev, a->memory, 0, a->host, whole(h, i), &err);

	if (v != HN_VERDICT_OK) {
		snprintf(text, n, "%.300s", err.msg);
		return v;
	}
	if (!intact(a->host) || !intact(a->host + GPU_GUARD + t->bytes)) {
		snprintf(text, n, "wrote beside %.60s, within %d bytes of it", t->name, GPU_GUARD);
		h->ops->fill(h->dev, a->memory, 0, HN_REDZONE_CANARY, whole(h, i), &err);
		h->set = HN_INPUT_SETS;
		return HN_VERDICT_SEGV_GUARD;
	}
	return HN_VERDICT_OK;
}

static void keep_right(struct held_arg *a, const uint8_t *data, size_t bytes, uint32_t set)
{
	a->right = a->right != NULL ? a->right : malloc(bytes);
	if (a->right != NULL) {
		memcpy(a->right, data, bytes);
		a->right_set = set;
	}
}

enum hn_verdict gpu_held_compare(struct gpu_held *h, uint32_t set, bool same, char *text,
				 size_t n)
{
	for (uint32_t i = 0; i < h->n; i++) {
		const struct hn_tensor *t = &h->w->tensor[i];
		struct held_arg *a = &h->arg[i];
		const uint8_t *got = a->host + GPU_GUARD;
		struct hn_mismatch m;
		enum hn_verdict v;

		if (!t->output) {
			continue;
		}
		v = fetch(h, i, text, n);
		if (v != HN_VERDICT_OK) {
			return v;
		}
		if (same && a->right != NULL && a->right_set == set &&
		    memcmp(a->right, got, (size_t)t->bytes) == 0) {
			continue;
		}
		if (!hn_cpu_verify(h->w, i, set, got, 0, t->n_elem, &m)) {
			hn_mismatch_print(t, got, h->w->buffer[i].reference[set].data, &m, text, n);
			return HN_VERDICT_WRONG_RESULT;
		}
		keep_right(a, got, (size_t)t->bytes, set);
	}
	return HN_VERDICT_OK;
}

enum hn_verdict gpu_held_unharmed(struct gpu_held *h, char *text, size_t n)
{
	for (uint32_t i = 0; i < h->n && h->set < HN_INPUT_SETS; i++) {
		const struct hn_tensor *t = &h->w->tensor[i];
		const uint8_t *got = h->arg[i].host + GPU_GUARD, *want = contents(h, i, h->set);
		int64_t at = 0;
		enum hn_verdict v;

		if (t->output) {
			continue;
		}
		v = fetch(h, i, text, n);
		if (v != HN_VERDICT_OK) {
			return v;
		}
		if (memcmp(got, want, (size_t)t->bytes) != 0) {
			while (got[at] == want[at]) {
				at++;
			}
			snprintf(text, n, "write to %.60s, an input, at byte %" PRId64, t->name, at);
			h->set = HN_INPUT_SETS;
			return HN_VERDICT_SEGV_GUARD;
		}
	}
	return HN_VERDICT_OK;
}
