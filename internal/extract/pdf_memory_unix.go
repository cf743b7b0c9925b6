//go:build linux || darwin

package extract

import (
	"context"

	"github.com/tetratelabs/wazero/experimental"
	"golang.org/x/sys/unix"
)

// withMemory makes the engine's memory a mapping that is reserved once: it
// grows without being copied and is handed back when an instance ends.
func withMemory(ctx context.Context) context.Context {
	return experimental.WithMemoryAllocator(ctx, experimental.MemoryAllocatorFunc(func(_, most uint64) experimental.LinearMemory {
		most = min(most, pdfMemoryPages<<16)
		b, err := unix.Mmap(-1, 0, int(most), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
		if err != nil {
			panic("cannot allocate memory for the PDF engine: " + err.Error()) // the reader's caller makes it an error
		}
		return &mappedMemory{b}
	}))
}

type mappedMemory struct{ all []byte }

func (m *mappedMemory) Reallocate(size uint64) []byte {
	if size > uint64(len(m.all)) {
		return nil
	}
	return m.all[:size]
}

func (m *mappedMemory) Free() {
	if m.all != nil {
		_ = unix.Munmap(m.all) // it was mapped whole above
		m.all = nil
	}
}
