/* Calls each function on each state between two marks, which the emulator's log shows; then measures its stack. */
#include <stdint.h>
#include <stdio.h>
#include "count.h"

#define WORDS 8192
#define PAINT 0x5A5A5A5Au
#define NOINLINE __attribute__((noinline))

static real out[OUTPUTS];
static volatile uint32_t *lowest;

NOINLINE void mark_begin(void) { __asm__ volatile("" ::: "memory"); }
NOINLINE void mark_end(void) { __asm__ volatile("" ::: "memory"); }
NOINLINE void nothing(const real *in, real *to) { __asm__ volatile("" : : "r"(in), "r"(to) : "memory"); }

NOINLINE static void called(function f, const real *in)
{
    mark_begin();
    f(in, out);
    mark_end();
}

/* Fills the stack below the caller's frame, which the next call uses. */
NOINLINE static void paint(void)
{
    volatile uint32_t area[WORDS];
    int i;
    for (i = 0; i < WORDS; i++)
        area[i] = PAINT;
    lowest = (volatile uint32_t *)(uintptr_t)area;
}

static int touched(function f)
{
    int i = 0;
    paint();
    f(states[0], out);
    while (i < WORDS && lowest[i] == PAINT)
        i++;
    return 4*(WORDS - i);
}

int main(void)
{
    int f, s, k;
    called(nothing, states[0]);
    for (f = 0; f < FUNCTIONS; f++) {
        for (s = 0; s < STATES; s++) {
            called(functions[f], states[s]);
            for (k = 0; k < OUTPUTS; k++)
                printf("%.17g ", (double)out[k]);
        }
        printf("\n");
    }
    for (f = 0; f < FUNCTIONS; f++)
        printf("%d ", touched(functions[f]) - touched(nothing));
    printf("\n");
    return 0;
}
