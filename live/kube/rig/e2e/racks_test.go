package e2e

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/rig"
	"github.com/oxgang/oxgang/live/kube/rig/audit"
)

// TestRacks: on 100 nodes in 8 racks, whose neighbours by name are in different racks, jobs come and end under oxgang: of those
// on several nodes, all of which a rack could hold, at least 95 % run in one.
func TestRacks(t *testing.T) {
	long(t, "of the starts on several nodes 95 % or more were in one rack")
	const jobs, target = 150, 0.95
	var nodes []rig.Nodes
	for i := range 100 {
		nodes = append(nodes, rig.Nodes{Name: fmt.Sprintf("n%02d", i), Type: "a100", Count: 1, Labels: map[string]string{"topology.kubernetes.io/rack": rackOf(i)}})
	}
	b := &racks{bench: newBench(t, nodes...), r: rand.New(rand.NewPCG(1, 1)), spans: spans{}}
	Serve(t, b.Cluster, Setup{})
	b.bench.create(Queue("train", v1alpha1.Resize, "oxgang"))
	h := b.follow(t, "train", b.spans)
	for i := range jobs {
		b.bench.create(b.job(i))
		time.Sleep(b.pause())
		b.end()
	}
	Until(t.Context(), t, 10*time.Minute, "all jobs are complete", func() error {
		if left := b.end(); left > 0 {
			return errNot("%d are not", left)
		}
		return nil
	})
	if found := h.findings(); len(found) > 0 {
		t.Errorf("%d findings:%s", len(found), lines(found))
	}
	gangs, in := b.spans.count()
	t.Logf("%d starts on several nodes, %d (%.1f %%) in one rack", gangs, in, 100*float64(in)/float64(gangs))
	if gangs < jobs/2 || float64(in) < target*float64(gangs) {
		t.Errorf("%d of %d, want %.0f %% of at least %d", in, gangs, 100*target, jobs/2)
	}
}

func rackOf(i int) string { return fmt.Sprint("rack-", i%8) }

// A racks is a cluster with racks, and jobs that come and end.
type racks struct {
	*bench
	r     *rand.Rand
	spans spans
}

// lasts is the annotation that says for how long the pods of a job run.
const lasts = "rig.oxgang.dev/lasts"

// job returns a job of a part of a node to twelve nodes, which runs for 5 to 30 s.
func (b *racks) job(i int) *batchv1.Job {
	shape := [][2]int{{1, 4}, {1, 8}, {2, 8}, {2, 8}, {3, 8}, {4, 8}, {6, 8}, {8, 8}, {12, 8}}[b.r.IntN(9)]
	d := time.Duration(5+b.r.IntN(25)) * time.Second
	return Job(fmt.Sprintf("job-%03d", i), "train", shape[0], shape[1], map[string]string{v1alpha1.RunSeconds: fmt.Sprint(int(d.Seconds())), lasts: d.String()})
}

// pause is the time until the next job comes: so that nine tenths of the nodes are asked for.
func (b *racks) pause() time.Duration {
	return time.Duration(b.r.ExpFloat64() * float64(900*time.Millisecond))
}

// end lets the pods succeed that have run for as long as their jobs say, and returns how many jobs are not complete.
func (b *racks) end() (left int) {
	b.Helper()
	var jobs batchv1.JobList
	var pods corev1.PodList
	if err := b.k.List(b.Context(), &jobs); err != nil {
		b.Fatal(err)
	}
	if err := b.k.List(b.Context(), &pods, client.InNamespace("default")); err != nil {
		b.Fatal(err)
	}
	for i := range jobs.Items {
		j := &jobs.Items[i]
		if j.Status.CompletionTime != nil {
			continue
		}
		left++
		b.endPods(j, pods.Items)
	}
	return left
}

// endPods lets those pods of a job succeed that have run for long enough.
func (b *racks) endPods(j *batchv1.Job, pods []corev1.Pod) {
	b.Helper()
	d, err := time.ParseDuration(j.Annotations[lasts])
	if err != nil {
		b.Fatal(err)
	}
	for i := range pods {
		p := &pods[i]
		if p.Labels[batchv1.JobNameLabel] != j.Name || p.Status.Phase != corev1.PodRunning || p.DeletionTimestamp != nil || p.Annotations[rig.ExitCode] != "" || time.Since(p.Status.StartTime.Time) < d {
			continue
		}
		if err := b.Exit(b.Context(), p, 0); client.IgnoreNotFound(err) != nil {
			b.Fatal(err)
		}
	}
}

// spans are the nodes that each start of a job runs on.
type spans map[string]map[string]bool

// Name implements [audit.Check].
func (spans) Name() string { return "spans" }

// See implements [audit.Check].
func (k spans) See(_ *audit.State, c *audit.Change) []audit.Finding {
	p, ok := podOf(c.New)
	if !ok || p.Spec.NodeName == "" {
		return nil
	}
	start := p.Labels[v1alpha1.JobUID] + " " + p.Labels[v1alpha1.Generation]
	if k[start] == nil {
		k[start] = map[string]bool{}
	}
	k[start][p.Spec.NodeName] = true
	return nil
}

// count returns how many starts are on several nodes, and how many of those are in one rack.
func (k spans) count() (gangs, in int) {
	for _, nodes := range k {
		racks := map[string]bool{}
		for name := range nodes {
			var i int
			if _, err := fmt.Sscanf(strings.TrimPrefix(name, "n"), "%d-", &i); err == nil {
				racks[rackOf(i)] = true
			}
		}
		if len(nodes) > 1 {
			gangs++
			in += count(len(racks) == 1)
		}
	}
	return gangs, in
}
