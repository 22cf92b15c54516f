//go:build !linux

package slurm

import (
	"io/fs"
	"os"
)

func own(folder string, mode fs.FileMode) error { return os.MkdirAll(folder, mode) }
