/* client/lib/kernel_pool.c -- threads for callers who have none: one pool in the process, made at
 * the first call that wants it and ended with the last kernel. */
#include <pthread.h>

#include "client/lib/kernel_load.h"
#include "hone/pool.h"

static pthread_mutex_t busy = PTHREAD_MUTEX_INITIALIZER; /* of all that is here */
static struct hone_pool *pool;
static unsigned n_kernel;

void hn_lib_pool_hold(void)
{
	pthread_mutex_lock(&busy);
	n_kernel++;
	pthread_mutex_unlock(&busy);
}

void hn_lib_pool_release(void)
{
	pthread_mutex_lock(&busy);
	if (--n_kernel == 0) {
		hone_pool_destroy(pool);
		pool = NULL;
	}
	pthread_mutex_unlock(&busy);
}

int32_t hn_lib_pool_call(const struct hone_kernel *k, const int64_t *sizes, void *const *args)
{
	const struct hone_env *env;
	int32_t ret;

	if (pthread_mutex_trylock(&busy) != 0) {
		return hone_kernel_call(k, sizes, args, NULL);
	}
	if (pool == NULL) {
		pool = hone_pool_create(0);
	}
	env = hone_pool_env(pool, hone_kernel_workspace_bytes(k, hone_pool_threads(pool)));
	ret = hone_kernel_call(k, sizes, args, env);
	pthread_mutex_unlock(&busy);
	return ret;
}
