package slurm

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/oxgang/oxgang/live/agentapi"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
)

// A programState is what the program of a job has reported so far. The zero value means nothing.
type programState struct {
	Token    string                  `json:"token"` // digest; Slurm reuses job numbers
	Hello    *agentapi.Hello         `json:"hello"` // the last
	LocalMax map[cluster.GPUType]int `json:"local_max,omitempty"`
	Progress float64                 `json:"progress"`
	Epoch    int                     `json:"epoch"`
}

func (r *programState) check() error {
	if r.Hello == nil {
		return errors.New("no hello")
	}
	if r.Progress < 0 || math.IsInf(r.Progress, 0) || r.Epoch < 0 {
		return fmt.Errorf("progress %v, epoch %d, want at least 0", r.Progress, r.Epoch)
	}
	return r.Hello.Check()
}

// A reportStore is the path of a folder that stores what programs have reported. If it is empty, nothing is stored.
type reportStore string

const suffix = ".json"

func (f reportStore) path(id job.ID) string { return filepath.Join(string(f), string(id)+suffix) }

// Load returns what the program of job id reported. It is zero if nothing is stored, or if the token shows that an
// earlier job had this number.
func (f reportStore) Load(id job.ID, token string) (programState, error) {
	if f == "" || token == "" {
		return programState{}, nil
	}
	text, err := os.ReadFile(f.path(id))
	if errors.Is(err, fs.ErrNotExist) {
		return programState{}, nil
	}
	var r programState
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	if err == nil && r.Token != token {
		return programState{}, nil
	}
	if err == nil {
		err = r.check()
	}
	if err != nil {
		return programState{}, fmt.Errorf("stored messages of job %s: %s: %w", id, f.path(id), err)
	}
	return r, nil
}

// save stores what the program of a job reported, atomically.
func (f reportStore) save(id job.ID, r *programState) error {
	if f == "" {
		return nil
	}
	text, err := json.Marshal(r)
	if err == nil {
		err = f.replace(f.path(id), text)
	}
	if err != nil {
		return fmt.Errorf("cannot store the messages of job %s: %w", id, err)
	}
	return nil
}

func (f reportStore) replace(path string, text []byte) error {
	if err := os.MkdirAll(string(f), 0o700); err != nil {
		return err
	}
	next, err := os.CreateTemp(string(f), "new-*")
	if err != nil {
		return err
	}
	_, err = next.Write(text)
	err = errors.Join(err, next.Sync(), next.Close())
	if err == nil {
		err = os.Rename(next.Name(), path)
	}
	if err != nil {
		_ = os.Remove(next.Name())
	}
	return err
}

func (f reportStore) drop(id job.ID) error {
	if f == "" {
		return nil
	}
	if err := os.Remove(f.path(id)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Prune removes the records of jobs for which keep returns false, and leftovers of an interrupted Save.
func (f reportStore) Prune(keep func(job.ID) bool) error {
	files, err := os.ReadDir(string(f))
	if f == "" || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	errs := []error{err}
	for _, file := range files {
		if id, ours := strings.CutSuffix(file.Name(), suffix); !ours || !keep(job.ID(id)) {
			errs = append(errs, os.Remove(filepath.Join(string(f), file.Name())))
		}
	}
	return errors.Join(errs...)
}
