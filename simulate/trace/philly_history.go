package trace

import (
	"bufio"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

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
