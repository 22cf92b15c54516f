package rig

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// FollowGo ends this process, and with it all that it started, within a second of the end of the
// go command that runs it as a test: one that is killed, as timeout(1) does, leaves its test
// binaries running. Whoever else runs the binary is not followed.
var FollowGo = sync.OnceFunc(func() {
	parent := os.Getppid()
	exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", parent))
	if err != nil || filepath.Base(exe) != "go" {
		return
	}
	go func() {
		for os.Getppid() == parent {
			time.Sleep(time.Second / 2)
		}
		fmt.Fprintln(os.Stderr, "rig: the go command was killed, so its test ends")
		os.Exit(1)
	}()
})
