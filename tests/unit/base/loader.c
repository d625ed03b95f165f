/* loader.c -- objects load, run, and cannot hurt however they are damaged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/rng.h"
#include "base/loader.h"
#include "tests/lib/measure_cc.h"

static const char source[] =
	"float expf(float); double pow(double, double); void *memset(void *, int, "
	"unsigned long);\n"
	"static const float table[7] = {1, 2, 3, 4, 5, 6, 7};\n"
	"static const char *names[3] = {\"zero\", \"one\", \"two\"};\n"
	"static int counter = 40; static int zeroed[1000];\n"
	"int shared_counter = 5;\n"
	"static int bump(int by) { counter += by; return counter; }\n"
	"int (*pointer)(int) = bump;\n"
	"int count(void) { return pointer(2) + zeroed[999]; }\n"
	"int shared(void) { return ++shared_counter; }\n"
	"float look(int i) { return table[i]; }\n"
	"char letter(int i) { return names[i][0]; }\n"
	"float grow(float x) { return expf(x); }\n"
	"double power(double x, double y) { return pow(x, y); }\n"
	"void *taken(void) { return (void *)expf; }\n"
	"int pick(int k) { switch (k) { case 0: return 11; case 1: return 17; case 2: "
	"return 5;\n"
	"  case 3: return 99; case 4: return 23; case 5: return 8; default: return 0; } "
	"}\n"
	"int clear(char *p) { memset(p, 0, 64); return p[63]; }\n";

static struct hn_buf object;

static int compile_once(void **state)
{
	(void)state;
	hn_buf_init(&object);
	cc_bytes(source, &object);
	return 0;
}

static int free_once(void **state)
{
	(void)state;
	hn_buf_fini(&object);
	return 0;
}

static void everything_relocates(void **state)
{
	struct hn_object *o;
	struct hn_err err = {0};
	char bytes[64];

	(void)state;
	memset(bytes, 1, sizeof bytes);
	if (hn_object_load(object.s, object.n, &o, &err) != 0) {
		fail_msg("%s", err.msg);
	}
	assert_int_equal(((int (*)(void))hn_object_function(o, "count"))(), 42);
	assert_int_equal(((int (*)(void))hn_object_function(o, "count"))(), 44);
	assert_int_equal(((int (*)(void))hn_object_function(o, "shared"))(), 6);
	assert_true(((float (*)(int))hn_object_function(o, "look"))(4) == 5.0f);
	assert_int_equal(((char (*)(int))hn_object_function(o, "letter"))(2), 't');
	assert_true(((float (*)(float))hn_object_function(o, "grow"))(0) == 1.0f);
	assert_true(((double (*)(double, double))hn_object_function(o, "power"))(3, 4) ==
		    81.0);
	assert_non_null(((void *(*)(void))hn_object_function(o, "taken"))());
	assert_int_equal(((int (*)(int))hn_object_function(o, "pick"))(3), 99);
	assert_int_equal(((int (*)(char *))hn_object_function(o, "clear"))(bytes), 0);
	assert_null(hn_object_function(o, "bump"));
	assert_null(hn_object_function(o, "expf"));
	assert_null(hn_object_function(o, "shared_counter"));
	hn_object_free(o);
}

static void nothing_is_writable_and_executable(void **state)
{
	struct hn_object *o;
	struct hn_buf maps;
	char line[300];
	uintptr_t code;
	bool seen = false;
	FILE *f;

	(void)state;
	hn_buf_init(&maps);
	assert_int_equal(hn_object_load(object.s, object.n, &o, NULL), 0);
	code = (uintptr_t)hn_object_function(o, "count");
	f = fopen("/proc/self/maps", "r");
	while (fgets(line, sizeof line, f) != NULL) {
		unsigned long begin, end;
		char prot[5];

		assert_int_equal(sscanf(line, "%lx-%lx %4s", &begin, &end, prot), 3);
		assert_false(prot[1] == 'w' && prot[2] == 'x');
		seen |= code >= begin && code < end && strncmp(prot, "r-x", 3) == 0;
	}
	fclose(f);
	assert_true(seen);
	hn_object_free(o);
	hn_buf_fini(&maps);
}

static void forbidden_symbols_are_named(void **state)
{
	struct hn_buf b;
	struct hn_object *o;
	struct hn_err err = {0};

	(void)state;
	hn_buf_init(&b);
	cc_bytes("int system(const char *); int f(void) { return system(\"x\"); }", &b);
	assert_int_equal(hn_object_load(b.s, b.n, &o, &err), -HONE_E_UNSUPPORTED);
	assert_non_null(strstr(err.msg, "\"system\""));
	hn_buf_reset(&b);
	cc_bytes("__thread int t; int f(void) { return t++; }", &b);
	assert_int_equal(hn_object_load(b.s, b.n, &o, &err), -HONE_E_UNSUPPORTED);
	hn_buf_reset(&b);
	cc_bytes("int g; __attribute__((constructor)) void f(void) { g = 1; }", &b);
	assert_int_equal(hn_object_load(b.s, b.n, &o, &err), -HONE_E_UNSUPPORTED);
	hn_buf_fini(&b);
}

/* Every prefix of the file, and random damage: refused or loaded, never a crash. Code of
 * a damaged object is not run. */
static void damage_is_harmless(void **state)
{
	char *copy = malloc(object.n);
	int loaded = 0, refused = 0;

	(void)state;
	for (size_t n = 0; n < object.n; n += 7) {
		struct hn_object *o;

		/* an own allocation, so that ASan sees a read beyond it */
		char *prefix = malloc(n + (n == 0));

		memcpy(prefix, object.s, n);
		if (hn_object_load(prefix, n, &o, NULL) == 0) {
			hn_object_free(o);
		}
		free(prefix);
	}
	for (uint64_t round = 0; round < 20000; round++) {
		struct hn_rng r = hn_rng_stream(7, 0, 0, round);
		uint64_t flips = 1 + hn_rng_below(&r, 6);
		struct hn_object *o;

		memcpy(copy, object.s, object.n);
		for (uint64_t i = 0; i < flips; i++) {
			/* half of them in the header and the section table, where it
			 * matters */
			uint64_t where = hn_rng_below(&r, 4);
			uint64_t at = where == 0   ? hn_rng_below(&r, 64)
				      : where == 1 ? object.n - 1 - hn_rng_below(&r, 1200)
						   : hn_rng_below(&r, object.n);

			copy[at] =
				(char)(hn_rng_below(&r, 3) == 0 ? 0xff : hn_rng_u64(&r));
		}
		if (hn_object_load(copy, object.n, &o, NULL) == 0) {
			loaded++;
			hn_object_free(o);
		} else {
			refused++;
		}
	}
	free(copy);
	assert_true(loaded > 1000);
	assert_true(refused > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(everything_relocates),
		cmocka_unit_test(nothing_is_writable_and_executable),
		cmocka_unit_test(forbidden_symbols_are_named),
		cmocka_unit_test(damage_is_harmless),
	};

	return cmocka_run_group_tests(tests, compile_once, free_once);
}
