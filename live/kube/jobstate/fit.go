package jobstate

// A Fit is the state of making a job's running pods request the planned CPUs and memory.
type Fit struct {
	Retry
	Why string   // why they are not as planned, for people; empty: they are, or are being changed
	At  Compared // the last comparison after which there was nothing to do
}

// Compared identifies a comparison: with which plan, and of which pods.
type Compared struct {
	Generation int64
	Cpus       float64 // per worker, as jobadapter.Grant has them
	Memory     int64   // likewise
	Pods       int
	Newest     uint64 // resource version
}
