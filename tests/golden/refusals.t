# Each bad input is one line with the place, and an exit status above 0.
$ printf '{"format": "compute-dag/1", "ops": [' > cut.json; hone dag cut.json
hone: cut.json:1:37: the text ends here, but the '[' of 1:36 is still open (is the file cut short?)
[17]
$ echo '{"format":"compute-dag/1","ops":[{"kind":"placeholder","id":"A","shape":[4],"dtype":"float32"},{"kind":"compute","id":"B","name":"B","shape":[4],"dtype":["float32"],"axes":[["i",0,4]],"reduce_axes":[],"body":[["frobnicate",["load","A",["var","i"]]]]}],"inputs_outputs":["A","B"]}' > node.json; hone dag node.json
hone: node.json: ops[1] (B).body[0]: unknown node 'frobnicate'; known nodes are var, int, float, load, add, sub, mul, div, min, max, floordiv, floormod, truncmod, eq, ne, lt, le, gt, ge, and, or, not, select, if, cast, call and let
[17]
$ sed 's/frobnicate",\(.*\)\]\]\]}\]/neg"]]}]/; s/\["neg"\]/["load","A",["add",["var","i"],["int",1,"int32"]]]/' node.json > bounds.json; hone dag bounds.json
hone: bounds.json: ops[1] (B).body[0].load(A) index 0: reaches 4, the extent is 4: correct the index or guard the load with "if"
[17]
$ sed 's/\["frobnicate",\["load","A",\["var","i"\]\]\]/["load","B",["var","i"]]/' node.json > cycle.json; hone dag cycle.json
hone: cycle.json: ops[1] (B).body[0]: load: the op reads itself (a cycle)
[17]
$ sed 's/\["frobnicate",\["load","A",\["var","i"\]\]\]/["load","A",["var","i"]]/; s/\[4\]/[0]/; s/0,4/0,0/' node.json > zero.json; hone dag zero.json
hone: zero.json: ops[0] (A): shape[0]: extent 0, at least 1 is needed
[17]
$ hone dag --text 'm(float32 A[1099511627776]) -> B { B(i) = A(i) }' 2>&1 | sed 's/, the limit is.*//'
hone: --text:1:11: ops[0] (A): the tensor needs 4 TiB (4398046511104 bytes)
$ hone dag --text 'm(float32 A[4]) -> B { B(i) = A(i) * q }'
hone: --text:1:38: index 'q' is bound by nothing: it is not on the left, and '=' does not reduce (+=! does)
[17]
$ hone dag --text 'm(float32 A[4]) -> B { B(i,z) = A(i) }'
hone: --text:1:28: index 'z' has no size: no load tells; state it with `where z in 0:n`
[17]
$ hone dag missing.json
hone: missing.json: cannot open: No such file or directory
[11]
# Who only reads makes no store.
$ hone verify --home none 2>&1 | sed 's,/.*/,,'
hone: none: no store there; nothing was tuned here yet
$ hone measure 1 --home none --socket s 2>&1 | sed 's,/.*/,,'
hone: none: no store there; nothing was tuned here yet
$ hone why-failed --key 0123 --home none --socket s 2>&1 | sed 's,/.*/,,'
hone: none: no store there; nothing was tuned here yet
$ ls none
ls: cannot access 'none': No such file or directory
[2]
$ hone ping --socket s 2>&1 | sed 's,/.*/,,'
hone: s: no honed answers there; `honed` starts one
$ hone tune --text 'm(float32 A[4]) -> B { B(i) = A(i) }' --seconds -1
hone: --seconds: "-1" is not a number of at least 0
[17]
$ hone query --text 'm(float32 A[4]) -> B { B(i) = A(i) }' --target bogus
hone: target: unknown kind 'bogus': want one of native, cpu, cuda, opencl, npu, fake
[17]
# A key is a task already; so is a record.
$ hone query --key 0123 --cold --home none
hone: --cold: --key says already which task it is
[17]
$ hone why-failed --key 0123 m.dag
hone: m.dag: --key says already which task it is
[17]
$ hone explain --record 1 --bitwise
hone: explain: --record says which computation; give no other
[17]
# What would be ignored is refused.
$ hone tune --text 'm(float32 A[4]) -> B { B(i) = A(i) }' --trials 0 --dim N=3
hone: --dim: give it with a network, FILE.onnx or a fused operator of AKG
[17]
$ hone tune --text 'm(float32 A[4]) -> B { B(i) = A(i) }' --trials 0 --fusion rules
hone: --fusion: give it with a network, FILE.onnx or a fused operator of AKG
[17]
$ hone tune "$HONE_SOURCE/examples/softmax-open.info" --dim x:0=4 --trials 0 --text 'm(float32 A[4]) -> B { B(i) = A(i) }'
hone: give FILEs or --text 'PROGRAM', not both
[17]
$ hone ls more --home none
hone: more: one argument too many; see `hone help ls`
[17]
$ hone jobs more --socket s
hone: more: one argument too many; see `hone help jobs`
[17]
$ hone model "$HONE_SOURCE/examples/softmax-open.info" --dim x:0=4 --as text --json
hone: model: --as text is no JSON: leave out --json, whose kernels have their programs
[17]
$ hone explain --auto --target npu --text 'm(float32 A[4]) -> B { B(i) = A(i) }' --as picture --json
hone: explain: --as picture is the whole answer: leave out --json, --asm, --features and --all
[17]
$ hone replay --auto --text 'm(float32 A[4]) -> B { B(i) = A(i) }' --target cpu --also npu -o out
hone: --also: an NPU's kernel is of one target
[17]
$ hone query --home none
hone: give a FILE, --text 'PROGRAM' or --key K
[17]
# A computation is no network.
$ for verb in model check final "compile -o out"; do hone $verb "$HONE_SOURCE/examples/matmul.txt" 2>&1 | sed 's,/[^ ]*/,,'; done; hone model "$HONE_SOURCE/examples/softmax.json" 2>&1 | sed 's,/[^ ]*/,,'
hone: matmul.txt: a computation, which `hone tune`, `hone explain` and `hone replay` take; here a network is wanted: FILE.onnx, or a fused operator of AKG
hone: matmul.txt: a computation, which `hone tune`, `hone explain` and `hone replay` take; here a network is wanted: FILE.onnx, or a fused operator of AKG
hone: matmul.txt: a computation, which `hone tune`, `hone explain` and `hone replay` take; here a network is wanted: FILE.onnx, or a fused operator of AKG
hone: matmul.txt: a computation, which `hone tune`, `hone explain` and `hone replay` take; here a network is wanted: FILE.onnx, or a fused operator of AKG
hone: softmax.json: a computation, which `hone tune`, `hone explain` and `hone replay` take; here a network is wanted: FILE.onnx, or a fused operator of AKG
# Where nothing is stored there is the schedule by rule.
$ for verb in "replay -o out" explain query; do hone $verb --text 'm(float32 A[4]) -> B { B(i) = A(i) }' --home none 2>&1 | sed 's,hone: .*/,hone: ,'; done
hone: best.snapshot: not there; nothing was tuned here yet; --auto takes the automatic schedule
hone: best.snapshot: not there; nothing was tuned here yet; --auto takes the automatic schedule
hone: best.snapshot: not there; nothing was tuned here yet
