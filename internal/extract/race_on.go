//go:build race

package extract

// raceEnabled: the race detector reserves terabytes of addresses, so that a
// worker cannot start under a limit.
const raceEnabled = true
