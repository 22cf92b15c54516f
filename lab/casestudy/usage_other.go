//go:build !unix

// This file measures processor time and memory.

package casestudy

import (
	"runtime"
	"time"
)

var start = time.Now()

// ProcessTime returns the time since the program's start, as this system has no processor time.
func ProcessTime() time.Duration { return time.Since(start) }

// PeakMemory returns the bytes that the Go runtime has from the system.
func PeakMemory() int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.Sys)
}
