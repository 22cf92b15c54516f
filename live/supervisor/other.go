//go:build !linux

package supervisor

import "errors"

var errLinux = errors.New("supervisor: running jobs needs Linux")

// Main is the program of a supervisor. dir is the absolute path of its directory.
func Main(string) error { return errLinux }

// Start starts the workers of a job under a supervisor, which has its files in dir; Start creates dir. exe is the
// command that runs Main, without the directory.
func Start([]string, string, *Launch) error { return errLinux }

// Look returns the state of the start of a job whose directory is dir.
func Look(string) (State, error) { return State{}, errLinux }

// Lives fails: jobs run only on Linux.
func Lives(string) (bool, error) { return false, errLinux }

// Stop stops the workers of dir: SIGTERM to every worker now, SIGKILL to every process at the deadline. It does
// nothing if nothing runs.
func Stop(string, Notice) error { return errLinux }

// Sweep kills the processes that dead supervisors left: those whose environment has OXGANG_RUN=tag or a tag below
// it ("a" is above "a/j1/3"), and their descendants, but no descendants of living supervisors. root is the
// directory of a generation, or contains generations at most three levels below.
func Sweep(string, string) error { return errLinux }

// Delegated returns "": there are no cgroups.
func Delegated() string { return "" }

// ReadLaunch fails: jobs run only on Linux.
func ReadLaunch(string) (*Launch, error) { return nil, errLinux }

// WriteFile fails: jobs run only on Linux.
func WriteFile(string, any) error { return errLinux }

// Kill sends SIGKILL to the supervisor of dir, and so to its workers.
func Kill(string) error { return errLinux }
