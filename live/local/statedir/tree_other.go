//go:build !linux

package statedir

import (
	"io/fs"
	"os"
	"path/filepath"
)

func size(path string) (int64, error) {
	var total int64
	err := filepath.WalkDir(path, func(_ string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err == nil {
			total += blocks(info)
		}
		return err
	})
	return total, err
}

func removeAll(path string) error { return os.RemoveAll(path) }
