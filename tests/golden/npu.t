# The simulated NPU: a computation, a program, and what is wrong with programs.
$ hone npu -e 'r(float32 X[16,8], float32 B[8]) -> Y { Y(i,j) = max(X(i,j) + B(j), 0.0) }' --profile tiny
r on tiny: 3829 cycles, 3.83 us (simulated by a model, docs/npu.md)
  slowest core 1: 329 cycles
  V     busy        36   10.9 %
  M     busy         0    0.0 %
  MTE1  busy         0    0.0 %
  MTE2  busy       273   83.0 %
  MTE3  busy        16    4.9 %
  global memory: 576 bytes read, 512 written
  no race, in any order of the pipes; 24 instructions
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
  vadd.f32 ub[288] ub[0] ub[256] rep 8 mask 8 sd 1 s0 1 s1 0
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
{"name":"p.hnpu","profile":"tiny","cycles":3679,"core_cycles":179,"us":3.679,"by_memory":false,"read_bytes":512,"written_bytes":512,"instructions":7,"pipes":[{"name":"V","busy":4},{"name":"M","busy":0},{"name":"MTE1","busy":0},{"name":"MTE2","busy":138},{"name":"MTE3","busy":16}]}
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
hone: npu: --order and --slots are of computations, and p.hnpu is a program
[17]
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
hone: npu: hone-build: --npu 'dv910 loops 2': a profile, flags, barriers or tuned, and 1 to 4 slots
[17]
$ printf 'hnpu/1\ngm A int8[60000000000]\ncores 0 1 {\n}\n' > large.hnpu; hone npu large.hnpu
hone: large.hnpu: buffers of 60000000000 bytes: races are looked for in 1073741824 at most
[14]
