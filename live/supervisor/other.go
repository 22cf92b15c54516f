//go:build !linux

package supervisor

import "errors"

var errLinux = errors.New("supervisor: running jobs needs Linux")

// Main needs Linux.
func Main(string) error { return errLinux }

// Start needs Linux.
func Start([]string, string, *Launch) error { return errLinux }

// Look needs Linux.
func Look(string) (State, error) { return State{}, errLinux }

// Lives needs Linux.
func Lives(string) (bool, error) { return false, errLinux }

// Stop needs Linux.
func Stop(string, Notice) error { return errLinux }

// Sweep needs Linux.
func Sweep(string, string) error { return errLinux }

// Delegated returns "": there are no cgroups.
func Delegated() string { return "" }

// ReadLaunch needs Linux.
func ReadLaunch(string) (*Launch, error) { return nil, errLinux }

// WriteFile needs Linux.
func WriteFile(string, any) error { return errLinux }

// Kill needs Linux.
func Kill(string) error { return errLinux }
