package trace

import (
	"bufio"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/simulate/trace/parse"
	"github.com/oxgang/oxgang/simulate/workload"
)

// phillyHistory reads cluster_job_log with observed times; nil for the derived CSV. The nodes are the
// machines of jobs, with the most GPUs in the log.
func phillyHistory(b *bufio.Reader, o parse.Options) (*History, error) {
	if head, _ := b.Peek(parse.HeadBytes); firstByte(head) != '[' { // a read error occurs again later
		return nil, nil
	}
	l := &phillyLog{o: o.Filled(), machines: make(map[string]int)}
	h := &History{Format: PhillyFormat}
	all, err := parse.Collect(parse.SinceFirst(func(yield func(workload.Arrival, error) bool) {
		for a, err := range l.arrivals(b) {
			if err == nil {
				h.Jobs = append(h.Jobs, l.last.observed(a.Spec.GPUs, l.o.Summary))
			}
			if !yield(a, err) {
				return
			}
		}
	}, l.o))
	if err != nil {
		return nil, err
	}
	for i := range all {
		h.Jobs[i].Arrival = all[i]
		h.Taken = latest(h.Taken, h.Jobs[i].Left())
	}
	h.Cluster = l.cluster()
	return h, nil
}

func (j *phillyJob) observed(gpus int, told *parse.Summary) parse.Observed {
	var o parse.Observed
	o.Submitted, _ = phillyTime("", j.Submitted)
	for i := range j.Attempts {
		p := &j.Attempts[i]
		if n, of := p.gpus(); n == gpus {
			o.Nodes = of
		}
		if phillyNone(p.Start) || phillyNone(p.End) {
			continue
		}
		if start, _ := phillyTime("", p.Start); i == 0 {
			o.Started = start
		}
		end, _ := phillyTime("", p.End)
		o.Ended = latest(o.Ended, end)
	}
	switch {
	case o.Started.IsZero():
		told.Note(noteNoStart)
		o.Started, o.Ended = time.Time{}, time.Time{}
	case o.Started.Before(o.Submitted):
		told.Note(noteEarlyStart)
		o.Started = o.Submitted
	}
	if last := j.Attempts[len(j.Attempts)-1]; phillyNone(last.End) && !o.Started.IsZero() {
		o.Ended = time.Time{} // still running
	}
	return o
}

func (p *phillyAttempt) gpus() (n, machines int) {
	for _, d := range p.Detail {
		n += len(d.GPUs)
	}
	return n, len(p.Detail)
}

const mostMachineGPUs = 1024

func (l *phillyLog) addMachines(j *phillyJob) error {
	if l.machines == nil {
		return nil
	}
	for i := range j.Attempts {
		for _, d := range j.Attempts[i].Detail {
			n := len(d.GPUs)
			for _, name := range d.GPUs {
				if k, err := strconv.Atoi(strings.TrimPrefix(name, "gpu")); err == nil {
					n = max(n, k+1)
				}
			}
			if n > mostMachineGPUs {
				return fmt.Errorf("machine %s with %d GPUs, want at most %d", parse.Quote(d.IP), n, mostMachineGPUs)
			}
			l.machines[d.IP] = max(l.machines[d.IP], n)
		}
	}
	return nil
}

func (l *phillyLog) cluster() string {
	count := make(map[int]int)
	for _, n := range l.machines {
		if n > 0 {
			count[n]++
		}
	}
	var parts []string
	for n := range mostMachineGPUs + 1 {
		if count[n] > 0 {
			parts = append(parts, fmt.Sprintf("%s:%dx%d", unnamedType, count[n], n))
		}
	}
	return strings.Join(slices.Clip(parts), ",")
}

// phillyTable reads the CSV derived from the Philly log (submit_s, run_s, gpus, vc), and synthetic Lyra
// traces with further columns (Lyra §7.1). Warm jobs get the queue workload.Warm.
var phillyTable = parse.Table{
	Format:   "philly",
	Comma:    ',',
	Required: []string{"submit_s", "run_s", "gpus"},
	ID:       "job_id",
	Arrival:  phillyArrival,
}

func phillyArrival(r *parse.Row) (workload.Arrival, string) {
	a := workload.Arrival{At: r.Seconds("submit_s"), Duration: r.Seconds("run_s")}
	a.Spec = job.Spec{Queue: r.Word("vc"), GPUs: r.Count("gpus", 0, parse.MaxCount), Adaptivity: job.Rigid}
	if r.Has("job_id") {
		a.Spec.ID = job.ID(r.ID("job_id"))
	} else {
		a.Spec.ID = numbered(r.Index)
	}
	if r.Flag("warm") {
		a.Spec.Queue = workload.Warm
		r.O.Summary.Note("jobs already running at time 0, put into queue " + workload.Warm)
	}
	a.Bound, a.Spec.NoCheckpoint = r.Denies("fungible"), r.Denies("checkpoint")
	a.Heterogeneous = r.Flag("hetero")
	if r.Has("gpus_per_worker") {
		workers(r, &a.Spec)
	}
	if r.Flag("elastic") {
		elastic(r, &a.Spec)
	}
	return a, dropUnless(a)
}

func workers(r *parse.Row, s *job.Spec) {
	s.WorkerGPUs = r.Count("gpus_per_worker", 1, parse.MaxCount)
	if s.GPUs%s.WorkerGPUs != 0 {
		r.Fail("gpus", fmt.Sprintf("whole workers: a multiple of gpus_per_worker, %d", s.WorkerGPUs))
	}
}

// elastic sets the limits of a job on w_min to w_max workers, which may change during training. Source: Lyra
// §2.2.
func elastic(r *parse.Row, s *job.Spec) {
	for _, name := range []string{"w_min", "w_max", "gpus_per_worker"} {
		if !r.Has(name) {
			r.Fail("elastic", "0 in a file without column "+name)
			return
		}
	}
	least := r.Count("w_min", 1, parse.MaxCount)
	most := r.Count("w_max", least, parse.MaxCount)
	s.MinGPUs, s.MaxGPUs = least*s.WorkerGPUs, most*s.WorkerGPUs
	s.Adaptivity, s.Resizes = job.StrongScaling, true
	if s.GPUs < s.MinGPUs || s.GPUs > s.MaxGPUs {
		r.Fail("gpus", fmt.Sprintf("%d to %d (w_min to w_max workers)", s.MinGPUs, s.MaxGPUs))
	}
}

func numbered(index int) job.ID { return job.ID(fmt.Sprintf("job-%d", index)) }

func dropUnless(a workload.Arrival) string {
	switch {
	case a.Spec.GPUs == 0:
		return parse.DropNoGPUs
	case a.Duration == 0:
		return parse.DropNoTime
	}
	return ""
}
