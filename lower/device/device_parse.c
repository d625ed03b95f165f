/* lower/device/device_parse.c -- a device program from its text: statements, buffers, kernels.
 * The grammar is in device_text.c.
 *
 * The text may come from anywhere: counts and nesting are bounded, numbers are read with their
 * limits, and what was read goes through hn_device_check before anyone sees it.
 */
#include <string.h>

#include "lower/device/device_parse_int.h"
#include "lower/device/device_verify.h"

#define MOST_BUFFERS 4096
#define MOST_KERNELS 1024

/* ---- statements */

struct list {
	uint32_t n, cap;
	const struct hn_device_node **v;
};

static void add(struct parse *p, struct list *l, struct hn_device_node n)
{
	struct hn_device_node *copy = HN_NEW(p->a, struct hn_device_node);

	*copy = n;
	if (l->n == l->cap) {
		l->v = hn_arena_grow(p->a, l->v, l->n, &l->cap, sizeof(l->v[0]));
	}
	l->v[l->n++] = copy;
}


static void loop(struct parse *p, struct hn_device_node *n)
{
	n->kind = HN_DEVICE_LOOP;
	n->slot = hn_parse_take_name(p, HN_I32);
	n->extent = hn_parse_take_int(p);
	for (int how = 1; how < HN_DEVICE_N_HOW; how++) {
		if (hn_parse_accept(p, hn_device_how_word[how] + 1)) {
			n->how = (uint8_t)how;
		}
	}
	hn_parse_block(p, n);
}

uint32_t hn_parse_numbers(struct parse *p, const char *word, int64_t *ret)
{
	uint32_t n = 0;
	size_t length;

	hn_parse_expect(p, word);
	for (const char *s = hn_parse_peek(p, &length);
	     length > 0 && ((*s >= '0' && *s <= '9') || *s == '-');
	     s = hn_parse_peek(p, &length)) {
		if (n == HN_DEVICE_MAX_DIM) {
			hn_parse_refuse(p, "a copy has %d dimensions at most",
					HN_DEVICE_MAX_DIM);
		}
		ret[n++] = hn_parse_take_int(p);
	}
	return n;
}

static void copy(struct parse *p, struct hn_device_node *n)
{
	struct hn_device_copy *c = HN_NEW(p->a, struct hn_device_copy);
	uint32_t to, from;

	n->kind = HN_DEVICE_COPY;
	n->buffer = hn_parse_take_buffer(p);
	hn_parse_expect(p, "[");
	n->at = hn_parse_expr(p);
	hn_parse_expect(p, "]");
	to = hn_parse_numbers(p, "stride", c->stride);
	hn_parse_expect(p, "from");
	c->from = hn_parse_take_buffer(p);
	hn_parse_expect(p, "[");
	c->from_at = hn_parse_expr(p);
	hn_parse_expect(p, "]");
	from = hn_parse_numbers(p, "stride", c->from_stride);
	c->n_dim = hn_parse_numbers(p, "box", c->extent);
	if (to != c->n_dim || from != c->n_dim) {
		hn_parse_refuse(p, "a copy of %u dimensions has %u and %u strides",
				c->n_dim, to, from);
	}
	n->copy = c;
}

int32_t hn_parse_element(struct parse *p, const struct hn_expr **at)
{
	int32_t buffer = hn_parse_take_buffer(p);

	hn_parse_expect(p, "[");
	*at = hn_parse_expr(p);
	hn_parse_expect(p, "]");
	return buffer;
}

static void product(struct parse *p, struct hn_device_node *n)
{
	struct hn_device_warp *w = HN_NEW(p->a, struct hn_device_warp);

	n->kind = HN_DEVICE_MMA;
	w->intrin = hn_intrin_of(hn_parse_take(p));
	if (w->intrin == NULL) {
		hn_parse_refuse(p, "there is no instruction '%s'", p->word);
	}
	n->buffer = hn_parse_element(p, &n->at);
	for (int i = 0; i < 2; i++) {
		w->from[i] = hn_parse_element(p, &w->from_at[i]);
	}
	n->warp = w;
}

/* Where a factor of a warpgroup's product lies, and how. */
static void matrix(struct parse *p, struct hn_device_warp *w, int i)
{
	struct hn_device_matrix *m = &w->lies[i];

	w->from[i] = hn_parse_element(p, &w->from_at[i]);
	m->across = hn_parse_accept(p, "across");
	if (!m->across) {
		hn_parse_expect(p, "along");
	}
	m->width = hn_parse_take_int(p);
	if (m->across) {
		hn_parse_expect(p, "next");
		m->next = hn_parse_take_int(p);
	}
}

static void group_product(struct parse *p, struct hn_device_node *n, enum hn_device_kind kind)
{
	struct hn_device_warp *w = HN_NEW(p->a, struct hn_device_warp);

	n->kind = (uint8_t)kind;
	w->open = kind == HN_DEVICE_WGMMA && hn_parse_accept(p, "open");
	w->intrin = hn_intrin_of(hn_parse_take(p));
	if (w->intrin == NULL) {
		hn_parse_refuse(p, "there is no instruction '%s'", p->word);
	}
	hn_parse_expect(p, "columns");
	w->columns = hn_parse_take_int(p);
	if (kind == HN_DEVICE_WGMMA) {
		hn_parse_expect(p, "steps");
		w->steps = hn_parse_take_int(p);
	}
	if (kind == HN_DEVICE_SETTLE && hn_parse_accept(p, "but")) {
		hn_parse_expect(p, "last");
		n->extent = 1;
	}
	n->buffer = hn_parse_element(p, &n->at);
	for (int i = 0; i < 2 && kind == HN_DEVICE_WGMMA; i++) {
		matrix(p, w, i);
	}
	n->warp = w;
}

static void load_matrices(struct parse *p, struct hn_device_node *n)
{
	struct hn_device_warp *w = HN_NEW(p->a, struct hn_device_warp);

	n->kind = HN_DEVICE_LDMATRIX;
	w->n_matrix = hn_parse_accept(p, "x4") ? 4 : hn_parse_accept(p, "x2") ? 2 : 1;
	if (w->n_matrix == 1) {
		hn_parse_expect(p, "x1");
	}
	w->trans = hn_parse_accept(p, "trans");
	n->buffer = hn_parse_element(p, &n->at);
	hn_parse_expect(p, "from");
	w->from[0] = hn_parse_element(p, &w->from_at[0]);
	n->warp = w;
}

static void statement(struct parse *p, struct hn_device_node *n)
{
	if (hn_parse_accept(p, "for")) {
		loop(p, n);
	} else if (hn_parse_accept(p, "if")) {
		n->kind = HN_DEVICE_IF;
		n->e = hn_parse_expr(p);
		hn_parse_block(p, n);
	} else if (hn_parse_accept(p, "let")) {
		n->kind = HN_DEVICE_LET;
		n->slot = hn_parse_take_name(p, HN_I32);
		hn_parse_expect(p, "=");
		n->e = hn_parse_expr(p);
		p->type[n->slot] = n->e->dtype;
	} else if (hn_parse_accept(p, "barrier")) {
		n->kind = HN_DEVICE_BARRIER;
	} else if (hn_parse_accept(p, "copy")) {
		copy(p, n);
	} else if (hn_parse_accept(p, "commit")) {
		n->kind = HN_DEVICE_COMMIT;
	} else if (hn_parse_accept(p, "wait")) {
		n->kind = HN_DEVICE_WAIT;
		n->extent = hn_parse_take_int(p);
	} else if (hn_parse_accept(p, "mma")) {
		product(p, n);
	} else if (hn_parse_accept(p, "wgmma")) {
		group_product(p, n, HN_DEVICE_WGMMA);
	} else if (hn_parse_accept(p, "settle")) {
		group_product(p, n, HN_DEVICE_SETTLE);
	} else if (hn_parse_accept(p, "fence")) {
		n->kind = HN_DEVICE_FENCE;
	} else if (hn_parse_accept(p, "ldmatrix")) {
		load_matrices(p, n);
	} else if (!hn_parse_role_word(p, n)) {
		n->kind = HN_DEVICE_STORE;
		n->async = hn_parse_accept(p, "async");
		n->buffer = hn_parse_element(p, &n->at);
		hn_parse_expect(p, "=");
		n->e = hn_parse_expr(p);
	}
	hn_parse_end_line(p);
}

void hn_parse_block(struct parse *p, struct hn_device_node *parent)
{
	struct list l = { 0 };

	hn_parse_expect(p, "{");
	hn_parse_end_line(p);
	if (++p->depth > HN_PARSE_NESTING) {
		hn_parse_refuse(p, "nested more than %d deep", HN_PARSE_NESTING);
	}
	while (!hn_parse_accept(p, "}")) {
		struct hn_device_node n = { 0 };

		if (p->at == p->end) {
			hn_parse_refuse(p, "the text ends before '}'");
		}
		statement(p, &n);
		add(p, &l, n);
	}
	p->depth--;
	parent->child = l.v;
	parent->n_child = l.n;
}

/* ---- the program */

static void buffer(struct parse *p, enum hn_memory memory)
{
	struct hn_device_buffer b = { .memory = (uint8_t)memory, .arg = -1 };

	if (p->d.n_buffer == MOST_BUFFERS) {
		hn_parse_refuse(p, "more than %d buffers", MOST_BUFFERS);
	}
	if (p->d.n_buffer == p->cap_buffer) {
		p->buffer = hn_arena_grow(p->a, p->buffer, p->d.n_buffer, &p->cap_buffer,
					  sizeof(p->buffer[0]));
	}
	hn_parse_take(p);
	if (!hn_parse_is_name(p) || hn_parse_find_buffer(p, p->word) >= 0) {
		hn_parse_refuse(p, "'%s' is no name for a buffer, or two have it",
				p->word);
	}
	b.name = hn_arena_strdup(p->a, p->word);
	b.dtype = (uint8_t)hn_parse_take_type(p);
	hn_parse_expect(p, "[");
	b.n_elem = hn_parse_take_int(p);
	hn_parse_expect(p, "]");
	if (hn_parse_accept(p, "arg")) {
		int64_t arg = hn_parse_take_int(p);

		if (arg < 0 || arg >= MOST_BUFFERS) {
			hn_parse_refuse(p, "there is no argument %lld", (long long)arg);
		}
		b.arg = (int32_t)arg;
	}
	hn_parse_end_line(p);
	p->buffer[p->d.n_buffer++] = b;
}

static void kernel(struct parse *p)
{
	struct hn_device_node *body = HN_NEW(p->a, struct hn_device_node);
	struct hn_device_kernel k = { 0 };

	if (p->d.n_kernel == MOST_KERNELS) {
		hn_parse_refuse(p, "more than %d kernels", MOST_KERNELS);
	}
	if (p->d.n_kernel == p->cap_kernel) {
		p->kernel = hn_arena_grow(p->a, p->kernel, p->d.n_kernel, &p->cap_kernel,
					  sizeof(p->kernel[0]));
	}
	p->type = NULL;
	p->n_slot = p->cap_slot = 0;
	hn_parse_grow_slots(p, HN_DEVICE_FIRST);
	k.name = hn_arena_strdup(p->a, hn_parse_take(p));
	hn_parse_expect(p, "grid");
	for (int d = 0; d < 3; d++) {
		k.grid[d] = hn_parse_take_int(p);
	}
	hn_parse_expect(p, "block");
	for (int d = 0; d < 3; d++) {
		k.block[d] = hn_parse_take_int(p);
	}
	hn_parse_block(p, body);
	hn_parse_end_line(p);
	body->kind = HN_DEVICE_SEQ;
	k.body = body;
	k.n_slot = p->n_slot;
	k.type = p->type;
	p->kernel[p->d.n_kernel++] = k;
}

__attribute__((noinline)) static void program(struct parse *p)
{
	size_t n = strlen(HN_DEVICE_FORMAT);

	for (const char *s = p->at; s < p->end;
	     s++) { /* so that messages show what they quote */
		if ((*s < ' ' || *s > '~') && *s != '\n' && *s != '\t') {
			hn_parse_refuse(p, "byte %td is no printed ASCII", s - p->at);
		}
	}
	if ((size_t)(p->end - p->at) < n || memcmp(p->at, HN_DEVICE_FORMAT, n) != 0) {
		hn_parse_refuse(p, "expected " HN_DEVICE_FORMAT);
	}
	p->at += n;
	hn_parse_end_line(p);
	while (p->at < p->end) {
		enum hn_memory memory;

		hn_parse_take(p);
		memory = hn_memory_of_device(p->word);
		if (memory < HN_N_MEMORY) {
			buffer(p, memory);
		} else if (strcmp(p->word, "kernel") == 0) {
			kernel(p);
		} else if (strcmp(p->word, "map") == 0) {
			hn_parse_map(p);
		} else {
			hn_parse_refuse(p, "'%s' is no space of memory, and no kernel",
					p->word);
		}
	}
}

/* False where something was refused: hn_parse_refuse comes back here.  Nothing else is to be put
 * away, all of it lies in the arena. */
__attribute__((noinline)) static bool is_read(struct parse *p)
{
	if (setjmp(p->out) != 0) {
		return false;
	}
	program(p);
	return true;
}

int hn_device_parse(const char *what, const char *text, size_t n, struct hn_arena *a,
		    const struct hn_device **ret, struct hn_err *err)
{
	struct parse *p = HN_NEW(a, struct parse);
	struct hn_device *d;
	int rc;

	*p = (struct parse){
		.what = what, .at = text, .end = text + n, .line = 1, .a = a, .err = err
	};
	if (!is_read(p)) {
		return -HONE_E_INVALID;
	}
	d = HN_NEW(a, struct hn_device);
	*d = p->d;
	d->buffer = p->buffer;
	d->map = p->map;
	d->kernel = p->kernel;
	rc = hn_device_check(d, NULL, err);
	if (rc == 0) {
		*ret = d;
	}
	return rc;
}
