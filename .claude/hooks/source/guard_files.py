"""Judge the calls of file tools, patch tools and MCP tools by their arguments (hooks.md 4.3)."""

from __future__ import annotations

from guard_payload import reader_of, spelled
from guard_shell import Call, Trouble
from guard_words import foreign, names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from guard_payload import Tool


EDITORS = names(
    "write edit multiedit multi_edit notebookedit create insert str_replace str_replace_editor "
    "str_replace_based_edit_tool write_file replace delete delete_file edit_file create_file write_to_file "
    "replace_in_file search_replace apply_diff append move rename remove patch apply_patch applypatch "
    "edit_notebook undo_edit"
)
PATCHES = frozenset(("apply_patch", "applypatch", "patch", "apply_diff"))
MCP_VERBS = names("write edit create append move rename copy delete remove patch insert replace truncate save upload")
# Arguments that carry text, in any spelling (compared without `_` and in lower case).
TEXTS = names(
    "content contents newstring oldstring filetext description text newstr oldstr inserttext newsource newtext "
    "oldtext prompt query pattern message title body reason explanation instruction instructions code data value "
    "comment summary replacement search find regex viewrange cellid language subject"
)
PATCH_KEYS = names("patch patchtext diff input command")
DEEPEST = 20


def is_writing_mcp(name: str) -> bool:
    """Return whether the name is that of an MCP tool which writes."""
    return name.startswith("mcp__") and any(verb in name.rpartition("__")[2].lower() for verb in MCP_VERBS)


def judge_paths(tool: Tool, environ: Mapping[str, str]) -> None:
    """Judge the paths and patches among the arguments of a tool that writes files."""
    arguments = tool.arguments
    if tool.name not in EDITORS and not is_writing_mcp(tool.name):
        return
    if arguments.get("command") == "view" and tool.name not in PATCHES:
        return
    reader = reader_of(tool, environ)
    call = Call(reader, [tool.name], None)
    for key, text in texts_of(arguments, "", 0):
        folded = key.replace("_", "").lower()
        if folded in PATCH_KEYS or (tool.name in PATCHES and "\n" in text):
            import guard_code

            guard_code.judge_patch(call, foreign(text))
        if folded not in TEXTS and not (tool.name in PATCHES and "\n" in text):
            call.write(spelled(text), f"`{tool.name}`")
            if tool.name in ("delete", "delete_file", "remove", "move", "rename") or tool.name.startswith("mcp__"):
                judge_folder(call, tool.name, text)


def judge_folder(call: Call, name: str, text: str) -> None:
    """Deny removing or moving a folder above a protected file."""
    last = name.rpartition("__")[2].lower()
    if any(verb in last for verb in ("delete", "remove", "move", "rename")):
        call.write_tree(spelled(text), f"`{name}`")


def texts_of(value: object, key: str, depth: int) -> Iterator[tuple[str, str]]:
    """Yield the texts among arguments, each with the key it stands under; items of a list have the list's key."""
    if depth > DEEPEST:
        raise Trouble("nested too deep")
    if isinstance(value, str):
        yield key, value
    elif isinstance(value, dict):
        for name, item in value.items():
            yield from texts_of(item, name, depth + 1)
    elif isinstance(value, list):
        for item in value:
            yield from texts_of(item, key, depth + 1)
