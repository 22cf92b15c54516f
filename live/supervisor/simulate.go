//go:build linux

package supervisor

import (
	"os"

	"golang.org/x/sys/unix"
)

// A System has the operating system functions that this package uses, except files and locks.
type System struct {
	// Spawn begins the generation of a directory. It must duplicate lock, which is the generation's lock.
	Spawn func(dir string, lock *os.File) error
	// Signal sends a signal to a process from a state.json or from Tagged.
	Signal func(pid int, s unix.Signal) error
	// Tagged returns the tags, by pid, of the processes whose tag is tag or below it.
	Tagged func(tag string) map[int]string
	// Sync makes a file durable.
	Sync func(*os.File) error
}

var (
	spawnProcess  = spawn
	signalProcess = process.signal
	listTagged    = tagged
)

// Simulate replaces the operating system functions by s, for tests, until restore is called.
func Simulate(s *System) (restore func()) {
	start, signal, list, sync := spawnProcess, signalProcess, listTagged, syncFile
	spawnProcess = func(_ []string, dir string, lock *os.File) error { return s.Spawn(dir, lock) }
	signalProcess = func(p process, sig unix.Signal) error { return s.Signal(p.PID, sig) }
	listTagged = func(tag string) ([]orphan, error) {
		var all []orphan
		for pid, run := range s.Tagged(tag) {
			all = append(all, orphan{process{PID: pid}, run})
		}
		return all, nil
	}
	syncFile = s.Sync
	return func() { spawnProcess, signalProcess, listTagged, syncFile = start, signal, list, sync }
}
