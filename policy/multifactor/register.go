package multifactor

import "github.com/oxgang/oxgang/policy/registry"

func init() {
	registry.Add(registry.WithOptions(registry.Entry{
		Name: "multifactor", Doc: "As Slurm: by a priority that grows with age; jobs may pass others on nodes that are not reserved for those within their time limit; jobs run as submitted and are not preempted.",
	}, DefaultOptions, bind, New))
}

func bind(s *registry.Settings, o *Options) {
	s.Var("age", &o.Age, "what the priority of a job has more once it has waited for max-age, and in proportion before")
	s.Var("max-age", &o.MaxAge, "how long a job gains priority by waiting")
	s.Var("calculated", &o.Calculated, "how often ages are counted; 0: always")
	s.Var("job-size", &o.JobSize, "what the priority of a job has more that asks for the whole cluster, and in proportion")
	s.Var("fair-share", &o.FairShare, "what the priority of a job has more whose user has used nothing")
	s.Var("half-life", &o.HalfLife, "after how long what a user has used counts half")
	s.Var("interval", &o.Interval, "time between backfills; between them only the first of a queue starts")
	s.Var("window", &o.Horizon, "how far ahead nodes are reserved for jobs that do not fit")
	s.Var("tests", &o.Tests, "how many jobs backfilling looks at; 0: there is none")
	s.Var("depth", &o.Depth, "how many jobs are looked at between backfills")
}
