/* client/netmake.c -- see netmake.h. */
#include "client/netmake.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "client/best.h"
#include "client/interrupt.h"
#include "client/place.h"

static int read_object(const struct hn_netmake *m, struct hn_netmade *made, struct hn_arena *a)
{
	char path[256];
	struct hn_buf b;
	int rc;

	snprintf(path, sizeof(path), "%s/%.100s.o", m->dir, made->symbol);
	hn_buf_init(&b);
	rc = hn_file_read(path, (size_t)256 << 20, &b, &made->err);
	if (rc == 0) {
		void *bytes = hn_arena_alloc(a, b.n);

		memcpy(bytes, b.s, b.n);
		made->object = (struct hn_library_object){ bytes, b.n, NULL };
	}
	hn_buf_fini(&b);
	unlink(path);
	return rc;
}

/* On one line, which the next one replaces. */
static void say_progress(struct hn_netmake *m)
{
	if (m->progress) {
		fprintf(stderr, "\rhone: %u of %u kernels", ++m->n_done, m->n_kernel);
	}
}

static bool same_strides(const char *x, const char *y)
{
	return x == NULL || y == NULL ? x == y : strcmp(x, y) == 0;
}

/* -- kernels of all ranges ------------------------------------------------------------------ */

static uint32_t n_nets(const struct hn_netmake *m)
{
	return m->net->ranges.n > 0 ? m->net->ranges.n : 1;
}

static const struct hn_net *net_at(const struct hn_netmake *m, uint32_t i)
{
	return m->net->ranges.n > 0 ? &m->net->ranges.range[i].net : &m->net->net;
}

/* The number of a kernel with this program, whatever it is called, and these strides; n_kernel:
 * there is none yet. */
static uint32_t find_kernel(const struct hn_netmake *m, const struct hn_gtask *t,
			    const char *strides)
{
	for (uint32_t i = 0; i < m->n_kernel; i++) {
		const struct hn_netmade *x = &m->made[i];

		if (same_strides(x->of->strides, strides) &&
		    strcmp(x->task->text + strlen(x->task->name), t->text + strlen(t->name)) == 0) {
			return i;
		}
	}
	return m->n_kernel;
}

static void number_kernels(struct hn_netmake *m)
{
	struct hn_arena *a = &m->net->arena;
	uint32_t most = 0;

	for (uint32_t r = 0; r < n_nets(m); r++) {
		most += net_at(m, r)->n_kernel;
	}
	m->n_kernel = 0;
	m->made = HN_NEW_ARRAY(a, struct hn_netmade, most);
	m->number = HN_NEW_ARRAY(a, uint32_t *, n_nets(m));
	for (uint32_t r = 0; r < n_nets(m); r++) {
		const struct hn_net *net = net_at(m, r);

		m->number[r] = HN_NEW_ARRAY(a, uint32_t, net->n_kernel);
		for (uint32_t i = 0; i < net->n_kernel; i++) {
			const struct hn_gkernel *of = &net->kernel[i];
			const struct hn_gtask *task = &net->task[of->task];
			uint32_t k = find_kernel(m, task, of->strides);

			m->number[r][i] = k;
			if (k == m->n_kernel) {
				m->made[m->n_kernel++] = (struct hn_netmade){ .of = of, .task = task };
			}
		}
	}
}

/* -- how one is made ------------------------------------------------------------------------ */

/* The very kernel, that another network has made; NULL: none has. */
static bool same_kernel(const struct hn_kernel *x, const struct hn_kernel *y)
{
	return strcmp(x->key, y->key) == 0 && strcmp(x->steps, y->steps) == 0 &&
	       same_strides(x->strides, y->strides);
}

static const struct hn_netmade *find_made(const struct hn_netmake *m, const struct hn_kernel *k)
{
	for (uint32_t i = 0; i < m->n_same; i++) {
		const struct hn_netmake *x = m->same[i];

		for (uint32_t t = 0; t < x->n_kernel; t++) {
			if (same_kernel(&x->made[t].kernel, k)) {
				return &x->made[t];
			}
		}
	}
	return NULL;
}

/* Where a schedule comes from is one thing, what was made of it another. */
static void take(struct hn_netmade *made, const struct hn_netmade *from)
{
	const struct hn_kernel chosen = made->kernel;

	made->kernel = from->kernel;
	made->kernel.record = chosen.record;
	made->kernel.median_ns = chosen.median_ns;
	made->kernel.predicted_ns = chosen.predicted_ns;
	made->object = from->object;
	made->symbol = from->symbol;
}

static bool make_one(void *ctx, uint32_t i, struct hn_arena *a)
{
	struct hn_netmake *m = ctx;
	struct hn_netmade *made = &m->made[i];
	struct hn_opts one = hn_network_task(m->o, made->task);
	int64_t declined = hn_netchoice_declined(m->choice, made->task->name);
	const struct hn_netmade *same;

	made->rc = hn_interrupted() ? hn_fail(&made->err, HONE_E_CANCELLED, "stopped") : 0;
	made->rc = made->rc ? made->rc
			    : hn_kernel_choose(&one, declined, a, &made->kernel, &made->err);
	made->kernel.strides = made->of->strides;
	same = made->rc == 0 ? find_made(m, &made->kernel) : NULL;
	if (same != NULL) {
		take(made, same);
	} else {
		made->rc = made->rc ? made->rc
				    : hn_kernel_make(m->verb, &one, m->dir, made->symbol, a,
						     &made->kernel, &made->err);
		made->rc = made->rc ? made->rc : read_object(m, made, a);
	}
	if (made->rc != 0) {
		hn_err_within(&made->err, "%s", made->of->name);
	}
	say_progress(m);
	return made->rc == 0;
}

static int check_target(struct hn_netmake *m, struct hn_err *err)
{
	struct hn_target target;
	const char *line;
	int rc = hn_best_target(m->o, &m->net->arena, &target, &line, err);

	m->modules = rc == 0 && (target.caps & HN_CAP_MODULES) != 0;
	if (rc == 0 && (target.caps & HN_CAP_BUFFERS) != 0) {
		return hn_fail(err, HONE_E_UNSUPPORTED,
			       "%s: target %s: libraries of networks are for processors and GPUs; `hone "
			       "npu` runs its kernels, and `hone replay` writes one of `hone model --as text`",
			       m->verb, target.kind);
	}
	return rc;
}

int hn_netmake_kernels(struct hn_netmake *m, struct hn_crew *crew, struct hn_err *err)
{
	int rc = check_target(m, err);

	if (rc != 0) {
		return rc;
	}
	number_kernels(m);
	for (uint32_t i = 0; i < m->n_kernel; i++) {
		m->made[i].symbol = hn_arena_printf(&m->net->arena, "%.40s_%.8s%.56s",
						    m->net->name, m->prefix != NULL ? m->prefix : "",
						    m->made[i].of->name);
	}
	hn_crew_run(crew, m->n_kernel, make_one, m);
	if (m->progress) {
		fputs("\r\033[K", stderr);
	}
	for (uint32_t i = 0; i < m->n_kernel; i++) {
		if (m->made[i].rc != 0) {
			*err = m->made[i].err;
			return m->made[i].rc;
		}
	}
	return 0;
}

/* -- the library ---------------------------------------------------------------------------- */

/* Of the kernels of a range, or of the network. */
static const struct hn_kernel_facts *facts_of(const struct hn_netmake *m, uint32_t range)
{
	uint32_t n = net_at(m, range)->n_kernel;
	struct hn_kernel_facts *facts = HN_NEW_ARRAY(&m->net->arena, struct hn_kernel_facts, n);

	for (uint32_t i = 0; i < n; i++) {
		const struct hn_netmade *made = &m->made[m->number[range][i]];
		const struct hn_kernel *k = &made->kernel;

		facts[i] = (struct hn_kernel_facts){ made->symbol, k->workspace_bytes,
						     k->worker_bytes, k->prepared_bytes, k->init };
	}
	return facts;
}

static int assemble(const struct hn_netmake *m, struct hn_assembly *ret, struct hn_err *err)
{
	const struct hn_ranges *ranges = &m->net->ranges;
	struct hn_arena *a = &m->net->arena;
	const struct hn_kernel_facts **facts;

	if (ranges->n == 0) {
		return hn_assemble(&m->net->net, m->net->name, facts_of(m, 0), a, ret, err);
	}
	facts = HN_NEW_ARRAY(a, const struct hn_kernel_facts *, ranges->n);
	for (uint32_t r = 0; r < ranges->n; r++) {
		facts[r] = facts_of(m, r);
	}
	return hn_assemble_ranges(ranges, m->net->name, facts, a, ret, err);
}

int hn_netmake_library(const struct hn_netmake *m, const char *dir,
		       void (*wrote)(const char *path), char ret_note[HN_LIBRARY_NOTE],
		       struct hn_assembly *ret, struct hn_err *err)
{
	struct hn_library_object *object =
		HN_NEW_ARRAY(&m->net->arena, struct hn_library_object, m->n_kernel);
	struct hn_library l;
	int rc = assemble(m, ret, err);

	for (uint32_t i = 0; i < m->n_kernel; i++) {
		object[i] = m->made[i].object;
		object[i].reads = m->made[i].kernel.reads;
	}
	l = (struct hn_library){ .file = HN_PLACE_FILE,
				 .target_line = m->made[0].kernel.target_line,
				 .model = &ret->model,
				 .n_weight = ret->n_weight,
				 .weight = ret->weight,
				 .object = object,
				 .modules = m->modules,
				 .embed = m->o->embed };
	return rc ? rc : hn_library_write(m->verb, &l, dir, wrote, ret_note, err);
}
