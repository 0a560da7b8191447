/*
 * Self-test of example: states and the results that the generator computed for them.
 * Each function is also called in place, with every input as every output: an output may be the same array.
 *
 * Written by tauform VERSION; do not edit.
 */
#include "example.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The larger of two errors; one that is not a number stays. */
static double larger(double largest, double error)
{
    return error > largest || error != error ? error : largest;
}

/* Largest deviation of an array whose entries stand a stride apart, relative to the scale of each. */
static double deviation(int n, int stride, const float *computed, const double *expected, const double *scale)
{
    double largest = 0.0;
    int i;
    for (i = 0; i < n; i++)
        largest = larger(largest, fabs((double)computed[i*stride] - expected[i])/scale[i]);
    return largest;
}

/* Rows of states as a batch holds them, entry k of state i at [k*72 + i]; the 8 states repeat. */
static void to_columns(int n, const float *rows, float *columns)
{
    int i, k;
    for (i = 0; i < 72; i++)
        for (k = 0; k < n; k++)
            columns[k*72 + i] = rows[(i % 8)*n + k];
}

/* Largest deviation of a batch. */
static double column_deviation(int n, const float *columns, const double *expected, const double *scale)
{
    double largest = 0.0;
    int i;
    for (i = 0; i < 72; i++)
        largest = larger(largest, deviation(n, 72, columns + i, expected + (i % 8)*n, scale));
    return largest;
}

static int report(const char *function, double apart, double in_place, double allowed)
{
    const double largest = larger(apart, in_place);
    printf("%-30s largest deviation %.1e, allowed %.1e\n", function, largest, allowed);
    if (apart <= allowed && !(in_place <= allowed))
        printf("%-30s is wrong where an output is the same array as an input\n", function);
    return !(largest <= allowed);
}

static int test_every_kind(void)
{
    static const float x[8][3] = {
        {0.82177013f, -1.3812797f, -2.754159f},
        {-2.900834f, 1.8796214f, 2.4765334f},
        {0.6398147f, 1.3769794f, 0.26174995f},
        {2.6104345f, 1.8951213f, -2.983569f},
        {2.1444256f, -2.7984865f, 1.3779327f},
        {-1.9460663f, 2.1790736f, 0.24876732f},
        {-1.2017287f, -0.46387666f, -2.830082f},
        {-2.2543004f, 1.0237465f, 0.88313705f},
    };
    static const float y[8][4] = {
        {0.6923107f, -0.6979347f, 2.9832597f, 2.8850121f},
        {1.1132519f, 0.9027557f, 1.1306804f, -0.6664715f},
        {-2.189421f, 1.32893f, 0.15212594f, -1.1385487f},
        {-0.08498785f, 2.336927f, 2.6042612f, -0.8532288f},
        {0.42917898f, -1.0687836f, 0.5658002f, -0.97253263f},
        {-0.650286f, 2.3416462f, -1.6370544f, 0.73912287f},
        {-2.495908f, 1.9958649f, 1.7225899f, -1.5637833f},
        {2.2589054f, -2.6485918f, -0.98329765f, -2.098323f},
    };
    static const float z[8][1] = {
        {-0.2979638f},
        {1.7779456f},
        {-1.6161468f},
        {-2.6878722f},
        {-0.57268894f},
        {-1.8089217f},
        {-2.4554818f},
        {0.4819943f},
    };
    static const example_p p = {0.79869616f, 1.1719949f, 0.69951546f};
    static const double M_expected[8][6] = {
        {0.47775034460451915, -0.6566030665414098, -0.47775034460451915, -0.6566030665414098, 0.905408171459718, -2.885012149810791},
        {-2.1537259076735635, -0.9380643910113003, 2.1537259076735635, -0.9380643910113003, 2.146365865823922, -0.6664714813232422},
        {0.8521123434403812, 0.15448430706120023, -0.8521123434403812, 0.15448430706120023, 0.8304408864283295, -1.138548731803894},
        {2.5028879269318187, -0.9331602375393401, -2.5028879269318187, -0.9331602375393401, 1.9554389458202321, -0.8532288074493408},
        {1.6040346807902464, 0.9310322808314004, -1.6040346807902464, 0.9310322808314004, 1.655143057716931, 0.9725326299667358},
        {-1.2073208795895352, 0.7329793236472648, 1.2073208795895352, 0.7329793236472648, 1.530512637838581, 0.7391228675842285},
        {-0.058822292149346644, -0.9976218424220282, 0.058822292149346644, -0.9976218424220282, 1.0936073302201936, 1.5637832880020142},
        {-2.6694453737931743, -0.3158989090822516, 2.6694453737931743, -0.3158989090822516, 1.7251064076052964, -2.098323106765747},
    };
    static const double M_scale[6] = {2.6694453737931743, 0.9976218424220282, 2.6694453737931743, 0.9976218424220282, 2.146365865823922, 2.885012149810791};
    static float M_computed[6];
    static const double new_y_expected[8][1] = {
        {0.7280881333811438},
        {1.3264457250584327},
        {-0.445738125961209},
        {-0.3757385598560342},
        {-5.383613167733319},
        {-3.19294148652317},
        {3.0540988334893187},
        {-1.3110978773171693},
    };
    static const double new_y_scale[1] = {5.383613167733319};
    static float new_y_computed[1];
    static float both[6];
    double apart = 0.0, in_place = 0.0;
    int i;
    for (i = 0; i < 8; i++) {
        example_every_kind(x[i], y[i], z[i], &p, M_computed, new_y_computed);
        apart = larger(apart, deviation(6, 1, M_computed, M_expected[i], M_scale));
        apart = larger(apart, deviation(1, 1, new_y_computed, new_y_expected[i], new_y_scale));
        memcpy(both, x[i], 3*sizeof both[0]);
        example_every_kind(both, y[i], z[i], &p, both, new_y_computed);
        in_place = larger(in_place, deviation(6, 1, both, M_expected[i], M_scale));
        in_place = larger(in_place, deviation(1, 1, new_y_computed, new_y_expected[i], new_y_scale));
        memcpy(both, x[i], 3*sizeof both[0]);
        example_every_kind(both, y[i], z[i], &p, M_computed, both);
        in_place = larger(in_place, deviation(6, 1, M_computed, M_expected[i], M_scale));
        in_place = larger(in_place, deviation(1, 1, both, new_y_expected[i], new_y_scale));
        memcpy(both, y[i], 4*sizeof both[0]);
        example_every_kind(x[i], both, z[i], &p, both, new_y_computed);
        in_place = larger(in_place, deviation(6, 1, both, M_expected[i], M_scale));
        in_place = larger(in_place, deviation(1, 1, new_y_computed, new_y_expected[i], new_y_scale));
        memcpy(both, y[i], 4*sizeof both[0]);
        example_every_kind(x[i], both, z[i], &p, M_computed, both);
        in_place = larger(in_place, deviation(6, 1, M_computed, M_expected[i], M_scale));
        in_place = larger(in_place, deviation(1, 1, both, new_y_expected[i], new_y_scale));
        memcpy(both, z[i], 1*sizeof both[0]);
        example_every_kind(x[i], y[i], both, &p, both, new_y_computed);
        in_place = larger(in_place, deviation(6, 1, both, M_expected[i], M_scale));
        in_place = larger(in_place, deviation(1, 1, new_y_computed, new_y_expected[i], new_y_scale));
        memcpy(both, z[i], 1*sizeof both[0]);
        example_every_kind(x[i], y[i], both, &p, M_computed, both);
        in_place = larger(in_place, deviation(6, 1, M_computed, M_expected[i], M_scale));
        in_place = larger(in_place, deviation(1, 1, both, new_y_expected[i], new_y_scale));
        memcpy(both, &p, 3*sizeof both[0]);
        example_every_kind(x[i], y[i], z[i], (const example_p *)(const void *)both, both, new_y_computed);
        in_place = larger(in_place, deviation(6, 1, both, M_expected[i], M_scale));
        in_place = larger(in_place, deviation(1, 1, new_y_computed, new_y_expected[i], new_y_scale));
        memcpy(both, &p, 3*sizeof both[0]);
        example_every_kind(x[i], y[i], z[i], (const example_p *)(const void *)both, M_computed, both);
        in_place = larger(in_place, deviation(6, 1, M_computed, M_expected[i], M_scale));
        in_place = larger(in_place, deviation(1, 1, both, new_y_expected[i], new_y_scale));
    }
    {
        static float x_all[216];
        static float y_all[288];
        static float z_all[72];
        static float M_all[432];
        static float new_y_all[72];
        static float both_all[432];
        to_columns(3, x[0], x_all);
        to_columns(4, y[0], y_all);
        to_columns(1, z[0], z_all);
        example_every_kind_batch(72, x_all, y_all, z_all, &p, M_all, new_y_all);
        apart = larger(apart, column_deviation(6, M_all, M_expected[0], M_scale));
        apart = larger(apart, column_deviation(1, new_y_all, new_y_expected[0], new_y_scale));
        to_columns(3, x[0], both_all);
        example_every_kind_batch(72, both_all, y_all, z_all, &p, both_all, new_y_all);
        in_place = larger(in_place, column_deviation(6, both_all, M_expected[0], M_scale));
        in_place = larger(in_place, column_deviation(1, new_y_all, new_y_expected[0], new_y_scale));
        to_columns(3, x[0], both_all);
        example_every_kind_batch(72, both_all, y_all, z_all, &p, M_all, both_all);
        in_place = larger(in_place, column_deviation(6, M_all, M_expected[0], M_scale));
        in_place = larger(in_place, column_deviation(1, both_all, new_y_expected[0], new_y_scale));
        to_columns(4, y[0], both_all);
        example_every_kind_batch(72, x_all, both_all, z_all, &p, both_all, new_y_all);
        in_place = larger(in_place, column_deviation(6, both_all, M_expected[0], M_scale));
        in_place = larger(in_place, column_deviation(1, new_y_all, new_y_expected[0], new_y_scale));
        to_columns(4, y[0], both_all);
        example_every_kind_batch(72, x_all, both_all, z_all, &p, M_all, both_all);
        in_place = larger(in_place, column_deviation(6, M_all, M_expected[0], M_scale));
        in_place = larger(in_place, column_deviation(1, both_all, new_y_expected[0], new_y_scale));
        to_columns(1, z[0], both_all);
        example_every_kind_batch(72, x_all, y_all, both_all, &p, both_all, new_y_all);
        in_place = larger(in_place, column_deviation(6, both_all, M_expected[0], M_scale));
        in_place = larger(in_place, column_deviation(1, new_y_all, new_y_expected[0], new_y_scale));
        to_columns(1, z[0], both_all);
        example_every_kind_batch(72, x_all, y_all, both_all, &p, M_all, both_all);
        in_place = larger(in_place, column_deviation(6, M_all, M_expected[0], M_scale));
        in_place = larger(in_place, column_deviation(1, both_all, new_y_expected[0], new_y_scale));
        memcpy(both_all, &p, 3*sizeof both_all[0]);
        example_every_kind_batch(72, x_all, y_all, z_all, (const example_p *)(const void *)both_all, both_all, new_y_all);
        in_place = larger(in_place, column_deviation(6, both_all, M_expected[0], M_scale));
        in_place = larger(in_place, column_deviation(1, new_y_all, new_y_expected[0], new_y_scale));
        memcpy(both_all, &p, 3*sizeof both_all[0]);
        example_every_kind_batch(72, x_all, y_all, z_all, (const example_p *)(const void *)both_all, M_all, both_all);
        in_place = larger(in_place, column_deviation(6, M_all, M_expected[0], M_scale));
        in_place = larger(in_place, column_deviation(1, both_all, new_y_expected[0], new_y_scale));
    }
    return report("every_kind", apart, in_place, 1e-05);
}

int main(void)
{
    int failed = 0;
    failed |= test_every_kind();
    printf("example: %s\n", failed ? "FAILED" : "passed");
    return failed;
}
