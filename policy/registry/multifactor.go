package registry

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/multifactor"
)

// multifactorEntry is what most Slurm clusters run.
func multifactorEntry() Entry {
	d := multifactor.DefaultOptions()
	settings := []Setting{
		{"age", fmt.Sprint(d.Age), "what the priority of a job has more once it has waited for max-age, and in proportion before"},
		{"max-age", d.MaxAge.String(), "how long a job gains priority by waiting"},
		{"calculated", d.Calculated.String(), "how often ages are counted; 0: always"},
		{"job-size", fmt.Sprint(d.JobSize), "what the priority of a job has more that asks for the whole cluster, and in proportion"},
		{"fair-share", fmt.Sprint(d.FairShare), "what the priority of a job has more whose user has used nothing"},
		{"half-life", d.HalfLife.String(), "after how long what a user has used counts half"},
		{"interval", d.Interval.String(), "time between backfills; between them only the first of a queue starts"},
		{"window", d.Horizon.String(), "how far ahead nodes are reserved for jobs that do not fit"},
		{"tests", strconv.Itoa(d.Tests), "how many jobs backfilling looks at; 0: there is none"},
		{"depth", strconv.Itoa(d.Depth), "how many jobs are looked at between backfills"},
	}
	return Entry{Name: "multifactor", Doc: "As Slurm: by a priority that grows with age; jobs may pass others on nodes that are not reserved for those within their time limit; jobs run as submitted and are not preempted.", Settings: settings, New: func(given map[string]string) (policy.Policy, error) {
		o := multifactor.DefaultOptions()
		r := read(given, settings)
		r.float("age", &o.Age)
		r.duration("max-age", &o.MaxAge)
		r.duration("calculated", &o.Calculated)
		r.float("job-size", &o.JobSize)
		r.float("fair-share", &o.FairShare)
		r.duration("half-life", &o.HalfLife)
		r.duration("interval", &o.Interval)
		r.duration("window", &o.Horizon)
		r.int("tests", &o.Tests)
		r.int("depth", &o.Depth)
		if err := errors.Join(r.errs...); err != nil {
			return nil, err
		}
		return multifactor.New(o)
	}}
}
