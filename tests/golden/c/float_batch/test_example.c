/*
 * Self-test of example: states and the results that the generator computed for them.
 *
 * Written by tauform VERSION; do not edit.
 */
#include "example.h"

#include <math.h>
#include <stdio.h>

/* Largest deviation of two arrays, relative to the scale of each entry. */
static double deviation(int n, const float *computed, const double *expected, const double *scale)
{
    double largest = 0.0;
    int i;
    for (i = 0; i < n; i++) {
        const double error = fabs((double)computed[i] - expected[i])/scale[i];
        if (!(error <= largest))
            largest = error;
    }
    return largest;
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
        {-1.2073208795895352, 0.7329793236472647, 1.2073208795895352, 0.7329793236472647, 1.530512637838581, 0.7391228675842285},
        {-0.058822292149346644, -0.9976218424220282, 0.058822292149346644, -0.9976218424220282, 1.0936073302201936, 1.5637832880020142},
        {-2.6694453737931743, -0.3158989090822517, 2.6694453737931743, -0.3158989090822517, 1.7251064076052964, -2.098323106765747},
    };
    static const double M_scale[6] = {2.6694453737931743, 0.9976218424220282, 2.6694453737931743, 0.9976218424220282, 2.146365865823922, 2.885012149810791};
    float M_computed[6];
    static const double new_y_expected[8][1] = {
        {5.35815268010573},
        {1.6549665754297516},
        {-0.33392848647250123},
        {0.5427797825014209},
        {-4.246910699248332},
        {-2.671040536107056},
        {-4.961572759545531},
        {-1.216161855721706},
    };
    static const double new_y_scale[1] = {5.35815268010573};
    float new_y_computed[1];
    double largest = 0.0;
    int i;
    for (i = 0; i < 8; i++) {
        example_every_kind(x[i], y[i], z[i], &p, M_computed, new_y_computed);
        {
            const double error = deviation(6, M_computed, M_expected[i], M_scale);
            if (!(error <= largest))
                largest = error;
        }
        {
            const double error = deviation(1, new_y_computed, new_y_expected[i], new_y_scale);
            if (!(error <= largest))
                largest = error;
        }
    }
    {
        float x_all[24];
        float y_all[32];
        float z_all[8];
        float M_all[48];
        float new_y_all[8];
        int k;
        for (i = 0; i < 8; i++) {
            for (k = 0; k < 3; k++)
                x_all[8*k + i] = x[i][k];
            for (k = 0; k < 4; k++)
                y_all[8*k + i] = y[i][k];
            for (k = 0; k < 1; k++)
                z_all[8*k + i] = z[i][k];
        }
        example_every_kind_batch(8, x_all, y_all, z_all, &p, M_all, new_y_all);
        for (i = 0; i < 8; i++) {
            for (k = 0; k < 6; k++)
                M_computed[k] = M_all[8*k + i];
            for (k = 0; k < 1; k++)
                new_y_computed[k] = new_y_all[8*k + i];
            {
                const double error = deviation(6, M_computed, M_expected[i], M_scale);
                if (!(error <= largest))
                    largest = error;
            }
            {
                const double error = deviation(1, new_y_computed, new_y_expected[i], new_y_scale);
                if (!(error <= largest))
                    largest = error;
            }
        }
    }
    printf("%-30s largest deviation %.1e, allowed 1.0e-05\n", "every_kind", largest);
    return !(largest <= 1e-05);
}

int main(void)
{
    int failed = 0;
    failed |= test_every_kind();
    printf("example: %s\n", failed ? "FAILED" : "passed");
    return failed;
}
