"""Where a path of a command leads: the folders that it may name."""

from __future__ import annotations

import guard_words as marks
from guard_paths import is_folder
from guard_shell import is_name, united
from guard_words import UNKNOWN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from guard_shell import Call, Folders


def folders_of(call: Call, text: str) -> tuple[Folders, bool]:
    """Return the folders that the text may name in the folders in force, and whether all of them exist."""
    found: list[str] = []
    sure = True
    paths = call.reader.paths
    call.reader.shared.spend(len(call.reader.folders) - 1)
    for folder in call.reader.folders:
        path = paths.absolute(text, folder)
        if UNKNOWN in path:
            found.append(path)
            sure = False
        elif marks.STAR in path or marks.ANY in path or marks.SET in path or marks.WILD in path:
            from guard_match import matching_folders

            found += matching_folders(paths, path) or [UNKNOWN]
            sure = False
        else:
            found.append(path)
            sure = sure and (is_folder(path) or path in call.reader.shared.made)
    return united([tuple(found)]), sure


def inside(call: Call, folder: str, words: list[str]) -> None:
    """Judge the words as a command, in another folder if one is given."""
    if not words:
        return
    before = call.reader.folders
    if folder:
        call.reader.folders = folders_of(call, folder)[0]
    call.again(words)
    if folder:
        call.reader.folders = before


def is_assignment(word: str) -> bool:
    """Return whether the word is `NAME=value`."""
    return "=" in word and is_name(word.partition("=")[0])
