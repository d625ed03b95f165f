/* graph/ir/memo.c -- see memo.h. */
#include "graph/ir/memo.h"

#include <string.h>

#include "base/hash.h"

#define SMALL_BYTES 64 /* of an operand that is known by its elements */
#define N_BUCKET 1024u

struct entry {
	struct entry *next; /* of its bucket */
	size_t n;
	const char *key; /* [n] */
	uint32_t n_out;
	const void *const *data;
};

struct hn_memo {
	struct hn_arena *a;
	bool closed;
	struct entry *bucket[N_BUCKET];
};

struct hn_memo *hn_memo_new(struct hn_arena *a)
{
	struct hn_memo *m = HN_NEW(a, struct hn_memo);

	m->a = a;
	return m;
}

void hn_memo_close(struct hn_memo *m)
{
	m->closed = true;
}

/* The program, and of each operand its place or its elements; false: one is known by neither, or
 * none lasts. */
static bool put_key(const struct hn_graph *g, const struct hn_gtext *text, struct hn_buf *b)
{
	bool any = false;

	hn_buf_puts(b, text->text);
	for (uint32_t i = 0; i < text->n_in; i++) {
		const struct hn_gvalue *v = &g->value[text->arg[i]];
		size_t n = v->fill ? hn_dtype_bytes((enum hn_dtype)v->dtype) : hn_gvalue_bytes(v);

		if (v->lasts) {
			hn_buf_printf(b, "\n%c%p", v->fill ? 'f' : 'd', v->data);
		} else if (n <= SMALL_BYTES) {
			hn_buf_printf(b, "\n%c%zu:", v->fill ? 'F' : 'D', n);
			hn_buf_add(b, v->data, n);
		} else {
			return false;
		}
		any = any || v->lasts;
	}
	return any && !b->failed;
}

static struct entry *const *find(const struct hn_memo *m, const struct hn_buf *key)
{
	struct entry *const *at = &m->bucket[hn_hash64(key->s, key->n, 0) % N_BUCKET];

	while (*at != NULL && ((*at)->n != key->n || memcmp((*at)->key, key->s, key->n) != 0)) {
		at = (struct entry *const *)&(*at)->next;
	}
	return at;
}

bool hn_memo_find(const struct hn_memo *m, const struct hn_graph *g, const struct hn_gtext *text,
		  uint32_t n_out, struct hn_gvalue *result)
{
	const struct entry *e = NULL;
	struct hn_buf key;

	hn_buf_init(&key);
	if (put_key(g, text, &key)) {
		e = *find(m, &key);
	}
	hn_buf_fini(&key);
	for (uint32_t i = 0; e != NULL && i < n_out; i++) {
		result[i].data = e->data[i];
		result[i].lasts = true;
	}
	return e != NULL;
}

void hn_memo_keep(struct hn_memo *m, const struct hn_graph *g, const struct hn_gtext *text,
		  uint32_t n_out, struct hn_gvalue *result)
{
	struct hn_buf key;

	hn_buf_init(&key);
	if (!m->closed && put_key(g, text, &key)) {
		struct entry *e = HN_NEW(m->a, struct entry);
		const void **data = HN_NEW_ARRAY(m->a, const void *, n_out);

		for (uint32_t i = 0; i < n_out; i++) {
			data[i] = result[i].data;
			result[i].lasts = true;
		}
		*e = (struct entry){ NULL, key.n, hn_arena_strndup(m->a, key.s, key.n), n_out, data };
		*(struct entry **)(uintptr_t)find(m, &key) = e;
	}
	hn_buf_fini(&key);
}
