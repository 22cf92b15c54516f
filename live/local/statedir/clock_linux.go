package statedir

import (
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

func clockNow() clock {
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	var up unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &up) != nil {
		boot = nil
	}
	return clock{Boot: strings.TrimSpace(string(boot)), Up: time.Duration(up.Nano()), Wall: time.Now().Round(0).UTC()}
}
