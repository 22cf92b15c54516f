//go:build linux

package supervisor

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

type record struct {
	Version    int       `json:"version"`
	Phase      Phase     `json:"phase"`
	Supervisor process   `json:"keeper"`
	Workers    []process `json:"workers,omitempty"` // by rank
	Exits      []Exit    `json:"exits,omitempty"`
	Ended      time.Time `json:"ended,omitzero"`
	Killed     bool      `json:"killed,omitempty"`
	Tail       []string  `json:"tail,omitempty"`
	Detail     string    `json:"detail,omitempty"`
	Note       string    `json:"note,omitempty"`
}

const recordVersion = 1

// A process is identified by its pid and start time, since pids are reused.
type process struct {
	PID   int    `json:"pid"`
	Start uint64 `json:"start"` // clock ticks since boot: /proc/<pid>/stat, field 22
}

func (r *record) state() State {
	return State{r.Phase, r.Exits, r.Ended, r.Killed, r.Tail, r.Detail, r.Note}
}

func readRecord(dir string) (*record, error) {
	var r record
	found, err := readJSON(filepath.Join(dir, stateFile), &r)
	switch {
	case err != nil || !found:
		return nil, err
	case r.Version != recordVersion:
		return nil, fmt.Errorf("%s: version %d, want %d", filepath.Join(dir, stateFile), r.Version, recordVersion)
	}
	return &r, nil
}

func readJSON(path string, v any) (found bool, err error) {
	text, err := readFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if err := json.Unmarshal(text, v); err != nil {
		return true, fmt.Errorf("%s: %w", path, err)
	}
	return true, nil
}

var syncFile = (*os.File).Sync

// fileMax is in bytes: jobs can write to the directory too.
const fileMax = 64 << 20

// readFile reads a regular file. A pipe that the job put there must not block, and a link must not be followed.
func readFile(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > fileMax {
		return nil, fmt.Errorf("%s: %v of %d bytes, want a file of at most %d", path, info.Mode().Type(), info.Size(), fileMax)
	}
	return io.ReadAll(f)
}

// ReadLaunch returns the Launch of a generation.
func ReadLaunch(dir string) (*Launch, error) {
	var l Launch
	found, err := readJSON(filepath.Join(dir, launchFile), &l)
	if err == nil && !found {
		err = fs.ErrNotExist
	}
	return &l, err
}

func writeJSON(path string, v any) error { return replace(path, v, 0o600) }

func replace(path string, v any, mode fs.FileMode) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	next, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*") // mode 0600
	if err != nil {
		return err
	}
	_, err = next.Write(append(text, '\n'))
	if mode != 0o600 {
		err = errors.Join(err, next.Chmod(mode))
	}
	err = errors.Join(err, syncFile(next), next.Close())
	if err == nil {
		err = os.Rename(next.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(next.Name()))
	}
	return syncDir(filepath.Dir(path))
}

// WriteFile writes v as JSON to the file at path, atomically and durably. Only the owner can read the file.
func WriteFile(path string, v any) error { return writeJSON(path, v) }

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(syncFile(d), d.Close())
}
