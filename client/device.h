/* client/device.h -- devices that drivers tell of, asked in a process of its own (hone-board). */
#ifndef HN_CLIENT_DEVICE_H
#define HN_CLIENT_DEVICE_H

#include "client/cmd.h"

/* All of the kind, or of all kinds ("").  No daemon is asked.  The caller frees. */
int hn_devices_ask(const char *verb, const char *kind, struct hn_json **ret,
		   struct hn_err *err) HN_NODISCARD;

/* `--target KIND`, a kind of devices and no more: the line of the first that is here, in `a`.  Where
 * there is none, one line of standard error says what a kernel is made for (replay). */
void hn_device_target(const char *verb, struct hn_opts *o, struct hn_arena *a);

#endif
