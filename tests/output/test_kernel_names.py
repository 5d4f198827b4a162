"""Short names of kernels: what is left of real ones, and that no two of a recording become one."""

import gzip
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kinetoscope_core.kernel_names import short_kernel_name

TRACES = Path(__file__).parents[1] / "traces"
AT = "at::native::"
ANONYMOUS = f"{AT}(anonymous namespace)::"
LAMBDA = "(at::TensorIteratorBase&)::{lambda()#2}::operator()() const::{lambda(float)#1}"
ELEMENTWISE = (
    f"void {AT}elementwise_kernel<128, 2, {AT}gpu_kernel_impl_nocast<{AT}BUnaryFunctor<float, float, float,"
    f" {AT}binary_internal::MulFunctor<float> > >(at::TensorIteratorBase&, int)::{{lambda(int)#1}}>(int)"
)
REDUCE = (
    f"void {AT}reduce_kernel<512, 1, {AT}ReduceOp<float, {AT}func_wrapper_t<float, {AT}sum_functor<float, float,"
    " float>::operator()(at::TensorIterator&)::{lambda(float, float)#1}>, unsigned int, float, 4> >(int)"
)
CONDITIONAL = (
    "std::enable_if<(((8)>(0)))&&vllm::_typeConvert<c10::BFloat16>::exists, void>::type"
    " vllm::fused_add_rms_norm_kernel<c10::BFloat16, 8>(c10::BFloat16*, long)"
)


def applied(functor: str, *rest: str) -> str:
    arguments = ", ".join([f"{ANONYMOUS}TensorListMetadata<4>", functor, *rest])
    return f"void {ANONYMOUS}multi_tensor_apply_kernel<{arguments}>({arguments})"


@pytest.mark.parametrize(
    ("name", "short"),
    [
        ("nvjet_sm90_tst_64x8_64x16_1x4_h_bz_NNT", "nvjet_sm90_tst_64x8_64x16_1x4_h_bz_NNT"),
        ("Memcpy HtoD (Pageable -> Device)", "Memcpy HtoD (Pageable -> Device)"),
        ("void (anonymous namespace)::softmax<float, 10, true>(float*, int)", "softmax<float, 10, true>"),
        (
            "void cutlass::Kernel2<cutlass_80_simt_sgemm_256x128_8x4_nn_align1>(cutlass_80_simt_sgemm::Params)",
            "cutlass_80_simt_sgemm_256x128_8x4_nn_align1",
        ),
        (
            applied(f"{ANONYMOUS}FusedAdamMathFunctor<c10::BFloat16, 4, (at::native::ADAM_MODE)1, false>", "double"),
            "FusedAdamMathFunctor<BFloat16, 4, 1, false> in multi_tensor_apply_kernel",
        ),
        (
            applied(f"{ANONYMOUS}BinaryOpScalarFunctor<float, 1, 1, 0>", "std::plus<float>", "float"),
            "BinaryOpScalarFunctor<float, 1, 1, 0>, plus<float> in multi_tensor_apply_kernel",
        ),
        (
            f"void {AT}vectorized_elementwise_kernel<4, {AT}cos_kernel_cuda{LAMBDA}, std::array<char*, 2ul> >(int)",
            "cos_kernel_cuda(float) in vectorized_elementwise_kernel<4>",
        ),
        (ELEMENTWISE, "MulFunctor<float> in BUnaryFunctor in elementwise_kernel<128, 2>"),
        (REDUCE, "sum_functor<float>(float, float) in reduce_kernel<512, 1>"),
        (CONDITIONAL, "fused_add_rms_norm_kernel<BFloat16, 8>"),
        ("_ZN5aiter24add_rmsnorm_quant_kernelIDF16bLi256EEEvPT0_", "add_rmsnorm_quant_kernelIDF16bLi256EEEvPT0_"),
        ("ncclDevKernel_Generic(ncclDevKernelArgsStorage<4096ul>)", "ncclDevKernel_Generic"),
        ("void cut::off<4, at::native::some… (2,345 characters, 00000000)", None),
    ],
)
def test_a_short_name_begins_with_what_tells_a_kernel_from_others(name: str, short: str | None) -> None:
    assert short_kernel_name(name) == (short or name.removeprefix("void "))


@pytest.mark.parametrize("trace", sorted(TRACES.glob("h200/*.json.gz")), ids=lambda path: path.name)
def test_no_two_kernels_of_a_recording_have_one_short_name(trace: Path) -> None:
    events = json.loads(gzip.decompress(trace.read_bytes()))["traceEvents"]
    names = {each["name"] for each in events if each.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset")}
    assert len({short_kernel_name(name) for name in names}) == len(names)
    assert all(len(short_kernel_name(name)) <= len(name) for name in names)


@given(st.text("<>(){}[]:, aB1#Functor{lambda(", max_size=80) | st.integers(1, 900).map(lambda depth: "a<" * depth))
def test_any_text_has_one(name: str) -> None:
    assert isinstance(short_kernel_name(name), str)
