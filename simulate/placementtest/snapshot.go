// Package placementtest generates snapshots for tests of placement, like those in Synergy §5: servers that state
// their CPUs, jobs of its ten models, and a plan that shares CPUs and memory as if all servers were one.
package placementtest

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/oxgang/oxgang/internal/rng"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
	"github.com/oxgang/oxgang/opt/mmkp"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/simulate/workload"
	"github.com/oxgang/oxgang/simulate/workload/profiles"
)

// GPU is the type of all GPUs in these snapshots.
const GPU = cluster.GPUType("v100")

// A Mix states which models and sizes of jobs are drawn, and how often.
type Mix struct {
	Name  string
	Split [3]int     // per cent of image, language and speech models (§5.1)
	Sizes [4]float64 // per cent of jobs with 1, 2, 4 and 8 GPUs; all 0: 1 GPU each
}

// Kinds returns the mixes of the Synergy paper: single-GPU jobs with three splits, and jobs with several GPUs.
func Kinds() []Mix {
	philly := [4]float64{83.5, 1.4, 6.5, 8.6}
	return []Mix{
		{"single, 20-70-10", [3]int{20, 70, 10}, [4]float64{}},
		{"single, 33-33-33", [3]int{33, 33, 33}, [4]float64{}},
		{"single, 50-0-50", [3]int{50, 0, 50}, [4]float64{}},
		{"multi, 20-70-10", [3]int{20, 70, 10}, philly},
		{"multi, 33-33-33", [3]int{33, 33, 33}, philly},
		{"multi, 50-0-50", [3]int{50, 0, 50}, philly},
	}
}

var tasks = [3][]string{
	{"alexnet", "res18", "res50", "mobilenet", "shufflenet"},
	{"gnmt", "transformer", "lstm"},
	{"m5", "deepspeech"},
}

// A Model is a performance model for tests: throughput is linear in GPUs, and limited by the speed of the input data.
type Model struct {
	PerGPU float64 // samples per second of a GPU that never waits
	Input  *perf.Sensitivity
}

// Throughput implements perf.Model.
func (m *Model) Throughput(a cluster.Allocation, _ job.BatchSize) float64 {
	taken := m.PerGPU * float64(a.GPUs)
	if a.CPUs == 0 || m.Input == nil {
		return taken
	}
	return math.Min(taken, float64(a.GPUs)*m.Input.Rate(a.CPUs/float64(a.GPUs), a.Memory/int64(a.GPUs)))
}

// Efficiency implements perf.Model.
func (*Model) Efficiency(float64) float64 { return 1 }

// StepTime returns zero: unknown.
func (*Model) StepTime(cluster.Allocation) perf.StepTime { return perf.StepTime{} }

// A Generator draws random jobs. Equal seeds draw equal jobs.
type Generator struct {
	mix     Mix
	random  *rand.Rand
	catalog workload.Catalog
	n       int
	// Overhead is the restart overhead of jobs. Default 30 s.
	Overhead time.Duration
}

// NewGenerator returns a generator that draws jobs of a mix.
func NewGenerator(k Mix, seed uint64) *Generator {
	return &Generator{mix: k, random: rng.Stream(seed, "placementtest"), catalog: profiles.Default(), Overhead: 30 * time.Second}
}

// Job draws a waiting job.
func (g *Generator) Job() *policy.Job {
	at, sum := g.random.IntN(g.mix.Split[0]+g.mix.Split[1]+g.mix.Split[2]), 0
	for task, part := range g.mix.Split {
		if sum += part; at < sum {
			return g.job(tasks[task][g.random.IntN(len(tasks[task]))])
		}
	}
	panic("placementtest: shares add up to less than themselves")
}

func (g *Generator) job(model string) *policy.Job {
	input := g.catalog[model].Sensitivity
	g.n++
	spec := &job.Spec{ID: job.ID(fmt.Sprintf("j%05d-%s", g.n, model)), GPUs: g.size(), Adaptivity: job.AnyGPUType, Batch: g.catalog[model].Batch, RestartOverhead: g.Overhead}
	row := &policy.Job{Spec: spec, Perf: &Model{input.CPUs[len(input.CPUs)-1].Rate, input}, Sensitivity: input}
	row.Phase = job.Waiting
	return row
}

func (g *Generator) size() int {
	at := g.random.Float64() * 100
	for k, part := range g.mix.Sizes {
		if at -= part; at < 0 {
			return 1 << k
		}
	}
	return 1
}

// Snapshot draws a cluster of the given number of servers, with 8 GPUs, 24 CPUs and 500 GB each, and jobs that request
// all GPUs.
func (g *Generator) Snapshot(servers int) *policy.Snapshot {
	var nodes []cluster.Node
	for i := range servers {
		nodes = append(nodes, cluster.Node{ID: cluster.NodeID(fmt.Sprintf("v100-%04d", i)), GPUType: GPU, Capacity: cluster.Resources{GPUs: 8, CPUs: 24, Memory: 500e9}})
	}
	c, err := cluster.New(nodes)
	if err != nil {
		panic(err)
	}
	s := &policy.Snapshot{Cluster: c, Length: 5 * time.Minute}
	g.Fill(s)
	return s
}

// Fill adds jobs to a snapshot until they request all GPUs.
func (g *Generator) Fill(s *policy.Snapshot) {
	free := s.Cluster.GPUs()
	for _, j := range s.Jobs {
		free -= j.GPUs
	}
	for free > 0 {
		if j := g.Job(); j.GPUs <= free {
			s.Jobs, free = append(s.Jobs, j), free-j.GPUs
		}
	}
}

// Pooled returns a plan in which every job runs, and an upper bound on Value. The program (1)-(5) of Synergy §4.1.1
// chooses CPUs and memory.
func Pooled(s *policy.Snapshot) (*policy.Plan, float64) {
	t := &s.Cluster.Types()[0]
	prob := &mmkp.Problem{Capacity: []float64{t.CPUs, float64(t.Memory) / 1e9}}
	var cells [][]perf.Cell
	for _, j := range s.Jobs {
		all := j.Cells(j.Perf.(*Model).PerGPU, t, min(j.GPUs, t.PerNode))
		it := mmkp.Item{Must: true}
		for _, c := range all {
			gpus := float64(j.GPUs)
			it.Choices = append(it.Choices, mmkp.Choice{Value: c.Rate / all[0].Rate, Use: mmkp.Use{Resource: 0, Amount: gpus * c.CPUs}, More: []mmkp.Use{{Resource: 1, Amount: gpus * float64(c.Memory) / 1e9}}})
		}
		prob.Items, cells = append(prob.Items, it), append(cells, all)
	}
	o := mmkp.DefaultOptions()
	o.MaxNodes, o.Gap = 1000, 1e-4
	sol, err := mmkp.NewSolver().Solve(context.Background(), prob, nil, o)
	if err != nil {
		panic(err)
	}
	p := &policy.Plan{Fungible: true, Jobs: make([]policy.Decision, len(s.Jobs))}
	for i, j := range s.Jobs {
		c := cells[i][sol.Pick[i]]
		a := &p.Jobs[i].Allocation
		a.Configuration = t.Fewest(j.GPUs)
		a.CPUs, a.Memory = float64(j.GPUs)*c.CPUs, int64(j.GPUs)*c.Memory
	}
	return p, sol.Bound
}

// Value returns the sum of Relative over the jobs of plan p.
func Value(s *policy.Snapshot, p *policy.Plan) float64 {
	sum := 0.0
	for i, j := range s.Jobs {
		sum += Relative(s, j, &p.Jobs[i])
	}
	return sum
}

// Relative returns a job's speed under decision d divided by its speed with the share proportional to GPUs, or 0
// without GPUs.
func Relative(s *policy.Snapshot, j *policy.Job, d *policy.Decision) float64 {
	if d.Allocation.GPUs == 0 || j.Perf == nil {
		return 0
	}
	t, _ := s.Cluster.Type(d.Allocation.GPUType)
	b := job.BatchSize{Local: 1}
	return j.Perf.Throughput(d.Allocation, b) / j.Perf.Throughput(t.Proportional(d.Allocation.Configuration), b)
}

// Next returns the snapshot one round after plan p of snapshot s. Jobs hold what p granted, every leave-th job has
// ended, and new jobs have arrived.
func (g *Generator) Next(s *policy.Snapshot, p *policy.Plan, leave int) *policy.Snapshot {
	next := *s
	next.Round++
	next.Jobs = nil
	for i, j := range s.Jobs {
		if leave > 0 && (i+next.Round)%leave == 0 {
			continue
		}
		row := *j
		row.Phase, row.Allocation, row.Placement = job.Running, p.Jobs[i].Allocation, p.Jobs[i].Placement
		if row.Allocation.GPUs == 0 {
			row.Phase = job.Waiting
		}
		next.Jobs = append(next.Jobs, &row)
	}
	g.Fill(&next)
	return &next
}

// Shuffle returns s and p with the jobs in another order, and the old index of each job.
func Shuffle(s *policy.Snapshot, p *policy.Plan, seed uint64) (*policy.Snapshot, *policy.Plan, []int) {
	order := rng.Stream(seed, "shuffle").Perm(len(s.Jobs))
	s2, p2 := *s, *p
	s2.Jobs, p2.Jobs = slices.Clone(s.Jobs), slices.Clone(p.Jobs)
	for to, from := range order {
		s2.Jobs[to], p2.Jobs[to] = s.Jobs[from], p.Jobs[from]
	}
	return &s2, &p2, order
}
