/* client/interrupt.c -- see interrupt.h. */
#include "client/interrupt.h"

#include <signal.h>
#include <stdlib.h>

#include "base/err.h"

/* A signal handler can reach nothing but this. */
static volatile sig_atomic_t n_interrupt;

static void on_interrupt(int number)
{
	(void)number;
	if (++n_interrupt > 1) {
		_Exit(10 + HONE_E_CANCELLED);
	}
}

void hn_interrupt_catch(void)
{
	struct sigaction action = { .sa_handler = on_interrupt };

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}

bool hn_interrupted(void)
{
	return n_interrupt > 0;
}
