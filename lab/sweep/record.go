package sweep

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// A Record is the stored result of a run.
type Record struct {
	Key      string             `json:"key"`
	Program  string             `json:"program"`  // version
	Settings map[string]string  `json:"settings"` // by axis
	Measures map[string]float64 `json:"measures"` // known values
}

// A folder has one file per record.
type folder string

func (f folder) path(key string) string { return filepath.Join(string(f), "runs", key+".json") }

func (f folder) load(key string) (*Record, error) {
	text, err := os.ReadFile(f.path(key))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	r := new(Record)
	if err := json.Unmarshal(text, r); err != nil {
		return nil, fmt.Errorf("%s: %w", f.path(key), err)
	}
	if r.Key != key {
		return nil, fmt.Errorf("%s: the key %q does not match the file name", f.path(key), r.Key)
	}
	return r, nil
}

func (f folder) save(r *Record) error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	dir := filepath.Dir(f.path(r.Key))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	temporary, err := os.CreateTemp(dir, ".run-*")
	if err != nil {
		return err
	}
	_, err = temporary.Write(append(text, '\n'))
	err = errors.Join(err, temporary.Chmod(0o644), temporary.Sync(), temporary.Close())
	if err != nil {
		return errors.Join(err, os.Remove(temporary.Name()))
	}
	return os.Rename(temporary.Name(), f.path(r.Key))
}
