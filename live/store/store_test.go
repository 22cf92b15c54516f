package store

import (
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler"
)

func TestOpen_makes_a_directory_for_its_owner_alone(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a b?c#d%41", "oxgang")
	s := opened(t, dir)
	if len(s.Identity()) < 20 {
		t.Errorf("identity %q, want a long one", s.Identity())
	}
	for name, want := range map[string]os.FileMode{".": 0o700, "oxgang.db": 0o600, "oxgang.db-wal": 0o600, "oxgang.lock": 0o600} {
		info, err := os.Stat(filepath.Join(dir, name))
		must(t, err)
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%s has mode %o, want %o", name, got, want)
		}
	}
}

func TestOpen_finds_what_was_there(t *testing.T) {
	dir := t.TempDir()
	s, err := Open(dir)
	must(t, err)
	accepted(t, s, "b", "")
	accepted(t, s, "a", "")
	must(t, s.Commit(&Plan{Round: 7, Time: at(60), Changes: []Change{started("a", 1, 3, 1)}}))
	want := loaded(t, s)
	must(t, s.Close())
	again := opened(t, dir)
	if again.Identity() != s.Identity() {
		t.Errorf("identity %q, was %q", again.Identity(), s.Identity())
	}
	if diff := cmp.Diff(want, loaded(t, again)); diff != "" {
		t.Error(diff)
	}
	if want.Round != 7 || !want.Time.Equal(at(60)) || !cmp.Equal(ids(want.Jobs), []job.ID{"b", "a"}) || !cmp.Equal(want.Jobs[1].Job.Held, []int{3, 1}) {
		t.Errorf("loaded round %d at %v, jobs %v", want.Round, want.Time, ids(want.Jobs))
	}
}

func TestAccept_refuses(t *testing.T) {
	s := opened(t, t.TempDir())
	accepted(t, s, "a", "")
	accepted(t, s, "over", "")
	must(t, s.End("over", Ending{Outcome: scheduler.Done, At: at(1)}))
	for name, c := range map[string]struct {
		change func(*Job)
		want   string
	}{
		"an ID that is there": {func(j *Job) { j.Spec.ID = "a" }, "store: job a: exists already, with number 1"},
		"one that ended":      {func(j *Job) { j.Spec.ID = "over" }, "job over: exists already, with number 2"},
		"a token that is":     {func(j *Job) { j.Token = "token of a" }, "job b: job a has the same token"},
		"no token":            {func(j *Job) { j.Token = "" }, "no token"},
		"a path":              {func(j *Job) { j.Spec.ID = "../a" }, "job ../a: want an ID of"},
		"a hidden file":       {func(j *Job) { j.Spec.ID = ".a" }, "want an ID of"},
		"an endless ID":       {func(j *Job) { j.Spec.ID = job.ID(strings.Repeat("a", 101)) }, "at most 100"},
		"a job with slots":    {func(j *Job) { j.Held = []int{1} }, "want a new job"},
		"a saved job":         {func(j *Job) { j.Checkpoint = &Checkpoint{} }, "want a new job"},
		"one that saved":      {func(j *Job) { j.Previous = &Checkpoint{} }, "want a new job"},
		"one with an ending":  {func(j *Job) { j.Ended = &Ending{} }, "want a new job"},
		"a job that ended":    {func(j *Job) { j.Status.Phase = job.Failed }, "phase failed"},
		"other than UTF-8":    {func(j *Job) { j.Spec.Name = "\xff" }, "its text is not all UTF-8"},
		"no number":           {func(j *Job) { j.Spec.Weight = nan }, "unsupported value: NaN"},
		"a zero byte":         {func(j *Job) { j.Request.Env = []string{"A=1", "B=\x00"} }, "environment: string 2 has a zero byte"},
		"a far future":        {func(j *Job) { j.Status.Since = time.Date(12000, 1, 1, 0, 0, 0, 0, time.UTC) }, "year outside of range"},
	} {
		t.Run(name, func(t *testing.T) {
			j := newJob("b", "")
			c.change(j)
			wants(t, s.Accept(j), c.want)
		})
	}
	if got := ids(loaded(t, s).Jobs); !cmp.Equal(got, []job.ID{"a"}) {
		t.Errorf("jobs %v, want a alone", got)
	}
}

func TestCommit_refuses_and_writes_nothing(t *testing.T) {
	s := opened(t, t.TempDir())
	for _, id := range []job.ID{"a", "b", "c", "over"} {
		accepted(t, s, id, "")
	}
	must(t, s.End("over", Ending{Outcome: scheduler.Failed, At: at(1)}))
	must(t, s.Commit(&Plan{Round: 3, Time: at(60), Changes: []Change{started("a", 2, 0, 1), started("b", 1, 2)}}))
	before := loaded(t, s)
	ended := started("c", 1)
	ended.Status.Phase = job.Completed
	for name, c := range map[string]struct {
		plan Plan
		want string
	}{
		"the same round":     {Plan{Round: 3}, "store: plan of round 3: round 3 is committed already, want a later one"},
		"an older round":     {Plan{Round: 2}, "plan of round 2: round 3 is committed already"},
		"a stranger":         {Plan{Round: 4, Changes: []Change{started("c", 1, 5), started("x", 1)}}, "plan of round 4: job x: is unknown"},
		"one that ended":     {Plan{Round: 4, Changes: []Change{started("c", 1, 5), started("over", 1)}}, "job over: has ended already, failed at 2026-03-01T12:00:01"},
		"a job twice":        {Plan{Round: 4, Changes: []Change{started("c", 1, 5), started("c", 1, 6)}}, "job c: changed twice"},
		"an old generation":  {Plan{Round: 4, Changes: []Change{started("c", 1, 5), started("a", 1, 0)}}, "job a: generation 1, want at least 2"},
		"a slot held":        {Plan{Round: 4, Changes: []Change{started("c", 1, 5, 1)}}, "job c: slot 1 is held by job a"},
		"a slot given twice": {Plan{Round: 4, Changes: []Change{started("c", 1, 5, 5)}}, "job c: slot 5 is held by job c"},
		"no slot":            {Plan{Round: 4, Changes: []Change{started("c", 1, 5, -1)}}, "job c: slot -1"},
		"an ending":          {Plan{Round: 4, Changes: []Change{ended}}, "job c: phase completed"},
		"a far future":       {Plan{Round: 4, Time: time.Date(12000, 1, 1, 0, 0, 0, 0, time.UTC)}, "year 12000"},
	} {
		t.Run(name, func(t *testing.T) {
			wants(t, s.Commit(&c.plan), c.want)
			if diff := cmp.Diff(before, loaded(t, s)); diff != "" {
				t.Error("written all the same:", diff)
			}
		})
	}
}

func TestCommit_passes_slots_on(t *testing.T) {
	s := opened(t, t.TempDir())
	accepted(t, s, "a", "")
	accepted(t, s, "b", "")
	must(t, s.Commit(&Plan{Round: 1, Changes: []Change{started("a", 1, 0, 1), started("b", 1, 2)}}))
	must(t, s.Commit(&Plan{Round: 2, Changes: []Change{started("a", 2, 2), started("b", 2, 1, 0)}}))
	st := loaded(t, s)
	if a, b := st.Jobs[0].Job.Held, st.Jobs[1].Job.Held; !cmp.Equal(a, []int{2}) || !cmp.Equal(b, []int{1, 0}) {
		t.Errorf("a holds %v, b %v; want [2] and [1 0]", a, b)
	}
	must(t, s.End("a", Ending{Outcome: scheduler.Done, At: at(9)}))
	must(t, s.Commit(&Plan{Round: 3, Changes: []Change{started("b", 3, 2)}}))
}

func TestEnd_once(t *testing.T) {
	s := opened(t, t.TempDir())
	accepted(t, s, "a", "")
	must(t, s.Commit(&Plan{Round: 1, Changes: []Change{started("a", 1, 0, 1)}}))
	wants(t, s.End("a", Ending{Outcome: scheduler.Lost, At: at(9)}), "job a: outcome lost, want done, failed or cancelled")
	how := Ending{Outcome: scheduler.Failed, Detail: "exit 1:\n\xff\x00 killed", At: at(65)}
	must(t, s.End("a", how))
	wants(t, s.End("a", Ending{Outcome: scheduler.Done, At: at(70)}), "store: job a: has ended already, failed at 2026-03-01T12:01:05")
	wants(t, s.Report("a", at(70), &job.Report{Job: "a"}), "has ended already")
	wants(t, s.Checkpoint("a", Checkpoint{Path: "p"}, 0), "has ended already")
	wants(t, s.Describe("a", &job.Spec{ID: "a"}), "has ended already")
	wants(t, s.End("b", how), "job b: is unknown")
	st := loaded(t, s)
	if len(st.Jobs) != 0 || len(st.Ended) != 1 {
		t.Fatalf("%d jobs, %d ended; want 0 and 1", len(st.Jobs), len(st.Ended))
	}
	got := st.Ended[0].Job
	want := job.Status{
		Phase: job.Failed, Submitted: epoch, FirstStarted: at(5), Since: at(65), Finished: at(65),
		Service: time.Minute, GPUService: 2 * time.Minute,
	}
	if diff := cmp.Diff(want, got.Status); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(&how, got.Ended); diff != "" {
		t.Error(diff)
	}
}

func TestDescribe(t *testing.T) {
	s := opened(t, t.TempDir())
	accepted(t, s, "a", "")
	spec := &job.Spec{ID: "a", Class: "mnist", Batch: job.BatchLimits{Init: 128, LocalMax: map[cluster.GPUType]int{"cpu": 64}}}
	must(t, s.Describe("a", spec))
	if diff := cmp.Diff(spec, loaded(t, s).Jobs[0].Job.Spec); diff != "" {
		t.Error(diff)
	}
	wants(t, s.Describe("a", &job.Spec{ID: "b"}), "job a: spec of job b")
	wants(t, s.Describe("b", &job.Spec{ID: "b"}), "job b: is unknown")
}

// A backup has the jobs of the database, and the restored database is another one.
func TestBackup(t *testing.T) {
	dir, file := t.TempDir(), filepath.Join(t.TempDir(), "backup")
	wants(t, Backup(dir, file), "no scheduler has used this directory")
	s := opened(t, dir)
	accepted(t, s, "a", "")
	must(t, Backup(dir, file))
	wants(t, Backup(dir, file), "file exists")
	wants(t, Restore(dir, file, nil), "it has a database already")
	other := t.TempDir()
	must(t, Restore(other, file, nil))
	again := opened(t, other)
	if got := ids(loaded(t, again).Jobs); !cmp.Equal(got, []job.ID{"a"}) || again.Identity() == s.Identity() {
		t.Errorf("jobs %v, identity %s; want job a and an identity other than %s", got, again.Identity(), s.Identity())
	}
}

// A job name keeps letters and digits up to both ends of their ranges, and no neighbour of these.
func TestLetter(t *testing.T) {
	for _, c := range "azAZ09" {
		if !letter(c) {
			t.Errorf("%q is no letter or digit", c)
		}
	}
	for _, c := range "`{@[/:" {
		if letter(c) {
			t.Errorf("%q is a letter or digit", c)
		}
	}
}

// Times are stored whose year has four digits.
func TestEncodeTime_years(t *testing.T) {
	for year, want := range map[int]bool{-1: false, 0: true, 9999: true, 10000: false} {
		at := time.Date(year, 6, 1, 0, 0, 0, 0, time.UTC)
		text, err := encodeTime(at)
		if (err == nil) != want {
			t.Errorf("year %d: %v, want that it is stored: %t", year, err, want)
		}
		if back, err := decodeTime(text); want && (err != nil || !back.Equal(at)) {
			t.Errorf("year %d: %v, %v", year, back, err)
		}
	}
}

// A database that cannot keep a write-ahead log, as on a network, is refused.
func TestKeepLog_refuses(t *testing.T) {
	writer, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		t.Fatal(err)
	}
	defer writer.Close()
	s := &Store{writer: writer}
	if err := s.keepLog(); err == nil || !strings.Contains(err.Error(), `journal mode "memory", want wal`) {
		t.Errorf("%v, want that there is no log", err)
	}
}
