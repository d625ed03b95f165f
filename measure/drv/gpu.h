/* measure/drv/gpu.h -- what a driver of GPUs brings, so that candidates can be run on its devices.
 *
 * The boards of all such drivers are alike (gpu_board.c): references come from the naive program
 * on this machine's cores (cpu.c), and one child process has the device (gpu_child.c).  It lives
 * from candidate to candidate, for a device takes long to open, and is replaced after anything
 * that may have left the device in a bad state.  What a candidate goes through there is gpu_run.c.
 *
 * A driver's functions are called in the child, by one thread.  They return a verdict: OK, or what
 * the driver's error says of the kernel, with its words in err.  RUN_LOST says nothing of it: the
 * device or its driver is to blame.  Whatever a driver says is bounded and made printable.
 */
#ifndef HN_MEASURE_DRV_GPU_H
#define HN_MEASURE_DRV_GPU_H

#include "measure/drv/cpu_int.h"
#include "proto/gpu_module.h"

#define GPU_GUARD 4096 /* bytes on either side of a buffer, which no kernel may touch */
#define GPU_TEXT 128

/* What a device says of itself. */
struct gpu_facts {
	char name[GPU_TEXT], driver[GPU_TEXT];
	char isa[HN_GPU_MAX_NAME + 1];
	int64_t cores; /* multiprocessors, compute units */
	int64_t shared_bytes, static_shared_bytes; /* of a block: at most; without asking for more */
	int64_t threads; /* of a block */
	int64_t block[3];
	int64_t warp; /* 0 = it does not say */
	int64_t vector_bytes; /* of the vectors that suit a thread; 0 = it does not say */
	int64_t memory_bytes, buffer_bytes; /* in all; of one buffer */
	int64_t cache_bytes;
	int64_t clock_mhz;
	bool host; /* it is this machine's cores */
};

struct gpu_memory; /* a driver's */

struct gpu_ops {
	const char *kind;
	enum hn_gpu_form form; /* of the modules it takes */
	/* The index-th device.  HONE_E_NO_BOARD when there is no driver, or no such device. */
	int (*open)(uint32_t index, void **ret, struct gpu_facts *facts, struct hn_err *err);
	void (*close)(void *dev);
	/* So many bytes, with GPU_GUARD of the device's own on either side; offsets below are of all
	 * of it. */
	enum hn_verdict (*alloc)(void *dev, int64_t bytes, struct gpu_memory **ret,
				 struct hn_err *err);
	void (*release)(void *dev, struct gpu_memory *m);
	enum hn_verdict (*write)(void *dev, struct gpu_memory *m, size_t at, const void *from,
				 size_t n, struct hn_err *err);
	enum hn_verdict (*read)(void *dev, struct gpu_memory *m, size_t at, void *to, size_t n,
				struct hn_err *err);
	enum hn_verdict (*fill)(void *dev, struct gpu_memory *m, size_t at, uint8_t byte, size_t n,
				struct hn_err *err);
	/* buffer: by the module's numbers. */
	enum hn_verdict (*load)(void *dev, const struct hn_gpu_module *m,
				struct gpu_memory *const *buffer, void **ret, struct hn_err *err);
	void (*unload)(void *dev, void *program);
	/* n calls, one after the other, each all kernels in order; *ret_ns: all of them, by the
	 * device's clock.  lead: something runs before them that is not timed, so that the time
	 * of the first launch is not theirs.  cold: n is 1, and caches are emptied before. */
	enum hn_verdict (*run)(void *dev, void *program, uint32_t n, bool lead, bool cold,
			       double *ret_ns, struct hn_err *err);
	/* The same piece of work each time. */
	enum hn_verdict (*canary)(void *dev, double *ret_ns, struct hn_err *err);
	/* Clocks, power and temperature as they are now, for records; "" = not known. */
	void (*state)(void *dev, char *text, size_t n);
	bool lazy; /* the first launch of a kernel may compile it */
	/* How far the canary wanders where its clock is not its own; 0 = it is. */
	double wander;
};

/* The whole of struct hn_board_ops but name and cold, by a driver's struct gpu_ops. */
int gpu_board_open(const struct gpu_ops *ops, const struct hn_board_place *at, void **ret,
		   struct hn_err *err) HN_NODISCARD;
void gpu_board_close(void *board);
void gpu_board_workload(void *board, const struct hn_board_workload *w,
			struct hn_board_answer *ret);
void gpu_board_measure(void *board, const struct hn_board_request *r,
		       struct hn_board_answer *ret);
int gpu_board_probe(void *board, struct hn_probe *ret, struct hn_err *err);
int gpu_board_canary(void *board, struct hn_canary *ret, struct hn_err *err);
int gpu_board_find(const struct gpu_ops *ops, uint32_t index, struct hn_board_device *ret,
		   struct hn_err *err) HN_NODISCARD;

/* Text of a driver's, printable and cut to n bytes; returns to. */
const char *gpu_print(char *to, size_t n, const char *from, size_t from_bytes);

/* Whether what a target line says is more than the device has: HONE_E_INVALID names it. */
int gpu_check_target(const char *line, const struct gpu_facts *f, struct hn_err *err)
	HN_NODISCARD;

#endif
