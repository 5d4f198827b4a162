"""What a script may be and where it may lie: modules, packages, zip files, odd paths, names like ours."""

import os
import shutil

import pytest

from .conftest import SCRIPTS, line_of


def test_modules_named_like_ours_are_the_script_s(kinetoscope):
    ran = kinetoscope("ours/main.py")
    assert ran.code == 0, ran
    assert ran.counts() == {"mine": (8, 5)}
    ran = kinetoscope("ours/main.py", options=["--to-the-end"])
    assert b"'window of the user', 'channel of the user', 'session of the user'" in ran.script_output


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("no_such_module", "No module named no_such_module"),
        ("package.no_such", "No module named package.no_such"),
        ("package.inner", "No module named package.inner.__main__; 'package.inner' is a package"),
    ],
)
def test_a_module_that_is_not_there(kinetoscope, name, message):
    ran = kinetoscope(name, options=["-m"])
    assert ran.code == 2
    assert message in ran.messages
    assert not ran.stdout
    assert not ran.script_output


def test_a_script_that_is_not_there_or_cannot_be_run(kinetoscope, tmp_path):
    ran = kinetoscope("no_such_script.py")
    assert ran.code == 2
    assert "no_such_script.py" in ran.messages
    ran = kinetoscope(tmp_path)
    assert ran.code == 2
    assert "can't find '__main__' module in" in ran.messages


def test_a_module_with_relative_imports_and_a_package_s_main(kinetoscope):
    ran = kinetoscope("package.module", options=["-m"])
    assert ran.code == 0, ran
    assert ran.counts() == {"relative": (8, 5)}
    assert ran.regions()["relative"]["file"] == str(SCRIPTS / "package" / "inner" / "work.py")
    assert ran.regions()["relative"]["line"] == line_of("package/inner/work.py", "record_function(")
    ran = kinetoscope("package", "an argument", options=["-m", "--to-the-end"])
    assert ran.counts() == {"relative": (9, 6)}
    assert ran.script_output == b"__main__ package ['an argument']\n"


def test_a_zip_file_with_regions(kinetoscope, tmp_path):
    archive = shutil.make_archive(str(tmp_path / "app"), "zip", SCRIPTS / "app")
    ran = kinetoscope(archive, "argument", options=["--to-the-end"])
    assert ran.code == 0, ran
    assert ran.counts() == {"in an app": (9, 6)}
    assert ran.regions()["in an app"]["file"] == os.path.join(archive, "__main__.py")
    assert ran.script_output == b"__main__ '' ['argument'] beside\n"


def test_unicode_paths_with_spaces_and_a_changed_folder(kinetoscope):
    script = "Übung mit Räumen/訓練 🔥.py"
    ran = kinetoscope(script)
    assert ran.counts() == {"ünïcode": (8, 5)}
    assert ran.regions()["ünïcode"]["file"] == str(SCRIPTS / script)
    ran = kinetoscope("package/../changes_folder.py", options=["--to-the-end"])
    assert ran.script_output == b"package/../changes_folder.py False\n"
    assert ran.regions()["elsewhere"]["file"] == str(SCRIPTS / "changes_folder.py")
    assert not ran.result["problems"]
