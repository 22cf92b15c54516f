package statedir

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/oxgang/oxgang/live/account"
	"github.com/oxgang/oxgang/live/store"
	"github.com/oxgang/oxgang/live/supervisor"
	"github.com/oxgang/oxgang/model/job"
)

const recordFile = "job.json"

type record struct {
	Version   int           `json:"version"`
	Identity  string        `json:"identity"` // of the state directory
	Token     string        `json:"token"`
	Submitted time.Time     `json:"submitted"`
	Spec      *job.Spec     `json:"spec"` // as last described
	Asked     *job.Spec     `json:"asked"`
	Command   [][]byte      `json:"command"` // bytes: any encoding
	Dir       []byte        `json:"dir"`
	Env       [][]byte      `json:"env"`
	User      *account.User `json:"user,omitempty"`
	Ended     *store.Ending `json:"ended,omitempty"`
}

const recordVersion = 1

// WriteRecord writes a job's record to its folder, durably. Call it after the store has accepted the job, its
// description or its end.
func WriteRecord(f *Folders, j *store.Job, ended *store.Ending) error {
	r := record{
		Version: recordVersion, Identity: f.Identity, Token: j.Token, Submitted: j.Status.Submitted, Spec: j.Spec, Asked: j.Asked,
		Command: toBytes(j.Request.Command), Dir: []byte(j.Request.Dir), Env: toBytes(j.Request.Env), User: j.Request.User, Ended: ended,
	}
	if err := supervisor.WriteFile(filepath.Join(f.Job(j.Spec.ID), recordFile), r); err != nil {
		return fmt.Errorf("record of job %s: %w", j.Spec.ID, err)
	}
	return nil
}

func readRecord(f *Folders, id job.ID) (*record, error) {
	path := filepath.Join(f.Job(id), recordFile)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // no record
	}
	r := new(record)
	if err == nil {
		err = json.Unmarshal(text, r)
	}
	if err == nil && (r.Version != recordVersion || r.Spec == nil || r.Spec.ID != id || r.Asked == nil) {
		err = fmt.Errorf("version %d, or the record of another job: want version %d and this job", r.Version, recordVersion)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

func (r *record) job() *store.Job {
	j := &store.Job{
		Spec: r.Spec, Asked: r.Asked, Token: r.Token,
		Request: store.Request{Command: toStrings(r.Command), Dir: string(r.Dir), Env: toStrings(r.Env), User: r.User},
	}
	j.Status = job.Status{Phase: job.Waiting, Submitted: r.Submitted, Since: r.Submitted}
	return j
}

func toBytes(list []string) [][]byte {
	all := make([][]byte, len(list))
	for i, s := range list {
		all[i] = []byte(s)
	}
	return all
}

func toStrings(list [][]byte) []string {
	all := make([]string, len(list))
	for i, s := range list {
		all[i] = string(s)
	}
	return all
}
