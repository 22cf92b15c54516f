package e2e

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/rig"
	"github.com/oxgang/oxgang/live/kube/rig/audit"
	"github.com/oxgang/oxgang/live/kube/rig/train"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/simulate/workload"
	"github.com/oxgang/oxgang/simulate/workload/profiles"
)

// A Crowd is many jobs that come to a cluster of three GPU types.
type Crowd struct {
	Nodes  [3]int        // of 8 GPUs each: a100, quad, rtx
	Jobs   int           // of a trace as Sia samples it from Philly
	Most   int           // GPUs of a job
	Window time.Duration // real, in which they come
	Round  time.Duration // real
	Speed  float64       // of trainings
}

func (c *Crowd) nodes() []rig.Nodes {
	all := make([]rig.Nodes, 0, len(c.Nodes))
	for i, gpu := range []string{"a100", "quad", "rtx"} {
		all = append(all, rig.Nodes{Type: gpu, Count: c.Nodes[i]})
	}
	return all
}

// cut is by what trainings are shorter than those of the trace that last longest: a run is to
// take minutes.
var cut = map[string]float64{"imagenet": 20, "bert": 4, "yolov3": 4}

// submissions returns the jobs: of each four two resize in place, one by restarts, one not at
// all; every third, if it is large, has workers of 4 GPUs.
func (c *Crowd) submissions(catalog workload.Catalog) ([]train.Submission, error) {
	arrivals, err := train.PhillyLike(catalog, c.Jobs, 1)
	if err != nil {
		return nil, err
	}
	last := arrivals[len(arrivals)-1].At
	for i := range arrivals {
		a := &arrivals[i]
		a.At = time.Duration(float64(a.At) / float64(last) * float64(c.Window))
		a.Spec.GPUs = min(a.Spec.GPUs, c.Most)
		a.Spec.MaxGPUs = min(4*a.Spec.GPUs, c.Most)
		a.Spec.Target /= max(1, cut[a.Application])
		if a.Spec.GPUs >= 8 && a.Spec.GPUs%4 == 0 && i%3 == 0 {
			a.Spec.WorkerGPUs = 4
			a.Spec.MaxGPUs -= a.Spec.MaxGPUs % 4
		}
		if i%4 == 3 {
			a.Spec.Adaptivity &^= job.GPUCount
		}
	}
	all, err := train.Jobs(arrivals, train.As{Namespace: "default", Queue: "crowd", Speed: c.Speed, Resizing: v1alpha1.Restart})
	for i := range all {
		if says := all[i].Job.Annotations; i%2 == 0 && says[v1alpha1.ResizeBy] != "" {
			says[v1alpha1.ResizeBy] = string(v1alpha1.InPlace)
		}
	}
	return all, err
}

// A Trial is a crowd on its way.
type Trial struct {
	*testing.T
	Crowd
	Cluster *rig.Cluster
	Client  client.Client
	Census  *Census
	Audit   *audit.Watcher
	Metrics string // address
	Journal string // directory
}

// Start starts a cluster and an auditor of all that happens in it.
func (c *Crowd) Start(t *testing.T) *Trial {
	t.Helper()
	r := rig.Start(t, rig.Options{Nodes: c.nodes(), History: true})
	Prepare(t.Context(), t, r)
	n := &Census{}
	w := audit.Follow(r.Etcd(t), audit.New(append(audit.All(2*time.Minute, 2*time.Minute), n)...))
	return &Trial{T: t, Crowd: *c, Cluster: r, Client: Client(t, r.Config), Census: n, Audit: w, Metrics: Address(t), Journal: t.TempDir()}
}

// submit creates the jobs when they come; change is done to each before.
func (l *Trial) submit(ctx context.Context, all []train.Submission, change func(*batchv1.Job)) error {
	began := time.Now()
	for i := range all {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Until(began.Add(all[i].At))):
		}
		j := all[i].Job.DeepCopy()
		change(j)
		if err := l.Client.Create(ctx, j); err != nil {
			return fmt.Errorf("job %s: %w", j.Name, err)
		}
	}
	return nil
}

// train runs the emulator until the test ends, and returns it.
func (l *Trial) train(o train.Options) *train.Emulator {
	l.Helper()
	o.Config, o.Catalog, o.Speed = l.Cluster.Config, profiles.Default(), l.Speed
	e, err := train.New(o)
	if err != nil {
		l.Fatal(err)
	}
	ctx, stop := context.WithCancel(l.Context())
	var running sync.WaitGroup
	running.Go(func() {
		if err := e.Run(ctx); err != nil && ctx.Err() == nil {
			l.Errorf("emulator: %v", err)
		}
	})
	l.Cleanup(func() { stop(); running.Wait() })
	return e
}

// ended returns nothing if all jobs are complete; one that failed fails the test.
func (l *Trial) ended() error {
	var jobs batchv1.JobList
	if err := l.Client.List(l.Context(), &jobs, client.InNamespace("default")); err != nil {
		return err
	}
	complete := 0
	for i := range jobs.Items {
		for _, c := range jobs.Items[i].Status.Conditions {
			if c.Status == corev1.ConditionTrue && c.Type == batchv1.JobFailed {
				l.Fatalf("job %s failed: %s", jobs.Items[i].Name, c.Message)
			}
			if c.Status == corev1.ConditionTrue && c.Type == batchv1.JobComplete {
				complete++
			}
		}
	}
	if complete != l.Jobs {
		return errNot("%d of %d jobs are complete", complete, l.Jobs)
	}
	return nil
}

func (l *Trial) queue(mode v1alpha1.Mode) *v1alpha1.Queue {
	q := Queue("crowd", mode, "oxgang")
	q.Spec.Round = &metav1.Duration{Duration: l.Round}
	return q
}
