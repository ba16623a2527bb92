"""A file is there whole or not at all."""

import errno

import pytest

from wdrsvm.files import printable, replaced_whole, write_bytes, write_text


def test_a_file_is_written_with_its_folders(tmp_path):
    path = write_text(tmp_path / "a" / "b.txt", "text")
    assert path.read_text() == "text"
    assert [entry.name for entry in path.parent.iterdir()] == ["b.txt"]


def test_an_error_leaves_the_old_file_and_no_draft(tmp_path):
    path = write_bytes(tmp_path / "file", b"old")
    with pytest.raises(TypeError), replaced_whole(path) as draft:
        draft.write_bytes(b"half of the n") + None
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_full_disk_is_explained(tmp_path):
    path = tmp_path / "file"
    with pytest.raises(OSError, match=r"disk is full.*file.*Make room"):
        with replaced_whole(path):
            raise OSError(errno.ENOSPC, "No space left on device")
    assert list(tmp_path.iterdir()) == []


def test_other_errors_of_the_system_stay_as_they_are(tmp_path):
    with pytest.raises(PermissionError), replaced_whole(tmp_path / "file"):
        raise PermissionError


def test_a_sentence_is_not_half_of_a_file():
    assert len(printable("x" * 10**6)) < 3000
