"""The names of what is ours in the protocol: commands, requests, notifications. docs/lsp.md describes each; a test
holds the two together.
"""

from typing import Final

PROFILE_REGION: Final = "kinetoscope.profileRegion"
PROFILE_FILE: Final = "kinetoscope.profileFile"
PROFILE_MODULES: Final = "kinetoscope.profileModules"
PROFILE_WITH_ARGUMENTS: Final = "kinetoscope.profileWithArguments"
PROFILE_WITH: Final = "kinetoscope.profileWith"
NAME_ARGUMENTS: Final = "kinetoscope.nameArguments"
SWEEP: Final = "kinetoscope.sweep"
SHOW_SWEEP: Final = "kinetoscope.showSweep"
SHOW_SETTING: Final = "kinetoscope.showSetting"
PROFILE_PLAIN: Final = "kinetoscope.profilePlain"
CHOOSE_INTERPRETER: Final = "kinetoscope.chooseInterpreter"
PROFILE_TIMES: Final = "kinetoscope.profileTimes"
MEASURE_MORE: Final = "kinetoscope.measureMore"
CANCEL: Final = "kinetoscope.cancel"
OPEN_TRACE: Final = "kinetoscope.openTrace"
OPEN_TRACE_AT: Final = "kinetoscope.openTraceAt"
SHOW_DETAILS: Final = "kinetoscope.showDetails"
CHOOSE_RESULT: Final = "kinetoscope.chooseResult"
SHOW_RESULT: Final = "kinetoscope.showResult"
CLEAR: Final = "kinetoscope.clear"
LOAD_TRACE: Final = "kinetoscope.loadTrace"
PIN_RUN: Final = "kinetoscope.pinRun"
PIN_BASELINE: Final = "kinetoscope.pinBaseline"
DELETE_RUN: Final = "kinetoscope.deleteRun"
EXPLAIN: Final = "kinetoscope.explain"
DOCTOR: Final = "kinetoscope.doctor"

COMMANDS: Final = (
    PROFILE_REGION,
    PROFILE_FILE,
    PROFILE_MODULES,
    PROFILE_WITH_ARGUMENTS,
    PROFILE_WITH,
    NAME_ARGUMENTS,
    SWEEP,
    SHOW_SWEEP,
    SHOW_SETTING,
    PROFILE_PLAIN,
    CHOOSE_INTERPRETER,
    PROFILE_TIMES,
    MEASURE_MORE,
    CANCEL,
    OPEN_TRACE,
    OPEN_TRACE_AT,
    SHOW_DETAILS,
    CHOOSE_RESULT,
    SHOW_RESULT,
    CLEAR,
    LOAD_TRACE,
    PIN_RUN,
    PIN_BASELINE,
    DELETE_RUN,
    EXPLAIN,
    DOCTOR,
)

PROFILE: Final = "kinetoscope/profile"
LOAD: Final = "kinetoscope/load"
RUN: Final = "kinetoscope/run"
RESULTS_OF: Final = "kinetoscope/resultsOf"
RUNS: Final = "kinetoscope/runs"
COMPARISON: Final = "kinetoscope/comparison"
SWEEP_RESULT: Final = "kinetoscope/sweep"
TRACE: Final = "kinetoscope/trace"
INTERPRETERS: Final = "kinetoscope/interpreters"
TRUST: Final = "kinetoscope/trust"
RESULTS: Final = "kinetoscope/results"
PROGRESS: Final = "kinetoscope/progress"
WARM: Final = "kinetoscope/warm"
RUNS_CHANGED: Final = "kinetoscope/runsChanged"
SWEPT: Final = "kinetoscope/swept"
SAVE: Final = "kinetoscope/save"
CHOOSE: Final = "kinetoscope/choose"

REQUESTS: Final = (
    PROFILE,
    LOAD,
    RUN,
    RESULTS_OF,
    RUNS,
    COMPARISON,
    SWEEP_RESULT,
    TRACE,
    INTERPRETERS,
    TRUST,
    SAVE,
    CHOOSE,
)
"""From the client, but for those `TO_CLIENTS`."""

TO_CLIENTS: Final = (SAVE, CHOOSE)
"""Requests that clients say they answer."""

NOTIFICATIONS: Final = (RESULTS, PROGRESS, WARM, RUNS_CHANGED, SWEPT)
"""To clients that say they want them."""
