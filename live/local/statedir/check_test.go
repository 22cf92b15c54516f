package statedir

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oxgang/oxgang/live/account"
	"github.com/oxgang/oxgang/live/store"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler"
)

// A history is a database that a backup took before jobs came, started and ended, and their folders.
type history struct {
	store   *store.Store
	folders *Folders
}

// lostHistory returns a database that knows the waiting job a and the running job b, and folders which show that a has
// ended, b was started once more, and c was accepted.
func lostHistory(t *testing.T) *history {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "state")
	s, err := store.Open(dir)
	must(t, err)
	t.Cleanup(func() { must(t, s.Close()) })
	h := &history{s, &Folders{Dir: dir, Identity: s.Identity()}}
	for _, id := range []job.ID{"a", "b"} {
		accept(t, s, id)
	}
	jobs, err := s.Jobs(true)
	must(t, err)
	for _, id := range []job.ID{"a", "b", "c"} {
		must(t, h.folders.Make(id, nil))
		j := *jobs[0]
		spec := *j.Spec
		spec.ID, j.Spec, j.Asked, j.Token = id, &spec, &spec, "token of "+string(id)
		var ended *store.Ending
		if id == "a" {
			ended = &store.Ending{Outcome: scheduler.Done, At: time.Now()}
		}
		must(t, WriteRecord(h.folders, &j, ended))
	}
	h.start(t, Generation{Job: "b", Number: 2})
	return h
}

// start leaves the folder of a start.
func (h *history) start(t *testing.T, g Generation) {
	t.Helper()
	must(t, os.MkdirAll(h.folders.Generation(g), 0o700))
	must(t, os.WriteFile(filepath.Join(h.folders.Generation(g), "launch.json"), []byte("{}"), 0o600))
}

// A database that knows less than the folders is refused, with what it lacks; rebuilt, it lacks nothing.
func TestCheck_and_rebuild(t *testing.T) {
	h := lostHistory(t)
	err := Check(h.store, h.folders)
	if !errors.Is(err, ErrLost) {
		t.Fatalf("%v, want that history is lost", err)
	}
	for _, want := range []string{"job a: it has ended", "job b: start 2 happened, but the database knows only 0", "job c: the database does not know it"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q in it", err, want)
		}
	}
	ids, err := Rebuild(h.store, h.folders, &cluster.Node{ID: "n", GPUType: "cpu", Capacity: cluster.Resources{GPUs: 4}})
	if err != nil || !slices.Equal(ids, []job.ID{"a", "b", "c"}) {
		t.Errorf("rebuilt %v, %v; want a, b and c", ids, err)
	}
	if err := Check(h.store, h.folders); err != nil {
		t.Errorf("after it was rebuilt: %v", err)
	}
	known, err := h.store.Outlines()
	if err != nil || !known["a"].Ended || known["b"].Generation != 2 || known["c"].Ended {
		t.Errorf("%+v, %v; want that a has ended, b was started twice and c waits", known, err)
	}
}

// A job whose record is lost is rebuilt from the database; without both there is nothing to rebuild it from, and a
// folder without starts is of a job that was never accepted.
func TestRebuild_without_records(t *testing.T) {
	node := &cluster.Node{ID: "n", GPUType: "cpu", Capacity: cluster.Resources{GPUs: 4}}
	for id, want := range map[job.ID]string{"b": "", "c": "", "d": "has no job.json to rebuild the job from"} {
		h := lostHistory(t)
		if id == "d" {
			h.start(t, Generation{Job: id, Number: 1})
		} else {
			must(t, os.Remove(filepath.Join(h.folders.Job(id), "job.json")))
		}
		_, err := Rebuild(h.store, h.folders, node)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("without the record of %s: %v, want %q", id, err, want)
		}
		known, err := h.store.Outlines()
		if _, here := known[id]; err != nil || here != (id == "b") || id == "b" && known[id].Generation != 2 {
			t.Errorf("%s: %+v, %v", id, known[id], err)
		}
	}
}

// A checkpoint is a folder or a file of any program; one that is not there is an error.
func TestVerify_of_other_programs(t *testing.T) {
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "model.pt"), []byte("weights"), 0o600))
	must(t, os.Mkdir(filepath.Join(dir, "step-1"), 0o700))
	root, err := os.OpenRoot(dir)
	must(t, err)
	defer root.Close()
	for unit, whole := range map[string]bool{"model.pt": true, "step-1": true, "missing": false} {
		if err := verify(root, unit); (err == nil) != whole {
			t.Errorf("%s: %v, want whole %t", unit, err, whole)
		}
	}
}

// What walks through folders closes all files that it has opened.
func TestFolders_are_closed(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("counts files in /proc")
	}
	dir, _ := state(t)
	f := &Folders{Dir: dir}
	u := &account.User{UID: os.Geteuid(), GID: os.Getegid()}
	open := func() int {
		all, err := os.ReadDir("/proc/self/fd")
		must(t, err)
		return len(all)
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // the garbage collector would close them
	before := open()
	for range 20 {
		file := filepath.Join(t.TempDir(), "backup")
		must(t, f.give("waits", u))
		must(t, whole(t)(Backup(t.Context(), file, dir, true)))
		must(t, whole(t)(Restore(t.Context(), file, filepath.Join(t.TempDir(), "state"))))
	}
	if after := open(); after > before+5 {
		t.Errorf("%d open files, %d before", after, before)
	}
}
