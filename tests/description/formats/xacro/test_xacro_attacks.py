"""A xacro file from a stranger is data: it runs nothing, reads nothing outside, and ends.

Every payload that reaches Python through xacro's own evaluation is put into every place that xacro evaluates.
"""

from __future__ import annotations

import contextlib
import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path

import pytest

import tauform as tf
from sampling import representatives
from tauform.description.formats.xacro import budget
from tauform.description.formats.xacro.expand import _Expansion, expand
from tauform.description.formats.xacro.functions import MATH, PYTHON
from tauform.errors import DescriptionError, TauformError

HEAD = '<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">'
# Runs a command with xacro as it is: names within comprehensions escape its check.
SHELL = (
    "[[c for c in x.__class__.__base__.__subclasses__() if c.__name__ == '_wrap_close'][0]"
    ".__init__.__globals__['system']('touch OWNED') for x in [()]]"
)
CODE = [
    SHELL,
    "().__class__.__bases__[0].__subclasses__()",
    "[x.__class__ for x in [1]]",
    "(lambda: 0).__globals__",
    "(lambda x: x)(1)",
    "list(map(lambda x: x, [1]))",
    "(x for x in [1]).gi_frame.f_back.f_builtins",
    "[x for x in [1]].__class__",
    "__import__('os').system('touch OWNED')",
    "__builtins__['open']('OWNED', 'w')",
    "open('OWNED', 'w')",
    "eval('1')",
    "exec('1')",
    "compile('1', '', 'eval')",
    "getattr((), '__class__')",
    "setattr(math, 'pi', 3)",
    "globals()",
    "vars()",
    "python.vars(math)",
    "type(1)",
    "python.type('x', (), dict())",
    "math.__loader__",
    "math.sin.__self__",
    "math.sin.__class__",
    "xacro.load_yaml.__globals__",
    "xacro.load_yaml.__func__",
    "xacro.__class__",
    "python.__dict__",
    "str.__mro__",
    "dict.fromkeys([1])",
    "'{0.__class__}'.format(1)",
    "'{0[0].__class__}'.format([1])",
    "str.format('{0.__class__}', 1)",
    "'{x.__class__}'.format_map(dict(x=1))",
    "f'{1.0.__class__}'",
    "'%s'.__mod__(1)",
    "'a'.translate(dict())",
    "'abc'.encode()",
    "'a'.__add__('b')",
    "[].append(1)",
    "[1].pop()",
    "dict(a=1).update(dict(b=2))",
    "dict(a=1).__class__",
    "(y := 1)",
    "1 .real",
    "1 .__class__",
    "1.0.fromhex('1')",
    "b'bytes'",
    "1j",
    "...",
    "print('x')",
    "input()",
    "breakpoint()",
    "help()",
    "ｏｐｅｎ('OWNED', 'w')",
    "().ｃlass",
    "sorted([1], key=lambda x: x)",
    "max([1], key=open)",
    "list[int]",
    "int | str",
    "[*().__class__.__mro__]",
    "dict(**().__class__.__dict__)",
    "{1: ().__class__}[1]",
    "1 if ().__class__ else 2",
    "[1][().__class__]",
    "not ().__class__",
    "'' in ().__class__.__name__",
    "[0 for x in [1] if x.__class__]",
    "[0 for x.y in [1]]",
    "print_location.__globals__",
]
# Where xacro evaluates: {} is the expression.
PLACES = {
    "attribute": '<a v="${{{}}}"/>',
    "text": "<a>before ${{{}}} after</a>",
    "property": '<xacro:property name="p" value="${{{}}}"/><a v="${{p}}"/>',
    "greedy property": '<xacro:property name="p" value="${{{}}}" lazy_eval="false"/>',
    "property text evaluated later": '<xacro:property name="p" value="{}"/><a v="$(eval ${{p}})"/>',
    "name of a property": '<xacro:property name="${{{}}}" value="1"/>',
    "condition": '<xacro:if value="${{{}}}"><a/></xacro:if>',
    "macro body": '<xacro:macro name="m" params="x"><a v="${{{}}}"/></xacro:macro><xacro:m x="1"/>',
    "macro argument": '<xacro:macro name="m" params="x"><a v="${{x}}"/></xacro:macro><xacro:m x="${{{}}}"/>',
    "include": '<xacro:include filename="${{{}}}"/>',
    "namespace": '<xacro:include filename="x.xacro" ns="${{{}}}"/>',
    "argument": '<xacro:arg name="g" default="${{{}}}"/><a v="$(arg g)"/>',
    "argument that becomes an expression": '<xacro:arg name="g" default="{}"/><a v="${{$(arg g)}}"/>',
    "name of an element": '<xacro:element xacro:name="${{{}}}"/>',
    "call": '<xacro:call macro="${{{}}}"/>',
    "comment": "<!-- xacro:eval-comments --><!-- ${{{}}} --><a/>",
    "block": '<xacro:macro name="m" params="*b"><xacro:insert_block name="b"/></xacro:macro>'
    '<xacro:m><a v="${{{}}}"/></xacro:m>',
}


def quoted(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")


def write(folder: Path, body: str) -> Path:
    path = folder / "r.xacro"
    path.write_text(f"{HEAD}{body}</robot>", encoding="utf-8")
    return path


def test_the_shell_command_is_real(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With allow_code the payload runs, so refusing it means something; without, the command line refuses it."""
    monkeypatch.chdir(tmp_path)
    path = write(tmp_path, f'<link name="${{{quoted(SHELL)}}}"/>')
    command = [sys.executable, "-m", "tauform", "show", str(path)]
    refused = subprocess.run(command, capture_output=True, text=True, check=False)
    assert refused.returncode == 2
    assert "robot files are not run as code; load it with --allow-code if you trust it" in refused.stderr
    assert refused.stderr.count("r.xacro: ") == 1  # a slow machine reports progress before it
    assert not (tmp_path / "OWNED").exists()
    subprocess.run([*command, "--allow-code"], capture_output=True, text=True, check=False)
    assert (tmp_path / "OWNED").exists()


@pytest.mark.parametrize("payload", CODE)
def test_code_is_refused_by_name(payload: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    braces = "}" in payload  # xacro ends ${...} at the first one, so such texts come in as properties
    place = PLACES["property text evaluated later" if braces else "attribute"]
    with pytest.raises(DescriptionError, match=r"\Ar\.xacro: ") as caught:
        expand(write(tmp_path, place.format(quoted(payload))))
    known = "load it with allow_code=True if you trust it"
    assert known in str(caught.value) or "is not defined" in str(caught.value) or "invalid" in str(caught.value)
    assert os.listdir(tmp_path) == ["r.xacro"]


@pytest.mark.parametrize("place", PLACES)
def test_code_is_refused_in_every_place(place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for payload in (SHELL, "[x.__class__ for x in [1]]"):
        with pytest.raises(DescriptionError, match=r"uses the attribute \.__class__.*allow_code=True"):
            expand(write(tmp_path, PLACES[place].format(quoted(payload))))
    assert os.listdir(tmp_path) == ["r.xacro"]


def test_code_in_the_default_of_a_parameter_and_in_units(tmp_path: Path) -> None:
    body = '<xacro:macro name="m" params="x:=${[x.__class__ for x in [1]]}"><a v="${x}"/></xacro:macro><xacro:m/>'
    with pytest.raises(DescriptionError, match=r"uses the attribute \.__class__"):
        expand(write(tmp_path, body))
    (tmp_path / "c.yaml").write_text("a: !degrees '[x.__class__ for x in [1]][0]'")
    with pytest.raises(DescriptionError, match=r"uses the attribute \.__class__"):
        expand(write(tmp_path, "<a v=\"${xacro.load_yaml('c.yaml')}\"/>"))
    (tmp_path / "c.yaml").write_text("a: !!python/object/apply:os.system ['touch OWNED']")
    with pytest.raises(DescriptionError, match="xacro cannot expand it"):
        expand(write(tmp_path, "<a v=\"${xacro.load_yaml('c.yaml')}\"/>"))


BOMBS = {
    "power": '<a v="${9**9**9}"/>',
    "power of properties": '<xacro:property name="n" value="${10**300}"/><a v="${n**n}"/>',
    "squares": '<xacro:property name="p0" value="9"/>'
    + "".join(f'<xacro:property name="p{i + 1}" value="${{p{i} * p{i}}}"/>' for i in range(60))
    + '<a v="${p60}"/>',
    "shift": '<a v="${1 &lt;&lt; 10**12}"/>',
    "repeated text": "<a v=\"${'a' * 10**10}\"/>",
    "repeated list": '<a v="${[0] * 10**10}"/>',
    "repeated twice": "<a v=\"${[['a' * 1000] * 1000] * 1000}\"/>",
    "format": "<a v=\"${'%999999999d' % 1}\"/>",
    "format with a key": "<a v=\"${'%(a)999999999d' % dict(a=1)}\"/>",
    "format with brackets in its key": "<a v=\"${'%((a))999999999d' % {'(a)': 1}[0]}\"/>".replace(
        "{'(a)': 1}[0]", "dict()"
    ),
    "format with a star": "<a v=\"${'%*d' % (999999999, 1)}\"/>",
    "precision": "<a v=\"${'%.999999999f' % 1.5}\"/>",
    "format of formats": "<a v=\"${('%s' * 400) % tuple(['a' * 1000] * 400)}\"/>",
    "replace": "<a v=\"${('a' * 100000).replace('a', 'b' * 100000)}\"/>",
    "join": "<a v=\"${('a' * 100000).join(['b'] * 100000)}\"/>",
    "range": '<a v="${list(range(10**12))}"/>',
    "nested loops": '<a v="${[0 for a in range(9999) for b in range(9999) for c in range(9999)]}"/>',
    "factorial": '<a v="${factorial(10**7)}"/>',
    "binomial": '<a v="${math.comb(10**8, 10**7)}"/>',
    "product": '<a v="${math.prod(list(map(int, [10**1000] * 1000)))}"/>',
    "product of a text": "<a v=\"${math.prod(['a', 9999, 9999, 99])}\"/>",
    "product that starts with a text": "<a v=\"${math.prod([9999, 9999], start='a' * 999)}\"/>",
    "rounding": '<a v="${round(1, -10**9)}"/>',
    # Multiples of Python's modulus have one hash: a set of n of them takes n^2 steps.
    "one hash for all": '<a v="${len(python.set(range(0, 99999 * (2**61 - 1), 2**61 - 1)))}"/>',
    "one hash, by map": '<a v="${len(list(map(python.set, [range(0, 99999 * (2**61 - 1), 2**61 - 1)])))}"/>',
    "one hash, in a comprehension": '<xacro:property name="n" value="{k * (2**61 - 1) for k in range(20000)}"/>'
    '<a v="$(eval ${n})"/>',
    "one hash, in YAML": "<a v=\"${xacro.load_yaml('hash.yaml')}\"/>",
    "the same YAML again": "<a v=\"${len(xacro.load_yaml('long.yaml'))}\"/>" * 200,
    "lists of lists": '<xacro:property name="p0" value="${[1]}"/>'
    + "".join(f'<xacro:property name="p{i + 1}" value="${{[p{i}] * 10}}"/>' for i in range(12))
    + '<a v="${p12}"/>',
    "texts of texts": '<xacro:property name="p0" value="aaaaaaaaaa"/>'
    + "".join(f'<xacro:property name="p{i + 1}" value="{f"${{p{i}}}" * 10}"/>' for i in range(12))
    + '<a v="${p12}"/>',
    "arguments of arguments": '<xacro:arg name="p0" default="aaaaaaaaaa"/>'
    + "".join(f'<xacro:arg name="p{i + 1}" default="{f"$(arg p{i})" * 10}"/>' for i in range(12))
    + '<a v="$(arg p12)"/>',
    "macros of macros": "".join(
        f'<xacro:macro name="m{i}"><xacro:m{i + 1}/><xacro:m{i + 1}/></xacro:macro>' for i in range(40)
    )
    + '<xacro:macro name="m40"><a/></xacro:macro><xacro:m0/>',
    "blocks of blocks": "".join(
        f'<xacro:macro name="m{i}" params="*b"><xacro:m{i + 1}><c><xacro:insert_block name="b"/>'
        f'<xacro:insert_block name="b"/></c></xacro:m{i + 1}></xacro:macro>'
        for i in range(40)
    )
    + '<xacro:macro name="m40" params="*b"><xacro:insert_block name="b"/></xacro:macro><xacro:m0><a/></xacro:m0>',
    "includes of itself": '<xacro:include filename="r.xacro"/>',
    "includes of includes": '<xacro:include filename="i0.xacro"/><xacro:include filename="i0.xacro"/>',
    "macro of itself": '<xacro:macro name="m"><xacro:m/><xacro:m/></xacro:macro><xacro:m/>',
    "property of itself": '<xacro:property name="p" value="${p + 1}"/><a v="${p}"/>',
    "nested brackets": f'<a v="${{{"(" * 190}1{")" * 190}}}"/><a v="${{{"[" * 3000}}}"/>',
    "nested signs": f'<a v="${{{"-" * 3990}1}}"/>',
    "long expression": f'<a v="${{1{"+1" * 100000}}}"/>',
    "unfinished default": '<xacro:macro name="m" params="x:=' + "x" * 60 + "'\"/><xacro:m/>",
    "dollars": f"<a>{'${1}' * 60000}</a>",
    "comments in a macro": f'<xacro:macro name="m"><!-- {"c" * 100000} --></xacro:macro>' + "<xacro:m/>" * 30000,
    "anchors": "<a v=\"${xacro.load_yaml('anchors.yaml')}\"/>",
    "merged anchors": "<a v=\"${xacro.load_yaml('merge.yaml')}\"/>",
    "an anchor in itself": "<a v=\"${xacro.load_yaml('self.yaml')}\"/>",
    "deep YAML": "<a v=\"${xacro.load_yaml('deep.yaml')}\"/>",
    "indented YAML": "<a v=\"${xacro.load_yaml('indented.yaml')}\"/>",
    "digits in YAML": "<a v=\"${xacro.load_yaml('digits.yaml')}\"/>",
    "large YAML": "<a v=\"${xacro.load_yaml('large.yaml')}\"/>",
    "tokenize": "<a v=\"${xacro.tokenize('a' * 40, '](a+)+$[')}\"/>",
    "a pipe": '<xacro:include filename="pipe.xacro"/>',
    "a pipe of YAML": "<a v=\"${xacro.load_yaml('pipe.xacro')}\"/>",
    "patterns": '<xacro:include filename="*/*/*/*/*/*/*/x.xacro"/>',
    "siblings": "<xacro:macro name='m'/>" + "<xacro:m/>" * 100000,
    "elements": "<a/>" * 600000,
}


@pytest.fixture(scope="module")
def among_bombs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files that bombs include."""
    folder = tmp_path_factory.mktemp("bombs")
    for i in range(30):
        body = f'<xacro:include filename="i{i + 1}.xacro"/>' * 2
        (folder / f"i{i}.xacro").write_text(f"{HEAD}{body}</robot>")
    (folder / "i30.xacro").write_text(f"{HEAD}<a/></robot>")
    levels = [f"a{i + 1}: &a{i + 1} [{', '.join([f'*a{i}'] * 9)}]" for i in range(20)]
    (folder / "anchors.yaml").write_text("\n".join(["a0: &a0 [x, x]", *levels]))
    merges = [f"m{i + 1}: &m{i + 1} {{<<: [*m{i}, *m{i}], k{i}: 1}}" for i in range(40)]
    (folder / "merge.yaml").write_text("\n".join(["m0: &m0 {x: 1}", *merges]))
    (folder / "self.yaml").write_text("a: &a [*a, *a]")
    (folder / "deep.yaml").write_text("[" * 400_000)
    (folder / "indented.yaml").write_text("".join(" " * i + "a:\n" for i in range(900)))
    (folder / "digits.yaml").write_text("a: 1" + ":1" * 200000)
    (folder / "hash.yaml").write_text("".join(f"{k * (2**61 - 1)}: 1\n" for k in range(1, 15000)))
    (folder / "long.yaml").write_text("- 1\n" * 2000)
    (folder / "large.yaml").write_text("- 1\n" * 1000000)
    os.mkfifo(folder / "pipe.xacro")
    return folder


@pytest.mark.parametrize("bomb", BOMBS)
def test_bombs_are_refused_at_once(bomb: str, among_bombs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "MAX_WORK", budget.MAX_WORK // 20)  # what is refused late is refused soon
    path = write(among_bombs, BOMBS[bomb])
    before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    with pytest.raises(DescriptionError, match=r"\Ar\.xacro: ") as caught:
        expand(path)
    assert "\n" not in str(caught.value)
    assert time.process_time() - start < 10
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 500_000  # kB


# What fits into a value, and grows when it is combined.
LARGE = [
    "'a' * 60000",
    "9999",
    "2.5",
    "[9999, 9999]",
    "['a', 9999, 9999, 999]",
    "['a' * 9999, 9999]",
    "range(60000)",
    "range(0, 60000 * (2**61 - 1), 2**61 - 1)",
    "[range(0, 60000 * (2**61 - 1), 2**61 - 1)]",
    "dict(a='a' * 9999)",
    "str",
    "python.set",
]


FUNCTIONS = [
    f"{space}.{name}" for space, held in (("math", MATH), ("python", PYTHON)) for name in held if callable(held[name])
]


@pytest.mark.parametrize("function", representatives(FUNCTIONS, "math.prod", "math.fsum", "python.set", "python.map"))
def test_no_function_makes_much_of_little(function: str, tmp_path: Path) -> None:
    """Every function that expressions may call, of one and of two large values."""
    expansion = _Expansion(write(tmp_path, "<a/>"), (), False)
    names = expansion.xacro._global_symbols
    values = {f"x{k}": expansion.evaluate(text, names) for k, text in enumerate(LARGE)}
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for given in _pairs(values):
        expansion.budget.left, start = budget.MAX_WORK, time.process_time()
        with contextlib.suppress(Exception):
            expansion.evaluate(f"{function}({given})", {**names, **values})
        assert time.process_time() - start < 10, given
        assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 500_000, given  # kB


def _pairs(names: Iterable[str]) -> list[str]:
    return [*names, *(f"{one}, {other}" for one in names for other in names)]


OUTSIDE = {
    "include": '<xacro:include filename="{}"/>',
    "optional include": '<xacro:include filename="{}" optional="true"/>',
    "pattern": '<xacro:include filename="{}*"/>',
    "load_yaml": "<a v=\"${{xacro.load_yaml('{}')}}\"/>",
    "old load_yaml": "<a v=\"${{load_yaml('{}')}}\"/>",
    "map": "<a v=\"${{list(map(load_yaml, ['{}']))}}\"/>",
    "by a property": '<xacro:property name="p" value="{}"/><a v="${{xacro.load_yaml(p)}}"/>',
    "sort key": "<a v=\"${{sorted(['{}'], key=load_yaml)}}\"/>",
}


@pytest.mark.parametrize("how", OUTSIDE)
@pytest.mark.parametrize("where", ["absolute", "relative", "link", "folder link", "home"])
def test_files_outside_are_not_read(how: str, where: str, tmp_path: Path) -> None:
    secret = tmp_path / "outside" / "secret.yaml"
    secret.parent.mkdir()
    secret.write_text("<robot>secret: 42</robot>")
    folder = tmp_path / "robot"
    folder.mkdir()
    (folder / "link.yaml").symlink_to(secret)
    (folder / "linked").symlink_to(secret.parent)
    paths = {
        "absolute": str(secret),
        "relative": "../outside/secret.yaml",
        "link": "link.yaml",
        "folder link": "linked/secret.yaml",
        "home": "$(dirname)/x/../../outside/secret.yaml",
    }
    path = write(folder, OUTSIDE[how].format(paths[where]))
    with pytest.raises(DescriptionError, match=r"lies outside of the robot's folder .*package_dirs=\.\.\."):
        expand(path)
    if where in ("absolute", "relative"):  # what the user names may be read
        expand(path, [secret.parent])


def test_names_of_packages_are_no_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "ws" / "share").mkdir(parents=True)
    (tmp_path / "outside").mkdir()
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path / "ws"))
    monkeypatch.setenv("ROS_PACKAGE_PATH", str(tmp_path / "ws"))
    (tmp_path / "robot").mkdir()
    for name in ("../../outside", "/etc", "..", ".", "a/../..", "''"):
        with pytest.raises(DescriptionError, match=r"is not found|lies outside|no substitution"):
            expand(write(tmp_path / "robot", f'<xacro:include filename="$(find {name})/x"/>'))


@pytest.mark.parametrize(
    ("name", "value", "allowed"),
    [
        ("HUSKY_LMS1XX_ENABLED", "1", True),
        ("HUSKY_IMU_XYZ", "0.19 0 0.149", True),
        ("ROBOT_CONFIG", "/opt/robot/config-2.yaml", True),
        ("AWS_SECRET_ACCESS_KEY", "1", False),
        ("GITHUB_TOKEN", "1", False),
        ("DATABASE_URL", "1", False),
        ("http_proxy", "1", False),
        ("ROBOT_NOTE", "a" * 1000, False),
        ("ROBOT_NOTE", "several\nlines", False),
        ("ROBOT_NOTE", "user:pass@host", False),
    ],
)
def test_environment_variables_are_settings(
    name: str, value: str, allowed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, value)
    code = f"<xacro:property name='code' value=\"env('{name}')\"/>"
    for command in (f"$(env {name})", f"$(optenv {name} 0)", "$(eval ${code})"):
        path = write(tmp_path, f'{code}<a v="{command}"/>')
        if allowed:
            assert f'<a v="{value}"/>' in expand(path)[0].decode()
        else:
            with pytest.raises(DescriptionError, match=f"environment variable '{name}'"):
                expand(path)
    monkeypatch.delenv(name)
    assert '<a v="7"/>' in expand(write(tmp_path, f'<a v="$(optenv {name} 7)"/>'))[0].decode()


ENTITIES = {
    "laughs": '<!DOCTYPE r [<!ENTITY a "aaaaaaaaaa">'
    + "".join(f'<!ENTITY {chr(98 + i)} "{f"&{chr(97 + i)};" * 10}">' for i in range(12))
    + "]>{}",
    "file": '<!DOCTYPE r [<!ENTITY a SYSTEM "file:///etc/passwd">]>{}',
    "network": '<!DOCTYPE r [<!ENTITY a SYSTEM "http://127.0.0.1:9/x">]>{}',
    "parameter": '<!DOCTYPE r [<!ENTITY % a SYSTEM "file:///etc/passwd"> %a;]>{}',
    "defaults of attributes": '<!DOCTYPE r [<!ATTLIST link x CDATA "' + "x" * 1000 + '">]>{}',
}
BODIES = {
    "urdf": '<robot name="&a;"><link name="a"/></robot>',
    "xacro": f'{HEAD}<link name="&a;"/></robot>',
    "xml": '<mujoco model="&a;"><worldbody/></mujoco>',
}


@pytest.mark.parametrize("suffix", BODIES)
@pytest.mark.parametrize("entity", ENTITIES)
def test_entities_are_not_expanded(suffix: str, entity: str, tmp_path: Path) -> None:
    path = tmp_path / f"r.{suffix}"
    path.write_text(ENTITIES[entity].format(BODIES[suffix]))
    with pytest.raises(TauformError, match=rf"\Ar\.{suffix}: .*<!DOCTYPE> declares entities or attributes"):
        tf.load(path)


def test_an_included_file_with_entities_is_refused_too(tmp_path: Path) -> None:
    (tmp_path / "i.xacro").write_text(ENTITIES["file"].format(BODIES["xacro"]))
    with pytest.raises(DescriptionError, match=r"declares entities or attributes.*\(in i\.xacro\)"):
        expand(write(tmp_path, '<xacro:include filename="i.xacro"/>'))
    (tmp_path / "package.xml").write_text(ENTITIES["laughs"].format("<package><name>&a;</name></package>"))
    with pytest.raises(DescriptionError, match="package 'arm' is not found"):
        expand(write(tmp_path, '<a v="$(find arm)"/>'))


def test_messages_do_not_steer_the_terminal(tmp_path: Path) -> None:
    evil = r"<xacro:property name='p' value=&quot;${'\x1b[2J'}&quot;/>".replace("&quot;", '"')
    for body in (
        "${xacro.fatal(p)}",
        "$(eval ${p + '.x'})",
        "${dict()[p]}",
        "$(find ${p})",
        "$(env ${p})",
        "<a v='${p}'/>",
    ):
        with pytest.raises(DescriptionError) as caught:
            tf.load(write(tmp_path, evil + body))
        assert str(caught.value).isprintable()
