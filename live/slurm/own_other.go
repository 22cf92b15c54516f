//go:build !linux

package slurm

import (
	"io/fs"
	"os"
)

// own makes a folder. Permissions are not checked: Slurm's schedulers run on Linux.
func own(folder string, mode fs.FileMode) error { return os.MkdirAll(folder, mode) }
