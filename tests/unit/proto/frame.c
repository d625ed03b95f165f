/* proto_frame.c -- frames survive short transfers and refuse hostile headers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/rng.h"
#include "proto/frame.h"

static const struct hn_frame sample = {.type = HN_FRAME_MEASURE,
				       .request = 0x1122334455667788u,
				       .json = "{\"a\":1}",
				       .json_bytes = 7,
				       .blob = "\0\1\2blob",
				       .blob_bytes = 7};

static void check_same(const struct hn_frame *f)
{
	assert_int_equal(f->type, sample.type);
	assert_true(f->request == sample.request);
	assert_int_equal(f->json_bytes, sample.json_bytes);
	assert_memory_equal(f->json, sample.json, sample.json_bytes);
	assert_int_equal(f->blob_bytes, sample.blob_bytes);
	assert_memory_equal(f->blob, sample.blob, sample.blob_bytes);
}

static void every_prefix_waits(void **state)
{
	struct hn_buf b;
	struct hn_frame f;
	size_t need;

	(void)state;
	hn_buf_init(&b);
	hn_frame_write(&sample, &b);
	assert_int_equal(b.n, HN_FRAME_HEADER_BYTES + 14);
	for (size_t n = 0; n < b.n; n++) {
		assert_int_equal(hn_frame_read(b.s, n, &f, &need, NULL), 0);
		assert_int_equal(need,
				 n < HN_FRAME_HEADER_BYTES ? HN_FRAME_HEADER_BYTES : b.n);
	}
	hn_buf_puts(&b, "next");
	assert_int_equal(hn_frame_read(b.s, b.n, &f, &need, NULL),
			 HN_FRAME_HEADER_BYTES + 14);
	check_same(&f);
	hn_buf_fini(&b);
}

static void header_layout_is_as_written(void **state)
{
	static const unsigned char want[HN_FRAME_HEADER_BYTES] = {
		14,   0,    0,	  0,	6,    0,    HN_FRAME_VERSION, 0, 0x88, 0x77,
		0x66, 0x55, 0x44, 0x33, 0x22, 0x11, 7, 0, 0,	0};
	struct hn_buf b;

	(void)state;
	hn_buf_init(&b);
	hn_frame_write(&sample, &b);
	assert_memory_equal(b.s, want, sizeof want);
	hn_buf_fini(&b);
}

static void refuse(size_t at, uint32_t v, size_t bytes)
{
	struct hn_buf b;
	struct hn_frame f = {0};
	struct hn_err err;
	size_t need;

	hn_buf_init(&b);
	hn_frame_write(&sample, &b);
	memcpy(b.s + at, &v, bytes);
	assert_int_equal(hn_frame_read(b.s, b.n, &f, &need, &err), -HONE_E_CORRUPT);
	assert_int_equal(f.type, 0);
	assert_string_not_equal(err.msg, "");
	hn_buf_fini(&b);
}

static void hostile_headers_are_refused(void **state)
{
	(void)state;
	refuse(0, 0xffffffffu, 4);	     /* 4 GiB */
	refuse(0, 6, 4);		     /* shorter than its json */
	refuse(0, HN_FRAME_MAX_BLOB + 8, 4); /* blob too long */
	refuse(16, 15, 4);		     /* json longer than all */
	refuse(16, 0xffffffffu, 4);
	refuse(4, 0, 2);
	refuse(4, HN_FRAME_CASE + 1, 2);
	refuse(6, HN_FRAME_VERSION - 1, 2);
	refuse(6, HN_FRAME_VERSION + 1, 2);
}

struct dribble {
	int fd;
	const struct hn_buf *b;
};

static void *dribble_out(void *arg)
{
	struct dribble *d = arg;
	struct hn_rng r = hn_rng_stream(1, 2, 3, 4);
	size_t at = 0;

	while (at < d->b->n) {
		size_t k = 1 + hn_rng_below(&r, 5);

		k = k < d->b->n - at ? k : d->b->n - at;
		assert_int_equal(write(d->fd, d->b->s + at, k), k);
		at += k;
	}
	close(d->fd);
	return NULL;
}

static void blocking_receive_takes_dribbles(void **state)
{
	struct hn_buf b, in;
	struct hn_frame f;
	struct hn_err err;
	int sv[2];
	pthread_t t;
	struct dribble d;

	(void)state;
	hn_buf_init(&b);
	hn_buf_init(&in);
	hn_frame_write(&sample, &b);
	hn_frame_write(&sample, &b);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, sv), 0);
	d = (struct dribble){sv[0], &b};
	assert_int_equal(pthread_create(&t, NULL, dribble_out, &d), 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(hn_frame_recv(sv[1], &in, &f, &err), 0);
		check_same(&f);
		assert_int_equal(f.json[f.json_bytes], '\0');
	}
	assert_int_equal(hn_frame_recv(sv[1], &in, &f, &err), 1);
	pthread_join(t, NULL);
	close(sv[1]);
	hn_buf_fini(&in);
	hn_buf_fini(&b);
}

static void truncation_is_corrupt(void **state)
{
	struct hn_buf b, in;
	struct hn_frame f;
	struct hn_err err;

	(void)state;
	hn_buf_init(&b);
	hn_buf_init(&in);
	hn_frame_write(&sample, &b);
	for (size_t n = 1; n < b.n; n++) {
		int sv[2];

		assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, sv), 0);
		assert_int_equal(write(sv[0], b.s, n), n);
		close(sv[0]);
		assert_int_equal(hn_frame_recv(sv[1], &in, &f, &err), -HONE_E_CORRUPT);
		close(sv[1]);
	}
	hn_buf_fini(&in);
	hn_buf_fini(&b);
}

static void *send_big(void *arg)
{
	struct dribble *d = arg;
	struct hn_frame f = {.type = HN_FRAME_BUILT,
			     .blob = d->b->s,
			     .blob_bytes = (uint32_t)d->b->n,
			     .json = "",
			     .json_bytes = 0};

	return (void *)(intptr_t)hn_frame_send(d->fd, &f, NULL);
}

static void big_blobs_pass_and_a_gone_peer_is_an_error(void **state)
{
	struct hn_buf b, in;
	struct hn_frame f;
	struct hn_err err;
	int sv[2];
	pthread_t t;
	struct dribble d;
	void *rc;

	(void)state;
	hn_buf_init(&b);
	hn_buf_init(&in);
	for (int i = 0; i < 3000000; i++) {
		hn_buf_putc(&b, (char)(i * 7));
	}
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, sv), 0);
	d = (struct dribble){sv[0], &b};
	assert_int_equal(pthread_create(&t, NULL, send_big, &d), 0);
	assert_int_equal(hn_frame_recv(sv[1], &in, &f, &err), 0);
	pthread_join(t, &rc);
	assert_null(rc);
	assert_int_equal(f.blob_bytes, b.n);
	assert_memory_equal(f.blob, b.s, b.n);
	close(sv[1]);
	assert_int_equal(hn_frame_send(sv[0], &sample, &err), -HONE_E_IO);
	close(sv[0]);
	hn_buf_fini(&in);
	hn_buf_fini(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_prefix_waits),
		cmocka_unit_test(header_layout_is_as_written),
		cmocka_unit_test(hostile_headers_are_refused),
		cmocka_unit_test(blocking_receive_takes_dribbles),
		cmocka_unit_test(truncation_is_corrupt),
		cmocka_unit_test(big_blobs_pass_and_a_gone_peer_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
