//go:build unix

package rounds

import (
	"syscall"
	"time"
)

// cpu returns the CPU time that the process has used, system time with it.
func cpu() time.Duration { return used(syscall.RUSAGE_SELF) }

// cpuOfChildren returns that of the processes that it has waited for.
func cpuOfChildren() time.Duration { return used(syscall.RUSAGE_CHILDREN) }

func used(who int) time.Duration {
	var r syscall.Rusage
	if err := syscall.Getrusage(who, &r); err != nil {
		return 0
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}
