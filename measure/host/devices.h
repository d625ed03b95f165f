/* measure/host/devices.h -- what hone-board tells of this machine's devices of a kind. */
#ifndef HN_MEASURE_HOST_DEVICES_H
#define HN_MEASURE_HOST_DEVICES_H

#include "base/buf.h"
#include "base/err.h"

/* Run hone-board for it, and wait: some tenths of a second, two for a large driver.  The name of
 * the first device with its driver's onto name; HONE_E_NO_BOARD with the reason when there is none,
 * or no answer. */
int hn_devices_ask(const char *board_path, const char *kind, struct hn_buf *name,
		   struct hn_err *err) HN_NODISCARD;

#endif
