"""Find out which instructions the processor has, when the kernels are loaded."""

cdef extern from *:
    """
    #if defined(_MSC_VER) && defined(_M_X64)
    #include <windows.h>
    static int wdrsvm_has_v3(void) {
        /* 40 is PF_AVX2_INSTRUCTIONS_AVAILABLE, which old headers do not name. */
        return IsProcessorFeaturePresent(40) != 0;
    }
    #elif defined(__x86_64__)
    static int wdrsvm_has_v3(void) {
        __builtin_cpu_init();
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")
            && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
    }
    #else
    static int wdrsvm_has_v3(void) { return 0; }
    #endif
    """
    int wdrsvm_has_v3() nogil


def has_v3() -> bool:
    """Whether this is an x86-64 processor of the third level, with AVX2 and FMA."""
    return wdrsvm_has_v3() != 0
