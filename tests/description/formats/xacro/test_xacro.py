"""xacro files expand as xacro expands them: idioms of published robots, files of packages, units, loops, namespaces."""

from __future__ import annotations

from pathlib import Path

import pytest
import xacro

import tauform as tf
from tauform.description.formats.xacro.expand import expand
from tauform.errors import DescriptionError

HEAD = '<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">'
YAML = """
joint_limits:
  shoulder: {min_position: !degrees -180.0, max_position: !degrees 90 + 90, has_limits: true, max_velocity: 3.0}
  elbow: &e {min_position: -1.0, max_position: 2.0, max_velocity: 3.14}
  wrist: *e
mesh: {package: arm, path: meshes/a.stl}
offsets: [0.1, 0.2, [0.3]]
length: !millimeters 250
"""
PROPERTIES = """
<xacro:property name="cfg" value="${xacro.load_yaml('limits.yaml')}"/>
<xacro:property name="prefix" value="left_"/>
<xacro:property name="mass" value="2.5"/><xacro:property name="radius" value="0.05"/>
<xacro:property name="names" value="${['a', 'b', 'c']}"/>
<xacro:property name="flag" value="true"/><xacro:property name="empty" value=""/>
<xacro:property name="positions" value="${dict(shoulder=0.0, elbow=-1.57)}"/>
<xacro:arg name="kind" default="ur5"/><xacro:arg name="use" default="false"/>
"""
# How published descriptions of arms, grippers and vehicles use expressions.
IDIOMS = [
    "${prefix}link",
    "${pi/2} ${-pi} ${2*pi} ${M_PI}",
    "${radians(45)} ${degrees(pi)} ${sin(0.3)} ${cos(pi/3)} ${sqrt(2)} ${atan2(1, 2)} ${math.hypot(3, 4)}",
    "${0.0833333 * mass * (3 * radius * radius + 0.2 * 0.2)} ${mass * radius**2 / 2} ${-mass} ${7 // 2} ${7 % 4}",
    "${cfg['joint_limits']['shoulder']['min_position']} ${cfg.joint_limits.elbow.max_velocity} ${cfg.offsets[2][0]}",
    "${cfg['joint_limits']['wrist']['max_position']} ${cfg.length} ${cfg['mesh']['package']}",
    "${list(cfg.joint_limits.keys())} ${list(cfg.joint_limits.elbow.items())[0]}",
    "${'shoulder' in cfg.joint_limits} ${'x' not in cfg.joint_limits} ${cfg.get('absent', 3)} ${len(cfg.offsets)}",
    "${'$(arg kind)' == 'ur5'} ${'$(arg use)' == 'true'} $(arg kind)_link",
    "${prefix + 'forearm'} ${prefix.upper()} ${'a b c'.split()[1]} ${' '.join(['1', '2'])} ${prefix.replace('_', '')}",
    "${'%.3f' % mass} ${'%d_%s' % (3, prefix)} ${round(pi, 2)} ${int(3.7)} ${float('2')} ${str(mass)}",
    "${'on' if flag else 'off'} ${not flag} ${flag and mass > 2} ${empty == '' or False} ${1 < mass <= 3}",
    "${names[0]} ${names[1:]} ${names[-1]} ${names[::-1]} ${names + ['d']} ${['x'] * 2}",
    "${[2 * x for x in range(4) if x % 2]} ${max([1, 5])} ${min(2, 3)} ${sorted([3, 1])}",
    "${list(map(float, '1 2 3'.split()))} ${python.abs(-3)} ${python.sum([1, 2])} ${python.round(2.5)}",
    "${positions['elbow']} ${positions.get('x', 0)} ${python.isinstance(mass, float)} ${python.any([0, 1])}",
    "${xacro.tokenize('a,b;c d')} ${xacro.arg('kind')} ${math.pi}",
    "$(optenv TAUFORM_TEST_UNSET 0.19 0 0.149) $(eval 2 * 3) $${literal} 5$",
    "${[name + '_' + str(i) for i, name in python.enumerate(names)]} ${dict(a=1)['a']} ${(1, 2)[1]} ${None}",
    "${True} ${1e-3} ${1 if mass is not None else 0} ${floor(2.7)} ${ceil(2.1)} ${fabs(-2)} ${pow(2, 3)} ${2 ** -1}",
]


def expanded(folder: Path, body: str, name: str = "r.xacro") -> str:
    path = folder / name
    path.write_text(f"{HEAD}{body}</robot>")
    return expand(path)[0].decode()


def by_xacro(path: Path) -> str:
    """What xacro itself makes of a file, without anything of ours around it."""
    xacro.init_stacks(str(path))
    document = xacro.parse(None, str(path))
    xacro.process_doc(document)
    return str(document.toxml(encoding="utf-8").decode())


@pytest.mark.parametrize("idiom", IDIOMS)
def test_idioms_expand_as_xacro_expands_them(idiom: str, tmp_path: Path) -> None:
    (tmp_path / "limits.yaml").write_text(YAML)
    body = f'{PROPERTIES}<xacro:property name="M_PI" value="3.14"/><link name="x" value="{idiom}">{idiom}</link>'
    assert expanded(tmp_path, body.replace("&", "&amp;").replace("1 < mass <=", "1 &lt; mass &lt;=")) == by_xacro(
        tmp_path / "r.xacro"
    )


STRUCTURES = {
    "macro with defaults, blocks and scope": """
        <xacro:macro name="leg" params="name *origin parent:=base mass:=${2 * 3} prefix:=^|none **more
                                         side:='left one'">
          <link name="${prefix}${name}"><inertial><xacro:insert_block name="origin"/>
            <mass value="${mass}"/></inertial></link>
          <joint name="${name}_${side}" parent="${parent}"/><xacro:insert_block name="more"/>
        </xacro:macro>
        <xacro:property name="prefix" value="p_"/>
        <xacro:leg name="a"><origin xyz="${1 + 1} 0 0"/><more><b/><c x="${prefix}"/></more></xacro:leg>
        """,
    "recursive loop": """
        <xacro:macro name="loop" params="i n"><xacro:if value="${i &lt; n}"><link name="l${i}"/>
        <xacro:loop i="${i + 1}" n="${n}"/></xacro:if></xacro:macro><xacro:loop i="0" n="60"/>
        """,
    "conditions": """
        <xacro:arg name="tool" default="gripper"/><xacro:property name="has" value="${'$(arg tool)' != ''}"/>
        <xacro:if value="${has}"><a/></xacro:if><xacro:unless value="$(arg tool2)"><b/></xacro:unless>
        """.replace("<xacro:property", '<xacro:arg name="tool2" default="0"/><xacro:property', 1),
    "calls by name, elements and attributes by name": """
        <xacro:macro name="one" params="x"><o v="${x}"/></xacro:macro><xacro:property name="which" value="one"/>
        <xacro:call macro="${which}" x="3"/>
        <xacro:element xacro:name="${'lin' + 'k'}"><xacro:attribute name="q" value="${'2'}"/>
        </xacro:element>
        """,
    "namespaces of includes": """
        <xacro:include filename="parts.xacro" ns="parts"/><a v="${parts.size * 2}"/><xacro:parts.piece n="1"/>
        """,
    "includes by pattern and where they may be absent": """
        <xacro:include filename="part*.xacro"/><xacro:include filename="absent.xacro" optional="true"/><a v="${size}"/>
        """,
    "properties in parent and global scope": """
        <xacro:macro name="set" params=""><xacro:property name="g" value="${1 + 1}" scope="global"/>
        <xacro:property name="p" value="7" scope="parent"/></xacro:macro><xacro:set/><a v="${g} ${p}"/>
        <xacro:property name="late" value="${early}"/><xacro:property name="early" value="5"/><b v="${late}"/>
        """,
}


@pytest.mark.parametrize("what", STRUCTURES)
def test_structures_expand_as_xacro_expands_them(what: str, tmp_path: Path) -> None:
    parts = '<xacro:property name="size" value="0.3"/><xacro:macro name="piece" params="n"><p n="${n}"/></xacro:macro>'
    (tmp_path / "parts.xacro").write_text(f"{HEAD}{parts}</robot>")
    assert expanded(tmp_path, STRUCTURES[what]) == by_xacro(tmp_path / "r.xacro")


def package(folder: Path, name: str) -> Path:
    (folder / "config").mkdir(parents=True)
    (folder / "urdf").mkdir()
    (folder / "package.xml").write_text(f"<package><name>{name}</name></package>")
    (folder / "config" / "c.yaml").write_text("length: 0.5")
    return folder


@pytest.mark.parametrize("path", ["../config/c.yaml", "$(find arm)/config/c.yaml", "$(dirname)/../config/c.yaml"])
def test_files_of_its_own_package_are_read(path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir("/")  # paths are relative to the file, not to where Python runs
    folder = package(tmp_path / "anything", "arm") / "urdf"
    body = f'<xacro:property name="c" value="${{xacro.load_yaml(\'{path}\')}}"/><a v="${{c.length}}"/>'
    assert '<a v="0.5"/>' in expanded(folder, body)


@pytest.mark.parametrize("place", ["package_dirs", "the package itself", "ROS 1", "ROS 2"])
def test_packages_elsewhere_are_found(place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package(tmp_path / "ws" / "share" / "nested" / "gripper", "gripper")
    package(tmp_path / "ws" / "share" / "arm", "arm")
    if place == "ROS 1":
        monkeypatch.setenv("ROS_PACKAGE_PATH", f"/absent:{tmp_path / 'ws'}")
    if place == "ROS 2":
        monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path / "ws"))
    named = {"package_dirs": [tmp_path / "ws"], "the package itself": list((tmp_path / "ws").rglob("*i*p*er"))}
    named["the package itself"].append(tmp_path / "ws" / "share" / "arm")
    (tmp_path / "own").mkdir()
    path = tmp_path / "own" / "r.xacro"
    values = "".join(
        f"<a v=\"${{xacro.load_yaml('$(find {name})/config/c.yaml').length}}\"/>" for name in ("arm", "gripper")
    )
    path.write_text(f"{HEAD}{values}</robot>")
    assert expand(path, named.get(place, []))[0].decode().count('<a v="0.5"/>') == 2
    if place in named:
        with pytest.raises(DescriptionError, match=r"package 'arm' is not found; .*package_dirs=\.\.\."):
            tf.load(path)


def test_expansions_share_nothing(tmp_path: Path) -> None:
    """Neither arguments nor files of one expansion show in the next, nor in xacro itself."""
    symbols = dict(xacro._global_symbols)
    evaluation, files = xacro.safe_eval, xacro.filestack
    assert 'v="1"' in expanded(tmp_path, '<xacro:arg name="x" default="1"/><a v="$(arg x)"/>')
    with pytest.raises(DescriptionError, match="argument 'x' has no value"):
        expanded(tmp_path, '<a v="$(arg x)"/>')
    assert dict(xacro._global_symbols) == symbols
    assert (xacro.safe_eval, xacro.filestack) == (evaluation, files)


def test_warnings_of_a_file_are_findings(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    sample = (Path(__file__).parents[1] / "sample.urdf").read_text()
    note = "${xacro.warning('inertias are guessed')}${xacro.message('hello')}"
    head = f'<robot name="sample" xmlns:xacro="http://www.ros.org/wiki/xacro"><gazebo>{note}</gazebo>'
    path = tmp_path / "r.xacro"
    path.write_text(sample.replace('<robot name="sample">', head))
    robot = tf.load(path)
    assert str(robot.check()[0]).startswith("r.xacro: xacro says: inertias are guessed")
    assert capfd.readouterr() == ("", "")


def test_what_xacro_cannot_expand_is_one_sentence(tmp_path: Path) -> None:
    for body in ("${missing}", "${1 +}", "${1 / 0}", "${[][0]}", "$(nothing)", "$(find no_such)", "<xacro:no_such/>"):
        with pytest.raises(DescriptionError, match=r"\Ar\.xacro: ") as caught:
            expanded(tmp_path, body)
        assert "\n" not in str(caught.value)
    (tmp_path / "r.xacro").write_text('<robot name="r"><xacro:if value="1"/></robot>')
    with pytest.raises(DescriptionError, match=r"a prefix is declared nowhere .*; declare it: xmlns:xacro="):
        expand(tmp_path / "r.xacro")
