package multifactor

import "github.com/oxgang/oxgang/policy/registry"

func init() {
	registry.Add(registry.WithOptions(registry.Entry{
		Name: "multifactor", Doc: "As Slurm's multifactor priority with backfilling: priority grows with age, and a job may pass others unless its time limit overlaps their reservations; jobs run as submitted and are not preempted.",
	}, DefaultOptions, bind, New))
}

func bind(s *registry.Settings, o *Options) {
	s.Var("age", &o.Age, "priority added to a job that has waited for max-age; less in proportion before")
	s.Var("max-age", &o.MaxAge, "how long a job gains priority by waiting")
	s.Var("calculated", &o.Calculated, "time between updates of ages; 0: always up to date")
	s.Var("job-size", &o.JobSize, "priority added to a job that requests the whole cluster; less in proportion")
	s.Var("fair-share", &o.FairShare, "priority added to a job of a user without usage")
	s.Var("half-life", &o.HalfLife, "half-life of a user's usage")
	s.Var("interval", &o.Interval, "time between backfills; in between, jobs start in strict queue order")
	s.Var("window", &o.Horizon, "how far ahead nodes are reserved for jobs that do not fit")
	s.Var("tests", &o.Tests, "number of jobs that backfilling tests; 0: no backfilling")
	s.Var("depth", &o.Depth, "number of jobs tested between backfills")
}
