package whatif_test

import (
	"bytes"
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/placement"
	"github.com/oxgang/oxgang/policy/registry"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/scheduler/journal"
	"github.com/oxgang/oxgang/simulate/sim"
	"github.com/oxgang/oxgang/simulate/whatif"
	"github.com/oxgang/oxgang/simulate/workload"
	"github.com/oxgang/oxgang/simulate/workload/profiles"
)

// fresh makes a policy of the table, again and again.
func fresh(name string) func() (policy.Policy, placement.Placer, error) {
	return func() (policy.Policy, placement.Placer, error) {
		p, err := registry.New(name, nil)
		if err != nil {
			return nil, nil, err
		}
		placer, err := registry.NewPlacer("submesh", registry.PlacerOptions{})
		return p, placer, err
	}
}

// A run is a simulated run to make twins of.
type run struct {
	cluster   *cluster.Cluster
	catalog   workload.Catalog
	arrivals  []workload.Arrival
	world     sim.Options
	scheduler scheduler.Options
}

func nodes(t testing.TB, each int, types ...cluster.GPUType) *cluster.Cluster {
	t.Helper()
	var all []cluster.Node
	for i, on := range types {
		all = append(all, cluster.Node{ID: cluster.NodeID(fmt.Sprintf("%s-%d", on, i)), GPUType: on, Capacity: cluster.Resources{GPUs: each}})
	}
	c, err := cluster.New(all)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// mixed is a run of so many jobs of the embedded applications, two thirds of them adaptive,
// whose training is cut down to hours. Nothing is noisy and nothing fails.
func mixed(t testing.TB, jobs int) *run {
	t.Helper()
	r := &run{cluster: nodes(t, 4, "rtx", "rtx", "t4", "t4"), catalog: workload.Catalog{}, world: sim.DefaultOptions(), scheduler: scheduler.DefaultOptions()}
	full := profiles.Default()
	names := []string{"cifar10", "bert", "deepspeech2", "yolov3"}
	for _, name := range names {
		app, curve := *full[name], *full[name].Curve
		curve.Ends = make([]float64, min(20, len(full[name].Curve.Ends)))
		for e := range curve.Ends {
			curve.Ends[e] = full[name].Curve.Ends[e] / max(1, full[name].Curve.Target()/2e6)
		}
		app.Curve = &curve
		r.catalog[name] = &app
	}
	for i := range jobs {
		a := workload.Arrival{At: time.Duration(i) * 4 * time.Minute, Application: names[i%len(names)]}
		a.Spec = job.Spec{ID: job.ID(fmt.Sprintf("j%02d", i)), GPUs: 1 + i%4, Adaptivity: []job.Adaptivity{job.Adaptive, job.StrongScaling, job.Rigid}[i%3]}
		if err := r.catalog.Complete(&a); err != nil {
			t.Fatal(err)
		}
		r.arrivals = append(r.arrivals, a)
	}
	return r
}

func (r *run) record(t testing.TB, name string, obs ...scheduler.Observer) []byte {
	t.Helper()
	var text bytes.Buffer
	w := journal.NewWriter(&text, journal.Header{Tool: "test", Policy: name, Start: sim.Epoch, Round: r.scheduler.Round, Cluster: r.cluster})
	if err := r.play(t, name, func(b scheduler.Backend) scheduler.Backend { return b }, append(obs, w)...); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return text.Bytes()
}

func (r *run) play(t testing.TB, name string, wrap func(scheduler.Backend) scheduler.Backend, obs ...scheduler.Observer) error {
	t.Helper()
	w, err := sim.New(r.cluster, r.catalog, r.arrivals, r.world)
	if err != nil {
		t.Fatal(err)
	}
	p, placer, err := fresh(name)()
	if err != nil {
		t.Fatal(err)
	}
	s, err := scheduler.New(p, placer, r.cluster, r.scheduler)
	if err != nil {
		t.Fatal(err)
	}
	return s.Run(context.Background(), wrap(w), obs...)
}

func reader(t testing.TB, text []byte) *journal.Reader {
	t.Helper()
	r, err := journal.NewReader(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func options(name string) whatif.Options {
	o := whatif.DefaultOptions(fresh(name))
	o.Rounds = 5000
	return o
}
