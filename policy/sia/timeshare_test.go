package sia

import (
	"testing"
	"time"

	"github.com/oxgang/oxgang/job"
	"github.com/oxgang/oxgang/policy"
)

// play plans rounds for jobs of at most one GPU on two GPUs, and returns for
// each job in which rounds it was granted one, and the reasons for its waits.
func play(t *testing.T, jobs, rounds int, share time.Duration) (runs [][]bool, turns int) {
	o := DefaultOptions()
	o.TimeShare = share
	p, s := newPolicy(t, o), snapshot(fleet(t, shape{"X", 1, 2}))
	for i := range jobs {
		s.Jobs = append(s.Jobs, waiting(job.ID('a'+rune(i)), linear{}, func(s *job.Spec) { s.MaxGPUs = 1 }))
	}
	runs = make([][]bool, jobs)
	for range rounds {
		plan := mustPlan(t, p, s)
		for i, j := range s.Jobs {
			d := &plan.Jobs[i]
			runs[i] = append(runs[i], !d.Allocation.IsZero())
			if d.Why.Kind == policy.WaitTurn {
				turns++
			}
			if d.Allocation != j.Allocation {
				s.Jobs[i] = holding(j, d.Allocation.Configuration)
			}
		}
		s.Round++
		s.Now = s.Now.Add(s.Length)
	}
	return runs, turns
}

// bands returns the lengths of a job's runs, in rounds, but for the last.
func bands(runs []bool) []int {
	var all []int
	n := 0
	for _, on := range runs {
		if on {
			n++
		} else if n > 0 {
			all, n = append(all, n), 0
		}
	}
	return all
}

// Sia §3.5.6: "the time-varying penalty produces bands of execution for each
// job indicating that the jobs run uninterrupted for as long as τ seconds
// before being pre-empted for time-sharing purposes".
func TestTimeShare_makes_bands(t *testing.T) {
	const rounds, tau = 60, 5
	runs, turns := play(t, 5, rounds, tau*time.Minute)
	for i := range runs {
		all := bands(runs[i])
		for _, n := range all {
			if n != tau {
				t.Errorf("job %d: ran for %v rounds, want %d at a time", i, all, tau)
				break
			}
		}
		if len(all) < 3 {
			t.Errorf("job %d: %d turns in %d rounds, want several: %v", i, len(all), rounds, runs[i])
		}
	}
	if turns == 0 {
		t.Error("no job waited because its turn was over")
	}
}

// Without it, "Sia simply picks one to execute till completion" (§3.5.6).
func TestTimeShare_off_runs_some_to_completion(t *testing.T) {
	runs, _ := play(t, 5, 20, 0)
	ran := 0
	for i := range runs {
		if all := bands(runs[i]); len(all) > 0 {
			t.Errorf("job %d: preempted after %v rounds, want never", i, all)
		}
		if runs[i][0] {
			ran++
		}
	}
	if ran != 2 {
		t.Errorf("%d jobs run, want 2", ran)
	}
}

// The penalty acts only while jobs need more GPUs than there are.
// A job that can never run, and one that is profiled, need none.
func TestTimeShare_preempts_nobody_without_congestion(t *testing.T) {
	runs, _ := play(t, 2, 20, 3*time.Minute)
	for i := range runs {
		if all := bands(runs[i]); len(all) > 0 || !runs[i][0] {
			t.Errorf("job %d: ran for %v rounds, want all the time", i, all)
		}
	}
	profiled := waiting("p", linear{})
	profiled.Phase = job.Profiling
	s := snapshot(fleet(t, shape{"X", 1, 2}), profiled, waiting("huge", linear{}, rigid(64)), waiting("a", linear{}), waiting("b", linear{}))
	p := newPolicy(t, DefaultOptions())
	congested := func() bool {
		rows, err := p.prepare(s)
		if err != nil {
			t.Fatal(err)
		}
		return p.congested(rows)
	}
	if congested() {
		t.Error("two jobs on two GPUs are congested")
	}
	s.Jobs = append(s.Jobs, waiting("c", linear{}))
	if !congested() {
		t.Error("three jobs on two GPUs are not congested")
	}
}
