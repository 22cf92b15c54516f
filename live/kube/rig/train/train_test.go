package train

import (
	"context"
	"errors"
	"math"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/oxgang/oxgang/live/agentapi"
	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/rig"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/simulate/workload"
	"github.com/oxgang/oxgang/simulate/workload/profiles"
)

// podsOf returns a pod as a Job's template has it.
func podsOf(j *batchv1.Job) []*corev1.Pod {
	return []*corev1.Pod{{ObjectMeta: j.Spec.Template.ObjectMeta, Spec: j.Spec.Template.Spec}}
}

// A fakeJobs is the Jobs of an agent API: it takes all that job j says, with token "key".
type fakeJobs struct {
	mu          sync.Mutex
	hellos      []agentapi.Hello
	reports     []agentapi.Report
	checkpoints []agentapi.Checkpoint
}

func (w *fakeJobs) Job(_ context.Context, token string) (job.ID, error) {
	if token != "key" {
		return "", agentapi.ErrUnknown
	}
	return "j", nil
}

func (w *fakeJobs) Hello(_ context.Context, _ job.ID, h *agentapi.Hello) (*agentapi.Welcome, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.hellos = append(w.hellos, *h)
	return &agentapi.Welcome{ReportSeconds: 0.3}, nil
}

func (w *fakeJobs) Report(_ context.Context, _ job.ID, r *agentapi.Report) (*agentapi.Answer, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.reports = append(w.reports, *r)
	return &agentapi.Answer{}, nil
}

func (w *fakeJobs) Checkpoint(_ context.Context, _ job.ID, c *agentapi.Checkpoint) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.checkpoints = append(w.checkpoints, *c)
	return nil
}

// said returns how many hellos and reports there were.
func (w *fakeJobs) said() (hellos, reports int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.hellos), len(w.reports)
}

func (w *fakeJobs) saved() float64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.checkpoints[len(w.checkpoints)-1].Progress
}

// seconds is how long the training of the test takes, real time, restarts left out. It is stopped
// after three reports, one in 0.3 s: a machine that is busy may take ten seconds for that.
const seconds = 12

// submit makes a Job of 4 GPUs of generation 1.
func submit(t *testing.T, c *rig.Cluster, a *workload.Arrival, speed float64) {
	t.Helper()
	all, err := Jobs([]workload.Arrival{*a}, As{Namespace: "default", Queue: "q", Speed: speed})
	if err != nil {
		t.Fatal(err)
	}
	j := all[0].Job
	j.Name, j.Spec.Suspend = "train", new(false)
	j.Spec.Template.Labels = map[string]string{v1alpha1.JobUID: "j", v1alpha1.Generation: "1"}
	if _, err := c.Client().BatchV1().Jobs("default").Create(t.Context(), j, v1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// until waits until ok returns true.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
	defer cancel()
	err := rig.Until(ctx, what, func() error {
		if !ok() {
			return errors.New("not yet")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A job is stopped in the middle and goes on from its last checkpoint. What
// it reports passes all checks of the agent API, and is true: the time that it says it
// trained is what its application needs alone.
func TestTrainingGoesOnFromItsCheckpointAndEnds(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a control plane")
	}
	c := rig.Start(t, rig.Options{Nodes: []rig.Nodes{{Type: "NVIDIA-A100", Count: 1}}})
	app, arrival := fixed(t, "cifar10", 4, 512)
	held := cluster.Configuration{Nodes: 1, GPUs: 4, GPUType: "a100"}
	alone := app.Alone(&arrival.Spec, cluster.Allocation{Configuration: held})
	speed := alone / seconds

	w := &fakeJobs{}
	server := agentapi.New(w, agentapi.Options{Rate: 100})
	web := httptest.NewServer(server)
	defer web.Close()
	e, err := New(Options{
		Config: c.Config, Catalog: profiles.Default(), Speed: speed, URL: web.URL,
		Types: map[string]cluster.GPUType{"NVIDIA-A100": "a100"},
		Token: func(*corev1.Pod) (string, error) { return "key", nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- e.Run(ctx) }()
	defer func() {
		stop()
		if err := <-ended; err != nil && !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}()

	arrival.Spec.WorkerGPUs = 2
	submit(t, c, arrival, speed)
	jobs := c.Client().BatchV1().Jobs("default")
	patch := func(data string) {
		t.Helper()
		if _, err := jobs.Patch(t.Context(), "train", types.MergePatchType, []byte(data), v1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	pods := func() *corev1.PodList {
		all, err := c.Client().CoreV1().Pods("default").List(t.Context(), v1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	until(t, "three reports", func() bool { _, n := w.said(); return n >= 3 })
	patch(`{"spec":{"suspend":true}}`)
	until(t, "no pods", func() bool { return len(pods().Items) == 0 })
	until(t, "the end of training", func() bool { return !e.States()["j"].Training })
	saved := w.saved()
	for _, p := range []string{`{"spec":{"template":{"metadata":{"labels":{"oxgang.dev/generation":"2"}}}}}`, `{"spec":{"suspend":false}}`} {
		patch(p)
	}
	until(t, "a complete job", func() bool {
		j, err := jobs.Get(t.Context(), "train", v1.GetOptions{})
		return err == nil && j.Status.Succeeded == 2
	})

	check(t, w, app, saved, alone, speed, arrival.Spec.Target)
	s := e.States()["j"]
	if !s.Done || s.Trouble != nil || s.Starts != 2 || s.Generation != 2 || s.Lost < 0 {
		t.Errorf("state %+v, want one that is done after two starts without trouble", s)
	}
	if bad := server.Quarantined(); len(bad) > 0 {
		t.Errorf("the agent API refused %+v, want nothing", bad)
	}
}

// check looks at what a job said.
func check(t *testing.T, w *fakeJobs, app *workload.Application, saved, alone, speed, target float64) {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.hellos) != 2 || w.hellos[0].Restored != nil || w.hellos[1].Restored == nil || w.hellos[1].Restored.Progress != saved {
		t.Fatalf("hellos %+v, want two, of which the second goes on from %v", w.hellos, saved)
	}
	trained := 0.0
	for _, r := range w.reports {
		trained += r.Interval * speed
		step, sync, _ := app.Speed.Step("a100", []int{4}, r.Batch.Local)
		if math.Abs(r.StepTime*speed/step-1) > 1e-9 || math.Abs(r.SyncTime*speed/sync-1) > 1e-9 {
			t.Errorf("report %+v, want a step of %v s, of which %v s exchange, over %v", r, step, sync, speed)
		}
	}
	if last := w.reports[len(w.reports)-1].Progress; math.Abs(trained/alone-1) > 1e-5 || // the target is a whole number
		math.Abs(last-target) > 1 {
		t.Errorf("trained %v s to %v, want %v s to %v", trained, last, alone, target)
	}
}
