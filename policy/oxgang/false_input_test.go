package oxgang

import (
	"fmt"
	"testing"
	"time"

	"github.com/oxgang/oxgang/model/job"
)

// A job of all GPUs that takes ten hours states a hundredth of that, a hundred times as much, or a year. A job of half an
// hour, submitted ten minutes later, ends within an hour: the limit does not protect a false statement. If the first job
// states nothing, the other waits for it as under EASY.
func TestPlan_false_sizes(t *testing.T) {
	for factor, until := range map[float64]int{0.01: 60, 100: 60, 876: 60, 0: 640} {
		w := newSmall(t, DefaultOptions(), 2, 4)
		w.submit("false", 8, 10*time.Hour)
		spec := *w.s.Jobs[0].Spec
		w.work = map[job.ID]float64{"false": spec.Target}
		spec.Target *= factor
		w.s.Jobs[0].Spec = &spec
		for n := range until {
			if n == 10 {
				w.submit("true", 4, 30*time.Minute)
			}
			w.round()
		}
		if w.has("true") {
			t.Errorf("states %v of its work: a job of half an hour has not ended in minute %d", factor, until)
		}
	}
}

func (w *small) has(id job.ID) bool {
	for _, j := range w.s.Jobs {
		if j.ID == id {
			return true
		}
	}
	return false
}

// A job that is larger than the cluster gets nothing and no promise, and the others end as without it.
func TestPlan_job_larger_than_the_cluster(t *testing.T) {
	w := newSmall(t, DefaultOptions(), 2, 4)
	w.submit("giant", 16, time.Hour)
	w.submit("a", 8, 30*time.Minute)
	for range 31 {
		if has := w.round(); has["giant"] > 0 {
			t.Fatalf("%v have GPUs", has)
		}
		if at, ok := w.p.Promised(w.before)["giant"]; ok {
			t.Fatalf("the giant is promised GPUs at %v", at)
		}
	}
	if w.has("a") {
		t.Error("a job of half an hour has not ended")
	}
}

// Two jobs of all GPUs, submitted together into a busy stream, run one after the other: each starts once.
func TestPlan_two_jobs_of_all_GPUs(t *testing.T) {
	w := newSmall(t, DefaultOptions(), 2, 4)
	starts, before := make(map[job.ID]int), make(map[job.ID]int)
	for n := range 400 {
		if n%15 == 0 && n < 300 {
			w.submit(job.ID(fmt.Sprint("small-", n)), 4, 30*time.Minute)
		}
		if n == 35 {
			w.submit("first", 8, time.Hour)
			w.submit("second", 8, time.Hour)
		}
		has := w.round()
		for _, id := range []job.ID{"first", "second"} {
			if has[id] > 0 && before[id] == 0 {
				starts[id]++
			}
		}
		before = has
		if n == 200 && (w.has("first") || w.has("second")) {
			t.Error("the two have not ended within 165 minutes; under EASY they end after about 145")
		}
	}
	if starts["first"] != 1 || starts["second"] != 1 {
		t.Errorf("starts: %v", starts)
	}
}

// A node fails while a job of all GPUs waits for it, and returns half an hour later. Meanwhile small jobs use the other
// node. The job starts soon after the node is back, although small jobs keep coming.
func TestPlan_node_of_a_reservation_fails(t *testing.T) {
	w := newSmall(t, DefaultOptions(), 2, 4)
	used := 0
	for n := range 150 {
		if n%15 == 0 {
			w.submit(job.ID(fmt.Sprint("small-", n)), 4, 30*time.Minute)
		}
		switch n {
		case 35:
			w.submit("gang", 8, time.Hour)
		case 45:
			w.shrink(clusterOf(t, "a100", 1, 4))
		case 75:
			w.shrink(clusterOf(t, "a100", 2, 4))
		}
		has := w.round()
		if n >= 45 && n < 75 && len(has) > 0 {
			used++
		}
		if has["gang"] == 8 && n >= 45 {
			if used < 25 {
				t.Errorf("the other node was used in %d of 30 minutes", used)
			}
			return
		}
	}
	t.Error("the gang has not started 75 minutes after its node came back")
}
