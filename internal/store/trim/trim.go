// Package trim gives memory that is free but held back to the system.
//
// SQLite's page caches are thousands of small pieces that were asked for by
// whichever thread ran at the time. When they are freed, glibc keeps them in
// the arenas of those threads: after a bulk load that was several times what
// the daemon needs at rest. It owns nothing and knows nothing of SQLite.
package trim

/*
#include <stdlib.h>
#ifdef __GLIBC__
#include <malloc.h>
static void trim(void) { malloc_trim(0); }
#else
static void trim(void) {}
#endif
*/
import "C"

import "runtime/debug"

// Memory returns the free memory of both heaps, Go's and C's. It costs a
// garbage collection and a walk over C's free lists, so it is for quiet times.
func Memory() {
	debug.FreeOSMemory()
	C.trim()
}
