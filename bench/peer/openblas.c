/* bench/peer/openblas.c -- matrix products by OpenBLAS. */
#include <cblas.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/contest.h"

void openblas_set_num_threads(int n);

char *openblas_get_corename(void);

/* A CPU newer than the library is taken for one of 2004 ("Prescott"), ten times too slow:
 * name a kernel set that this CPU has.  The variable is read while the library is loaded. */
void hn_peer_openblas_prepare(char **argv)
{
#if defined(__x86_64__)
	const char *core = __builtin_cpu_supports("avx512f") ? "SkylakeX"
			   : __builtin_cpu_supports("avx2")  ? "Haswell"
							     : NULL;

	if (core != NULL && getenv("OPENBLAS_CORETYPE") == NULL &&
	    strcmp(openblas_get_corename(), "Prescott") == 0 &&
	    setenv("OPENBLAS_CORETYPE", core, 0) == 0) {
		execv("/proc/self/exe", argv);
	}
#else
	(void)argv;
#endif
}

struct product {
	const float *a, *b;
	float *c;
	int batch, m, n, k;
};

static void call(void *ctx)
{
	const struct product *p = ctx;
	size_t a = (size_t)p->m * (size_t)p->k, b = (size_t)p->k * (size_t)p->n;
	size_t c = (size_t)p->m * (size_t)p->n;

	for (size_t i = 0; i < (size_t)p->batch; i++) {
		cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, p->m, p->n, p->k,
			    1, p->a + i * a, p->k, p->b + i * b, p->n, 0, p->c + i * c,
			    p->n);
	}
}

void hn_peer_openblas(struct hn_contest *t)
{
	const int64_t *p = t->row->p;
	struct hn_contender *c;
	struct product *x;

	if (t->row->class != HN_SUITE_matmul) {
		return;
	}
	openblas_set_num_threads(t->n_threads);
	x = calloc(1, sizeof(*x));
	hn_assert(x != NULL);
	*x = (struct product){ .a = t->arg[0],
			       .b = t->arg[1],
			       .c = t->arg[2],
			       .batch = p[0] > 0 ? (int)p[0] : 1,
			       .m = (int)p[1],
			       .n = (int)p[2],
			       .k = (int)p[3] };
	c = hn_contest_add(t, "openblas");
	c->ctx = x;
	c->call = call;
	c->close = free;
}
