package service

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// own makes a folder of a mode. It returns an error if it is there and belongs to another user, or others may write in it: they could
// put links there, or what jobs trust.
func own(folder string, mode fs.FileMode) error {
	if err := os.MkdirAll(folder, mode); err != nil {
		return err
	}
	info, err := os.Stat(folder)
	if err != nil {
		return err
	}
	if owner, ok := info.Sys().(*syscall.Stat_t); ok && int(owner.Uid) != os.Geteuid() {
		return fmt.Errorf("%s belongs to user %d, want %d, who runs the scheduler", folder, owner.Uid, os.Geteuid())
	}
	if info.Mode().Perm()&0o022 != 0 {
		return fmt.Errorf("%s has mode %04o: others may write in it", folder, info.Mode().Perm())
	}
	return nil
}
