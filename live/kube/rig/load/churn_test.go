package load

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
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

// A churn is jobs that come and go, nodes that are lost and come back, and a scheduler that is killed and started again.
type churn struct {
	*bench
	w       *audit.Watcher
	r       *rand.Rand
	jobs    int           // at a time
	lasts   time.Duration // how long it goes on
	nodes   int
	away    string    // the node that is lost now
	made    int       // jobs so far
	ended   int       // of these, complete
	deleted int       // of these, by their user
	failed  []string  // of these, by nobody's wish
	took    []float64 // from each start of the scheduler until its first plan, s
	memory  int       // of a scheduler, resident, at most, MiB
}

// Of a churn: how often it looks, and what happens less often, in looks.
const (
	churnLook  = 10 * time.Second
	losesNode  = 6  // and the one that was lost before comes back
	killsOurs  = 30 // the scheduler, first after a minute
	jobsLast   = 90 // in looks, in the mean
	endsByUser = 5  // each fifth job that ends is deleted by its user
)

// TestChurn: for half an hour jobs arrive and end, nodes are lost and return, and the scheduler is killed every
// five minutes. At no revision is a GPU assigned twice, no job fails, and at the end pods match plans and no job
// waits that would fit. OXGANG_CHURN=MINUTES,NODES,JOBS sets other numbers.
func TestChurn(t *testing.T) {
	long(t, "0 GPUs over-committed, 0 jobs stuck or failed with 2,000 jobs on 1,000 nodes for 30 minutes; restart time, memory")
	minutes, nodes, jobs := 30, 1000, 2000
	if text := os.Getenv("OXGANG_CHURN"); text != "" {
		if _, err := fmt.Sscanf(text, "%d,%d,%d", &minutes, &nodes, &jobs); err != nil {
			t.Fatalf("OXGANG_CHURN=%s, want MINUTES,NODES,JOBS: %v", text, err)
		}
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	c := &churn{
		bench: start(t, rig.Options{Lean: true, History: true, Nodes: []rig.Nodes{{Type: "a100", Count: nodes}}}),
		r:     rand.New(rand.NewPCG(seed, 1)), jobs: jobs, nodes: nodes, lasts: time.Duration(minutes) * time.Minute,
	}
	c.patience = time.Hour
	c.w = c.follow()
	c.serve()
	q := e2e.Queue("train", v1alpha1.Resize, "oxgang")
	q.Spec.Round = &metav1.Duration{Duration: 5 * time.Second}
	c.ok(c.k.Create(t.Context(), q))
	c.epoch(0)
	c.goesOn()
	c.settles()
	c.judges()
}

// goesOn lets jobs, nodes and schedulers come and go.
func (c *churn) goesOn() {
	c.Helper()
	began := time.Now()
	for look := 1; time.Since(began) < c.lasts; look++ {
		next := time.Now().Add(churnLook)
		running := c.tidies()
		c.ends(running)
		c.submits()
		if look%losesNode == 0 {
			c.losesNode()
		}
		if look%killsOurs == killsOurs/5 {
			c.killsScheduler()
		}
		time.Sleep(time.Until(next))
	}
	if c.away != "" {
		c.ok(c.Return(c.Context(), c.away))
	}
}

// tidies removes jobs that are complete, and returns those that run.
func (c *churn) tidies() (running []*batchv1.Job) {
	c.Helper()
	over := []*batchv1.Job{}
	for _, j := range c.list() {
		switch {
		case j.DeletionTimestamp != nil:
		case condition(j, batchv1.JobFailed):
			c.failed = append(c.failed, j.Name)
			over = append(over, j)
		case condition(j, batchv1.JobComplete):
			c.ended++
			over = append(over, j)
		case j.Status.Active > 0:
			running = append(running, j)
		}
	}
	c.deletes(over)
	return running
}

func (c *churn) list() []*batchv1.Job {
	c.Helper()
	var list batchv1.JobList
	c.ok(c.k.List(c.Context(), &list, client.InNamespace("default")))
	all := make([]*batchv1.Job, len(list.Items))
	for i := range list.Items {
		all[i] = &list.Items[i]
	}
	return all
}

func (c *churn) deletes(jobs []*batchv1.Job) {
	c.Helper()
	c.each(len(jobs), func(ctx context.Context, i int) error {
		return client.IgnoreNotFound(c.k.Delete(ctx, jobs[i], client.PropagationPolicy("Background")))
	})
}

// ends lets some of the jobs that run end, most by themselves and some by their users.
func (c *churn) ends(running []*batchv1.Job) {
	c.Helper()
	c.r.Shuffle(len(running), func(i, k int) { running[i], running[k] = running[k], running[i] })
	some := running[:min(len(running), c.jobs/jobsLast)]
	byUser := len(some) / endsByUser
	c.deletes(some[:byUser])
	c.deleted += byUser
	c.each(len(some)-byUser, func(ctx context.Context, i int) error { return c.exits(ctx, some[byUser+i]) })
}

// exits lets the pods of a job succeed, if all of them run.
func (c *churn) exits(ctx context.Context, j *batchv1.Job) error {
	var pods corev1.PodList
	if err := c.k.List(ctx, &pods, client.InNamespace("default"), client.MatchingLabels{batchv1.JobNameLabel: j.Name}); err != nil {
		return err
	}
	run := 0
	for i := range pods.Items {
		if p := &pods.Items[i]; p.Status.Phase == corev1.PodRunning && p.DeletionTimestamp == nil {
			run++
		}
	}
	if run != len(pods.Items) || run != int(*j.Spec.Parallelism) {
		return nil
	}
	for i := range pods.Items {
		if err := c.Exit(ctx, &pods.Items[i], 0); client.IgnoreNotFound(err) != nil {
			return err
		}
	}
	return nil
}

func (c *churn) submits() {
	c.Helper()
	var jobs []*batchv1.Job
	for missing := c.jobs - (c.made - c.ended - c.deleted - len(c.failed)); missing > 0; missing-- {
		jobs = append(jobs, c.job())
	}
	c.submit(jobs)
}

// job draws a job: five GPUs in the mean, so that a fifth of them waits. A fifth are elastic.
func (c *churn) job() *batchv1.Job {
	shape := [][2]int{{1, 1}, {1, 2}, {1, 4}, {1, 8}, {2, 8}}[c.r.IntN(5)]
	name := fmt.Sprintf("churn-%05d", c.made)
	c.made++
	if shape[1] == 4 {
		return e2e.Job(name, "train", 1, 4, map[string]string{v1alpha1.MinGPUs: "4", v1alpha1.MaxGPUs: "16", v1alpha1.ResizeBy: "Restart"})
	}
	return e2e.Job(name, "train", shape[0], shape[1], nil)
}

// losesNode loses a node, and the one that was lost before is back.
func (c *churn) losesNode() {
	c.Helper()
	if c.away != "" {
		c.ok(c.Return(c.Context(), c.away))
	}
	c.away = fmt.Sprintf("a100-%d", c.r.IntN(c.nodes))
	c.ok(c.Lose(c.Context(), c.away))
}

// killsScheduler kills the scheduler, starts it again, and waits until it has taken the queue over.
func (c *churn) killsScheduler() {
	c.Helper()
	epoch := c.epoch(0)
	c.weighs()
	c.ok(c.oxgang.Kill())
	began := time.Now()
	c.ok(c.oxgang.Restart())
	c.epoch(epoch)
	c.took = append(c.took, time.Since(began).Seconds())
}

// weighs notes the memory of the scheduler that runs.
func (c *churn) weighs() {
	c.Helper()
	c.memory = max(c.memory, c.peak())
}

// settles waits until pods and plans agree and nobody waits for whom there is room.
func (c *churn) settles() {
	c.Helper()
	took := e2e.Until(c.Context(), c, within, "pods and plans agree, and nobody waits for whom there is room", func() error {
		_, err := c.w.Sync(c.Context())
		c.ok(err)
		var bad []audit.Finding
		c.w.Look(func(a *audit.Auditor) { bad = audit.Settled(a.State) })
		if len(bad) > 0 {
			err = fmt.Errorf("%d findings, of them %v", len(bad), bad[:min(len(bad), 10)])
		} else if stuck := c.stuck(); len(stuck) > 0 {
			err = fmt.Errorf("there is room for %d jobs: %v", len(stuck), stuck)
		}
		time.Sleep(time.Second)
		return err
	})
	c.Logf("settled after %v", took.Round(time.Second))
}

// stuck returns the jobs that wait and for whom there are free GPUs on enough nodes.
func (c *churn) stuck() (names []string) {
	c.Helper()
	free := c.free()
	for _, j := range c.list() {
		if j.Status.Active > 0 || j.DeletionTimestamp != nil || condition(j, batchv1.JobComplete) {
			continue
		}
		gpus := j.Spec.Template.Spec.Containers[0].Resources.Limits[rig.GPU]
		room := int32(0)
		for _, n := range free {
			if n >= gpus.Value() {
				room++
			}
		}
		if room >= *j.Spec.Parallelism {
			names = append(names, j.Name)
		}
	}
	return names
}

// free returns how many GPUs of each node no pod has that has not ended.
func (c *churn) free() map[string]int64 {
	c.Helper()
	free := map[string]int64{}
	for i := range c.nodes {
		free[fmt.Sprintf("a100-%d", i)] = 8
	}
	var pods corev1.PodList
	c.ok(c.k.List(c.Context(), &pods, client.InNamespace("default")))
	for i := range pods.Items {
		if p := &pods.Items[i]; p.Status.Phase == corev1.PodRunning || p.Status.Phase == corev1.PodPending {
			gpus := p.Spec.Containers[0].Resources.Limits[rig.GPU]
			free[p.Spec.NodeName] -= gpus.Value()
		}
	}
	return free
}

// judges says what became of all, and fails for what may not be.
func (c *churn) judges() {
	c.Helper()
	found, err := c.w.Stop(c.Context())
	c.ok(err)
	mid, least, most := median(c.took)
	c.weighs()
	c.Logf("%d jobs came, %d complete, %d deleted by their users, %d failed; %d starts of the scheduler, %.1f s until the first plan (%.1f to %.1f); "+
		"%d MiB at most; %.0f rounds since the last, %.2f s in the mean; %d findings", c.made, c.ended, c.deleted, len(c.failed), len(c.took), mid, least, most,
		c.memory, c.metric(roundTime+"_count"), c.metric(roundTime+"_sum")/c.metric(roundTime+"_count"), len(found))
	for _, f := range found[:min(len(found), 20)] {
		c.Error(f)
	}
	if len(c.failed) > 0 {
		c.Errorf("%d jobs failed: %v", len(c.failed), c.failed)
	}
}
