"""Evidence: logs by unit, condensed to triangles; what each unit says by itself, over time too."""
