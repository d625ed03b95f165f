/* client/interrupt.c -- see interrupt.h. */
#include "client/interrupt.h"

#include <signal.h>
#include <stdlib.h>

/* A signal handler can reach nothing but this. */
static volatile sig_atomic_t n_interrupt, last_number;

static void on_interrupt(int number)
{
	last_number = number;
	if (++n_interrupt > 1) {
		_Exit(128 + number);
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

int hn_interrupt_status(void)
{
	return n_interrupt > 0 ? 128 + (int)last_number : 0;
}

void hn_interrupt_hold(sigset_t *ret_before)
{
	sigset_t hold;

	sigemptyset(&hold);
	sigaddset(&hold, SIGINT);
	sigaddset(&hold, SIGTERM);
	sigaddset(&hold, SIGHUP);
	sigprocmask(SIG_BLOCK, &hold, ret_before);
}
