//go:build !unix

package te

import (
	"runtime"
	"time"
)

var start = time.Now()

// ProcessTime is a Clock: the time since the program's start, as there is no
// processor time to be had here.
func ProcessTime() time.Duration { return time.Since(start) }

// PeakMemory returns the bytes that the Go heap has from the system.
func PeakMemory() int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.Sys)
}
