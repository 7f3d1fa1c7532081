"""One document from its text to its report, with the settings that the command would use.

In: a path and an editor's text.  Out: a ``Reply``, picklable, never an exception for anything
that is in the text or in a settings file.
"""

from __future__ import annotations

from coalescecheck import __version__, config
from coalescecheck.analysis import FileAnalysis
from coalescecheck.baseline import without_known
from coalescecheck.errors import CoalesceCheckError
from coalescecheck.files import Exclusions, excluded
from coalescecheck.isolation import Defect, isolated
from coalescecheck.lsp.messages import Reply, Request, failed
from coalescecheck.options import Options
from coalescecheck.pipeline import analyze_file
from coalescecheck.report.model import FileReport, Report


def answer(request: Request) -> Reply:
    """Analyse one document."""
    try:
        reply = isolated("the analysis", lambda: _analysed(request))
    except CoalesceCheckError as error:  # such as a settings file that makes no sense
        return failed(request, str(error))
    if isinstance(reply, Defect):
        return failed(request, f"internal error: {reply.error}; please report this")
    return reply


def _analysed(request: Request) -> Reply:
    options = config.Settings(config.find([request.path]), {}).at(request.path)
    if excluded(request.path, Exclusions(options.root, options.exclude)):
        return Reply(FileReport(FileAnalysis(request.path, "", ())))
    result = analyze_file(request.path, options, request.text)
    report = _without_known(result.report, options)
    return Reply(report, tuple(str(error) for error in result.errors))


def _without_known(file: FileReport, options: Options) -> FileReport:
    """The file's report without the findings of the baseline in the settings, if there is one."""
    if options.baseline is None:
        return file
    return without_known(Report(__version__, options.arch.name, (file,)), options.baseline).files[0]
