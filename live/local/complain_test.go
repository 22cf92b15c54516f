package local

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/oxgang/oxgang/live/store"
	"github.com/oxgang/oxgang/model/job"
)

func TestComplaint_is_one_line(t *testing.T) {
	if got, want := complaint("a", errors.New("no \"x\x1b[2J\ny\"")), `job a: no "x\u001b[2J\ny"`; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// A record that cannot be written is reported, and one that can is not.
func TestRemember_complains(t *testing.T) {
	st, err := store.Open(filepath.Join(t.TempDir(), "state"))
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "jobs", "good"), 0o700); err != nil {
		t.Fatal(err)
	}
	table := &jobTable{store: st, o: &Options{Dir: dir}}
	was := os.Stderr
	defer func() { os.Stderr = was }()
	log, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
	if err != nil {
		t.Fatal(err)
	}
	os.Stderr = log
	for _, id := range []job.ID{"good", "bad"} {
		spec := &job.Spec{ID: id}
		table.remember(newEntry(&store.Job{Spec: spec, Asked: spec}), nil)
	}
	text, err := os.ReadFile(log.Name())
	if got := string(text); err != nil || !strings.HasPrefix(got, "job bad: record of job bad: ") || strings.Count(got, "\n") != 1 {
		t.Errorf("printed %q, %v; want one line about job bad", got, err)
	}
}
