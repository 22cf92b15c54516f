package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// A Stage collects the output files of a run in a hidden directory, until all are complete.
type Stage struct {
	out   string // final directory
	dir   string // on the same file system
	names []string
}

// NewStage returns a Stage for the output directory out, which need not exist.
func NewStage(out string) (*Stage, error) {
	if info, err := os.Stat(out); err == nil && !info.IsDir() {
		return nil, fmt.Errorf("%s is a file, want a directory", out)
	}
	above := filepath.Clean(out)
	for {
		_, err := os.Stat(above)
		if err == nil {
			break
		}
		if up := filepath.Dir(above); errors.Is(err, fs.ErrNotExist) && up != above {
			above = up
			continue
		}
		return nil, err
	}
	dir, err := os.MkdirTemp(above, ".oxgang-")
	return &Stage{out: out, dir: dir}, err
}

// Create opens a new output file for writing.
func (s *Stage) Create(name string) (*os.File, error) {
	if err := os.MkdirAll(filepath.Dir(filepath.Join(s.dir, name)), 0o755); err != nil {
		return nil, err
	}
	f, err := os.Create(filepath.Join(s.dir, name))
	if err == nil && !slices.Contains(s.names, name) {
		s.names = append(s.names, name)
	}
	return f, err
}

// Write creates the output file called name, calls write to fill it, and closes it.
func (s *Stage) Write(name string, write func(io.Writer) error) error {
	f, err := s.Create(name)
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}

// Publish moves all files to the output directory.
func (s *Stage) Publish() error {
	for _, name := range s.names {
		to := filepath.Join(s.out, name)
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		if err := os.Rename(filepath.Join(s.dir, name), to); err != nil {
			return err
		}
	}
	return nil
}

// Discard removes the files that were not published.
func (s *Stage) Discard() error { return os.RemoveAll(s.dir) }

// Whole writes the file at path so that readers never see a part of it: write fills a temporary file, which is then
// renamed.
func Whole(path string, write func(io.Writer) error) error {
	if path == "" {
		return errors.New("no name for the file to write")
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() { // a pipe, or /dev/stdout
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		return errors.Join(write(f), f.Close())
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return err
	}
	if err := errors.Join(write(f), f.Chmod(0o644), f.Close()); err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return os.Rename(f.Name(), path)
}
