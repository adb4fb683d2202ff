"""The documents tell the truth about today's code."""

from __future__ import annotations

import doctest
import re
from fnmatch import fnmatch
from pathlib import Path

import pytest

from ascend_col2im import __version__
from ascend_col2im.cli import main
from ascend_col2im.errors import EXIT_CODES, Col2ImError
from ascend_col2im.facts import ACCUMULATORS, TARGETS
from ascend_col2im.rules import RULES
from tools import generate_docs

from .test_architecture import ROOMS

ROOT = Path(__file__).parent.parent
READMES = ("README.md", "README.zh-CN.md")


def text_of(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def test_generated_parts_equal_the_code() -> None:
    assert generate_docs.stale() == []


def test_every_generated_part_stands_in_a_document() -> None:
    texts = "".join(map(text_of, generate_docs.DOCUMENTS))
    for part in generate_docs.PARTS:
        assert texts.count(f"<!-- generated: {part} -->\n") == 1, part
        assert texts.count(f"<!-- end: {part} -->") == 1, part


def test_a_changed_fact_makes_a_document_stale() -> None:
    text = text_of("docs/command-line.md")
    assert generate_docs.regenerated(text) == text
    assert generate_docs.regenerated(text.replace("| 130 |", "| 131 |")) == text


def test_documents_name_every_command_option_rule_code_and_dtype() -> None:
    commands = text_of("docs/command-line.md")
    for name, command in main.commands.items():
        assert f"## `{name}`" in commands
        for parameter in command.params:
            for option in (*parameter.opts, *parameter.secondary_opts):
                if option.startswith("--"):
                    assert option in commands, (name, option)
    assert all(f"| {code} | {meaning} |" in commands for code, meaning in EXIT_CODES.items())
    assert all(f"| `{rule}` |" in text_of("docs/rules.md") for rule in RULES)
    for readme in READMES:
        assert all(f"`{target}`" in text_of(readme) for target in TARGETS)
        assert all(dtype in text_of(readme) for dtype in ACCUMULATORS)


def test_the_architecture_names_every_room() -> None:
    named = re.findall(r"`([\w/.*]+)`", text_of("ARCHITECTURE.md"))
    rooms = [Path(name).name.removesuffix(".py") for name in named]
    for room in (room for row in ROOMS for room in row):
        assert any(fnmatch(room, pattern) for pattern in rooms), room


def test_every_command_is_told_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    main(["--help"], standalone_mode=False)
    assert "..." not in capsys.readouterr().out.partition("Commands:")[2]


def test_every_error_class_has_an_exit_code_of_its_own_or_its_parents() -> None:
    def below(error: type[Col2ImError]) -> set[type[Col2ImError]]:
        return {error}.union(*map(below, error.__subclasses__()))

    assert {error.exit_code for error in below(Col2ImError)} <= set(EXIT_CODES)


def structure(text: str) -> list[str]:
    """Reduce a README to what both languages share: headings' levels, code, tables' shapes."""
    kept = []
    in_code = False
    for line in text.splitlines():
        if line.startswith("```"):
            in_code = not in_code
            kept.append(line)
        elif in_code:
            kept.append(line)
        elif heading := re.match(r"#+ ", line):
            kept.append(heading[0])
        elif line.startswith("|"):
            kept.append("|" * line.count("|"))
        elif picture := re.match(r"!\[[^]]*\](\(.*\))", line):
            kept.append(picture[1])
    return kept


def test_both_readmes_have_the_same_structure() -> None:
    english, chinese = map(structure, map(text_of, READMES))
    assert english == chinese
    assert len(english) > 50


@pytest.mark.parametrize("readme", READMES)
def test_the_examples_of_a_readme_run(readme: str) -> None:
    code = "\n".join(re.findall(r"```python\n(.*?)```", text_of(readme), re.DOTALL))
    examples = doctest.DocTestParser().get_doctest(code, {}, readme, readme, 0)
    assert len(examples.examples) > 10
    runner = doctest.DocTestRunner(verbose=False)
    runner.run(examples)
    assert runner.failures == 0


def test_links_between_documents_lead_somewhere() -> None:
    for document in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]:
        for link in re.findall(r"\]\(([^)#:]+)\)", document.read_text(encoding="utf-8")):
            assert (document.parent / link).exists(), f"{document.name}: {link}"


def test_the_changelog_knows_this_version() -> None:
    assert f"## [{__version__}]" in text_of("CHANGELOG.md") or "[Unreleased]" in text_of(
        "CHANGELOG.md"
    )
