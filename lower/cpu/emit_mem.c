/* lower/cpu/emit_mem.c -- loads and stores, each by the cheapest instruction its offsets
 * allow.
 *
 * The offset of a tensor element is a linear form in each lane.  Lanes with the same
 * terms and constants that stand still, or count up by one, make a scalar load or a
 * vector load; others go one by one.  An access under a condition that is the same for
 * all lanes is made at an address chosen by the condition (the sink when it does not
 * hold), so no branch is needed.
 */
#include "lower/cpu/emit_int.h"

#include <string.h>

#include "loopstate/nest/layout.h"

/* Which copy of a ring. */
static void add_turn(struct emit *e, const struct hn_buffer *b, uint32_t k, struct hn_linear *ret)
{
	const struct hn_expr *const *axis = e->axis;
	struct hn_linear y;

	if (b->ring > 1) {
		e->axis = NULL;
		hn_emit_lin_lane(e, b->turn, k, &y);
		e->axis = axis;
		hn_linear_add(&e->lin, ret, &y, hn_layout_size(b));
	}
}

/* The same where the buffer's chunks change places: it is the kernel's own, so that its strides are
 * numbers. */
static void swizzled(struct emit *e, const struct hn_buffer *b,
		     const struct hn_expr *const *index, uint32_t k, struct hn_linear *ret)
{
	const struct hn_expr *const *axis = e->axis;
	struct hn_linear x[HN_DAG_MAX_RANK], min;

	for (uint32_t d = 0; d < b->n_dim; d++) {
		x[d] = (struct hn_linear){ 0 };
		if (index[d]) {
			hn_emit_lin_lane(e, index[d], k, &x[d]);
		}
		e->axis = NULL;
		hn_emit_lin_lane(e, b->min[d], k, &min);
		e->axis = axis;
		hn_linear_add(&e->lin, &x[d], &min, -1);
	}
	hn_layout_linear(&e->lin, b, x, ret);
}

void hn_emit_offset(struct emit *e, int32_t op, const struct hn_expr *const *index,
		    uint32_t k, struct hn_linear *ret)
{
	const struct hn_buffer *b = &e->t->buffer[op];
	const struct hn_expr *const *axis = e->axis;
	struct hn_linear y;

	ret->n = 0;
	ret->c = 0;
	if (b->swizzle.bits > 0) {
		swizzled(e, b, index, k, ret);
		add_turn(e, b, k, ret);
		return;
	}
	for (uint32_t d = 0; d < b->n_dim; d++) {
		if (index[d]) {
			hn_emit_lin_lane(e, index[d], k, &y);
			hn_emit_add_index(e, op, d, &y, 1, ret);
		}
		e->axis = NULL;
		hn_emit_lin_lane(e, b->min[d], k, &y);
		e->axis = axis;
		hn_emit_add_index(e, op, d, &y, -1, ret);
	}
	add_turn(e, b, k, ret);
}

static bool address_varies(const struct emit *e, int32_t op,
			   const struct hn_expr *const *index)
{
	for (uint32_t d = 0; d < e->t->buffer[op].n_dim; d++) {
		if (index[d] && hn_emit_lane_varies(e, index[d])) {
			return true;
		}
	}
	return false;
}

static void find_address(struct emit *e, int32_t op, int32_t out,
			 const struct hn_expr *const *index, struct emit_address *ret)
{
	enum hn_dtype t = e->t->dag->op[op]->dtype[out];
	bool still = true, counting = true;

	ret->dtype = t;
	ret->type = hn_emit_memory_type(e, t);
	ret->unit = hn_dtype_bytes(t);
	ret->buffer = &e->buffer[op];
	ret->pattern = EMIT_UNIFORM;
	hn_emit_offset(e, op, index, 0, &ret->lane[0]);
	ret->base = ret->buffer->base ? ret->buffer->base[out] : NULL;
	if (!ret->base) {
		hn_emit_refuse(e, HONE_E_INTERNAL, "%s is used where it has no buffer",
			       e->t->dag->op[op]->id);
		ret->base = LLVMGetPoison(e->ptr);
	}
	if (e->lane >= 0 || !address_varies(e, op, index)) {
		return;
	}
	for (uint32_t k = 1; k < e->n_active; k++) {
		hn_emit_offset(e, op, index, k, &ret->lane[k]);
		bool same = hn_linear_same_terms(&ret->lane[0], &ret->lane[k]);
		int64_t delta = ret->lane[k].c - ret->lane[0].c;

		still = still && same && delta == 0;
		counting = counting && same && delta == k;
	}
	ret->pattern = still ? EMIT_UNIFORM : counting ? EMIT_CONTIGUOUS : EMIT_SCATTERED;
}

LLVMValueRef hn_emit_pointer(struct emit *e, const struct emit_address *x, uint32_t k,
			     int64_t more, bool inbounds)
{
	struct hn_linear at = x->lane[k];

	at.c += more;
	return hn_emit_lin_address(e, x->base, x->buffer->depth, &at, x->unit, inbounds);
}

static LLVMValueRef pointer(struct emit *e, const struct emit_address *x, uint32_t k,
			    bool inbounds)
{
	return hn_emit_pointer(e, x, k, 0, inbounds);
}

static LLVMValueRef sink(struct emit *e)
{
	if (!e->fn->sink) {
		e->fn->sink = hn_emit_alloca(e, 64 * 8, 64);
	}
	return e->fn->sink;
}

LLVMValueRef hn_emit_guarded(struct emit *e, LLVMValueRef p, LLVMValueRef cond)
{
	return cond ? LLVMBuildSelect(e->b, cond, p, sink(e), "") : p;
}

LLVMValueRef hn_emit_mask_of_lane(struct emit *e, uint32_t k)
{
	if (!e->mask.v || !e->mask.vec) {
		return e->mask.v;
	}
	return LLVMBuildExtractElement(e->b, e->mask.v, LLVMConstInt(e->i32, k, 0), "");
}

/* Whether any lane that counts wants the value. */
static LLVMValueRef mask_any(struct emit *e)
{
	if (!e->mask.v || !e->mask.vec) {
		return e->mask.v;
	}
	if (e->lane >= 0) {
		return hn_emit_mask_of_lane(e, (uint32_t)e->lane);
	}
	LLVMValueRef m = e->mask.v;

	if (e->n_active < e->n_lane) {
		m = LLVMBuildAnd(e->b, m, hn_emit_lane_mask(e), "");
	}
	LLVMTypeRef bits = LLVMIntTypeInContext(e->ctx, e->n_lane);

	m = LLVMBuildBitCast(e->b, m, bits, "");
	return LLVMBuildICmp(e->b, LLVMIntNE, m, LLVMConstNull(bits), "");
}

/* The lanes a vector access may touch, as a vector; NULL = all. */
static LLVMValueRef vector_mask(struct emit *e)
{
	LLVMValueRef m = e->mask.vec ? e->mask.v : NULL;

	if (e->n_active < e->n_lane) {
		LLVMValueRef live = hn_emit_lane_mask(e);

		m = m ? LLVMBuildAnd(e->b, m, live, "") : live;
	}
	return m;
}

static void set_align(struct emit *e, LLVMValueRef call, uint32_t i, uint64_t bytes)
{
	unsigned kind = LLVMGetEnumAttributeKindForName("align", 5);

	LLVMAddCallSiteAttribute(call, i, LLVMCreateEnumAttribute(e->ctx, kind, bytes));
}

static LLVMValueRef masked_call(struct emit *e, const char *name, LLVMTypeRef vec,
				LLVMValueRef *arg, uint32_t ptr_at, uint64_t align)
{
	unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
	LLVMTypeRef over[2] = { vec, e->ptr };
	LLVMValueRef fn = LLVMGetIntrinsicDeclaration(e->mod, id, over, 2);
	LLVMValueRef call =
		LLVMBuildCall2(e->b, LLVMGlobalGetValueType(fn), fn, arg, 3, "");

	set_align(e, call, ptr_at + 1, align);
	return call;
}

static LLVMValueRef load_element(struct emit *e, const struct emit_address *x, uint32_t k,
				 LLVMValueRef cond)
{
	LLVMValueRef p = hn_emit_guarded(e, pointer(e, x, k, !cond), cond);
	LLVMValueRef v = LLVMBuildLoad2(e->b, x->type, p, "");

	LLVMSetAlignment(v, (unsigned)x->unit);
	return v;
}

static bool is_float(LLVMTypeRef t)
{
	return LLVMGetTypeKind(t) == LLVMFloatTypeKind ||
	       LLVMGetTypeKind(t) == LLVMDoubleTypeKind;
}

/* v, which no instruction may take as its memory operand.  LLVM 22 makes a masked load the
 * operand of a masked multiply-add, and, where that has to be taken apart again, a load
 * without a mask: it reads what must not be read. */
static LLVMValueRef fenced(struct emit *e, LLVMValueRef v)
{
	return hn_emit_intrinsic(e, "llvm.arithmetic.fence", &v, 1, LLVMTypeOf(v));
}

LLVMValueRef hn_emit_load_row(struct emit *e, const struct emit_address *x,
			      LLVMValueRef p, uint32_t n, LLVMValueRef mask)
{
	LLVMTypeRef vec = LLVMVectorType(x->type, n);

	if (mask) {
		LLVMValueRef arg[3] = { p, mask, LLVMConstNull(vec) };
		LLVMValueRef v = masked_call(e, "llvm.masked.load", vec, arg, 0,
					     (uint64_t)x->unit);

		return is_float(x->type) ? fenced(e, v) : v;
	}
	LLVMValueRef v = LLVMBuildLoad2(e->b, vec, p, "");

	LLVMSetAlignment(v, (unsigned)x->unit);
	return v;
}

static LLVMValueRef load_vector(struct emit *e, const struct emit_address *x)
{
	LLVMValueRef m = vector_mask(e);
	LLVMValueRef cond = e->mask.vec ? NULL : e->mask.v;
	LLVMValueRef p = hn_emit_guarded(e, pointer(e, x, 0, !e->mask.v && !m), cond);

	return hn_emit_load_row(e, x, p, e->n_lane, m);
}

static LLVMValueRef load_lanes(struct emit *e, const struct emit_address *x)
{
	LLVMValueRef v = LLVMGetPoison(LLVMVectorType(x->type, e->n_lane));

	for (uint32_t k = 0; k < e->n_active; k++) {
		LLVMValueRef one = load_element(e, x, k, hn_emit_mask_of_lane(e, k));

		v = LLVMBuildInsertElement(e->b, v, one, LLVMConstInt(e->i32, k, 0), "");
	}
	return v;
}

static struct emit_val load_address(struct emit *e, const struct hn_expr *load,
				    const struct emit_address *x)
{
	struct emit_val r = { .vec = x->pattern != EMIT_UNIFORM };

	switch (x->pattern) {
	case EMIT_UNIFORM:
		r.v = load_element(e, x, 0, mask_any(e));
		break;
	case EMIT_CONTIGUOUS:
		r.v = load_vector(e, x);
		break;
	default:
		r = hn_emit_load_strided(e, load, x);
		r.v = r.v ? r.v : load_lanes(e, x);
	}
	r.v = hn_emit_from_memory(e, x->dtype, r.v);
	return r;
}

LLVMValueRef hn_emit_element(struct emit *e, int32_t op, int32_t out,
			     const struct hn_expr *const *index)
{
	struct emit_address x;

	find_address(e, op, out, index, &x);
	return pointer(e, &x, 0, /* inbounds= */ true);
}

struct emit_val hn_emit_load(struct emit *e, const struct hn_expr *load)
{
	struct emit_address x;

	find_address(e, load->ref, load->out, load->arg, &x);

	struct emit_val mask = hn_emit_spare_mask(e, load->ref, load->arg);
	struct emit_val r = load_address(e, load, &x);

	e->mask = mask;
	return r;
}

struct emit_val hn_emit_load_group(struct emit *e, const struct hn_expr *load, int64_t n)
{
	struct emit_address x;
	struct emit_val r;

	find_address(e, load->ref, load->out, load->arg, &x);
	x.type = LLVMIntTypeInContext(e->ctx, (unsigned)(8 * n * x.unit));
	r.vec = x.pattern != EMIT_UNIFORM;
	if (!r.vec) {
		r.v = load_element(e, &x, 0, mask_any(e));
		return r;
	}
	bool rows = true;

	for (uint32_t k = 1; k < e->n_active; k++) {
		rows = rows && hn_linear_same_terms(&x.lane[0], &x.lane[k]) &&
		       x.lane[k].c - x.lane[0].c == n * k;
	}
	r.v = rows ? load_vector(e, &x) : load_lanes(e, &x);
	return r;
}

struct emit_val hn_emit_load_at(struct emit *e, int32_t op, int32_t out,
				const struct hn_expr *const *index)
{
	const struct hn_expr *const *axis = e->axis;
	struct emit_address x;

	e->axis = NULL;
	find_address(e, op, out, index, &x);

	struct emit_val mask = hn_emit_spare_mask(e, op, index);

	e->axis = axis;
	struct emit_val r = load_address(e, NULL, &x);

	e->mask = mask;
	return r;
}

static void store_element(struct emit *e, const struct emit_address *x, uint32_t k,
			  LLVMValueRef v, LLVMValueRef cond)
{
	LLVMValueRef p = hn_emit_guarded(e, pointer(e, x, k, !cond), cond);

	LLVMSetAlignment(LLVMBuildStore(e->b, v, p), (unsigned)x->unit);
}

static void store_vector(struct emit *e, const struct emit_address *x, LLVMValueRef v)
{
	LLVMValueRef m = vector_mask(e);
	LLVMValueRef cond = e->mask.vec ? NULL : e->mask.v;
	LLVMValueRef p = hn_emit_guarded(e, pointer(e, x, 0, !e->mask.v && !m), cond);

	if (m) {
		LLVMValueRef arg[3] = { v, p, m };

		masked_call(e, "llvm.masked.store", LLVMTypeOf(v), arg, 1,
			    (uint64_t)x->unit);
		return;
	}
	if (!cond && hn_emit_store_later(e, x, p, v)) {
		return;
	}
	LLVMSetAlignment(LLVMBuildStore(e->b, v, p), (unsigned)x->unit);
}

void hn_emit_store_at(struct emit *e, int32_t op, int32_t out,
		      const struct hn_expr *const *index, struct emit_val v)
{
	const struct hn_expr *const *axis = e->axis;
	struct emit_address x;

	e->axis = NULL;
	find_address(e, op, out, index, &x);

	struct emit_val mask = hn_emit_spare_mask(e, op, index);

	e->axis = axis;
	if (x.pattern != EMIT_UNIFORM) {
		v.v = hn_emit_splat(e, v);
		v.vec = true;
	}
	v.v = hn_emit_to_memory(e, x.dtype, v.v);
	if (x.pattern == EMIT_CONTIGUOUS) {
		store_vector(e, &x, v.v);
		e->mask = mask;
		return;
	}
	for (uint32_t k = 0; k < (x.pattern == EMIT_UNIFORM ? 1 : e->n_active); k++) {
		LLVMValueRef one = v.v;

		if (v.vec) {
			one = LLVMBuildExtractElement(e->b, v.v,
						      LLVMConstInt(e->i32, k, 0), "");
		}
		store_element(e, &x, k, one,
			      x.pattern == EMIT_UNIFORM ? mask_any(e)
							: hn_emit_mask_of_lane(e, k));
	}
	e->mask = mask;
}
