"""The command line without a command."""

from typer.testing import CliRunner

import dovetail
from dovetail.cli import app


def test_version() -> None:
    assert CliRunner().invoke(app, ["--version"]).output == f"dovetail {dovetail.__version__}\n"


def test_help_is_shown_when_nothing_is_asked() -> None:
    assert "--version" in CliRunner().invoke(app, []).output
