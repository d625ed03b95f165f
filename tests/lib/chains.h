/* Chains of statements as models have them, small and odd: rows of a table of programs. */
#ifndef HN_TESTS_CHAINS_H
#define HN_TESTS_CHAINS_H

#define CHAINS \
	"attention(float32 Q[3,37,19], K[3,37,19], V[3,37,19]) -> O {" \
	" S(h,i,j) +=! Q(h,i,d) * K(h,j,d) M(h,i) max=! S(h,i,j)" \
	" E(h,i,j) = exp((S(h,i,j) - M(h,i)) * 0.25) Z(h,i) +=! E(h,i,j)" \
	" P(h,i,j) = E(h,i,j) / Z(h,i) O(h,i,d) +=! P(h,i,j) * V(h,j,d) }", \
	"norm_dense(float32 X[67,71], const W[71,33], b[33], g[71]) -> Y {" \
	" s(i) +=! X(i,k) q(i) +=! X(i,k) * X(i,k)" \
	" N(i,j) = (X(i,j) - s(i) / 71) / sqrt(q(i) / 71 + 0.5) * g(j)" \
	" T(i,j) +=! N(i,k) * W(k,j) Y(i,j) = max(T(i,j) + b(j), 0) }", \
	"conv_bn_relu(float32 X[1,13,13,19], const W[3,3,19,23], s[23], b[23]) -> Y {" \
	" P(n,h,w,c) = h >= 1 && h < 14 && w >= 1 && w < 14 ? X(n,h-1,w-1,c) : 0" \
	"   where h in 0:15, w in 0:15" \
	" C(n,h,w,f) +=! P(n,h+r,w+t,c) * W(r,t,c,f) where h in 0:13, w in 0:13" \
	" N(n,h,w,f) = C(n,h,w,f) * s(f) + b(f) Y(n,h,w,f) = max(N(n,h,w,f), 0) }"

#endif
