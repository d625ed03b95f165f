/* bench/suite_text.c -- a row of the suite in hone's text notation.
 *
 * Stages and indices are those of the published cases (Ansor's operators are written in
 * TVM's tensor expressions); keys differ, for here all arguments come first.
 */
#include "bench/suite.h"

#define LL(x) ((long long)(x))

/* ", a0, a1": the letter and the number of each spatial dimension. */
static void indices(struct hn_buf *b, const struct hn_conv *c, char letter)
{
	for (uint32_t d = 0; d < c->n_dim; d++) {
		hn_buf_printf(b, ", %c%u", letter, d);
	}
}

/* The padded input P; for a transposed convolution also with zeros between. */
static void conv_pad(struct hn_buf *b, const struct hn_conv *c)
{
	int64_t before = c->transposed ? c->kernel - 1 - c->padding : c->padding;
	int64_t step = c->transposed ? c->stride : 1;
	const char *more = c->capsule ? ", u, v" : "";

	hn_buf_puts(b, "\tP(n");
	indices(b, c, 'a');
	hn_buf_printf(b, "%s, c) = ", more);
	for (uint32_t d = 0; before > 0 && d < c->n_dim; d++) {
		int64_t end = before + (c->in[d] - 1) * step + 1;

		hn_buf_printf(b, "%sa%u >= %lld && a%u < %lld", d > 0 ? " && " : "", d,
			      LL(before), d, LL(end));
		if (step > 1) {
			hn_buf_printf(b, " && (a%u - %lld) %% %lld == 0", d, LL(before),
				      LL(step));
		}
	}
	hn_buf_puts(b, before > 0 ? " ? x(n" : "x(n");
	for (uint32_t d = 0; d < c->n_dim; d++) {
		if (before == 0) {
			hn_buf_printf(b, ", a%u", d);
		} else if (step > 1) {
			hn_buf_printf(b, ", (a%u - %lld) / %lld", d, LL(before),
				      LL(step));
		} else {
			hn_buf_printf(b, ", a%u - %lld", d, LL(before));
		}
	}
	hn_buf_printf(b, "%s, c)%s", more, before > 0 ? " : 0 where " : "");
	for (uint32_t d = 0; before > 0 && d < c->n_dim; d++) {
		hn_buf_printf(b, "%sa%u in 0:%lld", d > 0 ? ", " : "", d,
			      LL((c->in[d] - 1) * step + 1 + 2 * before));
	}
	hn_buf_puts(b, "\n");
}

/* "o * s + r * dilation" of each dimension, without the ones. */
static void windows(struct hn_buf *b, const struct hn_conv *c)
{
	int64_t stride = c->transposed ? 1 : c->stride;

	for (uint32_t d = 0; d < c->n_dim; d++) {
		hn_buf_printf(b, ", o%u", d);
		if (stride > 1) {
			hn_buf_printf(b, " * %lld", LL(stride));
		}
		hn_buf_printf(b, " + r%u", d);
		if (c->dilation > 1) {
			hn_buf_printf(b, " * %lld", LL(c->dilation));
		}
	}
}

static void conv_sum(struct hn_buf *b, const struct hn_conv *c)
{
	hn_buf_puts(b, "\tC(n");
	indices(b, c, 'o');
	hn_buf_puts(b, c->capsule ? ", i, j, f) +=! P(n" : ", f) +=! P(n");
	windows(b, c);
	if (c->capsule) {
		hn_buf_puts(b, ", i, k, c) * w(");
	} else if (c->depthwise) {
		hn_buf_puts(b, ", f) * w(");
	} else if (c->groups > 1) {
		hn_buf_printf(b, ", f / %lld * %lld + c) * w(", LL(c->co / c->groups),
			      LL(c->ci / c->groups));
	} else {
		hn_buf_puts(b, ", c) * w(");
	}
	for (uint32_t d = 0; d < c->n_dim; d++) {
		if (c->transposed) {
			hn_buf_printf(b, "%lld - ", LL(c->kernel - 1));
		}
		hn_buf_printf(b, "r%u, ", d);
	}
	hn_buf_puts(b, c->capsule ? "k, j, c, f)" : c->depthwise ? "f)" : "c, f)");
	if (c->transposed || c->depthwise || c->dilation > 1 || c->stride > 1) {
		hn_buf_puts(b, " where ");
		for (uint32_t d = 0; d < c->n_dim; d++) {
			hn_buf_printf(b, "%so%u in 0:%lld, r%u in 0:%lld",
				      d > 0 ? ", " : "", d, LL(c->out[d]), d,
				      LL(c->kernel));
		}
	}
	hn_buf_puts(b, "\n");
}

/* Parameters of an epilogue over `n` channels, after what is there. */
static void epilogue_params(struct hn_buf *b, enum hn_epilogue e, int64_t n)
{
	if (e != PLAIN) {
		hn_buf_printf(b, ", bias[%lld]", LL(n));
	}
	if (e == BN_RELU) {
		hn_buf_printf(b, ", scale[%lld], offset[%lld]", LL(n), LL(n));
	}
}

/* Statements from C(at, f) to Y(at, f). */
static void epilogue(struct hn_buf *b, enum hn_epilogue e, const char *at)
{
	static const char *const form[] = {
		[BIAS] = "\tY(%s) = C(%s) + bias(f)\n",
		[BIAS_RELU] = "\tB(%s) = C(%s) + bias(f)\n\tY(%s) = max(B(%s), 0)\n",
		[BN_RELU] = "\tB(%s) = C(%s) + bias(f)\n\tS(%s) = B(%s) * scale(f)\n"
			    "\tO(%s) = S(%s) + offset(f)\n\tY(%s) = max(O(%s), 0)\n",
		[BIAS_ADD] = "\tB(%s) = C(%s) + bias(f)\n\tY(%s) = B(%s) + R(%s)\n",
		[BIAS_ADD_RELU] = "\tB(%s) = C(%s) + bias(f)\n\tA(%s) = B(%s) + R(%s)\n"
				  "\tY(%s) = max(A(%s), 0)\n",
		[BIAS_GELU] = "\tB(%s) = C(%s) + bias(f)\n"
			      "\tE(%s) = erf(B(%s) * 0.70710678)\n"
			      "\tY(%s) = B(%s) * (E(%s) * 0.5 + 0.5)\n",
	};

	for (const char *s = e != PLAIN ? form[e] : ""; *s != '\0'; s++) {
		if (s[0] == '%' && s[1] == 's') {
			hn_buf_puts(b, at);
			s++;
		} else {
			hn_buf_putc(b, *s);
		}
	}
}

static void shape(struct hn_buf *b, const struct hn_conv *c, const int64_t *extent,
		  int64_t channels)
{
	hn_buf_printf(b, "[%lld", LL(c->n));
	for (uint32_t d = 0; d < c->n_dim; d++) {
		hn_buf_printf(b, ",%lld", LL(extent[d]));
	}
	hn_buf_printf(b, "%s,%lld]", c->capsule ? ",4,4" : "", LL(channels));
}

static void conv_text(const struct hn_conv *c, struct hn_buf *b)
{
	static const char *const at[] = { "", "n, o0, f", "n, o0, o1, f",
					  "n, o0, o1, o2, f" };

	hn_buf_puts(b, "conv(float32 x");
	shape(b, c, c->in, c->ci);
	hn_buf_puts(b, ", const w[");
	for (uint32_t d = 0; d < c->n_dim; d++) {
		hn_buf_printf(b, "%lld,", LL(c->kernel));
	}
	if (!c->depthwise) {
		hn_buf_printf(b, "%s%lld,", c->capsule ? "4,4," : "",
			      LL(c->ci / c->groups));
	}
	hn_buf_printf(b, "%lld]", LL(c->co));
	epilogue_params(b, c->epilogue, c->co);
	if (c->epilogue == BIAS_ADD || c->epilogue == BIAS_ADD_RELU) {
		hn_buf_puts(b, ", R");
		shape(b, c, c->out, c->co);
	}
	hn_buf_printf(b, ") -> %s {\n", c->epilogue == PLAIN ? "C" : "Y");
	conv_pad(b, c);
	conv_sum(b, c);
	epilogue(b, c->epilogue, at[c->n_dim]);
	hn_buf_puts(b, "}\n");
}

static void matmul_text(const int64_t *p, struct hn_buf *b)
{
	if (p[0] > 0) {
		hn_buf_printf(b,
			      "gmm(float32 X[%lld,%lld,%lld], Y[%lld,%lld,%lld]) -> Z {\n"
			      "\tZ(b,i,j) +=! X(b,i,k) * Y(b,k,j)\n}\n",
			      LL(p[0]), LL(p[1]), LL(p[3]), LL(p[0]), LL(p[3]), LL(p[2]));
	} else {
		hn_buf_printf(b,
			      "matmul(float32 A[%lld,%lld], B[%lld,%lld]) -> C {\n"
			      "\tC(i,j) +=! A(i,k) * B(k,j)\n}\n",
			      LL(p[1]), LL(p[3]), LL(p[3]), LL(p[2]));
	}
}

static void dense_text(const int64_t *p, struct hn_buf *b)
{
	enum hn_epilogue e = (enum hn_epilogue)p[3];

	hn_buf_printf(b, "dense(float32 X[%lld,%lld], const W[%lld,%lld]", LL(p[0]),
		      LL(p[2]), LL(p[1]), LL(p[2]));
	epilogue_params(b, e, p[1]);
	if (e == BIAS_ADD || e == BIAS_ADD_RELU) {
		hn_buf_printf(b, ", R[%lld,%lld]", LL(p[0]), LL(p[1]));
	}
	hn_buf_printf(b, ") -> %s {\n\tC(i, f) +=! X(i, k) * W(f, k)\n",
		      e == PLAIN ? "C" : "Y");
	epilogue(b, e, "i, f");
	hn_buf_puts(b, "}\n");
}

static void attention_text(const struct hn_suite_row *row, struct hn_buf *b)
{
	const int64_t *p = row->p;

	if (row->class == HN_SUITE_tbg) {
		hn_buf_printf(
			b,
			"tbg(float32 query[%lld,%lld,%lld,%lld], "
			"value[%lld,%lld,%lld,%lld]) -> C {\n"
			"\tquery_T(b, h, s, d) = query(b, s, h, d)\n"
			"\tvalue_T(b, h, d, s) = value(b, s, h, d)\n"
			"\tC(b, h, i, j) +=! query_T(b, h, i, k) * value_T(b, h, k, j)\n"
			"}\n",
			LL(p[0]), LL(p[1]), LL(p[2]), LL(p[3]), LL(p[0]), LL(p[1]),
			LL(p[2]), LL(p[3]));
	} else if (row->class == HN_SUITE_scores) {
		hn_buf_printf(b,
			      "scores(float32 Q[%lld,%lld,%lld], K[%lld,%lld,%lld], "
			      "M[%lld,%lld]) -> Y {\n"
			      "\tC(b, i, j) +=! Q(b, i, k) * K(b, j, k)\n"
			      "\tS(b, i, j) = C(b, i, j) * 0.125\n"
			      "\tY(b, i, j) = S(b, i, j) + M(b, j)\n}\n",
			      LL(p[0]), LL(p[1]), LL(p[3]), LL(p[0]), LL(p[2]), LL(p[3]),
			      LL(p[0]), LL(p[2]));
	} else {
		hn_buf_printf(
			b,
			"values(float32 P[%lld,%lld,%lld], V[%lld,%lld,%lld]) -> Y {\n"
			"\tC(b, i, d) +=! P(b, i, k) * V(b, k, d)\n"
			"\tY(i, b, d) = C(b, i, d)\n}\n",
			LL(p[0]), LL(p[1]), LL(p[3]), LL(p[0]), LL(p[3]), LL(p[2]));
	}
}

static void rows_text(const struct hn_suite_row *row, struct hn_buf *b)
{
	const int64_t *p = row->p;

	if (row->class == HN_SUITE_softmax) {
		hn_buf_printf(b,
			      "softmax(float32 A[%lld,%lld]) -> Y {\n"
			      "\tM(i) max=! A(i, k)\n"
			      "\tE(i, j) = exp(A(i, j) - M(i))\n"
			      "\tS(i) +=! E(i, k)\n"
			      "\tY(i, j) = E(i, j) / S(i)\n}\n",
			      LL(p[0]), LL(p[1]));
	} else if (row->class == HN_SUITE_layernorm) {
		double part = 1.0 / (double)p[1];

		hn_buf_printf(
			b,
			"layernorm(float32 X[%lld,%lld], G[%lld], H[%lld]) -> Y {\n"
			"\tS(i) +=! X(i, k)\n"
			"\tD(i, j) = X(i, j) - S(i) * %.9g\n"
			"\tV(i) +=! D(i, k) * D(i, k)\n"
			"\tY(i, j) = D(i, j) * rsqrt(V(i) * %.9g + 1e-5) * G(j) + H(j)\n"
			"}\n",
			LL(p[0]), LL(p[1]), LL(p[1]), LL(p[1]), part, part);
	} else if (row->class == HN_SUITE_norm) {
		hn_buf_printf(b,
			      "norm(float32 A[%lld,%lld,%lld]) -> D {\n"
			      "\tC(b) +=! A(b, i, j) * A(b, i, j)\n"
			      "\tD(b) = sqrt(C(b))\n}\n",
			      LL(p[0]), LL(p[1]), LL(p[2]));
	} else {
		hn_buf_printf(b,
			      "addrelu(float32 A[%lld], B[%lld]) -> Y {\n"
			      "\tY(i) = max(A(i) + B(i), 0)\n}\n",
			      LL(p[0]), LL(p[0]));
	}
}

static void pool_text(const struct hn_suite_row *row, struct hn_buf *b)
{
	const int64_t *p = row->p;
	int64_t k = p[4], s = p[5], pad = p[6];

	if (row->class == HN_SUITE_avgpool) {
		hn_buf_printf(b,
			      "avgpool(float32 x[%lld,%lld,%lld,%lld]) -> Y {\n"
			      "\tS(n, c) +=! x(n, h, w, c)\n"
			      "\tY(n, c) = S(n, c) * %.9g\n}\n",
			      LL(p[0]), LL(p[1]), LL(p[2]), LL(p[3]),
			      1.0 / (double)(p[1] * p[2]));
		return;
	}
	hn_buf_printf(
		b,
		"maxpool(float32 x[%lld,%lld,%lld,%lld]) -> Y {\n"
		"\tP(n, h, w, c) = h >= %lld && h < %lld && w >= %lld && w < %lld ? "
		"x(n, h - %lld, w - %lld, c) : -3.402823466e38 "
		"where h in 0:%lld, w in 0:%lld\n"
		"\tY(n, h, w, c) max=! P(n, h * %lld + r, w * %lld + s, c) "
		"where h in 0:%lld, w in 0:%lld, r in 0:%lld, s in 0:%lld\n}\n",
		LL(p[0]), LL(p[1]), LL(p[2]), LL(p[3]), LL(pad), LL(p[1] + pad), LL(pad),
		LL(p[2] + pad), LL(pad), LL(pad), LL(p[1] + 2 * pad), LL(p[2] + 2 * pad),
		LL(s), LL(s), LL((p[1] + 2 * pad - k) / s + 1),
		LL((p[2] + 2 * pad - k) / s + 1), LL(k), LL(k));
}

void hn_suite_text(const struct hn_suite_row *row, struct hn_buf *buf)
{
	struct hn_conv c;

	if (row->type != HN_SUITE_F32) {
		hn_low_text(row, buf);
		return;
	}
	if (hn_suite_conv(row, &c)) {
		conv_text(&c, buf);
		return;
	}
	switch (row->class) {
	case HN_SUITE_matmul:
		matmul_text(row->p, buf);
		break;
	case HN_SUITE_dense:
		dense_text(row->p, buf);
		break;
	case HN_SUITE_tbg:
	case HN_SUITE_scores:
	case HN_SUITE_values:
		attention_text(row, buf);
		break;
	case HN_SUITE_maxpool:
	case HN_SUITE_avgpool:
		pool_text(row, buf);
		break;
	default:
		rows_text(row, buf);
	}
}
