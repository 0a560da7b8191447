"""The report's section on base parameters."""

from __future__ import annotations

from tauform.closedform.base.baseset import BaseParameters
from tauform.description.robot import Robot
from tauform.report.html.document import Section
from tauform.report.html.elements import bullets, facts, folded, paragraph, table


def base_section(base: BaseParameters, robot: Robot) -> Section:
    """Each base parameter with its relation to the standard ones and its value."""
    rows = []
    for relation, own, value in zip(base.relations, base.parameters, base.values(robot), strict=True):
        name, right = relation.text().split(" = ", 1)
        # A parameter that stands alone repeats its name on the right; the cell stays empty.
        rows.append((name, "" if len(relation.terms) == 1 else right, float(value), own.unit))
    body = facts(
        {
            "standard parameters": (len(base.columns), base.composition),
            "without effect": len(base.no_effect),
            "regrouped": len(base.regrouped),
            "base parameters": base.n,
            "condition number": f"{base.condition:.3g}",
        }
    )
    body += paragraph(
        "These are all that the torques can tell about the inertias. A relation says which standard parameters are "
        "folded into a base parameter; where there is none it stands alone."
    )
    columns = ("name", "relation", "value", "unit")
    body += table(columns, rows, text_columns=(0, 1, 3), tall=len(rows) > 16, code_columns=(0, 1))
    # Folded: often tens of names that nobody can do anything about.
    if base.no_effect:
        body += folded(f"{len(base.no_effect)} parameters without effect", paragraph(", ".join(base.no_effect)))
    # The gap is what decides the rank: near 1 it would be a guess.
    body += paragraph(f"Gap of the rank, weakest independent over strongest dependent column: {base.gap:.0e}.", "quiet")
    if base.findings:
        body += bullets(base.findings)
    return Section("base", "Base parameters", body)
