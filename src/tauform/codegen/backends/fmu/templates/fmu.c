/*
 * FMI 3.0 interface to the functions of $inner.h: model exchange, and co-simulation by Runge-Kutta steps of fourth order.
 *
 * Written by tauform $version; do not edit. Declarations after the FMI 3.0 standard.
 */
#include "$inner.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if defined(__GNUC__)
/* The standard passes more than an arm needs. */
#pragma GCC diagnostic ignored "-Wunused-parameter"
#endif

#if defined(_WIN32)
#define EXPORT __declspec(dllexport)
#elif defined(__GNUC__)
#define EXPORT __attribute__((visibility("default")))
#else
#define EXPORT
#endif

typedef enum { fmi3OK, fmi3Warning, fmi3Discard, fmi3Error, fmi3Fatal } fmi3Status;
typedef uint32_t Reference;
typedef void (*LogMessage)(void *environment, fmi3Status status, const char *category, const char *message);
typedef void (*IntermediateUpdate)(
    void *environment, double time, bool set_requested, bool get_allowed, bool finished, bool may_return, bool *early,
    double *early_time);

enum { N = $n };

/* What a state of the FMU holds; in the order of its variables. */
typedef struct {
    double time;
    double q[N];
    double qd[N];
    double qdd[N];
    double step;
$members} Values;

typedef struct {
    Values values;
    void *environment;
    LogMessage log;
} Instance;

typedef struct {
    size_t offset;
    size_t size;
    int is_settable;
} Variable;

static const Variable VARIABLES[] = {
    {offsetof(Values, time), 1, 0},
    {offsetof(Values, q), N, 1},
    {offsetof(Values, qd), N, 1},
    {offsetof(Values, qdd), N, 0},
    {offsetof(Values, step), 1, 1},
$variables};

static fmi3Status refuse(Instance *instance, const char *message)
{
    if (instance && instance->log)
        instance->log(instance->environment, fmi3Error, "logStatusError", message);
    return fmi3Error;
}

static void start(Values *values)
{
    memset(values, 0, sizeof *values);
    values->step = 0.001;
$starts}

static void accelerate(const Values *values, const double *q, const double *qd, double *qdd)
{
    ${inner}_forward_dynamics($arguments, qdd);
}

/* x + h dx */
static void along(const double *x, double h, const double *dx, double *result)
{
    for (int k = 0; k < N; k++)
        result[k] = x[k] + h*dx[k];
}

static void runge_kutta(Values *values, double h)
{
    double a1[N], a2[N], a3[N], a4[N], v2[N], v3[N], v4[N], q[N];
    const double *v1 = values->qd;
    accelerate(values, values->q, v1, a1);
    along(values->q, 0.5*h, v1, q);
    along(values->qd, 0.5*h, a1, v2);
    accelerate(values, q, v2, a2);
    along(values->q, 0.5*h, v2, q);
    along(values->qd, 0.5*h, a2, v3);
    accelerate(values, q, v3, a3);
    along(values->q, h, v3, q);
    along(values->qd, h, a3, v4);
    accelerate(values, q, v4, a4);
    for (int k = 0; k < N; k++) {
        values->q[k] += h/6.0*(v1[k] + 2.0*v2[k] + 2.0*v3[k] + v4[k]);
        values->qd[k] += h/6.0*(a1[k] + 2.0*a2[k] + 2.0*a3[k] + a4[k]);
    }
}

EXPORT const char *fmi3GetVersion(void)
{
    return "3.0";
}

EXPORT fmi3Status fmi3SetDebugLogging(void *instance, bool on, size_t count, const char *const categories[])
{
    return fmi3OK;
}

static void *instantiate(const char *token, void *environment, LogMessage log)
{
    Instance *instance;
    if (!token || strcmp(token, "$token") != 0) {
        if (log)
            log(environment, fmi3Error, "logStatusError", "the instantiation token is that of another model");
        return NULL;
    }
    instance = calloc(1, sizeof *instance);
    if (instance) {
        start(&instance->values);
        instance->environment = environment;
        instance->log = log;
    }
    return instance;
}

EXPORT void *fmi3InstantiateModelExchange(
    const char *name, const char *token, const char *resources, bool visible, bool logging, void *environment,
    LogMessage log)
{
    return instantiate(token, environment, log);
}

EXPORT void *fmi3InstantiateCoSimulation(
    const char *name, const char *token, const char *resources, bool visible, bool logging, bool event_mode,
    bool early_return, const Reference required[], size_t n_required, void *environment, LogMessage log,
    IntermediateUpdate update)
{
    return instantiate(token, environment, log);
}

EXPORT void *fmi3InstantiateScheduledExecution(
    const char *name, const char *token, const char *resources, bool visible, bool logging, void *environment,
    LogMessage log, void (*update)(void *), void (*lock)(void), void (*unlock)(void))
{
    return NULL; /* no such interface */
}

EXPORT void fmi3FreeInstance(void *instance)
{
    free(instance);
}

EXPORT fmi3Status fmi3EnterInitializationMode(
    void *instance, bool has_tolerance, double tolerance, double time, bool has_stop, double stop)
{
    ((Instance *)instance)->values.time = time;
    return fmi3OK;
}

#define NOTHING_TO_DO(name) \
    EXPORT fmi3Status name(void *instance) \
    { \
        return fmi3OK; \
    }

NOTHING_TO_DO(fmi3ExitInitializationMode)
NOTHING_TO_DO(fmi3EnterEventMode)
NOTHING_TO_DO(fmi3Terminate)
NOTHING_TO_DO(fmi3EnterConfigurationMode)
NOTHING_TO_DO(fmi3ExitConfigurationMode)
NOTHING_TO_DO(fmi3EvaluateDiscreteStates)
NOTHING_TO_DO(fmi3EnterContinuousTimeMode)
NOTHING_TO_DO(fmi3EnterStepMode)

EXPORT fmi3Status fmi3Reset(void *instance)
{
    start(&((Instance *)instance)->values);
    return fmi3OK;
}

static fmi3Status exchange(Instance *instance, const Reference references[], size_t count, double *out, const double *in, size_t n)
{
    size_t place = 0;
    for (size_t k = 0; k < count; k++) {
        const Reference reference = references[k];
        const Variable *variable;
        double *values;
        if (reference >= sizeof VARIABLES / sizeof VARIABLES[0])
            return refuse(instance, "no variable has this value reference");
        variable = &VARIABLES[reference];
        if (place + variable->size > n)
            return refuse(instance, "fewer values than the variables have");
        values = (double *)(void *)((char *)&instance->values + variable->offset);
        if (in && !variable->is_settable)
            return refuse(instance, "time and qdd cannot be set");
        if (in) {
            memcpy(values, in + place, variable->size*sizeof *values);
        } else {
            if (values == instance->values.qdd)
                accelerate(&instance->values, instance->values.q, instance->values.qd, values);
            memcpy(out + place, values, variable->size*sizeof *values);
        }
        place += variable->size;
    }
    return place == n ? fmi3OK : refuse(instance, "more values than the variables have");
}

EXPORT fmi3Status fmi3GetFloat64(void *instance, const Reference references[], size_t count, double values[], size_t n)
{
    return exchange(instance, references, count, values, NULL, n);
}

EXPORT fmi3Status fmi3SetFloat64(
    void *instance, const Reference references[], size_t count, const double values[], size_t n)
{
    return exchange(instance, references, count, NULL, values, n);
}

/* There are no variables of other types. */
#define NO_VARIABLES(kind, type) \
    EXPORT fmi3Status fmi3Get##kind(void *instance, const Reference references[], size_t count, type values[], size_t n) \
    { \
        return count || n ? refuse(instance, "no variable has type " #kind) : fmi3OK; \
    } \
    EXPORT fmi3Status fmi3Set##kind( \
        void *instance, const Reference references[], size_t count, const type values[], size_t n) \
    { \
        return count || n ? refuse(instance, "no variable has type " #kind) : fmi3OK; \
    }

typedef const char *String;
NO_VARIABLES(Float32, float)
NO_VARIABLES(Int8, int8_t)
NO_VARIABLES(UInt8, uint8_t)
NO_VARIABLES(Int16, int16_t)
NO_VARIABLES(UInt16, uint16_t)
NO_VARIABLES(Int32, int32_t)
NO_VARIABLES(UInt32, uint32_t)
NO_VARIABLES(Int64, int64_t)
NO_VARIABLES(UInt64, uint64_t)
NO_VARIABLES(Boolean, bool)
NO_VARIABLES(String, String)

EXPORT fmi3Status fmi3GetFMUState(void *instance, void **state)
{
    if (!*state)
        *state = malloc(sizeof(Values));
    if (!*state)
        return refuse(instance, "no memory is left");
    memcpy(*state, &((Instance *)instance)->values, sizeof(Values));
    return fmi3OK;
}

EXPORT fmi3Status fmi3SetFMUState(void *instance, void *state)
{
    memcpy(&((Instance *)instance)->values, state, sizeof(Values));
    return fmi3OK;
}

EXPORT fmi3Status fmi3FreeFMUState(void *instance, void **state)
{
    free(*state);
    *state = NULL;
    return fmi3OK;
}

EXPORT fmi3Status fmi3UpdateDiscreteStates(
    void *instance, bool *again, bool *terminate, bool *nominals_changed, bool *states_changed, bool *has_event,
    double *event_time)
{
    *again = *terminate = *nominals_changed = *states_changed = *has_event = false;
    return fmi3OK;
}

EXPORT fmi3Status fmi3CompletedIntegratorStep(void *instance, bool no_return, bool *event, bool *terminate)
{
    *event = *terminate = false;
    return fmi3OK;
}

EXPORT fmi3Status fmi3SetTime(void *instance, double time)
{
    ((Instance *)instance)->values.time = time;
    return fmi3OK;
}

EXPORT fmi3Status fmi3GetNumberOfContinuousStates(void *instance, size_t *count)
{
    *count = 2*N;
    return fmi3OK;
}

EXPORT fmi3Status fmi3GetNumberOfEventIndicators(void *instance, size_t *count)
{
    *count = 0;
    return fmi3OK;
}

EXPORT fmi3Status fmi3GetEventIndicators(void *instance, double indicators[], size_t n)
{
    return n ? refuse(instance, "there are no event indicators") : fmi3OK;
}

/* The states are q, then qd. */
EXPORT fmi3Status fmi3SetContinuousStates(void *instance, const double states[], size_t n)
{
    Values *values = &((Instance *)instance)->values;
    if (n != 2*N)
        return refuse(instance, "the states are positions and velocities");
    memcpy(values->q, states, sizeof values->q);
    memcpy(values->qd, states + N, sizeof values->qd);
    return fmi3OK;
}

EXPORT fmi3Status fmi3GetContinuousStates(void *instance, double states[], size_t n)
{
    const Values *values = &((Instance *)instance)->values;
    if (n != 2*N)
        return refuse(instance, "the states are positions and velocities");
    memcpy(states, values->q, sizeof values->q);
    memcpy(states + N, values->qd, sizeof values->qd);
    return fmi3OK;
}

EXPORT fmi3Status fmi3GetContinuousStateDerivatives(void *instance, double derivatives[], size_t n)
{
    const Values *values = &((Instance *)instance)->values;
    if (n != 2*N)
        return refuse(instance, "the states are positions and velocities");
    memcpy(derivatives, values->qd, sizeof values->qd);
    accelerate(values, values->q, values->qd, derivatives + N);
    return fmi3OK;
}

EXPORT fmi3Status fmi3GetNominalsOfContinuousStates(void *instance, double nominals[], size_t n)
{
    for (size_t k = 0; k < n; k++)
        nominals[k] = 1.0;
    return fmi3OK;
}

EXPORT fmi3Status fmi3DoStep(
    void *instance, double time, double size, bool no_return, bool *event, bool *terminate, bool *early, double *reached)
{
    Values *values = &((Instance *)instance)->values;
    *event = *terminate = *early = false;
    *reached = time;
    if (!(size >= 0.0) || !(values->step > 0.0))
        return refuse(instance, "steps are positive times");
    if (size > 0.0) {
        /* A quotient that rounding brought just above a whole number is that number. */
        const double count = fmax(1.0, ceil(size/values->step*(1.0 - 1e-12)));
        for (double k = 0.0; k < count; k += 1.0)
            runge_kutta(values, size/count);
    }
    for (int k = 0; k < N; k++)
        if (!isfinite(values->q[k]) || !isfinite(values->qd[k]))
            return refuse(instance, "the motion runs away");
    values->time = time + size;
    *reached = values->time;
    return fmi3OK;
}

/* What an arm does not have: clocks, partitions, other derivatives. The standard wants the functions all the same. */
#define ABSENT(name, ...) \
    EXPORT fmi3Status name(void *instance, __VA_ARGS__) \
    { \
        return refuse(instance, #name " is not provided"); \
    }

typedef const uint8_t *Binary;
typedef int Kind;
ABSENT(fmi3GetBinary, const Reference references[], size_t count, size_t sizes[], Binary values[], size_t n)
ABSENT(fmi3SetBinary, const Reference references[], size_t count, const size_t sizes[], const Binary values[], size_t n)
ABSENT(fmi3GetClock, const Reference references[], size_t count, bool values[])
ABSENT(fmi3SetClock, const Reference references[], size_t count, const bool values[])
ABSENT(fmi3GetNumberOfVariableDependencies, Reference reference, size_t *count)
ABSENT(fmi3GetVariableDependencies, Reference dependent, size_t elements[], Reference independents[], size_t others[],
       Kind kinds[], size_t count)
ABSENT(fmi3SerializedFMUStateSize, void *state, size_t *size)
ABSENT(fmi3SerializeFMUState, void *state, uint8_t bytes[], size_t size)
ABSENT(fmi3DeserializeFMUState, const uint8_t bytes[], size_t size, void **state)
ABSENT(fmi3GetDirectionalDerivative, const Reference unknowns[], size_t n_unknowns, const Reference knowns[],
       size_t n_knowns, const double seed[], size_t n_seed, double result[], size_t n)
ABSENT(fmi3GetAdjointDerivative, const Reference unknowns[], size_t n_unknowns, const Reference knowns[],
       size_t n_knowns, const double seed[], size_t n_seed, double result[], size_t n)
ABSENT(fmi3GetIntervalDecimal, const Reference references[], size_t count, double intervals[], Kind kinds[])
ABSENT(fmi3GetIntervalFraction, const Reference references[], size_t count, uint64_t counters[], uint64_t rates[],
       Kind kinds[])
ABSENT(fmi3GetShiftDecimal, const Reference references[], size_t count, double shifts[])
ABSENT(fmi3GetShiftFraction, const Reference references[], size_t count, uint64_t counters[], uint64_t rates[])
ABSENT(fmi3SetIntervalDecimal, const Reference references[], size_t count, const double intervals[])
ABSENT(fmi3SetIntervalFraction, const Reference references[], size_t count, const uint64_t counters[],
       const uint64_t rates[])
ABSENT(fmi3SetShiftDecimal, const Reference references[], size_t count, const double shifts[])
ABSENT(fmi3SetShiftFraction, const Reference references[], size_t count, const uint64_t counters[],
       const uint64_t rates[])
ABSENT(fmi3GetOutputDerivatives, const Reference references[], size_t count, const int32_t orders[], double values[],
       size_t n)
ABSENT(fmi3ActivateModelPartition, Reference clock, double time)
