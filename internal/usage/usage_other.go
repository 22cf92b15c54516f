//go:build !unix

// Package usage measures the processor time and memory of this process.
package usage

import (
	"runtime"
	"time"
)

var start = time.Now()

// ProcessTime returns the wall-clock time since the start, because this system does not report processor time.
func ProcessTime() time.Duration { return time.Since(start) }

// PeakMemory returns the memory that the Go runtime has from the system, in bytes.
func PeakMemory() int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.Sys)
}
