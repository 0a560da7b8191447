/* Four numbers in one register; what is done to them is done to all four. */
#if defined(__GNUC__) && ($condition)
#define VECTORS
typedef $real four __attribute__((vector_size($bytes)));
$units
#endif
