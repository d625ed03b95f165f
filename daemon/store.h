/* daemon/store.h -- the store's thread: whoever wants something of the database asks for it.
 *
 * A disk may take its time to sync; the loop must not wait for it, so it touches the database
 * no more once this is open.  It asks, and is answered on the loop, in the order of asking:
 *  - Writes that wait together become one transaction, with one sync (group commit).  Each has an
 *    answer of its own.  What was written is on disk before anybody is answered.
 *  - A read sees every write that was asked for before it, and nothing that is not on disk.
 *
 * All functions are for the loop's thread, but hn_store_tell.
 */
#ifndef HN_DAEMON_STORE_H
#define HN_DAEMON_STORE_H

#include <uv.h>

#include "db/db.h"

/* One request, a member of whoever asks; it stays where it is until `done`.  What `work` reads and
 * writes belongs to the thread until then. */
struct hn_ask {
	struct hn_ask *next;
	bool writes;
	/* On the thread.  NULL: nothing to do, but an answer when all before it is done. */
	int (*work)(struct hn_ask *a, struct hn_db *db, struct hn_err *err);
	void (*done)(struct hn_ask *a); /* on the loop; may free it, or ask it again */
	int rc; /* work's; or the commit's, when that failed: then nothing of it is stored */
	struct hn_err err;
	void *ctx;  /* whoever asks may want one */
	bool asked; /* the store's own: it counts as waiting */
};

struct hn_store;

/* `db` belongs to the thread until hn_store_close, and is closed by the caller after it. */
struct hn_store *hn_store_open(uv_loop_t *loop, struct hn_db *db);

void hn_store_ask(struct hn_store *st, struct hn_ask *a);

/* Many wait already: who can, asks later. */
bool hn_store_is_full(const struct hn_store *st);

/* From any thread: a->done is called on the loop, before the answers to what is under way. */
void hn_store_tell(struct hn_store *st, struct hn_ask *a);

/* Wait here until everything that was asked for is answered, and what the answers ask for. */
void hn_store_drain(struct hn_store *st);

/* Everything is answered; the handle is closed by the loop's next turn. NULL is fine. */
void hn_store_close(struct hn_store *st);

#endif
