//go:build !linux

package statedir

import (
	"errors"
	"os"
)

var errLocked = errors.New("another process uses the folder")

func lockFolder(string) (*os.File, error) { return nil, errors.ErrUnsupported }
