/*
 * Declarations for whoever includes this file. One file in C, not in C++, also asks for the definitions:
 *
 *     #define $switch
 *     #include <this file>
 */
$header

#if defined($switch) && !defined(${switch}_DONE)
#define ${switch}_DONE
#if defined(__cplusplus)
#error "define $switch in a file that is compiled as C"
#endif
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC push_options
#endif
$renamed

$body

$ended
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC pop_options
#endif
#endif
