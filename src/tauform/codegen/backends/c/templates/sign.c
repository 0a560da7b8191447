/*
 * 1, -1, or the number itself where it is zero or not a number: from its bits, so that no branch depends on it.
 * Without its sign it is a size: zero is the least, and what is above infinity is not a number.
 */
static INLINE $real sign_of($real x)
{
    $bits b;
    $bits size;
    $bits some; /* 1 unless zero */
    $bits none; /* 1 where not a number */
    $bits sign;
    $real s;
    (void)memcpy(&b, &x, sizeof b);
    size = b & $magnitude;
    some = (size + $magnitude) >> $top;
    none = ($infinity - size) >> $top;
    sign = (b & ~$magnitude) | ($one & (~some + 1u)) | (b & (~none + 1u));
    (void)memcpy(&s, &sign, sizeof s);
    return s;
}
