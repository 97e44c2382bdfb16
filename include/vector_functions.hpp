// The name under which older programs include vector_functions.h's definitions.
#include "vector_functions.h"
