/* ort/slots.h -- the part of ONNX Runtime's C interface that the provider needs, in declarations of
 * our own: no package has the runtime's headers.
 *
 * The interface is tables of functions that only grow: functions of the runtime (slots.def) that we
 * find by their number, and structs of functions that we fill in.  Structs begin with the version of
 * the interface that they are made for; the runtime looks at nothing that came later.
 */
#ifndef HN_ORT_SLOTS_H
#define HN_ORT_SLOTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ORT_VERSION_NEEDED 23 /* of the interface: that of ONNX Runtime 1.23 */

typedef struct ort_status ort_status; /* NULL: all is well */

enum { ORT_CODE_FAIL = 1, ORT_CODE_INVALID = 2, ORT_CODE_PROVIDER = 11 };
enum { ORT_SAYS_INFO = 1, ORT_SAYS_WARNING = 2 };
enum { ORT_DEVICE_CPU = 0 };
/* ONNXTensorElementDataType, as far as we look into elements */
enum {
	ORT_FLOAT = 1,
	ORT_INT32 = 6,
	ORT_INT64 = 7,
	ORT_STRING = 8,
	ORT_FLOAT16 = 10,
	ORT_DOUBLE = 11,
	ORT_BFLOAT16 = 16
};

/* What the library is handed first: GetApi(version), GetVersionString(). */
struct ort_base {
	const void *(*get_api)(uint32_t version);
	const char *(*get_version)(void);
};

/* OrtNodeFusionOptions */
struct ort_fusion {
	uint32_t version;
	bool drop_constants; /* weights are ours: they are no inputs */
};

#define SLOT(table, number, name, returns, arguments) typedef returns(*ort_##name##_fn) arguments;
#include "ort/slots.def"
#undef SLOT

enum {
#define SLOT(table, number, name, returns, arguments) ORT_SLOT_##name = number,
#include "ort/slots.def"
#undef SLOT
};

/* ort_call(api, GetDimensions)(tensor, dims, n) */
#define ort_call(table, name) ((ort_##name##_fn)(((void *const *)(table))[ORT_SLOT_##name]))

/* OrtNodeComputeInfo */
struct ort_compute {
	uint32_t version;
	ort_status *(*create_state)(struct ort_compute *self, void *context, void **state);
	ort_status *(*compute)(struct ort_compute *self, void *state, void *context);
	void (*release_state)(struct ort_compute *self, void *state);
};

/* OrtEp, as far as version 23 has it */
struct ort_ep {
	uint32_t version;
	const char *(*get_name)(const struct ort_ep *self);
	ort_status *(*get_capability)(struct ort_ep *self, const void *graph, void *support);
	ort_status *(*compile)(struct ort_ep *self, const void **graphs, const void **nodes,
			       size_t n, struct ort_compute **computes, void **context_nodes);
	void (*release_computes)(struct ort_ep *self, struct ort_compute **computes, size_t n);
	void *optional[7]; /* layout, options, begin and end of a run, memory, streams */
	void *later[16];   /* what newer versions added, which is not looked at */
};

/* OrtEpFactory, the same */
struct ort_factory {
	uint32_t version;
	const char *(*get_name)(const struct ort_factory *self);
	const char *(*get_vendor)(const struct ort_factory *self);
	ort_status *(*get_devices)(struct ort_factory *self, const void *const *devices, size_t n,
				   void **made, size_t most, size_t *n_made);
	ort_status *(*create_ep)(struct ort_factory *self, const void *const *devices,
				 const void *const *metadata, size_t n, const void *options,
				 const void *logger, struct ort_ep **ret);
	void (*release_ep)(struct ort_factory *self, struct ort_ep *ep);
	uint32_t (*get_vendor_id)(const struct ort_factory *self);
	const char *(*get_version)(const struct ort_factory *self);
	ort_status *(*validate)(struct ort_factory *self, const void *const *devices, size_t n,
				const char *info, int *ret);
	ort_status *(*create_allocator)(struct ort_factory *self, const void *memory,
					const void *options, void **ret);
	void (*release_allocator)(struct ort_factory *self, void *allocator);
	ort_status *(*create_transfer)(struct ort_factory *self, void **ret);
	bool (*is_stream_aware)(const struct ort_factory *self);
	ort_status *(*create_stream)(struct ort_factory *self, const void *device,
				     const void *options, void **ret);
	void *later[16];
};

/* What the runtime looks for in a library of providers. */
ort_status *CreateEpFactories(const char *registered, const struct ort_base *base,
			      const void *logger, struct ort_factory **factories, size_t most,
			      size_t *n);
ort_status *ReleaseEpFactory(struct ort_factory *factory);

#endif
