/* Drives $function as Simulink would, and compares with stored results, matrices column by column. */
#include "../$function.c"

#include <math.h>
#include <stdio.h>

$constants

int check_$function(void);

int check_$function(void)
{
    static const double *const inputs[] = {$input};
    static const double *const expected[] = {$expected};
    static const double *const scales[] = {$scale};
    static const int input_widths[] = {$input_widths};
    static const int output_widths[] = {$output_widths};
    static double results[16][16384];
    static SimStruct block;
    double largest = 0.0;
    int state, k, i;
    mdlInitializeSizes(&block);
    mdlInitializeSampleTimes(&block);
    for (k = 0; k < block.n_inputs; k++) {
        if (block.input_widths[k] != input_widths[k] || !block.feeds_through[k]) {
            printf("%s: input %d has the wrong size\n", $title, k);
            return 1;
        }
    }
    for (k = 0; k < block.n_outputs; k++) {
        if (block.output_widths[k] != output_widths[k] || output_widths[k] > 16384) {
            printf("%s: output %d has the wrong size\n", $title, k);
            return 1;
        }
        block.outputs[k] = results[k];
    }
    for (state = 0; state < $states; state++) {
        for (k = 0; k < block.n_inputs; k++) block.inputs[k] = inputs[k] + state*input_widths[k];
        mdlOutputs(&block, 0);
        for (k = 0; k < block.n_outputs; k++) {
            for (i = 0; i < output_widths[k]; i++) {
                const double error = fabs(results[k][i] - expected[k][state*output_widths[k] + i]) / scales[k][i];
                /* written this way round, an error that is no number counts too */
                if (!(error <= largest)) largest = error;
            }
        }
    }
    mdlTerminate(&block);
    printf("%-30s largest deviation %.1e, allowed %.1e\n", $title, largest, $tolerance);
    return !(largest <= $tolerance);
}
