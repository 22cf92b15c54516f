//go:build !unix

package casestudy

import (
	"runtime"
	"time"
)

var start = time.Now()

// ProcessTime returns the time since the start, for lack of processor time.
func ProcessTime() time.Duration { return time.Since(start) }

// PeakMemory returns the bytes of the Go runtime.
func PeakMemory() int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.Sys)
}
