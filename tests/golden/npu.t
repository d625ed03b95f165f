# The simulated NPU: a computation, a program, and what is wrong with programs.
$ hone npu -e 'r(float32 X[16,8], float32 B[8]) -> Y { Y(i,j) = max(X(i,j) + B(j), 0.0) }' --profile tiny
r on tiny: 3719 cycles, 3.72 us (simulated by a model, docs/npu.md)
  slowest core 1: 219 cycles
  V     busy        22   10.0 %
  M     busy         0    0.0 %
  MTE1  busy         0    0.0 %
  MTE2  busy       176   80.4 %
  MTE3  busy        16    7.3 %
  global memory: 576 bytes read, 512 written
  no race, in any order of the pipes; 24 instructions
  cores         2  of         2
  ub          800  of     65536 bytes    1.2 %
  l1            0  of    131072 bytes    0.0 %
  l0a           0  of     16384 bytes    0.0 %
  l0b           0  of     16384 bytes    0.0 %
  l0c           0  of     32768 bytes    0.0 %
$ hone npu -e 'r(float32 X[16,8], float32 B[8]) -> Y { Y(i,j) = max(X(i,j) + B(j), 0.0) }' --profile tiny --as text
hnpu/1
gm a0 float32[128]
gm a1 float32[8]
gm a2 float32[128]
cores 0 2 {
  core r0
  mul r3 r0 256
  load ub[0] a0[r3] burst 256
  load ub[256] a1[0] burst 32
  set MTE2 V 0
  wait MTE2 V 0
  vadd.f32 ub[288] ub[0] ub[256] b1 0 sd 8 s0 8 s1 0
  barrier V
  vmaxs.f32 ub[544] ub[288] 0
  set V MTE3 0
  wait V MTE3 0
  store a2[r3] ub[544] burst 256
}
$ hone npu -e 'r(float32 X[16,8]) -> Y { Y(i,j) = X(i,j) * 2.0 }' --profile tiny --order barriers --slots 1 --as text > p.hnpu; cat p.hnpu
hnpu/1
gm a0 float32[128]
gm a1 float32[128]
cores 0 1 {
  core r0
  load ub[0] a0[0] burst 512
  barrier all
  vmuls.f32 ub[512] ub[0] 2 rep 2
  barrier all
  store a1[0] ub[512] burst 512
  barrier all
}
$ hone npu p.hnpu --profile tiny -j
{"name":"p.hnpu","profile":"tiny","cycles":3679,"core_cycles":179,"us":3.679,"by_memory":false,"read_bytes":512,"written_bytes":512,"instructions":7,"pipes":[{"name":"V","busy":4},{"name":"M","busy":0},{"name":"MTE1","busy":0},{"name":"MTE2","busy":138},{"name":"MTE3","busy":16}],"cores":1,"of_cores":2,"memories":[{"name":"ub","bytes":1024,"of_bytes":65536},{"name":"l1","bytes":0,"of_bytes":131072},{"name":"l0a","bytes":0,"of_bytes":16384},{"name":"l0b","bytes":0,"of_bytes":16384},{"name":"l0c","bytes":0,"of_bytes":32768}]}
$ hone npu p.hnpu --as picture | sed 's/<title>.*//' | head -4
<svg xmlns="http://www.w3.org/2000/svg" width="1260" height="246" font-family="sans-serif" font-size="12">
<rect width="100%" height="100%" fill="#fff"/>
<text x="8" y="20">p.hnpu: core 0, 179 cycles, 3 instructions</text>
<path d="M70.0 40V216" stroke="#ddd"/><text x="70.0" y="232" text-anchor="middle" fill="#555">0</text>
$ sed 's/barrier all//' p.hnpu > race.hnpu; hone npu race.hnpu --profile tiny
hone: race.hnpu:8: race: reads block 0 of ub, which MTE2 writes, and nothing orders the two (core 0)
[17]
$ printf '# late\nhnpu/1\ncores 0 1 {\nwait V M 0\n}\n' > wait.hnpu; hone npu wait.hnpu
hone: wait.hnpu:4: deadlock: M waits for flag V M 0 for ever (core 0)
[17]
$ printf 'hnpu/1\ncores 0 1 {\nvad.f32\n}\n' > typo.hnpu; hone npu typo.hnpu
hone: typo.hnpu:3: there is no instruction 'vad'; did you mean vadd
[17]
$ hone npu p.hnpu --slots 1
hone: npu: --slots is of computations and networks, and p.hnpu is a program
[17]
$ hone npu p.hnpu --order barriers
hone: npu: --order is of computations and networks, and p.hnpu is a program
[17]
$ hone npu p.hnpu --dtype bfloat16
hone: npu: --dtype is of networks, and p.hnpu is a program
[17]
$ hone npu p.hnpu -e 'r(float32 X[16]) -> Y { Y(i) = X(i) * 2.0 }'
hone: npu: --text is a computation, instead of a FILE, and p.hnpu is a program
[17]
$ hone npu -e 'r(float32 X[16]) -> Y { Y(i) = X(i) * 2.0 }' --dtype bfloat16
hone: npu: --dtype is of networks, and --text is a computation
[17]
$ hone npu -e 'r(float32 X[16]) -> Y { Y(i) = X(i) * 2.0 }' --dim M=3
hone: --dim M=3: r has no size of that name
[17]
$ hone npu -e 'r(float32 X[16]) -> Y { Y(i) = X(i) * 2.0 }' --slots 0
hone: npu: --slots: 1 to 4
[17]
$ hone npu -e 'r(float32 X[16]) -> Y { Y(i) = X(i) * 2.0 }' --slots 5
hone: npu: --slots: 1 to 4
[17]
$ hone npu -e 'r(float32 X[16]) -> Y { Y(i) = X(i) * 2.0 }' --order tuned --slots 2
hone: npu: --order tuned finds the slots: leave out --slots
[17]
$ hone npu -e 'r(float32 X[16]) -> Y { Y(i) = X(i) * 2.0 }' --as text --json
hone: npu: --as text is no JSON: leave out --json
[17]
$ hone npu -e 's(M in [1, 40], float32 X[M]) -> Y { Y(i) = X(i) * 2.0 }' --as text --dim M=3
hone: npu: --as text is the program for all sizes: leave out --dim
[17]
$ hone npu net.onnx --as text
hone: npu: --as text is of one program, and net.onnx is a network
[17]
$ hone npu net.onnx -e 'r(float32 X[16]) -> Y { Y(i) = X(i) * 2.0 }'
hone: npu: --text is a computation, instead of a FILE, and net.onnx is a network
[17]
$ hone npu - --profile tiny < p.hnpu | head -1; echo 'r(float32 X[16]) -> Y { Y(i) = X(i) * 2.0 }' | hone npu - --profile tiny | head -1
- on tiny: 3679 cycles, 3.68 us (simulated by a model, docs/npu.md)
r on tiny: 3641 cycles, 3.64 us (simulated by a model, docs/npu.md)
$ hone npu p.hnpu --profile dv911
hone: dv911: no profile of the NPU; there are dv910, dv910fit, tiny
[17]
$ hone npu p.hnpu --as svg
hone: npu: --as svg: there are table, text and picture
[17]
$ hone npu -e 't(float32 X[8,8]) -> Y { Y(i,j) = select(i == j, 1.0, X(i,j)) }'
hone: npu: hone-build: Y: a condition on where a point is, that no box of results is within
[18]
$ hone npu -e 'r(float32 X[16]) -> Y { Y(i) = X(i) * 2.0 }' --order loops
hone: npu: --order loops: there are flags, barriers and tuned
[17]
$ printf 'hnpu/1\ngm A int8[60000000000]\ncores 0 1 {\n}\n' > large.hnpu; hone npu large.hnpu
hone: large.hnpu: buffers of 60000000000 bytes: races are looked for in 1073741824 at most
[14]
# Sizes: one program for a range, or several of which the first that fits is taken.
$ hone npu -e 's(M in [1, 300], float32 X[M,64]) -> Y { S(i) +=! X(i,j) Y(i,j) = X(i,j) - S(i) }' --profile tiny
s on tiny: 1 program (simulated by a model, docs/npu.md)
  1: 767 instructions, for M = 1..300
           M  program      cycles         us
           1        1        3706       3.71
           2        1        3722       3.72
           3        1        3728       3.73
           5        1        3748       3.75
           8        1        3768       3.77
          13        1        3862       3.86
          22        1        3901       3.90
          38        1        4048       4.05
          63        1        4332       4.33
         106        1        4471       4.47
         179        1        4732       4.73
         300        1        5496       5.50
no race, in any order of the pipes
$ hone npu -e 's(M in [1, 300], float32 X[M,64]) -> Y { S(i) +=! X(i,j) Y(i,j) = X(i,j) - S(i) }' --profile tiny --dim M=77 -j
{"name":"s","profile":"tiny","cycles":4340,"core_cycles":840,"us":4.34,"by_memory":false,"read_bytes":24576,"written_bytes":24576,"instructions":274,"pipes":[{"name":"V","busy":394},{"name":"M","busy":0},{"name":"MTE1","busy":0},{"name":"MTE2","busy":561},{"name":"MTE3","busy":422}],"cores":2,"of_cores":2,"memories":[{"name":"ub","bytes":42048,"of_bytes":65536},{"name":"l1","bytes":0,"of_bytes":131072},{"name":"l0a","bytes":0,"of_bytes":16384},{"name":"l0b","bytes":0,"of_bytes":16384},{"name":"l0c","bytes":0,"of_bytes":32768}]}
$ hone npu -e 's(M in [1, 40], float32 X[M]) -> Y { Y(i) = X(i) * 2.0 }' --profile tiny --slots 1 --order barriers --as text > m.hnpu; sed 35q m.hnpu; hone npu m.hnpu --profile tiny --as text | cmp - m.hnpu
hnpu/1
size M r31 1..40
gm a0 float32[M]
gm a1 float32[M]
cores 0 2 {
  mov r2 r31
  core r3
  add r4 r2 7
  div r4 r4 8
  add r4 r4 1
  div r4 r4 2
  mul r4 r4 8
  mul r3 r3 r4
  sub r9 r2 r3
  min r4 r4 r9
  if 0 r4
    if r4 2
      sub r5 r4 1
      mov r6 r4
      if 0 r6
        loop r7 r6
          mov r8 r7
          min r8 r8 r5
          add r8 r8 r3
          mov r0 r8
          mul r0 r0 4
          load ub[0] a0[r0] burst 4
          barrier all
          vbrcb.f32 ub[64] ub[0]
          barrier all
          vmuls.f32 ub[320] ub[64] 2 mask 8 b0 0 s0 0
          barrier all
          store a1[r0] ub[320] burst 4
          barrier all
          barrier all
$ hone npu m.hnpu --profile tiny --dim M=41
hone: m.hnpu: M is 41, and it is for 1 to 40
[17]
$ hone npu m.hnpu --profile tiny --dim M=-1
hone: m.hnpu: M is -1, and it is for 1 to 40
[17]
$ hone npu m.hnpu --profile tiny --dim N=4
hone: --dim N=4: m.hnpu has no size of that name
[17]
$ hone npu m.hnpu --profile tiny --dim M=1..4
hone: --dim M=1..4: a launch wants a number, as M=40
[17]
$ hone npu m.hnpu --profile tiny --as picture
hone: npu: a picture is of one launch: --dim M=.. says which
[17]
$ hone npu -e 'w(B in [1, 4], M in [1, 9], float32 X[B,M,3], float32 Z[B]) -> Y { Y(b,i,j) = X(b,i,j) + Z(b) }' --profile tiny
w on tiny: 2 programs, the first that fits is taken (simulated by a model, docs/npu.md)
  1: 741 instructions, for B = 1..4, M = 1..9 where M%8 == 0
  2: 741 instructions, for B = 1..4, M = 1..9
           B           M  program      cycles         us
           1           1        2        3745       3.75
           1           2        2        3750       3.75
           2           2        2        3884       3.88
           2           3        2        3888       3.89
           2           4        2        3891       3.89
           3           5        2        4305       4.30
           3           6        2        4102       4.10
           4           7        2        4516       4.52
           4           9        2        4518       4.52
no race, in any order of the pipes
$ hone npu -e 'w(B in [1, 4], M in [1, 9], float32 X[B,M,3], float32 Z[B]) -> Y { Y(b,i,j) = X(b,i,j) + Z(b) }' --profile tiny --as text | grep -A5 hnpu
hnpu/1
size B r31 1..4
size M r30 1..9
where M%8 == 0
gm a0 float32[B*M*3]
gm a1 float32[B]
--
hnpu/1
size B r31 1..4
size M r30 1..9
gm a0 float32[B*M*3]
gm a1 float32[B]
gm a2 float32[B*M*3]
$ hone npu -e 'w(B in [1, 4], M in [1, 9], float32 X[B,M,3], float32 Z[B]) -> Y { Y(b,i,j) = X(b,i,j) + Z(b) }' --profile tiny --dim M=8
hone: w: --dim B=.. is missing: 1 to 4
[17]
$ hone npu -e 'r(M in [1, 40], float32 X[8,M]) -> Y { Y(i) +=! X(i,j) }' --profile tiny
r on tiny: 1 program (simulated by a model, docs/npu.md)
  1: 3310 instructions, for M = 1..40
           M  program      cycles         us
           1        1        3768       3.77
           2        1        3769       3.77
           3        1        3769       3.77
           4        1        3770       3.77
           5        1        3770       3.77
           7        1        3771       3.77
          10        1        3779       3.78
          15        1        3781       3.78
          20        1        3795       3.79
          29        1        3799       3.80
          40        1        3819       3.82
no race, in any order of the pipes
$ hone npu -e 'r(M in [1, 40], float32 X[M,8]) -> Y { Y(i,j) = X(i,j) * float32(i) }' --profile tiny
hone: npu: hone-build: Y: it computes with a place along a size, or reduces it by other than a sum, product, least or greatest: a program for the NPU needs a number there
[18]
$ hone npu -e 'r(M in [1, 40], float32 X[M,8]) -> Y { Y(j) = X(2,j) }' --profile tiny
hone: --text:1:40: ops[1] (Y).body[0].load(X) index 0: may pass the extent for some sizes: correct the index, its range or the sizes', or guard the load with "if"
[17]
# A kernel of AKG whose dimension is open: for all sizes of a range, also where it is summed over.
$ echo '{"composite":true,"op":"k","process":"aicore","platform":"AKG","input_desc":[[{"tensor_name":"x","shape":[-1,8],"data_type":"float32","format":"DefaultFormat"}]],"output_desc":[{"tensor_name":"y","shape":[-1,8],"data_type":"float32","format":"DefaultFormat"}],"op_desc":[{"name":"Exp","attr":null,"input_desc":[[{"tensor_name":"x","name":"x","shape":[-1,8],"data_type":"float32","format":"DefaultFormat"}]],"output_desc":[{"tensor_name":"y","name":"y","shape":[-1,8],"data_type":"float32","format":"DefaultFormat"}]}]}' > open.info; hone npu open.info --dim x:0=1..300 --profile tiny
x:0 = 1..300
kernel                                    runs  programs  cycles of the least  of the largest
k00_exp                                      1         1                 3659            4003
open on tiny: 1 of 1 kernels have programs for all sizes of their range (simulated by a model, docs/npu.md)
$ hone npu open.info --dim x:0=16..300 --profile tiny -j
{"name":"open","profile":"tiny","ranges":[{"for":"x:0 = 16..300","kernels":[{"name":"k00_exp","runs":1,"programs":1,"least_cycles":3703,"largest_cycles":4003}]}]}
$ hone npu open.info --dim x:0=300 --profile tiny
kernel   runs      cycles         us  busiest pipe
k00_exp     1        3918       3.92  MTE2  50.2 %

open on tiny: 1 of 1 kernels, 3918 cycles, 3.92 us (simulated by a model, docs/npu.md)
$ hone npu "$HONE_SOURCE/tests/data/fuzz/akg/open" --dim batch=20..60 --profile tiny 2>&1 | sed 's,/.*/,,'
hone: open: made for "cuda", which is a hint: --target says the machine
batch = 20..60
kernel                                    runs  programs  cycles of the least  of the largest
k00_greater_where_reduce_reshape             1         1                 4037            4163
open on tiny: 1 of 1 kernels have programs for all sizes of their range (simulated by a model, docs/npu.md)
$ hone npu -e 'm(float16 A[77,3000], float16 B[3000,511]) -> C { C(i,j) +=! float32(A(i,k)) * float32(B(k,j)) }' --as picture | sed -n 's/.*>\([0-9]* %\)<.*/\1/p'
0 %
10 %
22 %
91 %
4 %
$ hone npu -e 'b(M in [1, 300000000], float32 X[M], float32 Z[M]) -> Y { Y(i) = X(i) + Z(i) }' | tail -3
    50871421        1      512689     512.69
   300000000        1     3003712    3003.71  too large to look for races
no race, in any order of the pipes
$ hone npu -e 'b(M in [1, 300], float32 X[M,8]) -> Y { Y(i,j) = X(i,j) + 1.0 }' --order tuned
hone: npu: hone-build: a computation with sizes is not tuned: --order flags, or numbers for its sizes
[18]
# what is said of a schedule: the machine's cores and memories, no caches; without a program nothing is predicted
$ hone explain --auto --target 'npu -isa=tiny' --text 'm(float16 A[77,300], float16 B[300,51]) -> C { C(i,j) +=! float32(A(i,k)) * float32(B(k,j)) }' | sed -n '/^what/,$p'
what the program takes of tiny (simulated by a model, docs/npu.md)
  cores         2  of         2
  ub        45056  of     65536 bytes   68.8 %
  l1        28672  of    131072 bytes   21.9 %
  l0a       12288  of     16384 bytes   75.0 %
  l0b       16384  of     16384 bytes  100.0 %
  l0c       20480  of     32768 bytes   62.5 %
$ hone explain --auto --target 'npu -isa=tiny' --text 'f(int64 A[64]) -> C { C(i) = A(i) + int64(1) }' | grep -v '^Place\|^for\|^ *C =\|^$'
f: the automatic schedule, not measured
  predicted now   nothing: it has no program for the NPU
no program for the NPU: explain: hone-build: C: float16, float32, int32 and what has a byte have a form, not int64
$ hone explain --auto --target 'cuda -isa=sm_80' --text 'm(float32 A[64,96]) -> C { C(i) +=! A(i,k) }' | sed -n '/^where/,$p'
where the analytic model's cycles go: statements share their kernel's
  statement                   cycles of all
  C init                        3635   31 %
  C update                      7996   69 %

what kernels ask of 108 multiprocessors: registers of a thread, bytes and cycles of a block
a block has at most 1024 threads and 49152 bytes of shared memory
  kernel, up to               blocks threads registers   shared at once     waves   compute    shared transfers     waits
  C update                        64      32        36        0      32    0.0185         2         0     9.333      1800
$ hone tune --trials 0 --target 'npu -isa=tiny' --text 'f(int64 A[64]) -> C { C(i) = A(i) + int64(1) }' 2>&1 | sed 's/answered.*//; /^  target/d'; hone tune --trials 0 --target 'npu -isa=tiny' --text 'f(int64 A[64]) -> C { C(i) = A(i) + int64(1) }'  --json 2>/dev/null | grep -o '"predicted_ns":null\|"refused":"[^"]*'
f  (workload c4f1cb51e84426a9)
  automatic schedule, proved, not measured
  choice  1 of 1, 
  kernel  none for this target: C: float16, float32, int32 and what has a byte have a form, not int64
  predicted nothing: there is no kernel
  steps   []
hone: f has no kernel for this target
"predicted_ns":null
"refused":"C: float16, float32, int32 and what has a byte have a form, not int64
$ hone tune --trials 0 --target 'cuda -isa=sm_80' --text 'f(float64 A[64]) -> C { C(i) = fmod(A(i), 2) }' 2>&1 | grep -v 'choice\|^  target\|steps'
f  (workload 281342bfb8516f53)
  automatic schedule, proved, not measured
  kernel  none for this target: kernel k0: function fmod on float64 has no code for PTX
  predicted nothing: there is no kernel
hone: f has no kernel for this target
$ echo '{"composite":true,"op":"k","process":"aicore","platform":"AKG","input_desc":[[{"tensor_name":"x","shape":[16,8],"data_type":"float32","format":"DefaultFormat"}],[{"tensor_name":"z","shape":[7],"data_type":"int64","format":"DefaultFormat"}]],"output_desc":[{"tensor_name":"y","shape":[16,8],"data_type":"float32","format":"DefaultFormat"},{"tensor_name":"w","shape":[7],"data_type":"int64","format":"DefaultFormat"}],"op_desc":[{"name":"Exp","attr":null,"input_desc":[[{"tensor_name":"x","name":"x","shape":[16,8],"data_type":"float32","format":"DefaultFormat"}]],"output_desc":[{"tensor_name":"y","name":"y","shape":[16,8],"data_type":"float32","format":"DefaultFormat"}]},{"name":"Neg","attr":null,"input_desc":[[{"tensor_name":"z","name":"z","shape":[7],"data_type":"int64","format":"DefaultFormat"}]],"output_desc":[{"tensor_name":"w","name":"w","shape":[7],"data_type":"int64","format":"DefaultFormat"}]}]}' > two.info; hone model two.info --target 'npu -isa=tiny'; hone tune two.info --target 'npu -isa=tiny' --trials 0 2>&1 | grep 'kernel\|predicted'
kernel   runs       FLOP       time  share  GFLOP/s
k00_exp     1        0   ~ 4.119 us  100.0%      0.0
k01_neg     1        7    no kernel: T2: float16, float32, int32 and what has a byte have a form, not int64

2 steps of 2 kernels, 7   FLOP, ~4.119 us in all
0 of the kernels are tuned; ~ = predicted, of the automatic schedule
1 has no kernel for this target, and counts for nothing here
  kernel  not run: the NPU's is compared where it is measured (hone tune)
  predicted 4.119 us by the analytic model
  kernel  none for this target: T2: float16, float32, int32 and what has a byte have a form, not int64
  predicted nothing: there is no kernel
hone: 1 of 2 have no kernel for this target
# the example of a kernel of AKG for a range of sizes: a program with sizes, and launches of it
$ hone npu "$HONE_SOURCE/examples/softmax-open.info" --dim x:0=1..4096 --json | sed 's/_cycles":[0-9]*/_cycles":N/g'
{"name":"softmax_open","profile":"dv910","ranges":[{"for":"x:0 = 1..4096","kernels":[{"name":"k00_softmax","runs":1,"programs":1,"least_cycles":N,"largest_cycles":N}]}]}
$ hone model "$HONE_SOURCE/examples/softmax-open.info" --dim x:0=1..4096 --target npu --as text > rows.txt; hone npu rows.txt --as text > rows.hnpu; head -4 rows.hnpu; for n in 1 77 4096; do hone npu rows.hnpu --dim N0=$n | sed -n '1s/: .*//p; /race/s/;.*//p'; done; hone npu rows.hnpu --dim N0=4097
hnpu/1
size N0 r31 1..4096
gm a0 float32[N0*1000]
gm a1 float32[N0*1000]
rows.hnpu on dv910
  no race, in any order of the pipes
rows.hnpu on dv910
  no race, in any order of the pipes
rows.hnpu on dv910
  no race, in any order of the pipes
hone: rows.hnpu: N0 is 4097, and it is for 1 to 4096
[17]
