/*
 * S-function $function: $summary
 *
 * Written by tauform $version; do not edit. Build it with the script beside it, or: mex $function.c $inner.c
 */
#define S_FUNCTION_NAME $function
#define S_FUNCTION_LEVEL 2
#include "simstruc.h"

#include "$inner.h"

/* Ports and their sizes; the function has no parameters and no states. */
static void mdlInitializeSizes(SimStruct *S)
{
    ssSetNumSFcnParams(S, 0);
    if (ssGetNumSFcnParams(S) != ssGetSFcnParamsCount(S)) return;
    ssSetNumContStates(S, 0);
    ssSetNumDiscStates(S, 0);
    if (!ssSetNumInputPorts(S, $n_inputs)) return;
$inputs
    if (!ssSetNumOutputPorts(S, $n_outputs)) return;
$outputs
    ssSetNumSampleTimes(S, 1);
    ssSetOptions(S, SS_OPTION_EXCEPTION_FREE_CODE);
}

/* As often as the block that drives it; with a continuous one, at its minor steps too. */
static void mdlInitializeSampleTimes(SimStruct *S)
{
    ssSetSampleTime(S, 0, INHERITED_SAMPLE_TIME);
    ssSetOffsetTime(S, 0, 0.0);
    ssSetModelReferenceSampleTimeDefaultInheritance(S);
}

static void mdlOutputs(SimStruct *S, int_T tid)
{
$signals
$index
    (void)tid;
$call
$columns
}

static void mdlTerminate(SimStruct *S)
{
    (void)S;
}

#ifdef MATLAB_MEX_FILE
#include "simulink.c"
#else
#include "cg_sfun.h"
#endif
