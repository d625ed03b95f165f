# The automatic schedule: nothing is measured, no daemon, no store; but proved. What a line
# leaves out is the host's, so these name all that a machine can say of itself.
$ echo 'cpu -isa=x86-64-avx2 -mattr= -num_cores=2 -cache_line_bytes=64 -fma_per_cycle=2 -fma_latency=4 -l1_bytes=32768 -l2_bytes=524288 -l3_bytes=4194304' > avx2
$ echo 'cpu -isa=x86-64-avx512 -mattr= -num_cores=2 -cache_line_bytes=64 -fma_per_cycle=2 -fma_latency=4 -l1_bytes=49152 -l2_bytes=1048576 -l3_bytes=4194304' > avx512
$ echo 'mm(float32 A[24,20], float32 B[20,64]) -> C { C(i,j) +=! A(i,k) * B(k,j) }' > mm.txt
$ hone tune mm.txt --trials 0 --unchecked --target "$(cat avx2)" | sed 's/in [0-9]* ms/in X ms/; s/predicted [0-9.]*/predicted X/'
mm  (workload ea1886a79f3ef511)
  automatic schedule, proved, not measured
  choice  1 of 7, answered in X ms
  kernel  not run: --unchecked
  predicted X us by the analytic model
  target  cpu -isa=x86-64-avx2 -mattr= -num_cores=2 -vector_unit_bytes=32 -cache_line_bytes=64 -max_shared_memory_per_block=0 -max_local_memory_per_block=0 -max_threads_per_block=0 -max_vthread_extent=0 -warp_size=0 -vector_registers=16 -fma_per_cycle=2 -fma_latency=4 -l1_bytes=32768 -l2_bytes=524288 -l3_bytes=4194304
  steps   [["SP", 2, 0, 24, [6], 1], ["SP", 2, 2, 64, [16], 1], ["RE", 2, [0, 2, 4, 1, 3]], ["AN", 2, 4, 2]]
$ hone tune mm.txt --trials 0 --unchecked --json --target "$(cat avx2)" | sed 's/"hone":"[^"]*","isl":"[^"]*",//; s/"schedule":.*//; s/_ns":[0-9.]*/_ns":X/; s/"ms":[0-9.]*/"ms":X/'
{"state":"done","key":"ea1886a79f3ef51100a6b5bfd12bc536d9b9debcbf23cc75039ed021dd30d09c","name":"mm","target":"cpu -isa=x86-64-avx2 -mattr= -num_cores=2 -vector_unit_bytes=32 -cache_line_bytes=64 -max_shared_memory_per_block=0 -max_local_memory_per_block=0 -max_threads_per_block=0 -max_vthread_extent=0 -warp_size=0 -vector_registers=16 -fma_per_cycle=2 -fma_latency=4 -l1_bytes=32768 -l2_bytes=524288 -l3_bytes=4194304","cache":"warm","trials":0,"median_ns":Xnull,"choice":1,"choices":7,"predicted_ns":1244,"model":"analytic","ms":X,"check":{"inputs":0,"why":"--unchecked","cases":[]},"record":null,"steps":[["SP", 2, 0, 24, [6], 1], ["SP", 2, 2, 64, [16], 1], ["RE", 2, [0, 2, 4, 1, 3]], ["AN", 2, 4, 2]],"certificate":{"format":"hone-certificate/1","checks":["bounds","coverage","order","sequence","concurrency","equality"],"statements":["S0 init C","S1 update C"],
# In words; a chain of two products and what lies between them.
$ hone explain --auto --target "$(cat avx512)" --text 'mlp(float32 X[128,96], const V[96,64], const W[64,80]) -> Y { T(i,j) +=! X(i,k) * V(k,j) G(i,j) = max(T(i,j), 0) Y(i,j) +=! G(i,k) * W(k,j) }'
mlp: the automatic schedule, not measured
  predicted now     20.68 us  by the analytic model
  with warm caches  14.15 us  as runs are timed

    0  copy V into blocks of 96 x 32 for all its readers
    1  copy W into blocks of 64 x 48 for all its readers
    2  split loop i of T into 2 loops, the rest x 8
    3  split loop j of T into 2 loops, the rest x 32
    4  order the loops of T as j.0, i.0, k, i.1, j.1
    5  mark loop j.1 of T: vectorize
    6  split loop i of Y into 3 loops, the rest x 2 x 8
    7  split loop j of Y into 2 loops, the rest x 48
    8  order the loops of Y as i.0, j.0, i.1, k, i.2, j.1
    9  mark loop j.1 of Y: vectorize
   10  mark loop i.0 of Y: parallel
   11  compute G inside loop i.0 of Y
   12  compute T inside loop i.0 of Y
   13  order the loops of W.pack as ax0, ax1, ax2, ax3
   14  mark loop ax3 of W.pack: vectorize
   15  order the loops of V.pack as ax0, ax1, ax2, ax3
   16  mark loop ax3 of V.pack: vectorize

Placeholder: X, V, W
for ax1 (0,2)
  for ax2 (0,96)
    vectorize ax3 (0,32)
      V.pack = ...
for ax1 (0,2)
  for ax2 (0,64)
    vectorize ax3 (0,48)
      W.pack = ...
parallel i.0 (0,8)
  for i (i.0 * 16,16)
    for j (0,64)
      G = ...
  for j.0 (0,2)
    for i.0 (0,2)
      for k (0,96)
        for i.1 (0,8)
          vectorize j.1 (0,32)
            T = ...
  for j.0 (0,2)
    for i.1 (0,2)
      for k (0,64)
        for i.2 (0,8)
          vectorize j.1 (0,48)
            Y = ...

where the analytic model's cycles go: a statement takes its largest part, a fifth of the others, and `parallel`
  statement                   cycles of all   compute  L2 to L1  L3 to L2    memory  parallel
  T init                   1.085e+04   18 %       448       128     341.3      1024      9640
  T update                 1.617e+04   26 % 1.318e+04      1280      3413 1.024e+04         0
  G                             1766    3 %       448       192       512      1536         0
  Y init                   1.135e+04   19 %       840      1280      3413 1.024e+04         0
  Y update                 2.091e+04   34 % 1.688e+04      1728      4608 1.382e+04         0
# Loops in common where nests would be apart: statistics of columns and what uses them.
$ hone explain --auto --target "$(cat avx512)" --text 'norm(float32 X[3136,256]) -> Y { s(c) +=! X(n,c) q(c) +=! X(n,c) * X(n,c) Y(n,c) = (X(n,c) - s(c) / 3136) / sqrt(q(c) / 3136 + 0.01) }' | sed '/^  predicted/d; /^where/,$d'
norm: the automatic schedule, not measured
  with warm caches  657.7 us  as runs are timed

    0  split loop c of Y into 2 loops, the rest x 64
    1  order the loops of Y as c.0, n, c.1
    2  mark loop c.0 of Y: parallel
    3  mark loop c.1 of Y: vectorize
    4  compute q inside loop c.0 of Y
    5  compute s inside loop c.0 of Y

Placeholder: X
parallel c.0 (0,4)
  for c (c.0 * 64,64)
    for n (0,3136)
      q = ...
  for c (c.0 * 64,64)
    for n (0,3136)
      s = ...
  for n (0,3136)
    vectorize c.1 (0,64)
      Y = ...

# What comes out is what replay takes, and replay can ask for it itself.
$ hone tune mm.txt --trials 0 --json | sed 's/.*"steps"://; s/,"certificate".*//' > steps && hone replay mm.txt --record steps -o one > log && hone replay mm.txt --auto -o two >> log && cmp one/mm.o two/mm.o
# Many at once, each with its own time; a chain that isl would take long to prove says so.
$ hone tune mm.txt mm.txt --trials 0 | grep -c 'answered in'
2
$ (printf 'f(float32 Y0[8,8]'; for i in $(seq 64); do printf ', W%d[8,8]' $i; done; printf ') -> Y64 {'; for i in $(seq 64); do printf ' Y%d(i,j) +=! Y%d(i,k) * W%d(k,j)' $i $((i-1)) $i; done; echo '}') > chain.txt
$ hone tune chain.txt --trials 0 | sed -n 2p
  automatic schedule, legal by the quick check (the proof takes longer), not measured
# For a GPU, which this machine may lack.
$ hone tune mm.txt --trials 0 --target "cuda -isa=sm_70" | sed -n 2p
  automatic schedule, proved, not measured
$ hone explain --auto --key 00
hone: explain: --auto needs the computation, not its key
[17]
# No seconds are as no trials.
$ hone tune mm.txt --seconds 0 --target 'cpu -isa=x86-64-avx2 -num_cores=2' | sed -n 2p
  automatic schedule, proved, not measured
