"""tauform robots: the catalogue."""

from __future__ import annotations

from tauform.cli.page import Page
from tauform.cli.verb import verb


@verb
def robots() -> Page:
    """List the robots of the catalogue."""
    import tauform
    from tauform.report.tables import table

    entries = []
    for name, description in tauform.robots().items():
        robot = tauform.load(name)
        letters = "".join(joint.type.letter for joint in robot.joints)
        entries.append({"name": name, "n_joints": robot.n_joints, "joints": letters, "description": description})
    columns = ("robot", "joints", "coordinates", "what it is")
    rows = [(e["name"], e["joints"], str(e["n_joints"]), e["description"]) for e in entries]
    return Page(entries, (table("Catalogue", columns, rows, text_columns=4),))
