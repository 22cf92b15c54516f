//go:build linux

package supervisor

import (
	"os"

	"golang.org/x/sys/unix"
)

// A System is what this package asks of the machine beside files and their locks: processes, and that
// a file is durable. Tests simulate it.
type System struct {
	// Spawn begins the generation of a directory: lock, which it must duplicate, is its lock.
	Spawn func(dir string, lock *os.File) error
	// Signal sends a signal to a process that a state.json names, or that Tagged returned.
	Signal func(pid int, s unix.Signal) error
	// Tagged returns the tag of each process that has one which is tag or below it, by pid.
	Tagged func(tag string) map[int]string
	// Sync makes a file durable.
	Sync func(*os.File) error
}

// What System has, as this machine does it.
var (
	spawnProcess  = spawn
	signalProcess = process.signal
	listTagged    = tagged
)

// Simulate uses a System in place of this machine's until restore is called. It is for tests that run
// nothing else of this package meanwhile.
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
