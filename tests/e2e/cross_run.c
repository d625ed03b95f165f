/* Runs the kernels of table.c (cross_kernels.c) where they can run, and writes their answers: alone,
 * on two threads with a workspace, and with prepared data.  Each argument ends at a page that may
 * not be touched, and bytes before it must stay.  Plain C for any compiler. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "hone/pool.h"

#define MOST_ARGS 16
#define BEFORE 64

struct args {
	uint32_t n, bytes[MOST_ARGS], output[MOST_ARGS];
	void *from[MOST_ARGS], *at[MOST_ARGS];
};

struct kernel {
	int number;
	int32_t (*fn)(void *const *args, const struct hone_env *env);
	int32_t (*prepare)(void *const *args, void *prepared, const struct hone_env *env);
	uint32_t program;
	uint64_t shared, per_worker, prepared;
};

#define PLAIN(i)
#define PREPARES(i)                                                                      \
	int32_t k##i##_prepare_packed(void *const *args, void *p,                        \
				      const struct hone_env *env);
#define KERNEL(i, kind, program, shared, per_worker, prepared)                           \
	int32_t k##i##_packed(void *const *args, const struct hone_env *env);            \
	kind(i)
#include "table.c"
#undef PLAIN
#undef PREPARES
#undef KERNEL

static const struct kernel kernels[] = {
#define PLAIN(i) NULL
#define PREPARES(i) k##i##_prepare_packed
#define KERNEL(i, kind, program, shared, per_worker, prepared)                           \
	{ i, k##i##_packed, kind(i), program, shared, per_worker, prepared },
#include "table.c"
};

static void must(int fine, const char *what, int number)
{
	if (!fine) {
		fprintf(stderr, "cross_run: k%d: %s\n", number, what);
		exit(1);
	}
}

static void *aligned(uint64_t bytes)
{
	void *p = aligned_alloc(64, (size_t)(bytes + 64) / 64 * 64);

	must(p != NULL, "no memory", -1);
	return p;
}

/* Room that ends where its pages do. */
static void *at_the_end(uint32_t bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), inside;
	char *p;

	inside = (bytes + BEFORE + page - 1) / page * page;
	p = mmap(NULL, inside + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		 -1, 0);
	must(p != MAP_FAILED && mprotect(p + inside, page, PROT_NONE) == 0, "no memory",
	     -1);
	memset(p + inside - bytes - BEFORE, 0xa5, BEFORE);
	return p + inside - bytes;
}

static int before_stays(const struct args *x)
{
	for (uint32_t i = 0; i < x->n; i++) {
		for (int k = 1; k <= BEFORE; k++) {
			if (((unsigned char *)x->at[i])[-k] != 0xa5) {
				return 0;
			}
		}
	}
	return 1;
}

static struct args *read_inputs(const char *path, uint32_t program)
{
	static struct args all[64];
	static uint32_t n_read;
	static FILE *f;

	f = f != NULL ? f : fopen(path, "rb");
	must(f != NULL, "no inputs", -1);
	for (; n_read <= program; n_read++) {
		struct args *x = &all[n_read];

		must(n_read < 64 && fread(&x->n, sizeof x->n, 1, f) == 1 &&
			     x->n <= MOST_ARGS,
		     "bad inputs", -1);
		for (uint32_t i = 0; i < x->n; i++) {
			uint32_t head[2];

			must(fread(head, sizeof head, 1, f) == 1, "short inputs", -1);
			x->bytes[i] = head[0];
			x->output[i] = head[1];
			x->from[i] = aligned(head[0]);
			x->at[i] = at_the_end(head[0]);
			must(fread(x->from[i], 1, head[0], f) == head[0], "short inputs",
			     -1);
		}
	}
	return &all[program];
}

static void answer(const struct kernel *k, struct args *x, const struct hone_env *env,
		   FILE *out)
{
	for (uint32_t i = 0; i < x->n; i++) {
		memcpy(x->at[i], x->from[i], x->bytes[i]);
	}
	must(k->fn(x->at, env) == 0, "refused", k->number);
	must(before_stays(x), "wrote before an argument", k->number);
	for (uint32_t i = 0; i < x->n; i++) {
		must(x->output[i] || memcmp(x->at[i], x->from[i], x->bytes[i]) == 0,
		     "changed an input", k->number);
		must(!x->output[i] ||
			     fwrite(x->at[i], 1, x->bytes[i], out) == x->bytes[i],
		     "cannot write", k->number);
	}
}

static void run(const struct kernel *k, struct args *x, FILE *out)
{
	struct hone_pool *pool = hone_pool_create(2);
	struct hone_env env;
	void *prepared = aligned(k->prepared);

	answer(k, x, NULL, out);
	must(pool != NULL, "no pool", k->number);
	env = *hone_pool_env(pool, k->shared + (uint64_t)hone_pool_threads(pool) *
						       k->per_worker);
	answer(k, x, &env, out);
	if (k->prepare != NULL) {
		must(k->prepare(x->at, prepared, &env) == 0, "did not prepare",
		     k->number);
		env.prepared = prepared;
		env.prepared_bytes = k->prepared;
	}
	answer(k, x, &env, out);
	hone_pool_destroy(pool);
	free(prepared);
}

int main(int argc, char **argv)
{
	FILE *out = argc == 3 ? fopen(argv[2], "wb") : NULL;

	must(out != NULL, "give INPUTS OUTPUTS", -1);
	for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++) {
		run(&kernels[i], read_inputs(argv[1], kernels[i].program), out);
	}
	return fclose(out) != 0;
}
