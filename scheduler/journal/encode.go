package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
)

// An encoder appends the parts of a record to a buffer. The first value that
// cannot be written stays in err.
type encoder struct {
	buf []byte
	err error
}

func (e *encoder) fail(err error) {
	if e.err == nil {
		e.err = err
	}
}

func (e *encoder) raw(s string) { e.buf = append(e.buf, s...) }

func (e *encoder) int(n int) { e.buf = strconv.AppendInt(e.buf, int64(n), 10) }

func (e *encoder) float(x float64) {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		e.fail(fmt.Errorf("got %v, want a finite number", x))
	}
	e.buf = strconv.AppendFloat(e.buf, x, 'g', -1, 64)
}

func (e *encoder) seconds(d time.Duration) {
	if d < 0 {
		e.fail(errNegative)
	}
	e.buf = appendSeconds(e.buf, d)
}

func (e *encoder) str(s string) {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			e.quoted(s)
			return
		}
	}
	e.buf = append(e.buf, '"')
	e.buf = append(e.buf, s...)
	e.buf = append(e.buf, '"')
}

func (e *encoder) quoted(s string) {
	if !utf8.ValidString(s) {
		e.fail(fmt.Errorf("got string %q, want UTF-8", s))
	}
	e.json(s)
}

func (e *encoder) json(v any) {
	text, err := json.Marshal(v)
	if err != nil {
		e.fail(err)
	}
	e.buf = append(e.buf, text...)
}

func (e *encoder) configuration(c cluster.Configuration) {
	e.allocation(cluster.Allocation{Configuration: c})
}

// allocation appends [nodes, GPUs, type, [nodes, GPUs, type], cores, bytes]: the inner list
// only of a second GPU type.
func (e *encoder) allocation(a cluster.Allocation) {
	if a == (cluster.Allocation{}) {
		e.raw("[]")
		return
	}
	e.raw("[")
	e.int(a.Nodes)
	e.raw(",")
	e.int(a.GPUs)
	e.raw(",")
	e.str(string(a.GPUType))
	if a.Mixed() {
		e.raw(",")
		e.configuration(a.Also)
	}
	e.host(a.CPUs, a.Memory)
	e.raw("]")
}

func (e *encoder) host(cpus float64, memory int64) {
	if cpus == 0 && memory == 0 {
		return
	}
	e.raw(",")
	e.float(cpus)
	e.raw(",")
	e.buf = strconv.AppendInt(e.buf, memory, 10)
}

func (e *encoder) placement(p cluster.Placement) {
	e.raw("[")
	for i, s := range p {
		e.comma(i)
		e.raw("[")
		e.str(string(s.Node))
		e.raw(",")
		e.int(s.GPUs)
		e.host(s.CPUs, s.Memory)
		e.raw("]")
	}
	e.raw("]")
}

func (e *encoder) comma(i int) {
	if i > 0 {
		e.raw(",")
	}
}

func (e *encoder) batch(b job.BatchSize) {
	e.raw("[")
	if b != (job.BatchSize{}) {
		e.int(b.Local)
		e.raw(",")
		e.int(b.Accumulation)
	}
	e.raw("]")
}

// reason appends [kind, value, limit, configuration] up to the last that is
// not zero.
func (e *encoder) reason(r policy.Reason) {
	e.raw("[")
	e.str(r.Kind.String())
	configured := r.Config != (cluster.Configuration{})
	if r.Value != 0 || r.Limit != 0 || configured {
		e.raw(",")
		e.float(r.Value)
	}
	if r.Limit != 0 || configured {
		e.raw(",")
		e.float(r.Limit)
	}
	if configured {
		e.raw(",")
		e.configuration(r.Config)
	}
	e.raw("]")
}

func (e *encoder) report(r *job.Report) {
	e.raw(`[`)
	e.str(string(r.Job))
	e.raw(",")
	e.seconds(r.Interval)
	for _, n := range [...]int{r.Configuration.Nodes, r.Configuration.GPUs} {
		e.raw(",")
		e.int(n)
	}
	e.raw(",")
	e.str(string(r.Configuration.GPUType))
	for _, n := range [...]int{r.Batch.Local, r.Batch.Accumulation} {
		e.raw(",")
		e.int(n)
	}
	for _, d := range [...]time.Duration{r.StepTime, r.SyncTime} {
		e.raw(",")
		e.seconds(d)
	}
	for _, x := range [...]float64{r.GradSqr, r.GradVar, r.Progress} {
		e.raw(",")
		e.float(x)
	}
	e.raw(",")
	e.int(r.Epoch)
	host := r.CPUs != 0 || r.Memory != 0
	switch {
	case r.Profile:
		e.raw(",true")
	case host:
		e.raw(",false")
	}
	e.host(r.CPUs, r.Memory)
	e.raw("]")
}

func (e *encoder) action(a scheduler.Action) {
	switch a := a.(type) {
	case scheduler.Run:
		e.raw(`{"run":`)
		e.str(string(a.Job))
		e.grant(&policy.Decision{}, &policy.Decision{Allocation: a.Allocation, Placement: a.Placement, Batch: a.Batch})
		if a.Free {
			e.raw(`,"free":true`)
		}
		if a.Resized {
			e.raw(`,"resized":true`)
		}
	case scheduler.Preempt:
		e.raw(`{"preempt":`)
		e.str(string(a.Job))
	case scheduler.Profile:
		e.raw(`{"profile":`)
		e.str(string(a.Job))
		e.raw(`,"types":[`)
		for i, t := range a.Types {
			e.comma(i)
			e.str(string(t))
		}
		e.raw("]")
	case scheduler.Compute:
		e.raw(`{"compute":true`)
	case scheduler.Provision:
		e.raw(`{"provision":`)
		e.str(string(a.Group))
		e.raw(`,"nodes":`)
		e.int(a.Nodes)
	case scheduler.Return:
		e.raw(`{"return":[`)
		for i, id := range a.Nodes {
			e.comma(i)
			e.str(string(id))
		}
		e.raw("]")
	default:
		e.fail(fmt.Errorf("got action %T, want one of package scheduler's", a))
	}
	e.raw("}")
}

// stats appends [iterations, objective, bound, gap, interrupted, failed] up to the
// last of the final two that is not zero.
func (e *encoder) stats(s *policy.Stats) {
	e.raw("[")
	e.int(s.Iterations)
	for _, x := range [...]float64{s.Objective, s.Bound, s.Gap} {
		e.raw(",")
		e.float(x)
	}
	switch {
	case s.Interrupted:
		e.raw(",true")
	case s.Failed != "":
		e.raw(",false")
	}
	if s.Failed != "" {
		e.raw(",")
		e.str(s.Failed)
	}
	e.raw("]")
}

func (e *encoder) grant(was, d *policy.Decision) {
	if d.Allocation != was.Allocation {
		e.raw(`,"gets":`)
		e.allocation(d.Allocation)
	}
	if !d.Placement.Equal(was.Placement) {
		e.raw(`,"on":`)
		e.placement(d.Placement)
	}
	if d.Batch != was.Batch {
		e.raw(`,"batch":`)
		e.batch(d.Batch)
	}
}

var errClosed = errors.New("write after Close")
