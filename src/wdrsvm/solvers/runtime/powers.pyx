# Powers of e for the kernels.  powers.py has the same function for uncompiled kernels, with
# a docstring.
cdef extern from *:
    """
    #if defined(__FMA__)
    #define WDRSVM_PLUS(a, b, c) __builtin_fmaf(b, c, a)
    #else
    #define WDRSVM_PLUS(a, b, c) ((a) + (b) * (c))
    #endif

    /* 2^t = 2^k 2^f with a whole number k and |f| <= 1/2.  The first factor is written into
       the bits of a float, the second one is a series.  No call and no branch, so that loops
       become vectors. */
    static inline float wdrsvm_single_power(float x)
    {
        union { int bits; float value; } whole;
        float t = x * 1.44269504f;
        int k = (int) (t - 0.5f);
        float f = t - (float) k;
        float series = WDRSVM_PLUS(1.54035304e-4f, f, 1.52527338e-5f);
        series = WDRSVM_PLUS(1.33335581e-3f, f, series);
        series = WDRSVM_PLUS(9.61812911e-3f, f, series);
        series = WDRSVM_PLUS(5.55041087e-2f, f, series);
        series = WDRSVM_PLUS(0.240226507f, f, series);
        series = WDRSVM_PLUS(0.693147181f, f, series);
        series = WDRSVM_PLUS(1.0f, f, series);
        whole.bits = (k + 127) << 23;
        return series * whole.value;
    }
    """
    float single_power "wdrsvm_single_power" (float x) noexcept nogil
