"""One region around a matrix product and a sum.

At --size 64 the CPU needs longer to launch the work than a GPU to do it; at --size 4096 the GPU is the limit.

    python examples/matmul_add.py --size 4096 --profile          # the table of torch.profiler
    kinetoscope profile examples/matmul_add.py -- --size 4096    # the times beside the lines
"""

import argparse

import torch
from torch.profiler import ProfilerActivity, profile, record_function, schedule


def matmul_add(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return torch.add(torch.matmul(x, w), b)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Multiply two square matrices and add a row, again and again.")
    parser.add_argument("--size", type=int, default=64, help="rows and columns of the matrices")
    parser.add_argument("--dtype", choices=["float32", "float16", "bfloat16"], default="bfloat16")
    parser.add_argument("--compile", action="store_true", help="through torch.compile")
    parser.add_argument("--warmup", type=int, default=0, help="untimed passes before")
    parser.add_argument("--steps", type=int, default=10, help="passes through the region")
    parser.add_argument("--profile", action="store_true", help="run under torch.profiler and print its table")
    parser.add_argument("--trace", metavar="FILE", help="with --profile: export the trace of the last cycle")
    return parser.parse_args()


def main() -> None:
    args = parse_arguments()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    dtype = getattr(torch, args.dtype)
    x = torch.randn(args.size, args.size, device=device, dtype=dtype)
    w = torch.randn(args.size, args.size, device=device, dtype=dtype)
    b = torch.randn(args.size, device=device, dtype=dtype)
    # The region stands around the call: torch.compile drops those inside the code that it compiles.
    run = torch.compile(matmul_add) if args.compile else matmul_add

    for _ in range(args.warmup):
        run(x, w, b)

    def one_pass() -> None:
        with record_function("matmul_add"):
            run(x, w, b)

    if not args.profile:
        for _ in range(args.steps):
            one_pass()
    else:
        activities = [ProfilerActivity.CPU]
        if device == "cuda":
            activities.append(ProfilerActivity.CUDA)
        # Of every five passes, skip one, warm the profiler up with one, and record three.
        with profile(activities=activities, schedule=schedule(wait=1, warmup=1, active=3)) as prof:
            for _ in range(args.steps):
                one_pass()
                prof.step()
        print(prof.key_averages().table(sort_by=f"{device}_time_total", row_limit=10))
        if args.trace:
            prof.export_chrome_trace(args.trace)

    if device == "cuda":
        torch.cuda.synchronize()  # launching is not finishing
    print(f"{args.steps} passes of {args.size} x {args.size} {args.dtype} on {device}")


if __name__ == "__main__":
    main()
