"""torch's profiler in the script's process: ours, the script's own, and what Kineto says beside them."""
