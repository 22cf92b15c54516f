//go:build unix

// Package usage measures the processor time and memory of this process.
package usage

import (
	"runtime"
	"syscall"
	"time"
)

// ProcessTime returns the processor time of the process, user and system.
func ProcessTime() time.Duration {
	r := self()
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// PeakMemory returns the largest memory that the process has used, in bytes.
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
