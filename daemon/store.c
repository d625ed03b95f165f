/* daemon/store.c -- see store.h.
 *
 * Three lists under one lock: what waits, what is under way (the thread's own), what is answered
 * and not yet told.  The thread takes either all the writes at the head of what waits, or one
 * read.  So a read never looks into a transaction that may yet be undone.
 *
 * A transaction that cannot be committed fails for each who wrote in it, by the same error; who
 * wants to, asks again.
 */
#include "daemon/store.h"

#include <stdlib.h>

#define MOST 1024	/* asked and not answered: a full house */
#define MOST_TOGETHER 256 /* of one transaction */

struct asks { /* first in, first out */
	struct hn_ask *head, **tail;
};

struct hn_store {
	uv_async_t answered; /* first: its closing frees the store */
	struct hn_db *db;
	uv_thread_t thread;
	uv_mutex_t lock; /* of what follows */
	uv_cond_t asked, told;
	struct asks waiting, answers;
	bool closing;
	uint32_t n; /* asked and not answered; the loop's alone */
};

static void asks_init(struct asks *q)
{
	q->head = NULL;
	q->tail = &q->head;
}

static void push(struct asks *q, struct hn_ask *a)
{
	a->next = NULL;
	*q->tail = a;
	q->tail = &a->next;
}

static struct hn_ask *pop(struct asks *q)
{
	struct hn_ask *a = q->head;

	if (a != NULL) {
		q->head = a->next;
		q->tail = q->head == NULL ? &q->head : q->tail;
	}
	return a;
}

/* What can be done at once: the writes at the head, or one read. */
static void take(struct asks *from, struct asks *to)
{
	bool writes = from->head->writes;

	asks_init(to);
	for (uint32_t n = 0; from->head != NULL && from->head->writes == writes &&
			     n < (writes ? MOST_TOGETHER : 1);
	     n++) {
		push(to, pop(from));
	}
}

static void work(struct hn_ask *a, struct hn_db *db)
{
	a->rc = a->work != NULL ? a->work(a, db, &a->err) : 0;
}

static void write_together(const struct asks *q, struct hn_db *db)
{
	struct hn_err err;
	int rc = hn_db_group_begin(db, &err);

	if (rc == 0) {
		for (struct hn_ask *a = q->head; a != NULL; a = a->next) {
			work(a, db);
		}
		rc = hn_db_group_end(db, &err);
	}
	for (struct hn_ask *a = q->head; rc != 0 && a != NULL; a = a->next) {
		a->rc = rc;
		a->err = err;
	}
}

static void run(void *arg)
{
	struct hn_store *st = arg;
	struct asks now;

	uv_mutex_lock(&st->lock);
	for (;;) {
		while (st->waiting.head == NULL && !st->closing) {
			uv_cond_wait(&st->asked, &st->lock);
		}
		if (st->waiting.head == NULL) {
			break;
		}
		take(&st->waiting, &now);
		uv_mutex_unlock(&st->lock);
		if (now.head->writes) {
			write_together(&now, st->db);
		} else {
			work(now.head, st->db);
		}
		uv_mutex_lock(&st->lock);
		while (now.head != NULL) {
			push(&st->answers, pop(&now));
		}
		uv_cond_signal(&st->told);
		uv_async_send(&st->answered);
	}
	uv_mutex_unlock(&st->lock);
}

/* The next answer, which is waited for; NULL: there is none, or nothing was asked for. */
static struct hn_ask *next_answer(struct hn_store *st, bool wait)
{
	struct hn_ask *a;

	uv_mutex_lock(&st->lock);
	while (wait && st->n > 0 && st->answers.head == NULL) {
		uv_cond_wait(&st->told, &st->lock);
	}
	a = pop(&st->answers);
	uv_mutex_unlock(&st->lock);
	return a;
}

static void answer(struct hn_store *st, bool wait)
{
	struct hn_ask *a;

	while ((a = next_answer(st, wait)) != NULL) {
		st->n -= a->asked;
		a->done(a);
	}
}

static void on_answered(uv_async_t *h)
{
	answer((struct hn_store *)h, /* wait= */ false);
}

struct hn_store *hn_store_open(uv_loop_t *loop, struct hn_db *db)
{
	struct hn_store *st = calloc(1, sizeof(*st));

	hn_assert(st != NULL);
	st->db = db;
	asks_init(&st->waiting);
	asks_init(&st->answers);
	if (uv_mutex_init(&st->lock) != 0 || uv_cond_init(&st->asked) != 0 ||
	    uv_cond_init(&st->told) != 0 || uv_async_init(loop, &st->answered, on_answered) != 0 ||
	    uv_thread_create(&st->thread, run, st) != 0) {
		hn_bug(__FILE__, __LINE__, "the store's thread");
	}
	uv_unref((uv_handle_t *)&st->answered);
	return st;
}

void hn_store_ask(struct hn_store *st, struct hn_ask *a)
{
	st->n++;
	a->asked = true;
	uv_mutex_lock(&st->lock);
	push(&st->waiting, a);
	uv_cond_signal(&st->asked);
	uv_mutex_unlock(&st->lock);
}

void hn_store_tell(struct hn_store *st, struct hn_ask *a)
{
	a->asked = false;
	uv_mutex_lock(&st->lock);
	push(&st->answers, a);
	uv_async_send(&st->answered);
	uv_mutex_unlock(&st->lock);
}

bool hn_store_is_full(const struct hn_store *st)
{
	return st->n >= MOST;
}

void hn_store_drain(struct hn_store *st)
{
	answer(st, /* wait= */ true);
}

static void on_closed(uv_handle_t *h)
{
	free(h);
}

void hn_store_close(struct hn_store *st)
{
	if (st == NULL) {
		return;
	}
	hn_store_drain(st);
	uv_mutex_lock(&st->lock);
	st->closing = true;
	uv_cond_signal(&st->asked);
	uv_mutex_unlock(&st->lock);
	uv_thread_join(&st->thread);
	uv_cond_destroy(&st->told);
	uv_cond_destroy(&st->asked);
	uv_mutex_destroy(&st->lock);
	uv_close((uv_handle_t *)&st->answered, on_closed);
}
