"""The reference of the Curation SDK, made from its signatures and docstrings by griffe."""

from collections.abc import Iterator
from pathlib import Path

import griffe

SOURCE = Path(__file__).parents[1] / "packages" / "curation-sdk" / "src"
PACKAGE = "curation_sdk"

SECTIONS: dict[str, tuple[str, ...]] = {
    "A first queue": ("QueueMixin", "run_worker"),
    "Stages": ("stage", "in_thread", "Stage", "Backoff", "queue_index", "Registry"),
    "Outcomes": ("Outcome", "Done", "Retry", "Later", "GiveUp", "Skip"),
    "Effects": ("Effect", "Transaction"),
    "Workers": ("Worker",),
    "Job loops": ("run_job_loop",),
    "Tables": ("migrate",),
}
MODULES: dict[str, str] = {
    "Steering and measuring": "control",
    "Dead letters": "dead_letters",
    "History": "history",
    "Periodic functions": "periodic",
    "Dashboard": "dashboard",
    "The item in work": "working",
    "Rescue": "reap",
    "Processes": "process",
    "Events": "events",
    "Errors": "errors",
    "Migrations": "migrations",
    "Queries": "queries",
    "Testing": "testing",
}
"""Public modules whose members are used under the module's name; one may not exist yet."""
GIVEN = {"Queue", "Transaction"}
"""Classes whose instances users are given and never make."""
WIDTH = 88
SPEAKING = {"events", "queue"}
"""Modules whose classes have fields that need no words of their own."""


def load() -> griffe.Module:
    """Read the package's source, without importing it."""
    package = griffe.load(PACKAGE, search_paths=[SOURCE])
    assert isinstance(package, griffe.Module)  # noqa: S101 - for the type checker
    return package


def page() -> str:
    """Write the whole page."""
    package = load()
    lines = [
        f"# Curation SDK: `{PACKAGE}`",
        "",
        text_of(package),
        "",
        (
            "Import names from `curation_sdk`, or from the module that a section names. "
            "How it works is explained in [The Curation SDK](../explanation/curation-sdk.md)."
        ),
        "",
    ]
    for title, members in sections(package).items():
        lines += [f"## {title}", ""]
        if title in MODULES:
            module = package[MODULES[title]]
            lines += [f"Module `{PACKAGE}.{MODULES[title]}`. {text_of(module)}", ""]
        for name, member in members.items():
            lines += described(name, member)
    return "\n".join(lines)


def sections(package: griffe.Module) -> dict[str, dict[str, griffe.Object]]:
    """Return everything public, by the title it appears under."""
    found = {
        title: {name: exported(package, name) for name in names}
        for title, names in SECTIONS.items()
    }
    shown = {name for names in SECTIONS.values() for name in names}
    for title, name in MODULES.items():
        if name in package.members:
            module = package[name]
            names = [each for each in public_names(module) if each not in shown]
            found[title] = {each: target_of(module[each]) for each in names}
    return found


def exported(package: griffe.Module, name: str) -> griffe.Object:
    """Return what the package imports under a name, which may also be a module's."""
    path = package.imports[name].removeprefix(f"{PACKAGE}.")
    return target_of(package[path])


def public_names(module: griffe.Module) -> list[str]:
    """Return what a module exports, in the order of its source."""
    names = [str(name) for name in module.exports or ()] or [
        name
        for name, member in module.members.items()
        if not member.is_alias and (member.is_class or member.docstring is not None)
    ]
    return sorted(
        (name for name in names if not name.startswith("_")),
        key=lambda name: (target_of(module[name]).lineno or 0, name),
    )


def target_of(member: griffe.Object | griffe.Alias) -> griffe.Object:
    """Return what a name stands for, where it is defined."""
    return member.final_target if isinstance(member, griffe.Alias) else member


def described(name: str, member: griffe.Object) -> list[str]:
    """Describe one public name."""
    lines = [f"### {name}", "", *quoted(signature(name, member)), text_of(member), ""]
    if isinstance(member, griffe.Class) and name != "Queue":
        lines += field_table(member)
        for method in methods(member):
            lines += [*quoted(signature(method.name, method)), text_of(method), ""]
    return lines


def quoted(text: str) -> list[str]:
    """Write Python in Markdown, with the quotes that our formatter uses."""
    return ["```python", text.replace("'", '"'), "```", ""]


def signature(name: str, member: griffe.Object) -> str:
    """Write how a name is used: called, or what it stands for."""
    if isinstance(member, griffe.Class):
        return f"class {name}" if name in GIVEN else call(name, member.parameters)
    if isinstance(member, griffe.Function):
        prefix = "async def" if "async" in member.labels else "def"
        returns = f" -> {member.returns}" if member.returns else ""
        return call(f"{prefix} {name}", member.parameters, returns)
    assert isinstance(member, griffe.Attribute)  # noqa: S101 - for the type checker
    if "property" in member.labels:
        return f"{name}: {member.annotation}"
    line = f"{name} = {member.value}"
    return line if len(line) <= WIDTH else f"{name} = ..."


def call(name: str, parameters: griffe.Parameters, returns: str = "") -> str:
    """Write a call, on one line if it is short."""
    words = list(written(parameters))
    line = f"{name}({', '.join(words)}){returns}"
    if len(line) <= WIDTH:
        return line
    return f"{name}(\n" + "".join(f"    {word},\n" for word in words) + f"){returns}"


def written(parameters: griffe.Parameters) -> Iterator[str]:
    """Write parameters as Python does, without self."""
    is_keyword_only = False
    for each in parameters:
        if each.name in {"self", "cls"}:
            continue
        if each.kind is griffe.ParameterKind.keyword_only and not is_keyword_only:
            is_keyword_only = True
            yield "*"
        star = {
            griffe.ParameterKind.var_positional: "*",
            griffe.ParameterKind.var_keyword: "**",
        }.get(each.kind or griffe.ParameterKind.positional_or_keyword, "")
        is_keyword_only = is_keyword_only or star == "*"
        kind = f": {each.annotation}" if each.annotation is not None else ""
        value = None if star else default_of(each)
        default = f" = {value}" if value is not None else ""
        yield f"{star}{each.name}{kind}{default}"


def default_of(parameter: griffe.Parameter) -> str | None:
    """Write a default; a span of time as it is, instead of by its private name."""
    default = parameter.default
    if isinstance(default, griffe.ExprName) and parameter.function is not None:
        named = parameter.function.module.members.get(default.name)
        value = named.value if isinstance(named, griffe.Attribute) else None
        if str(value).startswith("timedelta("):
            return str(value)
    return None if default is None else str(default)


def field_table(member: griffe.Class) -> list[str]:
    """List the fields of a class that say what they are for."""
    rows = [
        f"| `{name}` | {code(field.value)} | {' '.join(text_of(field).split())} |"
        for name, field in fields(member)
        if field.docstring is not None
    ]
    heading = ["| field | default | meaning |", "|---|---|---|"]
    return [*heading, *rows, ""] if rows else []


def code(value: object) -> str:
    """Write a default for a cell of a table."""
    return f"`{value}`".replace("'", '"') if value is not None else ""


def fields(member: griffe.Class) -> list[tuple[str, griffe.Attribute]]:
    """Return the fields of a dataclass."""
    return [
        (name, each)
        for name, each in member.members.items()
        if isinstance(each, griffe.Attribute)
        and "dataclass" in member.labels
        and each.annotation is not None
        and "property" not in each.labels
        and not name.startswith("_")
    ]


def methods(member: griffe.Class) -> list[griffe.Function | griffe.Attribute]:
    """Return the public methods and properties of a class."""
    return [
        each
        for name, each in member.members.items()
        if (isinstance(each, griffe.Function) and is_public(name, each))
        or (isinstance(each, griffe.Attribute) and "property" in each.labels)
    ]


def is_public(name: str, function: griffe.Function) -> bool:
    """Return whether a method is for users: no leading underscore, or a call."""
    called = name == "__call__" and function.docstring is not None
    return called or not name.startswith("_")


def text_of(member: griffe.Object) -> str:
    """Return a docstring."""
    return member.docstring.value.strip() if member.docstring else ""


def undocumented() -> list[str]:
    """Return the public names that say nothing about themselves."""
    package = load()
    missing = []
    for members in sections(package).values():
        for name, member in members.items():
            parts: list[tuple[str, griffe.Object]] = [(name, member)]
            if isinstance(member, griffe.Class):
                parts += [(f"{name}.{each.name}", each) for each in methods(member)]
                if member.module.name not in SPEAKING:
                    parts += [(f"{name}.{key}", each) for key, each in fields(member)]
            missing += [label for label, part in parts if not text_of(part)]
    return missing


def unlisted() -> list[str]:
    """Return the names exported by the package that the page does not describe."""
    package = load()
    listed = {name for members in sections(package).values() for name in members}
    exports = {str(name) for name in package.exports or ()}
    return sorted(exports - listed - set(MODULES.values()))
