package backfill_test

import (
	"fmt"
	"maps"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/internal/memory"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/backfill"
	"github.com/oxgang/oxgang/policy/placement/submesh"
	"github.com/oxgang/oxgang/policy/queue"
)

var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// timed is a job that runs for so many minutes on n GPUs, from a submission on.
func timed(id string, n, minutes, submitted int) *policy.Job {
	spec := &job.Spec{ID: job.ID(id), GPUs: n, Timed: true, Target: 60 * float64(minutes)}
	j := &policy.Job{Spec: spec, Limits: &spec.Batch}
	j.Submitted, j.Phase = epoch.Add(time.Duration(submitted)*time.Minute), job.Waiting
	j.Perf = perf.ByDuration{Spec: spec}
	return j
}

func nodes(t rapid.TB, all ...int) *cluster.Cluster {
	var list []cluster.Node
	for i, gpus := range all {
		list = append(list, cluster.Node{ID: cluster.NodeID(fmt.Sprint("n", i)), GPUType: "a", Capacity: cluster.Resources{GPUs: gpus}})
	}
	c, err := cluster.New(list)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// stated is the work of jobs that have not begun.
func stated(s *policy.Snapshot) func(int) backfill.Work {
	return func(i int) backfill.Work { return backfill.Work{Total: s.Jobs[i].Target, Stated: true} }
}

// play returns the minute in which each twin starts.
func play(t rapid.TB, c *cluster.Cluster, jobs []*policy.Job, minutes int, each func(*backfill.Schedule) *backfill.Schedule) map[job.ID]int {
	s, starts := new(backfill.Schedule), make(map[job.ID]int)
	for now := range minutes {
		snapshot := &policy.Snapshot{Now: epoch.Add(time.Duration(now) * time.Minute), Length: time.Minute, Cluster: c}
		for _, j := range jobs {
			if !j.Submitted.After(snapshot.Now) {
				snapshot.Jobs = append(snapshot.Jobs, j)
			}
		}
		s.Advance(snapshot, stated(snapshot))
		for _, j := range snapshot.Jobs {
			if st, ok := s.Compare(j.ID); ok {
				starts[j.ID] = int(st.Started.Sub(epoch) / time.Minute)
			}
		}
		s = each(s)
	}
	return starts
}

func same(s *backfill.Schedule) *backfill.Schedule { return s }

// easy returns the minute in which policy easy and the placer submesh start each job.
func easy(t *rapid.T, c *cluster.Cluster, jobs []*policy.Job, minutes int) map[job.ID]int {
	p, placer, starts := queue.New(queue.EASY()), submesh.New(submesh.DefaultOptions()), make(map[job.ID]int)
	active := make(map[job.ID]*policy.Job)
	for now := range minutes {
		s := &policy.Snapshot{Now: epoch.Add(time.Duration(now) * time.Minute), Length: time.Minute, Cluster: c}
		for _, j := range jobs {
			if active[j.ID] == nil && !j.Submitted.After(s.Now) {
				row := *j
				active[j.ID] = &row
			}
			if row := active[j.ID]; row != nil && row.Progress < row.Target {
				s.Jobs = append(s.Jobs, row)
			}
		}
		plan, err := p.Plan(t.Context(), s)
		if err == nil {
			plan, err = placer.Place(t.Context(), s, plan)
		}
		if err != nil {
			t.Fatal(err)
		}
		for i, row := range s.Jobs {
			d := &plan.Jobs[i]
			if d.Allocation.IsZero() {
				continue
			}
			if !row.Holding() {
				row.Phase, row.Since, row.Allocation, row.Placement, starts[row.ID] = job.Running, s.Now, d.Allocation, d.Placement, now
			}
			row.Progress += 60
			row.Reported = s.Now.Add(time.Minute)
		}
	}
	return starts
}

// TestSchedule_is_that_of_easy: with exact durations, twins start when policy easy starts the jobs, although no job really
// runs. Gangs of 3, 5 or 9 GPUs are scattered over nodes, and a gang can find no whole node although enough GPUs are free.
func TestSchedule_is_that_of_easy(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, jobs := nodes(t, rapid.SampledFrom([][]int{{8}, {4, 4}, {4, 4, 4}, {8, 8}, {6, 6}}).Draw(t, "nodes")...), drawn(t)
		want, got := easy(t, c, jobs, 400), play(t, c, jobs, 400, same)
		for _, j := range jobs {
			if want[j.ID] != got[j.ID] {
				t.Errorf("job %s of %d GPUs for %v s, submitted %v: its twin starts in minute %d, under easy in %d", j.ID, j.GPUs, j.Target, j.Submitted.Sub(epoch), got[j.ID], want[j.ID])
			}
		}
	})
}

func drawn(t *rapid.T) (jobs []*policy.Job) {
	at := 0
	for i := range rapid.IntRange(2, 14).Draw(t, "jobs") {
		at += rapid.IntRange(0, 6).Draw(t, "minutes later")
		jobs = append(jobs, timed(fmt.Sprintf("%02d", i), rapid.IntRange(1, 8).Draw(t, "GPUs"), rapid.IntRange(1, 25).Draw(t, "minutes"), at))
	}
	return jobs
}

// TestRemember: a schedule that is written and read at random times gives the same starts.
func TestRemember(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, jobs := nodes(t, 4, 4), drawn(t)
		want := play(t, c, jobs, 120, same)
		got := play(t, c, jobs, 120, func(s *backfill.Schedule) *backfill.Schedule {
			if rapid.IntRange(0, 9).Draw(t, "read again") != 0 {
				return s
			}
			data, err := memory.Marshal(s)
			if err != nil {
				t.Fatal(err)
			}
			other := new(backfill.Schedule)
			if err := memory.Unmarshal(data, other); err != nil {
				t.Fatal(err)
			}
			return other
		})
		if fmt.Sprint(want) != fmt.Sprint(got) {
			t.Errorf("starts %v, want %v", got, want)
		}
	})
}

// TestSchedule: worked examples on one node of 8 GPUs.
func TestSchedule(t *testing.T) {
	c := nodes(t, 8)
	long, wide := timed("long", 6, 30, 0), timed("wide", 8, 10, 0)
	all := func(minute int, jobs ...*policy.Job) *policy.Snapshot {
		return &policy.Snapshot{Now: epoch.Add(time.Duration(minute) * time.Minute), Length: time.Minute, Cluster: c, Jobs: jobs}
	}
	t.Run("a job that really has ended holds its GPUs until its twin ends", func(t *testing.T) {
		var s backfill.Schedule
		for minute, snapshot := range []*policy.Snapshot{all(0, long, wide), all(1, wide), all(29, wide), all(31, wide)} {
			s.Advance(snapshot, stated(snapshot))
			if st, ok := s.Compare("wide"); ok != (minute == 3) || ok && st.Started != epoch.Add(31*time.Minute) {
				t.Errorf("snapshot %d: wide has started: %v, at %v", minute, ok, st.Started)
			}
		}
	})
	t.Run("a job that outlives its estimate moves its own end", func(t *testing.T) {
		var s backfill.Schedule
		guess := func(int) backfill.Work { return backfill.Work{Total: 60} }
		for minute := range 10 {
			s.Advance(all(minute, long), guess)
			if st, ok := s.Compare("long"); !ok || !st.Due.After(epoch.Add(time.Duration(minute)*time.Minute)) {
				t.Fatalf("minute %d: due %v", minute, st.Due)
			}
		}
		s.Advance(all(11), guess)
		s.Advance(all(12, wide), guess)
		if _, ok := s.Compare("wide"); !ok {
			t.Error("the twin of a job that has ended is still there")
		}
	})
	t.Run("two twins do not share what a reservation leaves", func(t *testing.T) {
		jobs := []*policy.Job{timed("a", 4, 30, 0), timed("b", 6, 30, 1), timed("c", 2, 90, 1), timed("d", 2, 90, 1)}
		got := play(t, nodes(t, 8), jobs, 120, same)
		if got["b"] != 30 || got["c"] != 1 || got["d"] != 60 {
			t.Errorf("starts %v; b waits for a, and 2 GPUs are left beside b", got)
		}
	})
	t.Run("a gang that finds no node waits", func(t *testing.T) {
		c := nodes(t, 4, 4)
		jobs := []*policy.Job{timed("a", 3, 30, 0), timed("b", 3, 20, 0), timed("c", 2, 10, 1)}
		got := play(t, c, jobs, 40, same)
		if got["a"] != 0 || got["b"] != 0 || got["c"] != 20 {
			t.Errorf("starts %v; c needs two GPUs of one node", got)
		}
	})
	t.Run("nodes that vanish send the last started back to the queue", func(t *testing.T) {
		var s backfill.Schedule
		jobs := []*policy.Job{timed("a", 4, 30, 0), timed("b", 4, 30, 0)}
		snapshot := all(0, jobs...)
		snapshot.Cluster = nodes(t, 4, 4)
		s.Advance(snapshot, stated(snapshot))
		snapshot = all(10, jobs...)
		snapshot.Cluster = nodes(t, 4)
		s.Advance(snapshot, stated(snapshot))
		if _, ok := s.Compare("b"); ok {
			t.Error("b runs on a node that is gone")
		}
		snapshot = all(31, jobs...)
		snapshot.Cluster = nodes(t, 4)
		s.Advance(snapshot, stated(snapshot))
		if st, ok := s.Compare("b"); !ok || st.Due != epoch.Add(51*time.Minute) {
			t.Errorf("b is due %v, want 20 minutes of its 30 after minute 31", st.Due.Sub(epoch))
		}
	})
	t.Run("a waiting twin is expected after the twins before it", func(t *testing.T) {
		var s backfill.Schedule
		snapshot := all(0, timed("a", 6, 30, 0), timed("b", 8, 10, 0), timed("c", 4, 20, 0))
		s.Advance(snapshot, stated(snapshot))
		for id, want := range map[job.ID][2]time.Duration{"b": {30 * time.Minute, 40 * time.Minute}, "c": {40 * time.Minute, time.Hour}} {
			st, ok := s.Expect(id)
			if !ok || st.Started != epoch.Add(want[0]) || st.Due != epoch.Add(want[1]) {
				t.Errorf("%s: %v to %v, want %v", id, st.Started.Sub(epoch), st.Due.Sub(epoch), want)
			}
		}
		if _, ok := s.Expect("a"); ok {
			t.Error("a runs")
		}
	})
	t.Run("a twin waits while the speed of its job is measured", func(t *testing.T) {
		var s backfill.Schedule
		first, second := timed("first", 8, 30, 0), timed("second", 8, 10, 0)
		first.Phase = job.Profiling
		s.Advance(all(0, first), stated(all(0, first)))
		if _, ok := s.Compare("first"); ok {
			t.Error("it starts")
		}
		s.Advance(all(1, first, second), stated(all(1, first, second)))
		if _, ok := s.Compare("second"); !ok {
			t.Error("it holds back the next")
		}
	})
	t.Run("the time of work done on the requested GPUs is measured, and elsewhere scaled by the ratio of speeds", func(t *testing.T) {
		for gpus, want := range map[int]time.Duration{4: 6 * time.Minute, 2: 5*time.Minute + 30*time.Second} {
			var s backfill.Schedule
			j := timed("a", 4, 10, 0)
			j.Phase, j.Allocation = job.Running, cluster.Allocation{Configuration: cluster.Configuration{Nodes: 1, GPUs: gpus, GPUType: "a"}}
			for minute := range 2 {
				row := *j
				row.Perf, row.Since = linear{j.Perf}, epoch
				done := 300 * float64(minute) // the estimated speed on 4 GPUs is 1 a second, the measured one 5
				s.Advance(all(minute, &row), func(int) backfill.Work { return backfill.Work{Done: done, Total: 600, Stated: true} })
			}
			if x, _ := s.Compare("a"); x.Due.Sub(epoch) != want {
				t.Errorf("trained on %d GPUs: due after %v, want %v", gpus, x.Due.Sub(epoch), want)
			}
		}
	})
	t.Run("the efficiency of a fixed batch size counts", func(t *testing.T) {
		var s backfill.Schedule
		j := timed("a", 4, 10, 0)
		j.Perf = efficient{j.Perf, 0.5}
		s.Advance(all(0, j), stated(all(0, j)))
		if x, _ := s.Compare("a"); x.Due.Sub(epoch) != 20*time.Minute {
			t.Errorf("due after %v, want 20 minutes", x.Due.Sub(epoch))
		}
	})
	t.Run("restarts of the job do not make its twin slower", func(t *testing.T) {
		var s backfill.Schedule
		j := timed("a", 4, 10, 0)
		j.RestartOverhead = 50 * time.Second
		for minute := range 8 {
			j.Phase, j.Allocation, j.Since = job.Running, cluster.Allocation{Configuration: cluster.Configuration{Nodes: 1, GPUs: 4, GPUType: "a"}}, epoch.Add(time.Duration(minute)*time.Minute)
			j.Service = time.Duration(minute) * time.Minute // it restarted in each round
			snapshot := all(minute, j)
			s.Advance(snapshot, func(int) backfill.Work { return backfill.Work{Done: 10 * float64(minute), Total: 600, Stated: true} })
		}
		if st, _ := s.Compare("a"); st.Due.Sub(epoch) > 11*time.Minute {
			t.Errorf("due after %v, want 10m50s", st.Due.Sub(epoch))
		}
	})
}

// An efficient model has a batch of some statistical efficiency.
type efficient struct {
	perf.Model
	efficiency float64
}

func (m efficient) Efficiency(float64) float64 { return m.efficiency }

// A linear model trains in proportion to the GPUs, once a second on 4.
type linear struct{ perf.Model }

func (m linear) Throughput(a cluster.Allocation, _ job.BatchSize) float64 { return float64(a.GPUs) / 4 }

// A counted model counts its calls.
type counted struct {
	perf.Model
	calls *atomic.Int64
}

func (m counted) Throughput(a cluster.Allocation, b job.BatchSize) float64 {
	m.calls.Add(1)
	return m.Model.Throughput(a, b)
}

func (m counted) Same(other perf.Model) bool { return other.(counted).Model == m.Model }

// Twins of jobs with equal goodputs are evaluated once, and start as they would alone.
func TestAdvance_evaluates_equal_jobs_once(t *testing.T) {
	var calls atomic.Int64
	var jobs, others []*policy.Job
	model := timed("model", 2, 10, 0).Perf
	for i := range 100 {
		j := timed(fmt.Sprintf("j%02d", i), 2, 10, i/10)
		others = append(others, j)
		same := *j
		same.Perf = counted{model, &calls}
		jobs = append(jobs, &same)
	}
	each := func(s *backfill.Schedule) *backfill.Schedule { return s }
	got := play(t, nodes(t, 4, 4), jobs, 60, each)
	if n := calls.Load(); n > 10 {
		t.Errorf("%d evaluations of 100 equal jobs that come in 10 rounds, want at most 10", n)
	}
	if want := play(t, nodes(t, 4, 4), others, 60, each); !maps.Equal(got, want) {
		t.Errorf("starts %v, want %v", got, want)
	}
}
