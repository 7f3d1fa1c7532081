"""The JSON report against its schema and against the contract's field names."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from coalescecheck import rules
from coalescecheck.analysis import Count, KernelAnalysis, L1Wavefronts, Race, Trial
from coalescecheck.launch import Launch
from coalescecheck.report import FORMATS, renderer
from coalescecheck.report.model import FileReport, InternalError, Report, Terminal
from coalescecheck.source import Diagnostic, Span
from coalescecheck.totals import kernel_totals
from hand_made import PATH, access, exactly, file, kernel
from hostile import hostile, ordinary

SCHEMA = json.loads(files("coalescecheck.report").joinpath("schema.json").read_text("utf-8"))

L1 = L1Wavefronts(Count(1, 1, 1.0), Count(1, 2, None))
COLUMN = access(
    3,
    at=(7, 24),
    index="tile[threadIdx.x][threadIdx.y]",
    space="shared",
    wavefronts=exactly(32, 1),
    bank_conflict_degree=(32, 32),
    lane_stride_bytes=128,
    pattern="strided",
    efficiency=None,
)


def rendered(*kernels: KernelAnalysis, **report: Any) -> dict[str, Any]:
    findings = rules.merge(f for each in kernels for f in rules.check(each))
    said = (Diagnostic(Span(PATH, 1, 10), "note", "helper.h is not found"),)
    files = (FileReport(file(*kernels, diagnostics=said), findings),)
    text = renderer("json")(Report("0.1.0", "sm_80", files, **report), Terminal())
    document: dict[str, Any] = json.loads(text)
    return document


def everything() -> dict[str, Any]:
    spans = (Span(PATH, 5, 5), Span(PATH, 7, 24))
    pad = Trial("pad", "tile", "`tile[32][33]`", "declare it so", {3: 32.0}, {3: 1.0}, amount=1)
    symbolic = access(
        1,
        lane_stride_bytes="4*n",
        pattern="strided",
        certainty="exact-symbolic",
        sectors=Count(1, 32, None, 4, "Min(32, n)"),
        requests=None,
        efficiency=None,
    )
    unknown = access(2, certainty="unknown", sectors=None, lines128=None, address=None)
    return rendered(
        kernel(
            access(l1_wavefronts=L1),
            COLUMN,
            trials=(pad,),
            races=(Race("tile", spans, "RAW"),),
            totals=kernel_totals([], complete=False),
        ),
        kernel(symbolic, unknown, launch=Launch(None, None, "assumed"), params={}),
        kernel(status="failed", reason="inline assembly"),
        internal_errors=(InternalError("analysis", PATH, "flip", "KeyError: 'x'"),),
    )


def test_the_schema_is_a_schema() -> None:
    Draft202012Validator.check_schema(SCHEMA)


def test_a_report_with_everything_in_it_is_valid() -> None:
    errors = [error.message for error in Draft202012Validator(SCHEMA).iter_errors(everything())]
    assert errors == []


def test_edits_and_silenced_findings_are_valid() -> None:
    document = json.loads(renderer("json")(hostile(), Terminal()))
    assert [error.message for error in Draft202012Validator(SCHEMA).iter_errors(document)] == []
    assert document["files"][0]["suppressed"][0]["by"] == "source"
    ordinary_document = json.loads(renderer("json")(ordinary(), Terminal()))
    edit = ordinary_document["files"][0]["findings"][0]["fix"]["edit"]
    place = {"file": PATH, "line": 4, "column": 27, "end_column": 29}
    assert edit == place | {"text": "33", "also": []}


@pytest.mark.parametrize(
    "path",
    ["arch", "files.0.path", "files.0.kernels.0.launch.block", "files.0.kernels.0.accesses.0.op"],
)
def test_the_schema_notices_a_missing_field(path: str) -> None:
    document = everything()
    *parents, name = path.split(".")
    place: Any = document
    for step in parents:
        place = place[int(step) if step.isdigit() else step]
    del place[name]
    assert not Draft202012Validator(SCHEMA).is_valid(document)


# The contract, field by field, in its own order.
FIELDS = {
    "": "schema_version tool arch files",
    "files.0": "path diagnostics kernels findings",
    "files.0.diagnostics.0": "line column severity message",
    "files.0.kernels.0": (
        "name template line launch params assumptions status reason accesses races totals"
    ),
    "files.0.kernels.0.launch": "block grid source file line",
    "files.0.kernels.0.accesses.1": (
        "id line column array space op width_bytes index address lane_stride_bytes pattern "
        "certainty reason requests sectors lines128 efficiency wavefronts bank_conflict_degree "
        "guards loops verified"
    ),
    "files.0.kernels.0.accesses.1.wavefronts": "min max mean ideal formula",
    "files.0.kernels.0.accesses.0.sectors": "min max mean ideal formula",
    "files.0.kernels.0.accesses.0.lines128": "min max mean",
    "files.0.kernels.0.accesses.1.bank_conflict_degree": "min max",
    "files.0.kernels.0.accesses.0.l1_wavefronts.data": "min max mean",
    "files.0.kernels.0.accesses.0.l1_wavefronts.tag": "min max mean",
    "files.0.kernels.0.totals": (
        "global_requests global_sectors global_sectors_min global_sectors_max "
        "global_load_sectors global_store_sectors shared_requests shared_wavefronts "
        "shared_bank_conflicts"
    ),
    "files.0.kernels.0.accesses.0.verified": "simulation gpu warps_checked",
    "files.0.kernels.0.races.0": "array lines kind",
    "files.0.findings.0": "rule severity line column kernel message advice fix",
    "files.0.findings.1.fix": "description verified before after",
}


@pytest.mark.parametrize(("path", "names"), FIELDS.items(), ids=[k or "report" for k in FIELDS])
def test_the_fields_of_the_contract_are_there(path: str, names: str) -> None:
    place: Any = everything()
    for step in filter(None, path.split(".")):
        place = place[int(step) if step.isdigit() else step]
    assert [name for name in names.split() if name not in place] == []


def test_values_are_those_of_the_analysis() -> None:
    found = everything()["files"][0]["kernels"][0]
    assert found["launch"] == {
        "block": [32, 8, 1],
        "grid": [16, 16, 1],
        "source": "host",
        "file": None,
        "line": 20,
    }
    assert found["template"] == {"PAD": "0"}
    assert found["accesses"][1]["wavefronts"] == {
        "min": 32,
        "max": 32,
        "mean": 32.0,
        "ideal": 1,
        "formula": None,
    }
    assert found["races"] == [
        {"array": "tile", "lines": [5, 7], "kind": "RAW", "beyond_warp": False}
    ]


def test_a_total_that_is_not_known_is_null_beside_its_bounds() -> None:
    totals = everything()["files"][0]["kernels"][0]["totals"]
    names = ("global_sectors", "global_sectors_min", "global_sectors_max")
    assert [totals[name] for name in names] == [None, 0, None]


def test_an_assumed_launch_is_null() -> None:
    launch = everything()["files"][0]["kernels"][1]["launch"]
    assert launch == {"block": None, "grid": None, "source": "assumed", "file": None, "line": None}


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_renders_an_empty_report(name: str) -> None:
    assert renderer(name)(Report("0.1.0", "sm_80", ()), Terminal())
