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

// A ProgramState is what the program of a job has said. The zero value says nothing.
type ProgramState struct {
	Token    string                  `json:"token"` // digest of the job's; Slurm uses the numbers of jobs again
	Hello    *agentapi.Hello         `json:"hello"` // the last
	LocalMax map[cluster.GPUType]int `json:"local_max,omitempty"`
	Progress float64                 `json:"progress"` // of the last checkpoint, or what was restored
	Epoch    int                     `json:"epoch"`
}

// check returns an error for a record that no program can have made.
func (r *ProgramState) check() error {
	if r.Hello == nil {
		return errors.New("no hello")
	}
	if r.Progress < 0 || math.IsInf(r.Progress, 0) || r.Epoch < 0 {
		return fmt.Errorf("progress %v, epoch %d, want at least 0", r.Progress, r.Epoch)
	}
	return r.Hello.Check()
}

// A ReportStore has the records; empty: none is kept.
type ReportStore string

const suffix = ".json"

func (f ReportStore) path(id job.ID) string { return filepath.Join(string(f), string(id)+suffix) }

// Load returns the record of a job whose token has a digest. It is the zero ProgramState if there is none, or
// one of another job that had the number before.
func (f ReportStore) Load(id job.ID, token string) (ProgramState, error) {
	if f == "" || token == "" {
		return ProgramState{}, nil
	}
	text, err := os.ReadFile(f.path(id))
	if errors.Is(err, fs.ErrNotExist) {
		return ProgramState{}, nil
	}
	var r ProgramState
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	if err == nil && r.Token != token {
		return ProgramState{}, nil
	}
	if err == nil {
		err = r.check()
	}
	if err != nil {
		return ProgramState{}, fmt.Errorf("what job %s said: %s: %w", id, f.path(id), err)
	}
	return r, nil
}

// Save keeps the record of a job: all of it, or the one before stays.
func (f ReportStore) Save(id job.ID, r *ProgramState) error {
	if f == "" {
		return nil
	}
	text, err := json.Marshal(r)
	if err == nil {
		err = f.replace(f.path(id), text)
	}
	if err != nil {
		return fmt.Errorf("what job %s said is not kept: %w", id, err)
	}
	return nil
}

// replace puts a file in the place of another.
func (f ReportStore) replace(path string, text []byte) error {
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
		_ = os.Remove(next.Name()) // err says what is wrong
	}
	return err
}

// Drop removes the record of a job, if there is one.
func (f ReportStore) Drop(id job.ID) error {
	if f == "" {
		return nil
	}
	if err := os.Remove(f.path(id)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Prune drops the records of jobs of which keep returns false, and what a Save that was killed has left.
func (f ReportStore) Prune(keep func(job.ID) bool) error {
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
