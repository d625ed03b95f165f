/* graph/akg/akg.h -- a fused operator in the JSON that AKG is given, read and not yet understood.
 *
 * One file is one kernel: tensors that go in and come out, and the operators between them in the
 * order in which they are computed.  Nothing here knows an operator; import.c does.
 *
 * What the format demands is checked, kinds of values among it.  Members that it does not have are
 * kept in the document, and told (hn_akg_note): a file of another version is read, and nobody
 * wonders what became of a member.
 *
 * Structure is allocated, at most HN_AKG_PER_BYTE bytes for each byte of the file and
 * HN_AKG_FREE_BYTES more.  Texts are UTF-8 without control characters, of at most HN_AKG_MAX_TEXT
 * bytes, and never NULL: what the file does not say is "".
 */
#ifndef HN_GRAPH_AKG_AKG_H
#define HN_GRAPH_AKG_AKG_H

#include "base/dtype.h"
#include "base/json.h"

#define HN_AKG_MAX_BYTES ((size_t)64 << 20)
#define HN_AKG_MAX_OPS 65536 /* as many as a model has nodes */
#define HN_AKG_MAX_TEXT 4096
#define HN_AKG_PER_BYTE 64
#define HN_AKG_FREE_BYTES ((uint64_t)1 << 20)

struct hn_akg; /* a file that was read */

struct hn_akg_tensor {
	const char *name; /* of the kernel's one name space */
	const char *format; /* how its dimensions lie: "DefaultFormat", "FRACTAL_NZ", .. */
	const int64_t *shape; /* each 1 or more, or -1: open; a literal's is 0 where it has no elements.
			       * What is written as [] is [1] */
	const char *const *symbol; /* of each dimension, what it is called; NULL: of none */
	const struct hn_json *value; /* it is this literal; NULL: it is none */
	uint32_t rank;
	bool is_complex; /* dtype is that of its two parts */
	uint8_t dtype;	 /* enum hn_dtype */
};

struct hn_akg_attr {
	const char *name;
	const struct hn_json *value;
};

struct hn_akg_op {
	const char *name;
	const char *at; /* "op_desc[3]" */
	const struct hn_akg_tensor *in; /* of all lists of its input_desc, one after the other */
	const struct hn_akg_tensor *out;
	const struct hn_akg_attr *attr;
	uint32_t n_in, n_out, n_attr;
};

/* Something that has no meaning here. */
struct hn_akg_note {
	const char *what; /* "member \"color\" of a tensor" */
	const char *at;	  /* the first */
	uint32_t n;
};

struct hn_akg_kernel {
	const char *name;
	const char *process; /* for which machine it was made: a hint; "" */
	const struct hn_akg_tensor *in, *out;
	const struct hn_akg_op *op;
	const struct hn_akg_note *note;
	uint32_t n_in, n_out, n_op, n_note;
};

/* Whether bytes that a file begins with are such a kernel's: an object with one of the members that
 * no other file of hone's has, in whatever order. */
bool hn_akg_is(const char *head, size_t n);

/* Read a file.  HONE_E_INVALID (damaged, or no kernel), HONE_E_UNSUPPORTED (a type that hone has not),
 * HONE_E_QUOTA (a limit above); the message says "path: where: what". */
int hn_akg_open(const char *path, struct hn_akg **ret, struct hn_err *err) HN_NODISCARD;

/* The same of bytes, which are not needed afterwards; `name` stands for the path in messages. */
int hn_akg_parse(const char *name, const char *text, size_t n, struct hn_akg **ret,
		 struct hn_err *err) HN_NODISCARD;

void hn_akg_close(struct hn_akg *k); /* NULL is fine */

const struct hn_akg_kernel *hn_akg_kernel(const struct hn_akg *k);

/* Bytes allocated for the structure, without the JSON. */
size_t hn_akg_memory(const struct hn_akg *k);

#endif
