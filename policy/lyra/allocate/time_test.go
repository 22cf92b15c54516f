package allocate_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/oxgang/oxgang/internal/rng"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy/lyra/allocate"
)

// A testPool plays rounds of a minute on one pool of GPUs.
type testPool struct {
	free, total int
	jobs        []allocate.Job
	changes     int // of the workers of running jobs
	done        int
}

// round plans, and lets a minute pass.
func (w *testPool) round(t *testing.T, o allocate.Options) {
	t.Helper()
	pools := allocate.Capacity{{Free: w.free, Total: w.total, PerGPU: 1}, {PerGPU: 3}}
	plan := must(t, w.jobs, pools, o)
	w.free = plan.Left[allocate.Training].Free
	var left []allocate.Job
	for i, j := range w.jobs {
		if n := j.Has.Total(); n > 0 && n != plan.Grants[i].Has.Total() {
			w.changes++
		}
		j.Has = plan.Grants[i].Has
		workers := j.Has.Total()
		if j.Work -= time.Duration(workers) * time.Minute; j.Work > 0 {
			left = append(left, j)
			continue
		}
		w.free += workers * j.GPUs
		w.done++
	}
	w.jobs = left
}

// starts returns after how long a job of all eight GPUs starts, where every half hour one of
// four GPUs comes that runs an hour; 0 if it does not within ten days.
func starts(t *testing.T, o allocate.Options) time.Duration {
	t.Helper()
	w := &testPool{free: 8, total: 8}
	for minute := range 10 * 24 * 60 {
		if minute%30 == 0 {
			w.jobs = append(w.jobs, rigid(job.ID(fmt.Sprint(minute)), 4, hour))
		}
		if minute == 60 {
			w.jobs = append(w.jobs, rigid("large", 8, 5*hour))
		}
		w.round(t, o)
		for _, j := range w.jobs {
			if j.ID == "large" && j.Has.Total() > 0 {
				return time.Duration(minute-60) * time.Minute
			}
		}
	}
	return 0
}

// "We schedule them first with all available resources to minimize the average JCT. This
// also avoids starvation." It does not: a large job never starts. Source: Lyra §5.2.
func TestPaper_shortest_job_first_starves_large_jobs(t *testing.T) {
	if after := starts(t, allocate.Options{}); after != 0 {
		t.Errorf("by the paper's rule the large job starts after %s", after)
	}
}

// churn plays twelve elastic jobs with imperfect progress, which is reported with noise of
// up to a tenth, and returns changes of workers and the mean JCT in minutes.
func churn(t *testing.T, o allocate.Options) (changes int, mean float64) {
	t.Helper()
	w := &testPool{free: 40, total: 40}
	for i := range 12 {
		w.jobs = append(w.jobs, allocate.Job{ID: job.ID(fmt.Sprint(i)), GPUs: 1, Min: 2, Max: 6, Work: time.Duration(600+i) * time.Minute})
	}
	noise, sum := rng.Stream(1, "progress"), 0.0
	for minute := 1; len(w.jobs) > 0; minute++ {
		done := w.done
		w.round(t, o)
		sum += float64(minute * (w.done - done))
		for i := range w.jobs {
			w.jobs[i].Work += time.Duration(noise.Float64() * float64(time.Minute))
		}
	}
	return w.changes, sum / 12
}

// Twelve like jobs pass each other as they progress. If changes are free, workers follow the
// job that has a little more to do, round after round.
func TestAllocate_workers_do_not_go_back_and_forth(t *testing.T) {
	changes, mean := churn(t, allocate.Options{})
	calm, calmMean := churn(t, allocate.DefaultOptions())
	t.Logf("%d changes, mean JCT %.0f min; with a pause %d, %.0f min", changes, mean, calm, calmMean)
	if changes < 10*calm || calm == 0 {
		t.Errorf("%d changes without, %d with a pause, want a tenth", changes, calm)
	}
	if calmMean > 1.02*mean {
		t.Errorf("mean JCT %g min with a pause, %g without", calmMean, mean)
	}
}

// A job that keeps its workers saves what they save, as one does that starts; one that must
// change them, a pause less.
func TestAllocate_saved_is_less_pauses(t *testing.T) {
	o := allocate.DefaultOptions()
	j := allocate.Job{ID: "j", GPUs: 1, Min: 1, Max: 2, Work: 2 * hour, Has: allocate.Workers{2}}
	kept := must(t, []allocate.Job{j}, training(2), o)
	j.Has[0] = 1
	grown := must(t, []allocate.Job{j}, training(2), o)
	starts := must(t, []allocate.Job{mixed("j", 1, 2, 1, allocate.Workers{})}, loan(1, 3), o)
	if !near(starts.Saved, 4*3600) {
		t.Errorf("a job that starts saves %g, want 14400", starts.Saved)
	}
	if !near(kept.Saved, 3600) || !near(grown.Saved, 3600-63) || !near(grown.Bound, grown.Saved) {
		t.Errorf("saves %g and %g, want 3600 and 3537", kept.Saved, grown.Saved)
	}
}
