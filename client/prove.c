/* client/prove.c -- see prove.h.  hone-build reads and writes temporary files of ours by the
 * names that this process has for them. */
#include "client/prove.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/jw.h"
#include "client/builder.h"

static int failed(struct hn_err *err)
{
	return hn_fail(err, HONE_E_IO, "prove: a temporary file: %s", strerror(errno));
}

int hn_prover_open(struct hn_prover *p, struct hn_err *err)
{
	p->requests = tmpfile();
	p->answers = tmpfile();
	return p->requests && p->answers ? 0 : failed(err);
}

void hn_prover_close(struct hn_prover *p)
{
	if (p->requests) {
		fclose(p->requests);
	}
	if (p->answers) {
		fclose(p->answers);
	}
	*p = (struct hn_prover){ 0 };
}

void hn_prover_ask(struct hn_prover *p, const char *dag, const char *steps)
{
	struct hn_buf b;
	struct hn_jw w;

	hn_buf_init(&b);
	hn_jw_init(&w, &b);
	hn_jw_object(&w, NULL);
	if (dag) {
		hn_jw_str(&w, "dag", dag);
	}
	hn_jw_str(&w, "steps", steps);
	hn_jw_end(&w);
	hn_jw_done(&w);
	hn_buf_putc(&b, '\n');
	fwrite(b.s, 1, b.n, p->requests);
	hn_buf_fini(&b);
}

int hn_prover_run(struct hn_prover *p, const char *verb, uint32_t operations,
		  struct hn_err *err)
{
	char path[64], number[16];
	char *argv[] = { "hone-build", "--verify", path, "--operations", number, NULL };

	if (fflush(p->requests) != 0) {
		return failed(err);
	}
	snprintf(number, sizeof(number), "%u", operations);
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)getpid(),
		 fileno(p->requests));
	int rc = hn_builder_run(verb, argv, fileno(p->answers), err);

	rewind(p->answers);
	return rc;
}

const char *hn_prover_word(const struct hn_json *object, const char *name)
{
	const char *s = hn_json_string(hn_json_get(object, name));

	return s ? s : "";
}
