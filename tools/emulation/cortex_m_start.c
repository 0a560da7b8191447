/* What runs before main on a Cortex-M without an operating system; the debugger's host does input and output. */
#include <stdint.h>
#include <stdlib.h>

#define STACK_TOP 0x20400000u
#define CPACR (*(volatile uint32_t *)0xE000ED88u)

extern void initialise_monitor_handles(void);
extern int main(void);

/* the C library calls both */
void _init(void)
{
}

void _fini(void)
{
}

void reset(void)
{
    CPACR |= 0xFu << 20; /* full access to the floating-point unit */
    __asm__ volatile("dsb\n\tisb");
    initialise_monitor_handles();
    exit(main());
}

static void fault(void)
{
    _Exit(99);
}

__attribute__((section(".vectors"), used)) static const uintptr_t vectors[16] = {
    STACK_TOP, (uintptr_t)reset, (uintptr_t)fault, (uintptr_t)fault, (uintptr_t)fault, (uintptr_t)fault, (uintptr_t)fault,
};
