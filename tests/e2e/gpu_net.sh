# gpu_net.sh -- a model file compiled for a GPU: the same program that runs it on a processor runs it
# on an OpenCL device (PoCL where there is no GPU), and is right, of one size and of a range; the same
# bytes twice; for CUDA it is compiled without a device or a toolkit, opens the driver at run time, and
# says in a line what is missing there or what the driver refuses.
. "$(dirname "$0")/lib.sh"
: "${HONE_COMPILE_MAKE:?}" "${HONE_MOCK_CUDA:?}"

if ! command -v cc >/dev/null; then
	echo "skip: needs cc"
	exit 77
fi

# build DIR SOURCE: links a program.
build()
{
	cc -std=gnu11 -O1 -Wall -Wextra -Werror -I"$1" -I"$HONE_SOURCE/tests/e2e" -o "$work/program" \
		"$HONE_SOURCE/tests/e2e/$2" "$1/model.o" "$1/hone_pool.o" -lm -lpthread -ldl >"$work/cc" 2>&1 ||
		die "cc: $(head -5 "$work/cc")"
}

"$HONE_COMPILE_MAKE" "$work/small.onnx" && "$HONE_COMPILE_MAKE" "$work/open.onnx" batch || die "no models"

# CUDA, for two machines that are not here.
for isa in sm_80 sm_90a; do
	hone compile "$work/small.onnx" --target "cuda -isa=$isa" -o "$work/$isa" >"$work/files" 2>"$work/said" ||
		die "cuda: $(cat "$work/said")"
	grep -q "5 steps of 5 kernels, 0 from records" "$work/said" || die "said: $(cat "$work/said")"
	while read -r file; do
		[ -f "$file" ] || die "said to be written: $file"
	done <"$work/files"
	grep -q "\.target $isa" "$work/$isa/model.o" || die "no PTX for $isa"
	[ -e "$work/$isa/hone_model.o" ] && die "a processor's run time"
done
hone compile "$work/small.onnx" --target "cuda -isa=sm_90a" -o "$work/again" >/dev/null 2>&1 || die "a second time"
diff -r "$work/sm_90a" "$work/again" || die "other bytes the second time"
grep -q '^#define small_ARENA_BYTES(n_workers) UINT64_C(0)' "$work/sm_80/model.h" || die "an arena on this machine"
build "$work/sm_80" gpu_net_run.c

# What drivers say: none, one that is not whole, one without a device, one that refuses the code.
driver="$work/driver"
mkdir "$driver"
said()
{
	"$work/program" "$work/sm_80/model.weights" >"$work/told" 2>&1 && die "ran: $(cat "$work/told")"
	grep -q "$1" "$work/told" && [ "$(wc -l <"$work/told")" = 1 ] || die "$1: $(cat "$work/told")"
}
export LD_LIBRARY_PATH="$driver"
: >"$driver/libcuda.so.1"
said "^prepare -21: libcuda.so.1 cannot be loaded: NVIDIA's driver is not installed"
cc -shared -Wl,-soname,libcuda.so.1 -o "$driver/libcuda.so.1" -x c /dev/null || die "cc -shared"
said "^prepare -21: libcuda.so.1 has no cuInit"
ln -sf "$HONE_MOCK_CUDA" "$driver/libcuda.so.1"
MOCK_CUDA=none said "^prepare -21: CUDA: the driver has no device"
said "^prepare -23: CUDA: the driver does not take k00_conv.*, made for sm_80; the device is sm_90: error 218"
MOCK_CUDA_WORDS=nothing "$work/program" "$work/sm_80/model.weights" >"$work/told" 2>&1 ||
	die "with a driver: $(cat "$work/told")"
[ "$(cat "$work/told")" = "ran twice" ] || die "$(cat "$work/told")"
# shared libraries know the driver as little
"$HONE_BIN/hone" compile "$work/small.onnx" --target cuda --embed -o "$work/embed" >/dev/null 2>&1 || die embed
ldd "$work/embed/libmodel.so" | grep -qi 'cuda\|opencl' && die "a driver is linked"

# Rivals and finals want a device: who has none is told once.
rm "$driver/libcuda.so.1"
hone tune "$work/small.onnx" --target "cuda -isa=sm_80" --trials 4 -q >"$work/told" 2>&1 && die "tuned without a device"
grep -q "tune: the network cannot be run: LOAD_FAIL: libcuda.so.1 cannot be loaded" "$work/told" &&
	[ "$(wc -l <"$work/told")" = 2 ] || die "no device: $(cat "$work/told")"
unset LD_LIBRARY_PATH

# What a GPU has not.
hone compile "$work/open.onnx" --dim batch=1..65 --target cuda -o "$work/d" >/dev/null 2>"$work/said" && die "ranges"
grep -q "more than 64 combinations of sizes" "$work/said" || die "$(cat "$work/said")"
cat >"$work/net.json" <<'END'
{"format": "hone-model/2", "name": "net", "weights_bytes": 0, "stamp": "0000000000000000",
 "prepared_bytes": 0, "arena_bytes": 0, "inputs": [], "outputs": [], "kernels": [], "steps": [],
 "sizes": [{"name": "n", "least": 1, "most": 2, "step": 1}],
 "ranges": [{"least": [1], "most": [2], "first": 0, "steps": 0}]}
END
"$HONE_BIN/hone-build" --model "$work/net.json" --modules "$work" -o "$work/net.o" 2>"$work/said" && die "two sizes"
grep -q "ranges\[0\]: 1 to 2, but a GPU's kernels are for one size" "$work/said" || die "$(cat "$work/said")"
hone compile "$work/small.onnx" --regions --target cuda -o "$work/d" >/dev/null 2>"$work/said" && die "regions"
grep -q "regions: target cuda: ONNX Runtime's provider runs regions on processors" "$work/said" ||
	die "$(cat "$work/said")"
[ ! -e "$work/d" ] || die "files of a network that was refused"

if ! hone board list --json | grep -q '"target":"opencl'; then
	echo "no OpenCL device: nothing ran"
	exit 0
fi
for batch in 1 3; do
	hone compile "$work/open.onnx" --symbol small --dim batch=$batch --target opencl -o "$work/o$batch" >/dev/null \
		2>"$work/said" || die "opencl: $(cat "$work/said")"
	build "$work/o$batch" compile_run.c
	[ "$("$work/program" "$work/o$batch/model.weights" $batch 2>&1)" = right ] ||
		die "opencl: $("$work/program" "$work/o$batch/model.weights" $batch 2>&1)"
done

# One library for several batches: kernels of each, and weights once.
hone compile "$work/open.onnx" --symbol small --dim batch=1..3 --target opencl -o "$work/range" >/dev/null \
	2>"$work/said" || die "a range: $(cat "$work/said")"
cmp "$work/o3/model.weights" "$work/range/model.weights" || die "weights of each size"
build "$work/range" compile_run.c
for batch in 1 2 3; do
	[ "$("$work/program" "$work/range/model.weights" $batch 2>&1)" = right ] ||
		die "batch $batch of a range: $("$work/program" "$work/range/model.weights" $batch 2>&1)"
done
[ "$("$work/program" "$work/range/model.weights" 4 2>&1)" = failed ] || die "a size outside of the range"

# Its kernels are tuned on the device, and records are what is compiled.
hone tune "$work/small.onnx" --target opencl --trials 16 --seconds 100 -q >"$work/tuned" 2>&1 || die "tune: $(cat "$work/tuned")"
hone compile "$work/small.onnx" --target opencl -o "$work/t" >/dev/null 2>"$work/said" || die "$(cat "$work/said")"
grep -q "5 steps of 5 kernels, [1-5] from records" "$work/said" || die "no records: $(cat "$work/said")"
build "$work/t" compile_run.c
[ "$("$work/program" "$work/t/model.weights" 1 2>&1)" = right ] || die "tuned: wrong"

# Rival ways and records are held against each other in the whole network, on the device.
grep -q "^hone: rival ways to lay out and fuse ran at [1-9][0-9]* places" "$work/tuned" || die "no rivals: $(cat "$work/tuned")"
grep -q "^hone: a run on the device takes" "$work/tuned" || die "no final: $(cat "$work/tuned")"
hone final "$work/small.onnx" --target opencl --json >"$work/final" 2>&1 || die "final: $(cat "$work/final")"
grep -q '"threads":0,' "$work/final" && grep -q '"automatic_ns":[1-9]' "$work/final" || die "final: $(cat "$work/final")"
hone final "$work/small.onnx" --target "cuda -isa=sm_80" >"$work/final" 2>&1
[ "$(wc -l <"$work/final")" = 1 ] || die "no device: $(cat "$work/final")"
within 20 gone || die "honed stays after its last client"
