package load

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/rig"
	"github.com/oxgang/oxgang/live/kube/rig/audit"
	"github.com/oxgang/oxgang/live/kube/rig/e2e"
)

// What a queue of thousands may take.
const (
	mostRound  = 5.0 // seconds from the snapshot until the plan is written
	mostMemory = 600 // MiB of the scheduler, resident, at most
	mostWrites = 3.0 // of the scheduler's, for each start; conditions that are put off are not in it
)

// Thousands of jobs come to one queue at once, a GPU each. Rounds go on meanwhile, and when some
// of the jobs are deleted those that waited start. OXGANG_MANY=NODES,JOBS asks for other numbers.
func TestMany(t *testing.T) {
	long(t, "rounds, memory and writes with 4,000 jobs on 500 nodes, and 10,000 on 1,000")
	sizes := [][2]int{{500, 4000}, {1000, 10000}}
	if text := os.Getenv("OXGANG_MANY"); text != "" {
		var one [2]int
		if _, err := fmt.Sscanf(text, "%d,%d", &one[0], &one[1]); err != nil {
			t.Fatalf("OXGANG_MANY=%s, want NODES,JOBS: %v", text, err)
		}
		sizes = [][2]int{one}
	}
	for _, size := range sizes {
		t.Run(fmt.Sprintf("nodes=%d,jobs=%d", size[0], size[1]), func(t *testing.T) { many(t, size[0], size[1]) })
	}
}

func many(t *testing.T, nodes, n int) {
	b := start(t, rig.Options{Lean: true, History: true, Nodes: []rig.Nodes{{Type: "a100", Count: nodes}}})
	b.patience = time.Hour
	w := b.follow()
	b.serve()
	b.ok(b.k.Create(t.Context(), e2e.Queue("train", v1alpha1.Resize, "oxgang")))
	b.epoch(0)
	p := b.pulse()
	var jobs []*batchv1.Job
	for i := range n {
		jobs = append(jobs, e2e.Job(fmt.Sprintf("j%d", i), "train", 1, 1, nil))
	}
	fit := min(n, 8*nodes)
	b.writes(w, fit, "the first", func() { b.until(fit, func() { b.submit(jobs) }) })
	if late := n - fit; late > 0 {
		b.writes(w, late, "those that waited", func() { b.end(late); b.run(fit) })
	}
	b.verdict(p.stop())
}

// run waits until so many pods run of which nobody wants the end.
func (b *bench) run(want int) {
	b.Helper()
	pods := b.meta.Resource(corev1.SchemeGroupVersion.WithResource("pods")).Namespace("default")
	for began := time.Now(); ; time.Sleep(5 * time.Second) {
		list, err := pods.List(b.Context(), metav1.ListOptions{FieldSelector: "status.phase=Running"})
		b.ok(err)
		n := 0
		for i := range list.Items {
			if list.Items[i].DeletionTimestamp == nil {
				n++
			}
		}
		if n >= want {
			return
		}
		if time.Since(began) > b.patience {
			b.Fatalf("%d pods run after %v, want %d", n, b.patience, want)
		}
	}
}

// end deletes so many jobs that run, and waits for none of them.
func (b *bench) end(n int) {
	b.Helper()
	var list batchv1.JobList
	b.ok(b.k.List(b.Context(), &list, client.InNamespace("default")))
	var run []*batchv1.Job
	for i := range list.Items {
		if j := &list.Items[i]; j.Status.Active > 0 && len(run) < n {
			run = append(run, j)
		}
	}
	b.each(len(run), func(ctx context.Context, i int) error {
		return b.k.Delete(ctx, run[i], client.PropagationPolicy("Background"))
	})
}

// writes does something that starts so many jobs, and asks how often the scheduler wrote for each.
func (b *bench) writes(w *audit.Watcher, starts int, which string, do func()) {
	b.Helper()
	from, err := w.Sync(b.Context())
	b.ok(err)
	began, before := time.Now(), b.spent()
	do()
	took, used := time.Since(began), b.spent().since(before)
	to, err := w.Sync(b.Context())
	b.ok(err)
	n := 0
	w.Look(func(a *audit.Auditor) {
		for _, name := range ourNames {
			n += a.Log.By(name, from, to)
		}
		b.Log(a.Log.Between(from, to))
	})
	each := float64(n) / float64(starts)
	b.Logf("%s: %d jobs run after %v; %d writes, %.2f for each; processor: scheduler %v, API server %v, etcd %v, controllers %v",
		which, starts, took.Round(time.Second), n, each, used["oxgang-scheduler"], used[rig.APIServer], used[rig.Etcd], used[rig.Controller])
	if each > mostWrites {
		b.Errorf("%s: %.2f writes for each start, want at most %v", which, each, mostWrites)
	}
}

// A pulse is how rounds went on while something else was done.
type pulse struct {
	b       *bench
	cancel  context.CancelFunc
	done    chan struct{}
	rounds  float64       // so far
	seconds float64       // that they took together
	longest float64       // of one of them, at most: of those between two looks together, s
	changed time.Time     // when there were more rounds
	still   time.Duration // without a round, at most
}

const roundTime = "oxgang_round_duration_seconds"

// pulse looks every two seconds how many rounds there were.
func (b *bench) pulse() *pulse {
	ctx, cancel := context.WithCancel(b.Context())
	p := &pulse{b: b, cancel: cancel, done: make(chan struct{}), changed: time.Now()}
	go func() {
		defer close(p.done)
		for ctx.Err() == nil {
			p.look(ctx)
			select {
			case <-ctx.Done():
			case <-time.After(2 * time.Second):
			}
		}
	}()
	return p
}

func (p *pulse) look(ctx context.Context) {
	m, err := e2e.Scrape(ctx, p.b.metrics)
	now := time.Now()
	if n, sum := m.Sum(roundTime+"_count"), m.Sum(roundTime+"_sum"); err == nil && n > p.rounds {
		p.longest = max(p.longest, sum-p.seconds)
		p.rounds, p.seconds, p.changed = n, sum, now
	}
	p.still = max(p.still, now.Sub(p.changed))
}

func (p *pulse) stop() *pulse {
	p.cancel()
	<-p.done
	return p
}

// verdict asks how long rounds took, how long there was none, and how much memory was used.
func (b *bench) verdict(p *pulse) {
	b.Helper()
	memory := b.peak()
	b.Logf("%.0f rounds, %.2f s in the mean, %.1f s at most; at most %v without one; %d MiB at most",
		p.rounds, p.seconds/p.rounds, p.longest, p.still.Round(time.Second), memory)
	b.Logf("seconds of all rounds, by stage: %s", b.stages())
	if p.longest > mostRound || memory > mostMemory {
		b.Errorf("a round of up to %.1f s, and %d MiB; want at most %v s and %d MiB", p.longest, memory, mostRound, mostMemory)
	}
	if p.still > time.Minute {
		b.Errorf("%v without a round, want at most a minute", p.still)
	}
}

// stages returns how long the stages of all rounds took together, s.
func (b *bench) stages() string {
	m, err := e2e.Scrape(b.Context(), b.metrics)
	b.ok(err)
	var all []string
	for _, s := range []string{"snapshot", "policy", "check", "place", "diff", "record", "apply"} {
		all = append(all, fmt.Sprintf("%s %.1f", s, m.Sum("oxgang_round_stage_duration_seconds_sum", `stage="`+s+`"`)))
	}
	return strings.Join(all, ", ")
}

// peak returns the memory of the scheduler that runs, resident, at most, MiB.
func (b *bench) peak() int {
	b.Helper()
	return memory(b, b.oxgang)
}

// memory returns how much memory a program has had at most, resident, MiB.
func memory(b *bench, p *rig.Process) int {
	b.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.PID()))
	b.ok(err)
	_, rest, _ := strings.Cut(string(text), "VmHWM:")
	n, err := strconv.Atoi(strings.Fields(rest)[0])
	b.ok(err)
	return n >> 10
}
