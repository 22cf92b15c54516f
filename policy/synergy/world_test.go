package synergy_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/oxgang/oxgang/internal/rng"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/placement/pack"
	"github.com/oxgang/oxgang/simulate/workload"
	"github.com/oxgang/oxgang/simulate/workload/profiles"
)

// epoch is the time of the test rounds.
var epoch = time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)

// servers returns n of the paper's servers: 8 GPUs, so many cores, 500 GB. Source:
// Synergy §5.1.
func servers(t testing.TB, n int, cores float64) *cluster.Cluster {
	t.Helper()
	var nodes []cluster.Node
	for i := range n {
		nodes = append(nodes, cluster.Node{
			ID: cluster.NodeID(fmt.Sprintf("s%04d", i)), GPUType: "v100", Capacity: cluster.Resources{GPUs: 8, CPUs: cores, Memory: 500e9},
		})
	}
	c, err := cluster.New(nodes)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// A fed is a model that takes in rate samples per second on each GPU, if its input
// pipeline delivers them.
type fed struct {
	rate  float64
	input *perf.Sensitivity
}

func (m *fed) Throughput(a cluster.Allocation, _ job.BatchSize) float64 {
	gpus := float64(a.GPUs)
	if m.input == nil || a.CPUs == 0 {
		return gpus * m.rate
	}
	return gpus * min(m.rate, m.input.Rate(a.CPUs/gpus, a.Memory/int64(a.GPUs)))
}

func (m *fed) Efficiency(float64) float64 { return 1 }

// models are the models of the paper by task, as the catalog knows them. Source:
// Synergy Table 4.
var models = map[string][]string{
	"image":    {"shufflenet", "alexnet", "res18", "mobilenet", "res50"},
	"language": {"gnmt", "lstm", "transformer"},
	"speech":   {"m5", "deepspeech"},
}

// run returns a job of the paper's model that asks for GPUs.
func run(t testing.TB, id job.ID, model string, gpus int) *policy.Job {
	t.Helper()
	app := applications(t)[model]
	if app == nil {
		t.Fatalf("no application %q, want one of %q", model, applications(t).Names())
	}
	step, _, _ := app.Speed.Step("v100", []int{1}, 1)
	m := &fed{rate: 1 / step, input: app.Sensitivity}
	return &policy.Job{
		Spec:   &job.Spec{ID: id, Name: model, GPUs: gpus, Target: 1e5, Batch: job.BatchLimits{Init: 1, Max: 1}},
		Status: job.Status{Phase: job.Waiting, Submitted: epoch, Since: epoch},
		Perf:   m, Sensitivity: m.input,
	}
}

var known workload.Catalog

func applications(t testing.TB) workload.Catalog {
	t.Helper()
	if known == nil {
		known = profiles.Default()
	}
	return known
}

// A split is the percentages of image, language and speech models. Source: Synergy
// §5.1.
type split [3]int

// draw returns a model.
func (s split) draw(r *rand.Rand) string {
	n := r.IntN(100)
	task := "image"
	switch {
	case n >= s[0]+s[1]:
		task = "speech"
	case n >= s[0]:
		task = "language"
	}
	return models[task][r.IntN(len(models[task]))]
}

// sizes draws the GPUs of a job, as in the multi-GPU traces.
func sizes(r *rand.Rand) int {
	switch n := r.Float64(); {
	case n < 0.835:
		return 1
	case n < 0.849:
		return 2
	case n < 0.914:
		return 4
	}
	return 8
}

// draw returns jobs for so many GPUs, and a few more that have to wait.
func draw(t testing.TB, seed uint64, c *cluster.Cluster, of split, multi bool) *policy.Snapshot {
	t.Helper()
	r := rng.Stream(seed, "synergy")
	s := &policy.Snapshot{Now: epoch.Add(time.Hour), Length: 5 * time.Minute, Cluster: c}
	for asked := 0; asked < c.GPUs()*9/8; {
		gpus := 1
		if multi {
			gpus = sizes(r)
		}
		j := run(t, job.ID(fmt.Sprintf("j%05d", len(s.Jobs))), of.draw(r), gpus)
		s.Jobs = append(s.Jobs, j)
		asked += gpus
	}
	return s
}

// follow returns the snapshot after a plan: jobs hold what they got.
func follow(s *policy.Snapshot, p *policy.Plan) *policy.Snapshot {
	n := *s
	n.Round, n.Now, n.Jobs = s.Round+1, s.Now.Add(s.Length), slices.Clone(s.Jobs)
	for i, j := range s.Jobs {
		d := &p.Jobs[i]
		if d.Allocation == j.Allocation && d.Placement.Equal(j.Placement) {
			continue
		}
		row := *j
		row.Allocation, row.Placement = d.Allocation, d.Placement
		if row.Phase = job.Running; d.Allocation.IsZero() {
			row.Phase = job.Waiting
		}
		n.Jobs[i] = &row
	}
	return &n
}

// replace lets so many jobs of a snapshot end, and as many of the same sizes come.
func replace(t testing.TB, s *policy.Snapshot, r *rand.Rand, of split, changes int) {
	t.Helper()
	for range changes {
		i := r.IntN(len(s.Jobs))
		j := run(t, job.ID(fmt.Sprintf("r%d-%d", s.Round, r.Uint64())), of.draw(r), s.Jobs[i].GPUs)
		j.Submitted = s.Now
		s.Jobs = append(slices.Delete(s.Jobs, i, i+1), j)
	}
}

// place completes a plan as the scheduler does, and checks it.
func place(t testing.TB, s *policy.Snapshot, p *policy.Plan) *policy.Plan {
	t.Helper()
	placer, err := pack.New(pack.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	return placeBy(t, placer, s, p)
}

func placeBy(t testing.TB, placer *pack.Placer, s *policy.Snapshot, p *policy.Plan) *policy.Plan {
	t.Helper()
	policy.FillProportional(s, p)
	if err := policy.Check(s, p); err != nil {
		t.Fatal(err)
	}
	p, err := placer.Place(t.Context(), s, p)
	if err == nil {
		err = policy.CheckPlacement(s, p)
	}
	if err == nil {
		err = policy.Check(s, p)
	}
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func (*fed) StepTime(cluster.Allocation) perf.StepTime { return perf.StepTime{} }
