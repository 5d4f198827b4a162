"""All rules, in the order of their use. Adding one: its module, a line here, its page, and a row in docs/findings."""

from typing import Final

from kinetoscope_core.findings import bounds

RULES: Final = (*bounds.RULES,)

BY_CODE: Final = {rule.code: rule for rule in RULES}
