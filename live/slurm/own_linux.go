package slurm

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// own returns an error if the folder belongs to another user or others can write to it: they could plant links, or
// certificates that jobs trust.
func own(folder string, mode fs.FileMode) error {
	if err := os.MkdirAll(folder, mode); err != nil {
		return err
	}
	info, err := os.Stat(folder)
	if err != nil {
		return err
	}
	if owner, ok := info.Sys().(*syscall.Stat_t); ok && int(owner.Uid) != os.Geteuid() {
		return fmt.Errorf("%s belongs to user %d, want %d (the scheduler's user)", folder, owner.Uid, os.Geteuid())
	}
	if info.Mode().Perm()&0o022 != 0 {
		return fmt.Errorf("%s has mode %04o: remove write permission for others", folder, info.Mode().Perm())
	}
	return nil
}
