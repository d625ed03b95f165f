/* libhone loads what hone-build makes, calls it, and refuses the rest with its reason. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/json.h"
#include "base/jw.h"
#include "base/loader.h"
#include "base/rng.h"
#include "base/seal.h"
#include "hone/load.h"
#include "hone/pool.h"
#include "loopstate/read/dag_read.h"

#define N_DAMAGED 10000

static char dir[64];

/* name.o and name.json, of the program as it is written. */
static void make(const char *name, const char *text, const char *target)
{
	char command[1000], path[200];
	const struct hn_dag *dag;
	struct hn_arena a;
	struct hn_buf json;
	struct hn_err err = { 0 };

	hn_arena_init(&a, 0);
	hn_buf_init(&json);
	if (hn_dag_parse_sized("dag", text, strlen(text), 0, &a, &dag, &err) != 0) {
		fail_msg("%s", err.msg);
	}
	hn_dag_write_json(dag, &json);
	snprintf(path, sizeof path, "%s/%s.dag", dir, name);
	assert_int_equal(hn_file_replace(path, json.s, json.n, &err), 0);
	snprintf(command, sizeof command,
		 HONE_BIN_DIR "/hone-build --dag %s --naive --symbol %s -o %s/%s.o --header %s/%s.h "
		 "--target '%s'",
		 path, name, dir, name, dir, name, target);
	assert_int_equal(system(command), 0);
	hn_buf_fini(&json);
	hn_arena_fini(&a);
}

static int set_up(void **state)
{
	(void)state;
	strcpy(dir, "/tmp/hone-kernel-XXXXXX");
	assert_non_null(mkdtemp(dir));
	setenv("HONE_HOME", dir, 1);
	make("mm", "mm(float32 A[4,8], float32 B[8,5]) -> C { C(i,j) +=! A(i,k) * B(k,j) }",
	     "native");
	make("sized",
	     "f(N in [1, 64], float32 A[N,8], float32 B[N,8]) -> C { C(i,j) = A(i,j) + B(i,j) }",
	     "native");
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	hn_file_remove_tree(dir);
	return 0;
}

static const char *at(const char *file)
{
	static char path[200];

	snprintf(path, sizeof path, "%s/%s", dir, file);
	return path;
}

static struct hone_kernel *opened(const char *file)
{
	struct hone_error error;
	struct hone_kernel *k;

	if (hone_kernel_open(at(file), NULL, &k, &error) != 0) {
		fail_msg("%s", error.text);
	}
	return k;
}

struct bed {
	_Alignas(64) float a[4 * 8 + 1], b[8 * 5], c[4 * 5];
	int64_t sa[2], sb[2], sc[2];
	struct hone_tensor t[3];
	const struct hone_tensor *arg[3];
};

static struct hone_tensor tensor(float *data, int64_t *shape)
{
	return (struct hone_tensor){ .data = data, .device_type = 1, .ndim = 2, .code = 2,
				     .bits = 32,   .lanes = 1,	     .shape = shape };
}

static void fill(struct bed *x)
{
	*x = (struct bed){ .sa = { 4, 8 }, .sb = { 8, 5 }, .sc = { 4, 5 } };
	for (int i = 0; i < 32; i++) {
		x->a[i] = (float)(i % 7 - 3);
	}
	for (int i = 0; i < 40; i++) {
		x->b[i] = (float)(i % 5 - 2);
	}
	x->t[0] = tensor(x->a, x->sa);
	x->t[1] = tensor(x->b, x->sb);
	x->t[2] = tensor(x->c, x->sc);
	for (int i = 0; i < 3; i++) {
		x->arg[i] = &x->t[i];
	}
}

static void assert_product(const struct bed *x)
{
	for (int i = 0; i < 4; i++) {
		for (int j = 0; j < 5; j++) {
			float want = 0;

			for (int k = 0; k < 8; k++) {
				want += x->a[i * 8 + k] * x->b[k * 5 + j];
			}
			assert_true(x->c[i * 5 + j] == want);
		}
	}
}

static void kernels_run(void **state)
{
	struct hone_kernel *k = opened("mm.o");
	struct hone_pool *pool = hone_pool_create(2);
	struct hone_error error;
	struct bed x;
	void *raw[] = { x.a, x.b, x.c };

	(void)state;
	fill(&x);
	assert_int_equal(hone_kernel_check_dlpack(k, x.arg, 3, &error), 0);
	assert_int_equal(hone_kernel_call_dlpack(k, x.arg, 3, NULL, &error), 0);
	assert_product(&x);
	fill(&x);
	assert_int_equal(hone_kernel_call_dlpack(k, x.arg, 3, hone_pool_env(pool, 0), &error), 0);
	assert_product(&x);
	fill(&x);
	assert_int_equal(hone_kernel_call(k, NULL, raw, NULL), 0);
	assert_product(&x);
	fill(&x);
	memmove(x.a + 1, x.a, 32 * sizeof(float));
	x.t[0].byte_offset = 4; /* from where on the data is */
	assert_int_equal(hone_kernel_call_dlpack(k, x.arg, 3, NULL, &error), 0);
	memmove(x.a, x.a + 1, 32 * sizeof(float));
	assert_product(&x);
	assert_non_null(strstr(hone_kernel_info(k), "\"symbol\":\"mm\""));
	assert_int_equal(hone_kernel_prepared_bytes(k), 0);
	hone_kernel_close(k);
	hone_kernel_close(NULL);
	hone_pool_destroy(pool);
}

/* Each refusal: what is done to fine arguments, and words of the reason. */
#define REFUSALS(R)                                                                              \
	R(n = 2, "2 tensors, and it takes 3")                                                    \
	R(x.arg[1] = NULL, "argument 1 (B): no tensor")                                          \
	R(x.t[1].data = NULL, "argument 1 (B): no data")                                         \
	R(x.t[0].device_type = 2, "argument 0 (A): it lies on device 2:0")                       \
	R(x.t[0].bits = 64, "elements are float64, not float32")                                 \
	R(x.t[0].code = 0, "elements are int32, not float32")                                    \
	R(x.t[0].code = 200, "elements are type 32, not float32")                                \
	R(x.t[0].lanes = 4, "elements are float32 in vectors")                                   \
	R(x.t[2].ndim = 1, "argument 2 (C): it has 1 dimensions, not 2")                         \
	R(x.t[2].shape = NULL, "argument 2 (C): no shape")                                       \
	R(x.sb[1] = 6, "argument 1 (B): dimension 1 is 6, not 5")                                \
	R(x.sb[1] = -5, "dimension 1 is -5, not 5")                                              \
	R(x.t[0].strides = column, "argument 0 (A): dimension 1 has stride 4, not 1")            \
	R(x.t[0].strides = apart, "argument 0 (A): dimension 0 has stride 16, not 8")            \
	R(x.t[0].byte_offset = 2, "argument 0 (A): its data is not aligned to the 4 bytes")      \
	R(x.t[2].data = x.b + 30, "argument 2 (C): it lies over argument 1 (B)")

static void arguments_are_refused_with_the_reason(void **state)
{
	struct hone_kernel *k = opened("mm.o");
	int64_t column[] = { 1, 4 }, apart[] = { 16, 1 };
	struct hone_error error;
	struct bed x, before;
	int32_t n;

	(void)state;
#define REFUSAL(change, words)                                                                   \
	fill(&x);                                                                                \
	n = 3;                                                                                   \
	change;                                                                                  \
	before = x;                                                                              \
	assert_int_equal(hone_kernel_call_dlpack(k, x.arg, n, NULL, &error), HONE_INVALID);      \
	if (strstr(error.text, words) == NULL) {                                                 \
		fail_msg("\"%s\" says nothing of \"%s\"", error.text, words);                      \
	}                                                                                        \
	assert_memory_equal(&before, &x, sizeof x);
	REFUSALS(REFUSAL)
#undef REFUSAL
	assert_int_equal(hone_kernel_call_dlpack(k, NULL, 3, NULL, NULL), HONE_INVALID);
	hone_kernel_close(k);
}

/* The first tensor that has a size says what it is. */
static void sizes_come_from_tensors(void **state)
{
	struct hone_kernel *k = opened("sized.o");
	struct hone_error error;
	struct bed x;
	float b[32];

	(void)state;
	fill(&x);
	x.sb[0] = x.sc[0] = 2;
	x.sa[0] = 2;
	x.sb[1] = x.sc[1] = 8;
	memcpy(b, x.b, sizeof b);
	assert_int_equal(hone_kernel_call_dlpack(k, x.arg, 3, NULL, &error), 0);
	for (int i = 0; i < 16; i++) {
		assert_true(x.c[i] == x.a[i] + b[i]);
	}
	x.sb[0] = 3;
	assert_int_equal(hone_kernel_call_dlpack(k, x.arg, 3, NULL, &error), HONE_INVALID);
	assert_non_null(strstr(error.text, "argument 1 (B): dimension 0 is 3, not 2"));
	x.sa[0] = 65;
	assert_int_equal(hone_kernel_call_dlpack(k, x.arg, 3, NULL, &error), HONE_INVALID);
	assert_non_null(strstr(error.text, "N is from 1 to 64"));
	hone_kernel_close(k);
}

static void refused(const char *file, const char *key, int code, const char *words)
{
	struct hone_kernel *k = NULL;
	struct hone_error error;
	int rc = hone_kernel_open(at(file), key, &k, &error);

	if (rc != code || strstr(error.text, words) == NULL) {
		fail_msg("%s: %d, \"%s\", not %d and \"%s\"", file, rc,
			 rc != 0 ? error.text : "opened", code, words);
	}
	assert_null(k);
}

static void read_file(const char *file, struct hn_buf *b)
{
	hn_buf_reset(b);
	assert_int_equal(hn_file_read(at(file), 1 << 20, b, NULL), 0);
}

static void write_file(const char *file, const void *bytes, size_t n)
{
	FILE *f;

	unlink(at(file)); /* some file systems sync what is cut to nothing */
	f = fopen(at(file), "wb");
	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, n, f), n);
	assert_int_equal(fclose(f), 0);
}

/* A library is taken as the object is, and refused like it. */
static void libraries_run(void **state)
{
	char command[500];
	struct hone_kernel *k;
	struct hone_error error;
	struct hn_buf b;
	struct bed x;

	(void)state;
	snprintf(command, sizeof command, "%s -shared -o %s/libmm.so %s/mm.o", HONE_CC, dir, dir);
	assert_int_equal(system(command), 0);
	refused("libmm.so", NULL, HONE_CORRUPT, "no seal");
	assert_int_equal(hn_seal_file(at("libmm.so"), NULL), 0);
	k = opened("libmm.so");
	fill(&x);
	assert_int_equal(hone_kernel_call_dlpack(k, x.arg, 3, NULL, &error), 0);
	assert_product(&x);
	hone_kernel_close(k);
	hn_buf_init(&b);
	read_file("libmm.so", &b);
	b.s[b.n / 2] ^= 1;
	write_file("libmm.so", b.s, b.n);
	refused("libmm.so", NULL, HONE_CORRUPT, "damaged");
	write_file("libmm.so", b.s, b.n / 2);
	refused("libmm.so", NULL, HONE_CORRUPT, "no seal");
	hn_buf_fini(&b);
}

/* TVMFFIAny, as much as a tensor needs. */
struct any {
	int32_t type;
	uint32_t zero;
	const void *value;
};

typedef int32_t (*ffi_fn)(void *self, const struct any *args, int32_t n, struct any *ret);

static struct hn_object *object_of(const char *file, const char *symbol, ffi_fn *ret)
{
	struct hn_object *o = NULL;
	struct hn_err err = { 0 };
	struct hn_buf b;

	hn_buf_init(&b);
	assert_int_equal(hn_file_read(at(file), 1 << 20, &b, &err), 0);
	if (hn_object_load(b.s, b.n, &o, &err) != 0) {
		fail_msg("%s", err.msg);
	}
	*ret = (ffi_fn)hn_object_function(o, symbol);
	assert_non_null(*ret);
	hn_buf_fini(&b);
	return o;
}

/* The same refusals but for their words, which want a library of TVM's; tensors come as they are,
 * and in objects, behind a head of 24 bytes. */
static void tvm_ffi_calls_and_refuses(void **state)
{
	struct {
		char head[24];
		struct hone_tensor t;
	} object;
	int64_t column[] = { 1, 4 }, apart[] = { 16, 1 };
	struct any args[3], ret;
	struct hn_object *o;
	struct bed x, before;
	ffi_fn call;
	int32_t n;

	(void)state;
	o = object_of("mm.o", "__tvm_ffi_mm", &call);
#define PACK()                                                                                   \
	for (int i = 0; i < 3; i++) {                                                            \
		args[i] = (struct any){ .type = 7, .value = x.arg[i] };                          \
	}
	fill(&x);
	PACK();
	object.t = x.t[1];
	args[1] = (struct any){ .type = 70, .value = &object };
	memset(&ret, 0xff, sizeof ret);
	assert_int_equal(call(NULL, args, 3, &ret), 0);
	assert_true(ret.type == 0 && ret.zero == 0 && ret.value == NULL);
	assert_product(&x);
#define REFUSAL(change, words)                                                                   \
	fill(&x);                                                                                \
	n = 3;                                                                                   \
	change;                                                                                  \
	before = x;                                                                              \
	PACK();                                                                                  \
	assert_int_equal(call(NULL, args, n, &ret), -1);                                         \
	assert_memory_equal(&before, &x, sizeof x);
	REFUSALS(REFUSAL)
#undef REFUSAL
	fill(&x);
	PACK();
	args[2].type = 1; /* a number */
	assert_int_equal(call(NULL, args, 3, &ret), -1);
	hn_object_free(o);
}

static void tvm_ffi_takes_sizes_from_tensors(void **state)
{
	struct any args[3], ret;
	struct hn_object *o;
	struct bed x;
	ffi_fn call;

	(void)state;
	o = object_of("sized.o", "__tvm_ffi_sized", &call);
	fill(&x);
	x.sa[0] = x.sb[0] = x.sc[0] = 2;
	x.sb[1] = x.sc[1] = 8;
	PACK();
	assert_int_equal(call(NULL, args, 3, &ret), 0);
	for (int i = 0; i < 16; i++) {
		assert_true(x.c[i] == x.a[i] + x.b[i]);
	}
	x.sb[0] = 3;
	assert_int_equal(call(NULL, args, 3, &ret), -1);
	x.sa[0] = x.sb[0] = x.sc[0] = 65;
	assert_int_equal(call(NULL, args, 3, &ret), -1);
#undef PACK
	hn_object_free(o);
}

/* The object of `file` with another text of itself, and sealed as if hone had written it. */
static void forge(const char *file, const char *from, const char *to)
{
	uint8_t seal[HN_SEAL_BYTES];
	struct hn_buf b;
	char *p;

	assert_int_equal(strlen(from), strlen(to));
	hn_buf_init(&b);
	read_file(file, &b);
	p = memmem(b.s, b.n, from, strlen(from));
	assert_non_null(p);
	memcpy(p, to, strlen(to));
	hn_seal_make(b.s, b.n - HN_SEAL_BYTES, seal);
	memcpy(b.s + b.n - HN_SEAL_BYTES, seal, sizeof seal);
	write_file("forged.o", b.s, b.n);
	hn_buf_fini(&b);
}

static void files_are_refused_with_the_reason(void **state)
{
	static const char other[] =
		"0000000000000000000000000000000000000000000000000000000000000000";
	struct hn_buf b;

	(void)state;
	hn_buf_init(&b);
	refused("none.o", NULL, HONE_NOT_FOUND, "none.o");
	refused("mm.o", other, HONE_INVALID, "of workload ");
	refused("mm.h", NULL, HONE_CORRUPT, "no seal");
	read_file("mm.o", &b);
	write_file("forged.o", b.s, b.n - 1);
	refused("forged.o", NULL, HONE_CORRUPT, "cut short");
	forge("mm.o", "kernel-info/1", "kernel-info/2");
	refused("forged.o", NULL, HONE_VERSION_MISMATCH, "this libhone reads hone-kernel-info/1");
	forge("mm.o", "\"abi\":2", "\"abi\":3");
	refused("forged.o", NULL, HONE_VERSION_MISMATCH, "ABI 3");
	forge("mm.o", "\"symbol\":\"mm\"", "\"symbol\":\"nn\"");
	refused("forged.o", NULL, HONE_CORRUPT, "it lacks the function nn_packed");
	forge("mm.o", "\"shape\":[4,8]", "\"shape\":[4,0]");
	refused("forged.o", NULL, HONE_CORRUPT, "makes no sense (args)");
	forge("mm.o", "\"dtype\":\"float32\"", "\"dtype\":\"float31\"");
	refused("forged.o", NULL, HONE_CORRUPT, "makes no sense (args)");
	forge("mm.o", "cpu -isa=", "cpv -isa=");
	refused("forged.o", NULL, HONE_UNSUPPORTED, "made for cpv ");
	make("far", "f(float32 A[4]) -> B { B(i) = A(i) + 1 }", "cpu -isa=aarch64-neon");
#if defined(__x86_64__)
	refused("far.o", NULL, HONE_UNSUPPORTED, "for another machine");
#endif
	hn_buf_fini(&b);
}

static void write_manifest(const char *member, const char *value)
{
	struct hn_json *info;
	struct hone_kernel *k = opened("mm.o");
	struct hn_buf b, dag;
	struct hn_jw w;

	hn_buf_init(&b);
	hn_buf_init(&dag);
	read_file("mm.dag", &dag);
	assert_int_equal(hn_json_parse("info", hone_kernel_info(k), strlen(hone_kernel_info(k)),
				       NULL, &info, NULL),
			 0);
	hn_jw_init(&w, &b);
	hn_jw_object(&w, NULL);
	hn_jw_str(&w, "format", "hone-kernel/1");
	hn_jw_str(&w, "object", "mm.o");
	for (int i = 0; i < 3; i++) {
		const char *name = i == 0 ? "symbol" : i == 1 ? "key" : "target";

		hn_jw_str(&w, name,
			  strcmp(member, name) == 0 ? value
						    : hn_json_string(hn_json_get(info, name)));
	}
	hn_jw_json(&w, "dag", strcmp(member, "dag") == 0 ? value : dag.s);
	hn_jw_end(&w);
	hn_jw_done(&w);
	write_file("mm.json", b.s, b.n);
	hn_json_free(info);
	hn_buf_fini(&b);
	hn_buf_fini(&dag);
	hone_kernel_close(k);
}

static void manifests_say_what_objects_say(void **state)
{
	struct hn_buf dag;
	char *p;

	(void)state;
	write_manifest("", "");
	hone_kernel_close(opened("mm.json"));
	write_manifest("symbol", "nn");
	refused("mm.json", NULL, HONE_INVALID, "its symbol is not what the object");
	write_manifest("key", "00");
	refused("mm.json", NULL, HONE_INVALID, "its key is not");
	write_manifest("target", "cpu");
	refused("mm.json", NULL, HONE_INVALID, "its target is not");
	hn_buf_init(&dag);
	read_file("mm.dag", &dag);
	p = strstr(dag.s, "[8,5]");
	assert_non_null(p);
	p[3] = '6';
	write_manifest("dag", dag.s);
	refused("mm.json", NULL, HONE_INVALID, "mm.json: ");
	write_manifest("dag", "{}");
	refused("mm.json", NULL, HONE_INVALID, "mm.json: ");
	hn_buf_fini(&dag);
}

/* Cut, bits turned over, bytes overwritten: refused each time, and none crashes.  Every other one
 * has a seal that is right, as one who means harm would make it; its code is not run. */
static void damage_is_refused(void **state)
{
	struct hn_rng r = hn_rng_stream(18, 0, 0, 0);
	uint32_t n_sealed = 0, n_opened = 0;
	struct hone_error error;
	struct hn_buf b;
	char *copy;

	(void)state;
	hn_buf_init(&b);
	read_file("mm.o", &b);
	copy = malloc(b.n);
	for (uint32_t i = 0; i < N_DAMAGED; i++) {
		size_t n = b.n - (i % 5 == 0 ? 1 + hn_rng_below(&r, b.n) : 0);
		struct hone_kernel *k = NULL;
		int rc;

		memcpy(copy, b.s, n);
		for (uint64_t f = 1 + hn_rng_below(&r, 3); f > 0 && n > 0; f--) {
			copy[hn_rng_below(&r, n)] ^= (char)(1 << hn_rng_below(&r, 8));
		}
		if (i % 2 == 0 && n > HN_SEAL_BYTES) {
			hn_seal_make(copy, n - HN_SEAL_BYTES,
				     (uint8_t *)copy + n - HN_SEAL_BYTES);
			n_sealed++;
		}
		write_file("forged.o", copy, n);
		rc = hone_kernel_open(at("forged.o"), NULL, &k, &error);
		if (rc == 0) {
			assert_int_equal(i % 2, 0); /* never one whose seal is wrong */
			n_opened++;
			hone_kernel_close(k);
		} else {
			assert_non_null(strstr(error.text, "forged.o"));
		}
	}
	print_message("%u of %u sealed ones opened\n", n_opened, n_sealed);
	assert_in_range(n_sealed, 4000, 5000);
	assert_in_range(n_opened, 100, n_sealed); /* damage in code, which nothing can tell */
	free(copy);
	hn_buf_fini(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kernels_run),
		cmocka_unit_test(arguments_are_refused_with_the_reason),
		cmocka_unit_test(sizes_come_from_tensors),
		cmocka_unit_test(libraries_run),
		cmocka_unit_test(tvm_ffi_calls_and_refuses),
		cmocka_unit_test(tvm_ffi_takes_sizes_from_tensors),
		cmocka_unit_test(files_are_refused_with_the_reason),
		cmocka_unit_test(manifests_say_what_objects_say),
		cmocka_unit_test(damage_is_refused),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
