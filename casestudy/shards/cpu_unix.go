//go:build unix

package shards

import (
	"syscall"
	"time"
)

// ProcessTime is a Clock: the processor time that the process has used, that of
// the system on its behalf with it.
func ProcessTime() time.Duration {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		return 0
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}
