/* client/cmd_final.c -- `hone final`: a network as a whole, with its records and without
 * (netfinal.h). `hone tune` of a network ends with the same. */
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "client/interrupt.h"
#include "client/netfinal.h"

static void print_table(const struct hn_netchoice *c)
{
	char record[32], automatic[32];
	int width = 6;

	for (uint32_t i = 0; i < c->n_kernel; i++) {
		int length = (int)strlen(c->kernel[i].name);

		width = length > width ? length : width;
	}
	printf("%-*s     record  automatic  taken\n", width, "kernel");
	for (uint32_t i = 0; i < c->n_kernel; i++) {
		const struct hn_netchoice_kernel *k = &c->kernel[i];

		printf("%-*s  %9s  %9s  %s\n", width, k->name, hn_show_time(k->record_ns, record),
		       hn_show_time(k->automatic_ns, automatic),
		       k->declined ? "automatic" : "record");
	}
}

static int print_json(const struct hn_opts *o, struct hn_network *n, struct hn_err *err)
{
	struct hn_buf b;
	int rc;

	hn_buf_init(&b);
	rc = hn_netchoice_text(o, n, &b, err);
	if (rc == 0) {
		puts(b.s);
	}
	hn_buf_fini(&b);
	return rc;
}

int cmd_final(const struct hn_opts *o, struct hn_err *err)
{
	struct hn_network n;
	int rc = hn_network_open(o, &n, err);

	hn_interrupt_catch();
	rc = rc ? rc : hn_netfinal("final", o, &n, err);
	if (rc == 0 && o->json) {
		rc = print_json(o, &n, err);
	} else if (rc == 0) {
		if (n.choice.n_kernel > 0) {
			print_table(&n.choice);
		}
		hn_netfinal_say(&n.choice);
	}
	hn_network_close(&n);
	return rc;
}
