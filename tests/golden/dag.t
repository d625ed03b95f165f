# A computation in both notations, as `hone dag` shows it.
$ hone dag --text 'mm(float32 A[4,6], float32 B[6,5]) -> C { C(i,j) +=! A(i,k) * B(k,j) }'
mm
  key    f2187e25c399d1467a74960ccd5fd5d928875f133d28f9b39984e1ae493fd24c
  FLOPs  240
  bytes  296 in arguments, 0 between
  stage  A            placeholder float32[4,6]
  stage  B            placeholder float32[6,5]
  stage  C            compute     float32[4,5]

mm(float32 A[4,6], B[6,5]) -> C {
	C(i,j) +=! A(i, k) * B(k, j)
}

Placeholder: A, B
for i (0,4)
  for j (0,5)
    for k (0,6)
      C = ...
$ hone dag --json --text 'mm(float32 A[4,6], float32 B[6,5]) -> C { C(i,j) +=! A(i,k) * B(k,j) }'
{"name":"mm","key":"f2187e25c399d1467a74960ccd5fd5d928875f133d28f9b39984e1ae493fd24c","flops":240,"arg_bytes":296,"temp_bytes":0,"stages":[{"id":"A","name":"A","kind":"placeholder","dtype":"float32","shape":[4,6]},{"id":"B","name":"B","kind":"placeholder","dtype":"float32","shape":[6,5]},{"id":"C","name":"C","kind":"compute","dtype":"float32","shape":[4,5]}],"text":"mm(float32 A[4,6], B[6,5]) -> C {\u000a\u0009C(i,j) +=! A(i, k) * B(k, j)\u000a}\u000a","loops":"Placeholder: A, B\u000afor i (0,4)\u000a  for j (0,5)\u000a    for k (0,6)\u000a      C = ...\u000a"}
$ hone dag "$HONE_SOURCE"/examples/resnet50-conv.json
resnet50-conv
  key    6603c8365d6c62eb07eb4af50ca5720f33eafdfc64c70a1ed962d248fd410cf5
  FLOPs  231612416
  bytes  1394176 in arguments, 2066432 between
  stage  data         placeholder float32[1,28,28,128]
  stage  pad          compute     float32[1,30,30,128]
  stage  weight       placeholder float32[3,3,128,128]
  stage  conv2d       compute     float32[1,28,28,128]
  stage  bias         placeholder float32[128]
  stage  bias_add     compute     float32[1,28,28,128]
  stage  bn_scale     placeholder float32[128]
  stage  bn_mul       compute     float32[1,28,28,128]
  stage  bn_offset    placeholder float32[128]
  stage  bn_add       compute     float32[1,28,28,128]
  stage  relu         compute     float32[1,28,28,128]

resnet50_conv(float32 data[1,28,28,128], const weight[3,3,128,128], bias[128], bn_scale[128], bn_offset[128]) -> relu {
	pad(n,h,w,c) = h >= 1 && h < 29 && w >= 1 && w < 29 ? data(n, h - 1, w - 1, c) : 0.0  where h in 0:30, w in 0:30
	input weight
	conv2d(n,h,w,f) +=! pad(n, h + r, w + s, c) * weight(r, s, c, f)
	input bias
	bias_add(n,h,w,c) = conv2d(n, h, w, c) + bias(c)
	input bn_scale
	bn_mul(n,h,w,c) = bias_add(n, h, w, c) * bn_scale(c)
	input bn_offset
	bn_add(n,h,w,c) = bn_mul(n, h, w, c) + bn_offset(c)
	relu(n,h,w,c) = max(bn_add(n, h, w, c), 0.0)
}

Placeholder: data, weight, bias, bn_scale, bn_offset
for h (0,30)
  for w (0,30)
    for c (0,128)
      pad = ...
for h (0,28)
  for w (0,28)
    for f (0,128)
      for r (0,3)
        for s (0,3)
          for c (0,128)
            conv2d = ...
for h (0,28)
  for w (0,28)
    for c (0,128)
      bias_add = ...
for h (0,28)
  for w (0,28)
    for c (0,128)
      bn_mul = ...
for h (0,28)
  for w (0,28)
    for c (0,128)
      bn_add = ...
for h (0,28)
  for w (0,28)
    for c (0,128)
      relu = ...
# Names do not change the key; a constant, a type or the order of arguments does.
$ hone dag --json --text 'other(float32 X[4,6], float32 Y[6,5]) -> Z { Z(a,b) +=! X(a,c) * Y(c,b) }' | grep -o '"key":"[0-9a-f]*"'
"key":"f2187e25c399d1467a74960ccd5fd5d928875f133d28f9b39984e1ae493fd24c"
$ hone dag --json --text 'mm(float64 A[4,6], float64 B[6,5]) -> C { C(i,j) +=! A(i,k) * B(k,j) }' | grep -o '"key":"[0-9a-f]*"'
"key":"ac31adb34ceafde2b81c00acba96cd176002bd116b73be0fa711fc963f942bfb"
# Rank 0, a prime, a maximum.
$ hone dag --text 'm(float32 A[13]) -> M { M() max=! A(k) }'
m
  key    6e484ac4df88bdd9614f5a3aa54e7da4ed93579a93a473cf9893b22abd46a111
  FLOPs  13
  bytes  56 in arguments, 0 between
  stage  A            placeholder float32[13]
  stage  M            compute     float32[]

m(float32 A[13]) -> M {
	M max=! A(k)
}

Placeholder: A
for k (0,13)
  M = ...
# What it prints is read back: the same key; tables of what is known where a word is not.
$ for f in "$HONE_SOURCE"/examples/*.json; do hone dag "$f" --as text >p.txt; hone dag "$f" -j | grep -o '"key":"[0-9a-f]*"' >k1; hone dag p.txt -j | grep -o '"key":"[0-9a-f]*"' | diff k1 - && cat p.txt; done
depthwise(float32 data[1,112,112,32], const weight[3,3,32]) -> depthwise {
	pad(n,h,w,c) = h >= 1 && h < 113 && w >= 1 && w < 113 ? data(n, h - 1, w - 1, c) : 0.0  where h in 0:114, w in 0:114
	input weight
	depthwise(n,h,w,c) +=! pad(n, h + r, w + s, c) * weight(r, s, c)
}
resnet50_conv(float32 data[1,28,28,128], const weight[3,3,128,128], bias[128], bn_scale[128], bn_offset[128]) -> relu {
	pad(n,h,w,c) = h >= 1 && h < 29 && w >= 1 && w < 29 ? data(n, h - 1, w - 1, c) : 0.0  where h in 0:30, w in 0:30
	input weight
	conv2d(n,h,w,f) +=! pad(n, h + r, w + s, c) * weight(r, s, c, f)
	input bias
	bias_add(n,h,w,c) = conv2d(n, h, w, c) + bias(c)
	input bn_scale
	bn_mul(n,h,w,c) = bias_add(n, h, w, c) * bn_scale(c)
	input bn_offset
	bn_add(n,h,w,c) = bn_mul(n, h, w, c) + bn_offset(c)
	relu(n,h,w,c) = max(bn_add(n, h, w, c), 0.0)
}
softmax(float32 x[128,1000]) -> softmax {
	maximum(i) max=! x(i, k)
	exponential(i,j) = exp(x(i, j) - maximum(i))
	sum(i) +=! exponential(i, k)
	softmax(i,j) = exponential(i, j) / sum(i)
}
$ hone dag --as json --text 'am(float32 A[4,6]) -> V, I { V(i), I(i) argmax=! A(i,k), k }'
{"format":"compute-dag/1","ops":[{"kind":"placeholder","id":"A","name":"A","shape":[4,6],"dtype":"float32"},{"kind":"compute","id":"V_I","name":"V_I","tag":"","shape":[4],"dtype":["float32","int32"],"axes":[["i",0,4]],"reduce_axes":[["k",0,6]],"body":[{"reduce":{"lhs":["v","i"],"rhs":["w","j"],"result":[["select",["gt",["var","w"],["var","v"]],["var","w"],["var","v"]],["select",["gt",["var","w"],["var","v"]],["var","j"],["var","i"]]],"identity":[["float","-inf","float32"],["int",0,"int32"]]},"source":[["load","A",["var","i"],["var","k"]],["var","k"]],"condition":["int",1,"bool"],"init":[],"value_index":0},{"reduce":{"lhs":["v","i"],"rhs":["w","j"],"result":[["select",["gt",["var","w"],["var","v"]],["var","w"],["var","v"]],["select",["gt",["var","w"],["var","v"]],["var","j"],["var","i"]]],"identity":[["float","-inf","float32"],["int",0,"int32"]]},"source":[["load","A",["var","i"],["var","k"]],["var","k"]],"condition":["int",1,"bool"],"init":[],"value_index":1}],"attrs":{"outputs":["V","I"]}}],"inputs_outputs":["A","V_I.v0","V_I.v1"]}
$ hone dag --text 'am(float32 A[4,6]) -> V, I { V(i), I(i) argmx=! A(i,k), k }'
hone: --text:1:41: there is no reduction 'argmx=!' (did you mean argmax?); known reductions are max, min, argmax, argmin and reduce
[17]
$ hone dag --text 'am(flot32 A[4,6]) -> V { V(i,j) = sqr(A(i,j)) }'
hone: --text:1:4: unknown type 'flot32' (did you mean float32?); known types are bool, int8, int16, int32, int64, uint8, uint16, uint32, uint64, float32, float64, float16 and bfloat16
[17]
$ hone dag --text 'am(float32 A[4,6]) -> V { V(i,j) = sqr(A(i,j)) }'
hone: --text:1:36: there is no tensor or function 'sqr' up to here (did you mean sqrt?); known functions are exp, exp2, log, log2, log10, log1p, sqrt, rsqrt, sin, cos, tan, atan, sinh, cosh, tanh, erf, sigmoid, abs, fabs, floor, ceil, trunc, round, nearbyint, pow, fmod, min, max, div, truncmod, floordiv, floormod and select
[17]
$ hone dag --as tree --text 'am(float32 A[4,6]) -> V { V(i,j) = A(i,j) }'
hone: --as: "tree" is none of all, text, json
[17]
# Sizes that are parameters.
$ hone dag --text 'mm(N in [1, 64], float32 A[N,8], const B[8,2*N]) -> C { C(i,j) +=! A(i,k) * B(k,j) }' | head -10
mm
  key    87d38721da27b5190015a1f7d4fb2c112651e0b189716d91a478f667d8e52c75
  FLOPs  131072
  bytes  38912 in arguments, 0 between
  sizes  parameters; the figures are of the largest
  stage  A            placeholder float32[64,8]
  stage  B            placeholder float32[8,128]
  stage  C            compute     float32[64,128]

mm(N in [1, 64], float32 A[N,8], const B[8,N * 2]) -> C {
# A combiner that does not allow another order keeps its own.
$ echo '[["SP", 1, 1, 6, [2], 1], ["RF", 1, 2, 1]]' >rf; hone replay --record rf -o o --text 'am(float32 A[4,6]) -> V, I { V(i), I(i) argmax=! A(i,k), k }'
hone: rf: step 1: RF stage 1 (V_I) iter 2: V_I may not be reduced in parts: its combiner is not commutative: of equal values, the order decides
[17]
