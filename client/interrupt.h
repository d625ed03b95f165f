/* client/interrupt.h -- Ctrl-C once is a request to stop, twice an end at once. */
#ifndef HN_CLIENT_INTERRUPT_H
#define HN_CLIENT_INTERRUPT_H

#include <signal.h>
#include <stdbool.h>

/* From here on SIGINT and SIGTERM are counted; the second ends the process. */
void hn_interrupt_catch(void);
bool hn_interrupted(void);

/* 130 after a Ctrl-C, 143 after a SIGTERM that was caught; else 0. */
int hn_interrupt_status(void);

/* Hold back what would end the process and leave a temporary folder behind, until the caller gives
 * *ret_before to sigprocmask.  A Ctrl-C still reaches the programs that are waited for, so the wait is
 * short. */
void hn_interrupt_hold(sigset_t *ret_before);

#endif
