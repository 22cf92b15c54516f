package statedir

import (
	"errors"
	"io/fs"
	"maps"
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

var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// A place is a state directory whose jobs a test makes.
type place struct {
	*testing.T
	store *store.Store
	o     PruneOptions
}

func newPlace(t *testing.T) *place {
	t.Helper()
	dir := t.TempDir()
	s, err := store.Open(dir)
	p := &place{T: t, store: s}
	p.must(err)
	t.Cleanup(func() { p.must(s.Close()) })
	p.o = PruneOptions{Folders: &Folders{Dir: dir}, Journals: filepath.Join(dir, "journal"), Busy: func(job.ID) bool { return false }, Now: now}
	return p
}

func (p *place) must(err error) {
	p.Helper()
	if err != nil {
		p.Fatal(err)
	}
}

func (p *place) write(path string, bytes int) {
	p.Helper()
	p.must(os.MkdirAll(filepath.Dir(path), 0o700))
	p.must(os.WriteFile(path, make([]byte, bytes), 0o600))
}

// job makes a job with a log of 3 blocks and, perhaps, a checkpoint of 2. It ended that long ago, unless
// age is 0.
func (p *place) job(id job.ID, age time.Duration, saves bool) {
	p.Helper()
	j := &store.Job{
		Spec: &job.Spec{ID: id, GPUs: 1}, Token: string(id), Status: job.Status{Phase: job.Waiting, Submitted: now},
		Request: store.Request{Command: []string{"train"}, Dir: "/", Env: []string{"SECRET=1"}},
	}
	p.must(p.store.Accept(j))
	p.must(p.o.Folders.Make(id, nil))
	p.write(p.o.Folders.Log(id), 2*4096+1)
	if saves {
		p.write(filepath.Join(p.o.Folders.Checkpoints(id), "1"), 2*4096)
		p.must(p.store.Checkpoint(id, store.Checkpoint{Path: "1"}, 0))
	}
	p.must(p.store.Report(id, now, &job.Report{Job: id}))
	if age > 0 {
		p.must(p.store.End(id, store.Ending{Outcome: scheduler.Done, At: now.Add(-age)}))
	}
}

func (p *place) prune(l Limits) map[Category]Amount {
	p.Helper()
	p.o.Limits = l
	amounts, err := Prune(p.store, &p.o)
	p.must(err)
	all := map[Category]Amount{}
	for _, a := range amounts {
		all[a.Category] = a
	}
	return all
}

// files returns the paths of all files and links in the state directory but those of the database.
func (p *place) files() []string {
	p.Helper()
	var all []string
	p.must(filepath.WalkDir(p.o.Folders.Dir, func(path string, e fs.DirEntry, err error) error {
		name, _ := filepath.Rel(p.o.Folders.Dir, path)
		if err == nil && !e.IsDir() && !strings.HasPrefix(name, "oxgang.") {
			all = append(all, name)
		}
		return err
	}))
	return all
}

func (p *place) want(files ...string) {
	p.Helper()
	if got := p.files(); !slices.Equal(got, files) {
		p.Errorf("files %q, want %q", got, files)
	}
}

const hour = time.Hour

// Only what ended too long ago goes, and nothing of a job that runs, waits, is not known, or still has processes.
func TestPrune_by_age(t *testing.T) {
	p := newPlace(t)
	p.job("waits", 0, true)
	p.job("old", 3*hour, true)
	p.job("young", hour, true)
	p.job("stops", 3*hour, true)
	p.write(filepath.Join(p.o.Folders.Job("foreign"), "log"), 1)
	p.o.Busy = func(id job.ID) bool { return id == "stops" }
	before := p.files()
	p.o.DryRun = true
	limits := Limits{Logs: {Age: 2 * hour}, Checkpoints: {Age: 2 * hour}, reports: {Age: 2 * hour}}
	dry := p.prune(limits)
	p.want(before...)
	if n, err := p.store.CountReports(now); err != nil || n != 3 {
		t.Errorf("%d reports after a dry run, %v; want 3", n, err)
	}
	p.o.DryRun = false
	done := p.prune(limits)
	if !maps.Equal(dry, done) {
		t.Errorf("deleted %v, and a dry run said %v", done, dry)
	}
	want := map[Category]Amount{Logs: {Logs, 1, 4 * 4096}, Checkpoints: {Checkpoints, 1, 3 * 4096}, Journals: {Category: Journals}, reports: {reports, 2, 0}}
	if !maps.Equal(done, want) {
		t.Errorf("deleted %v, want %v", done, want)
	}
	p.want("jobs/foreign/log", "jobs/stops/checkpoints/1", "jobs/stops/log", "jobs/waits/checkpoints/1", "jobs/waits/log", "jobs/young/checkpoints/1", "jobs/young/log")
	if _, err := os.Stat(p.o.Folders.Job("old")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the empty folder of a job: %v, want that it is gone", err)
	}
}

// The oldest go until the rest fits. Checkpoints stay unless there is a limit for them.
func TestPrune_by_size(t *testing.T) {
	p := newPlace(t)
	p.job("c", 1*hour, false)
	p.job("a", 3*hour, true)
	p.job("b", 2*hour, false)
	one := int64(3+1+1) * 4096 // log, empty folder of checkpoints, folder
	got := p.prune(Limits{Logs: {Bytes: 2 * one}})
	if got[Logs] != (Amount{Logs, 1, 4 * 4096}) {
		t.Errorf("deleted %v, want the 4 blocks of a", got)
	}
	p.want("jobs/a/checkpoints/1", "jobs/b/log", "jobs/c/log")
	p.prune(Limits{Logs: {Bytes: 1}})
	p.want("jobs/a/checkpoints/1")
	p.prune(Limits{Checkpoints: {Bytes: 1}})
	p.want()
}

// The name of a pruned job stays taken, its row stays, and its command and environment do not.
func TestPrune_keeps_names(t *testing.T) {
	p := newPlace(t)
	p.job("mnist", hour, true)
	p.prune(Limits{Logs: {Bytes: 1}, Checkpoints: {Bytes: 1}})
	id, err := p.store.Name("mnist")
	if err != nil || id != "mnist-2" {
		t.Errorf("name %q, %v; want mnist-2", id, err)
	}
	jobs, err := p.store.Jobs(true)
	p.must(err)
	if len(jobs) != 1 || jobs[0].Ended == nil || jobs[0].Spec.GPUs != 1 {
		t.Fatalf("jobs %v, want mnist, which has ended", jobs)
	}
	if j := jobs[0]; j.Request.Command != nil || j.Request.Env != nil || j.Request.Dir != "" || j.Checkpoint != nil {
		t.Errorf("kept %+v and checkpoint %v, want nothing", j.Request, j.Checkpoint)
	}
}

// Links in a folder, or in its place, are not followed.
func TestPrune_follows_no_link(t *testing.T) {
	p := newPlace(t)
	p.job("a", hour, false)
	p.job("b", hour, false)
	outside := filepath.Join(t.TempDir(), "precious")
	p.write(filepath.Join(outside, "file"), 1)
	p.must(os.Symlink(outside, filepath.Join(p.o.Folders.Job("a"), "link")))
	p.must(os.Remove(p.o.Folders.Checkpoints("a")))
	p.must(os.Symlink(outside, p.o.Folders.Checkpoints("a")))
	p.must(os.RemoveAll(p.o.Folders.Job("b")))
	p.must(os.Symlink(outside, p.o.Folders.Job("b")))
	p.prune(Limits{Logs: {Bytes: 1}, Checkpoints: {Bytes: 1}})
	p.want("jobs/b")
	if _, err := os.Stat(filepath.Join(outside, "file")); err != nil {
		t.Error(err)
	}
}

// The journal that is being written stays, whatever the limit, and so do other files.
func TestPrune_journals(t *testing.T) {
	p := newPlace(t)
	for i, name := range []string{"old.oxj", "new.oxj", "written.oxj", "notes.txt"} {
		path := filepath.Join(p.o.Journals, name)
		p.write(path, 4097)
		p.must(os.Chtimes(path, time.Time{}, now.Add(time.Duration(i-3)*hour)))
	}
	p.o.Journal = func() string { return filepath.Join(p.o.Journals, "written.oxj") }
	if got := p.prune(Limits{Journals: {Age: 5 * hour / 2}})[Journals]; got != (Amount{Journals, 1, 8192}) {
		t.Errorf("deleted %v, want 1 of 8192 bytes", got)
	}
	p.want("journal/new.oxj", "journal/notes.txt", "journal/written.oxj")
	p.prune(Limits{Journals: {Bytes: 1}})
	p.want("journal/notes.txt", "journal/written.oxj")
}

func TestValidate(t *testing.T) {
	for want, l := range map[string]Limits{
		`category "log"`:        {"log": {}},
		"set an age, not bytes": {reports: {Bytes: 1}},
		"logs: age -1ns, 0 b":   {Logs: {Age: -1}},
	} {
		if err := l.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", l, err, want)
		}
	}
}
