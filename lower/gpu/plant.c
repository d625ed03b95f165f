/* lower/gpu/plant.c -- faults that tests plant into a GPU's program (enum hn_plant), to show that
 * boards of devices find them.  They are put into the text of OpenCL C: into the last kernel, about
 * the last buffer that it may write. */
#include "lower/gpu/gpu.h"

#include <inttypes.h>
#include <string.h>

#define BARRIER "barrier("

/* Where the last kernel's body begins, behind its brace; NULL: the text is not as it should be. */
static const char *body_of(const char *code, const char *name, const char **signature)
{
	struct hn_buf head;
	const char *at;

	hn_buf_init(&head);
	hn_buf_printf(&head, "\nvoid %s(", name);
	at = strstr(code, head.s);
	*signature = at != NULL ? at + head.n : NULL;
	hn_buf_fini(&head);
	at = at != NULL ? strstr(at, ")\n{\n") : NULL;
	return at != NULL ? at + 4 : NULL;
}

/* The last parameter without const: its name onto b, and its place among the parameters. */
static bool find_written(const char *signature, struct hn_buf *name, uint32_t *ret_at)
{
	const char *end = signature + strcspn(signature, ")");
	bool found = false;

	for (uint32_t at = 0; signature < end; at++) {
		size_t n = strcspn(signature, ",)"), word = n;

		while (word > 0 && signature[word - 1] != ' ') {
			word--;
		}
		if (memmem(signature, n, "const ", 6) == NULL) {
			hn_buf_reset(name);
			hn_buf_add(name, signature + word, n - word);
			*ret_at = at;
			found = true;
		}
		signature += n + 1;
	}
	return found;
}

static void without_barriers(const char *code, struct hn_buf *b)
{
	for (const char *at; (at = strstr(code, BARRIER)) != NULL;) {
		hn_buf_add(b, code, (size_t)(at - code));
		code = at + strcspn(at, ";");
	}
	hn_buf_puts(b, code);
}

static int put(const struct hn_gpu_module *m, enum hn_plant plant, const char *name, int64_t bytes,
	       const char *body, struct hn_buf *b, struct hn_err *err)
{
	const char *code = m->code, *last = strrchr(code, '}');

	hn_buf_add(b, code, (size_t)(body - code));
	switch (plant) {
	case HN_PLANT_HANG:
		hn_buf_printf(b, "\tvolatile int go = 1;\n\twhile (go) ;\n%s", body);
		return 0;
	case HN_PLANT_OUT_OF_BOUNDS:
		hn_buf_printf(b, "\t((__global volatile char *)%s)[%" PRId64 "] = 1;\n%s", name,
			      bytes + 64, body);
		return 0;
	case HN_PLANT_WRONG_RESULT:
		hn_buf_add(b, body, (size_t)(last - body));
		hn_buf_printf(b,
			      "\tbarrier(CLK_GLOBAL_MEM_FENCE);\n"
			      "\tif (get_global_id(0) + get_global_id(1) + get_global_id(2) == 0) "
			      "%s[0] += 1;\n}\n", name);
		return 0;
	default:
		return hn_fail(err, HONE_E_UNSUPPORTED, "plant: no such fault of a GPU's program");
	}
}

int hn_gpu_plant(struct hn_gpu_module *m, enum hn_plant plant, struct hn_arena *a,
		 struct hn_err *err)
{
	const struct hn_gpu_kernel *k = &m->kernel[m->n_kernel - 1];
	const char *signature, *body = body_of(m->code, k->name, &signature);
	struct hn_buf b, name;
	uint32_t at = 0;
	int rc = 0;

	hn_buf_init(&b);
	hn_buf_init(&name);
	if (m->form != HN_GPU_OPENCL || body == NULL || !find_written(signature, &name, &at) ||
	    at >= k->n_arg) {
		rc = hn_fail(err, HONE_E_UNSUPPORTED, "plant: faults are put into OpenCL C alone");
	} else if (plant == HN_PLANT_NO_BARRIER) {
		without_barriers(m->code, &b);
	} else {
		rc = put(m, plant, name.s, m->buffer[k->arg[at]].bytes, body, &b, err);
	}
	if (rc == 0) {
		m->code = hn_arena_strndup(a, b.s, b.n);
		m->code_bytes = b.n;
	}
	hn_buf_fini(&name);
	hn_buf_fini(&b);
	return rc;
}
