package slurm

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/oxgang/oxgang/internal/rng"
	"github.com/oxgang/oxgang/live/slurm/client"
	"github.com/oxgang/oxgang/live/slurm/slurmtest"
	"github.com/oxgang/oxgang/scheduler/metrics/statistics"
)

// A light job of a trace; a rigid one has one size.
type lightJob struct {
	after              time.Duration // that of the one before
	least, asked, most int           // GPUs
	steps              float64
	limit              time.Duration // that its user gives it, of the size that is asked for
	kind               string        // of GPU; empty: any
}

// lightTrace draws 50 jobs. Times between them are exponential with mean 3.5 s. Durations are log-normal, median
// 60 s, sigma 0.8, between 15 and 240 s; time limits are one to four times that, rounded up to minutes. Six of ten
// jobs are elastic, from a quarter to four times the request within 1 to 16; a third of the others requests each
// type.
func lightTrace(seed uint64) []lightJob {
	r := rng.Stream(seed, "light")
	all := make([]lightJob, 50)
	for i := range all {
		lasts := min(max(60*math.Exp(0.8*r.NormFloat64()), 15), 240)
		j := lightJob{after: time.Duration(r.ExpFloat64() * 3.5 * float64(time.Second)), asked: sized(r)}
		step, _ := stepTime(j.asked)
		j.steps, j.limit = lasts/step, time.Duration(math.Ceil(lasts*(1+3*r.Float64())/60))*time.Minute
		if j.least, j.most = j.asked, j.asked; r.IntN(10) < 6 {
			j.least, j.most = max(1, j.asked/4), min(16, 4*j.asked)
		} else {
			j.kind = []string{"", "a100", "h100"}[r.IntN(3)]
		}
		all[i] = j
	}
	return all
}

// limitOn returns the limit on so many GPUs.
func (j *lightJob) limitOn(gpus int) time.Duration {
	step, _ := stepTime(gpus)
	asked, _ := stepTime(j.asked)
	return time.Duration(float64(j.limit) * step / asked)
}

// A play is a trace on a Slurm of its own. Without a scheduler each job has one size from its submission on.
type play struct {
	name string
	size func(*lightJob) int
	jct  []float64 // seconds, by job
}

// plays of one trace, the first with the scheduler.
func plays() []*play {
	return []*play{
		{name: "resize"},
		{name: "Slurm alone, as asked", size: func(j *lightJob) int { return j.asked }},
		{name: "Slurm alone, at least", size: func(j *lightJob) int { return j.least }},
		{name: "Slurm alone, at most", size: func(j *lightJob) int { return j.most }},
	}
}

// TestRig_jct compares the mean JCT of traces of 50 jobs on 8 nodes of 8 GPUs of two types, in mode resize, with
// Slurms that run only multifactor priorities and backfill, where elastic jobs have their requested, smallest or
// largest size. Journals replay to the same plans, and no GPU is held twice. OXGANG_LONG=1 runs it.
func TestRig_jct(t *testing.T) {
	if os.Getenv("OXGANG_LONG") == "" {
		t.Skip("half an hour: OXGANG_LONG=1 runs it")
	}
	logs := map[string][]float64{}
	for seed := uint64(1); seed <= 4; seed++ {
		all := plays()
		t.Run(fmt.Sprint(seed), func(t *testing.T) { playAll(t, seed, all) })
		if slices.ContainsFunc(all, func(p *play) bool { return p.jct == nil }) {
			continue
		}
		for _, p := range all {
			ratio := mean(all[0].jct) / mean(p.jct)
			t.Logf("trace %d: %s: JCT %s; resize has %.2f of the mean", seed, p.name, told(p.jct), ratio)
			logs[p.name] = append(logs[p.name], math.Log(ratio))
		}
	}
	for _, p := range plays()[1:] {
		i := statistics.MeanInterval(logs[p.name], 0.95)
		t.Logf("mean JCT with mode resize, of that of %s: %.2f (95 %%: %.2f to %.2f), geometric mean of %d traces", p.name, math.Exp(i.Mean), math.Exp(i.Low), math.Exp(i.High), i.N)
	}
}

// playAll plays a trace in all ways at once.
func playAll(t *testing.T, seed uint64, all []*play) {
	g, ctx := errgroup.WithContext(t.Context())
	nodes := slurmtest.Options{
		Groups: []slurmtest.Group{{Prefix: "a", Nodes: 4, Type: "a100", GPUs: 8}, {Prefix: "h", Nodes: 4, Type: "h100", GPUs: 8}},
		Lines:  []string{"KillWait=5", "MinJobAge=3600", "PriorityMaxAge=02:48:00", "PriorityWeightJobSize=0"},
	}
	th := newTheatreOn(t, nodes, 8, func(*Config) {})
	th.kill()
	state := filepath.Join(th.dir, "state")
	th.with = func(c *Config) {
		c.State, c.Agents = state, Agents{Listen: "127.0.0.1:0", Names: []string{"localhost"}, Share: filepath.Join(th.dir, "share")}
		c.Policy, c.Settings, c.Round, c.Grace = "", nil, 5*time.Second, 30*time.Second // the default policy
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("journals and records: %s", keep(t, state))
		}
	})
	th.lead()
	for _, p := range all {
		r, dir := th.Rig, th.dir
		if p.size != nil {
			r, dir = slurmtest.Start(t, nodes), t.TempDir()
		}
		g.Go(func() (err error) {
			if p.jct, err = p.through(ctx, r, dir, lightTrace(seed)); err != nil {
				err = fmt.Errorf("%s: %w", p.name, err)
			}
			return err
		})
	}
	if err := g.Wait(); err != nil {
		t.Fatal(err)
	}
	th.kill()
	th.unharmed("jct")
	th.replays(state)
}

// through plays a trace, and returns how long each job took from its submission to its end.
func (p *play) through(ctx context.Context, r *slurmtest.Rig, dir string, trace []lightJob) ([]float64, error) {
	came, next := map[client.ID]time.Time{}, time.Now()
	for i := range trace {
		next = next.Add(trace[i].after)
		time.Sleep(time.Until(next))
		id, err := p.submit(ctx, r, dir, i, &trace[i])
		if err != nil {
			return nil, err
		}
		came[id] = time.Now()
	}
	return whenEnded(ctx, r, len(trace), func(j *client.Job) float64 { return j.End.Sub(came[j.ID]).Seconds() }, func(j *client.Job) []byte {
		text, _ := os.ReadFile(filepath.Join(dir, j.Name+".out"))
		return text
	})
}

// submit submits a job: as an elastic one with a token, or of one size.
func (p *play) submit(ctx context.Context, r *slurmtest.Rig, dir string, i int, j *lightJob) (client.ID, error) {
	b := client.ElasticJob{
		Request: client.Request{Part: client.Elastic, Min: j.least, Max: j.most, Type: j.kind}, Token: client.NewToken("root"),
		Name: "j" + strconv.Itoa(i), Output: filepath.Join(dir, "j"+strconv.Itoa(i)+".out"), Grace: 30 * time.Second,
	}
	if p.size != nil {
		b.Request.Min, b.Token = p.size(j), ""
		b.Request.Max = b.Request.Min
	}
	b.Limit = j.limitOn(b.Request.Min)
	var err error
	if b.Command, err = lightCommand(j.steps, filepath.Join(dir, b.Name)); err != nil {
		return 0, err
	}
	script, err := b.Script()
	if err != nil {
		return 0, err
	}
	options, err := b.Options(8)
	if err != nil {
		return 0, err
	}
	if options = append(options, "--chdir="+dir); p.size != nil {
		options = append(options, "--comment=") // it takes no part
		if j.kind != "" {
			options = append(options, fmt.Sprintf("--gres=gpu:%s:%d", j.kind, min(8, b.Request.Min)))
		}
	}
	return r.Client().Submit(ctx, script, options...)
}
