/* devices.c -- the devices of this machine that drivers tell of, as JSON: hone-board --devices KIND.
 * Its process is for this alone, so that a driver that crashes or hangs harms nobody. */
#include "base/jw.h"
#include "measure/board/board.h"

#include <string.h>

#define MOST 16 /* of a kind */

/* The driver tells of devices, and is asked for. */
static bool tells(const struct hn_board_ops *ops, const char *kind)
{
	return ops->find != NULL && (*kind == '\0' || strcmp(kind, ops->name) == 0);
}

static void write_device(const char *kind, uint32_t index, const struct hn_board_device *d,
			 struct hn_jw *w)
{
	hn_jw_object(w, NULL);
	hn_jw_str(w, "kind", kind);
	hn_jw_uint(w, "index", index);
	hn_jw_str(w, "name", d->name);
	hn_jw_str(w, "driver", d->driver);
	hn_jw_str(w, "target", d->target);
	hn_jw_int(w, "cores", d->cores);
	hn_jw_int(w, "threads", d->threads);
	hn_jw_int(w, "shared_bytes", d->shared_bytes);
	hn_jw_int(w, "memory_bytes", d->memory_bytes);
	hn_jw_int(w, "cache_bytes", d->cache_bytes);
	hn_jw_int(w, "clock_mhz", d->clock_mhz);
	hn_jw_end(w);
}

int hn_board_devices(const char *kind, struct hn_buf *json, struct hn_err *err)
{
	const struct hn_board_ops *ops;
	struct hn_buf missing;
	bool any = *kind == '\0';
	struct hn_jw w, without;

	hn_buf_init(&missing);
	hn_jw_init(&w, json);
	hn_jw_init(&without, &missing);
	hn_jw_object(&w, NULL);
	hn_jw_list(&w, "devices");
	hn_jw_list(&without, NULL);
	for (size_t i = 0; (ops = hn_board_at(i)) != NULL; i++) {
		struct hn_board_device d;
		struct hn_err why = {0};
		uint32_t n = 0;

		while (tells(ops, kind) && n < MOST && ops->find(n, &d, &why) == 0) {
			write_device(ops->name, n++, &d, &w);
		}
		if (tells(ops, kind) && n == 0) {
			hn_jw_object(&without, NULL);
			hn_jw_str(&without, "kind", ops->name);
			hn_jw_str(&without, "why", why.msg);
			hn_jw_end(&without);
		}
		any |= tells(ops, kind);
	}
	hn_jw_end(&without);
	hn_jw_done(&without);
	hn_jw_end(&w);
	hn_jw_written(&w, "missing", missing.s);
	hn_jw_end(&w);
	hn_jw_done(&w);
	hn_buf_fini(&missing);
	return any ? 0
		   : hn_fail(err, HONE_E_INVALID, "devices: '%.60s' is no kind with devices", kind);
}
