//go:build !unix

// This file reads what the process has used: the case studies count
// processor time, which other programs on the machine do not change.

package casestudy

import (
	"runtime"
	"time"
)

var start = time.Now()

// ProcessTime returns the time since the program's start: this system tells no
// processor time.
func ProcessTime() time.Duration { return time.Since(start) }

// PeakMemory returns the bytes that the Go runtime has from the system.
func PeakMemory() int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.Sys)
}
