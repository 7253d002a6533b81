"""The manual page lists what the program has, and roff has nothing to object to."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest

from swapcli.faces.cli.exit_codes import MEANING
from swapcli.faces.cli.help_topics import ORDER, topic_text
from swapcli.faces.cli.man_page import man_page
from swapcli.quoting.config.settings import TABLE
from tests.generate.command_tree import command_nodes
from tests.support.command import run_swapcli

PAGE = man_page()


def test_help_prints_the_page() -> None:
    assert run_swapcli("help", "--man").stdout == PAGE


def test_roff_has_no_warnings() -> None:
    groff = shutil.which("groff")
    assert groff is not None, "install groff"
    command = [groff, "-man", "-Tutf8", "-k", "-ww", "-z"]
    ran = subprocess.run(command, input=PAGE.encode(), capture_output=True, check=False)
    assert (ran.returncode, ran.stderr.decode()) == (0, "")


def test_the_page_has_every_command_option_and_code() -> None:
    plain = PAGE.replace("\\-", "-")
    for node in command_nodes():
        assert f'.SS "swapcli {" ".join(node.path)}' in plain or not node.path
        for option in node.options:
            assert any(re.search(rf"^\.B .*{re.escape(name)}\b", plain, re.MULTILINE) for name in option.names)
    for name in (*map(str, MEANING), *(setting.variable for setting in TABLE.values())):
        assert f"\n.B {name}\n" in plain


@pytest.mark.parametrize("topic", ORDER)
def test_every_word_of_a_topic_is_on_the_page(topic: str) -> None:
    unescaped = re.sub(r"\\(?:e|-|&|\(ga|\(aq|\(ti|\(ha|\(dq)", lambda found: SIGNS[found[0]], PAGE).casefold()
    words = set(re.findall(r"\w+", topic_text(topic).casefold()))
    assert words <= set(re.findall(r"\w+", unescaped)) or topic == "exit-codes"


SIGNS = {"\\e": "\\", "\\-": "-", "\\&": "", "\\(ga": "`", "\\(aq": "'", "\\(ti": "~", "\\(ha": "^", "\\(dq": '"'}


def test_the_manual_page_has_no_topic() -> None:
    assert run_swapcli("help", "state", "--man", "--json").exit_code == 2
