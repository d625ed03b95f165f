# Ansor's records, replayed on a computation: one answer a record.
$ printf '%s\n' '# worked record' '{"i": [["[\"matmul\", 512, 512, 512]", "llvm -keys=cpu", [4, 64, 64, 0, 0, 0, 0, 0], "", 1, []], [[], [["CHW", 2, "local"], ["SP", 2, 0, 512, [4, 2, 8], 1], ["SP", 2, 4, 512, [2, 4, 16], 1], ["SP", 2, 8, 512, [8], 1], ["RE", 2, [0, 4, 1, 5, 8, 2, 6, 9, 3, 7]], ["FSP", 3, 0, 1, 2], ["FSP", 3, 3, 2, 2], ["RE", 3, [0, 3, 1, 4, 2, 5]], ["CA", 2, 3, 3], ["FU", 3, [0, 1, 2]], ["AN", 3, 0, 3], ["PR", 2, 0, "auto_unroll_max_step$64"], ["AN", 2, 9, 2]]]], "r": [[0.00123], 0, 0.52, 1700000000], "v": "v0.6"}' '{"i": [["k", "t"], [[], [["SP", 2, 0, 512, [4], 1], ["CA", 9, 3, 1]]]], "r": [[1], 0, 2, 3], "v": "v0.2"}' '' 'rubbish' '{"i": [["k", "t"], [[], []]], "r": [[1], 0, 2, 3], "v": "v0.2"}' > log
$ hone state $HONE_SOURCE/examples/matmul.txt --records log
line 2
Placeholder: A, B
parallel i.0@j.0@i.1@ (0,128)
  for j.1 (0,2)
    C.local auto_unroll: 64
    for k.0 (0,64)
      for i_c.2 (0,2)
        for j_c.2 (0,4)
          for k.1 (0,8)
            for i_c.3 (0,8)
              vectorize j_c.3 (0,16)
                C.local = ...
    for i.2 (0,16)
      for j.2 (0,64)
        C = ...
line 3: log:3: step 1: CA stage 9: there are 3 stages
line 5: log:5:1: record: `{` expected, not `r`
line 6
Placeholder: A, B
for i (0,512)
  for j (0,512)
    for k (0,512)
      C = ...
$ hone state $HONE_SOURCE/examples/matmul.txt --records log --as te
line 2
C_i, C_j, C_k = tuple(C.op.axis) + tuple(C.op.reduce_axis)
C_local, = s.cache_write([C], "local")
C_local_i_c, C_local_j_c, C_local_k = tuple(C_local.op.axis) + tuple(C_local.op.reduce_axis)
C_local_i_c_o_i, C_local_i_c_i = s[C_local].split(C_local_i_c, factor=8)
C_local_i_c_o_o_i, C_local_i_c_o_i = s[C_local].split(C_local_i_c_o_i, factor=2)
C_local_i_c_o_o_o, C_local_i_c_o_o_i = s[C_local].split(C_local_i_c_o_o_i, factor=4)
C_local_j_c_o_i, C_local_j_c_i = s[C_local].split(C_local_j_c, factor=16)
C_local_j_c_o_o_i, C_local_j_c_o_i = s[C_local].split(C_local_j_c_o_i, factor=4)
C_local_j_c_o_o_o, C_local_j_c_o_o_i = s[C_local].split(C_local_j_c_o_o_i, factor=2)
C_local_k_o, C_local_k_i = s[C_local].split(C_local_k, factor=8)
s[C_local].reorder(C_local_i_c_o_o_o, C_local_j_c_o_o_o, C_local_i_c_o_o_i, C_local_j_c_o_o_i, C_local_k_o, C_local_i_c_o_i, C_local_j_c_o_i, C_local_k_i, C_local_i_c_i, C_local_j_c_i)
C_i_o_i, C_i_i = s[C].split(C_i, factor=16)
C_i_o_o, C_i_o_i = s[C].split(C_i_o_i, factor=4)
C_j_o_i, C_j_i = s[C].split(C_j, factor=64)
C_j_o_o, C_j_o_i = s[C].split(C_j_o_i, factor=2)
s[C].reorder(C_i_o_o, C_j_o_o, C_i_o_i, C_j_o_i, C_i_i, C_j_i)
s[C_local].compute_at(s[C], C_j_o_i)
C_i_o_o_j_o_o_fused_i_o_i_fused = s[C].fuse(C_i_o_o, C_j_o_o, C_i_o_i)
s[C].parallel(C_i_o_o_j_o_o_fused_i_o_i_fused)
s[C_local].pragma(C_local_i_c_o_o_o, "auto_unroll_max_step", 64)
s[C_local].pragma(C_local_i_c_o_o_o, "unroll_explicit", True)
s[C_local].vectorize(C_local_j_c_i)
line 3: log:3: step 1: CA stage 9: there are 3 stages
line 5: log:5:1: record: `{` expected, not `r`
line 6
C_i, C_j, C_k = tuple(C.op.axis) + tuple(C.op.reduce_axis)
$ hone state $HONE_SOURCE/examples/matmul.txt --records log --as te --json
"C_i, C_j, C_k = tuple(C.op.axis) + tuple(C.op.reduce_axis)\u000aC_local, = s.cache_write([C], \"local\")\u000aC_local_i_c, C_local_j_c, C_local_k = tuple(C_local.op.axis) + tuple(C_local.op.reduce_axis)\u000aC_local_i_c_o_i, C_local_i_c_i = s[C_local].split(C_local_i_c, factor=8)\u000aC_local_i_c_o_o_i, C_local_i_c_o_i = s[C_local].split(C_local_i_c_o_i, factor=2)\u000aC_local_i_c_o_o_o, C_local_i_c_o_o_i = s[C_local].split(C_local_i_c_o_o_i, factor=4)\u000aC_local_j_c_o_i, C_local_j_c_i = s[C_local].split(C_local_j_c, factor=16)\u000aC_local_j_c_o_o_i, C_local_j_c_o_i = s[C_local].split(C_local_j_c_o_i, factor=4)\u000aC_local_j_c_o_o_o, C_local_j_c_o_o_i = s[C_local].split(C_local_j_c_o_o_i, factor=2)\u000aC_local_k_o, C_local_k_i = s[C_local].split(C_local_k, factor=8)\u000as[C_local].reorder(C_local_i_c_o_o_o, C_local_j_c_o_o_o, C_local_i_c_o_o_i, C_local_j_c_o_o_i, C_local_k_o, C_local_i_c_o_i, C_local_j_c_o_i, C_local_k_i, C_local_i_c_i, C_local_j_c_i)\u000aC_i_o_i, C_i_i = s[C].split(C_i, factor=16)\u000aC_i_o_o, C_i_o_i = s[C].split(C_i_o_i, factor=4)\u000aC_j_o_i, C_j_i = s[C].split(C_j, factor=64)\u000aC_j_o_o, C_j_o_i = s[C].split(C_j_o_i, factor=2)\u000as[C].reorder(C_i_o_o, C_j_o_o, C_i_o_i, C_j_o_i, C_i_i, C_j_i)\u000as[C_local].compute_at(s[C], C_j_o_i)\u000aC_i_o_o_j_o_o_fused_i_o_i_fused = s[C].fuse(C_i_o_o, C_j_o_o, C_i_o_i)\u000as[C].parallel(C_i_o_o_j_o_o_fused_i_o_i_fused)\u000as[C_local].pragma(C_local_i_c_o_o_o, \"auto_unroll_max_step\", 64)\u000as[C_local].pragma(C_local_i_c_o_o_o, \"unroll_explicit\", True)\u000as[C_local].vectorize(C_local_j_c_i)\u000a"
{"error":"log:3: step 1: CA stage 9: there are 3 stages"}
{"error":"log:5:1: record: `{` expected, not `r`"}
"C_i, C_j, C_k = tuple(C.op.axis) + tuple(C.op.reduce_axis)\u000a"
$ hone state $HONE_SOURCE/examples/matmul.txt --records log --as steps --json
"[[\"CHW\", 2, \"local\"], [\"SP\", 2, 0, 512, [4, 2, 8], 1], [\"SP\", 2, 4, 512, [2, 4, 16], 1], [\"SP\", 2, 8, 512, [8], 1], [\"RE\", 2, [0, 4, 1, 5, 8, 2, 6, 9, 3, 7]], [\"FSP\", 3, 0, 1, 2], [\"FSP\", 3, 3, 2, 2], [\"RE\", 3, [0, 3, 1, 4, 2, 5]], [\"CA\", 2, 3, 3], [\"FU\", 3, [0, 1, 2]], [\"AN\", 3, 0, 3], [\"PR\", 2, 0, \"auto_unroll_max_step$64\"], [\"AN\", 2, 9, 2]]"
{"error":"log:3: step 1: CA stage 9: there are 3 stages"}
{"error":"log:5:1: record: `{` expected, not `r`"}
"[]"
$ tail -1 log | hone state $HONE_SOURCE/examples/matmul.txt --records - --as tree
line 1
arg A [512, 512]
arg B [512, 512]
arg C [512, 512]
for i#0 (512)
  for j#1 (512)
    C[i#0, j#1] = 0
    for k#2 (512)
      C[i#0, j#1] += A[i#0, k#2] * B[k#2, j#1]
$ hone state $HONE_SOURCE/examples/matmul.txt --records log --as poem
hone: --as: "poem" is unknown; known: preview, te, steps, tree, features, corrected
[17]
$ hone state $HONE_SOURCE/examples/matmul.txt
hone: give --records LOG
[17]
$ hone state $HONE_SOURCE/examples/matmul.txt --records missing
hone: missing: cannot open: No such file or directory
[11]
$ hone state $HONE_SOURCE/examples/matmul.txt --records .
hone: .: a directory, not a file
[17]
# A remainder is bounded by the interval of its operand: eight rows of X are read here, and so all four columns are
# computed, although the rows are multiples of the divisor (as TVM v0.18 prints it).
$ printf '%s\n' '{"i": [["k", "t"], [[], [["CA", 2, 3, 2], ["CA", 1, 3, 1], ["FU", 3, [0, 1]]]]], "r": [[1], 0, 2, 3], "v": "v0.2"}' '{"i": [["k", "t"], [[], [["CA", 2, 3, 2], ["CA", 1, 3, 2]]]], "r": [[1], 0, 2, 3], "v": "v0.2"}' > log
$ hone state --text 'f(float32 A[6,4]) -> Z { X(i,j) = A(i,j) * 2; Y(a,b,c) = X(a, ((a*8+b)*4+c) % 4) where b in 0:8, c in 0:4; Z(a,c,b) = Y(a,b,c) }' --records log
line 1
Placeholder: A
for a@c@ (0,24)
  for j (0,4)
    X = ...
  for b (0,8)
    Y = ...
    Z = ...
line 2
Placeholder: A
for a (0,6)
  for c (0,4)
    for b (0,8)
      Y = ...
      X = ...
      Z = ...
# FFSP that follows no split: one part of length 1 (Ansor writes it for the copies of a reduction over threads).
$ echo '{"i": [["k", "t"], [[], [["SP", 1, 0, 12, [4], 1], ["FFSP", 1, 1, [], 1, 1], ["AN", 1, 2, 6]]]], "r": [[1], 0, 2, 3], "v": "v0.2"}' > log
$ hone state --text 'f(float32 A[12]) -> B { B(i) = A(i) * 2 }' --records log
line 1
Placeholder: A
for i.0 (0,3)
  for i.1.0 (0,4)
    B = ...
$ hone state --text 'f(float32 A[12]) -> B { B(i) = A(i) * 2 }' --records log --as te
line 1
B_i = tuple(B.op.axis) + tuple(B.op.reduce_axis)
B_i_o, B_i_i = s[B].split(B_i, factor=4)
B_i_i_o, B_i_i_i = s[B].split(B_i_i, factor=1)
s[B].bind(B_i_i_i, te.thread_axis("threadIdx.x"))
# What is read under a guard counts in full, also where it sticks out of the tensor on one side (as TVM v0.18 prints it);
# the loop nest has the guard.
$ echo '{"i": [["k", "t"], [[], []]], "r": [[1], 0, 2, 3], "v": "v0.2"}' > log
$ hone state --text 'f(float32 A[8,5], P[8,2]) -> Z { B(i,j) = A(i,j)*2; Z(i,k) = k >= 4 ? P(i,k-4) : B(i,k+1) where k in 0:6 }' --records log
line 1
Placeholder: A, P
for i (0,8)
  for j (1,6)
    B = ...
for i (0,8)
  for k (0,6)
    Z = ...
$ hone state --text 'f(float32 A[8,5], P[8,2]) -> Z { B(i,j) = A(i,j)*2; Z(i,k) = k >= 4 ? P(i,k-4) : B(i,k+1) where k in 0:6 }' --records log --as tree | head -8
line 1
arg A [8, 5]
arg P [8, 2]
shared B [8, 5]
arg Z [8, 6]
for i#0 (8)
  for j#1 (6)
    if j#1 < 4
# Each read is held against the tensor, not their union: halves that are read crosswise (as TVM v0.18 prints it).
$ hone state --text 'f(float32 A[8,4]) -> Z { B(i,j) = A(i,j)*2; Z(i,k) = k >= 2 ? B(i,k-2) : B(i,k+2) where k in 0:4 }' --records log | head -4
line 1
Placeholder: A
for i (0,8)
  for j (-2,8)
$ echo '{"i": [["k", "t"], [[], [["CA", 1, 2, 1]]]], "r": [[1], 0, 2, 3], "v": "v0.2"}' > log
$ hone state --text 'f(float32 A[8,4]) -> Z { B(i,j) = A(i,j)*2; Z(i,k) = k >= 2 ? B(i,k-2) : B(i,k+2) where k in 0:4 }' --records log | grep -c ',5)$'
1
