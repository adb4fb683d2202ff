"""Write the parts of the documents that repeat facts of the code; ``--check`` only compares.

A generated part stands between ``<!-- generated: NAME -->`` and ``<!-- end: NAME -->``.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

import click

from ascend_col2im.cli import main as command_line
from ascend_col2im.errors import EXIT_CODES
from ascend_col2im.facts import TARGETS, Target
from ascend_col2im.rules import RULES
from tools import performance

ROOT = Path(__file__).parent.parent
DOCUMENTS = (
    *("README.md", "README.zh-CN.md"),
    *("docs/command-line.md", "docs/performance.md", "docs/rules.md"),
)

WORDS = {
    "en": {
        "target": ("target", "product", "dtypes", "spatial axes", "empty batch", "needs"),
        "yes": "yes",
        "no": "no",
        "cpu": "nothing",
        "npu": "CANN and the operator package",
        "command": ("command", "what it does"),
    },
    "zh": {
        "target": ("目标", "产品", "数据类型", "空间维数", "空批次", "需要"),
        "yes": "支持",
        "no": "不支持",
        "cpu": "无",
        "npu": "CANN 与算子包",
        "command": ("命令", "作用"),
    },
}

CHINESE = {
    "Build the operator package as one self-installing file.": (
        "构建算子包，得到一个可自行安装的文件。"
    ),
    "Install a package, and verify it by a launch.": ("安装算子包，并通过一次实际启动来验证。"),
    "Make a simulated CANN, for machines without an NPU.": (
        "生成模拟的 CANN，供没有 NPU 的机器使用。"
    ),
    "Remove a deployed package.": ("移除已部署的算子包。"),
    "Show what the kernel does in one launch, on the simulated NPU.": (
        "在模拟的 NPU 上展示 kernel 一次启动所做的一切。"
    ),
    "Time folds beside torch and ONNX Runtime, or model a device.": (
        "与 torch、ONNX Runtime 一起计时，或对设备建模。"
    ),
    "any machine": "任意机器",
    "Atlas A2 training": "Atlas A2 训练系列",
    "Atlas A3 training": "Atlas A3 训练系列",
    "Atlas 200I/500 A2 inference": "Atlas 200I/500 A2 推理",
    "Fold columns into an image: an example, file, model or picture.": (
        "把列折叠成图像：示例、文件、模型或图片。"
    ),
    "Show what is installed, and compute on every backend.": (
        "列出已安装的组件，并在每个后端上计算一次。"
    ),
}
"""Every product and command's first line of help; a new one is missed until it stands here."""


def table(header: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a Markdown table."""
    header = list(header)
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def in_language(language: str, text: str) -> str:
    """Return a text of the code in the document's language."""
    return CHINESE[text] if language == "zh" else text


def support(language: str) -> str:
    """Return the table of what is supported where."""
    words = WORDS[language]

    def row(target: Target) -> list[str]:
        return [
            f"`{target.name}`",
            in_language(language, target.product),
            ", ".join(target.dtypes),
            f"1-{target.max_axes}",
            str(words["yes" if target.empty_batch else "no"]),
            str(words["cpu" if target.name == "cpu" else "npu"]),
        ]

    return table(words["target"], map(row, TARGETS.values()))


def commands(language: str) -> str:
    """Return the table of commands with their first line of help."""
    return table(
        WORDS[language]["command"],
        (
            [
                f"`ascend-col2im {name}`",
                in_language(language, command.get_short_help_str(limit=200)),
            ]
            for name, command in sorted(command_line.commands.items())
        ),
    )


def exit_codes() -> str:
    """Return the table of exit codes."""
    return table(
        ("exit code", "meaning"), ([str(code), text] for code, text in EXIT_CODES.items())
    )


def rules() -> str:
    """Return the table of validation rules."""
    return table(("rule", "refuses"), ([f"`{name}`", text] for name, text in RULES.items()))


def options() -> str:
    """Return each command's help, as the command prints it."""
    parts = []
    for name, command in sorted(command_line.commands.items()):
        context = click.Context(
            command, info_name=f"ascend-col2im {name}", terminal_width=88, max_content_width=88
        )
        parts.append(f"## `{name}`\n\n```text\n{command.get_help(context)}\n```")
    return "\n\n".join(parts)


PARTS: dict[str, Callable[[], str]] = {
    "support": lambda: support("en"),
    "support-zh": lambda: support("zh"),
    "commands": lambda: commands("en"),
    "commands-zh": lambda: commands("zh"),
    "exit-codes": exit_codes,
    "rules": rules,
    "options": options,
    **performance.PARTS,
}


def regenerated(text: str) -> str:
    """Return a document with every generated part written anew."""
    for name, part in PARTS.items():
        begin, end = f"<!-- generated: {name} -->", f"<!-- end: {name} -->"
        pattern = re.compile(f"{re.escape(begin)}\n.*?{re.escape(end)}", re.DOTALL)
        fresh = f"{begin}\n{part()}\n{end}"
        text = pattern.sub(fresh.replace("\\", r"\\"), text)
    return text


def stale() -> list[str]:
    """Return the documents whose generated parts differ from the code."""
    texts = {name: (ROOT / name).read_text(encoding="utf-8") for name in DOCUMENTS}
    return [name for name, text in texts.items() if regenerated(text) != text]


def rewrite() -> list[str]:
    """Write the stale documents anew and return their names."""
    names = stale()
    for name in names:
        path = ROOT / name
        path.write_text(regenerated(path.read_text(encoding="utf-8")), encoding="utf-8")
    return names


def main() -> int:
    """Rewrite the documents, or with ``--check`` name those that are stale."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="only name stale documents")
    check = parser.parse_args().check
    names = stale() if check else rewrite()
    for name in names:
        print(f"{name}: {'stale; run python -m tools.generate_docs' if check else 'rewritten'}")
    return 1 if check and names else 0


if __name__ == "__main__":
    sys.exit(main())
