package report

import (
	"errors"
	"fmt"
	"io"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler/metrics"
)

// A Results writes the results of a run into tables while the run continues, in bounded memory.
type Results struct {
	of                        RunName
	jobs, rounds, allocations *resultTable
	err                       error // first error
}

type resultTable struct {
	*tableWriter
	file io.Closer
}

// A RunName has the columns that identify a run in every table.
type RunName struct {
	Run, Policy string // Run is the name of its files
	Seed        uint64
}

// The columns. Times are seconds since the start.
var (
	jobColumns = []field{
		{Name: "run", Type: texts},
		{Name: "policy", Type: texts},
		{Name: "seed", Type: integers},
		{Name: "job", Type: texts},
		{Name: "class", Type: texts},
		{Name: "outcome", Type: texts},
		{Name: "submitted_s"},
		{Name: "first_started_s"},
		{Name: "finished_s"},
		{Name: "jct_s"},
		{Name: "queued_s"},
		{Name: "restarts", Type: integers},
		{Name: "preemptions", Type: integers},
		{Name: "resizes", Type: integers},
		{Name: "gpu_s"},
		{Name: "useful_gpu_s"},
		{Name: "restart_gpu_s"},
		{Name: "profiling_gpu_s"},
		{Name: "idle_gpu_s"},
		{Name: "lost_gpu_s"},
		{Name: "efficiency"},
		{Name: "contention"},
		{Name: "rho"},
		{Name: "energy_kwh"},
		{Name: "cost"},
	}
	allocationColumns = []field{
		{Name: "run", Type: texts},
		{Name: "policy", Type: texts},
		{Name: "seed", Type: integers},
		{Name: "job", Type: texts},
		{Name: "start_s"},
		{Name: "end_s"},
		{Name: "gpus", Type: integers},
		{Name: "gpu_type", Type: texts},
		{Name: "state", Type: texts},
	}
	roundColumns = []field{
		{Name: "run", Type: texts},
		{Name: "policy", Type: texts},
		{Name: "seed", Type: integers},
		{Name: "time_s"},
		{Name: "running_jobs", Type: integers},
		{Name: "waiting_jobs", Type: integers},
		{Name: "gpu_type", Type: texts},
		{Name: "busy_gpus", Type: integers},
		{Name: "gpus", Type: integers},
	}
)

// NewResults starts the tables "jobs", "rounds" and "allocations" of the run called name, in files that create opens.
// Close closes them.
func NewResults(create func(name string) (io.WriteCloser, error), name RunName, f TableFormat) (*Results, error) {
	r := &Results{of: name}
	for _, t := range []struct {
		name    string
		columns []field
		at      **resultTable
	}{{"jobs", jobColumns, &r.jobs}, {"rounds", roundColumns, &r.rounds}, {"allocations", allocationColumns, &r.allocations}} {
		file, err := create(t.name + "." + string(f))
		if err != nil {
			return nil, errors.Join(err, r.Close())
		}
		w, err := newTableWriter(file, f, t.columns)
		if err != nil {
			return nil, errors.Join(err, file.Close(), r.Close())
		}
		*t.at = &resultTable{w, file}
	}
	return r, nil
}

// Stream returns the functions that write each result into the tables, for a metrics.Recorder.
func (r *Results) Stream() metrics.Stream {
	return metrics.Stream{Job: r.job, Held: r.held, Round: r.round}
}

func (r *Results) job(j *metrics.JobResult) {
	r.write(r.jobs, string(j.ID), string(j.Class), string(j.Outcome),
		j.Submitted, orNil(j.FirstStarted, j.FirstStarted >= 0), orNil(j.Finished, j.Finished >= 0), j.JCT, j.Queued,
		int64(j.Restarts), int64(j.Preemptions), int64(j.Resizes),
		j.Allocated, j.Useful, j.Restart, j.Profiling, j.Idle, j.Lost,
		j.Efficiency, j.Contention, orNil(j.Rho, j.Rho > 0), j.Energy, j.Cost)
}

func (r *Results) held(id job.ID, t cluster.GPUType, i metrics.Interval) {
	r.write(r.allocations, string(id), i.Start, i.End, int64(i.GPUs), string(t), i.State.String())
}

func (r *Results) round(s *metrics.RoundState) {
	for i, t := range s.Types {
		r.write(r.rounds, s.Time, int64(s.Running), int64(s.Waiting), string(t), int64(s.Busy[i]), int64(s.Capacity[i]))
	}
}

func (r *Results) write(t *resultTable, row ...any) {
	if r.err == nil {
		r.err = t.Row(append([]any{r.of.Run, r.of.Policy, int64(r.of.Seed)}, row...)...)
	}
}

func orNil(v float64, known bool) any {
	if !known {
		return nil
	}
	return v
}

// Close closes the files, and returns all errors.
func (r *Results) Close() error {
	errs := []error{r.err}
	for _, t := range []*resultTable{r.jobs, r.rounds, r.allocations} {
		if t != nil {
			errs = append(errs, t.Close(), t.file.Close())
		}
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("report: results of %s: %w", r.of.Run, err)
	}
	return nil
}
