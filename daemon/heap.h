/* daemon/heap.h -- memory that was freed goes back to the system.
 *
 * A search, a line of a megabyte or the output of a client that did not read leaves a heap whose
 * free parts lie between small pieces that live on; the C library keeps those parts for good
 * unless it is asked.
 */
#ifndef HN_DAEMON_HEAP_H
#define HN_DAEMON_HEAP_H

/* Once, before there are threads: all of them share few heaps.  Otherwise each that meets another
 * in malloc gets a heap of its own, and each heap keeps free parts. */
void hn_heap_open(void);

/* Give back all free pages. Milliseconds for a heap of some 100 MB: call it now and then. */
void hn_heap_trim(void);

#endif
