//go:build !linux

package supervisor

import "errors"

var errLinux = errors.New("supervisor: running jobs needs Linux")

// Main fails: jobs run only on Linux.
func Main(string) error { return errLinux }

// Start fails: jobs run only on Linux.
func Start([]string, string, *Launch) error { return errLinux }

// Look fails: jobs run only on Linux.
func Look(string) (State, error) { return State{}, errLinux }

// Lives fails: jobs run only on Linux.
func Lives(string) (bool, error) { return false, errLinux }

// Stop fails: jobs run only on Linux.
func Stop(string, Notice) error { return errLinux }

// Sweep fails: jobs run only on Linux.
func Sweep(string, string) error { return errLinux }

// Delegated returns "": there are no cgroups.
func Delegated() string { return "" }

// ReadLaunch fails: jobs run only on Linux.
func ReadLaunch(string) (*Launch, error) { return nil, errLinux }

// WriteFile fails: jobs run only on Linux.
func WriteFile(string, any) error { return errLinux }

// Kill fails: jobs run only on Linux.
func Kill(string) error { return errLinux }
