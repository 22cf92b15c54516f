package statedir

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oxgang/oxgang/live/store"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// whole returns the error of a backup or restore, which must leave nothing out.
func whole(t *testing.T) func([]Torn, error) error {
	return func(torn []Torn, err error) error {
		for i := range torn {
			t.Errorf("left out: %s", &torn[i])
		}
		return err
	}
}

// state makes a state directory, whose store stays open, with a job that waits and has two checkpoints,
// the files of one of which are there, one that has ended and a journal.
func state(t *testing.T) (string, *store.Store) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "state")
	s, err := store.Open(dir)
	must(t, err)
	t.Cleanup(func() { must(t, s.Close()) })
	f := Folders{Dir: dir, Identity: s.Identity()}
	for _, id := range []job.ID{"waits", "done"} {
		accept(t, s, id)
		must(t, f.Make(id, nil))
		must(t, s.Checkpoint(id, store.Checkpoint{Path: "old", Step: 1}, 0))
		must(t, s.Checkpoint(id, store.Checkpoint{Path: "new", Step: 2}, 0))
		must(t, os.Mkdir(filepath.Join(f.Checkpoints(id), "new"), 0o700))
		must(t, os.WriteFile(filepath.Join(f.Checkpoints(id), "new", "rank0"), []byte("weights"), 0o600))
	}
	must(t, s.End("done", store.Ending{Outcome: scheduler.Done, At: time.Now()}))
	must(t, os.Mkdir(filepath.Join(dir, "journal"), 0o700))
	must(t, os.WriteFile(filepath.Join(dir, "journal", "1.oxj"), []byte("line\n"), 0o600))
	return dir, s
}

func accept(t *testing.T, s *store.Store, id job.ID) {
	t.Helper()
	must(t, s.Accept(&store.Job{
		Spec: &job.Spec{ID: id, Name: string(id), GPUs: 1}, Token: "token of " + string(id),
		Request: store.Request{Command: []string{"train"}, Dir: "/"}, Status: job.Status{Phase: job.Waiting, Submitted: time.Now()},
	}))
}

// restored restores a backup and opens what comes out.
func restored(t *testing.T, file string) (string, *store.Store) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "other", "state")
	must(t, whole(t)(Restore(t.Context(), file, dir)))
	s, err := store.Open(dir)
	must(t, err)
	t.Cleanup(func() { must(t, s.Close()) })
	must(t, Check(s, &Folders{Dir: dir, Identity: s.Identity()}))
	return dir, s
}

// A backup of a directory in use has every job, and comes back as another directory that a scheduler can
// serve, and from whose folders a lost database can be rebuilt.
func TestRestore(t *testing.T) {
	dir, s := state(t)
	file := filepath.Join(t.TempDir(), "backup")
	must(t, os.WriteFile(file, []byte("an older one"), 0o600))
	must(t, whole(t)(Backup(t.Context(), file, dir, false)))
	accept(t, s, "later")
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(file), ".*")); len(left) > 0 {
		t.Errorf("left %q", left)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v; want that only its owner reads it", info.Mode(), err)
	}
	to, r := restored(t, file)
	if r.Identity() == s.Identity() {
		t.Error("two directories of one identity")
	}
	st, err := r.Load()
	must(t, err)
	if len(st.Jobs) != 1 || len(st.Ended) != 1 || st.Jobs[0].Job.Spec.ID != "waits" || st.Jobs[0].Job.Token != "token of waits" {
		t.Fatalf("restored %+v, want waits and done", st)
	}
	if j := st.Jobs[0].Job; j.Checkpoint != nil || j.Previous != nil {
		t.Errorf("checkpoints %+v, %+v: their files are not there", j.Checkpoint, j.Previous)
	}
	if text, err := os.ReadFile(filepath.Join(to, "journal", "1.oxj")); err != nil || string(text) != "line\n" {
		t.Errorf("journal %q, %v", text, err)
	}
	fresh, err := store.Open(t.TempDir())
	must(t, err)
	defer fresh.Close()
	ids, err := Rebuild(fresh, &Folders{Dir: to}, nil)
	if err != nil || !slices.Equal(ids, []job.ID{"waits"}) || fresh.Identity() != r.Identity() {
		t.Errorf("rebuilt %v, %v; want waits", ids, err)
	}
}

// With checkpoints, those of jobs that have not ended come back; what has no file is forgotten.
func TestRestore_with_checkpoints(t *testing.T) {
	dir, _ := state(t)
	file := filepath.Join(t.TempDir(), "backup")
	must(t, whole(t)(Backup(t.Context(), file, dir, true)))
	to, r := restored(t, file)
	st, err := r.Load()
	must(t, err)
	if j := st.Jobs[0].Job; j.Checkpoint == nil || j.Checkpoint.Path != "new" || j.Previous != nil {
		t.Errorf("checkpoints %+v, %+v; want new only", j.Checkpoint, j.Previous)
	}
	if text, err := os.ReadFile(filepath.Join(to, "jobs", "waits", "checkpoints", "new", "rank0")); err != nil || string(text) != "weights" {
		t.Errorf("checkpoint %q, %v", text, err)
	}
	if _, err := os.Stat(filepath.Join(to, "jobs", "done")); err == nil {
		t.Error("the files of a job that has ended are in the backup")
	}
}

// A directory that has something in it is not touched, and neither is anything by a backup that was cut
// short, at whatever byte, or changed.
func TestRestore_refuses(t *testing.T) {
	dir, _ := state(t)
	file := filepath.Join(t.TempDir(), "backup")
	must(t, whole(t)(Backup(t.Context(), file, dir, true)))
	used := t.TempDir()
	must(t, os.WriteFile(filepath.Join(used, "mine"), nil, 0o600))
	if _, err := Restore(t.Context(), file, used); err == nil || !strings.Contains(err.Error(), "contains mine: restore to an empty or new") {
		t.Errorf("into a directory in use: %v", err)
	}
	whole, err := os.ReadFile(file)
	must(t, err)
	place := t.TempDir()
	to := filepath.Join(place, "state")
	try := func(what string, text []byte) {
		t.Helper()
		must(t, os.WriteFile(file, text, 0o600))
		if _, err := Restore(t.Context(), file, to); err == nil {
			t.Errorf("%s: restored", what)
		}
		if left, _ := os.ReadDir(place); len(left) > 0 {
			t.Fatalf("%s: left %v", what, left)
		}
	}
	for n := 0; n < len(whole)-4096; n += len(whole) / 40 / 512 * 512 {
		try("cut short", whole[:n])
		changed := slices.Clone(whole)
		changed[n+600] ^= 1
		if strings.Trim(string(whole[n+512:n+1024]), "\x00") != "" {
			try("changed", changed)
		}
	}
	if _, err := Backup(t.Context(), file, place, false); err == nil || !strings.Contains(err.Error(), "no scheduler has used this directory") {
		t.Errorf("a backup of nothing: %v", err)
	}
}
