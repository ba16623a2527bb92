# Powers of e for the kernels.  powers.py has the same function for uncompiled kernels, with
# a docstring.
cdef extern from *:
    """
    /* 2^t = 2^k 2^f with a whole number k and |f| <= 1/2.  The first factor is written into
       the bits of a float.  Bits and no call, so that loops become vectors. */
    static inline float wdrsvm_single_power(float x)
    {
        union { int bits; float value; } whole;
        float t = x * 1.44269504f;
        int k = (int) (t - 0.5f);
        float f = t - (float) k;
        float high = 1.54035304e-4f + f * 1.52527338e-5f;
        high = 9.61812911e-3f + f * (1.33335581e-3f + f * high);
        high = 1.0f + f * (0.693147181f + f * (0.240226507f + f * (5.55041087e-2f + f * high)));
        whole.bits = (k + 127) << 23;
        return high * whole.value;
    }
    """
    float single_power "wdrsvm_single_power" (float x) noexcept nogil
