package statedir

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
)

// A draft is a private folder next to the result of a backup or restore. It is locked while its process lives.
type draft struct {
	path string
	lock *os.File
}

// newDraft makes a folder in dir, and deletes those there that killed processes left, with the secrets in them.
func newDraft(dir, prefix string) (*draft, error) {
	if err := sweepDrafts(dir, prefix); err != nil {
		return nil, err
	}
	for {
		path, err := os.MkdirTemp(dir, prefix)
		if err != nil {
			return nil, err
		}
		lock, err := lockFolder(path)
		if err == nil {
			return &draft{path, lock}, nil
		}
		if !errors.Is(err, os.ErrNotExist) && !errors.Is(err, errLocked) { // else another process swept it first
			return nil, errors.Join(err, os.Remove(path))
		}
	}
}

func sweepDrafts(dir, prefix string) error {
	all, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	var errs []error
	for _, e := range all {
		if !strings.HasPrefix(e.Name(), prefix) {
			continue
		}
		path := filepath.Join(dir, e.Name())
		lock, err := lockFolder(path)
		if err == nil { // else it is in use, not a folder, or of another user
			errs = append(errs, os.RemoveAll(path), lock.Close())
		}
	}
	return errors.Join(errs...)
}

func (d *draft) remove() error { return errors.Join(os.RemoveAll(d.path), d.lock.Close()) }
