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
