//go:build unix

package pack_test

import (
	"syscall"
	"time"
)

// clock returns the processor time that the process has used: what others do on
// a shared machine does not count.
func clock() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
