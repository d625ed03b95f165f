/* client/interrupt.h -- Ctrl-C once is a request to stop, twice an end at once. */
#ifndef HN_CLIENT_INTERRUPT_H
#define HN_CLIENT_INTERRUPT_H

#include <stdbool.h>

/* From here on SIGINT and SIGTERM are counted; the second ends the process. */
void hn_interrupt_catch(void);
bool hn_interrupted(void);

/* 130 after a Ctrl-C, 143 after a SIGTERM that was caught; else 0. */
int hn_interrupt_status(void);

#endif
