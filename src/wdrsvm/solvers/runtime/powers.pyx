# Powers and logarithms for the kernels.  powers.py has the same functions for uncompiled
# kernels, with docstrings.  None has a call or a branch, so that loops become vectors.
cdef extern from *:
    """
    #if defined(__FMA__)
    #define WDRSVM_PLUS(a, b, c) __builtin_fmaf(b, c, a)
    #define WDRSVM_PLUS_DOUBLE(a, b, c) __builtin_fma(b, c, a)
    #else
    #define WDRSVM_PLUS(a, b, c) ((a) + (b) * (c))
    #define WDRSVM_PLUS_DOUBLE(a, b, c) ((a) + (b) * (c))
    #endif

    /* 2^t = 2^k 2^f with a whole number k and |f| <= 1/2.  The first factor is written into
       the bits of a float, the second one is a series. */
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

    /* log2 x of a positive, normal x = 2^k m with m between the roots of 1/2 and of 2:
       k + log2 m, the latter as a series in (m - 1) / (m + 1).  The exponent k is an int of
       32 bits: there is no vector instruction for longer ones. */
    static inline double wdrsvm_log2(double x)
    {
        union { unsigned long long bits; double value; } part;
        double ratio, square, series;
        unsigned long long raised;
        int k;
        part.value = x;
        raised = (part.bits - 0x3FE6A09E667F3BCDULL + 0x3FF0000000000000ULL) >> 52;
        part.bits -= (raised - 1023) << 52;
        k = (int) raised - 1023;
        ratio = (part.value - 1.0) / (part.value + 1.0);
        square = ratio * ratio;
        series = 2.8853900817779268 / 17;
        series = WDRSVM_PLUS_DOUBLE(2.8853900817779268 / 15, square, series);
        series = WDRSVM_PLUS_DOUBLE(2.8853900817779268 / 13, square, series);
        series = WDRSVM_PLUS_DOUBLE(2.8853900817779268 / 11, square, series);
        series = WDRSVM_PLUS_DOUBLE(2.8853900817779268 / 9, square, series);
        series = WDRSVM_PLUS_DOUBLE(2.8853900817779268 / 7, square, series);
        series = WDRSVM_PLUS_DOUBLE(2.8853900817779268 / 5, square, series);
        series = WDRSVM_PLUS_DOUBLE(2.8853900817779268 / 3, square, series);
        series = WDRSVM_PLUS_DOUBLE(2.8853900817779268, square, series);
        return (double) k + ratio * series;
    }

    /* 2^t, as in the function above for floats.  At -1023 no bit is set: 0. */
    static inline double wdrsvm_power_of_two(double t)
    {
        union { long long bits; double value; } whole;
        int k = (int) (t - 0.5);
        double f = (t - (double) k) * 0.69314718055994531;
        double series = 1.0 / 479001600;
        series = WDRSVM_PLUS_DOUBLE(1.0 / 39916800, f, series);
        series = WDRSVM_PLUS_DOUBLE(1.0 / 3628800, f, series);
        series = WDRSVM_PLUS_DOUBLE(1.0 / 362880, f, series);
        series = WDRSVM_PLUS_DOUBLE(1.0 / 40320, f, series);
        series = WDRSVM_PLUS_DOUBLE(1.0 / 5040, f, series);
        series = WDRSVM_PLUS_DOUBLE(1.0 / 720, f, series);
        series = WDRSVM_PLUS_DOUBLE(1.0 / 120, f, series);
        series = WDRSVM_PLUS_DOUBLE(1.0 / 24, f, series);
        series = WDRSVM_PLUS_DOUBLE(1.0 / 6, f, series);
        series = WDRSVM_PLUS_DOUBLE(0.5, f, series);
        series = WDRSVM_PLUS_DOUBLE(1.0, f, series);
        series = WDRSVM_PLUS_DOUBLE(1.0, f, series);
        whole.bits = ((long long) k + 1023) << 52;
        return series * whole.value;
    }
    """
    float single_power "wdrsvm_single_power" (float x) noexcept nogil
    double log2_of "wdrsvm_log2" (double x) noexcept nogil
    double power_of_two "wdrsvm_power_of_two" (double t) noexcept nogil
