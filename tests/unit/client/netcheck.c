/* The answer of `hone check`: a step that is wrong, and what was not done. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "client/netcheck.h"

static struct hn_network net;
static struct hn_netcheck_kernel kernel[1];
static struct hn_err err;

/* y = softmax(x), by a node whose name acts on a terminal. */
static void make_net(void)
{
	static const int64_t shape[] = { 3, 4 };
	static const char *const name[] = { "out" };
	static int32_t input[1], output[1];

	hn_arena_init(&net.arena, 0);
	hn_graph_init(&net.graph, &net.arena, "net", &err);
	net.graph.opset = 17;
	input[0] = hn_graph_input(&net.graph, "x", HN_F32, 2, shape);
	net.graph.at = "a\x1b[2Jnode";
	output[0] = hn_graph_1(&net.graph, "Softmax", input[0]);
	net.graph.input = input;
	net.graph.output = output;
	net.graph.output_name = (const char **)name;
	net.graph.n_input = net.graph.n_output = 1;
	net.name = "net";
	assert_int_equal(hn_net_make(&net.graph, &net.net, &err), 0);
	assert_int_equal(net.net.n_step, 1);
}

/* What `show` prints. */
static void hear(void (*show)(const struct hn_netcheck *), const struct hn_netcheck *c,
		 struct hn_buf *ret)
{
	char path[] = "/tmp/hone-netcheck-XXXXXX";
	int fd = mkstemp(path), out = dup(STDOUT_FILENO);

	assert_true(fd >= 0 && out >= 0);
	fflush(stdout);
	dup2(fd, STDOUT_FILENO);
	show(c);
	fflush(stdout);
	dup2(out, STDOUT_FILENO);
	close(out);
	close(fd);
	hn_buf_init(ret);
	assert_int_equal(hn_file_read(path, 1 << 20, ret, &err), 0);
	unlink(path);
}

static void has(const struct hn_buf *b, const char *words)
{
	if (strstr(b->s, words) == NULL) {
		fail_msg("no \"%s\" in:\n%s", words, b->s);
	}
}

static void a_wrong_step_is_told(void **state)
{
	struct hn_step_numbers step = { true, 0.5, 1e-5, 0, 6, 1.5, 1 };
	struct hn_netcheck c = { .net = &net, .kernel = kernel, .step = &step, .n_step_wrong = 1 };
	struct hn_buf b;

	(void)state;
	make_net();
	kernel[0] = (struct hn_netcheck_kernel){ .task = &net.net.task[0],
						 .result = HN_NETCHECK_RIGHT };
	c.count[HN_NETCHECK_RIGHT] = 1;
	assert_true(hn_netcheck_step_wrong(&step));
	hear(hn_netcheck_table, &c, &b);
	has(&b, "x[1,2]: fused 1.5, node by node 1\n");
	has(&b, "step 0, k00_softmax, node a [2Jnode: ");
	has(&b, "layouts and fusion: 0 of 1 steps have their nodes' numbers, largest difference "
		"5.0e-01\n");
	assert_null(strchr(b.s, '\x1b'));
	hn_buf_fini(&b);
	hear(hn_netcheck_json, &c, &b);
	has(&b, "\"right\":false,\"error\":0.5,\"allowed\":1e-05,\"value\":\"x\",\"element\":6,"
		"\"got\":1.5,\"want\":1}");
	hn_buf_fini(&b);
	hn_arena_fini(&net.arena);
}

static void what_was_not_done_is_told(void **state)
{
	struct hn_step_numbers step = { .value = HN_NONE };
	struct hn_netcheck c = { .net = &net, .kernel = kernel, .step = &step };
	struct hn_buf b;

	(void)state;
	make_net();
	kernel[0] = (struct hn_netcheck_kernel){ .task = &net.net.task[0],
						 .result = HN_NETCHECK_FAILED };
	snprintf(kernel[0].err.msg, sizeof(kernel[0].err.msg), "no such thing");
	c.count[HN_NETCHECK_FAILED] = 1;
	hear(hn_netcheck_table, &c, &b);
	has(&b, "failed: no such thing\n");
	has(&b, "1 steps of 1 kernels: 0 right, 1 failed, no error is known\n");
	has(&b, "the other 1 take the interpreter too long\n");
	hn_buf_fini(&b);
	c.step = NULL;
	c.why_no_step = "the values are many";
	hear(hn_netcheck_table, &c, &b);
	has(&b, "layouts and fusion: not computed: the values are many\n");
	hn_buf_fini(&b);
	hear(hn_netcheck_json, &c, &b);
	has(&b, "\"why_no_steps\":\"the values are many\",\"steps\":[]}");
	hn_buf_fini(&b);
	hn_arena_fini(&net.arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_wrong_step_is_told),
		cmocka_unit_test(what_was_not_done_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
