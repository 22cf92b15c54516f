package mmkp_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/oxgang/oxgang/internal/rng"
	"github.com/oxgang/oxgang/opt/mmkp"
)

// types is the number of GPU types of the thesis' large clusters (ch. 4).
const types = 7

// lambda and the power p = -1/2 are Sia's defaults.
const lambda = 1.1

// cluster makes rounds of Sia's shape. A job may have 1, 2, 4 or 8 GPUs of a type, or whole nodes of 8. For eight
// jobs in ten the goodput on n GPUs is s n / (1 + (n/m)²), with a peak at m from 8 to 512, drawn on a logarithmic
// scale; otherwise s n / (1 + √(n/m)), which keeps growing. Several nodes cost a tenth. A choice is worth λ - (r
// G)^p, where G is the goodput over the row's lowest and r the restart factor, 1 for the present choice.
type cluster struct {
	random  *rand.Rand
	nodes   int       // of each type
	amounts []float64 // of the choices of one type
	jobs    []member
	row     []mmkp.Choice
	program *mmkp.Program
	given   int // choices
}

// A member is a job in the cluster.
type member struct {
	id            mmkp.ItemID
	speed, middle [types]float64
	grows         bool
	held          int // the choice it has, -1 for none
	kept          int // the choice that the last adjustment kept
	factor        float64
}

func newCluster(tb testing.TB, gpus, jobs int) *cluster {
	tb.Helper()
	c := &cluster{random: rng.Stream(1, fmt.Sprintf("rounds/%d/%d", gpus, jobs)), nodes: max(1, gpus/types/8)}
	c.amounts = []float64{1, 2, 4}
	for n := range c.nodes {
		c.amounts = append(c.amounts, float64(8*(n+1)))
	}
	capacity := make([]float64, types)
	for k := range capacity {
		capacity[k] = float64(8 * c.nodes)
	}
	var err error
	if c.program, err = mmkp.NewProgram(capacity); err != nil {
		tb.Fatal(err)
	}
	for range jobs {
		c.arrive(tb)
	}
	return c
}

// arrive adds a job and returns the time that took the program.
func (c *cluster) arrive(tb testing.TB) time.Duration {
	m := member{held: -1, kept: -1, factor: 1, grows: c.random.IntN(10) < 2}
	fast := math.Exp(c.random.Float64())
	for k := range types {
		m.speed[k] = math.Exp(fast * float64(k) / types * (0.5 + c.random.Float64()))
		m.middle[k] = 8 * math.Exp(c.random.Float64()*math.Log(64))
	}
	c.write(&m)
	began := clock()
	id, err := c.program.Add(mmkp.Item{Choices: c.row})
	if err == nil {
		err = c.program.Adjust(id, mmkp.Adjustment{Base: lambda, Factor: 1, Kept: -1, KeptFactor: 1})
	}
	took := clock() - began
	if err != nil {
		tb.Fatal(err)
	}
	m.id = id
	c.jobs = append(c.jobs, m)
	return took
}

// write fills c.row with a job's choices, worth -G^p.
func (c *cluster) write(m *member) {
	c.row = c.row[:0]
	lowest := math.Inf(1)
	for k := range types {
		for _, n := range c.amounts {
			goodput := m.speed[k] * n
			if x := n / m.middle[k]; m.grows {
				goodput /= 1 + math.Sqrt(x)
			} else {
				goodput /= 1 + x*x
			}
			if n > 8 {
				goodput *= 0.9
			}
			lowest = min(lowest, goodput)
			c.row = append(c.row, mmkp.Choice{Value: goodput, Use: mmkp.Use{Resource: k, Amount: n}})
		}
	}
	for j := range c.row {
		c.row[j].Value = -math.Sqrt(lowest / c.row[j].Value)
	}
	c.given = types * len(c.amounts)
}

// edit makes the changes of a round: one job in a hundred leaves and as many
// arrive, the rows of one in ten change, and one in three has another restart
// factor. It returns the time that took the program.
func (c *cluster) edit(tb testing.TB, round int) (took time.Duration) {
	n := len(c.jobs)
	for range (n + 99) / 100 {
		at := c.random.IntN(len(c.jobs))
		began := clock()
		if err := c.program.Remove(c.jobs[at].id); err != nil {
			tb.Fatal(err)
		}
		took += clock() - began
		c.jobs = slices.Delete(c.jobs, at, at+1)
	}
	for len(c.jobs) < n {
		took += c.arrive(tb)
	}
	changed := make([]bool, len(c.jobs))
	for i := range c.jobs {
		if changed[i] = c.random.IntN(10) == 0; !changed[i] {
			continue
		}
		m := &c.jobs[i]
		for k := range types {
			m.speed[k] *= math.Exp(0.1 * (c.random.Float64() - 0.5))
			m.middle[k] *= math.Exp(0.1 * (c.random.Float64() - 0.5))
		}
		c.write(m)
		began := clock()
		if err := c.program.Set(m.id, mmkp.Item{Choices: c.row, Keep: m.held}); err != nil {
			tb.Fatal(err)
		}
		took += clock() - began
	}
	restart := make([]float64, len(c.jobs))
	for i := range restart {
		restart[i] = 0.7 + 0.3*c.random.Float64()
	}
	began := clock()
	for i := range c.jobs {
		m := &c.jobs[i]
		if !changed[i] && (i+round)%3 != 0 {
			continue
		}
		factor := 1.0
		if m.held >= 0 {
			factor = 1 / math.Sqrt(restart[i])
		}
		m.kept, m.factor = m.held, factor
		if err := c.program.Adjust(m.id, mmkp.Adjustment{Base: lambda, Factor: factor, Kept: m.held, KeptFactor: 1}); err != nil {
			tb.Fatal(err)
		}
	}
	return took + clock() - began
}

// hold lets every job have what it was picked for, and returns by how much the
// picks exceed a capacity.
func (c *cluster) hold() (violation float64) {
	used := make([]float64, types)
	for i := range c.jobs {
		m := &c.jobs[i]
		if m.held = c.program.Pick(m.id); m.held >= 0 {
			used[m.held/len(c.amounts)] += c.amounts[m.held%len(c.amounts)]
		}
	}
	for _, u := range used {
		violation = max(violation, u-float64(8*c.nodes))
	}
	return violation
}

// BenchmarkRound measures warm rounds: the edits and the solve, but not what the
// cluster needs to make its rows.
func BenchmarkRound(b *testing.B) {
	for _, size := range []struct{ gpus, jobs int }{{64, 100}, {10_000, 1_400}, {25_000, 3_500}, {100_000, 14_000}} {
		b.Run(fmt.Sprintf("gpus=%d", size.gpus), func(b *testing.B) { rounds(b, size.gpus, size.jobs) })
	}
}

func rounds(b *testing.B, gpus, jobs int) {
	before := heap()
	c := newCluster(b, gpus, jobs)
	began := clock()
	if _, err := c.program.Solve(b.Context(), mmkp.DefaultOptions()); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(0, "ns/op")
	cold := clock() - began
	c.hold()
	var edits, solves, total []float64
	gap, violation, steps, nodes := 0.0, 0.0, 0, 0
	for round := 0; b.Loop(); round++ {
		edit := c.edit(b, round)
		began := clock()
		s, err := c.program.Solve(b.Context(), mmkp.DefaultOptions())
		solve := clock() - began
		if err != nil {
			b.Fatal(err)
		}
		edits = append(edits, edit.Seconds()*1e3)
		solves = append(solves, solve.Seconds()*1e3)
		total = append(total, (edit+solve).Seconds()*1e3)
		violation = max(violation, c.hold())
		gap = max(gap, s.Gap)
		steps += s.Iterations
		nodes += s.Nodes
	}
	n := float64(len(total))
	b.ReportMetric(cold.Seconds()*1e3, "cold-ms")
	b.ReportMetric(at(total, 0.5), "p50-ms")
	b.ReportMetric(at(total, 0.99), "p99-ms")
	b.ReportMetric(at(edits, 0.5), "edit-ms")
	b.ReportMetric(at(solves, 0.5), "solve-ms")
	b.ReportMetric(at(solves, 0.99), "solve99-ms")
	b.ReportMetric(gap, "gap-max")
	b.ReportMetric(violation, "violation")
	b.ReportMetric(float64(steps)/n, "steps")
	b.ReportMetric(float64(nodes)/n, "nodes")
	b.ReportMetric(float64(c.given*len(c.jobs)), "given")
	b.ReportMetric(float64(c.program.Stored()), "kept")
	b.ReportMetric((heap()-before)/(1<<20), "heap-MiB")
	runtime.KeepAlive(c)
}

// at returns a quantile of x, which it sorts.
func at(x []float64, q float64) float64 {
	slices.Sort(x)
	return x[int(q*float64(len(x)-1)+0.5)]
}

// heap returns the bytes in use.
func heap() float64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

// problem writes what the cluster's program stands for: each job adjusted as in
// the last round.
func (c *cluster) problem() *mmkp.Problem {
	p := &mmkp.Problem{}
	for range types {
		p.Capacity = append(p.Capacity, float64(8*c.nodes))
	}
	for i := range c.jobs {
		m := &c.jobs[i]
		c.write(m)
		it := mmkp.Item{Choices: append([]mmkp.Choice(nil), c.row...)}
		for j := range it.Choices {
			if m.kept != j {
				it.Choices[j].Value *= m.factor
			}
			it.Choices[j].Value += lambda
		}
		p.Items = append(p.Items, it)
	}
	return p
}
