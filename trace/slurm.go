package trace

import (
	"fmt"
	"io"
	"iter"
	"strconv"
	"strings"
	"time"

	"github.com/oxgang/oxgang/cluster"
	"github.com/oxgang/oxgang/job"
	"github.com/oxgang/oxgang/trace/parse"
	"github.com/oxgang/oxgang/workload"
)

// slurmTable reads what `sacct --parsable2` prints with its header, for any
// --format that has the columns required. Times are taken as UTC; see
// Options.Start for time zero. Job steps are dropped.
var slurmTable = parse.Table{
	Format:   "slurm",
	Comma:    '|',
	Required: []string{"jobid", "submit", "elapsedraw|elapsed", "reqtres|alloctres"},
	ID:       "jobid",
	Arrival:  slurmArrival,
}

const slurmTime = "2006-01-02T15:04:05"

// readSlurm reads the output of sacct.
func readSlurm(r io.Reader, o parse.Options) iter.Seq2[workload.Arrival, error] {
	return parse.SinceFirst(slurmTable.Read(r, o), o)
}

// slurmArrival returns the job of a row: what it asked for, and how long it
// ran.
func slurmArrival(r *parse.Row) (workload.Arrival, string) {
	id := r.ID("jobid")
	if strings.Contains(id, ".") {
		return workload.Arrival{}, "job steps dropped"
	}
	a := workload.Arrival{At: r.Instant("submit", slurmTime), Duration: slurmElapsed(r)}
	a.Spec = job.Spec{ID: job.ID(id), Name: r.Text("jobname"), User: r.Word("user"), Queue: r.Word("partition"), Adaptivity: job.Rigid}
	for _, column := range []string{"reqtres", "alloctres"} {
		if r.Has(column) && a.Spec.GPUs == 0 {
			slurmTRES(r, column, &a.Spec)
		}
	}
	if a.At < 0 {
		return a, parse.DropEarlier
	}
	drop := dropUnless(a)
	state, _, _ := strings.Cut(r.Raw("state"), " ") // "CANCELLED by 1000"
	if drop == "" && state != "" && state != "COMPLETED" {
		r.O.Summary.Note("jobs that ended as " + state + ", run for as long as they did")
	}
	return a, drop
}

// slurmElapsed returns the running time: seconds, or [days-]hours:minutes:seconds.
func slurmElapsed(r *parse.Row) time.Duration {
	if r.Has("elapsedraw") {
		return r.Seconds("elapsedraw")
	}
	days, clock, ok := strings.Cut(r.Raw("elapsed"), "-")
	if !ok {
		days, clock = "0", days
	}
	total, err := strconv.ParseUint(days, 10, 16)
	parts := strings.Split(clock, ":")
	for i, size := range []uint64{24, 60, 60} {
		i -= 3 - len(parts) // hours may be missing
		var n uint64
		if i >= 0 && i < len(parts) && err == nil {
			n, err = strconv.ParseUint(parts[i], 10, 16)
		}
		total = total*size + n
	}
	if err != nil || len(parts) < 2 || len(parts) > 3 {
		r.Fail("elapsed", "a time like 1-02:03:04")
		return 0
	}
	return time.Duration(total) * time.Second
}

// slurmTRES fills in the resources of a list like
// "billing=8,cpu=16,gres/gpu:a100=4,gres/gpu=4,mem=64G,node=1".
func slurmTRES(r *parse.Row, column string, s *job.Spec) {
	typed := 0
	for item := range strings.SplitSeq(r.Raw(column), ",") {
		name, value, _ := strings.Cut(item, "=")
		switch {
		case name == "gres/gpu":
			s.GPUs = tresCount(r, column, value)
		case strings.HasPrefix(name, "gres/gpu:"):
			s.GPUTypes = append(s.GPUTypes, cluster.GPUType(strings.Clone(name[len("gres/gpu:"):])))
			typed += tresCount(r, column, value)
		case name == "cpu":
			s.CPUs = float64(tresCount(r, column, value))
		case name == "mem":
			s.Memory = tresMemory(r, column, value)
		}
	}
	if s.GPUs == 0 {
		s.GPUs = typed
	}
	if s.GPUs > parse.MaxCount {
		r.Fail(column, fmt.Sprintf("at most %d GPUs", parse.MaxCount))
	}
}

// tresCount parses a count in a resource list.
func tresCount(r *parse.Row, column, value string) int {
	n, err := strconv.Atoi(value)
	if err != nil || n < 0 || n > parse.MaxCount {
		r.Fail(column, fmt.Sprintf("whole numbers from 0 to %d", parse.MaxCount))
		return 0
	}
	return n
}

// tresMemory parses an amount of memory like 64G or 0.50T, in bytes. A bare
// number is megabytes, as in Slurm.
func tresMemory(r *parse.Row, column, value string) int64 {
	const units = "KMGTP"
	shift := 20
	if i := strings.LastIndexAny(value, units); i >= 0 && i == len(value)-1 {
		shift = 10 * (strings.IndexByte(units, value[i]) + 1)
		value = value[:i]
	}
	x, err := strconv.ParseFloat(value, 64)
	if x *= float64(int64(1) << shift); err != nil || !(x >= 0 && x <= 1<<60) { // not a number fails too
		r.Fail(column, "memory like mem=64G")
		return 0
	}
	return int64(x)
}
