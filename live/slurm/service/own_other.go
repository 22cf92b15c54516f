//go:build !linux

package service

import (
	"io/fs"
	"os"
)

// own makes a folder of a mode. Who else may write in it is not looked at: schedulers of a Slurm run on Linux.
func own(folder string, mode fs.FileMode) error { return os.MkdirAll(folder, mode) }
