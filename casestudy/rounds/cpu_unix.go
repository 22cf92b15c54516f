//go:build unix

package rounds

import (
	"syscall"
	"time"
)

// cpu returns the CPU time that the process has used, system time with it.
func cpu() time.Duration {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		return 0
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}
