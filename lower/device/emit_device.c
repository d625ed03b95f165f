/* lower/device/emit_device.c -- the emitter of a machine whose own code is not made yet: its device
 * program, verified, as text.
 *
 * Printers for real devices take the same program and stand behind rows of their own.
 */
#include <stdlib.h>
#include <string.h>

#include "lower/device/device_int.h"
#include "lower/device/device_verify.h"
#include "lower/lower.h"

#define VERIFY_MS 20000

struct device_emitter {
	struct hn_target target;
	struct hn_arena arena; /* target's strings */
};

static int open_device(const struct hn_target *target, void **ret, struct hn_err *err)
{
	struct device_emitter *e = calloc(1, sizeof(*e));

	if (e == NULL) {
		return hn_fail(err, HONE_E_NOMEM, "no memory for a code generator");
	}
	hn_arena_init(&e->arena, 0);
	e->target = *target;
	e->target.kind = hn_arena_strdup(&e->arena, target->kind);
	e->target.isa = hn_arena_strdup(&e->arena, target->isa);
	*ret = e;
	return 0;
}

static void close_device(void *state)
{
	struct device_emitter *e = state;

	hn_arena_fini(&e->arena);
	free(e);
}

static int emit_text(void *state, const struct hn_looptree *t,
		     const struct hn_emit_options *options, struct hn_arena *a,
		     struct hn_artefact *ret, struct hn_err *err)
{
	const struct device_emitter *e = state;
	const struct hn_device *d;
	struct hn_buf text;
	int rc;

	if (options->n_beside > 0) {
		return hn_fail(err, HONE_E_UNSUPPORTED,
			       "device program: nothing goes beside it");
	}
	rc = hn_device_place(t, a, &d, err);
	rc = rc ? rc : hn_device_verify(d, &e->target, VERIFY_MS, err);
	if (rc != 0) {
		return rc;
	}
	hn_buf_init(&text);
	hn_device_print(d, &text);
	*ret = (struct hn_artefact){ .object = hn_arena_strndup(a, text.s, text.n),
				     .object_bytes = text.n,
				     .form = HN_ARTEFACT_DEVICE };
	hn_buf_fini(&text);
	return 0;
}

static struct hn_emitter_facts facts_of_device(const void *state, struct hn_arena *a)
{
	const struct device_emitter *e = state;

	(void)a;
	return (struct hn_emitter_facts){ .version = HN_DEVICE_FORMAT,
					  .triple = "",
					  .processor = e->target.isa,
					  .features = "" };
}

extern const struct hn_emit_ops hn_emit_device;
const struct hn_emit_ops hn_emit_device = { "device", open_device, close_device,
					    emit_text, facts_of_device, NULL };
