/*
 * $name on recorded motion: $file holds states and measured torques.
 * Computed and measured torques pass the same filters. The error, RMS over RMS torque with all joints together, must be
 * the one that was found before this code was written.
 *
 * Written by tauform $version; do not edit.
 */
#include "$name.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define STATES $states
#define INPUTS $inputs
#define JOINTS $joints
/* 1 where a state counts and 2^(j + 1) where joint j rests, its inputs, measured torques */
#define WIDTH (1 + INPUTS + JOINTS)

typedef struct {
    int places, between_taps, decimate_taps, lowpass_taps;
    const double *between, *decimate, *lowpass;
} filters;

typedef struct {
    long states;
    const filters *filters;
} track;

$kernels
static const filters all_filters[] = {
$filters
};
static const track tracks[] = {
$tracks
};

/* An entry of a column; beyond its ends it is reflected about the first and the last one. */
static double entry(const double *column, long n, int width, long i)
{
    double shift = 0.0, sign = 1.0;
    if (n == 1)
        return column[0];
    while (i < 0 || i >= n) {
        const long end = i < 0 ? 0 : n - 1;
        shift += 2.0*sign*column[end*width];
        sign = -sign;
        i = 2*end - i;
    }
    return shift + sign*column[i*width];
}

static double weighted(const double *column, long n, int width, const double *kernel, int taps, long i)
{
    double sum = 0.0;
    int k;
    for (k = 0; k < taps; k++)
        sum += kernel[k]*entry(column, n, width, i + k - taps/2);
    return sum;
}

/* Read all states; NULL, with a sentence, where the file is not the one that was written. */
static double *read_states(void)
{
    static char line[32*(WIDTH + 2)];
    uint32_t crc = UINT32_C(0xffffffff); /* CRC-32, without the ends of lines of other systems */
    long count = -1, i;
    char *next, *end;
    double *states = malloc(sizeof(double)*STATES*WIDTH);
    FILE *file = fopen("$file", "rb");
    if (states == NULL || file == NULL) {
        printf("$file: cannot be read; run the test in the folder that holds it\n");
        free(states);
        if (file != NULL)
            fclose(file);
        return NULL;
    }
    for (; fgets(line, sizeof line, file) != NULL; count++) {
        for (next = line; *next; next++) {
            if (*next == '\r')
                continue;
            crc ^= (unsigned char)*next;
            for (i = 0; i < 8; i++)
                crc = (crc >> 1) ^ (crc & 1 ? UINT32_C(0xedb88320) : 0);
        }
        if (count < 0 || count >= STATES)
            continue; /* the heading */
        strtod(line, &end); /* time */
        for (i = 0; i < WIDTH && *end == ','; i++)
            states[count*WIDTH + i] = strtod(end + 1, &end);
    }
    fclose(file);
    if (count == STATES && ~crc == UINT32_C($digest))
        return states;
    printf("$file: it is not the file that was written with this test\n");
    free(states);
    return NULL;
}

/* Whether a joint moves: friction at rest may have any value, so that torques count as zero there. */
static int moves(const double *state, int joint)
{
    return !((int64_t)state[0] >> (joint + 1) & 1);
}

/* Torques that a function computes at all places of a track, (places, JOINTS). */
static double *computed_torques(void (*torque)(const $real *, $real *), const track *part, const double *states, long n)
{
    const filters *f = part->filters;
    double *torques = malloc(sizeof(double)*(size_t)n*JOINTS);
    long i;
    int k;
    for (i = 0; torques != NULL && i < n; i++) {
        $real state[INPUTS], tau[JOINTS];
        for (k = 0; k < INPUTS; k++)
            state[k] = ($real)weighted(states + 1 + k, part->states, WIDTH, f->between + i%f->places*f->between_taps,
                f->between_taps, i/f->places);
        torque(state, tau);
        for (k = 0; k < JOINTS; k++)
            torques[i*JOINTS + k] = (double)tau[k];
    }
    return torques;
}

/* Add the squares of a track's errors and torques; 0 if memory is short. */
static int add_squares(void (*torque)(const $real *, $real *), const track *part, const double *states, double sums[2])
{
    const filters *f = part->filters;
    const long n = (part->states - 1)*f->places + 1;
    double *torques = computed_torques(torque, part, states, n);
    /* measured torques where joints move, and what the function leaves of them */
    double *measured = malloc(sizeof(double)*(size_t)part->states*JOINTS);
    double *errors = malloc(sizeof(double)*(size_t)part->states*JOINTS);
    const int ready = torques != NULL && measured != NULL && errors != NULL;
    long i;
    int k;
    for (i = 0; ready && i < part->states; i++)
        for (k = 0; k < JOINTS; k++) {
            const double *state = states + i*WIDTH;
            const double computed = weighted(torques + k, n, JOINTS, f->decimate, f->decimate_taps, i*f->places);
            measured[i*JOINTS + k] = moves(state, k) ? state[1 + INPUTS + k] : 0.0;
            errors[i*JOINTS + k] = moves(state, k) ? state[1 + INPUTS + k] - computed : 0.0;
        }
    for (i = 0; ready && i < part->states; i++)
        for (k = 0; k < JOINTS && (int64_t)states[i*WIDTH] & 1; k++) {
            const double error = weighted(errors + k, part->states, JOINTS, f->lowpass, f->lowpass_taps, i);
            const double whole = weighted(measured + k, part->states, JOINTS, f->lowpass, f->lowpass_taps, i);
            sums[0] += error*error;
            sums[1] += whole*whole;
        }
    free(torques);
    free(measured);
    free(errors);
    return ready;
}

static int compare(const char *function, void (*torque)(const $real *, $real *), const double *states, double expected,
    double allowed)
{
    double sums[2] = {0.0, 0.0}, found;
    size_t i;
    for (i = 0; i < sizeof tracks/sizeof tracks[0]; i++) {
        if (!add_squares(torque, &tracks[i], states, sums)) {
            printf("%-30s not enough memory for its recording\n", function);
            return 1;
        }
        states += tracks[i].states*WIDTH;
    }
    found = sqrt(sums[0]/sums[1]);
    printf("%-30s torque error %.4f %%, expected %.4f %%, deviation %.1e, allowed %.1e\n", function, 100.0*found,
        100.0*expected, fabs(found - expected), allowed);
    return !(fabs(found - expected) <= allowed);
}

$functions
int ${name}_test_recording(void);
int ${name}_test_recording(void)
{
    int failed = 0;
    double *states = read_states();
    if (states == NULL)
        return 1;
$calls
    free(states);
    printf("%s\n", $words);
    return failed;
}
