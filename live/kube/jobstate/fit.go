package jobstate

// A Fit states whether the CPUs and memory of a job's running pods match the plan.
type Fit struct {
	Retry
	Why string   // for users; empty: no difference, or being changed
	At  Compared // the last comparison that required no change
}

// A Compared identifies a comparison of pods with a plan, so that it is not repeated.
type Compared struct {
	Generation int64
	Cpus       float64 // per worker, like Memory
	Memory     int64
	Pods       int
	Newest     uint64
}
