/*
 * 1, -1, or the number itself where it is zero or not a number: from its bits, so that no branch depends on it.
 * Shifted by one, the bits are a size: zero is the least, and what is above infinity is not a number.
 */
static INLINE $real sign_of($real x)
{
    $bits b, size, sign;
    $real s;
    memcpy(&b, &x, sizeof b);
    size = b << 1;
    sign = (b & ~(~($bits)0 >> 1)) | ($one & (0 - ($bits)(size != 0))) | (b & (0 - ($bits)(size > $infinity)));
    memcpy(&s, &sign, sizeof s);
    return s;
}
