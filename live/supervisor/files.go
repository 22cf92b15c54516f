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

// A record is state.json: what the supervisor knows, as of the last change.
type record struct {
	Version    int       `json:"version"`
	Phase      Phase     `json:"phase"`
	Supervisor process   `json:"keeper"`
	Workers    []process `json:"workers,omitempty"` // by rank, of those that started
	Exits      []Exit    `json:"exits,omitempty"`   // by rank, of Ended
	Ended      time.Time `json:"ended,omitzero"`
	Killed     bool      `json:"killed,omitempty"`
	Tail       []string  `json:"tail,omitempty"`
	Detail     string    `json:"detail,omitempty"`
	Note       string    `json:"note,omitempty"`
}

// recordVersion is the form of state.json that this program reads and writes.
const recordVersion = 1

// A process is known by its pid and by when it started, since a pid alone is
// given out again.
type process struct {
	PID   int    `json:"pid"`
	Start uint64 `json:"start"` // clock ticks since boot: /proc/<pid>/stat, field 22
}

// state returns the part of r that callers of Look get.
func (r *record) state() State {
	return State{r.Phase, r.Exits, r.Ended, r.Killed, r.Tail, r.Detail, r.Note}
}

// readRecord reads state.json of dir; nil without error: there is none.
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

// readJSON decodes a file into v and reports whether it is there.
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

// syncFile makes a file durable; tests see what is synced.
var syncFile = (*os.File).Sync

// fileMax is the most bytes that a file of a generation may have: its folder is its job's, too.
const fileMax = 64 << 20

// readFile reads a regular file. A job may put anything in its place: a pipe must not make the
// reader wait, and a link must not lead out.
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

// ReadLaunch returns what a generation was launched with. It returns an error if its file
// cannot be read.
func ReadLaunch(dir string) (*Launch, error) {
	var l Launch
	found, err := readJSON(filepath.Join(dir, launchFile), &l)
	if err == nil && !found {
		err = fs.ErrNotExist
	}
	return &l, err
}

// writeJSON replaces a file by v atomically: a reader sees either the old or the new
// content, also after a crash. Only the owner may read the file, because it may have tokens.
func writeJSON(path string, v any) error { return replace(path, v, 0o600) }

// replace is writeJSON with a mode.
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

// WriteFile replaces a file by v as JSON, atomically and durably; only its owner may read it.
func WriteFile(path string, v any) error { return writeJSON(path, v) }

// syncDir makes the names in a directory durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(syncFile(d), d.Close())
}
