
/* Rows of states as a batch holds them, entry k of state i at [k*$batch + i]; the $states states repeat. */
static void to_columns(int n, const $real *rows, $real *columns)
{
    int i, k;
    for (i = 0; i < $batch; i++)
        for (k = 0; k < n; k++)
            columns[k*$batch + i] = rows[(i % $states)*n + k];
}

/* Largest deviation of a batch. */
static double column_deviation(int n, const $real *columns, const double *expected, const double *scale)
{
    double largest = 0.0;
    int i;
    for (i = 0; i < $batch; i++)
        largest = larger(largest, deviation(n, $batch, columns + i, expected + (i % $states)*n, scale));
    return largest;
}
