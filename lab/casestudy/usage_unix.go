//go:build unix

// This file reads what the process has used: the case studies count
// processor time, which other programs on the machine do not change.

package casestudy

import (
	"runtime"
	"syscall"
	"time"
)

// ProcessTime returns the processor time that the process has used, that of the
// system on its behalf with it.
func ProcessTime() time.Duration {
	r := self()
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// PeakMemory returns the most bytes that the process ever had in memory.
func PeakMemory() int64 {
	unit := int64(1 << 10)
	if runtime.GOOS == "darwin" {
		unit = 1
	}
	return int64(self().Maxrss) * unit //nolint:unconvert // int32 on some systems
}

func self() (r syscall.Rusage) {
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		return syscall.Rusage{}
	}
	return r
}
