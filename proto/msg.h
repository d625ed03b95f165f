/* proto/msg.h -- what clients and honed say: JSON-RPC 2.0, one object a line.
 *
 * Both sides read lines through a bounded reader and messages through one strict parser;
 * methods, their fields, events and limits are rows of msgs.def.  Everything from a
 * socket is hostile: sizes are checked before memory is taken, fields before they are
 * believed.
 */
#ifndef HN_PROTO_MSG_H
#define HN_PROTO_MSG_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"

enum hn_limit {
#define LIMIT(name, value, unit, text) HN_LIMIT_##name = (value),
#include "proto/msgs.def"
};

enum hn_method {
#define METHOD(id, spelling, text) HN_METHOD_##id,
#include "proto/msgs.def"
	HN_N_METHOD
};

enum hn_event {
#define EVENT(id, spelling, droppable, text) HN_EVENT_##id,
#include "proto/msgs.def"
	HN_N_EVENT
};

const char *hn_method_name(enum hn_method m);
enum hn_method hn_method_of(const char *name); /* HN_N_METHOD when unknown */
const char *hn_event_name(enum hn_event e);
enum hn_event hn_event_of(const char *name); /* HN_N_EVENT when unknown */
bool hn_event_droppable(enum hn_event e);    /* may be lost to a slow client */

/* JSON-RPC's reserved codes. Application faults use the error classes (errs.def), > 0. */
enum {
	HN_RPC_PARSE = -32700,
	HN_RPC_REQUEST = -32600,
	HN_RPC_METHOD = -32601,
	HN_RPC_PARAMS = -32602
};

enum hn_msg_kind {
	HN_MSG_REQUEST, /* method and id */
	HN_MSG_NOTIFY,	/* method, no id */
	HN_MSG_RESULT,	/* id and result */
	HN_MSG_FAULT	/* id and error */
};

/* One message; what it points to belongs to the parsed document. */
struct hn_msg {
	uint8_t kind;			/* enum hn_msg_kind */
	char id[HN_LIMIT_ID_BYTES + 3]; /* as JSON text: 7, "abc"; "null" when absent */
	const char *method;		/* REQUEST, NOTIFY */
	const struct hn_json *params;	/* an object, or NULL */
	const struct hn_json *result;	/* RESULT */
	int64_t fault_code;		/* FAULT: class (> 0) or JSON-RPC code (< 0) */
	const char *fault_text;		/* FAULT */
};

/* Parse one line (without its newline).  On success *ret_doc holds the document (free it
 * with hn_json_free after the message is done with).  -HONE_E_INVALID or -HONE_E_QUOTA:
 * *ret_rpc is HN_RPC_PARSE or HN_RPC_REQUEST, ret->id is the id when one could be read,
 * else "null". */
int hn_msg_read(const char *line, size_t n, size_t max_bytes, struct hn_json **ret_doc,
		struct hn_msg *ret, int *ret_rpc, struct hn_err *err) HN_NODISCARD;

/* Check params (NULL = none) against the PARAM rows of the method: required ones there,
 * kinds right, strings and numbers within their limits. HONE_E_INVALID with "submit:
 * trials: ...". */
int hn_msg_check(enum hn_method m, const struct hn_json *params,
		 struct hn_err *err) HN_NODISCARD;

/* Writers append one line, newline included.  `params` and `result` are JSON text; `id`
 * too. */
void hn_msg_write_request(struct hn_buf *b, const char *id, const char *method,
			  const char *params);
void hn_msg_write_result(struct hn_buf *b, const char *id, const char *result);

/* code > 0: an error class, named in data; code < 0: a JSON-RPC code. */
void hn_msg_write_fault(struct hn_buf *b, const char *id, int code, const char *text);

/* hone.event {subscription, job, seq, type, data}. */
void hn_msg_write_event(struct hn_buf *b, uint64_t subscription, const char *job,
			uint64_t seq, enum hn_event type, const char *data);

/* The OpenRPC document made from the rows of msgs.def. */
void hn_msg_write_discover(struct hn_buf *b);

/* Bytes in, lines out, bounded. */
struct hn_lines {
	struct hn_buf buf;
	size_t taken;	  /* bytes of buf already given out */
	size_t scanned;	  /* bytes after `taken` known to hold no newline */
	size_t max_bytes; /* of one line */
};

void hn_lines_init(struct hn_lines *l, size_t max_bytes);
void hn_lines_fini(struct hn_lines *l);

/* Room for at least n more bytes to be read into directly; commit says how many came. */
char *hn_lines_room(struct hn_lines *l, size_t n);
void hn_lines_commit(struct hn_lines *l, size_t n);

/* 1 with *ret, *ret_n (the line without newline or carriage return; valid until the next
 * hn_lines_room), 0 when there is none yet, -HONE_E_QUOTA when the line is too long. */
int hn_lines_next(struct hn_lines *l, const char **ret, size_t *ret_n,
		  struct hn_err *err) HN_NODISCARD;

/* Largest sum of tensors, in bytes, that this machine tunes: a share of its memory,
 * because a measurement holds inputs, outputs and reference outputs at once. */
uint64_t hn_limit_dag_bytes(void);

#endif
