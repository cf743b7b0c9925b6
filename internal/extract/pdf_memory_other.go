//go:build !linux && !darwin

package extract

import "context"

// withMemory leaves the memory to the engine.
func withMemory(ctx context.Context) context.Context { return ctx }
