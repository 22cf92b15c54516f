package rig

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// FollowGo ends this process within a second after the death of the go command that runs it as a test, so that no test
// binary keeps running.
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
