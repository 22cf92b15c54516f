package train

import (
	"math"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/oxgang/oxgang/live/agentapi"
	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/simulate/workload"
	"github.com/oxgang/oxgang/simulate/workload/profiles"
)

func fixed(t *testing.T, name string, gpus, batch int) (*workload.Application, *workload.Arrival) {
	t.Helper()
	catalog := profiles.Default()
	a := &workload.Arrival{Application: name, Spec: job.Spec{ID: "j", GPUs: gpus, BatchSize: batch}}
	if err := catalog.Complete(a); err != nil {
		t.Fatal(err)
	}
	return catalog[name], a
}

func begun(app *workload.Application, a *workload.Arrival, held cluster.Configuration, shape []int) *training {
	t := &training{app: app, total: a.Spec.BatchSize, target: a.Spec.Target}
	t.begin(held, shape, false)
	return t
}

// However time is cut into pieces, a training takes as long as its application says, which
// is computed there without this package.
func TestTrainingTakesAsLongAsItsApplication(t *testing.T) {
	for _, test := range []struct {
		app         string
		gpus, batch int
		on          cluster.GPUType
		shape       []int
	}{
		{"cifar10", 8, 1024, "a100", []int{8}},
		{"bert", 4, 48, "quad", []int{2, 2}},
		{"deepspeech2", 1, 40, "t4", []int{1}},
		{"yolov3", 16, 128, "a100", []int{8, 8}},
	} {
		app, arrival := fixed(t, test.app, test.gpus, test.batch)
		held := cluster.Configuration{Nodes: len(test.shape), GPUs: test.gpus, GPUType: test.on}
		want := app.Alone(&arrival.Spec, cluster.Allocation{Configuration: held})
		for _, piece := range []float64{0.7, 60, 1e9} {
			x := begun(app, arrival, held, test.shape)
			total, delay := 0.0, x.delay
			for !x.done() {
				total += x.advance(piece)
			}
			if math.Abs(total/want-1) > 1e-9 || delay != app.RestartDelay.Seconds() {
				t.Errorf("%s in pieces of %v s: trained for %v s after %v s, want %v s after %v",
					test.app, piece, total, delay, want, app.RestartDelay)
			}
		}
	}
}

func TestTrainingKeepsWhatWasSaved(t *testing.T) {
	app, arrival := fixed(t, "cifar10", 4, 512)
	held := cluster.Configuration{Nodes: 1, GPUs: 4, GPUType: "a100"}
	x := begun(app, arrival, held, []int{4})
	x.advance(100)
	x.save()
	saved := x.progress
	x.advance(50)
	reached := x.progress
	if !(saved > 0 && reached > saved) {
		t.Fatalf("progress %v, then %v, want both to grow", saved, reached)
	}
	x.begin(held, []int{4}, true)
	if x.progress != reached {
		t.Errorf("progress %v after its state survived, want %v", x.progress, reached)
	}
	x.begin(held, []int{4}, false)
	if x.progress != saved || x.step != x.savedStep {
		t.Errorf("progress %v, step %v after a stop, want those saved: %v, %v", x.progress, x.step, saved, x.savedStep)
	}
	if trained := x.advance(app.RestartDelay.Seconds() / 2); trained != 0 || x.progress != saved {
		t.Errorf("trained %v s in half of the restart delay, want 0", trained)
	}
}

func TestTrainingStandsStillWhereItDoesNotRun(t *testing.T) {
	app, arrival := fixed(t, "cifar10", 4, 512)
	x := begun(app, arrival, cluster.Configuration{Nodes: 1, GPUs: 4, GPUType: "abacus"}, []int{4})
	if trained := x.advance(1e6); trained != 0 || x.progress != 0 {
		t.Errorf("trained %v s to %v on what it does not run on, want 0", trained, x.progress)
	}
}

func TestBatchesOfAnswersAreChecked(t *testing.T) {
	app, arrival := fixed(t, "cifar10", 4, 512)
	x := begun(app, arrival, cluster.Configuration{Nodes: 1, GPUs: 4, GPUType: "a100"}, []int{4})
	before := x.batch
	for _, b := range []agentapi.Batch{{Local: -1}, {Accumulation: 3}, {Local: 64, Accumulation: -1}, {Local: 1 << 40}} {
		if err := follow(x, b); err == nil || x.batch != before {
			t.Errorf("batch %+v: error %v, batch %+v, want an error and no change", b, err, x.batch)
		}
	}
	if err := follow(x, agentapi.Batch{Local: 64, Accumulation: 1}); err != nil || x.size() != 4*64*2 {
		t.Errorf("batch of 64 samples and one accumulation on 4 GPUs: %v, %v samples, want 512", err, x.size())
	}
}

func TestOptionsAreChecked(t *testing.T) {
	for _, speed := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		if _, err := New(Options{Speed: speed}); err == nil {
			t.Errorf("speed %v was taken, want an error", speed)
		}
		if _, err := Jobs(nil, As{Speed: speed}); err == nil {
			t.Errorf("speed %v of jobs was taken, want an error", speed)
		}
	}
	for _, s := range []string{"", "0", "-3", "NaN", "Inf", "1e30", "many"} {
		x := 7.0
		if err := parse("samples", s, &x); err == nil || x != 7 {
			t.Errorf("annotation %q: error %v, value %v, want an error and no change", s, err, x)
		}
	}
}

// A gang that grows in one generation keeps its state with one of its pods, and loses what
// it did not save with all of them; its reports are numbered on.
func TestGangThatChangesInOneGeneration(t *testing.T) {
	app, arrival := fixed(t, "cifar10", 4, 512)
	e := &Emulator{o: Options{Catalog: workload.Catalog{"cifar10": app}, Speed: 1}}
	pod := &corev1.Pod{ObjectMeta: v1.ObjectMeta{Annotations: map[string]string{Application: "cifar10", v1alpha1.BatchSize: "512"}}}
	of := func(generation, gpus int, uids ...types.UID) *gang {
		return &gang{
			generation: generation, pods: []*corev1.Pod{pod}, uids: uids, shape: []int{gpus},
			held: cluster.Configuration{Nodes: 1, GPUs: gpus, GPUType: "a100"},
		}
	}
	w := &work{}
	for _, test := range []struct {
		g        *gang
		survives bool
		numbered bool
	}{
		{of(1, 2, "a", "b"), false, false},
		{of(1, 4, "a", "b", "c", "d"), true, true},
		{of(1, 2, "e", "f"), false, true},
		{of(2, 2, "e", "f"), false, false},
	} {
		before, lost, sequence := w.progress, w.lost, w.sequence
		if err := e.begin(w, test.g); err != nil {
			t.Fatal(err)
		}
		if kept := w.progress == before && w.lost == lost; before > 0 && kept != test.survives {
			t.Errorf("gang %v: progress %v, lost %v after %v, want it to survive: %t", test.g.uids, w.progress, w.lost, before, test.survives)
		}
		if numbered := w.sequence == sequence; sequence > 0 && numbered != test.numbered {
			t.Errorf("gang %v: report %d after %d, want it to be numbered on: %t", test.g.uids, w.sequence, sequence, test.numbered)
		}
		if w.target != arrival.Spec.Target || w.size() != 512 {
			t.Errorf("target %v, batch %v, want %v, 512", w.target, w.size(), arrival.Spec.Target)
		}
		w.sequence++
		e.pass(w, 100*time.Second)
		w.pods = nil // as while its pods do not all run
	}
}
