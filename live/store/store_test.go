package store

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/oxgang/oxgang/cluster"
	"github.com/oxgang/oxgang/job"
	"github.com/oxgang/oxgang/scheduler"
)

// epoch is some time; tests count seconds from it.
var epoch = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func at(seconds int) time.Time { return epoch.Add(time.Duration(seconds) * time.Second) }

// opened returns a store that is closed when the test ends.
func opened(t testing.TB, dir string) *Store {
	t.Helper()
	s, err := Open(dir)
	must(t, err)
	t.Cleanup(func() { must(t, s.Close()) })
	return s
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// wants fails the test if an error does not say what it should.
func wants(t testing.TB, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Fatalf("got error %v, want one that says %q", err, want)
	}
}

// newJob returns a job that can be accepted.
func newJob(id job.ID, class job.Class) *Job {
	return &Job{
		Spec:    &job.Spec{ID: id, Name: string(id), Class: class, GPUs: 2},
		Request: Request{Command: []string{"python", "train.py"}, Dir: "/home/ada"},
		Token:   "token of " + string(id),
		Status:  job.Status{Phase: job.Waiting, Submitted: epoch},
	}
}

// accepted returns a job that was.
func accepted(t testing.TB, s *Store, id job.ID, class job.Class) *Job {
	t.Helper()
	j := newJob(id, class)
	must(t, s.Accept(j))
	return j
}

// started returns the change that gives a job slots in some generation.
func started(id job.ID, generation int, slots ...int) Change {
	c := Change{Job: id, Generation: generation, Held: slots, Batch: job.BatchSize{Local: 32}}
	c.Status = job.Status{Phase: job.Restoring, Submitted: epoch, FirstStarted: at(5), Since: at(5)}
	c.Status.Allocation.Configuration = cluster.Configuration{Nodes: 1, GPUs: len(slots), GPUType: "cpu"}
	c.Status.Placement = cluster.Placement{{Node: "here", Resources: cluster.Resources{GPUs: len(slots)}}}
	return c
}

func loaded(t testing.TB, s *Store) *State {
	t.Helper()
	st, err := s.Load()
	must(t, err)
	return st
}

func ids(known []Known) []job.ID {
	var list []job.ID
	for _, k := range known {
		list = append(list, k.Job.Spec.ID)
	}
	return list
}

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
		"an ID that is there": {func(j *Job) { j.Spec.ID = "a" }, "store: job a: is there already, accepted as number 1"},
		"one that ended":      {func(j *Job) { j.Spec.ID = "over" }, "job over: is there already, accepted as number 2"},
		"a token that is":     {func(j *Job) { j.Token = "token of a" }, "job b: its token is that of job a"},
		"no token":            {func(j *Job) { j.Token = "" }, "no token"},
		"a path":              {func(j *Job) { j.Spec.ID = "../a" }, "job ../a: want an ID of"},
		"a hidden file":       {func(j *Job) { j.Spec.ID = ".a" }, "want an ID of"},
		"an endless ID":       {func(j *Job) { j.Spec.ID = job.ID(strings.Repeat("a", 101)) }, "at most 100"},
		"a job with slots":    {func(j *Job) { j.Held = []int{1} }, "has a past"},
		"a job that ended":    {func(j *Job) { j.Status.Phase = job.Failed }, "phase failed"},
		"other than UTF-8":    {func(j *Job) { j.Spec.Name = "\xff" }, "not all of its text is UTF-8"},
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
		"a stranger":         {Plan{Round: 4, Changes: []Change{started("c", 1, 5), started("x", 1)}}, "plan of round 4: job x: is not known"},
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
	wants(t, s.Checkpoint("a", Checkpoint{Path: "p"}), "has ended already")
	wants(t, s.Describe("a", &job.Spec{ID: "a"}), "has ended already")
	wants(t, s.End("b", how), "job b: is not known")
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
	wants(t, s.Describe("b", &job.Spec{ID: "b"}), "job b: is not known")
}

func TestLoad_tells_reports_apart(t *testing.T) {
	s := opened(t, t.TempDir())
	accepted(t, s, "a", "")
	report := func(epoch, seconds int) {
		t.Helper()
		must(t, s.Report("a", at(seconds), &job.Report{Job: "a", Epoch: epoch}))
	}
	report(1, 10)
	report(2, 60)
	report(3, 61) // the round was being decided: it did not know this one
	must(t, s.Commit(&Plan{Round: 1, Time: at(60)}))
	report(4, 55) // a clock was set back
	report(5, 70)
	k := loaded(t, s).Jobs[0]
	epochs := func(list []Report) (got []int) {
		for _, r := range list {
			got = append(got, r.Epoch)
		}
		return got
	}
	if b, a := epochs(k.Before), epochs(k.After); !cmp.Equal(b, []int{1, 2}) || !cmp.Equal(a, []int{3, 4, 5}) {
		t.Errorf("before %v, after %v; want [1 2] and [3 4 5]", b, a)
	}
	wants(t, s.Report("a", at(0), &job.Report{Job: "b"}), "job a: report: report of job b")
	wants(t, s.Report("a", at(0), &job.Report{Job: "a", Progress: -1}), "job a: report: progress -1")
	wants(t, s.Report("a", at(0), &job.Report{Job: "a", GradVar: nan}), "gradient variance NaN")
}

func TestCheckpoint_keeps_two(t *testing.T) {
	s := opened(t, t.TempDir())
	accepted(t, s, "a", "")
	save := func(step int64, bytes int64) {
		t.Helper()
		must(t, s.Checkpoint("a", Checkpoint{Step: step, Bytes: bytes, At: at(int(step)), Path: fmt.Sprint("step-", step)}))
	}
	check := func(last, previous int64) {
		t.Helper()
		j := loaded(t, s).Jobs[0].Job
		if j.Checkpoint.Bytes != last || j.Previous.Bytes != previous {
			t.Errorf("last %+v, before it %+v; want %d and %d bytes", j.Checkpoint, j.Previous, last, previous)
		}
	}
	for step := range int64(5) {
		save(step, step)
	}
	check(4, 3)
	save(4, 44) // said twice: the one before stays
	check(44, 3)
	save(2, 22) // the last was unreadable: it went back
	check(22, 44)
	wants(t, s.Checkpoint("a", Checkpoint{Step: -1, Seconds: nan}), "job a: checkpoint: step -1")
}

func TestEnd_prunes_reports_by_class(t *testing.T) {
	s := opened(t, t.TempDir())
	for i, class := range []job.Class{"x", "y", "x", "x"} {
		id := job.ID(fmt.Sprint("j", i))
		accepted(t, s, id, class)
		for e := range 90 {
			must(t, s.Report(id, at(e), &job.Report{Job: id, Epoch: e}))
		}
		if i < 3 {
			must(t, s.End(id, Ending{Outcome: scheduler.Done, At: at(100)}))
		}
	}
	count := func(st *State) (n []int) {
		for _, k := range slicesOf(st) {
			n = append(n, len(k.Before)+len(k.After))
		}
		return n
	}
	if got := count(loaded(t, s)); !cmp.Equal(got, []int{90, 90, 90, 90}) {
		t.Errorf("%v reports of the active job and the ended ones, want 90 of each", got)
	}
	must(t, s.End("j3", Ending{Outcome: scheduler.Done, At: at(100)}))
	if got := count(loaded(t, s)); !cmp.Equal(got, []int{20, 90, 90, 90}) {
		t.Errorf("%v reports of ended jobs, want 200 of class x and 90 of y", got)
	}
}

func slicesOf(st *State) []Known { return append(st.Jobs, st.Ended...) }

func TestJobs_and_Load_bound_the_ended(t *testing.T) {
	s := opened(t, t.TempDir())
	accepted(t, s, "first", "")
	for i := range listedEnded + 5 {
		id := job.ID(fmt.Sprintf("j%03d", i))
		accepted(t, s, id, "x")
		must(t, s.End(id, Ending{Outcome: scheduler.Cancelled, At: at(i)}))
	}
	active, err := s.Jobs(false)
	must(t, err)
	all, err := s.Jobs(true)
	must(t, err)
	if len(active) != 1 || len(all) != 1+listedEnded || all[0].Spec.ID != "first" || all[1].Spec.ID != "j005" {
		t.Errorf("%d active, %d in all, from %s, %s; want 1, 201, first, j005", len(active), len(all), all[0].Spec.ID, all[1].Spec.ID)
	}
	if st := loaded(t, s); len(st.Ended) != keptEnded || st.Ended[0].Job.Spec.ID != "j155" {
		t.Errorf("%d ended, from %s; want 50 from j155", len(st.Ended), st.Ended[0].Job.Spec.ID)
	}
}

func TestName(t *testing.T) {
	s := opened(t, t.TempDir())
	for i, c := range []struct{ base, want string }{
		{"mnist", "mnist"},
		{"mnist", "mnist-2"},
		{"mnist", "mnist-3"},
		{"taken", "taken-8"}, // there is taken and taken-7
		{"free", "free"},     // there is free-9
		{"free", "free-10"},
		{"../../etc/passwd", "etc-passwd"},
		{"-a.", "a"},
		{"é", "job"},
		{"", "job-2"},
		{strings.Repeat("a", 200), strings.Repeat("a", 80)},
		{"mnis", "mnis"},
	} {
		if i == 3 {
			for _, id := range []job.ID{"taken", "taken-7", "taken-x", "free-9", "taken.9"} {
				accepted(t, s, id, "")
			}
			must(t, s.End("taken-7", Ending{Outcome: scheduler.Done, At: at(1)}))
		}
		got, err := s.Name(c.base)
		must(t, err)
		if string(got) != c.want || !safe(string(got)) {
			t.Errorf("name of %q: %q, want %q", c.base, got, c.want)
		}
	}
}

func TestBackup(t *testing.T) {
	s := opened(t, t.TempDir())
	accepted(t, s, "a", "")
	must(t, s.Commit(&Plan{Round: 4, Changes: []Change{started("a", 1, 0)}}))
	dir := t.TempDir()
	must(t, s.Backup(filepath.Join(dir, "oxgang.db")))
	wants(t, s.Backup(filepath.Join(dir, "oxgang.db")), "is there already")
	accepted(t, s, "later", "")
	back := opened(t, dir)
	if st := loaded(t, back); st.Round != 4 || !cmp.Equal(ids(st.Jobs), []job.ID{"a"}) || back.Identity() != s.Identity() {
		t.Errorf("the backup has round %d and jobs %v, want 4 and a", st.Round, ids(st.Jobs))
	}
	wants(t, s.Backup(filepath.Join(dir, "none", "oxgang.db")), "store: backup: ")
}

func TestReads_wait_for_no_write(t *testing.T) {
	s := opened(t, t.TempDir())
	accepted(t, s, "a", "")
	must(t, s.read(func(*sql.Tx) error {
		accepted(t, s, "b", "") // would wait for ever if a read held the database
		return nil
	}))
	must(t, s.write(func(*sql.Tx) error {
		if got := ids(loaded(t, s).Jobs); !cmp.Equal(got, []job.ID{"a", "b"}) {
			t.Errorf("jobs %v, want a and b", got)
		}
		return nil
	}))
}

func TestStore_by_many_at_once(t *testing.T) {
	s := opened(t, t.TempDir())
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			id, err := s.Name("job")
			if err == nil {
				err = s.Accept(newJob(id, "x"))
			}
			for i := range 20 {
				_, err1 := s.Load()
				err = errors.Join(err, err1, s.Report(id, at(i), &job.Report{Job: id}))
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	st := loaded(t, s)
	if len(st.Jobs) != 8 {
		t.Errorf("%d jobs, want 8", len(st.Jobs))
	}
	for i, k := range st.Jobs {
		if k.Job.Number != int64(i+1) || len(k.After) != 20 {
			t.Errorf("job %s: number %d, %d reports; want %d and 20", k.Job.Spec.ID, k.Job.Number, len(k.After), i+1)
		}
	}
}

func TestHolder(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "lock"))
	must(t, err)
	defer f.Close()
	if got := holder(f); got != "another process" {
		t.Errorf("of an empty file %q, want another process", got)
	}
	must(t, os.WriteFile(f.Name(), []byte("4194304\n"), 0o600))
	must(t, sign(f))
	if got, want := holder(f), fmt.Sprint("process ", os.Getpid()); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
