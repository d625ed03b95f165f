"""A library for ranges of sizes beside ONNX Runtime, at some of the sizes."""

import inputs
import judge
import onnxruntime


def compare(case, model, path, library, points, order):
    """Every point: numbers by name, in the library's order.  The model is that of the file."""
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    for point in points:
        data = inputs.draw(model, inputs.fill(model, point))
        arrays = [data[i.name] for i in session.get_inputs()]
        wanted = session.run(None, data)
        found = library.run_sized(
            arrays, [point[name] for name in order], [w.shape for w in wanted]
        )
        with case.subTest(point):
            outputs = [o.name for o in session.get_outputs()]
            case.assertEqual(judge.compare_all(found, wanted, outputs).why, "")
