/* client/packing.c -- see packing.h. */
#include "client/packing.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"
#include "client/builder.h"
#include "graph/library/pack.h"
#include "graph/library/settle.h"

static bool runs_here(const struct hn_target *target)
{
	struct hn_target host;
	struct hn_arena a;

	hn_arena_init(&a, 0);
	hn_target_host(&a, &host);
	bool ret = hn_target_runs_on(target, &host);

	hn_arena_fini(&a);
	return ret;
}

static int write_model(const struct hn_model *m, const char *path, struct hn_err *err)
{
	struct hn_buf b;

	hn_buf_init(&b);
	hn_model_write(m, &b);
	int rc = b.failed ? hn_fail(err, HONE_E_NOMEM, "no memory for %s", path)
			  : hn_file_replace(path, b.s, b.n, err);

	hn_buf_fini(&b);
	return rc;
}

static int map(const char *path, struct hn_packing *ret, struct hn_err *err)
{
	int fd = hn_file_open(path, err);
	void *p;

	if (fd < 0) {
		return fd;
	}
	p = mmap(NULL, ret->n_bytes, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	ret->bytes = p != MAP_FAILED ? p : NULL;
	return p != MAP_FAILED ? 0 : hn_fail(err, HONE_E_NOMEM, "%s: %s", path, strerror(errno));
}

/* The files of one run of hone-board; what it reads is removed after. */
static int prepare(const char *verb, const char *work, const char *objects, struct hn_arena *a,
		   const struct hn_model *model, const struct hn_weights *weights,
		   struct hn_packing *ret, struct hn_err *err)
{
	char *text = hn_arena_printf(a, "%s/prepare.json", work);
	char *raw = hn_arena_printf(a, "%s/prepare.weights", work);
	char *out = hn_arena_printf(a, "%s/prepared", work);
	char *argv[] = { "hone-board", "--prepare", text, raw, (char *)(uintptr_t)objects, out,
			 NULL };
	int rc = write_model(model, text, err);

	rc = rc ? rc : hn_weights_write(weights, raw, /* lasting= */ false, err);
	rc = rc ? rc : hn_builder_run(verb, argv, -1, err);
	unlink(raw);
	ret->n_bytes = model->prepared_bytes;
	rc = rc ? rc : map(out, ret, err);
	unlink(out);
	return rc;
}

static int pack(const struct hn_library *l, const struct hn_packing *p, struct hn_arena *a,
		struct hn_model *model, struct hn_weights *weights, struct hn_err *err)
{
	const bool **reads = HN_NEW_ARRAY(a, const bool *, model->n_kernel);
	struct hn_packed packed;

	for (uint32_t i = 0; i < model->n_kernel; i++) {
		bool *all = HN_NEW_ARRAY(a, bool, model->kernel[i].n_in);

		memset(all, true, model->kernel[i].n_in);
		reads[i] = l->object[i].reads != NULL ? l->object[i].reads : all;
	}
	hn_library_pack(l->model, l->weight, l->n_weight, model, p->bytes, reads, a, &packed);
	int rc = hn_weights_plan(packed.weight, packed.n_weight, a, weights, err);

	return rc ? rc
		  : hn_library_settle(&packed.model, packed.weight, packed.n_weight, weights, a,
				      model, err);
}

int hn_packing_make(const char *verb, const struct hn_library *l, const struct hn_target *target,
		    const char *work, const char *objects, struct hn_arena *a,
		    struct hn_model *model, struct hn_weights *weights, struct hn_packing *ret,
		    struct hn_err *err)
{
	*ret = (struct hn_packing){ 0 };
	if (model->prepared_bytes == 0 || !runs_here(target)) {
		return 0;
	}
	int rc = prepare(verb, work, objects, a, model, weights, ret, err);

	return rc ? rc : pack(l, ret, a, model, weights, err);
}

void hn_packing_close(struct hn_packing *p)
{
	if (p->bytes != NULL) {
		munmap(p->bytes, p->n_bytes);
	}
	*p = (struct hn_packing){ 0 };
}
