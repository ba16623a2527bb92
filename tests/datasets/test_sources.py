"""Files by checksum: found, cached, downloaded, refused."""

import errno
import hashlib
import io
import os
import urllib.request
import zipfile
from urllib.error import URLError

import pytest

from wdrsvm.datasets import _sources, tables
from wdrsvm.datasets._sources import Source, cached, content

CONTENT = b"a,b\n1,2\n"
SOURCE = Source(
    "table.csv",
    hashlib.sha256(CONTENT).hexdigest(),
    "https://data.invalid/table.zip",
    "raw.txt",
    lambda raw: raw.replace(b"\t", b","),
)


@pytest.fixture(autouse=True)
def places(monkeypatch, tmp_path):
    monkeypatch.delenv("WDRSVM_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def archive(name="raw.txt", raw=b"a\tb\n1\t2\n", compression=zipfile.ZIP_STORED):
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", compression) as opened:
        opened.writestr(name, raw)
    return made.getvalue()


def serve(monkeypatch, answer):
    asked = []

    def urlopen(url, timeout):
        asked.append(url)
        if isinstance(answer, Exception):
            raise answer
        return io.BytesIO(answer)

    monkeypatch.setattr(urllib.request, "urlopen", urlopen)
    return asked


def test_a_download_is_converted_checked_and_cached(monkeypatch):
    asked = serve(monkeypatch, archive())
    assert content(SOURCE) == CONTENT
    assert content(SOURCE) == CONTENT
    assert asked == [SOURCE.url]
    assert cached(SOURCE).read_bytes() == CONTENT


def test_the_folder_of_the_variable_comes_first(monkeypatch, tmp_path):
    asked = serve(monkeypatch, archive())
    (tmp_path / "table.csv").write_bytes(CONTENT)
    monkeypatch.setenv("WDRSVM_DATA", str(tmp_path))
    assert content(SOURCE) == CONTENT
    assert asked == []


def test_a_corrupted_cache_is_refused_and_says_which_file(monkeypatch):
    serve(monkeypatch, archive())
    content(SOURCE)
    cached(SOURCE).write_bytes(CONTENT[:-1])
    with pytest.raises(ValueError, match=r"table\.csv is not the known.*Delete .*table"):
        content(SOURCE)
    cached(SOURCE).unlink()
    assert content(SOURCE) == CONTENT


def test_what_is_sent_is_checked_before_it_is_kept(monkeypatch):
    serve(monkeypatch, archive(raw=b"something else"))
    with pytest.raises(ValueError, match="is not the known table"):
        content(SOURCE)
    assert not cached(SOURCE).exists()


@pytest.mark.parametrize("answer", [b"<html>no archive</html>", archive(name="other")])
def test_an_answer_that_is_not_the_archive_is_refused(monkeypatch, answer):
    serve(monkeypatch, answer)
    with pytest.raises(ValueError, match=r"not an archive with raw\.txt"):
        content(SOURCE)


def test_without_a_network_the_error_says_what_to_do(monkeypatch):
    serve(monkeypatch, URLError("no route"))
    with pytest.raises(ConnectionError, match="no route") as caught:
        content(SOURCE)
    for needed in ("WDRSVM_DATA", "table.csv", SOURCE.sha256, str(cached(SOURCE))):
        assert needed in str(caught.value)


def test_a_file_that_cannot_be_downloaded_says_where_to_put_it():
    with pytest.raises(FileNotFoundError, match="WDRSVM_DATA"):
        content(Source("only-here.csv", "0" * 64))


def test_a_full_disk_leaves_nothing_and_the_next_run_succeeds(monkeypatch):
    serve(monkeypatch, archive())
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", raise_no_space)
        with pytest.raises(OSError, match="disk is full"):
            content(SOURCE)
    assert list(cached(SOURCE).parent.iterdir()) == []
    assert content(SOURCE) == CONTENT


def raise_no_space(handle):
    raise OSError(errno.ENOSPC, "No space left on device")


def test_a_download_with_a_damaged_member(tmp_path, monkeypatch):
    sent = archive(tables.SEEDS.member, b"1 2 3\n" * 500, zipfile.ZIP_DEFLATED)
    middle = sent.index(tables.SEEDS.member.encode()) + len(tables.SEEDS.member)
    sent = sent[: middle + 2] + b"\xff\xff\xff" + sent[middle + 5 :]
    monkeypatch.setenv(_sources.CACHE_VARIABLE, str(tmp_path))
    monkeypatch.delenv(_sources.DATA_VARIABLE, raising=False)
    monkeypatch.setattr("urllib.request.urlopen", lambda *_, **__: io.BytesIO(sent))
    with pytest.raises(ValueError, match="not an archive"):
        tables.load("seeds")
    assert list(tmp_path.iterdir()) == []
