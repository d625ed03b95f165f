/* client/npu.h -- `hone npu`: what its files share. */
#ifndef HN_CLIENT_NPU_H
#define HN_CLIENT_NPU_H

#include "client/cmd.h"
#include "base/jw.h"
#include "target/npu/npu_run.h"
#include "target/target.h"

/* npu_options.c: what --as, --order and --slots say, and that no option is given that would do nothing. */
enum hn_npu_subject { HN_NPU_PROGRAM, HN_NPU_COMPUTATION, HN_NPU_NETWORK };

int hn_npu_check_words(const struct hn_opts *o, struct hn_err *err) HN_NODISCARD;
int hn_npu_check_options(const struct hn_opts *o, enum hn_npu_subject subject, struct hn_err *err) HN_NODISCARD;

/* hone-build's program of the computation that o gives, as text; its name in `a`. */
int hn_npu_made(const struct hn_opts *o, const char *profile, struct hn_arena *a, const char **name,
		struct hn_buf *text, struct hn_err *err) HN_NODISCARD;

/* A run that was judged, for people, and as members of the object that is open: pipes, then cores and
 * memories. */
void hn_npu_put_table(const struct hn_npu_program *p, const struct hn_npu_profile *m,
		      const struct hn_npu_result *r, struct hn_buf *b);
void hn_npu_put_room(const struct hn_npu_program *p, const struct hn_npu_profile *m,
		     const struct hn_npu_result *r, struct hn_buf *b);
void hn_npu_put_room_members(const struct hn_npu_program *p, const struct hn_npu_profile *m,
			     const struct hn_npu_result *r, struct hn_jw *w);
void hn_npu_put_members(const struct hn_npu_profile *m, const struct hn_npu_result *r, struct hn_jw *w);

/* Judge it, and draw what the pipes of its first core do; svg: NULL = no picture. */
int hn_npu_show(const struct hn_npu_program *p, const struct hn_npu_profile *m, struct hn_arena *a,
		struct hn_npu_result *ret, struct hn_buf *svg, struct hn_err *err) HN_NODISCARD;

/* A launch of the first of n programs that is for these sizes (NULL: it has none): which, and what it
 * takes.  Where its buffers are more than races are looked for in, it is not judged. */
struct hn_npu_launched {
	uint32_t program;
	bool judged;
	struct hn_npu_result r;
};

int hn_npu_launched(const struct hn_npu_program *const *p, uint32_t n, const int64_t *value,
		    const struct hn_npu_profile *m, struct hn_npu_launched *ret,
		    struct hn_err *err) HN_NODISCARD;

/* npu_sizes.c: values that --dim gives for a program's sizes, all or (*ret_n = 0) none of them. */
int hn_npu_sizes_given(const struct hn_opts *o, const struct hn_npu_program *p, int64_t *ret, uint32_t *ret_n,
		       struct hn_err *err) HN_NODISCARD;
/* For which sizes n programs are, and launches at some. */
int hn_npu_sizes_show(const struct hn_opts *o, const struct hn_npu_program *const *p, uint32_t n,
		      const struct hn_npu_profile *m, struct hn_buf *b, struct hn_err *err) HN_NODISCARD;

/* npu_record.c: the program of a history for a target of this kind, as its text, and that text read. */
struct hn_npu_record {
	struct hn_npu_profile m;
	struct hn_buf text; /* to be released */
	const struct hn_npu_program *p;
};

bool hn_npu_is(const struct hn_target *t);
int hn_npu_of_record(const char *verb, const char *dag_json, const char *steps, const char *target_line,
		     struct hn_arena *a, struct hn_npu_record *ret, struct hn_err *err) HN_NODISCARD;

/* The same, run: what `hone explain` says of it.  A kernel without a program is told. */
struct hn_npu_explained {
	struct hn_npu_record made;
	struct hn_npu_result r;
	struct hn_buf svg;	/* if asked for */
	struct hn_err refused;	/* code 0: there is a program */
};

void hn_npu_explain(const char *dag_json, const char *steps, const char *target_line, bool picture,
		    struct hn_arena *a, struct hn_npu_explained *ret);
void hn_npu_explained_close(struct hn_npu_explained *e);
/* Its cores and memories, and, on request, its pipes. */
void hn_npu_explain_text(const struct hn_npu_explained *e, bool pipes, struct hn_buf *b);
void hn_npu_explain_json(const struct hn_npu_explained *e, struct hn_jw *w);

/* npu_network.c: a network, kernel by kernel, each in a launch of its own.  A kernel without a program
 * is told with the reason; HONE_E_UNSUPPORTED when none has one. */
int hn_npu_network(const struct hn_opts *o, const struct hn_npu_profile *m, struct hn_buf *b,
		   struct hn_err *err) HN_NODISCARD;

/* npu_ranges.c: the same of a network for ranges of sizes, which is open. */
struct hn_network;
int hn_npu_ranges(const struct hn_opts *o, const struct hn_npu_profile *m, struct hn_network *n, struct hn_buf *b,
		  struct hn_err *err) HN_NODISCARD;

#endif
