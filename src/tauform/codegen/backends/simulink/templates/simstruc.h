/*
 * Stand-in for the header of Simulink, with what our S-functions call: it keeps sizes and signals of one block, so that
 * an S-function can be driven without Simulink. mex finds Simulink's own header instead.
 */
#ifndef TAUFORM_STAND_IN_SIMSTRUC_H
#define TAUFORM_STAND_IN_SIMSTRUC_H

typedef double real_T;
typedef int int_T;

enum { MOST_PORTS = 16 };

typedef struct {
    int n_inputs;
    int n_outputs;
    int parameters;
    int sample_times;
    int input_widths[MOST_PORTS];
    int output_widths[MOST_PORTS];
    int feeds_through[MOST_PORTS];
    const real_T *inputs[MOST_PORTS];
    real_T *outputs[MOST_PORTS];
} SimStruct;

#define INHERITED_SAMPLE_TIME (-1.0)
#define SS_OPTION_EXCEPTION_FREE_CODE 1

#define ssSetNumSFcnParams(S, n) ((S)->parameters = (n))
#define ssGetNumSFcnParams(S) ((S)->parameters)
#define ssGetSFcnParamsCount(S) (0)
#define ssSetNumContStates(S, n) ((void)(S), (void)(n))
#define ssSetNumDiscStates(S, n) ((void)(S), (void)(n))
#define ssSetNumInputPorts(S, n) ((S)->n_inputs = (n), (n) <= MOST_PORTS)
#define ssSetNumOutputPorts(S, n) ((S)->n_outputs = (n), (n) <= MOST_PORTS)
#define ssSetInputPortWidth(S, k, n) ((S)->input_widths[k] = (n))
#define ssSetOutputPortWidth(S, k, n) ((S)->output_widths[k] = (n))
#define ssSetOutputPortMatrixDimensions(S, k, m, n) ((S)->output_widths[k] = (m)*(n), 1)
#define ssSetInputPortRequiredContiguous(S, k, yes) ((void)(S), (void)(k), (void)(yes))
#define ssSetInputPortDirectFeedThrough(S, k, yes) ((S)->feeds_through[k] = (yes))
#define ssSetNumSampleTimes(S, n) ((S)->sample_times = (n))
#define ssSetOptions(S, options) ((void)(S), (void)(options))
#define ssSetSampleTime(S, k, time) ((void)(S), (void)(k), (void)(time))
#define ssSetOffsetTime(S, k, time) ((void)(S), (void)(k), (void)(time))
#define ssSetModelReferenceSampleTimeDefaultInheritance(S) ((void)(S))
#define ssGetInputPortRealSignal(S, k) ((S)->inputs[k])
#define ssGetOutputPortRealSignal(S, k) ((S)->outputs[k])

#endif
