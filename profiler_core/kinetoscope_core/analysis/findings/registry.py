"""All rules, in the order of their use. Adding one: its module, a line here, its page, and a row in docs/findings."""

from typing import Final

from kinetoscope_core.analysis.findings.job import rules as job_rules
from kinetoscope_core.analysis.findings.rules import (
    backward_elsewhere,
    bounds,
    cold_start,
    communication,
    compiling,
    hidden_copy,
    idle_gap,
    incomplete,
    kernel_varies,
    memory_churn,
    optimizer,
    outside_regions,
    pageable_copy,
    profiler_overhead,
    synchronisation,
    tensor_cores_unused,
    tiny_kernels,
    waiting_for_data,
)

RULES: Final = (
    *bounds.RULES,
    *synchronisation.RULES,
    cold_start.RULE,
    tiny_kernels.RULE,
    pageable_copy.RULE,
    tensor_cores_unused.RULE,
    idle_gap.RULE,
    profiler_overhead.RULE,
    backward_elsewhere.RULE,
    *outside_regions.RULES,
    memory_churn.RULE,
    *compiling.RULES,
    waiting_for_data.RULE,
    *optimizer.RULES,
    communication.RULE,
    *job_rules.RULES,
    kernel_varies.RULE,
    hidden_copy.RULE,
    *incomplete.RULES,
)

BOUNDS: Final = frozenset(rule.code for rule in RULES if rule.is_bound)
BY_CODE: Final = {rule.code: rule for rule in RULES}
