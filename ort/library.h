/* ort/library.h -- a network that `hone compile` made, loaded from its folder and ready to run.
 */
#ifndef HN_ORT_LIBRARY_H
#define HN_ORT_LIBRARY_H

#include <pthread.h>

#include "base/err.h"
#include "base/hash.h"
#include "hone/model.h"
#include "hone/pool.h"

#define ORT_FILE_MOST ((size_t)4 << 30) /* bytes of a file that is told apart by its hash */

#define ORT_ARENAS 16 /* that are kept */

struct ort_library {
	void *handle;
	int copy; /* of the code, in memory; -1: there is none */
	const struct hone_model *model;
	int32_t (*run)(const void *weights, const void *prepared, const void *const *in,
		       void *const *out, void *arena, const struct hone_env *env);
	char onnx[HN_SHA256_HEX]; /* of the network's file */
	char binary[HN_SHA256_HEX];
	void *weights, *prepared;
	size_t weights_bytes;
	struct hone_pool *pool; /* the provider's */
	struct hone_env env;	/* its threads */
	pthread_mutex_t lock;	/* of the arenas */
	void *arena[ORT_ARENAS]; /* those that no run has; one for each that ran at a time */
	uint32_t n_arena;
};

/* The network of the ONNX file `model`; NULL: of whatever file the folder says.  HONE_E_NOT_FOUND: there is no such folder; HONE_E_INVALID: it
 * is of another network, or spoilt; HONE_E_UNSUPPORTED: made for another processor. */
int ort_library_open(const char *dir, const char *model, struct hone_pool *pool,
		     struct ort_library *ret, struct hn_err *err) HN_NODISCARD;
void ort_library_close(struct ort_library *l);

/* What hone_model_run returns.  Any number may run at a time.  env: as many workers as the pool has threads, at most; NULL: the pool. */
int32_t ort_library_run(struct ort_library *l, const void *const *in, void *const *out,
			const struct hone_env *env);

/* ONNX's number of an element type; 0: none that we know. */
int ort_library_type(const struct hone_model_tensor *t);

#endif
