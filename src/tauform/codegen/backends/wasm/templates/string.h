/* What the C here needs of string.h: copies of single numbers, which are instructions. */
#ifndef TAUFORM_STRING_H
#define TAUFORM_STRING_H

#define memcpy __builtin_memcpy

#endif
