/* client/replay_choice.c -- the part of a kernel of several targets that chooses: indirect functions
 * of ELF, which the dynamic linker (or a static program's start) asks once which kernel they stand
 * for.  So a call costs no test, and nothing runs before `main`.
 *
 * Where no target fits, a call returns HONE_KERNEL_MACHINE, and NAME_why says why in one line.
 */
#include <string.h>

#include "client/replay.h"

/* Levels of x86-64 as compilers know them (target/targets.def). */
static const struct {
	const char *isa, *level;
} levels[] = {
	{ "x86-64-baseline", "" },
	{ "x86-64-avx2", "x86-64-v3" },
	{ "x86-64-avx512", "x86-64-v4" },
};

static const char *level_of(const struct hn_target *t)
{
	for (size_t i = 0; i < HN_COUNT_OF(levels); i++) {
		if (strcmp(levels[i].isa, t->isa) == 0) {
			return levels[i].level;
		}
	}
	return NULL;
}

static void put_fits(const struct hn_target *t, struct hn_buf *b)
{
	hn_buf_puts(b, "1");
	if (*level_of(t) != '\0') {
		hn_buf_printf(b, " && __builtin_cpu_supports(\"%s\")", level_of(t));
	}
	for (uint32_t i = 0; i < HN_N_TARGET_FEATURE; i++) {
		const char *feature = hn_target_feature_name(i);

		if (hn_target_has(t, feature) > 0) {
			hn_buf_printf(b, " && __builtin_cpu_supports(\"%s\")", feature);
		}
	}
}

/* One function under its own name; what a target's kernel need not have gives 0 there. */
static void put_function(const struct hn_replay *r, const char *behind, struct hn_buf *b)
{
	const char *s = r->symbol;

	hn_buf_putc(b, '\n');
	for (uint32_t i = 0; i < r->n; i++) {
		hn_buf_printf(b, "extern __typeof__(%s%s) %s_at%u%s __attribute__((weak));\n", s,
			      behind, s, i, behind);
	}
	hn_buf_printf(b,
		      "static __typeof__(%s%s) *choose%s(void)\n{\n"
		      "\t__typeof__(%s%s) *all[] = { ",
		      s, behind, behind, s, behind);
	for (uint32_t i = 0; i < r->n; i++) {
		hn_buf_printf(b, "%s_at%u%s, ", s, i, behind);
	}
	hn_buf_printf(b,
		      "};\n\tint i = which();\n\n"
		      "\treturn i < 0 ? (__typeof__(%s%s) *)refused\n"
		      "\t\t     : all[i] != NULL ? all[i] : (__typeof__(%s%s) *)nothing;\n}\n"
		      "__typeof__(%s%s) %s%s __attribute__((ifunc(\"choose%s\")));\n",
		      s, behind, s, behind, s, behind, s, behind, behind);
}

static void put_why(const struct hn_replay *r, struct hn_buf *b)
{
	hn_buf_printf(b,
		      "\nconst char *%s_why(void)\n{\n\treturn which() >= 0 ? NULL : \"%s: this "
		      "processor runs none of the targets it was made for:",
		      r->symbol, r->symbol);
	for (uint32_t i = 0; i < r->n; i++) {
		struct hn_buf isa;

		hn_buf_init(&isa);
		hn_target_print_isa(&r->kernel[i].target, &isa);
		hn_buf_printf(b, "%s %s", i > 0 ? "," : "", isa.s);
		hn_buf_fini(&isa);
	}
	hn_buf_puts(b, "\";\n}\n");
}

int hn_replay_choice(const struct hn_replay *r, bool prepares, bool init, struct hn_buf *ret,
		     struct hn_err *err)
{
	for (uint32_t i = 0; i < r->n; i++) {
		const struct hn_target *t = &r->kernel[i].target;

		if (strcmp(t->kind, "cpu") != 0 || level_of(t) == NULL) {
			return hn_fail(err, HONE_E_UNSUPPORTED,
				       "replay: among targets of x86-64 alone a program can choose, "
				       "and %s is none",
				       t->isa != NULL && *t->isa != '\0' ? t->isa : t->kind);
		}
	}
	hn_buf_printf(ret,
		      "/* Which kernel of %s runs here; the first that fits. */\n"
		      "#include <stddef.h>\n#include \"%s.h\"\n\n"
		      "static int which(void)\n{\n\t__builtin_cpu_init();\n",
		      r->symbol, r->symbol);
	for (uint32_t i = 0; i < r->n; i++) {
		hn_buf_puts(ret, "\tif (");
		put_fits(&r->kernel[i].target, ret);
		hn_buf_printf(ret, ") {\n\t\treturn %u;\n\t}\n", i);
	}
	hn_buf_puts(ret, "\treturn -1;\n}\n\n"
			 "static int32_t refused(void)\n{\n\treturn HONE_KERNEL_MACHINE;\n}\n\n"
			 "static int32_t __attribute__((unused)) nothing(void)\n{\n\treturn 0;\n}\n");
	put_function(r, "", ret);
	put_function(r, "_packed", ret);
	if (prepares) {
		put_function(r, "_prepare", ret);
		put_function(r, "_prepare_packed", ret);
	}
	if (init) {
		put_function(r, "_init", ret);
	}
	put_why(r, ret);
	return ret->failed ? hn_fail(err, HONE_E_NOMEM, "no memory for the part that chooses") : 0;
}
