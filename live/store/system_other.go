//go:build !linux

package store

import (
	"errors"
	"os"
	"runtime"
)

func full(string) bool { return false }

func release(*os.File) error { return nil }

func seize(*os.File) error { return errors.New("live jobs need Linux; this is " + runtime.GOOS) }

func private(string) error { return nil }

func openLock(path string) (*os.File, error) { return os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600) }

func single(os.FileInfo) bool { return true }
