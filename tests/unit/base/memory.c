/* base_memory.c -- the smallest of all limits, read from made-up files of /proc and
 * /sys/fs/cgroup: both versions, containers that see a part of the tree, files that are not
 * there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cdefs.h"
#include "base/file.h"
#include "base/memory.h"

#define MIB (INT64_C(1) << 20)

static char root[100];

static void put(const char *path, const char *text)
{
	char whole[400], folder[400];
	FILE *f;

	snprintf(whole, sizeof whole, "%s%s", root, path);
	snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(whole, '/') - whole), whole);
	assert_int_equal(hn_file_mkdirs(folder, 0700, NULL), 0);
	f = fopen(whole, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static int begin(void **state)
{
	(void)state;
	strcpy(root, "/tmp/hone-memory-XXXXXX");
	assert_non_null(mkdtemp(root));
	put("/proc/meminfo", "MemTotal:        8388608 kB\nMemFree:  1 kB\n"
			     "MemAvailable:    4194304 kB\n"); /* 8 GiB, 4 GiB */
	put("/proc/vmstat", "nr_free_pages 5\noom_kill 3\n");
	return 0;
}

static int end(void **state)
{
	char command[200];

	(void)state;
	snprintf(command, sizeof command, "rm -rf '%s'", root);
	return system(command);
}

static void holds(int64_t limit_mib, const char *limit_by, int64_t available_mib,
		  const char *available_by)
{
	struct hn_memory m;

	hn_memory_read(root, &m);
	assert_int_equal(m.limit / MIB, limit_mib);
	assert_non_null(strstr(m.limit_by, limit_by));
	assert_int_equal(m.available / MIB, available_mib);
	assert_non_null(strstr(m.available_by, available_by));
}

static void a_machine_without_groups(void **state)
{
	struct hn_memory m;

	(void)state;
	holds(8192, "machine", 4096, "machine");
	hn_memory_read(root, &m);
	assert_int_equal(m.n_killed, 3);
	put("/proc/self/cgroup", "0::/\n");
	holds(8192, "machine", 4096, "machine"); /* no mount */
}

#define V1 "/sys/fs/cgroup/memory"

static void version_one(void **state)
{
	struct hn_memory m;

	(void)state;
	put("/proc/self/cgroup", "9:name=systemd:/\n4:cpu,memory:/outer/own\n0::/\n");
	put("/proc/self/mountinfo",
	    "20 1 0:5 / /proc rw - proc proc rw\n"
	    "31 25 0:27 / " V1 " rw,relatime shared:9 - cgroup cgroup rw,cpu,memory\n"
	    "32 25 0:28 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n");
	put(V1 "/memory.limit_in_bytes", "9223372036854771712\n");
	put(V1 "/memory.usage_in_bytes", "99999999999\n");
	put(V1 "/outer/memory.limit_in_bytes", "1610612736\n"); /* 1536 MiB */
	put(V1 "/outer/memory.usage_in_bytes", "1073741824\n");
	put(V1 "/outer/memory.stat",
	    "cache 1\ninactive_file 1\ntotal_inactive_file 209715200\n"
	    "total_active_file 104857600\ntotal_cache 999999999999\n");
	put(V1 "/outer/own/memory.limit_in_bytes", "9223372036854771712\n");
	put(V1 "/outer/own/memory.usage_in_bytes", "1048576\n");
	put(V1 "/outer/own/memory.oom_control",
	    "oom_kill_disable 0\nunder_oom 0\noom_kill 4\n");
	holds(1536, "cgroup", 1536 - 1024 + 300, "cgroup");
	hn_memory_read(root, &m);
	assert_int_equal(m.n_killed, 7);
	put(V1 "/outer/own/memory.limit_in_bytes", "1073741824\n");
	holds(1024, "cgroup", 812, "cgroup"); /* the smallest of each */
	put(V1 "/outer/memory.usage_in_bytes", "99999999999\n"); /* over its limit */
	holds(1024, "cgroup", 0, "cgroup");
}

/* A container: its path is given from the host's top, its mount shows its own part. */
static void version_one_of_a_container(void **state)
{
	(void)state;
	put("/proc/self/cgroup", "4:memory:/docker/abc/job\n");
	put("/proc/self/mountinfo",
	    "31 25 0:27 /docker/abc " V1 " ro,relatime master:9 - cgroup cgroup rw,memory\n");
	put(V1 "/memory.limit_in_bytes", "536870912\n");
	put(V1 "/memory.usage_in_bytes", "134217728\n");
	put(V1 "/job/memory.limit_in_bytes", "402653184\n");
	put(V1 "/job/memory.usage_in_bytes", "1048576\n");
	holds(384, "cgroup", 383, "cgroup");
	put("/proc/self/cgroup", "4:memory:/elsewhere\n"); /* not below: its top is ours */
	holds(512, "cgroup", 384, "cgroup");
}

#define V2 "/sys/fs/cgroup"

static void version_two(void **state)
{
	struct hn_memory m;

	(void)state;
	put("/proc/self/cgroup", "0::/user.slice/job.scope\n");
	put("/proc/self/mountinfo",
	    "25 20 0:22 / " V2 " rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n");
	put(V2 "/user.slice/memory.max", "2147483648\n");
	put(V2 "/user.slice/memory.current", "1073741824\n");
	put(V2 "/user.slice/memory.stat",
	    "anon 5\nfile 999999999999\ninactive_file 104857600\nactive_file 104857600\n"
	    "slab_reclaimable 52428800\n");
	put(V2 "/user.slice/job.scope/memory.max", "max\n");
	put(V2 "/user.slice/job.scope/memory.current", "1048576\n");
	put(V2 "/user.slice/job.scope/memory.events",
	    "low 0\nhigh 0\nmax 7\noom 2\noom_kill 2\noom_group_kill 0\n");
	holds(2048, "cgroup", 2048 - 1024 + 250, "cgroup");
	hn_memory_read(root, &m);
	assert_int_equal(m.n_killed, 5);
	put(V2 "/user.slice/job.scope/memory.high", "1073741824\n"); /* it is held up there */
	holds(1024, "cgroup", 1023, "cgroup");
}

static void nonsense_is_no_limit(void **state)
{
	(void)state;
	put("/proc/self/cgroup", "\n::\n4:memory\n:::\n4:memory:relative\n0::/../..\nx\n\n");
	put("/proc/self/mountinfo", "- - -\n31 25\n31 25 0:27 / " V1 " rw - cgroup\n"
				    "31 25 0:27 / " V1 " rw - cgroup cgroup rw,memory\n"
				    "31 25 0:27 / " V2 " rw - cgroup2 cgroup2 rw\n");
	put(V1 "/memory.limit_in_bytes", "lots\n");
	put(V2 "/memory.max", "-5\n");
	put(V2 "/memory.current", "");
	holds(8192, "machine", 4096, "machine");
}

static void the_address_space_counts(void **state)
{
	pid_t pid = fork();
	int status;

	(void)state;
	assert_true(pid >= 0);
	if (pid == 0) {
		int64_t most = hn_memory_mapped() + 300 * MIB;
		struct rlimit r = {(rlim_t)most, (rlim_t)most};
		struct hn_memory m;

		if (setrlimit(RLIMIT_AS, &r) != 0) {
			_exit(2);
		}
		hn_memory_read(root, &m);
		_exit(strstr(m.limit_by, "RLIMIT_AS") != NULL && m.limit == most &&
				      m.available <= 300 * MIB && m.available > 200 * MIB
			      ? 0
			      : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
#if !defined(__SANITIZE_ADDRESS__) /* its shadow is larger than any limit here */
	assert_int_equal(status, 0);
#endif
}

/* This machine's own: some number that is one. */
static void the_real_one(void **state)
{
	struct hn_memory m;
	char text[40];

	(void)state;
	hn_memory_read("", &m);
	assert_in_range(m.limit, 16 * MIB, INT64_C(1) << 50);
	assert_in_range(m.available, 0, m.limit);
	assert_string_equal(hn_memory_print(1536 * MIB, text, sizeof text), "1.6 GB");
	assert_string_equal(hn_memory_print(300 * MIB, text, sizeof text), "315 MB");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_machine_without_groups, begin, end),
		cmocka_unit_test_setup_teardown(version_one, begin, end),
		cmocka_unit_test_setup_teardown(version_one_of_a_container, begin, end),
		cmocka_unit_test_setup_teardown(version_two, begin, end),
		cmocka_unit_test_setup_teardown(nonsense_is_no_limit, begin, end),
		cmocka_unit_test_setup_teardown(the_address_space_counts, begin, end),
		cmocka_unit_test(the_real_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
