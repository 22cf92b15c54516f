package load

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/rig"
	"github.com/oxgang/oxgang/live/kube/rig/e2e"
	"github.com/oxgang/oxgang/live/kube/rig/eco"
)

// Kueue's performance test, 15,000 workloads in 30 ClusterQueues of 5 cohorts, and beside it the same as
// Jobs with pods: through oxgang-scheduler, and through Kueue with its webhooks and its controller
// of Jobs. One after the other, each with a control plane of its own. OXGANG_BASELINE=0.1 runs a tenth
// of the workloads of each set, at the same intervals.
func TestBaseline_of_Kueue(t *testing.T) {
	long(t, "wall, processor time for each workload, time to admission by class and memory beside Kueue's own performance test")
	part := 1.0
	if text := os.Getenv("OXGANG_BASELINE"); text != "" {
		var err error
		if part, err = strconv.ParseFloat(text, 64); err != nil || part <= 0 || part > 1 {
			t.Fatalf("OXGANG_BASELINE=%s, want a part of 1: %v", text, err)
		}
	}
	all, err := readBaseline(t.Context(), part)
	if err != nil {
		t.Fatal(err)
	}
	t.Run("kueue,workloads", func(t *testing.T) { all.runner(t) })
	t.Run("oxgang", func(t *testing.T) { all.ours(t, true) })
	t.Run("oxgang,equal", func(t *testing.T) { all.ours(t, false) })
	t.Run("kueue,jobs", func(t *testing.T) { all.theirs(t) })
}

// nodes returns the quota of a cohort as nodes: one for each of its queues, with so many GPUs as its nominal quota.
func (all *baseline) nodes() (n []rig.Nodes) {
	cohort := &all.Cohorts[0]
	for i := range cohort.Count {
		name := fmt.Sprintf("%s-%d", cohort.ClassName, i)
		n = append(n, rig.Nodes{
			Name: name, Type: "a100", Count: cohort.QueuesSets[0].Count, GPUs: cohort.QueuesSets[0].NominalQuota,
			Labels: map[string]string{poolLabel: name},
		})
	}
	return n
}

// poolLabel is the label of a node that names its cohort.
const poolLabel = "load.oxgang.dev/pool"

func (all *baseline) begin(t *testing.T) *bench {
	b := start(t, rig.Options{Lean: true, Nodes: all.nodes()})
	b.patience = time.Hour
	return b
}

// runner runs Kueue's own test: its core controllers and its scheduler, with workloads and nothing that they belong to.
func (all *baseline) runner(t *testing.T) {
	b := all.begin(t)
	eco.Define(t, b.Cluster, eco.Kueue)
	bin, err := rig.Build(t.Context(), rig.Baseline)
	b.ok(err)
	out := t.TempDir()
	config := filepath.Join(out, "generator.yaml")
	b.ok(all.write(config))
	kueue, err := b.Run("minimalkueue", filepath.Join(bin, "minimalkueue"), nil, "--kubeconfig", b.Kubeconfig)
	b.ok(err)
	b.beside = append(b.beside, kueue)
	before := b.spent()
	runner, err := b.Run("kueue-runner", filepath.Join(bin, "kueue-runner"), nil, "--kubeconfig", b.Kubeconfig,
		"--o", out, "--generatorConfig", config, "--qps", "1000", "--burst", "2000", "--timeout", "1h")
	b.ok(err)
	summary := filepath.Join(out, "wlStates.csv") // the last that it writes before it removes all
	e2e.Until(t.Context(), t, b.patience, "the end of Kueue's runner", func() error {
		if _, err := os.Stat(summary); err == nil || runner.Running() {
			return err
		}
		b.Fatalf("the runner has ended: %s", runner.Tail())
		return nil
	})
	used := b.spent().since(before)
	text, err := os.ReadFile(filepath.Join(out, "summary.yaml"))
	b.ok(err)
	t.Logf("%s", text)
	b.costs(used, all.workloads(), kueue)
}

// ours runs the jobs through oxgang-scheduler: a queue for each cohort, for the namespaces of its ClusterQueues. The pods of a job name a
// PriorityClass of its class, of Kueue's value; or all priorities are equal.
func (all *baseline) ours(t *testing.T, prior bool) {
	b := all.begin(t)
	all.classes(b, prior)
	b.serve()
	shares := map[string][]v1alpha1.NamespaceShare{}
	all.each(func(cohort, queue string) {
		b.namespace(queue)
		shares[cohort] = append(shares[cohort], v1alpha1.NamespaceShare{Name: queue, Weight: 1})
	})
	for cohort, names := range shares {
		q := e2e.Queue(cohort, v1alpha1.Resize, "oxgang")
		q.Spec.Namespaces, q.Spec.NodeSelector = names, map[string]string{poolLabel: cohort}
		b.ok(b.k.Create(t.Context(), q))
	}
	p := b.pulse()
	b.plays(all, b.oxgang, func(cohort, _ string, _ *class) map[string]string {
		return map[string]string{v1alpha1.QueueLabel: cohort}
	}, func(j *batchv1.Job) { j.Spec.Template.Spec.PriorityClassName = j.Labels[classLabel] })
	p.stop()
	t.Logf("%.0f rounds of %d queues, %.3f s in the mean; seconds of all rounds, by stage: %s", p.rounds, len(shares), p.seconds/p.rounds, b.stages())
}

// classes makes a PriorityClass for each class; all of one value, or each of its own.
func (all *baseline) classes(b *bench, prior bool) {
	for _, s := range all.Cohorts[0].QueuesSets[0].WorkloadsSets {
		for _, c := range s.Workloads {
			p := &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: c.ClassName}}
			if prior {
				p.Value = int32(c.Priority)
			}
			b.ok(b.k.Create(b.Context(), p))
		}
	}
}

// theirs runs the jobs through Kueue as it is installed.
func (all *baseline) theirs(t *testing.T) {
	b := all.begin(t)
	eco.Start(t, b.Cluster, eco.Kueue)
	kueue := b.Process("kueue-manager")
	b.beside = append(b.beside, kueue)
	all.each(func(_, queue string) { b.namespace(queue) })
	b.ok(eco.Apply(t.Context(), b.Cluster, all.objects()))
	b.plays(all, kueue, func(_, queue string, c *class) map[string]string {
		return map[string]string{"kueue.x-k8s.io/queue-name": queue, "kueue.x-k8s.io/priority-class": c.ClassName}
	})
}

// plays generates the jobs, with the labels that say who starts them, and waits until all are complete.
func (b *bench) plays(all *baseline, scheduler *rig.Process, labels func(cohort, queue string, c *class) map[string]string, set ...func(*batchv1.Job)) {
	b.Helper()
	s := b.record()
	before := b.spent()
	b.ok(all.generate(b.Context(), func(ctx context.Context, cohort, queue, name string, c *class) error {
		j := c.job(queue, name, labels(cohort, queue, c))
		for _, f := range set {
			f(j)
		}
		return b.k.Create(ctx, j)
	}))
	e2e.Until(b.Context(), b, b.patience, "the end of all jobs", func() error { return s.done(all.workloads()) })
	used := b.spent().since(before)
	b.Logf("%d jobs in %.1f s\n%v", all.workloads(), s.wall().Seconds(), s)
	b.costs(used, all.workloads(), scheduler)
}

func (b *bench) namespace(name string) {
	b.Helper()
	b.ok(b.k.Create(b.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}))
}

// costs says what was used for each workload, and how much memory a scheduler took.
func (b *bench) costs(used cost, workloads int, scheduler *rig.Process) {
	b.Helper()
	var each []string
	for _, name := range []string{scheduler.Name, rig.APIServer, rig.Etcd, rig.Controller, rig.Scheduler, rig.Kwok} {
		each = append(each, fmt.Sprintf("%s %.2f", name, used[name].Seconds()*1000/float64(workloads)))
	}
	b.Logf("processor, ms for each workload: %s; %s takes %d MiB at most, the API server %d", strings.Join(each, ", "),
		scheduler.Name, memory(b, scheduler), memory(b, b.Process(rig.APIServer)))
	var writes []string
	for what, n := range b.written() {
		if n > float64(workloads)/100 {
			writes = append(writes, fmt.Sprintf("%s %.2f", what, n/float64(workloads)))
		}
	}
	slices.Sort(writes)
	b.Logf("writes for each workload: %s", strings.Join(writes, ", "))
}

// objects returns what Kueue is told, as YAML: the queues of the file, with a flavor for the nodes of each cohort, and a class for each priority.
func (all *baseline) objects() string {
	var y strings.Builder
	kind := func(kind, body string, args ...any) {
		fmt.Fprintf(&y, "---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: %s\n%s\n", kind, fmt.Sprintf(body, args...))
	}
	set := &all.Cohorts[0].QueuesSets[0]
	for _, s := range set.WorkloadsSets {
		for _, c := range s.Workloads {
			kind("WorkloadPriorityClass", "metadata: {name: %s}\nvalue: %d", c.ClassName, c.Priority)
		}
	}
	made := map[string]bool{}
	all.each(func(cohort, queue string) {
		if !made[cohort] {
			kind("ResourceFlavor", "metadata: {name: %s}\nspec: {nodeLabels: {%s: %s}}", cohort, poolLabel, cohort)
			made[cohort] = true
		}
		kind("ClusterQueue", `metadata: {name: %s}
spec:
  namespaceSelector: {}
  cohortName: %s
  preemption: {reclaimWithinCohort: %s, withinClusterQueue: %s}
  resourceGroups:
  - coveredResources: [%s]
    flavors: [{name: %s, resources: [{name: %s, nominalQuota: %d, borrowingLimit: %d}]}]`,
			queue, cohort, set.ReclaimWithinCohort, set.WithinClusterQueue, rig.GPU, cohort, rig.GPU, set.NominalQuota, set.BorrowingLimit)
		kind("LocalQueue", "metadata: {name: %s, namespace: %s}\nspec: {clusterQueue: %s}", queue, queue, queue)
	})
	return y.String()
}
