#if defined(__GNUC__) || defined(__clang__)
#define INLINE inline __attribute__((always_inline))
#define NOINLINE __attribute__((noinline))
#define RARE __attribute__((noinline, cold))
#else
#define INLINE
#define NOINLINE
#define RARE
#endif

/*
 * Numbers in one vector register; on x86-64 systems that can tell, each call looks whether the processor has AVX2 and
 * fused multiply-add, and runs code compiled for that. TAUFORM_NO_DISPATCH leaves this out.
 */
#if defined(__AVX__)
#define LANES $wide
#elif defined(__SSE2__) || defined(__ARM_NEON) || defined(__aarch64__) || defined(_M_X64)
#define LANES $narrow
#else
#define LANES 1
#endif

#if defined(__GNUC__) && defined(__AVX2__) && defined(__FMA__)
#define CHOSEN(newer, older) newer
#elif !defined(TAUFORM_NO_DISPATCH) && defined(__GNUC__) && defined(__x86_64__) && defined(__SSE2__) \
    && __STDC_HOSTED__ && !defined(_MSC_VER) \
    && (defined(__linux__) || defined(__APPLE__) || defined(__FreeBSD__) || defined(__MINGW64__))
#define DISPATCH
#else
#define CHOSEN(newer, older) older
#endif

#if defined(DISPATCH)
#if defined(__clang__)
#define AVX2 __attribute__((target("avx2,fma")))
#else
#define AVX2 __attribute__((target("avx2,fma"), optimize("fp-contract=fast")))
#endif
#define VARIANTS(name, newer, older, parameters, ...) \
    static NOINLINE AVX2 void name##_avx2 parameters { newer($wide, __VA_ARGS__); } \
    static NOINLINE void name##_sse2 parameters { older(LANES, __VA_ARGS__); }
#define RUN(name, newer, older, ...) \
    do { \
        if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) { \
            name##_avx2(__VA_ARGS__); \
        } else { \
            name##_sse2(__VA_ARGS__); \
        } \
    } while (0)
#else
#define AVX2
#define VARIANTS(name, newer, older, parameters, ...)
#define RUN(name, newer, older, ...) CHOSEN(newer, older)(LANES, __VA_ARGS__)
#endif
