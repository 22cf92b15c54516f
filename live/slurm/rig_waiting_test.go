package slurm

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
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

// A coming is a job of a trace in which a minute is a second, but that time limits are in minutes, as Slurm takes
// them.
type coming struct {
	after   time.Duration // that of the one before
	lasts   int           // seconds
	options []string      // of sbatch
}

// sizes are the GPUs that jobs ask for, and how many of a hundred ask for so many.
var sizes = []struct{ gpus, share int }{{1, 45}, {2, 20}, {4, 20}, {8, 12}, {16, 3}}

// traceOf draws 200 jobs: times between them are exponential, with a mean of 0.5 s; they last 8 s in the median, log-normally,
// of sigma 1, between 1 and 60 s; limits are one to four times as long; a third asks for no type of GPU.
func traceOf(seed uint64) []coming {
	r := rng.Stream(seed, "waiting")
	all := make([]coming, 200)
	for i := range all {
		lasts := int(min(max(math.Round(8*math.Exp(r.NormFloat64())), 1), 60))
		limit := int(math.Ceil(float64(lasts) * (1 + 3*r.Float64())))
		kind := []string{"gpu:", "gpu:a100:", "gpu:h100:"}[r.IntN(3)]
		gpus := sized(r)
		all[i] = coming{time.Duration(r.ExpFloat64() * float64(500*time.Millisecond)), lasts, []string{
			"--time=" + strconv.Itoa(limit), "--nodes=" + strconv.Itoa((gpus+7)/8), "--gres=" + kind + strconv.Itoa(min(gpus, 8)),
			"--comment=oxgang:order", "--output=/dev/null",
		}}
	}
	return all
}

func sized(r *rand.Rand) int {
	at := r.IntN(100)
	for _, s := range sizes {
		if at -= s.share; at < 0 {
			return s.gpus
		}
	}
	return 1
}

// traces are the seeds of those that are played.
var traces = []uint64{1, 2, 3, 4, 5}

// Mean waiting of traces of 200 jobs on 8 nodes of 8 GPUs of two types, on a real Slurm with its multifactor priorities and
// backfill alone, and on another at the same time with mode order. OXGANG_LONG=1 runs it.
func TestRig_waiting(t *testing.T) {
	if os.Getenv("OXGANG_LONG") == "" {
		t.Skip("a quarter of an hour: OXGANG_LONG=1 runs it")
	}
	var logs []float64
	for _, seed := range traces {
		alone, ordered := both(t, seed)
		logs = append(logs, math.Log(mean(ordered)/mean(alone)))
		t.Logf("trace %d: waiting of Slurm alone %s; with mode order %s: %.2f of the mean", seed, told(alone), told(ordered), math.Exp(logs[len(logs)-1]))
	}
	i := statistics.MeanInterval(logs, 0.95)
	t.Logf("mean waiting with mode order, of that of Slurm alone: %.2f (95 %%: %.2f to %.2f), geometric mean of %d traces", math.Exp(i.Mean), math.Exp(i.Low), math.Exp(i.High), i.N)
}

func mean(all []float64) float64 {
	sum := 0.0
	for _, v := range all {
		sum += v
	}
	return sum / float64(len(all))
}

// told returns mean, median, 95th percentile and most.
func told(all []float64) string {
	all = slices.Sorted(slices.Values(all))
	n := len(all)
	return fmt.Sprintf("%.1f s (median %.0f, p95 %.0f, most %.0f)", mean(all), all[n/2], all[n*95/100], all[n-1])
}

// both returns the waiting of each job, in seconds, on two Slurms.
func both(t *testing.T, seed uint64) (alone, ordered []float64) {
	g, ctx := errgroup.WithContext(t.Context())
	for _, with := range []bool{false, true} {
		r := slurmtest.Start(t, slurmtest.Options{
			Groups: []slurmtest.Group{{Prefix: "a", Nodes: 4, Type: "a100", GPUs: 8}, {Prefix: "h", Nodes: 4, Type: "h100", GPUs: 8}},
			// A week of waiting gives the whole weight of age, of which a minute is a second here.
			Lines: []string{"PriorityMaxAge=02:48:00", "PriorityWeightJobSize=0", "MinJobAge=3600"},
		})
		defer r.Close()
		g.Go(func() (err error) {
			if with {
				ordered, err = orderedWaits(ctx, t, r, traceOf(seed))
			} else {
				alone, err = measureWaits(ctx, r, traceOf(seed))
			}
			return err
		})
	}
	if err := g.Wait(); err != nil {
		t.Fatal(err)
	}
	return alone, ordered
}

// orderedWaits is waits with mode order.
func orderedWaits(ctx context.Context, t *testing.T, r *slurmtest.Rig, trace []coming) ([]float64, error) {
	c := config()
	c.Partition, c.Round, c.Commands = "all", time.Second, 100_000
	o := orderer(t, r.Client(), c)
	serving, stop := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- o.Run(serving) }()
	all, err := measureWaits(ctx, r, trace)
	stop()
	if end := <-done; !errors.Is(end, context.Canceled) {
		err = errors.Join(err, end)
	}
	return all, err
}

// waits submits the jobs of a trace, and returns how long each waited when all have ended.
func measureWaits(ctx context.Context, r *slurmtest.Rig, trace []coming) ([]float64, error) {
	next := time.Now()
	for i := range trace {
		next = next.Add(trace[i].after)
		time.Sleep(time.Until(next))
		script := fmt.Sprintf("#!/bin/sh\nsleep %d\n", trace[i].lasts)
		if _, err := r.Client().Submit(ctx, []byte(script), trace[i].options...); err != nil {
			return nil, err
		}
	}
	return whenEnded(ctx, r, len(trace), func(j *client.Job) float64 { return j.Start.Sub(j.Submit).Seconds() }, nil)
}

// whenEnded waits until so many jobs have ended well, and returns what of says of each. said, if not nil, is what a job printed that did not.
func whenEnded(ctx context.Context, r *slurmtest.Rig, n int, of func(*client.Job) float64, said func(*client.Job) []byte) ([]float64, error) {
	for {
		jobs, err := r.Client().Jobs(ctx)
		if err != nil {
			return nil, err
		}
		var all []float64
		for i := range jobs {
			switch j := &jobs[i]; {
			case j.State == client.Completed:
				all = append(all, of(j))
			case !j.Waits() && !j.Holds():
				var text []byte
				if said != nil {
					text = said(j)
				}
				return nil, fmt.Errorf("job %s: %s, exit status %d, want it to end well:\n%s", j.Label(), j.State, j.ExitCode, text)
			}
		}
		if len(all) == n {
			return all, nil
		}
		time.Sleep(time.Second)
	}
}
