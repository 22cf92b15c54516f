package jobstate

// A Fit tracks the adjustment of CPUs and memory of a job's running pods to the plan.
type Fit struct {
	Retry
	Why string   // for users; empty: no difference, or being changed
	At  Compared // last that required no change
}

// Compared identifies a comparison of a plan with pods.
type Compared struct {
	Generation int64
	Cpus       float64 // per worker, like Memory
	Memory     int64
	Pods       int
	Newest     uint64
}
