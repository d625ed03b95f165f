/* hone/model.h -- how to run a network that hone compiled.
 *
 * A compiled network is a table of steps, each the call of one kernel (hone/kernel.h), and what
 * walks it.  Its own header declares it under its own name and says what its inputs and outputs
 * are:
 *
 *     NAME_prepare(weights, prepared, arena, env);              once
 *     NAME_run(weights, prepared, in, out, arena, env);         as often as wanted
 *
 *   weights   NAME_WEIGHTS_BYTES, the file NAME's folder holds, mapped or read, 64-byte aligned; only
 *             read.  They are as the kernels want them, packed when the network was compiled
 *   prepared  NAME_PREPARED_BYTES of the caller's, 64-byte aligned: 0, so that NULL will do, but of
 *             a network that was compiled for a machine of another kind.  There NAME_prepare fills
 *             it from the weights, and NAME_run only reads it; NULL in NAME_run: each call prepares
 *             for itself, in memory from malloc, which is slow
 *   in, out   pointers to the inputs and outputs, in order; row-major, best 64-byte aligned.  An
 *             output may not overlap an input or another output
 *   arena     NAME_ARENA_BYTES(workers) of the caller's, 64-byte aligned: what lies between the
 *             steps, and the kernels' workspace; contents undefined before and after
 *   env       the threads (hone/pool.h); NULL: the caller's alone.  Its workspace and prepared
 *             block are not used
 *
 * A network for a range of sizes (`hone compile --dim sequence=1..512`) is run by
 *
 *     NAME_run_sized(sizes, weights, prepared, in, out, arena, env);
 *
 *   sizes     one number for each of NAME_model.sizes, in their order; HONE_MODEL_SIZE, with nothing
 *             touched, where one is outside of its range or no multiple of its step.  Inputs and outputs have the shapes that
 *             these make, row-major without gaps; NAME_ARENA_BYTES serves all sizes.  NAME_run
 *             returns HONE_MODEL_SIZE
 *
 * All return 0, or one of the numbers below, or what the kernel returned that failed; then the
 * outputs are undefined.  Nothing is allocated and nothing is kept: any number of calls may run
 * at a time, of one model or of several, each with an arena, outputs and an environment of its
 * own.  They may share weights and prepared data.
 *
 * NAME_prepare asks the system for what kernels need (tile registers, hone/kernel.h).  So it is
 * called once in a process even if there is nothing to prepare.
 *
 * Both know the network's own weights by a stamp in their head, and refuse others.  They do not look
 * at the rest: a mapped file that is cut short ends in a SIGBUS, so look at its size first.
 *
 * A network for a GPU (`hone compile --target cuda`) is run by the same calls:
 *
 *   prepared  NAME_PREPARED_BYTES, in which NAME_prepare keeps the opened network: the driver's library
 *             is loaded, the weights are uploaded, the code is loaded, all memory of the device is
 *             allocated.  NAME_run takes no weights from this machine after that: they may be
 *             unmapped, and NULL will do.  NULL here in NAME_run: each call opens and closes it
 *   arena     nothing: NAME_ARENA_BYTES is 0, and so is env
 *
 * and two more:
 *
 *     NAME_release(prepared);     gives back what NAME_prepare took; no call may be running
 *     NAME_error();               why this thread's last call failed, in one line
 *
 * A run copies the inputs to the device and the outputs back, and nothing between.  Of ranges of sizes
 * NAME_prepare makes the largest ready, and another size is at its first run.  Runs with one
 * prepared block take turns.  After HONE_MODEL_DEVICE all further runs fail with it: the network is
 * released, and prepared anew.
 *
 * The functions here do the work for any model; NAME_run and the others call them with NAME_model.
 * Each compiled model brings them along, as weak symbols whose names carry the version of the
 * table.  A program with several models keeps one copy.  Models of another version bring functions
 * of another name.
 */
#ifndef HONE_MODEL_H
#define HONE_MODEL_H

#include "hone/kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

#define HONE_MODEL_ABI 4
#define hone_model_arena_bytes hone_model_arena_bytes_4
#define hone_model_prepare hone_model_prepare_4
#define hone_model_range_of hone_model_range_of_4
#define hone_model_run hone_model_run_4
#define hone_model_run_sized hone_model_run_sized_4
#define hone_model_run_timed hone_model_run_timed_4

#define HONE_MODEL_VERSION (-16) /* the table is of another version than these functions */
#define HONE_MODEL_ALIGN (-17)	 /* arena or prepared data is not 64-byte aligned, or missing */
#define HONE_MODEL_INIT (-18)	 /* the system refuses tile registers */
#define HONE_MODEL_WEIGHTS_DIFFER (-19) /* not this network's weights, or not 64-byte aligned */
#define HONE_MODEL_SIZE (-20)	 /* a size is none of its range, or sizes are wanted */

/* Of a network for a GPU alone; NAME_error says more. */
#define HONE_MODEL_DRIVER (-21) /* there is no driver, or no device that it can use */
#define HONE_MODEL_MEMORY (-22) /* no memory on the device, or on this machine */
#define HONE_MODEL_CODE (-23)	/* the driver does not take a kernel */
#define HONE_MODEL_DEVICE (-24) /* the device failed, or is lost */

#define HONE_MODEL_MAX_ARGS 256 /* of a kernel */
#define HONE_MODEL_MAX_SIZES 16

/* An input or an output. */
struct hone_model_tensor {
	const char *name;    /* UTF-8, of the network's author */
	const char *dtype;   /* "float32", "int64", ... */
	const int64_t *dims; /* [rank] */
	uint64_t bytes;
	uint32_t rank;
};

enum hone_model_place {
	HONE_MODEL_INPUT,
	HONE_MODEL_OUTPUT,
	HONE_MODEL_ARENA,
	HONE_MODEL_WEIGHTS,
	HONE_MODEL_NOWHERE, /* a weight that is read in its prepared form alone: a null pointer */
	HONE_MODEL_N_PLACES
};

/* Where an argument of a step lies. */
struct hone_model_arg {
	uint32_t place; /* enum hone_model_place */
	uint32_t index; /* of the input or output, else 0 */
	uint64_t offset; /* in it, in bytes */
};

struct hone_model_kernel {
	const char *name; /* for people */
	int32_t (*packed)(void *const *args, const struct hone_env *env);
	/* NULL: nothing to prepare */
	int32_t (*prepare_packed)(void *const *args, void *prepared, const struct hone_env *env);
	int32_t (*init)(void); /* NULL: nothing to ask for */
	uint64_t prepared_bytes;
	uint64_t workspace_bytes, worker_bytes; /* once, and for each worker */
	/* The kernel of a range of sizes: it takes all sizes of the model, each divided by its
	 * step.  packed is NULL then */
	int32_t (*sized)(const int64_t *sizes, void *const *args, const struct hone_env *env);
};

/* What is to be done for a step's prepared block. */
enum hone_model_block {
	HONE_MODEL_NOTHING, /* there is none, or an earlier step's serves */
	HONE_MODEL_PREPARE, /* NAME_prepare makes it */
	HONE_MODEL_STORED   /* `hone compile` made it: it lies in weights */
};

struct hone_model_step {
	const char *name; /* for people */
	uint32_t kernel;
	uint32_t first_arg, n_args; /* in the model's args */
	uint32_t prepares; /* enum hone_model_block */
	uint64_t prepared; /* offset of the block, in weights where it is stored */
};

/* A dimension that the caller chooses. */
struct hone_model_size {
	const char *name; /* UTF-8, of the network's author */
	int64_t least, most, step; /* multiples of the step, from the least to the most */
};

/* Some steps, and the sizes that they are for. */
struct hone_model_range {
	const int64_t *least, *most; /* [n_sizes] */
	uint32_t first_step, n_steps;
};

struct hone_model {
	uint32_t abi; /* HONE_MODEL_ABI */
	uint32_t n_inputs, n_outputs, n_kernels, n_steps, n_args;
	const char *name;
	const struct hone_model_tensor *inputs, *outputs;
	const struct hone_model_kernel *kernels;
	const struct hone_model_step *steps; /* in the order in which they run */
	const struct hone_model_arg *args;
	uint64_t weights_bytes, prepared_bytes;
	uint64_t arena_bytes; /* without workspace; a multiple of 64 */
	uint64_t stamp;	      /* the weights' second eight bytes, a hash of them; 0: not looked at */
	/* 0: all steps run, whatever the sizes.  Else tensors have the largest shapes */
	uint32_t n_sizes, n_ranges;
	const struct hone_model_size *sizes;
	const struct hone_model_range *ranges;
};

/* The arena's bytes for so many workers; below 1 counts as 1. */
uint64_t hone_model_arena_bytes(const struct hone_model *m, int32_t n_workers);

/* The number of the range that these sizes are of, whose steps a run for them takes; 0 of a network
 * without sizes.  HONE_MODEL_SIZE: there is none, or sizes are NULL. */
int32_t hone_model_range_of(const struct hone_model *m, const int64_t *sizes);

int32_t hone_model_prepare(const struct hone_model *m, const void *weights, void *prepared,
			   void *arena, const struct hone_env *env);

int32_t hone_model_run(const struct hone_model *m, const void *weights, const void *prepared,
		       const void *const *in, void *const *out, void *arena,
		       const struct hone_env *env);

int32_t hone_model_run_sized(const struct hone_model *m, const int64_t *sizes,
			     const void *weights, const void *prepared, const void *const *in,
			     void *const *out, void *arena, const struct hone_env *env);

/* The same as hone_model_run, and what each step took: time[n_steps] grows by differences of `now`, a clock of the
 * caller's in any unit. */
int32_t hone_model_run_timed(const struct hone_model *m, const void *weights,
			     const void *prepared, const void *const *in, void *const *out,
			     void *arena, const struct hone_env *env, uint64_t (*now)(void),
			     uint64_t *time);

#ifdef __cplusplus
}
#endif

#endif
