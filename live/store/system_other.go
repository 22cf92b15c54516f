//go:build !linux

package store

import (
	"errors"
	"os"
	"runtime"
)

// full is not known here.
func full(string) bool { return false }

// release has nothing to give up.
func release(*os.File) error { return nil }

// seize refuses all systems but Linux: only there is it tested what a crash leaves.
func seize(*os.File) error { return errors.New("live jobs need Linux, this is " + runtime.GOOS) }

// private is not checked.
func private(string) error { return nil }

// openLock opens or makes a lock file.
func openLock(path string) (*os.File, error) { return os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600) }

// single returns true: how many names a file has is not known.
func single(os.FileInfo) bool { return true }
