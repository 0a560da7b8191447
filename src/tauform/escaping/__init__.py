"""Escaping of names and texts of others, whatever they hold, in each language that we write: one function per language.

Whoever writes the name of a robot, joint, link, frame or file into something takes the function of that language from
here, or the language's own library where Python has one:

| written | function |
|---|---|
| C, Makefile, CMake, README | `c.comment`, `c.string`, `c.identifier`, `c.build_name`, `markup.markdown` |
| terminal, messages, names of files | `shown.visible`, `shown.visible_lines`, `shown.file_name` |
| TOML, CSV, JSON | `tables.toml_string`, `tables.csv_line`; `json.dumps`, which writes ASCII |
| HTML | `markup.html_text`, `markup.html_lines` |
| URDF | `xml.etree`, with `markup.beyond_xml`, `markup.xml_comment` |
| LaTeX, plots | `markup.latex_symbol`, `markup.plot_text` |
| Python | `repr` |
"""
