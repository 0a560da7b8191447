/* 1, -1, or the number itself where it is zero or not a number */
static $real sign_of($real x)
{
    return x > $zero ? $one : x < $zero ? -$one : x;
}
