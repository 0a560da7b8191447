/* Entries of n columns, each followed through all columns; what CasADi does not give is zero. */
static void to_rows(size_t size, size_t n, const casadi_real *columns, casadi_real *rows) {
    size_t k, l;
    for (k = 0; k < size; k++)
        for (l = 0; l < n; l++)
            rows[k*n + l] = columns ? columns[l*size + k] : 0;
}

/* The way back: `height` entries of each knot one after another, their next `height` entries `step` further on. */
static void to_columns(size_t height, size_t width, size_t n, size_t step, const casadi_real *rows,
                       casadi_real *columns) {
    size_t j, k, l;
    if (!columns)
        return;
    for (j = 0; j < width; j++)
        for (l = 0; l < n; l++)
            for (k = 0; k < height; k++)
                columns[j*step + l*height + k] = rows[(j*height + k)*n + l];
}
