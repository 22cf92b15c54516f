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

	"github.com/google/go-cmp/cmp"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler"
)

func TestLoad_tells_reports_apart(t *testing.T) {
	s := opened(t, t.TempDir())
	accepted(t, s, "a", "")
	report := func(epoch, seconds int) {
		t.Helper()
		must(t, s.Report("a", at(seconds), &job.Report{Job: "a", Epoch: epoch}))
	}
	report(1, 10)
	report(3, 61) // the round was being decided: it did not know this one
	report(2, 60)
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
		must(t, s.Checkpoint("a", Checkpoint{Step: step, Bytes: bytes, At: at(int(step)), Path: fmt.Sprint("step-", step)}, 0))
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
	wants(t, s.Checkpoint("a", Checkpoint{Step: -1, Seconds: nan}, 0), "job a: checkpoint: step -1")
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
		{"bert7", "bert7"},
		{"bert", "bert"},
		{"bert", "bert-2"},
		{"mnist", "mnist-13"}, // another has been accepted as mnist-12
		{"late-4", "late-4"},
		{"late", "late"},
		{"late", "late-5"},
		{"free-20", "free-20"},
		{"free", "free-21"},
		{"free-20", "free-20-2"},
	} {
		if c.want == "mnist-13" {
			accepted(t, s, "mnist-12", "")
		}
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
	must(t, sign(f, ""))
	if got, want := holder(f), fmt.Sprint("process ", os.Getpid()); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
